//! The Yo-Yo election on any connected graph (S4): identifiers fall from sources to sinks, and votes come
//! back.
//!
//! N. Santoro, *Design and Analysis of Distributed Algorithms*, 2007. Every link is directed from the better
//! to the worse of its ends, so that each local optimum is a source. In an iteration the sources' identifiers
//! fall to the sinks (YO-), votes rise from there (-YO), and every link that carried a NO is turned round: a
//! source that hears a NO is one no more. S4 leaves out the pruning, without which nobody can tell that only
//! one source is left, and lets a single YES outvote the NOs; its rules are kept as variants. Messages: 2m to
//! say hello, at most 2 for each link in each iteration, n−1 to announce. There are at most 1 + 1.45·log₂ n
//! iterations, because the sources of two iterations together are never more than those of the iteration
//! before them.
//!
//! No message needs a number for its iteration, even if links do not keep the order: on one link, only a YO-
//! can overtake what was sent before it (the hello, or the NO that turned the link), and it is told from both
//! by its kind.

use std::collections::{BTreeMap, BTreeSet};

use super::{Command, Election, Output, Wins};
use crate::topology::Graph;
use crate::{Address, Context, Id, Process};

mod config;
mod message;

pub use config::{Config, Variant};
pub use message::{Message, Timer};

/// Where a process stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Phase {
    /// It has heard of no election.
    #[default]
    Asleep,
    /// It has said hello, and waits until all neighbours have.
    Greeting,
    /// YO-: it waits for identifiers on all its incoming links.
    Down,
    /// -YO: it has passed this identifier on, and waits for answers on all its outgoing links.
    Up(Id),
    /// It has no link left, and nothing to do but to pass the announcement on.
    Over,
}

/// What a link is to the process at one of its ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Link {
    /// The neighbour has not said hello.
    Unknown,
    /// It comes from a better process, or was turned round.
    In,
    /// It leads to a worse process, or was turned round; and the answer to what was sent down, once it is
    /// here.
    Out(Option<Message>),
}

/// The variables of one process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct YoYo {
    /// Where it stands.
    pub phase: Phase,
    /// The links that are still in use, by neighbour.
    pub links: BTreeMap<Address, Link>,
    /// What YO- has brought and is not answered yet, by neighbour. On a link that is not incoming, it is
    /// early: the neighbour has turned the link round and begun the next iteration.
    pub brought: BTreeMap<Address, Id>,
    /// Those that left through a link to this process.
    pub children: BTreeSet<Address>,
    /// The leader, once known.
    pub elected: Option<Id>,
}

impl Process for YoYo {
    type Problem = Election;
    type Topology = Graph;
    type Config = Config;
    type Message = Message;
    type Timer = Timer;
    type Stable = ();

    fn on_start(_: Option<()>, _: &mut Context<'_, Self>) -> Self {
        YoYo::default()
    }

    fn on_command(&mut self, Command::Elect: Command, cx: &mut Context<'_, Self>) {
        self.wake(cx);
        self.advance(cx);
    }

    fn on_message(&mut self, from: Address, message: Message, cx: &mut Context<'_, Self>) {
        self.wake(cx);
        match message {
            Message::Hello(id) => self.on_hello(from, id, cx),
            Message::Yo(id) => self.on_yo(from, id),
            Message::Yes | Message::No | Message::Redundant | Message::Leaf => self.on_answer(from, message),
            Message::Elected(leader) => self.on_elected(leader, cx),
        }
        self.advance(cx);
    }

    fn on_timer(&mut self, Timer::NoHello: Timer, cx: &mut Context<'_, Self>) {
        let Self { links, brought, .. } = self;
        links.retain(|_, link| *link != Link::Unknown);
        brought.retain(|neighbour, _| links.contains_key(neighbour));
        self.advance(cx);
    }
}

/// What arrives is only noted down: [`advance`](YoYo::advance) acts on it as soon as all of its kind is here.
impl YoYo {
    /// Takes part; whoever already does is not disturbed.
    fn wake(&mut self, cx: &mut Context<'_, Self>) {
        if self.phase != Phase::Asleep {
            return;
        }
        self.phase = Phase::Greeting;
        self.links = cx.neighbours().map(|neighbour| (neighbour, Link::Unknown)).collect();
        cx.broadcast(&Message::Hello(cx.id()));
        if let Some(timeout) = cx.config().hello_timeout {
            cx.set_timer(Timer::NoHello, timeout);
        }
    }

    fn on_hello(&mut self, from: Address, id: Id, cx: &mut Context<'_, Self>) {
        // A second hello, or one that comes when its link has been given up, finds nothing to direct.
        if let Some(link @ Link::Unknown) = self.links.get_mut(&from) {
            *link = if cx.config().wins.better(&id, &cx.id()) { Link::In } else { Link::Out(None) };
        }
    }

    fn on_yo(&mut self, from: Address, id: Id) {
        // A link that was struck out or given up brings nothing.
        if self.links.contains_key(&from) {
            self.brought.insert(from, id);
        }
    }

    fn on_answer(&mut self, from: Address, answer: Message) {
        // Only what was sent down can be answered, and only once.
        if let (Phase::Up(_), Some(Link::Out(heard @ None))) = (self.phase, self.links.get_mut(&from)) {
            *heard = Some(answer);
        }
    }

    fn on_elected(&mut self, leader: Id, cx: &mut Context<'_, Self>) {
        if self.elected.is_none() {
            self.elected = Some(leader);
            cx.output(Output::follows(leader));
            self.announce(leader, cx);
        }
    }
}

/// The iterations.
impl YoYo {
    /// Goes on for as long as nothing is missing.
    fn advance(&mut self, cx: &mut Context<'_, Self>) {
        loop {
            let links = &self.links;
            match self.phase {
                Phase::Greeting if links.values().all(|link| *link != Link::Unknown) => {
                    self.phase = Phase::Down;
                    if cx.config().hello_timeout.is_some() {
                        cx.cancel_timer(Timer::NoHello);
                    }
                }
                Phase::Down if self.incoming().all(|from| self.brought.contains_key(&from)) => {
                    self.pass_down(cx);
                }
                Phase::Up(best) if links.values().all(|link| *link != Link::Out(None)) => {
                    self.pass_up(best, cx);
                }
                _ => return,
            }
        }
    }

    /// YO-. S4: "escolhe o menor id recebido m; envia m em todas as suas arestas de saída"; a source sends
    /// its own.
    fn pass_down(&mut self, cx: &mut Context<'_, Self>) {
        let brought = self.incoming().map(|from| self.brought[&from]);
        let best = match cx.config().wins {
            Wins::Lowest => brought.min(),
            Wins::Highest => brought.max(),
        };
        let best = best.unwrap_or(cx.id());
        for (to, link) in &self.links {
            if *link == Link::Out(None) {
                cx.send(*to, Message::Yo(best));
            }
        }
        self.phase = Phase::Up(best);
    }

    /// -YO: turns round and strikes out what the votes say, and answers every incoming link.
    fn pass_up(&mut self, best: Id, cx: &mut Context<'_, Self>) {
        let variant = cx.config().variant;
        let incoming: Vec<Address> = self.incoming().collect();
        let rejected = self.turn_outgoing(variant);
        let agrees = |id| id == best || variant == Variant::MutantPruneUnequal;
        // With nothing but links that brought the same, the process has no more to contribute: all are
        // struck.
        let alone = self.links.len() == incoming.len()
            && !rejected
            && incoming.iter().all(|from| agrees(self.brought[from]));
        let mut kept = false;
        for &from in &incoming {
            let id = self.brought.remove(&from);
            let answer = match kept {
                _ if rejected || !id.is_some_and(agrees) => Message::No,
                _ if variant == Variant::AsPrinted => Message::Yes,
                true => Message::Redundant,
                false if alone => Message::Leaf,
                false => Message::Yes,
            };
            kept |= answer != Message::No;
            match answer {
                Message::Yes => {}
                Message::No => drop(self.links.insert(from, Link::Out(None))),
                _ => drop(self.links.remove(&from)),
            }
            cx.send(from, answer);
        }
        self.phase = if self.links.is_empty() { Phase::Over } else { Phase::Down };
        // S4 prints no rule by which anybody becomes leader.
        if self.phase == Phase::Over && incoming.is_empty() && variant != Variant::AsPrinted {
            self.become_leader(cx);
        }
    }

    /// S4: "N inverte a direção das arestas em que trafega". Says whether the votes are against the
    /// identifier.
    fn turn_outgoing(&mut self, variant: Variant) -> bool {
        let (mut ayes, mut noes) = (0, 0);
        let children = &mut self.children;
        self.links.retain(|neighbour, link| {
            let Link::Out(Some(answer)) = *link else { return true };
            match answer {
                Message::No => noes += 1,
                _ => ayes += 1,
            }
            *link = if answer == Message::No { Link::In } else { Link::Out(None) };
            if answer == Message::Leaf {
                children.insert(*neighbour);
            }
            matches!(answer, Message::Yes | Message::No)
        });
        match variant {
            Variant::Pruned | Variant::MutantPruneUnequal => noes > 0,
            Variant::SomeYes | Variant::AsPrinted => noes > 0 && ayes == 0,
        }
    }

    fn become_leader(&mut self, cx: &mut Context<'_, Self>) {
        self.elected = Some(cx.id());
        cx.output(Output::leads());
        self.announce(cx.id(), cx);
    }

    /// Everybody but the leader left as the leaf of somebody who stayed: that makes a tree with n−1 links.
    fn announce(&self, leader: Id, cx: &mut Context<'_, Self>) {
        for &child in &self.children {
            cx.send(child, Message::Elected(leader));
        }
    }

    fn incoming(&self) -> impl Iterator<Item = Address> + '_ {
        self.links.iter().filter(|(_, link)| **link == Link::In).map(|(from, _)| *from)
    }
}

#[cfg(test)]
mod tests;
