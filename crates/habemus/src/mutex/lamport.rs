//! Lamport's mutual exclusion (S0, S4): everybody keeps the queue of requests, ordered by their timestamps.
//!
//! L. Lamport, *Time, clocks, and the ordering of events in a distributed system*, 1978. Whoever is first in
//! its own queue and has heard from everybody since it asked cannot be preceded any more, and enters: 3(n−1)
//! messages. Links must be FIFO: a reply says that every earlier request of its sender has arrived.

use std::collections::BTreeSet;

use super::timestamp::visit_each;
use super::{Command, Mutex, Output, State, Timestamp};
use crate::clock::LamportClock;
use crate::symmetry::{Part, ShiftInvariant};
use crate::topology::Complete;
use crate::{Address, Context, Id, Process};

/// The rules, and whether a request's timestamp fences.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// Whose rules.
    pub variant: Variant,
    /// Whether holders get a fencing token, made of their request's timestamp.
    pub fencing: bool,
}

/// Whose rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Variant {
    /// Lamport's.
    #[default]
    Complete,
    /// A mutant: whoever is first in its own queue enters without waiting for the replies, kept to show that
    /// the checker catches it.
    MutantNoWait,
}

/// What processes send each other. Each message carries its sender's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message {
    /// "I want to enter, and asked at this time." Everybody queues it and answers [`Reply`](Message::Reply).
    Request(LamportClock),
    /// "I have queued your request; you know of all that I asked before."
    Reply(LamportClock),
    /// "I have left." Everybody takes the request of the sender out of the queue.
    Release(LamportClock),
}
crate::kinds!(Message: Request, Reply, Release);

/// The variables of one process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Lamport {
    /// Where I stand.
    pub state: State,
    /// My clock.
    pub clock: LamportClock,
    /// Every request that I know of and that has not been released, mine included.
    pub queue: BTreeSet<Timestamp>,
    /// How many have replied to my request.
    pub replies: usize,
}

impl Process for Lamport {
    type Problem = Mutex;
    type Topology = Complete;
    type Config = Config;
    type Message = Message;
    type Timer = ();
    type Stable = ();

    fn on_start(_: Option<()>, _: &mut Context<'_, Self>) -> Self {
        Lamport::default()
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
            Message::Reply(sent) => self.on_reply(sent, cx),
            Message::Release(sent) => self.on_release(from, sent, cx),
        }
    }
}

impl ShiftInvariant for Lamport {
    fn is_shift_invariant(config: &Config) -> bool {
        // A token is made of a time, and others see it.
        !config.fencing
    }

    fn visit_times(part: Part<'_, Self>, _: &Config, visit: &mut dyn FnMut(&mut LamportClock)) {
        match part {
            Part::Process(process) => {
                visit(&mut process.clock);
                visit_each(&mut process.queue, |stamp| &mut stamp.time, visit);
            }
            Part::Message(Message::Request(time) | Message::Reply(time) | Message::Release(time)) => {
                visit(time);
            }
        }
    }
}

impl Lamport {
    fn ask(&mut self, cx: &mut Context<'_, Self>) {
        let time = self.clock.tick();
        self.state = State::Wanted;
        self.replies = 0;
        self.queue.insert(Timestamp { time, id: cx.id() });
        cx.broadcast(&Message::Request(time));
        self.enter_if_first(cx);
    }

    fn on_request(&mut self, from: Address, time: LamportClock, cx: &mut Context<'_, Self>) {
        self.clock.witness(time);
        self.queue.insert(Timestamp { time, id: cx.id_of(from) });
        let now = self.clock.tick();
        cx.send(from, Message::Reply(now));
    }

    fn on_reply(&mut self, sent: LamportClock, cx: &mut Context<'_, Self>) {
        self.clock.witness(sent);
        // Everybody replies once to each request, and without all replies I do not enter: none can be late.
        self.replies += 1;
        self.enter_if_first(cx);
    }

    fn on_release(&mut self, from: Address, sent: LamportClock, cx: &mut Context<'_, Self>) {
        self.clock.witness(sent);
        self.strike_out(cx.id_of(from));
        self.enter_if_first(cx);
    }

    fn enter_if_first(&mut self, cx: &mut Context<'_, Self>) {
        let Config { variant, fencing } = *cx.config();
        let heard_from_all = self.replies + 1 >= cx.process_count() || variant == Variant::MutantNoWait;
        match self.queue.first() {
            Some(first) if first.id == cx.id() && self.state == State::Wanted && heard_from_all => {
                self.state = State::Held;
                cx.output(Output::Entered { token: fencing.then(|| first.token(cx)) });
            }
            _ => {}
        }
    }

    fn leave(&mut self, cx: &mut Context<'_, Self>) {
        self.state = State::Released;
        self.strike_out(cx.id());
        cx.output(Output::Left);
        let now = self.clock.tick();
        cx.broadcast(&Message::Release(now));
    }

    /// Takes the request of a process out. It is the first, or one of the first, of the queue: only requests
    /// whose release is still on its way to me can be before it.
    fn strike_out(&mut self, id: Id) {
        if let Some(request) = self.queue.iter().find(|request| request.id == id).copied() {
            self.queue.remove(&request);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Effect;
    use crate::mutex::Token;
    use crate::testing::Harness;

    const FIRST: Address = Address(0);
    const SECOND: Address = Address(1);
    const THIRD: Address = Address(2);

    /// The process 20 of 10, 20 and 30.
    fn twenty(config: Config) -> Harness<Lamport> {
        Harness::new(Complete::new(3), [10, 20, 30], config, SECOND)
    }

    fn at(time: u64) -> LamportClock {
        LamportClock::at(time)
    }

    fn entered(token: Option<u64>) -> Effect<Lamport> {
        Effect::Output(Output::Entered { token: token.map(Token) })
    }

    /// Lamport's rule 1: the request goes to every other process, and into one's own queue.
    #[test]
    fn who_wants_to_enter_tells_everybody_and_queues_the_request() {
        let mut p = twenty(Config::default());
        let step = p.command(Command::Acquire);
        assert_eq!(step.sent(), [(FIRST, Message::Request(at(1))), (THIRD, Message::Request(at(1)))]);
        assert_eq!(p.process.queue, BTreeSet::from([Timestamp { time: at(1), id: Id(20) }]));
    }

    /// Lamport's rule 2: a request is queued, and acknowledged with a later time.
    #[test]
    fn a_request_is_queued_and_answered_with_a_later_time() {
        let mut p = twenty(Config::default());
        let step = p.message(FIRST, Message::Request(at(7)));
        assert_eq!(step.sent(), [(FIRST, Message::Reply(at(9)))]);
        assert_eq!(p.process.queue, BTreeSet::from([Timestamp { time: at(7), id: Id(10) }]));
    }

    /// Lamport's rule 5: first in the own queue, and something later has come from everybody.
    #[test]
    fn who_is_first_enters_when_all_have_replied() {
        let mut p = twenty(Config::default());
        p.command(Command::Acquire);
        assert!(p.message(FIRST, Message::Reply(at(3))).is_empty());
        assert_eq!(p.message(THIRD, Message::Reply(at(3))).effects, [entered(None)]);
    }

    #[test]
    fn an_earlier_request_goes_first_and_ties_are_broken_by_the_identifier() {
        let mut p = twenty(Config::default());
        p.command(Command::Acquire);
        p.message(FIRST, Message::Request(at(1)));
        p.message(FIRST, Message::Reply(at(4)));
        assert!(p.message(THIRD, Message::Reply(at(3))).is_empty(), "10 asked at the same time");
        assert_eq!(p.message(FIRST, Message::Release(at(9))).effects, [entered(None)]);
        // 30 asked at the same time, too, and has to wait.
        let mut p = twenty(Config::default());
        p.command(Command::Acquire);
        p.message(THIRD, Message::Request(at(1)));
        p.message(THIRD, Message::Reply(at(4)));
        assert_eq!(p.message(FIRST, Message::Reply(at(3))).effects, [entered(None)]);
    }

    /// Lamport's IR2: whoever receives a message sets its clock beyond the time that it says. Where many ask,
    /// one of them falls far behind the others without it.
    #[test]
    fn whatever_comes_moves_the_next_request_beyond_its_time() {
        for message in [Message::Request(at(41)), Message::Reply(at(41)), Message::Release(at(41))] {
            let mut p = twenty(Config::default());
            p.message(FIRST, message);
            p.command(Command::Acquire);
            assert!(p.process.clock > at(42), "{message:?}");
        }
    }

    /// Lamport's rules 3 and 4: who leaves strikes its request out and tells everybody, who do the same.
    #[test]
    fn who_leaves_tells_everybody() {
        let mut p = twenty(Config::default());
        p.command(Command::Acquire);
        p.message(FIRST, Message::Reply(at(3)));
        p.message(THIRD, Message::Reply(at(3)));
        let step = p.command(Command::Release);
        assert_eq!(step.outputs(), [Output::Left]);
        let release = Message::Release(at(6));
        assert_eq!(step.sent(), [(FIRST, release), (THIRD, release)]);
        assert!(p.process.queue.is_empty());
    }

    #[test]
    fn the_timestamp_makes_a_fencing_token_in_which_the_rank_breaks_ties() {
        let mut p = twenty(Config { fencing: true, ..Config::default() });
        p.command(Command::Acquire);
        p.message(FIRST, Message::Reply(at(3)));
        // Time 1 of three processes, of which one has a smaller identifier.
        assert_eq!(p.message(THIRD, Message::Reply(at(3))).effects, [entered(Some(4))]);
    }

    #[test]
    fn one_alone_enters_at_once() {
        let mut p = Harness::<Lamport>::new(Complete::new(1), [1], Config::default(), FIRST);
        assert_eq!(p.command(Command::Acquire).effects, [entered(None)]);
        assert!(p.command(Command::Acquire).is_empty(), "it is inside already");
        assert_eq!(p.command(Command::Release).effects, [Effect::Output(Output::Left)]);
        assert!(p.command(Command::Release).is_empty());
    }

    #[test]
    fn the_mutant_does_not_wait_for_replies() {
        let mut p = twenty(Config { variant: Variant::MutantNoWait, ..Config::default() });
        assert_eq!(p.command(Command::Acquire).outputs().len(), 1);
    }
}
