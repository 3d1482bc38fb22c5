//! The ring election that collects identifiers (S0 "Eleição em Anel"; S4 "Anel 2").
//!
//! A list travels round a logical ring, past processes that have failed; everybody adds itself, and who finds
//! itself on it chooses the best and says so. Messages: 2n for each process that starts, with up to n entries.
//!
//! S0 asks what happens if a process fails during the election, and leaves it at that. Here: whoever chooses
//! leaves out those it knows to be dead, nobody follows a leader it knows to be dead, and whoever has taken part
//! in a round of which no result comes starts a round of its own. A list ends at *any* process that is on it (S4's
//! rule), not only at the one that started it, or it would circle for ever once that one is dead.
//!
//! And news can be old, or go past a process that is taken for dead. Who has a better leader than the one
//! announced starts a round instead of following; and who trusts a process again tells it who leads.

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use super::{Command, Election, Output, Wins};
use crate::topology::Ring;
use crate::{Address, Context, Id, Process, Suspicion, Topology};

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
    /// "This process leads." It ends at one that has been told. A better process objects with an election, and
    /// so does one that knows the leader to be dead, or has a better one.
    Coordinator {
        /// Who.
        leader: Member,
        /// Those that have been told.
        told: Vec<Address>,
    },
}
crate::kinds!(Message: Election, Coordinator);

/// What a process is woken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Timer {
    /// When to start a round because the last one that came by has had no result.
    NoResult,
}

/// The variables of one process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CollectingRing {
    /// Whether it waits for a result, of its own round or another's.
    pub electing: bool,
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
        let mut process = CollectingRing { electing: false, leader: None, suspected: BTreeSet::new() };
        if recovered.is_some() {
            process.start(cx);
        } else if let Some(leader) = cx.config().leader {
            process.settle(leader, cx);
        }
        process
    }

    fn on_command(&mut self, Command::Elect: Command, cx: &mut Context<'_, Self>) {
        if !self.electing {
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
                    if !self.electing {
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
        self.electing = false;
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
            self.settle(leader, cx);
            self.announce(leader, cx);
        } else {
            let place = members.len();
            members.push(me);
            cx.send(self.next_operational(cx), Message::Election(members));
            if cx.config().announce != Announce::Nobody {
                self.wait(place, cx);
            }
        }
    }

    fn on_coordinator(&mut self, leader: Member, mut told: Vec<Address>, cx: &mut Context<'_, Self>) {
        if told.contains(&cx.me()) {
            return; // Everybody knows.
        }
        let better = |one: Id| cx.config().wins.better(&one, &leader.id);
        if self.suspected.contains(&leader.address) {
            // It has died since it was chosen.
            self.start(cx);
            return;
        }
        if better(cx.id()) {
            // I was away when the list came by; if I have a list of my own on its way, that will do.
            if !self.electing {
                self.start(cx);
            }
            return;
        }
        if !self.electing && self.leader.is_some_and(|mine| better(mine.id)) {
            // One of the two no longer leads, and no round that I took part in says which.
            self.start(cx);
            return;
        }
        self.settle(leader, cx);
        if cx.config().announce == Announce::Ring {
            told.push(cx.me());
            cx.send(self.next_operational(cx), Message::Coordinator { leader, told });
        }
    }

    /// It is trusted again: lists and results have gone past it. It learns whom I follow, and objects if need
    /// be.
    fn on_restore(&mut self, restored: Address, cx: &mut Context<'_, Self>) {
        let Some(leader) = self.leader else { return };
        if !self.electing && cx.config().announce != Announce::Nobody {
            let all = (0..cx.topology().len() as u32).map(Address);
            let told = all.filter(|&other| other != restored).collect();
            cx.send(restored, Message::Coordinator { leader, told });
        }
    }

    /// Starts a round, whatever others are under way.
    fn start(&mut self, cx: &mut Context<'_, Self>) {
        let me = Member { id: cx.id(), address: cx.me() };
        cx.send(self.next_operational(cx), Message::Election(vec![me]));
        self.wait(0, cx);
    }

    /// Gives the result the time of two turns, and of as many hops more as the list had come. So the first on it
    /// that still lives is the first to lose patience, and its new list reaches the others before they lose theirs.
    fn wait(&mut self, place: usize, cx: &mut Context<'_, Self>) {
        self.electing = true;
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

    fn announce(&self, leader: Member, cx: &mut Context<'_, Self>) {
        match cx.config().announce {
            Announce::Nobody => {}
            Announce::Ring => {
                let told = vec![cx.me()];
                cx.send(self.next_operational(cx), Message::Coordinator { leader, told });
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

    fn settle(&mut self, leader: Member, cx: &mut Context<'_, Self>) {
        if self.electing {
            self.electing = false;
            cx.cancel_timer(Timer::NoResult);
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Harness;
    use crate::{Effect, Step};

    /// The process 3 of 1 … 5 on their ring; addresses are one less than identifiers.
    fn three(config: Config) -> Harness<CollectingRing> {
        Harness::new(Ring::logical(5), 1..=5, config, Address(2))
    }

    fn member(id: u32) -> Member {
        Member { id: Id(id.into()), address: Address(id - 1) }
    }

    fn election(ids: impl IntoIterator<Item = u32>) -> Message {
        Message::Election(ids.into_iter().map(member).collect())
    }

    fn coordinator(leader: u32, told: impl IntoIterator<Item = u32>) -> Message {
        Message::Coordinator {
            leader: member(leader),
            told: told.into_iter().map(|id| Address(id - 1)).collect(),
        }
    }

    fn to(id: u32, message: Message) -> (Address, Message) {
        (Address(id - 1), message)
    }

    /// It waits for two turns of the ring, and for so many hops more.
    fn waits(step: &Step<CollectingRing>, hops: u32) -> bool {
        let after = Config::default().hop_timeout * (10 + hops);
        step.effects.contains(&Effect::SetTimer { timer: Timer::NoResult, after: after.into() })
    }

    /// S0: "envia mensagem de eleição com seu ID ao próximo processo operacional no anel".
    #[test]
    fn who_starts_sends_a_list_of_itself_to_the_next_operational_process() {
        let mut p = three(Config::default());
        p.suspicion(Suspicion::Suspect(Address(3)));
        let step = p.command(Command::Elect);
        assert_eq!(step.sent(), [to(5, election([3]))]);
        assert!(waits(&step, 0));
        assert!(p.command(Command::Elect).is_empty(), "it waits for the result already");
    }

    /// S0: "Processo P que detecta falha do coordenador inicia uma eleição".
    #[test]
    fn who_suspects_the_leader_starts() {
        let mut p = three(Config { leader: Some(member(5)), ..Config::default() });
        assert_eq!(p.started().outputs(), [Output::follows(Id(5))]);
        assert!(p.suspicion(Suspicion::Suspect(Address(0))).is_empty(), "it was not the leader");
        let step = p.suspicion(Suspicion::Suspect(Address(4)));
        assert_eq!(step.outputs(), [Output::Leaderless]);
        assert_eq!(step.sent(), [to(4, election([3]))]);
    }

    /// S0: "adiciona seu ID na mensagem; envia mensagem de eleição ao próximo processo operacional".
    #[test]
    fn who_is_not_on_the_list_adds_itself_and_passes_it_on() {
        let mut p = three(Config::default());
        let step = p.message(Address(1), election([1, 2]));
        assert_eq!(step.sent(), [to(4, election([1, 2, 3]))]);
        assert!(waits(&step, 2), "if nothing comes of it, it will start a round of its own");
    }

    /// S0: "ao receber mensagem que circulou o anel, envia mensagem coordenador a todos (maior ID recebido)".
    #[test]
    fn when_the_list_has_come_round_the_best_on_it_is_announced() {
        let mut p = three(Config::default());
        p.command(Command::Elect);
        let step = p.message(Address(1), election([3, 4, 5, 1, 2]));
        assert_eq!(step.outputs(), [Output::follows(Id(5))]);
        assert_eq!(step.sent(), [to(4, coordinator(5, [3]))]);
        assert!(step.effects.contains(&Effect::CancelTimer(Timer::NoResult)));
    }

    #[test]
    fn the_announcement_can_go_to_each() {
        let mut p = three(Config { announce: Announce::All, ..Config::default() });
        p.suspicion(Suspicion::Suspect(Address(4)));
        p.command(Command::Elect);
        let step = p.message(Address(1), election([3, 4, 1, 2]));
        assert_eq!(step.sent(), [4, 1, 2].map(|id| to(id, coordinator(4, []))));
        // Who gets it keeps it.
        let mut p = three(Config { announce: Announce::All, ..Config::default() });
        assert_eq!(
            p.message(Address(0), coordinator(5, [])).effects,
            [Effect::Output(Output::follows(Id(5)))]
        );
    }

    /// S4: "Se p ∈ l: escolhe menor id em l como líder", and that is all.
    #[test]
    fn the_fourth_notes_choose_the_lowest_and_announce_nothing() {
        let config = Config { wins: Wins::Lowest, announce: Announce::Nobody, ..Config::default() };
        let mut p = three(config.clone());
        p.command(Command::Elect);
        let step = p.message(Address(1), election([3, 4, 5, 1, 2]));
        assert_eq!(step.outputs(), [Output::follows(Id(1))]);
        assert!(step.sent().is_empty());
        // Who only passes a list on has nothing to wait for.
        let step = three(config).message(Address(1), election([2]));
        assert_eq!(step.effects.len(), 1);
    }

    #[test]
    fn the_announcement_is_learnt_and_passed_on_and_ends_where_it_is_known() {
        let mut p = three(Config::default());
        let step = p.message(Address(1), coordinator(5, [1, 2]));
        assert_eq!(step.outputs(), [Output::follows(Id(5))]);
        assert_eq!(step.sent(), [to(4, coordinator(5, [1, 2, 3]))]);
        assert!(p.message(Address(1), coordinator(5, [3, 4, 5, 1, 2])).is_empty());
    }

    /// S0: "eleições independentes, funciona mas dobra número de mensagens".
    #[test]
    fn a_second_announcement_of_the_same_leader_is_passed_on_but_no_news() {
        let mut p = three(Config::default());
        p.message(Address(1), coordinator(5, [1, 2]));
        let step = p.message(Address(1), coordinator(5, [2]));
        assert_eq!(step.outputs(), []);
        assert_eq!(step.sent(), [to(4, coordinator(5, [2, 3]))]);
    }

    /// S0: "O que acontece se processo falha durante eleição?"
    #[test]
    fn the_dead_are_not_chosen_and_not_followed() {
        let mut p = three(Config::default());
        p.suspicion(Suspicion::Suspect(Address(4)));
        p.command(Command::Elect);
        let step = p.message(Address(1), election([3, 4, 5, 1, 2]));
        assert_eq!(step.outputs(), [Output::follows(Id(4))]);
        let step = p.message(Address(1), coordinator(5, [1, 2]));
        assert_eq!(step.outputs(), []);
        assert_eq!(step.sent(), [to(4, election([3]))]);
    }

    #[test]
    fn a_round_without_a_result_is_repeated() {
        let mut p = three(Config::default());
        p.command(Command::Elect);
        let step = p.timer(Timer::NoResult);
        assert_eq!(step.sent(), [to(4, election([3]))]);
        assert!(waits(&step, 0));
    }

    #[test]
    fn the_list_of_a_dead_initiator_ends_at_the_next_one_on_it() {
        let mut p = three(Config::default());
        p.message(Address(1), election([2]));
        p.suspicion(Suspicion::Suspect(Address(1)));
        let step = p.message(Address(0), election([2, 3, 4, 5, 1]));
        assert_eq!(step.sent(), [to(4, coordinator(5, [3]))]);
    }

    #[test]
    fn a_worse_leader_is_objected_to() {
        let step = three(Config::default()).message(Address(1), coordinator(2, [1, 2]));
        assert_eq!(step.outputs(), []);
        assert_eq!(step.sent(), [to(4, election([3]))]);
    }

    #[test]
    fn a_worse_leader_is_not_objected_to_twice() {
        let mut p = three(Config::default());
        p.command(Command::Elect);
        assert!(p.message(Address(1), coordinator(2, [1, 2])).is_empty());
    }

    /// An announcement can be overtaken by a later one.
    #[test]
    fn who_has_a_better_leader_starts_a_round_instead_of_following() {
        let mut p = three(Config::default());
        p.message(Address(1), coordinator(5, [1, 2]));
        let step = p.message(Address(1), coordinator(4, [1, 2]));
        assert_eq!(step.outputs(), []);
        assert_eq!(step.sent(), [to(4, election([3]))]);
        // The leader may have died since: in a round, its successor is accepted.
        let step = p.message(Address(1), coordinator(4, [1, 2]));
        assert_eq!(step.outputs(), [Output::follows(Id(4))]);
    }

    #[test]
    fn who_is_trusted_again_is_told_who_leads_and_nobody_else_is() {
        let mut p = three(Config::default());
        p.suspicion(Suspicion::Suspect(Address(0)));
        assert!(p.suspicion(Suspicion::Restore(Address(0))).is_empty(), "nobody leads yet");
        p.message(Address(1), coordinator(5, [1, 2]));
        p.suspicion(Suspicion::Suspect(Address(0)));
        let step = p.suspicion(Suspicion::Restore(Address(0)));
        assert_eq!(step.sent(), [to(1, coordinator(5, [2, 3, 4, 5]))]);
    }

    #[test]
    fn a_recovered_process_starts_a_round() {
        let p = Harness::<CollectingRing>::recovered(
            Ring::logical(3),
            1..=3,
            Config::default(),
            Address(1),
            Some(()),
        );
        assert_eq!(p.started().sent(), [to(3, election([2]))]);
    }

    #[test]
    fn who_is_left_alone_elects_itself() {
        let mut p = three(Config::default());
        for other in [0, 1, 3, 4] {
            p.suspicion(Suspicion::Suspect(Address(other)));
        }
        assert_eq!(p.command(Command::Elect).sent(), [to(3, election([3]))]);
        let step = p.message(Address(2), election([3]));
        assert_eq!(step.outputs(), [Output::leads()]);
        assert!(p.message(Address(2), coordinator(3, [3])).is_empty());
    }

    #[test]
    fn the_mutants_choose_the_first_and_do_not_repeat() {
        let mut p = three(Config { variant: Variant::MutantFirstListed, ..Config::default() });
        let step = p.message(Address(1), election([1, 3]));
        assert_eq!(step.outputs(), [Output::follows(Id(1))]);
        let mut p = three(Config { variant: Variant::MutantNoRestart, ..Config::default() });
        p.command(Command::Elect);
        assert!(p.timer(Timer::NoResult).is_empty());
    }
}
