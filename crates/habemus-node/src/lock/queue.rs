//! Who of this program has a lock next: a state machine without I/O.
//!
//! The node has one process for each lock. It enters for one task of this program after the other, or for
//! some that share; to the other nodes all of them are one.

use std::collections::{BTreeSet, VecDeque};

use super::LockError;

/// A task that waits for a lock or holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Ticket(pub(super) u64);

/// Whether a holder shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Alone,
    Shared,
}

/// What happens to the queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Input {
    /// A task wants the lock.
    Enter(Mode, Ticket),
    /// A task does not want it any more, or has not taken what it was granted.
    GiveUp(Ticket),
    /// A holder is done.
    Leave(Ticket),
    /// The process has entered, with this fencing token.
    Entered(Option<u64>),
    /// The process has left, because it was asked to or because its lease is over.
    Left,
    /// The lease is over, and the process has not said so.
    Expired,
    /// The node does not let the process enter.
    Refused(LockError),
}

/// What is to be done.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// Tell the process to enter. [`Input::Refused`] says that it cannot.
    Enter(Mode),
    /// Tell the process to leave.
    Leave,
    /// Tell a task that it has the lock. [`Input::GiveUp`] says that the task is gone.
    Grant(Ticket, Option<u64>),
    /// Tell a holder that it is one no longer.
    Lose(Ticket),
    /// Tell a task that it cannot have the lock.
    Refuse(Ticket, LockError),
}

/// Where the process is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Outside,
    /// It was told to enter.
    Entering(Mode),
    /// It is inside, with this fencing token.
    Inside(Mode, Option<u64>),
    /// It was told to leave.
    Leaving,
}

/// The tasks of this program that want one lock.
#[derive(Debug)]
pub(super) struct LockQueue {
    stage: Stage,
    /// Those who wait, in the order in which they came.
    waiting: VecDeque<(Mode, Ticket)>,
    holders: BTreeSet<Ticket>,
}

impl LockQueue {
    pub(super) fn new() -> Self {
        LockQueue { stage: Stage::Outside, waiting: VecDeque::new(), holders: BTreeSet::new() }
    }

    /// Takes note of what happened, and says what is to be done about it.
    pub(super) fn on(&mut self, input: Input) -> Vec<Action> {
        let mut actions = Vec::new();
        match input {
            Input::Enter(mode, ticket) => self.on_enter(mode, ticket, &mut actions),
            Input::GiveUp(ticket) => self.on_give_up(ticket, &mut actions),
            Input::Leave(ticket) => self.on_leave(ticket, &mut actions),
            Input::Entered(token) => self.on_entered(token, &mut actions),
            Input::Left => self.on_left(&mut actions),
            Input::Expired => self.on_expired(&mut actions),
            Input::Refused(why) => self.on_refused(&why, &mut actions),
        }
        actions
    }

    fn on_enter(&mut self, mode: Mode, ticket: Ticket, actions: &mut Vec<Action>) {
        self.waiting.push_back((mode, ticket));
        // Those who share may join those who do, unless somebody waits to be alone.
        if !self.holders.is_empty() {
            self.grant(actions);
        }
        self.approach(actions);
    }

    fn on_give_up(&mut self, ticket: Ticket, actions: &mut Vec<Action>) {
        self.waiting.retain(|(_, waiting)| *waiting != ticket);
        if self.holders.remove(&ticket) {
            // Nobody has had this grant: it is the next one's.
            self.grant_or_leave(actions);
        }
    }

    fn on_leave(&mut self, ticket: Ticket, actions: &mut Vec<Action>) {
        // A holder of the past has nothing to give back.
        if self.holders.remove(&ticket) && self.holders.is_empty() {
            // Other nodes come first, even if tasks of this one wait.
            self.leave(actions);
        }
    }

    fn on_entered(&mut self, token: Option<u64>, actions: &mut Vec<Action>) {
        // What it said before anybody asked here was meant for others.
        if let Stage::Entering(mode) | Stage::Inside(mode, _) = self.stage {
            self.stage = Stage::Inside(mode, token);
            self.grant_or_leave(actions);
        }
    }

    fn on_left(&mut self, actions: &mut Vec<Action>) {
        actions.extend(std::mem::take(&mut self.holders).into_iter().map(Action::Lose));
        self.stage = Stage::Outside;
        self.approach(actions);
    }

    /// The holders learn of it now; the process, as soon as it can.
    fn on_expired(&mut self, actions: &mut Vec<Action>) {
        actions.extend(std::mem::take(&mut self.holders).into_iter().map(Action::Lose));
        self.leave(actions);
    }

    /// Whether nobody has it, wants it or waits for the process.
    pub(super) fn is_at_rest(&self) -> bool {
        self.stage == Stage::Outside && self.waiting.is_empty()
    }

    fn on_refused(&mut self, why: &LockError, actions: &mut Vec<Action>) {
        self.stage = Stage::Outside;
        actions.extend(self.waiting.drain(..).map(|(_, ticket)| Action::Refuse(ticket, why.clone())));
    }

    /// Lets those in whose turn it is.
    fn grant(&mut self, actions: &mut Vec<Action>) {
        let Stage::Inside(mode, token) = self.stage else { return };
        // One who is to be alone gets it only if nobody has it; who shares, if all before do.
        while let Some((_, ticket)) = self
            .waiting
            .pop_front_if(|(wanted, _)| *wanted == mode && (mode == Mode::Shared || self.holders.is_empty()))
        {
            self.holders.insert(ticket);
            actions.push(Action::Grant(ticket, token));
        }
    }

    /// As [`grant`](LockQueue::grant), and leaves if there is nobody to stay for.
    fn grant_or_leave(&mut self, actions: &mut Vec<Action>) {
        self.grant(actions);
        if self.holders.is_empty() {
            self.leave(actions);
        }
    }

    fn leave(&mut self, actions: &mut Vec<Action>) {
        if let Stage::Inside(..) = self.stage {
            self.stage = Stage::Leaving;
            actions.push(Action::Leave);
        }
    }

    /// Tells the process to enter for the one who has waited longest.
    fn approach(&mut self, actions: &mut Vec<Action>) {
        if let (Stage::Outside, Some((mode, _))) = (self.stage, self.waiting.front()) {
            self.stage = Stage::Entering(*mode);
            actions.push(Action::Enter(*mode));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: Ticket = Ticket(1);
    const TWO: Ticket = Ticket(2);
    const THREE: Ticket = Ticket(3);

    /// A queue to which all of this has happened.
    fn queue(inputs: &[Input]) -> LockQueue {
        let mut queue = LockQueue::new();
        for input in inputs {
            queue.on(input.clone());
        }
        queue
    }

    #[test]
    fn one_enters_after_the_other_and_other_nodes_come_between() {
        let mut queue = LockQueue::new();
        assert_eq!(queue.on(Input::Enter(Mode::Alone, ONE)), [Action::Enter(Mode::Alone)]);
        assert_eq!(queue.on(Input::Enter(Mode::Alone, TWO)), []);
        assert_eq!(queue.on(Input::Entered(Some(7))), [Action::Grant(ONE, Some(7))]);
        assert_eq!(queue.on(Input::Leave(ONE)), [Action::Leave]);
        assert_eq!(queue.on(Input::Left), [Action::Enter(Mode::Alone)]);
        assert_eq!(queue.on(Input::Entered(Some(9))), [Action::Grant(TWO, Some(9))]);
    }

    #[test]
    fn those_who_share_join_each_other_and_the_last_one_leaves() {
        let share = |ticket| Input::Enter(Mode::Shared, ticket);
        let mut queue = queue(&[share(ONE), share(TWO)]);
        let both = [Action::Grant(ONE, None), Action::Grant(TWO, None)];
        assert_eq!(queue.on(Input::Entered(None)), both);
        assert_eq!(queue.on(share(THREE)), [Action::Grant(THREE, None)]);
        assert_eq!(queue.on(Input::Leave(TWO)), []);
        assert_eq!(queue.on(Input::Leave(ONE)), []);
        assert_eq!(queue.on(Input::Leave(THREE)), [Action::Leave]);
    }

    #[test]
    fn nobody_overtakes_one_who_waits_to_be_alone() {
        let mut queue = queue(&[Input::Enter(Mode::Shared, ONE), Input::Entered(None)]);
        assert_eq!(queue.on(Input::Enter(Mode::Alone, TWO)), []);
        assert_eq!(queue.on(Input::Enter(Mode::Shared, THREE)), []);
        assert_eq!(queue.on(Input::Leave(ONE)), [Action::Leave]);
        assert_eq!(queue.on(Input::Left), [Action::Enter(Mode::Alone)]);
    }

    #[test]
    fn who_gives_up_is_passed_over_and_the_lock_is_given_back_if_nobody_is_left() {
        let mut queue = queue(&[Input::Enter(Mode::Alone, ONE), Input::Enter(Mode::Alone, TWO)]);
        assert_eq!(queue.on(Input::GiveUp(ONE)), []);
        assert_eq!(queue.on(Input::Entered(None)), [Action::Grant(TWO, None)]);
        assert_eq!(queue.on(Input::GiveUp(TWO)), [Action::Leave]);
        assert_eq!(queue.on(Input::Left), []);
    }

    #[test]
    fn a_grant_that_comes_too_late_goes_to_the_next_one_at_once() {
        let alone = |ticket| Input::Enter(Mode::Alone, ticket);
        let mut queue = queue(&[alone(ONE), alone(TWO), Input::Entered(Some(3))]);
        assert_eq!(queue.on(Input::GiveUp(ONE)), [Action::Grant(TWO, Some(3))]);
    }

    #[test]
    fn the_end_of_a_lease_is_told_and_what_the_former_holder_says_is_ignored() {
        let mut queue =
            queue(&[Input::Enter(Mode::Alone, ONE), Input::Entered(None), Input::Enter(Mode::Alone, TWO)]);
        assert_eq!(queue.on(Input::Left), [Action::Lose(ONE), Action::Enter(Mode::Alone)]);
        assert_eq!(queue.on(Input::Leave(ONE)), []);
        assert_eq!(queue.on(Input::Entered(None)), [Action::Grant(TWO, None)]);
    }

    #[test]
    fn a_lease_that_runs_out_unsaid_is_lost_at_once_and_given_back() {
        let mut queue =
            queue(&[Input::Enter(Mode::Alone, ONE), Input::Entered(None), Input::Enter(Mode::Alone, TWO)]);
        assert_eq!(queue.on(Input::Expired), [Action::Lose(ONE), Action::Leave]);
        // What the process says of the old entry is of no use to anybody.
        assert_eq!(queue.on(Input::Entered(None)), []);
        assert_eq!(queue.on(Input::Left), [Action::Enter(Mode::Alone)]);
        assert!(!queue.is_at_rest());
    }

    #[test]
    fn a_refusal_is_told_to_all_who_wait_and_the_next_one_asks_again() {
        let mut queue = queue(&[Input::Enter(Mode::Alone, ONE), Input::Enter(Mode::Shared, TWO)]);
        let why = LockError::Refused("it has too many locks".to_owned());
        let told = [Action::Refuse(ONE, why.clone()), Action::Refuse(TWO, why.clone())];
        assert_eq!(queue.on(Input::Refused(why)), told);
        assert_eq!(queue.on(Input::Enter(Mode::Shared, THREE)), [Action::Enter(Mode::Shared)]);
    }

    #[test]
    fn what_the_process_said_before_anybody_asked_means_nothing() {
        let mut queue = LockQueue::new();
        assert_eq!(queue.on(Input::Entered(Some(1))), []);
        assert_eq!(queue.on(Input::Left), []);
    }

    #[test]
    fn a_holder_that_leaves_while_the_lease_ends_leaves_once() {
        let mut queue = queue(&[Input::Enter(Mode::Alone, ONE), Input::Entered(None)]);
        assert_eq!(queue.on(Input::Leave(ONE)), [Action::Leave]);
        assert_eq!(queue.on(Input::Enter(Mode::Alone, TWO)), []);
        assert_eq!(queue.on(Input::Left), [Action::Enter(Mode::Alone)]);
    }
}
