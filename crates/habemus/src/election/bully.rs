//! The bully election (S0, S1, S4): the best live process takes over, and tells the others.
//!
//! H. Garcia-Molina, *Elections in a distributed computing system*, 1982. The notes give three variants, which
//! are options here: ELECTION goes to all (S0) or only to better processes (S1, S4), and the start of an
//! election can be delayed by rank (S0). S4's listing taken by the letter is the variant `AsPrinted`.
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
//! - Who leads because a better process was silent, and the detector says that it lives, goes on telling it.

use std::collections::BTreeSet;

use super::{Command, Election, Output};
use crate::topology::Complete;
use crate::{Address, Context, Process, Suspicion, Topology};

mod config;
pub use config::{Audience, Config, Variant};

/// What processes send each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message {
    /// "Is a better one alive?" A better process answers [`Ok`](Message::Ok) and holds its own election. The
    /// leader answers [`Coordinator`](Message::Coordinator), too.
    Election,
    /// "I am: give up." [`Coordinator`](Message::Coordinator) should follow.
    Ok,
    /// "I lead." A better process objects with an election of its own, or, if it leads, with the same message
    /// to all.
    Coordinator,
}
crate::kinds!(Message: Election, Ok, Coordinator);

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
    /// When to tell those again that I lead who should object, and have not.
    NoObjection,
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
}

impl Process for Bully {
    type Problem = Election;
    type Topology = Complete;
    type Config = Config;
    type Message = Message;
    type Timer = Timer;
    type Stable = ();

    fn on_start(recovered: Option<()>, cx: &mut Context<'_, Self>) -> Self {
        let mut bully = Bully { phase: Phase::Idle, leader: None, suspected: BTreeSet::new() };
        if recovered.is_some() {
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
            Timer::NoObjection => self.insist(cx),
        }
    }
}

impl Bully {
    fn on_election(&mut self, from: Address, cx: &mut Context<'_, Self>) {
        if !better(cx.me(), from, cx) {
            return;
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
            // It has died since it spoke, or is back; then I shall be told.
            _ if self.suspected.contains(&from) => {
                if self.leader.is_none() {
                    self.start(cx);
                }
            }
            None if worse => self.start(cx),
            Some(leader) if leader == cx.me() && worse => cx.broadcast(&Message::Coordinator),
            // One of the two is no leader any more, and it need not be mine. Without a detector this is how I
            // hear of it.
            Some(leader) if better(leader, from, cx) && cx.config().detector => self.doubt(leader, cx),
            _ => self.follow(from, cx),
        }
    }

    /// It is trusted again: it was cut off, or has recovered, and may have another leader than I, or none.
    fn on_restore(&mut self, restored: Address, cx: &mut Context<'_, Self>) {
        match self.leader {
            Some(leader) if leader == cx.me() => {
                cx.send(restored, Message::Coordinator);
                if better(restored, cx.me(), cx) {
                    cx.set_timer(Timer::NoObjection, cx.config().coordinator_timeout);
                }
            }
            Some(leader) if better(restored, leader, cx) => self.check(restored, cx),
            // My election did not reach it.
            None if self.phase != Phase::Idle && better(restored, cx.me(), cx) => {
                cx.send(restored, Message::Election);
            }
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
        cx.broadcast(&Message::Coordinator);
        if self.rivals(cx).next().is_some() {
            cx.set_timer(Timer::NoObjection, cx.config().coordinator_timeout);
        }
    }

    /// I lead though a better process lives, or so the detector says: it must hear of it, and object.
    fn insist(&mut self, cx: &mut Context<'_, Self>) {
        if self.leader != Some(cx.me()) {
            return;
        }
        let rivals: Vec<Address> = self.rivals(cx).collect();
        for &rival in &rivals {
            cx.send(rival, Message::Coordinator);
        }
        if !rivals.is_empty() {
            cx.set_timer(Timer::NoObjection, cx.config().coordinator_timeout);
        }
    }

    /// The better processes that live, as far as a detector can tell.
    fn rivals<'a>(&'a self, cx: &'a Context<'_, Self>) -> impl Iterator<Item = Address> + 'a {
        let tells = cx.config().detector && cx.config().variant == Variant::Complete;
        let alive = cx.neighbours().filter(move |other| tells && !self.suspected.contains(other));
        alive.filter(|&other| better(other, cx.me(), cx))
    }

    fn follow(&mut self, leader: Address, cx: &mut Context<'_, Self>) {
        self.leave_phase(cx);
        if self.leader == Some(cx.me()) {
            cx.cancel_timer(Timer::NoObjection);
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

/// Whether the process at `one` would be a better leader than the one at `other`.
fn better(one: Address, other: Address, cx: &Context<'_, Bully>) -> bool {
    let rank = |address: Address| {
        (cx.config().quality.get(address.index()).copied().unwrap_or(0), cx.id_of(address))
    };
    cx.config().wins.better(&rank(one), &rank(other))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::testing::Harness;
    use crate::{Effect, Id, Step};

    /// The process 3 of 1 … 5; addresses are one less than identifiers.
    fn three(config: Config) -> Harness<Bully> {
        Harness::new(Complete::new(5), 1..=5, config, Address(2))
    }

    fn to(ids: impl IntoIterator<Item = u32>, message: Message) -> Vec<(Address, Message)> {
        ids.into_iter().map(|id| (Address(id - 1), message)).collect()
    }

    fn sets(step: &Step<Bully>, timer: Timer, after: Duration) -> bool {
        step.effects.contains(&Effect::SetTimer { timer, after: after.into() })
    }

    /// S4: "p envia mensagem (ELEICAO,p) para todos os processos com identificador maior que p; inicia
    /// temporizador de respostas".
    #[test]
    fn who_suspects_the_leader_asks_the_better_ones_and_waits() {
        let mut p = three(Config { leader: Some(Id(5)), ..Config::default() });
        let step = p.suspicion(Suspicion::Suspect(Address(4)));
        assert_eq!(step.sent(), to([4, 5], Message::Election));
        assert!(sets(&step, Timer::NoAnswer, Config::default().answer_timeout));
        assert_eq!(step.outputs(), [Output::Leaderless]);
    }

    /// S0: "Envia mensagem eleição com seu ID a todos os processos".
    #[test]
    fn the_first_notes_ask_everybody() {
        let mut p = three(Config { audience: Audience::All, ..Config::default() });
        assert_eq!(p.command(Command::Elect).sent(), to([1, 2, 4, 5], Message::Election));
    }

    /// S4: "Quando temporizador de respostas expira: envia (COORD,p) para todos os processos".
    #[test]
    fn silence_is_victory() {
        let mut p = three(Config::default());
        p.command(Command::Elect);
        let step = p.timer(Timer::NoAnswer);
        assert_eq!(step.sent(), to([1, 2, 4, 5], Message::Coordinator));
        assert_eq!(step.outputs(), [Output::leads()]);
        assert_eq!(p.process.leader, Some(Address(2)));
    }

    /// S0: "Se recebe mensagem OK de algum processo, P desiste".
    #[test]
    fn an_ok_makes_it_give_up_and_wait_for_the_announcement() {
        let mut p = three(Config::default());
        p.command(Command::Elect);
        let step = p.message(Address(4), Message::Ok);
        assert!(step.effects.contains(&Effect::CancelTimer(Timer::NoAnswer)));
        assert!(sets(&step, Timer::NoCoordinator, Config::default().coordinator_timeout));
        // The one that said OK dies: start over.
        assert_eq!(p.timer(Timer::NoCoordinator).sent(), to([4, 5], Message::Election));
    }

    /// S0: "Se ID for maior, envia mensagem OK a P; inicia uma eleição"; "se ID for menor, não faz nada".
    #[test]
    fn a_better_receiver_says_ok_and_runs_and_a_worse_one_does_nothing() {
        let mut p = three(Config::default());
        let step = p.message(Address(0), Message::Election);
        assert_eq!(step.sent(), [to([1], Message::Ok), to([4, 5], Message::Election)].concat());
        assert!(three(Config::default()).message(Address(3), Message::Election).is_empty());
    }

    /// S1: "Ao receber uma mensagem election um processo inicia uma eleição, exceto se já tenha começado".
    #[test]
    fn who_already_runs_only_says_ok() {
        let mut p = three(Config::default());
        p.command(Command::Elect);
        assert_eq!(p.message(Address(1), Message::Election).sent(), to([2], Message::Ok));
    }

    /// The best process knows that nobody can object.
    #[test]
    fn the_best_asks_nobody_and_leads_at_once() {
        let mut p = Harness::<Bully>::new(Complete::new(3), 1..=3, Config::default(), Address(2));
        let step = p.command(Command::Elect);
        assert_eq!(step.sent(), to([1, 2], Message::Coordinator));
        assert_eq!(step.outputs(), [Output::leads()]);
    }

    #[test]
    fn a_better_coordinator_is_accepted_and_a_worse_one_is_bullied() {
        let mut p = three(Config::default());
        assert_eq!(p.message(Address(0), Message::Coordinator).sent(), to([4, 5], Message::Election));
        assert_eq!(p.message(Address(4), Message::Coordinator).outputs(), [Output::follows(Id(5))]);
    }

    /// Two announcements can overtake each other: the better one counts, if it is still true.
    #[test]
    fn who_hears_of_a_worse_leader_asks_its_own_and_elects_if_that_is_silent() {
        for worse in [1, 4] {
            let mut p = three(Config::default());
            p.message(Address(4), Message::Coordinator);
            let step = p.message(Address(worse - 1), Message::Coordinator);
            assert_eq!((step.sent(), step.outputs()), (to([5], Message::Election), vec![]));
            assert!(sets(&step, Timer::NoAnswer, Config::default().answer_timeout));
            assert!(p.message(Address(worse - 1), Message::Coordinator).is_empty(), "it has asked already");
            let mut silent = p.clone();
            let step = p.message(Address(4), Message::Ok);
            assert_eq!(step.effects, [Effect::CancelTimer(Timer::NoAnswer)]);
            assert_eq!(p.process.leader, Some(Address(4)));
            assert_eq!(silent.timer(Timer::NoAnswer).sent(), to([4, 5], Message::Election));
            assert_eq!(silent.message(Address(3), Message::Coordinator).outputs(), [Output::follows(Id(4))]);
        }
    }

    #[test]
    fn without_a_detector_an_announcement_is_believed() {
        let mut p = three(Config { detector: false, leader: Some(Id(5)), ..Config::default() });
        assert_eq!(p.message(Address(3), Message::Coordinator).outputs(), [Output::follows(Id(4))]);
    }

    /// Or each ELECTION that comes late would begin another wave of elections.
    #[test]
    fn who_has_a_leader_asks_that_one_before_it_runs() {
        let mut p = three(Config::default());
        p.message(Address(4), Message::Coordinator);
        let step = p.message(Address(0), Message::Election);
        assert_eq!(step.sent(), [to([1], Message::Ok), to([5], Message::Election)].concat());
        assert_eq!(p.message(Address(1), Message::Election).sent(), to([2], Message::Ok));
    }

    #[test]
    fn a_leader_answers_the_one_that_asks_and_objects_before_all() {
        let mut p = three(Config { leader: Some(Id(3)), ..Config::default() });
        let step = p.message(Address(0), Message::Election);
        assert_eq!(step.sent(), [to([1], Message::Ok), to([1], Message::Coordinator)].concat());
        let step = p.message(Address(1), Message::Coordinator);
        assert_eq!(step.sent(), to([1, 2, 4, 5], Message::Coordinator));
        assert!(p.message(Address(3), Message::Election).is_empty());
    }

    /// S4: "Se o algoritmo viola a propridade de unicidade, então fica com split-brain".
    #[test]
    fn who_leads_past_a_better_process_that_seems_to_live_goes_on_telling_it() {
        let mut p = three(Config::default());
        p.command(Command::Elect);
        p.suspicion(Suspicion::Suspect(Address(4)));
        let wait = Config::default().coordinator_timeout;
        assert!(sets(&p.timer(Timer::NoAnswer), Timer::NoObjection, wait), "4 is silent, and not suspected");
        let step = p.timer(Timer::NoObjection);
        assert_eq!(step.sent(), to([4], Message::Coordinator));
        assert!(sets(&step, Timer::NoObjection, wait));
        p.suspicion(Suspicion::Suspect(Address(3)));
        assert!(p.timer(Timer::NoObjection).is_empty());
        // Without a detector silence is all one has to go by.
        let mut p = three(Config { detector: false, ..Config::default() });
        p.command(Command::Elect);
        assert!(!sets(&p.timer(Timer::NoAnswer), Timer::NoObjection, wait));
    }

    #[test]
    fn who_is_trusted_again_is_told_or_asked() {
        let back = |p: &mut Harness<Bully>, id: u32| {
            p.suspicion(Suspicion::Suspect(Address(id - 1)));
            p.suspicion(Suspicion::Restore(Address(id - 1))).sent()
        };
        let mut leader = three(Config { leader: Some(Id(3)), ..Config::default() });
        assert_eq!(back(&mut leader, 1), to([1], Message::Coordinator));
        assert_eq!(back(&mut leader, 5), to([5], Message::Coordinator));
        let mut follower = three(Config { leader: Some(Id(4)), ..Config::default() });
        assert_eq!(back(&mut follower, 2), []);
        assert_eq!(back(&mut follower, 5), to([5], Message::Election));
        let mut asking = three(Config::default());
        assert_eq!(back(&mut asking, 4), [], "nobody has been elected");
        asking.command(Command::Elect);
        assert_eq!(back(&mut asking, 4), to([4], Message::Election));
    }

    #[test]
    fn a_coordinator_that_has_died_since_is_not_accepted() {
        let mut p = three(Config::default());
        p.suspicion(Suspicion::Suspect(Address(4)));
        let step = p.message(Address(4), Message::Coordinator);
        assert_eq!(step.outputs(), []);
        assert_eq!(step.sent(), to([4, 5], Message::Election));
    }

    /// S4: "Quando um processo falho se recupera: inicia uma eleição".
    #[test]
    fn a_recovered_process_starts_an_election() {
        let p = Harness::<Bully>::recovered(Complete::new(3), 1..=3, Config::default(), Address(1), Some(()));
        assert_eq!(p.started().sent(), to([3], Message::Election));
    }

    /// S0: "Retardar início de nova eleição, se ID for pequeno".
    #[test]
    fn a_worse_process_waits_longer_before_it_starts() {
        let delay = Duration::from_millis(7);
        let mut p = three(Config { delay, ..Config::default() });
        let step = p.command(Command::Elect);
        assert!(step.sent().is_empty() && sets(&step, Timer::Start, delay * 2));
        // A better one is quicker: the election does not take place.
        let step = p.message(Address(4), Message::Coordinator);
        assert!(step.effects.contains(&Effect::CancelTimer(Timer::Start)));
    }

    /// S4: "no caso de empate, o identificador do processo pode ser usado".
    #[test]
    fn a_quality_comes_before_the_identifier() {
        let quality = vec![9, 1, 5, 1, 5];
        let mut p = three(Config { quality, ..Config::default() });
        assert_eq!(p.command(Command::Elect).sent(), to([1, 5], Message::Election));
    }

    /// S4's listing has no rule by which the receiver runs or the yielding process starts over.
    #[test]
    fn as_printed_the_receiver_only_says_ok_and_an_ok_is_final() {
        let config = Config { variant: Variant::AsPrinted, ..Config::default() };
        let mut p = three(config);
        assert_eq!(p.message(Address(0), Message::Election).sent(), to([1], Message::Ok));
        p.command(Command::Elect);
        assert_eq!(p.message(Address(4), Message::Ok).effects, [Effect::CancelTimer(Timer::NoAnswer)]);
    }
}
