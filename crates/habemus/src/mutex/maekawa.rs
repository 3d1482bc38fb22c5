//! Maekawa's voting (S1, S4): ask only a set of processes that overlaps with everybody else's.
//!
//! M. Maekawa, *A √N algorithm for mutual exclusion in decentralized systems*, 1985. A process votes for one
//! request at a time, and whoever has all the votes of its set enters: 3(k−1) messages where a set has k
//! members and nobody else asks. S1: "Algoritmo pode resultar em impasse", for every request may hold some
//! votes and lack others. The cure: a voter that hears of an older request asks its vote back (INQUIRE), and
//! a process that knows it cannot win yet (FAILED) gives it back (RELINQUISH). Sanders's correction is
//! included: FAILED also goes to a request that was the oldest to wait and is so no longer (B. Sanders, *The
//! information structure of distributed mutual exclusion algorithms*, 1987). Links must be FIFO.

use std::collections::BTreeSet;

use super::timestamp::visit_each;
use super::{Command, Mutex, Output, State, Timestamp, VotingSets};
use crate::clock::LamportClock;
use crate::symmetry::{Part, ShiftInvariant};
use crate::topology::Complete;
use crate::{Address, Context, Process};

/// Who votes for whom.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// Whom each process asks.
    pub sets: VotingSets,
    /// Whose rules.
    pub variant: Variant,
}

/// Whose rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Variant {
    /// Maekawa's with Sanders's correction: no deadlock.
    #[default]
    Complete,
    /// A vote once given stays given, and requests are served as they come: S1's, which deadlocks.
    Plain,
    /// A mutant: a request that is overtaken while it waits is not told, as before Sanders, kept to show that
    /// the checker catches it.
    MutantUntold,
    /// A mutant: one vote less is enough, kept to show that the checker catches it.
    MutantOneShort,
    /// A mutant: who gives a vote back counts it all the same, kept to show that the checker catches it.
    MutantKeepsVote,
    /// A mutant: who gives a vote back does not count itself out at that voter, and keeps the votes of
    /// others, kept to show that the checker catches it.
    MutantHopeful,
}

/// What processes send each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message {
    /// "Vote for me; I asked at this time." Answered by [`Vote`](Message::Vote), at once or when it is my
    /// turn, and perhaps by [`Failed`](Message::Failed) before.
    Request(LamportClock),
    /// "You have my vote." Given back by [`Release`](Message::Release) or
    /// [`Relinquish`](Message::Relinquish).
    Vote,
    /// "I cannot vote for you yet: an older request is before yours." Nothing answers it.
    Failed,
    /// "May I have my vote back? There is an older request." Answered by [`Relinquish`](Message::Relinquish),
    /// if the asker cannot win yet, or else by the release.
    Inquire,
    /// "Have your vote back, and vote for me later."
    Relinquish,
    /// "I have left: vote for the next."
    Release,
}
crate::kinds!(Message: Request, Vote, Failed, Inquire, Relinquish, Release);

/// A request as a voter sees it, ordered by its timestamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Candidate {
    /// When and by whom it was made.
    pub stamp: Timestamp,
    /// Where the answer goes.
    pub address: Address,
}

/// The variables of one process: as one who asks, and as a voter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Maekawa {
    /// Where I stand.
    pub state: State,
    /// Those of my set whose vote I lack.
    pub lacking: BTreeSet<Address>,
    /// Those among them that vote for an older request first.
    pub failed: BTreeSet<Address>,
    /// Those that want their vote back.
    pub inquirers: BTreeSet<Address>,
    /// My clock.
    pub clock: LamportClock,
    /// For whom I have voted.
    pub vote: Option<Candidate>,
    /// Whether I have asked for that vote back.
    pub inquired: bool,
    /// Who waits for my vote.
    pub queue: BTreeSet<Candidate>,
}

impl Process for Maekawa {
    type Problem = Mutex;
    type Topology = Complete;
    type Config = Config;
    type Message = Message;
    type Timer = ();
    type Stable = ();

    fn on_start(_: Option<()>, _: &mut Context<'_, Self>) -> Self {
        Maekawa::default()
    }

    fn on_command(&mut self, command: Command, cx: &mut Context<'_, Self>) {
        match (command, self.state) {
            (Command::Acquire | Command::Share, State::Released) => self.ask(cx),
            (Command::Release, State::Held) => self.leave(cx),
            // Asking twice, or leaving while outside, changes nothing.
            _ => {}
        }
    }

    fn on_message(&mut self, from: Address, message: Message, cx: &mut Context<'_, Self>) {
        match message {
            Message::Request(time) => self.on_request(from, time, cx),
            Message::Relinquish => self.on_relinquish(from, cx),
            Message::Release => self.on_release(from, cx),
            Message::Vote => self.on_vote(from, cx),
            Message::Failed => self.on_failed(from, cx),
            Message::Inquire => self.on_inquire(from, cx),
        }
    }
}

impl ShiftInvariant for Maekawa {
    fn visit_times(part: Part<'_, Self>, _: &Config, visit: &mut dyn FnMut(&mut LamportClock)) {
        match part {
            Part::Process(process) => {
                visit(&mut process.clock);
                process.vote.iter_mut().for_each(|candidate| visit(&mut candidate.stamp.time));
                visit_each(&mut process.queue, |candidate| &mut candidate.stamp.time, visit);
            }
            Part::Message(Message::Request(time)) => visit(time),
            Part::Message(_) => {}
        }
    }
}

/// The rules of one who asks. What concerns a former request is ignored: with FIFO links only an inquiry can
/// come so late, and then the vote is not held any more.
impl Maekawa {
    fn ask(&mut self, cx: &mut Context<'_, Self>) {
        self.state = State::Wanted;
        let time = self.clock.tick();
        let set = cx.config().sets.of(cx.me(), cx.process_count());
        self.lacking = set.iter().copied().collect();
        self.failed.clear();
        for voter in set {
            self.tell(voter, Message::Request(time), cx);
        }
    }

    fn on_vote(&mut self, from: Address, cx: &mut Context<'_, Self>) {
        if self.state != State::Wanted {
            return;
        }
        self.lacking.remove(&from);
        self.failed.remove(&from);
        let short = usize::from(cx.config().variant == Variant::MutantOneShort);
        if self.lacking.len() <= short {
            self.state = State::Held;
            // Those that want their vote back get it when I leave.
            self.inquirers.clear();
            cx.output(Output::Entered { token: None });
        }
    }

    fn on_failed(&mut self, from: Address, cx: &mut Context<'_, Self>) {
        if self.state == State::Wanted && self.lacking.contains(&from) {
            self.failed.insert(from);
            for inquirer in std::mem::take(&mut self.inquirers) {
                self.relinquish(inquirer, cx);
            }
        }
    }

    fn on_inquire(&mut self, from: Address, cx: &mut Context<'_, Self>) {
        if self.state != State::Wanted || self.lacking.contains(&from) {
            return;
        }
        if self.failed.is_empty() {
            self.inquirers.insert(from);
        } else {
            self.relinquish(from, cx);
        }
    }

    fn relinquish(&mut self, voter: Address, cx: &mut Context<'_, Self>) {
        if cx.config().variant != Variant::MutantKeepsVote {
            self.lacking.insert(voter);
        }
        if cx.config().variant != Variant::MutantHopeful {
            self.failed.insert(voter);
        }
        self.tell(voter, Message::Relinquish, cx);
    }

    fn leave(&mut self, cx: &mut Context<'_, Self>) {
        self.state = State::Released;
        cx.output(Output::Left);
        for voter in cx.config().sets.of(cx.me(), cx.process_count()) {
            self.tell(voter, Message::Release, cx);
        }
    }

    /// A process may be in its own set; then it need not send.
    fn tell(&mut self, to: Address, message: Message, cx: &mut Context<'_, Self>) {
        if to == cx.me() {
            self.on_message(to, message, cx);
        } else {
            cx.send(to, message);
        }
    }
}

/// The rules of a voter.
impl Maekawa {
    fn on_request(&mut self, from: Address, time: LamportClock, cx: &mut Context<'_, Self>) {
        let arrived = self.clock.witness(time);
        let variant = cx.config().variant;
        // In the plain version the first to come is the first to be served.
        let time = if variant == Variant::Plain { arrived } else { time };
        let candidate = Candidate { stamp: Timestamp { time, id: cx.id_of(from) }, address: from };
        let Some(present) = self.vote else {
            self.vote_for(candidate, cx);
            return;
        };
        let oldest = self.queue.first().copied();
        self.queue.insert(candidate);
        if variant == Variant::Plain {
            return;
        }
        if present < candidate || oldest.is_some_and(|oldest| oldest < candidate) {
            self.tell(from, Message::Failed, cx);
            return;
        }
        // Whoever was the oldest to wait, and older than my present vote, has not been told so far.
        if let Some(overtaken) = oldest.filter(|oldest| *oldest < present)
            && variant != Variant::MutantUntold
        {
            self.tell(overtaken.address, Message::Failed, cx);
        }
        if !self.inquired {
            self.inquired = true;
            self.tell(present.address, Message::Inquire, cx);
        }
    }

    fn on_relinquish(&mut self, from: Address, cx: &mut Context<'_, Self>) {
        if let Some(present) = self.vote.filter(|present| present.address == from && self.inquired) {
            self.queue.insert(present);
            self.vote_for_next(cx);
        }
    }

    fn on_release(&mut self, from: Address, cx: &mut Context<'_, Self>) {
        if self.vote.is_some_and(|present| present.address == from) {
            self.vote_for_next(cx);
        }
    }

    fn vote_for_next(&mut self, cx: &mut Context<'_, Self>) {
        self.vote = None;
        self.inquired = false;
        if let Some(oldest) = self.queue.pop_first() {
            self.vote_for(oldest, cx);
        }
    }

    fn vote_for(&mut self, candidate: Candidate, cx: &mut Context<'_, Self>) {
        self.vote = Some(candidate);
        self.tell(candidate.address, Message::Vote, cx);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Harness;
    use crate::{Effect, Id};

    const FIRST: Address = Address(0);
    const SECOND: Address = Address(1);
    const THIRD: Address = Address(2);
    const FOURTH: Address = Address(3);

    /// The second of four processes in a square; it asks the first and the fourth.
    fn second(variant: Variant) -> Harness<Maekawa> {
        Harness::new(Complete::new(4), 1..=4, Config { variant, ..Config::default() }, SECOND)
    }

    fn request(time: u64) -> Message {
        Message::Request(LamportClock::at(time))
    }

    fn entered() -> Effect<Maekawa> {
        Effect::Output(Output::Entered { token: None })
    }

    /// S1: "Processos só precisam obter permissão de uma parte de seus pares".
    #[test]
    fn a_process_asks_its_set_and_votes_for_itself_without_a_message() {
        let mut p = second(Variant::Complete);
        assert_eq!(p.command(Command::Acquire).sent(), [(FIRST, request(1)), (FOURTH, request(1))]);
        assert_eq!(p.process.lacking, BTreeSet::from([FIRST, FOURTH]));
        assert_eq!(p.process.vote.map(|vote| vote.stamp.id), Some(Id(2)));
    }

    /// S1: "Um processo deve reunir votos suficientes para entrar".
    #[test]
    fn it_enters_with_all_votes_and_gives_them_back() {
        let mut p = second(Variant::Complete);
        p.command(Command::Acquire);
        assert!(p.message(FIRST, Message::Vote).is_empty());
        assert_eq!(p.message(FOURTH, Message::Vote).effects, [entered()]);
        let step = p.command(Command::Release);
        assert_eq!(step.outputs(), [Output::Left]);
        assert_eq!(step.sent(), [(FIRST, Message::Release), (FOURTH, Message::Release)]);
        assert_eq!(p.process.vote, None);
    }

    #[test]
    fn a_voter_votes_for_one_at_a_time_and_tells_later_requests_that_they_failed() {
        let mut p = second(Variant::Complete);
        assert_eq!(p.message(FIRST, request(5)).sent(), [(FIRST, Message::Vote)]);
        assert_eq!(p.message(FOURTH, request(6)).sent(), [(FOURTH, Message::Failed)]);
        assert_eq!(p.message(FIRST, Message::Release).sent(), [(FOURTH, Message::Vote)]);
    }

    #[test]
    fn an_older_request_makes_the_voter_ask_once_for_its_vote_back() {
        let mut p = second(Variant::Complete);
        p.message(FIRST, request(5));
        assert_eq!(p.message(FOURTH, request(4)).sent(), [(FIRST, Message::Inquire)]);
        assert_eq!(p.message(THIRD, request(4)).sent(), [(FOURTH, Message::Failed)], "it is older still");
        assert_eq!(p.message(FIRST, Message::Relinquish).sent(), [(THIRD, Message::Vote)]);
        assert_eq!(p.message(THIRD, Message::Release).sent(), [(FOURTH, Message::Vote)]);
        assert_eq!(p.message(FOURTH, Message::Release).sent(), [(FIRST, Message::Vote)]);
    }

    #[test]
    fn a_relinquishment_that_was_not_asked_for_is_ignored() {
        let mut p = second(Variant::Complete);
        p.message(FIRST, request(5));
        assert!(p.message(FIRST, Message::Relinquish).is_empty());
        assert!(p.message(FOURTH, Message::Release).is_empty());
        assert_eq!(p.process.vote.map(|vote| vote.address), Some(FIRST));
    }

    #[test]
    fn who_has_failed_gives_a_vote_back_and_who_may_still_win_does_not() {
        let mut p = second(Variant::Complete);
        p.command(Command::Acquire);
        p.message(FIRST, Message::Vote);
        assert!(p.message(FIRST, Message::Inquire).is_empty(), "it may still win");
        assert_eq!(p.message(FOURTH, Message::Failed).sent(), [(FIRST, Message::Relinquish)]);
        p.message(FIRST, Message::Vote);
        assert_eq!(p.message(FIRST, Message::Inquire).sent(), [(FIRST, Message::Relinquish)]);
        p.message(FIRST, Message::Vote);
        assert_eq!(p.message(FOURTH, Message::Vote).effects, [entered()]);
    }

    #[test]
    fn an_inquiry_that_comes_late_is_ignored() {
        let mut p = second(Variant::Complete);
        p.command(Command::Acquire);
        p.message(FIRST, Message::Vote);
        p.message(FOURTH, Message::Vote);
        assert!(p.message(FIRST, Message::Inquire).is_empty(), "inside");
        p.command(Command::Release);
        assert!(p.message(FIRST, Message::Inquire).is_empty(), "outside");
        p.command(Command::Acquire);
        assert!(p.message(FIRST, Message::Inquire).is_empty(), "it has not voted for the new request");
    }

    #[test]
    fn its_own_vote_can_be_relinquished_like_any_other() {
        let mut p = second(Variant::Complete);
        p.message(FOURTH, request(3));
        p.message(FOURTH, Message::Release);
        p.command(Command::Acquire);
        p.message(FIRST, Message::Failed);
        assert_eq!(p.message(FOURTH, request(4)).sent(), [(FOURTH, Message::Vote)]);
        assert!(p.process.lacking.contains(&SECOND));
    }

    /// S1: "Algoritmo pode resultar em impasse".
    #[test]
    fn the_plain_voter_keeps_its_word_and_the_order_of_arrival() {
        let mut p = second(Variant::Plain);
        p.message(FIRST, request(5));
        assert!(p.message(FOURTH, request(4)).is_empty());
        assert!(p.message(THIRD, request(1)).is_empty());
        assert_eq!(p.message(FIRST, Message::Release).sent(), [(FOURTH, Message::Vote)]);
    }

    #[test]
    fn the_mutants_do_not_tell_the_overtaken_and_enter_one_vote_short() {
        let mut p = second(Variant::MutantUntold);
        p.message(FIRST, request(5));
        p.message(FOURTH, request(4));
        assert!(p.message(THIRD, request(4)).is_empty());
        let mut p = second(Variant::MutantOneShort);
        p.command(Command::Acquire);
        assert_eq!(p.message(FIRST, Message::Vote).effects, [entered()]);
    }

    #[test]
    fn one_alone_enters_at_once() {
        let mut p = Harness::<Maekawa>::new(Complete::new(1), [1], Config::default(), FIRST);
        assert_eq!(p.command(Command::Acquire).effects, [entered()]);
    }
}
