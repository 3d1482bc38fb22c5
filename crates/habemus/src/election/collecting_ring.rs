//! The ring election that collects identifiers (S0 "Eleição em Anel"; S4 "Anel 2").
//!
//! A list travels round a logical ring, past processes that have failed; everybody adds itself, and who finds
//! itself on it chooses the best and says so. Messages: 2n for each process that starts, with up to n
//! entries.
//!
//! S0 asks what happens if a process fails during the election, and leaves it at that. Here: whoever chooses
//! leaves out those it knows to be dead, nobody follows a leader it knows to be dead, and whoever has taken
//! part in a round of which no result comes starts a round of its own. A list ends at *any* process that is
//! on it (S4's rule), not only at the one that started it, or it would circle for ever once that one is dead.
//!
//! And news can be old, be lost, or go past a process that is taken for dead. Who has a better leader than
//! the one announced starts a round instead of following; who trusts a process again tells it who leads; and
//! who announces a leader waits until the announcement has come home from everybody that lives, or starts
//! again.

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use super::{Command, Election, Output, Wins};
use crate::topology::Ring;
use crate::{Address, Context, Id, Process, Suspicion, Topology};

#[cfg(test)]
mod tests;

/// Which identifier wins, who is told, and when a round counts as lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Whose rules.
    pub variant: Variant,
    /// Which end of the order wins: the highest in S0, the lowest in S4.
    pub wins: Wins,
    /// Who is told the result.
    pub announce: Announce,
    /// How long a hop may take. Who has waited for two turns of the ring takes a round for lost.
    pub hop_timeout: Duration,
    /// Who leads at the beginning, if anybody.
    pub leader: Option<Member>,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            variant: Variant::Complete,
            wins: Wins::Highest,
            announce: Announce::Ring,
            hop_timeout: Duration::from_millis(20),
            leader: None,
        }
    }
}

/// Whose rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// S0's, with an answer to its last question.
    Complete,
    /// A mutant: the first on the list is chosen, not the best, kept to show that the checker catches it.
    MutantFirstListed,
    /// A mutant: a lost round is not repeated, kept to show that the checker catches it.
    MutantNoRestart,
}

/// Who is told the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Announce {
    /// Everybody, by a message that goes round the ring (S0's count of 2n).
    Ring,
    /// Everybody, by a message to each (S0's wording).
    All,
    /// Nobody: the initiator knows, and the others hold their own elections (S4).
    Nobody,
}

/// An entry of a list: who, and where it is reached.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Member {
    /// Its identifier.
    pub id: Id,
    /// Its address: everybody can reach everybody.
    pub address: Address,
}

/// People know a process by its identifier.
impl fmt::Debug for Member {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.id)
    }
}

/// What travels round the ring.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message {
    /// "Add yourself." Who is on the list already ends the round with [`Coordinator`](Message::Coordinator).
    Election(Vec<Member>),
    /// "This process leads." It ends at one that has been told, at best at the first, who announced it. A
    /// better process objects with an election, and so does one that knows the leader to be dead, or has a
    /// better one.
    Coordinator {
        /// Who.
        leader: Member,
        /// Those that have been told, who announced it first; nobody if it is not to be passed on.
        told: Vec<Address>,
    },
}
crate::kinds!(Message: Election, Coordinator);

/// What a process is woken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Timer {
    /// When to start a round because the last one that came by has had no result, or not all have heard of
    /// it.
    NoResult,
}

/// What a process waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Waiting {
    /// Nothing.
    No,
    /// A result, of its own round or another's.
    ForResult,
    /// The announcement of a result, which it has sent round.
    ForAnnouncement,
}

/// The variables of one process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CollectingRing {
    /// What it waits for.
    pub waiting: Waiting,
    /// The leader, if known.
    pub leader: Option<Member>,
    /// Those that the detector takes for dead.
    pub suspected: BTreeSet<Address>,
}

impl Process for CollectingRing {
    type Problem = Election;
    type Topology = Ring;
    type Config = Config;
    type Message = Message;
    type Timer = Timer;
    type Stable = ();

    fn on_start(recovered: Option<()>, cx: &mut Context<'_, Self>) -> Self {
        let mut process = CollectingRing { waiting: Waiting::No, leader: None, suspected: BTreeSet::new() };
        if recovered.is_some() {
            process.start(cx);
        } else if let Some(leader) = cx.config().leader {
            process.follow(leader, cx);
        }
        process
    }

    fn on_command(&mut self, Command::Elect: Command, cx: &mut Context<'_, Self>) {
        if self.waiting != Waiting::ForResult {
            self.start(cx);
        }
    }

    fn on_suspicion(&mut self, suspicion: Suspicion, cx: &mut Context<'_, Self>) {
        match suspicion {
            Suspicion::Suspect(suspect) => {
                self.suspected.insert(suspect);
                if self.leader.is_some_and(|leader| leader.address == suspect) {
                    self.leader = None;
                    cx.output(Output::Leaderless);
                    if self.waiting != Waiting::ForResult {
                        self.start(cx);
                    }
                }
            }
            Suspicion::Restore(restored) => {
                self.suspected.remove(&restored);
                self.on_restore(restored, cx);
            }
        }
    }

    fn on_message(&mut self, _: Address, message: Message, cx: &mut Context<'_, Self>) {
        match message {
            Message::Election(members) => self.on_election(members, cx),
            Message::Coordinator { leader, told } => self.on_coordinator(leader, told, cx),
        }
    }

    fn on_timer(&mut self, Timer::NoResult: Timer, cx: &mut Context<'_, Self>) {
        self.waiting = Waiting::No;
        if cx.config().variant != Variant::MutantNoRestart {
            self.start(cx);
        }
    }
}

impl CollectingRing {
    fn on_election(&mut self, mut members: Vec<Member>, cx: &mut Context<'_, Self>) {
        let me = Member { id: cx.id(), address: cx.me() };
        if members.contains(&me) {
            let leader = self.choose(&members, me, cx);
            self.settle(cx);
            self.follow(leader, cx);
            self.announce(leader, cx);
        } else {
            let place = members.len();
            members.push(me);
            cx.send(self.next_operational(cx), Message::Election(members));
            if cx.config().announce != Announce::Nobody {
                self.wait(Waiting::ForResult, place, cx);
            }
        }
    }

    fn on_coordinator(&mut self, leader: Member, mut told: Vec<Address>, cx: &mut Context<'_, Self>) {
        if told.contains(&cx.me()) {
            if told[0] == cx.me() && self.leader == Some(leader) {
                self.on_return(&told, cx);
            }
            return;
        }
        let better = |one: Id| cx.config().wins.better(&one, &leader.id);
        // It has died since it was chosen, or I was away when the list came by.
        if self.suspected.contains(&leader.address) || better(cx.id()) {
            self.start(cx);
            return;
        }
        if self.leader.is_some_and(|mine| better(mine.id)) {
            // One of the two no longer leads. If no round that I took part in says which, the next one will;
            // and if one does, it may have been an old one.
            if self.waiting != Waiting::ForResult {
                self.start(cx);
                return;
            }
        } else if self.waiting == Waiting::ForResult || self.leader != Some(leader) {
            self.settle(cx);
        }
        self.follow(leader, cx);
        if !told.is_empty() {
            told.push(cx.me());
            cx.send(self.next_operational(cx), Message::Coordinator { leader, told });
        }
    }

    /// What I have announced is back. If it has gone past somebody that lives, I go on waiting, and start
    /// again.
    fn on_return(&mut self, told: &[Address], cx: &mut Context<'_, Self>) {
        let mut all = (0..cx.topology().len() as u32).map(Address);
        let everybody = all.all(|other| told.contains(&other) || self.suspected.contains(&other));
        if everybody && self.waiting == Waiting::ForAnnouncement {
            self.settle(cx);
        }
    }

    /// It is trusted again: lists and results have gone past it. It learns whom I follow, and objects if need
    /// be; who leads makes sure of it.
    fn on_restore(&mut self, restored: Address, cx: &mut Context<'_, Self>) {
        let Some(leader) = self.leader else { return };
        if self.waiting == Waiting::ForResult || cx.config().announce == Announce::Nobody {
            return;
        }
        if leader.address == cx.me() && cx.config().announce == Announce::Ring {
            self.announce(leader, cx);
        } else {
            cx.send(restored, Message::Coordinator { leader, told: Vec::new() });
        }
    }

    /// Starts a round, whatever others are under way.
    fn start(&mut self, cx: &mut Context<'_, Self>) {
        let me = Member { id: cx.id(), address: cx.me() };
        cx.send(self.next_operational(cx), Message::Election(vec![me]));
        self.wait(Waiting::ForResult, 0, cx);
    }

    /// Gives the result the time of two turns, and of as many hops more as the list had come. So the first on
    /// it that still lives is the first to lose patience, and its new list reaches the others before they
    /// lose theirs.
    fn wait(&mut self, waiting: Waiting, place: usize, cx: &mut Context<'_, Self>) {
        self.waiting = waiting;
        let hops = 2 * cx.process_count() + place;
        cx.set_timer(Timer::NoResult, cx.config().hop_timeout.saturating_mul(hops as u32));
    }

    /// The best on the list that is not known to be dead; `me` is on it.
    fn choose(&self, members: &[Member], me: Member, cx: &Context<'_, Self>) -> Member {
        if cx.config().variant == Variant::MutantFirstListed {
            return members[0];
        }
        let alive = members.iter().filter(|member| !self.suspected.contains(&member.address));
        alive.fold(
            me,
            |best, member| if cx.config().wins.better(&member.id, &best.id) { *member } else { best },
        )
    }

    fn announce(&mut self, leader: Member, cx: &mut Context<'_, Self>) {
        match cx.config().announce {
            Announce::Nobody => {}
            Announce::Ring => {
                let told = vec![cx.me()];
                cx.send(self.next_operational(cx), Message::Coordinator { leader, told });
                self.wait(Waiting::ForAnnouncement, 0, cx);
            }
            Announce::All => {
                let mut other = cx.successor();
                while other != cx.me() {
                    if !self.suspected.contains(&other) {
                        cx.send(other, Message::Coordinator { leader, told: Vec::new() });
                    }
                    other = cx.successor_of(other);
                }
            }
        }
    }

    /// Waits no more.
    fn settle(&mut self, cx: &mut Context<'_, Self>) {
        if self.waiting != Waiting::No {
            self.waiting = Waiting::No;
            cx.cancel_timer(Timer::NoResult);
        }
    }

    fn follow(&mut self, leader: Member, cx: &mut Context<'_, Self>) {
        if self.leader != Some(leader) {
            self.leader = Some(leader);
            let lead = leader.address == cx.me();
            cx.output(if lead { Output::leads() } else { Output::follows(leader.id) });
        }
    }

    /// S0's "próximo processo operacional": the next on the ring that is not known to be dead.
    fn next_operational(&self, cx: &Context<'_, Self>) -> Address {
        let mut next = cx.successor();
        while next != cx.me() && self.suspected.contains(&next) {
            next = cx.successor_of(next);
        }
        next
    }
}
