//! Asynchronous capture in a complete graph (S2, A_Elect_Leader_C).
//!
//! A candidate captures the others one by one. Contests are decided by level, which grows with the number of
//! captured processes, and by identifier between equals. A process that already has an owner changes hands
//! only when that owner has been eliminated, so no two candidates own the same process, and Theorem 5.3
//! holds: at most ⌊n/(2^k −1)⌋ candidates are at level k at any moment. Corollary 5.4: at most 2n⌊log₂ n⌋ + n
//! captures are tried, with at most 6 messages each; its proof takes the moment for the whole run, and a test
//! has a run with more. The winner announces itself with n−1 messages more, which the notes leave out.
//!
//! The printed pseudo-code is wrong in five places, marked below; [`Variant::AsPrinted`] keeps them.

use super::tried::{Tried, VisitOrder};
use super::{Command, Election, Output, Wins};
use crate::topology::{Complete, Topology};
use crate::{Address, Context, Id, Process};

/// Which identifier wins at the same level, and whom to capture first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// Whose rules.
    pub variant: Variant,
    /// Which of two identifiers wins at the same level.
    pub wins: Wins,
    /// In which order neighbours are tried.
    pub order: VisitOrder,
}

/// Whose rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Variant {
    /// S2's rules with the corrections, and an announcement.
    #[default]
    Corrected,
    /// S2's pseudo-code by the letter: two processes that capture each other both lead.
    AsPrinted,
    /// A mutant: a candidate does not own itself, so two can capture each other and nobody leads, kept to
    /// show that the checker catches it.
    MutantUnowned,
    /// A mutant: a captured process changes hands without a word to its owner, so two candidates own it and
    /// Theorem 5.3 fails, kept to show that the monitor catches it.
    MutantNoCheck,
}

/// What processes send each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message {
    /// "Be mine; this is my level, and my identifier." [`Ack`](Message::Ack) if the receiver is free to
    /// follow, [`Check`](Message::Check) if it has an owner that must be eliminated first,
    /// [`Nack`](Message::Nack) if it knows a stronger candidate.
    Capture(u32, Id),
    /// "I am yours." The candidate tries the next neighbour.
    Ack,
    /// "No: give up."
    Nack,
    /// "First eliminate my owner." [`Eliminate`](Message::Eliminate) goes to that process.
    Check(Address),
    /// "Give up; this is my level, and my identifier." [`Eliminated`](Message::Eliminated) if the receiver
    /// does, or had done so before; [`Nack`](Message::Nack) if it is the stronger.
    Eliminate(u32, Id),
    /// "I have given up." The challenger sends [`Capture`](Message::Capture) again, to the process it fought
    /// for.
    Eliminated,
    /// "I have captured everybody, so I lead."
    Elected,
}
crate::kinds!(Message: Capture, Ack, Nack, Check, Eliminate, Eliminated, Elected);

/// The variables of one process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct CaptureAsync {
    /// Whether it still tries to capture the others.
    pub candidate: bool,
    /// Whom it has tried to capture.
    pub tried: Tried,
    /// Who has captured it; a candidate owns itself.
    pub owner: Option<Address>,
    /// Its level as a candidate, ⌊log₂(owns + 1)⌋; later that of the strongest candidate that asked for it.
    pub level: u32,
    /// How many it has captured.
    pub owns: u32,
    /// The notes' `p_owner_id`: who is to own it as soon as the present owner is eliminated.
    pub prospective_owner: Option<Address>,
    /// The notes' `p_owned_id`: whom it tries to capture at present.
    pub prospective_owned: Option<Address>,
}

impl Process for CaptureAsync {
    type Problem = Election;
    type Topology = Complete;
    type Config = Config;
    type Message = Message;
    type Timer = ();
    type Stable = ();

    fn on_start(_: Option<()>, _: &mut Context<'_, Self>) -> Self {
        CaptureAsync::default()
    }

    /// Starts, unless somebody else did and has already captured this process: that one goes on.
    fn on_command(&mut self, Command::Elect: Command, cx: &mut Context<'_, Self>) {
        if self.owner.is_none() {
            self.become_candidate(cx);
        }
    }

    fn on_message(&mut self, from: Address, message: Message, cx: &mut Context<'_, Self>) {
        match message {
            Message::Capture(level, id) => self.on_capture(from, level, id, cx),
            Message::Ack => self.on_ack(from, cx),
            Message::Nack => self.candidate = false,
            Message::Check(owner) => self.on_check(owner, cx),
            Message::Eliminate(level, id) => self.on_eliminate(from, level, id, cx),
            Message::Eliminated => self.on_eliminated(cx),
            Message::Elected => {
                self.candidate = false;
                cx.output(Output::follows(cx.id_of(from)));
            }
        }
    }
}

impl CaptureAsync {
    fn on_capture(&mut self, from: Address, level: u32, id: Id, cx: &mut Context<'_, Self>) {
        if self.prospective_owner == Some(from) {
            // It asks again: the owner that stood in its way is eliminated.
            self.owner = Some(from);
            cx.send(from, Message::Ack);
            return;
        }
        let holder = self.prospective_owner.map(|holder| cx.id_of(holder));
        if !beats((level, id), (self.level, holder), cx.config().wins) {
            cx.send(from, Message::Nack);
            return;
        }
        self.level = level;
        self.prospective_owner = Some(from);
        let printed = cx.config().variant == Variant::AsPrinted;
        let free = std::mem::take(&mut self.candidate);
        match self.owner {
            Some(owner) if !free && cx.config().variant != Variant::MutantNoCheck => {
                cx.send(from, Message::Check(owner));
            }
            // S2 names no owner to check where there is none, and sends nothing: the candidate waits for
            // ever.
            None if printed => {}
            _ => {
                // S2 leaves the owner as it was: a captured candidate goes on as its own.
                if !printed {
                    self.owner = Some(from);
                }
                cx.send(from, Message::Ack);
            }
        }
    }

    fn on_ack(&mut self, from: Address, cx: &mut Context<'_, Self>) {
        // S2 does not look whether it is still a candidate: one that was captured meanwhile goes on and may
        // lead. An ACK that arrives twice is for a capture of the past, and counts once.
        let counts = self.candidate && self.prospective_owned == Some(from);
        if !counts && cx.config().variant != Variant::AsPrinted {
            return;
        }
        self.owns += 1;
        self.level = (self.owns + 1).ilog2();
        self.capture_next(cx);
    }

    fn on_check(&mut self, owner: Address, cx: &mut Context<'_, Self>) {
        // Only a capture that arrived twice makes a process name me as the owner that I must eliminate.
        if self.candidate && owner != cx.me() && cx.topology().linked(cx.me(), owner) {
            cx.send(owner, Message::Eliminate(self.level, cx.id()));
        }
    }

    fn on_eliminate(&mut self, from: Address, level: u32, id: Id, cx: &mut Context<'_, Self>) {
        if self.candidate && !beats((level, id), (self.level, Some(cx.id())), cx.config().wins) {
            cx.send(from, Message::Nack);
        } else {
            self.candidate = false;
            cx.send(from, Message::Eliminated);
        }
    }

    fn on_eliminated(&mut self, cx: &mut Context<'_, Self>) {
        if let (true, Some(contested)) = (self.candidate, self.prospective_owned) {
            cx.send(contested, Message::Capture(self.level, cx.id()));
        }
    }

    fn become_candidate(&mut self, cx: &mut Context<'_, Self>) {
        self.candidate = true;
        self.owner = Some(cx.me());
        // S2 sets `owner_id` alone, and then compares challengers with nobody.
        if !matches!(cx.config().variant, Variant::AsPrinted | Variant::MutantUnowned) {
            self.prospective_owner = self.owner;
        }
        self.capture_next(cx);
        if cx.config().variant == Variant::AsPrinted {
            // S2 forgets to note whom the first capture is for.
            self.prospective_owned = None;
        }
    }

    fn capture_next(&mut self, cx: &mut Context<'_, Self>) {
        self.prospective_owned = self.tried.next_neighbour(cx.config().order, cx.me(), cx.topology());
        match self.prospective_owned {
            Some(neighbour) => cx.send(neighbour, Message::Capture(self.level, cx.id())),
            None => become_leader(cx),
        }
    }
}

/// S2 ends when there is nobody left to try; that this makes a leader, and that others hear of it, is added.
fn become_leader(cx: &mut Context<'_, CaptureAsync>) {
    cx.output(Output::leads());
    if cx.config().variant != Variant::AsPrinted {
        cx.broadcast(&Message::Elected);
    }
}

/// Whether a candidate wins against a holder: the higher level does, and the better identifier at the same
/// one.
fn beats(candidate: (u32, Id), holder: (u32, Option<Id>), wins: Wins) -> bool {
    match candidate.0.cmp(&holder.0) {
        std::cmp::Ordering::Equal => holder.1.is_none_or(|holder| wins.better(&candidate.1, &holder)),
        order => order.is_gt(),
    }
}

/// How many candidates are at this level or above in a global state: Theorem 5.3 says at most ⌊n/(2^k −1)⌋
/// for k from 1 to ⌊log₂ n⌋. The notes speak of those *at* the level; the proof counts all that have reached
/// it.
pub fn candidates_at_level<'a>(processes: impl IntoIterator<Item = &'a CaptureAsync>, level: u32) -> usize {
    processes.into_iter().filter(|process| process.candidate && process.level >= level).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Harness;

    /// The process 2 of 1 … 4; addresses are one less than identifiers.
    fn two(variant: Variant) -> Harness<CaptureAsync> {
        let config = Config { variant, ..Config::default() };
        Harness::new(Complete::new(4), 1..=4, config, Address(1))
    }

    fn capture(level: u32, id: u64) -> Message {
        Message::Capture(level, Id(id))
    }

    fn eliminate(level: u32, id: u64) -> Message {
        Message::Eliminate(level, Id(id))
    }

    const ONE: Address = Address(0);
    const THREE: Address = Address(2);
    const FOUR: Address = Address(3);

    /// S2: "candidate := true; owner_id := id; seja n_j um nó vizinho: envie capture(level, id) para n_j".
    #[test]
    fn who_starts_tries_its_first_neighbour() {
        let mut p = two(Variant::Corrected);
        assert_eq!(p.command(Command::Elect).sent(), [(THREE, capture(0, 2))]);
        assert!(p.process.candidate);
        assert_eq!((p.process.owner, p.process.prospective_owned), (Some(Address(1)), Some(THREE)));
        assert!(p.command(Command::Elect).is_empty(), "it has started already");
    }

    /// S2: "if candidate then candidate := false; p_owner_id := id_j; envie ack".
    #[test]
    fn a_weaker_candidate_gives_itself() {
        let mut p = two(Variant::Corrected);
        p.command(Command::Elect);
        assert_eq!(p.message(THREE, capture(0, 3)).sent(), [(THREE, Message::Ack)]);
        assert!(!p.process.candidate);
        assert_eq!(p.process.owner, Some(THREE));
    }

    /// S2: "else envie nack"; "as identificações são usadas apenas para desempate".
    #[test]
    fn a_stronger_candidate_refuses_and_the_level_counts_before_the_identifier() {
        let mut p = two(Variant::Corrected);
        p.command(Command::Elect);
        assert_eq!(p.message(ONE, capture(0, 1)).sent(), [(ONE, Message::Nack)]);
        assert_eq!(p.message(ONE, capture(1, 1)).sent(), [(ONE, Message::Ack)]);
        let lowest = Config { wins: Wins::Lowest, ..Config::default() };
        let mut p = Harness::<CaptureAsync>::new(Complete::new(4), 1..=4, lowest, Address(1));
        p.command(Command::Elect);
        assert_eq!(p.message(ONE, capture(0, 1)).sent(), [(ONE, Message::Ack)]);
    }

    /// S2: "p_owner_id := id_j; envie check(k) para n_j"; then "if p_owner_id = id_j then owner_id := id_j;
    /// ack".
    #[test]
    fn a_captured_process_has_its_owner_eliminated_first() {
        let mut p = two(Variant::Corrected);
        assert_eq!(p.message(ONE, capture(0, 1)).sent(), [(ONE, Message::Ack)]);
        assert_eq!(p.message(THREE, capture(0, 3)).sent(), [(THREE, Message::Check(ONE))]);
        assert_eq!((p.process.owner, p.process.prospective_owner), (Some(ONE), Some(THREE)));
        assert_eq!(p.message(THREE, capture(0, 3)).sent(), [(THREE, Message::Ack)]);
        assert_eq!(p.process.owner, Some(THREE));
        assert!(p.command(Command::Elect).is_empty(), "another candidate is on its way");
    }

    /// A stronger challenger comes while the first is busy with the owner: the first has lost.
    #[test]
    fn only_the_strongest_challenger_gets_the_process() {
        let mut p = two(Variant::Corrected);
        p.message(ONE, capture(0, 1));
        p.message(THREE, capture(0, 3));
        assert_eq!(p.message(FOUR, capture(0, 4)).sent(), [(FOUR, Message::Check(ONE))]);
        assert_eq!(p.message(THREE, capture(0, 3)).sent(), [(THREE, Message::Nack)]);
        assert_eq!(p.message(FOUR, capture(0, 4)).sent(), [(FOUR, Message::Ack)]);
    }

    /// S2: "msg = check(j): if candidate then envie eliminate(level, id) para n_j"; "msg = eliminated: if
    /// candidate then envie capture(level, id) para n_j tal que p_owned_id = id_j".
    #[test]
    fn a_challenger_eliminates_the_owner_and_asks_again() {
        let mut p = two(Variant::Corrected);
        p.command(Command::Elect);
        assert_eq!(p.message(THREE, Message::Check(FOUR)).sent(), [(FOUR, eliminate(0, 2))]);
        assert_eq!(p.message(FOUR, Message::Eliminated).sent(), [(THREE, capture(0, 2))]);
        p.message(THREE, Message::Nack);
        assert!(p.message(THREE, Message::Check(FOUR)).is_empty());
        assert!(p.message(FOUR, Message::Eliminated).is_empty());
    }

    /// S2: "if not candidate then envie eliminated"; "if (level, id) < (level_j, id_j) then candidate :=
    /// false; envie eliminated"; "else envie nack".
    #[test]
    fn a_weaker_owner_gives_up_and_a_stronger_one_refuses() {
        let mut p = two(Variant::Corrected);
        p.command(Command::Elect);
        assert_eq!(p.message(ONE, eliminate(0, 1)).sent(), [(ONE, Message::Nack)]);
        assert!(p.process.candidate);
        assert_eq!(p.message(THREE, eliminate(0, 3)).sent(), [(THREE, Message::Eliminated)]);
        assert!(!p.process.candidate);
        assert_eq!(p.message(ONE, eliminate(0, 1)).sent(), [(ONE, Message::Eliminated)]);
    }

    /// S2: "owns := owns + 1; level := ⌊log(owns + 1)⌋"; then the next of those not tried.
    #[test]
    fn an_ack_raises_the_level_and_leads_to_the_next_neighbour_and_at_last_to_victory() {
        let mut p = two(Variant::Corrected);
        p.command(Command::Elect);
        assert_eq!(p.message(THREE, Message::Ack).sent(), [(FOUR, capture(1, 2))]);
        assert_eq!(p.message(FOUR, Message::Ack).sent(), [(ONE, capture(1, 2))]);
        let step = p.message(ONE, Message::Ack);
        assert_eq!(step.outputs(), [Output::leads()]);
        assert_eq!(step.sent(), [ONE, THREE, FOUR].map(|other| (other, Message::Elected)));
        assert_eq!((p.process.owns, p.process.level), (3, 2));
    }

    /// S2: "msg = nack: candidate := false".
    #[test]
    fn who_is_refused_gives_up_and_late_acks_count_no_more() {
        let mut p = two(Variant::Corrected);
        p.command(Command::Elect);
        assert!(p.message(THREE, Message::Nack).is_empty());
        assert!(!p.process.candidate);
        assert!(p.message(THREE, Message::Ack).is_empty());
    }

    #[test]
    fn an_ack_that_arrives_twice_counts_once() {
        let mut p = two(Variant::Corrected);
        p.command(Command::Elect);
        p.message(THREE, Message::Ack);
        assert!(p.message(THREE, Message::Ack).is_empty());
        assert_eq!(p.process.owns, 1);
    }

    /// Lets one stand and try these in turn (S2: "seja n_j um nó em S", in whatever order) until nobody says
    /// anything more, or the ACK of the last is on its way. Says how many it has tried.
    fn stand(all: &mut [Harness<CaptureAsync>], candidate: Address, targets: &[Address]) -> usize {
        all[candidate.index()].process.tried.passed = targets[0].0;
        let (mut tried, mut at) = (1, candidate);
        let mut step = all[candidate.index()].command(Command::Elect);
        while let Some((to, message)) = step.sent().pop() {
            if message == Message::Ack {
                let Some(next) = targets.get(tried) else { break };
                all[candidate.index()].process.tried.passed = next.0;
                tried += 1;
            }
            step = all[to.index()].message(at, message);
            at = to;
        }
        tried
    }

    /// Theorem 5.3 counts the candidates of one moment, the proof of Corollary 5.4 those of the whole run.
    /// One that has given up leaves what it owns to whoever comes next, so many can reach a level with the
    /// same processes.
    #[test]
    fn a_run_can_have_more_attempts_than_corollary_5_4_allows() {
        const COUNT: u32 = 110;
        const LEVEL: u32 = 5;
        let config = Config { order: VisitOrder::Address, ..Config::default() };
        let process = |me| Harness::new(Complete::new(COUNT as usize), 1..=COUNT as u64, config.clone(), me);
        let mut all: Vec<Harness<CaptureAsync>> = (0..COUNT).map(|me| process(Address(me))).collect();
        let addresses: Vec<Address> = (0..COUNT).map(Address).collect();
        let enough = (1 << LEVEL) - 1;
        let (prey, rest) = addresses.split_at(enough);
        let (own, rest) = rest.split_at(enough + 1);
        let (&best, others) = rest.split_last().expect("there are more");
        let mut attempts = stand(&mut all, best, own);
        for &other in others {
            let targets = [prey, &[best]].concat();
            attempts += stand(&mut all, other, &targets);
            let process = &all[other.index()].process;
            assert_eq!(
                (process.level, process.candidate),
                (LEVEL, false),
                "{other:?} came so far, and no farther"
            );
            assert_eq!(candidates_at_level(all.iter().map(|p| &p.process), LEVEL), 1, "Theorem 5.3 holds");
        }
        let bound = 2 * COUNT * COUNT.ilog2() + COUNT;
        assert_eq!((attempts, bound), (1504, 1430));
    }

    #[test]
    fn the_announcement_is_believed() {
        let mut p = two(Variant::Corrected);
        assert_eq!(p.message(FOUR, Message::Elected).outputs(), [Output::follows(Id(4))]);
    }

    #[test]
    fn one_process_leads_at_once() {
        let mut p = Harness::<CaptureAsync>::new(Complete::new(1), [9], Config::default(), Address(0));
        assert_eq!(p.command(Command::Elect).outputs(), [Output::leads()]);
    }

    /// S2 sets only `owner_id` at the start, and compares a challenger with `p_owner_id`, which is nil.
    #[test]
    fn as_printed_a_candidate_gives_itself_to_a_weaker_one() {
        let mut p = two(Variant::AsPrinted);
        p.command(Command::Elect);
        assert_eq!(p.message(ONE, capture(0, 1)).sent(), [(ONE, Message::Ack)]);
        // And its owner is still itself, so the next challenger is sent back to it.
        assert_eq!(p.message(THREE, capture(0, 3)).sent(), [(THREE, Message::Check(Address(1)))]);
        // And an ACK counts although it is a candidate no more.
        assert_eq!(p.message(THREE, Message::Ack).sent(), [(FOUR, capture(1, 2))]);
    }

    /// S2: "seja n_k tal que owner_id = id_k", which no process is where `owner_id` is nil.
    #[test]
    fn as_printed_a_bystander_leaves_the_candidate_waiting() {
        assert!(two(Variant::AsPrinted).message(ONE, capture(0, 1)).is_empty());
    }

    /// S2 notes `p_owned_id` only from the second capture on.
    #[test]
    fn as_printed_the_first_contest_leads_nowhere() {
        let mut p = two(Variant::AsPrinted);
        p.command(Command::Elect);
        p.message(THREE, Message::Check(FOUR));
        assert!(p.message(FOUR, Message::Eliminated).is_empty());
    }

    #[test]
    fn as_printed_the_winner_keeps_it_to_itself() {
        let mut p = two(Variant::AsPrinted);
        p.command(Command::Elect);
        let last = [THREE, FOUR, ONE].map(|other| p.message(other, Message::Ack)).into_iter().next_back();
        assert_eq!(last.map(|step| step.effects), Some(vec![crate::Effect::Output(Output::leads())]));
    }

    #[test]
    fn one_mutant_gives_itself_to_a_weaker_candidate_and_one_changes_hands_at_once() {
        let mut p = two(Variant::MutantUnowned);
        p.command(Command::Elect);
        assert_eq!(p.message(ONE, capture(0, 1)).sent(), [(ONE, Message::Ack)]);
        let mut p = two(Variant::MutantNoCheck);
        p.message(ONE, capture(0, 1));
        assert_eq!(p.message(THREE, capture(0, 3)).sent(), [(THREE, Message::Ack)]);
    }

    #[test]
    fn candidates_are_counted_from_a_level_upwards() {
        let at = |candidate, level| CaptureAsync { candidate, level, ..CaptureAsync::default() };
        let all = [at(true, 0), at(true, 1), at(true, 2), at(false, 2)];
        assert_eq!([0, 1, 2, 3].map(|level| candidates_at_level(&all, level)), [3, 2, 1, 0]);
    }
}
