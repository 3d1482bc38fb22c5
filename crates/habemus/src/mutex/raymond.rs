//! Raymond's mutual exclusion on a tree: everybody knows in which direction the token is.
//!
//! K. Raymond, *A tree-based algorithm for distributed mutual exclusion*, 1989. A process asks the neighbour
//! in whose direction the token lies, for itself or for another neighbour, and at most once at a time; the
//! token comes back the way the request went and turns the directions round. An entry takes at most two
//! messages for every link between two processes: O(log n) in a balanced tree. Links need not keep the order.

use std::collections::VecDeque;
use std::sync::Arc;

use super::{Command, Mutex, Output, State, Token};
use crate::topology::Graph;
use crate::{Address, Context, Process, Topology};

/// Where the token lies at the beginning, as seen from each process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// The neighbour of each process in whose direction the token lies at the beginning; its holder has
    /// itself.
    pub toward: Arc<[Address]>,
    /// Whether holders get a fencing token: how often the token has been used.
    pub fencing: bool,
    /// Whose rules.
    pub variant: Variant,
}

impl Config {
    /// The constants for a connected graph without cycles in which `holder` has the token at the beginning.
    pub fn new(tree: &Graph, holder: Address) -> Self {
        let mut toward = vec![holder; tree.len()];
        let mut open = vec![holder];
        while let Some(here) = open.pop() {
            for &next in tree.links_of(here) {
                if next != toward[here.index()] {
                    toward[next.index()] = here;
                    open.push(next);
                }
            }
        }
        Config { toward: toward.into(), fencing: false, variant: Variant::Complete }
    }
}

/// Whose rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Variant {
    /// The paper's.
    #[default]
    Complete,
    /// A mutant: who gives the token away while others wait does not ask for it back, kept to show that the
    /// checker catches it.
    MutantNoFollowUp,
}

/// What neighbours send each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message {
    /// "Somebody on my side wants the token." Answered by [`Privilege`](Message::Privilege) in the end.
    Request,
    /// "You have the token", and how often it has been used.
    Privilege(u64),
}
crate::kinds!(Message: Request, Privilege);

/// The variables of one process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Raymond {
    /// Where I stand.
    pub state: State,
    /// The neighbour in whose direction the token lies; me if it is here.
    pub holder: Address,
    /// The neighbours that have asked me, and me if I want to enter, in the order of asking.
    pub queue: VecDeque<Address>,
    /// Whether I have asked for the token and not got it yet.
    pub asked: bool,
    /// How often the token had been used when I last had it.
    pub entries: u64,
}

impl Process for Raymond {
    type Problem = Mutex;
    type Topology = Graph;
    type Config = Config;
    type Message = Message;
    type Timer = ();
    type Stable = ();

    fn on_start(_: Option<()>, cx: &mut Context<'_, Self>) -> Self {
        let holder = cx.config().toward[cx.me().index()];
        Raymond { state: State::Released, holder, queue: VecDeque::new(), asked: false, entries: 0 }
    }

    fn on_command(&mut self, command: Command, cx: &mut Context<'_, Self>) {
        match (command, self.state) {
            (Command::Acquire | Command::Share, State::Released) => {
                self.state = State::Wanted;
                self.queue.push_back(cx.me());
                self.serve_or_ask(cx);
            }
            (Command::Release, State::Held) => {
                self.state = State::Released;
                cx.output(Output::Left);
                self.serve_or_ask(cx);
            }
            // Asking twice, or leaving while outside, changes nothing.
            _ => {}
        }
    }

    fn on_message(&mut self, from: Address, message: Message, cx: &mut Context<'_, Self>) {
        match message {
            Message::Request => self.queue.push_back(from),
            Message::Privilege(entries) => {
                self.holder = cx.me();
                self.entries = entries;
                self.asked = false;
            }
        }
        self.serve_or_ask(cx);
    }
}

impl Raymond {
    /// If the token is here and free, the first of the queue gets it. If it is not here, or no longer, I ask
    /// for it as long as somebody waits.
    fn serve_or_ask(&mut self, cx: &mut Context<'_, Self>) {
        let here = self.holder == cx.me();
        if here && self.state != State::Held {
            self.serve(cx);
        }
        let hindered = here && cx.config().variant == Variant::MutantNoFollowUp;
        if self.holder != cx.me() && !self.queue.is_empty() && !self.asked && !hindered {
            self.asked = true;
            cx.send(self.holder, Message::Request);
        }
    }

    fn serve(&mut self, cx: &mut Context<'_, Self>) {
        match self.queue.pop_front() {
            Some(first) if first == cx.me() => {
                self.state = State::Held;
                self.entries += 1;
                cx.output(Output::Entered { token: cx.config().fencing.then_some(Token(self.entries)) });
            }
            Some(first) => {
                self.holder = first;
                cx.send(first, Message::Privilege(self.entries));
            }
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Effect;
    use crate::testing::Harness;

    const ROOT: Address = Address(0);
    const MIDDLE: Address = Address(1);
    const LEAF: Address = Address(2);
    const OTHER_LEAF: Address = Address(3);

    /// The tree 1 – 2, with 3 and 4 below 2, and the token at its root.
    fn tree() -> Graph {
        Graph::new(4, &[(0, 1), (1, 2), (1, 3)])
    }

    fn process(me: Address) -> Harness<Raymond> {
        with(me, |_| {})
    }

    fn with(me: Address, change: impl FnOnce(&mut Config)) -> Harness<Raymond> {
        let mut config = Config::new(&tree(), ROOT);
        change(&mut config);
        Harness::new(tree(), 1..=4, config, me)
    }

    fn entered(token: Option<u64>) -> Effect<Raymond> {
        Effect::Output(Output::Entered { token: token.map(Token) })
    }

    #[test]
    fn at_the_beginning_everybody_knows_where_the_token_is() {
        assert_eq!(Config::new(&tree(), ROOT).toward[..], [ROOT, ROOT, MIDDLE, MIDDLE]);
        assert_eq!(Config::new(&tree(), LEAF).toward[..], [MIDDLE, LEAF, LEAF, MIDDLE]);
    }

    #[test]
    fn who_has_the_token_enters_without_a_message() {
        let mut p = process(ROOT);
        for _ in 0..2 {
            assert_eq!(p.command(Command::Acquire).effects, [entered(None)]);
            assert_eq!(p.command(Command::Release).effects, [Effect::Output(Output::Left)]);
        }
    }

    #[test]
    fn a_request_travels_towards_the_token_and_once_for_all() {
        assert_eq!(process(LEAF).command(Command::Acquire).sent(), [(MIDDLE, Message::Request)]);
        let mut p = process(MIDDLE);
        assert_eq!(p.message(LEAF, Message::Request).sent(), [(ROOT, Message::Request)]);
        assert!(p.message(OTHER_LEAF, Message::Request).is_empty(), "it has been asked for already");
        assert!(p.command(Command::Acquire).is_empty());
    }

    #[test]
    fn the_token_goes_back_the_way_of_the_request_and_turns_the_direction_round() {
        let mut p = process(ROOT);
        assert_eq!(p.message(MIDDLE, Message::Request).sent(), [(MIDDLE, Message::Privilege(0))]);
        assert_eq!(p.process.holder, MIDDLE);
        assert_eq!(p.command(Command::Acquire).sent(), [(MIDDLE, Message::Request)]);
    }

    #[test]
    fn who_gives_the_token_away_while_others_wait_asks_for_it_back() {
        let mut p = process(MIDDLE);
        p.message(LEAF, Message::Request);
        p.message(OTHER_LEAF, Message::Request);
        let step = p.message(ROOT, Message::Privilege(5));
        assert_eq!(step.sent(), [(LEAF, Message::Privilege(5)), (LEAF, Message::Request)]);
    }

    #[test]
    fn a_request_waits_while_the_holder_is_inside() {
        let mut p = process(ROOT);
        p.command(Command::Acquire);
        assert!(p.message(MIDDLE, Message::Request).is_empty());
        let left = p.command(Command::Release);
        let privilege = Effect::Send { to: MIDDLE, message: Message::Privilege(1) };
        assert_eq!(left.effects, [Effect::Output(Output::Left), privilege]);
    }

    #[test]
    fn the_queue_is_served_in_order_whoever_is_in_it() {
        let mut p = process(MIDDLE);
        p.message(LEAF, Message::Request);
        p.command(Command::Acquire);
        p.message(ROOT, Message::Privilege(0));
        assert_eq!(p.message(LEAF, Message::Privilege(1)).effects, [entered(None)]);
    }

    #[test]
    fn the_fencing_token_counts_the_entries() {
        let mut p = with(LEAF, |config| config.fencing = true);
        p.command(Command::Acquire);
        assert_eq!(p.message(MIDDLE, Message::Privilege(6)).effects, [entered(Some(7))]);
    }

    #[test]
    fn the_mutant_does_not_ask_for_the_token_back() {
        let mut p = with(MIDDLE, |config| config.variant = Variant::MutantNoFollowUp);
        p.message(LEAF, Message::Request);
        p.message(OTHER_LEAF, Message::Request);
        assert_eq!(p.message(ROOT, Message::Privilege(5)).sent(), [(LEAF, Message::Privilege(5))]);
    }
}
