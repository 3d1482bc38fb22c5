//! Suzuki and Kasami's mutual exclusion: ask everybody for the token, which carries the queue.
//!
//! I. Suzuki and T. Kasami, *A distributed mutual exclusion algorithm*, 1985. Whoever has the token enters
//! without any message; anybody else sends n−1 requests and gets it: 0 or n messages. Requests are numbered,
//! and the token knows which have been served, so that whoever has it can tell a new request from one that
//! has grown old on the way. Links need not keep the order.

use std::collections::VecDeque;
use std::fmt;

use super::{Command, Mutex, Output, State, Token};
use crate::symmetry::{Part, Rotation, RotationSymmetric};
use crate::topology::Complete;
use crate::{Address, Context, Process};

/// Where the token lies at the beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Who has the token at the beginning.
    pub holder: Address,
    /// Whether holders get a fencing token: how often the token has been used.
    pub fencing: bool,
    /// Whose rules.
    pub variant: Variant,
}

impl Default for Config {
    fn default() -> Self {
        Config { holder: Address(0), fencing: false, variant: Variant::Complete }
    }
}

/// Whose rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Variant {
    /// The paper's.
    #[default]
    Complete,
    /// A mutant: who leaves does not note on the token that it has been served, and its next request passes
    /// for an old one, kept to show that the checker catches it.
    MutantForgetful,
    /// A mutant: a request that has grown old on the way passes for a new one, kept to show that the checker
    /// catches it.
    MutantStale,
}

/// What processes send each other.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message {
    /// "I want to enter, for so many times now." Whoever has the token sends
    /// [`Privilege`](Message::Privilege) when it is my turn.
    Request(u64),
    /// "You have the token."
    Privilege(Privilege),
}
crate::kinds!(Message: Request, Privilege);

/// The token.
#[derive(Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Privilege {
    /// How often it has been used.
    pub entries: u64,
    /// The number of the last request of each process that was served: the paper's LN.
    pub served: Vec<u64>,
    /// Who gets it next.
    pub queue: VecDeque<Address>,
}

/// As it is shown in diagrams: the queue.
impl fmt::Debug for Privilege {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.queue.fmt(f)
    }
}

/// The variables of one process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SuzukiKasami {
    /// Where I stand.
    pub state: State,
    /// The number of the last request of each process that I know of: the paper's RN.
    pub requested: Vec<u64>,
    /// The token, if it is here.
    pub token: Option<Privilege>,
}

impl Process for SuzukiKasami {
    type Problem = Mutex;
    type Topology = Complete;
    type Config = Config;
    type Message = Message;
    type Timer = ();
    type Stable = ();

    fn on_start(recovered: Option<()>, cx: &mut Context<'_, Self>) -> Self {
        let nobody = vec![0; cx.process_count()];
        // One that comes back after a crash must not bring a second token.
        let has_token = recovered.is_none() && cx.me() == cx.config().holder;
        let token = Privilege { served: nobody.clone(), ..Privilege::default() };
        SuzukiKasami { state: State::Released, requested: nobody, token: has_token.then_some(token) }
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
            Message::Request(number) => self.on_request(from, number, cx),
            Message::Privilege(token) => self.on_privilege(token, cx),
        }
    }
}

impl RotationSymmetric for SuzukiKasami {
    fn rotate(part: Part<'_, Self>, rotation: &Rotation<'_>) {
        let token = match part {
            Part::Process(process) => {
                rotation.list(&mut process.requested);
                process.token.as_mut()
            }
            Part::Message(Message::Privilege(token)) => Some(token),
            Part::Message(Message::Request(_)) => None,
        };
        if let Some(token) = token {
            rotation.list(&mut token.served);
            token.queue.iter_mut().for_each(|waiting| *waiting = rotation.address(*waiting));
        }
    }
}

impl SuzukiKasami {
    fn ask(&mut self, cx: &mut Context<'_, Self>) {
        self.state = State::Wanted;
        if self.token.is_some() {
            self.enter(cx);
            return;
        }
        let mine = &mut self.requested[cx.me().index()];
        *mine += 1;
        cx.broadcast(&Message::Request(*mine));
    }

    fn on_request(&mut self, from: Address, number: u64, cx: &mut Context<'_, Self>) {
        let known = &mut self.requested[from.index()];
        *known = number.max(*known);
        let is_new = self.token.as_ref().is_some_and(|token| self.waits(from, token))
            || cx.config().variant == Variant::MutantStale;
        // If I am inside, it is looked at when I leave.
        if is_new
            && self.state == State::Released
            && let Some(token) = self.token.take()
        {
            cx.send(from, Message::Privilege(token));
        }
    }

    fn on_privilege(&mut self, token: Privilege, cx: &mut Context<'_, Self>) {
        if token.served.len() != self.requested.len() {
            return; // It is of another system.
        }
        self.token = Some(token);
        if self.state == State::Wanted {
            self.enter(cx);
        }
    }

    fn enter(&mut self, cx: &mut Context<'_, Self>) {
        let Some(token) = &mut self.token else { return };
        self.state = State::Held;
        token.entries += 1;
        cx.output(Output::Entered { token: cx.config().fencing.then_some(Token(token.entries)) });
    }

    /// Those that have asked in the meantime are queued, beginning with my successor so that nobody is
    /// favoured, and the first of the queue gets the token.
    fn leave(&mut self, cx: &mut Context<'_, Self>) {
        self.state = State::Released;
        cx.output(Output::Left);
        let Some(mut token) = self.token.take() else { return };
        if cx.config().variant != Variant::MutantForgetful {
            token.served[cx.me().index()] = self.requested[cx.me().index()];
        }
        let mut next = cx.after(cx.me());
        while next != cx.me() {
            if self.waits(next, &token) && !token.queue.contains(&next) {
                token.queue.push_back(next);
            }
            next = cx.after(next);
        }
        match token.queue.pop_front() {
            Some(first) => cx.send(first, Message::Privilege(token)),
            None => self.token = Some(token),
        }
    }

    /// Whether the last request of `process` that I know of has not been served.
    fn waits(&self, process: Address, token: &Privilege) -> bool {
        self.requested[process.index()] == token.served[process.index()] + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Effect;
    use crate::testing::Harness;

    const FIRST: Address = Address(0);
    const SECOND: Address = Address(1);
    const THIRD: Address = Address(2);

    fn process(me: Address, config: Config) -> Harness<SuzukiKasami> {
        Harness::new(Complete::new(3), 1..=3, config, me)
    }

    fn privilege(entries: u64, served: [u64; 3], queue: &[Address]) -> Message {
        Message::Privilege(Privilege {
            entries,
            served: served.into(),
            queue: queue.iter().copied().collect(),
        })
    }

    fn entered(token: Option<u64>) -> Effect<SuzukiKasami> {
        Effect::Output(Output::Entered { token: token.map(Token) })
    }

    #[test]
    fn who_has_the_token_enters_without_a_message() {
        let mut p = process(FIRST, Config::default());
        for _ in 0..2 {
            assert_eq!(p.command(Command::Acquire).effects, [entered(None)]);
            assert_eq!(p.command(Command::Release).effects, [Effect::Output(Output::Left)]);
        }
    }

    #[test]
    fn anybody_else_asks_all_others_and_numbers_the_request() {
        let mut p = process(SECOND, Config::default());
        assert_eq!(
            p.command(Command::Acquire).sent(),
            [(FIRST, Message::Request(1)), (THIRD, Message::Request(1))]
        );
        assert_eq!(p.message(FIRST, privilege(0, [0; 3], &[])).effects, [entered(None)]);
        p.command(Command::Release);
        p.message(FIRST, Message::Request(1));
        assert_eq!(p.command(Command::Acquire).sent()[0], (FIRST, Message::Request(2)));
    }

    #[test]
    fn an_idle_token_goes_to_whoever_asks() {
        let mut p = process(FIRST, Config::default());
        let step = p.message(THIRD, Message::Request(1));
        assert_eq!(step.sent(), [(THIRD, privilege(0, [0; 3], &[]))]);
        assert!(p.message(SECOND, Message::Request(1)).is_empty(), "it is not here any more");
    }

    #[test]
    fn a_request_that_has_been_served_is_ignored() {
        let mut p = process(FIRST, Config::default());
        p.message(THIRD, Message::Request(1));
        p.message(THIRD, privilege(1, [0, 0, 1], &[]));
        assert!(p.message(THIRD, Message::Request(1)).is_empty());
    }

    #[test]
    fn who_leaves_queues_the_others_beginning_with_its_successor() {
        let mut p = process(SECOND, Config::default());
        p.command(Command::Acquire);
        p.message(THIRD, privilege(4, [0; 3], &[]));
        assert!(p.message(FIRST, Message::Request(1)).is_empty());
        assert!(p.message(THIRD, Message::Request(1)).is_empty());
        let step = p.command(Command::Release);
        assert_eq!(step.sent(), [(THIRD, privilege(5, [0, 1, 0], &[FIRST]))]);
    }

    #[test]
    fn the_queue_on_the_token_comes_before_new_requests() {
        let mut p = process(SECOND, Config::default());
        p.command(Command::Acquire);
        p.message(FIRST, Message::Request(1));
        p.message(THIRD, Message::Request(1));
        p.message(THIRD, privilege(0, [0; 3], &[FIRST]));
        assert_eq!(p.command(Command::Release).sent(), [(FIRST, privilege(1, [0, 1, 0], &[THIRD]))]);
    }

    #[test]
    fn the_fencing_token_counts_the_entries() {
        let mut p = process(SECOND, Config { fencing: true, ..Config::default() });
        p.command(Command::Acquire);
        assert_eq!(p.message(FIRST, privilege(6, [0; 3], &[])).effects, [entered(Some(7))]);
    }

    #[test]
    fn the_mutant_does_not_note_that_it_was_served() {
        let mut p = process(SECOND, Config { variant: Variant::MutantForgetful, ..Config::default() });
        p.command(Command::Acquire);
        p.message(THIRD, privilege(0, [0; 3], &[]));
        p.message(FIRST, Message::Request(1));
        assert_eq!(p.command(Command::Release).sent(), [(FIRST, privilege(1, [0; 3], &[]))]);
    }
}
