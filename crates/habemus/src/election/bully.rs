//! The bully election (S0, S1, S4): the best live process takes over, and tells the others.
//!
//! H. Garcia-Molina, *Elections in a distributed computing system*, 1982. The notes give three variants,
//! which are options here: ELECTION goes to all (S0) or only to better processes (S1, S4), and the start of
//! an election can be delayed by rank (S0). S4's listing taken by the letter is the variant `AsPrinted`.
//! Messages: Θ(n²) if the worst process starts, Θ(n) if the best does.
//!
//! Where the notes are silent, rules were added, without which two may lead for ever, or everybody elects
//! without end:
//! - An OK that no COORDINATOR follows: the process starts over, or an election would hang when the one that
//!   answered dies.
//! - A leader that gets ELECTION says to the one that asked that it leads. To all it says so when it becomes
//!   leader, and when a worse process claims to lead.
//! - News can be old. Who follows a leader, and hears that a worse process leads or that somebody misses a
//!   leader, asks its own leader first, and elects if that one is silent.
//! - Who is trusted again may have elected in the meantime, on the other side of a partition: a leader tells
//!   it, and others ask it if it is better than their leader.
//! - What is said may be lost in a partition that nobody notices. On a detector, who begins to lead is told
//!   HEARD by whoever follows, and goes on telling all others that live; and so does who leads no more, or
//!   may have led before it crashed.

use std::collections::BTreeSet;

use super::{Command, Election, Output};
use crate::topology::Complete;
use crate::{Address, Context, Process, Suspicion, Topology};

mod config;
#[cfg(test)]
mod tests;
pub use config::{Audience, Config, Variant};

/// What processes send each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message {
    /// "Is a better one alive?" A better process answers [`Ok`](Message::Ok) and holds its own election. The
    /// leader answers [`Coordinator`](Message::Coordinator), too. To a worse process it says "I do not lead",
    /// and is answered [`Heard`](Message::Heard).
    Election,
    /// "I am: give up." [`Coordinator`](Message::Coordinator) should follow.
    Ok,
    /// "I lead." A better process objects with an election of its own, or, if it leads, with the same message
    /// to all; a worse one follows and answers [`Heard`](Message::Heard).
    Coordinator,
    /// "I know how you stand." Without a detector nobody says so.
    Heard {
        /// Whether it leads.
        leads: bool,
    },
}
crate::kinds!(Message: Election, Ok, Coordinator, Heard);

/// What a process is woken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Timer {
    /// When to start the election that was put off because others may be better.
    Start,
    /// When to take silence for victory; or, of one that was asked alone, for a reason to ask all.
    NoAnswer,
    /// When to start over because the one that said OK has announced nothing.
    NoCoordinator,
    /// When to tell those again how I stand who live, and neither follow nor object.
    Unheard,
}

/// Where a process stands in an election.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Phase {
    /// In none.
    Idle,
    /// It has a leader, and has asked it, or one that would be better, whether that is still so.
    Checking,
    /// It will start one, unless somebody better is quicker.
    Delayed,
    /// It has asked, and waits for an OK.
    Asking,
    /// It has given up, and waits for COORDINATOR.
    Yielded,
}

/// The variables of one process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Bully {
    /// Where it stands.
    pub phase: Phase,
    /// The leader, if known; nobody while it holds an election.
    pub leader: Option<Address>,
    /// Those that the detector takes for dead.
    pub suspected: BTreeSet<Address>,
    /// Those that have not said that they know how I stand: that I lead, or that I lead no more.
    pub unheard: BTreeSet<Address>,
}

impl Process for Bully {
    type Problem = Election;
    type Topology = Complete;
    type Config = Config;
    type Message = Message;
    type Timer = Timer;
    type Stable = ();

    fn on_start(recovered: Option<()>, cx: &mut Context<'_, Self>) -> Self {
        let (suspected, unheard) = (BTreeSet::new(), BTreeSet::new());
        let mut bully = Bully { phase: Phase::Idle, leader: None, suspected, unheard };
        if recovered.is_some() {
            // I may have led.
            bully.retire(cx);
            bully.start(cx);
        } else if let Some(leader) = cx.config().leader {
            let all = (0..cx.topology().len() as u32).map(Address);
            bully.leader = all.into_iter().find(|&address| cx.id_of(address) == leader);
            cx.output(if cx.id() == leader { Output::leads() } else { Output::follows(leader) });
        }
        bully
    }

    fn on_command(&mut self, Command::Elect: Command, cx: &mut Context<'_, Self>) {
        self.start(cx);
    }

    fn on_suspicion(&mut self, suspicion: Suspicion, cx: &mut Context<'_, Self>) {
        match suspicion {
            Suspicion::Suspect(suspect) => {
                self.suspected.insert(suspect);
                if self.leader == Some(suspect) {
                    self.leave_phase(cx);
                    self.leader = None;
                    cx.output(Output::Leaderless);
                    self.start(cx);
                }
            }
            Suspicion::Restore(restored) => {
                self.suspected.remove(&restored);
                if cx.config().variant == Variant::Complete {
                    self.on_restore(restored, cx);
                }
            }
        }
    }

    fn on_message(&mut self, from: Address, message: Message, cx: &mut Context<'_, Self>) {
        match message {
            Message::Election => self.on_election(from, cx),
            Message::Ok => self.on_ok(cx),
            Message::Coordinator => self.on_coordinator(from, cx),
            Message::Heard { leads } => self.on_heard(from, leads, cx),
        }
    }

    fn on_timer(&mut self, timer: Timer, cx: &mut Context<'_, Self>) {
        match timer {
            Timer::Start => self.ask(cx),
            Timer::NoAnswer if self.phase == Phase::Asking => self.become_leader(cx),
            Timer::NoAnswer | Timer::NoCoordinator => {
                self.phase = Phase::Idle;
                self.start(cx);
            }
            Timer::Unheard => self.insist(cx),
        }
    }
}

impl Bully {
    fn on_election(&mut self, from: Address, cx: &mut Context<'_, Self>) {
        if !better(cx.me(), from, cx) {
            return self.on_resignation(from, cx);
        }
        cx.send(from, Message::Ok);
        if cx.config().variant == Variant::AsPrinted {
            return;
        }
        match self.leader {
            None => self.start(cx),
            Some(leader) if leader == cx.me() => cx.send(from, Message::Coordinator),
            Some(leader) => self.doubt(leader, cx),
        }
    }

    /// A better process holds an election: if it was my leader, it is that no more.
    fn on_resignation(&mut self, from: Address, cx: &mut Context<'_, Self>) {
        if !confirms(cx) {
            return;
        }
        cx.send(from, Message::Heard { leads: false });
        if self.leader == Some(from) {
            self.leave_phase(cx);
            self.leader = None;
            cx.output(Output::Leaderless);
            self.start(cx);
        }
    }

    fn on_ok(&mut self, cx: &mut Context<'_, Self>) {
        match self.phase {
            Phase::Asking => {
                self.phase = Phase::Yielded;
                cx.cancel_timer(Timer::NoAnswer);
                if cx.config().variant == Variant::Complete {
                    cx.set_timer(Timer::NoCoordinator, cx.config().coordinator_timeout);
                }
            }
            Phase::Checking => self.leave_phase(cx),
            Phase::Idle | Phase::Delayed | Phase::Yielded => {}
        }
    }

    fn on_coordinator(&mut self, from: Address, cx: &mut Context<'_, Self>) {
        let worse = better(cx.me(), from, cx);
        match self.leader {
            _ if cx.config().variant == Variant::AsPrinted => {
                if worse || self.suspected.contains(&from) {
                    self.start(cx);
                } else {
                    self.follow(from, cx);
                }
            }
            // Whoever follows it must know, whether it lives or not.
            Some(leader) if leader == cx.me() && worse => self.announce(cx),
            // It has died since it spoke, or is back; then I shall be told.
            _ if self.suspected.contains(&from) => {
                if self.leader.is_none() {
                    self.start(cx);
                }
            }
            None if worse => self.start(cx),
            // One of the two is no leader any more, and it need not be mine. Without a detector this is how I
            // hear of it.
            Some(leader) if better(leader, from, cx) && cx.config().detector => self.doubt(leader, cx),
            _ => {
                self.follow(from, cx);
                if confirms(cx) {
                    cx.send(from, Message::Heard { leads: true });
                }
            }
        }
    }

    fn on_heard(&mut self, from: Address, leads: bool, cx: &mut Context<'_, Self>) {
        // It may be about how I stood before.
        let current = leads == (self.leader == Some(cx.me()));
        if current && self.unheard.remove(&from) && self.still_to_tell().next().is_none() {
            cx.cancel_timer(Timer::Unheard);
        }
    }

    /// It is trusted again: it was cut off, or has recovered, and may have another leader than I, or none.
    fn on_restore(&mut self, restored: Address, cx: &mut Context<'_, Self>) {
        match self.leader {
            Some(leader) if leader == cx.me() => {
                self.unheard.insert(restored);
                cx.send(restored, Message::Coordinator);
                cx.set_timer(Timer::Unheard, cx.config().coordinator_timeout);
            }
            Some(leader) if better(restored, leader, cx) => self.check(restored, cx),
            // My election did not reach it.
            None if self.phase != Phase::Idle && better(restored, cx.me(), cx) => {
                cx.send(restored, Message::Election);
            }
            // Nor did it hear that I lead no more.
            _ if self.unheard.contains(&restored) => self.insist(cx),
            _ => {}
        }
    }

    /// Asks my leader whether it is still there, unless I have asked already.
    fn doubt(&mut self, leader: Address, cx: &mut Context<'_, Self>) {
        if self.phase == Phase::Idle {
            self.check(leader, cx);
        }
    }

    /// Asks one process alone.
    fn check(&mut self, other: Address, cx: &mut Context<'_, Self>) {
        cx.send(other, Message::Election);
        if self.phase == Phase::Idle {
            self.phase = Phase::Checking;
            cx.set_timer(Timer::NoAnswer, cx.config().answer_timeout);
        }
    }

    /// Starts an election, unless one is under way here; S0: the worse I am, the longer I wait.
    fn start(&mut self, cx: &mut Context<'_, Self>) {
        if self.phase != Phase::Idle {
            return;
        }
        if self.leader == Some(cx.me()) {
            self.retire(cx);
        }
        self.leader = None;
        if cx.config().delay.is_zero() {
            self.ask(cx);
        } else {
            self.phase = Phase::Delayed;
            let ahead = cx.neighbours().filter(|&other| better(other, cx.me(), cx)).count();
            cx.set_timer(Timer::Start, cx.config().delay * ahead as u32);
        }
    }

    fn ask(&mut self, cx: &mut Context<'_, Self>) {
        let all = cx.config().audience == Audience::All;
        let mut asked = 0;
        for other in cx.neighbours() {
            if all || better(other, cx.me(), cx) {
                cx.send(other, Message::Election);
                asked += 1;
            }
        }
        if asked == 0 {
            self.become_leader(cx);
        } else {
            self.phase = Phase::Asking;
            cx.set_timer(Timer::NoAnswer, cx.config().answer_timeout);
        }
    }

    fn become_leader(&mut self, cx: &mut Context<'_, Self>) {
        self.leave_phase(cx);
        self.leader = Some(cx.me());
        cx.output(Output::leads());
        self.announce(cx);
    }

    /// Tells everybody that I lead.
    fn announce(&mut self, cx: &mut Context<'_, Self>) {
        cx.broadcast(&Message::Coordinator);
        let others = cx.neighbours().collect();
        self.expect_to_be_heard(others, cx);
    }

    /// I lead no more, or may have led before I crashed. Nobody that is better followed me.
    fn retire(&mut self, cx: &mut Context<'_, Self>) {
        let worse = cx.neighbours().filter(|&other| better(cx.me(), other, cx)).collect();
        self.expect_to_be_heard(worse, cx);
    }

    fn expect_to_be_heard(&mut self, by: BTreeSet<Address>, cx: &mut Context<'_, Self>) {
        if confirms(cx) {
            self.unheard = by;
            if self.still_to_tell().next().is_some() {
                cx.set_timer(Timer::Unheard, cx.config().coordinator_timeout);
            }
        }
    }

    /// Says again how I stand. Who is better than me objects if I lead.
    fn insist(&mut self, cx: &mut Context<'_, Self>) {
        let leads = self.leader == Some(cx.me());
        let message = if leads { Message::Coordinator } else { Message::Election };
        for other in self.still_to_tell() {
            cx.send(other, message);
        }
        if self.still_to_tell().next().is_some() {
            cx.set_timer(Timer::Unheard, cx.config().coordinator_timeout);
        }
    }

    /// Those that must still be told, and live as far as the detector can tell.
    fn still_to_tell(&self) -> impl Iterator<Item = Address> {
        self.unheard.difference(&self.suspected).copied()
    }

    fn follow(&mut self, leader: Address, cx: &mut Context<'_, Self>) {
        self.leave_phase(cx);
        if self.leader == Some(cx.me()) {
            self.retire(cx);
        }
        if self.leader.replace(leader) != Some(leader) {
            cx.output(Output::follows(cx.id_of(leader)));
        }
    }

    fn leave_phase(&mut self, cx: &mut Context<'_, Self>) {
        match self.phase {
            Phase::Idle => {}
            Phase::Delayed => cx.cancel_timer(Timer::Start),
            Phase::Checking | Phase::Asking => cx.cancel_timer(Timer::NoAnswer),
            Phase::Yielded => cx.cancel_timer(Timer::NoCoordinator),
        }
        self.phase = Phase::Idle;
    }
}

/// Whether processes say that they have heard: only a detector tells those that are silent from the dead.
fn confirms(cx: &Context<'_, Bully>) -> bool {
    cx.config().detector && cx.config().variant == Variant::Complete
}

/// Whether the process at `one` would be a better leader than the one at `other`.
fn better(one: Address, other: Address, cx: &Context<'_, Bully>) -> bool {
    let rank = |address: Address| {
        (cx.config().quality.get(address.index()).copied().unwrap_or(0), cx.id_of(address))
    };
    cx.config().wins.better(&rank(one), &rank(other))
}
