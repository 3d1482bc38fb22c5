//! Ricart and Agrawala's mutual exclusion (S1's pseudo-code; S4): ask everybody, and enter when all have
//! replied.
//!
//! G. Ricart and A. K. Agrawala, *An optimal algorithm for mutual exclusion in computer networks*, 1981.
//! Whoever wants to enter more urgently, or is inside, replies later: the deferred reply is Lamport's
//! release. 2(n−1) messages. Processes enter in the order of their timestamps, so the timestamp makes a
//! fencing token, and if replies carry the clock, too, that order respects happened-before (EM3).

use super::{Command, Mutex, Output, State, Timestamp};
use crate::clock::LamportClock;
use crate::symmetry::{Part, ShiftInvariant};
use crate::topology::Complete;
use crate::{Address, Context, Process};

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
    /// S1's, with Lamport's clock on every message.
    #[default]
    Stamped,
    /// As in the paper: a request's number is higher by one than the highest that was seen in requests;
    /// replies carry none. A request may then be older by its number than one that happened before it: EM3
    /// does not hold.
    BareReplies,
    /// A mutant: of two requests of the same time neither goes first, kept to show that the checker catches
    /// it.
    MutantNoTieBreak,
}

/// What processes send each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message {
    /// "I want to enter, and asked at this time." Everybody answers [`Reply`](Message::Reply), at once or
    /// after having been inside.
    Request(LamportClock),
    /// "Go in, as far as I am concerned." With its sender's clock, unless replies are bare.
    Reply(LamportClock),
}
crate::kinds!(Message: Request, Reply);

/// The variables of one process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct RicartAgrawala {
    /// Where I stand.
    pub state: State,
    /// My clock.
    pub clock: LamportClock,
    /// When I asked: S1's T, as long as I want to enter.
    pub time: LamportClock,
    /// How many have replied to my request.
    pub replies: usize,
    /// Those that I owe a reply.
    pub deferred: Vec<Address>,
}

impl Process for RicartAgrawala {
    type Problem = Mutex;
    type Topology = Complete;
    type Config = Config;
    type Message = Message;
    type Timer = ();
    type Stable = ();

    /// S1: "On initialization: state := RELEASED".
    fn on_start(_: Option<()>, _: &mut Context<'_, Self>) -> Self {
        RicartAgrawala::default()
    }

    fn on_command(&mut self, command: Command, cx: &mut Context<'_, Self>) {
        match (command, self.state) {
            (Command::Acquire | Command::Share, State::Released) => self.ask(cx),
            (Command::Release, State::Held) => self.leave(cx),
            // Asking twice, or leaving while outside, changes nothing.
            _ => {}
        }
    }

    #[inline]
    fn on_message(&mut self, from: Address, message: Message, cx: &mut Context<'_, Self>) {
        match message {
            Message::Request(time) => self.on_request(from, time, cx),
            Message::Reply(sent) => self.on_reply(sent, cx),
        }
    }
}

impl ShiftInvariant for RicartAgrawala {
    fn is_shift_invariant(config: &Config) -> bool {
        // A token is made of a time, and others see it.
        !config.fencing
    }

    fn visit_times(part: Part<'_, Self>, config: &Config, visit: &mut dyn FnMut(&mut LamportClock)) {
        match part {
            Part::Process(process) => {
                visit(&mut process.clock);
                if process.state == State::Wanted {
                    visit(&mut process.time);
                }
            }
            Part::Message(Message::Reply(_)) if config.variant == Variant::BareReplies => {}
            Part::Message(Message::Request(time) | Message::Reply(time)) => visit(time),
        }
    }
}

impl RicartAgrawala {
    /// S1: "To enter the section".
    fn ask(&mut self, cx: &mut Context<'_, Self>) {
        self.state = State::Wanted;
        self.time = self.clock.tick();
        self.replies = 0;
        cx.broadcast(&Message::Request(self.time));
        self.enter_if_all_replied(cx);
    }

    /// S1: "if (state = HELD or (state = WANTED and (T, p_j) < (T_i, p_i))) then queue request from p_i
    /// without replying; else reply immediately to p_i".
    #[inline]
    fn on_request(&mut self, from: Address, time: LamportClock, cx: &mut Context<'_, Self>) {
        self.learn(time, cx);
        if self.state == State::Held || (self.state == State::Wanted && self.precedes(from, time, cx)) {
            self.deferred.push(from);
        } else {
            self.reply(from, cx);
        }
    }

    #[inline]
    fn on_reply(&mut self, sent: LamportClock, cx: &mut Context<'_, Self>) {
        // A bare reply says no time.
        if cx.config().variant != Variant::BareReplies {
            self.clock.witness(sent);
        }
        // Everybody replies once to each request, and without all replies I do not enter: none can be late.
        self.replies += 1;
        self.enter_if_all_replied(cx);
    }

    /// S1: "Wait until (number of replies received = (N − 1)); state := HELD".
    #[inline]
    fn enter_if_all_replied(&mut self, cx: &mut Context<'_, Self>) {
        if self.state == State::Wanted && self.replies + 1 >= cx.process_count() {
            self.state = State::Held;
            let mine = Timestamp { time: std::mem::take(&mut self.time), id: cx.id() };
            cx.output(Output::Entered { token: cx.config().fencing.then(|| mine.token(cx)) });
        }
    }

    /// S1: "To exit the critical section: state := RELEASED; reply to any queued requests".
    fn leave(&mut self, cx: &mut Context<'_, Self>) {
        self.state = State::Released;
        cx.output(Output::Left);
        let mut deferred = std::mem::take(&mut self.deferred);
        for owed in deferred.drain(..) {
            self.reply(owed, cx);
        }
        // Its room is used again: a busy process comes here a million times.
        self.deferred = deferred;
    }

    /// Whether my request comes before that of `other`.
    #[inline]
    fn precedes(&self, other: Address, time: LamportClock, cx: &Context<'_, Self>) -> bool {
        match cx.config().variant {
            Variant::MutantNoTieBreak => self.time < time,
            _ => (self.time, cx.id()) < (time, cx.id_of(other)),
        }
    }

    #[inline]
    fn reply(&mut self, to: Address, cx: &mut Context<'_, Self>) {
        let bare = cx.config().variant == Variant::BareReplies;
        cx.send(to, Message::Reply(if bare { LamportClock::default() } else { self.clock.tick() }));
    }

    #[inline]
    fn learn(&mut self, time: LamportClock, cx: &Context<'_, Self>) {
        match cx.config().variant {
            Variant::BareReplies => self.clock = self.clock.max(time),
            _ => _ = self.clock.witness(time),
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
    fn twenty(config: Config) -> Harness<RicartAgrawala> {
        Harness::new(Complete::new(3), [10, 20, 30], config, SECOND)
    }

    /// The same, after it has asked at time 1.
    fn wanting(config: Config) -> Harness<RicartAgrawala> {
        let mut p = twenty(config);
        p.command(Command::Acquire);
        p
    }

    fn at(time: u64) -> LamportClock {
        LamportClock::at(time)
    }

    fn entered(token: Option<u64>) -> Effect<RicartAgrawala> {
        Effect::Output(Output::Entered { token: token.map(Token) })
    }

    /// S1: "state := WANTED; Multicast request to all processes; T := request's timestamp".
    #[test]
    fn who_wants_to_enter_asks_everybody() {
        let mut p = twenty(Config::default());
        let step = p.command(Command::Acquire);
        assert_eq!(step.sent(), [(FIRST, Message::Request(at(1))), (THIRD, Message::Request(at(1)))]);
        assert_eq!((p.process.state, p.process.time), (State::Wanted, at(1)));
        assert!(p.command(Command::Acquire).is_empty(), "it has asked already");
    }

    /// S1: "Wait until (number of replies received = (N − 1)); state := HELD".
    #[test]
    fn it_enters_when_all_others_have_replied() {
        let mut p = wanting(Config::default());
        assert!(p.message(THIRD, Message::Reply(at(3))).is_empty());
        assert_eq!(p.message(FIRST, Message::Reply(at(3))).effects, [entered(None)]);
        assert_eq!(p.process.state, State::Held);
    }

    /// S1: "else reply immediately to p_i".
    #[test]
    fn who_wants_nothing_replies_at_once_with_a_later_time() {
        let step = twenty(Config::default()).message(FIRST, Message::Request(at(41)));
        assert_eq!(step.sent(), [(FIRST, Message::Reply(at(43)))]);
    }

    /// S1: "if (state = HELD or (state = WANTED and (T, p_j) < (T_i, p_i))) then queue request from p_i".
    #[test]
    fn of_two_requests_the_earlier_goes_first() {
        let mut p = twenty(Config::default());
        p.message(FIRST, Message::Request(at(33)));
        p.command(Command::Acquire);
        assert_eq!(p.process.time, at(36));
        assert!(p.message(THIRD, Message::Request(at(41))).is_empty(), "41 comes after 36");
        assert_eq!(p.message(FIRST, Message::Request(at(35))).sent().len(), 1, "35 comes before 36");
    }

    #[test]
    fn of_two_requests_of_the_same_time_the_smaller_identifier_goes_first() {
        let mut p = wanting(Config::default());
        assert_eq!(p.message(FIRST, Message::Request(at(1))).sent().len(), 1);
        assert!(p.message(THIRD, Message::Request(at(1))).is_empty());
    }

    /// S1: "To exit the critical section: state := RELEASED; reply to any queued requests".
    #[test]
    fn who_leaves_replies_to_those_that_were_put_off() {
        let mut p = wanting(Config::default());
        p.message(FIRST, Message::Reply(at(3)));
        p.message(THIRD, Message::Reply(at(3)));
        assert!(p.message(THIRD, Message::Request(at(2))).is_empty(), "it is inside");
        assert!(p.message(FIRST, Message::Request(at(2))).is_empty());
        let step = p.command(Command::Release);
        assert_eq!(step.outputs(), [Output::Left]);
        assert_eq!(step.sent(), [(THIRD, Message::Reply(at(8))), (FIRST, Message::Reply(at(9)))]);
        assert!(p.command(Command::Release).is_empty());
    }

    #[test]
    fn the_timestamp_makes_a_fencing_token_in_which_the_rank_breaks_ties() {
        let mut p = wanting(Config { fencing: true, ..Config::default() });
        p.message(FIRST, Message::Reply(at(3)));
        // Time 1 of three processes, of which one has a smaller identifier.
        assert_eq!(p.message(THIRD, Message::Reply(at(3))).effects, [entered(Some(4))]);
    }

    #[test]
    fn one_alone_enters_at_once() {
        let mut p = Harness::<RicartAgrawala>::new(Complete::new(1), [1], Config::default(), FIRST);
        assert_eq!(p.command(Command::Acquire).effects, [entered(None)]);
    }

    #[test]
    fn a_bare_reply_tells_nothing_of_the_time() {
        let mut p = twenty(Config { variant: Variant::BareReplies, ..Config::default() });
        assert_eq!(p.message(FIRST, Message::Request(at(41))).sent(), [(FIRST, Message::Reply(at(0)))]);
    }

    #[test]
    fn the_mutant_lets_everybody_go_first_at_the_same_time() {
        let mut p = wanting(Config { variant: Variant::MutantNoTieBreak, ..Config::default() });
        assert_eq!(p.message(THIRD, Message::Request(at(1))).sent().len(), 1);
    }
}
