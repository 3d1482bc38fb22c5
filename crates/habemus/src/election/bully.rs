//! The bully election (S0, S1, S4): the best live process takes over, and tells the others.
//!
//! H. Garcia-Molina, *Elections in a distributed computing system*, 1982. The notes give three variants, which
//! are options here: ELECTION goes to all (S0) or only to better processes (S1, S4), and the start of an
//! election can be delayed by rank (S0). S4's listing taken by the letter is the variant `AsPrinted`. The
//! notes are silent on an OK that no COORDINATOR follows; the process then starts over, or an election would
//! hang when the one that answered dies. Messages: Θ(n²) if the worst process starts, Θ(n) if the best does.

use std::collections::BTreeSet;
use std::time::Duration;

use super::{Command, Election, Output, Wins};
use crate::topology::Complete;
use crate::{Address, Context, Id, Process, Suspicion, Topology};

/// Who is better than whom, and how long to wait for whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Whose rules.
    pub variant: Variant,
    /// Who is asked.
    pub audience: Audience,
    /// Which end of the order wins.
    pub wins: Wins,
    /// A comparable quality of each process (memory, weight, …), by address; the identifier breaks ties. Empty:
    /// the identifier alone counts.
    pub quality: Vec<u64>,
    /// How long to wait for an OK.
    pub answer_timeout: Duration,
    /// How long to wait for COORDINATOR after an OK.
    pub coordinator_timeout: Duration,
    /// How much longer each process waits before it starts an election than the next better one.
    pub delay: Duration,
    /// Who leads at the beginning, if anybody.
    pub leader: Option<Id>,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            variant: Variant::Complete,
            audience: Audience::Better,
            wins: Wins::Highest,
            quality: Vec::new(),
            answer_timeout: Duration::from_millis(50),
            coordinator_timeout: Duration::from_millis(150),
            delay: Duration::ZERO,
            leader: None,
        }
    }
}

/// Whose rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// The receiver of ELECTION runs, too, and an OK without a COORDINATOR is not waited for in vain.
    Complete,
    /// S4's listing: the receiver only says OK, and an OK ends the matter.
    AsPrinted,
}

/// Who is asked in an election.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// Everybody (S0).
    All,
    /// Those that would be better leaders (S1, S4).
    Better,
}

/// What processes send each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message {
    /// "Is a better one alive?" A better process answers [`Ok`](Message::Ok) and holds its own election.
    Election,
    /// "I am: give up." [`Coordinator`](Message::Coordinator) should follow.
    Ok,
    /// "I lead." A better process objects with an election of its own.
    Coordinator,
}
crate::kinds!(Message: Election, Ok, Coordinator);

/// What a process is woken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Timer {
    /// When to start the election that was put off because others may be better.
    Start,
    /// When to take silence for victory.
    NoAnswer,
    /// When to start over because the one that said OK has announced nothing.
    NoCoordinator,
}

/// Where a process stands in an election.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Phase {
    /// In none.
    Idle,
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
    /// The leader, if known.
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
                    self.leader = None;
                    cx.output(Output::Leaderless);
                    self.start(cx);
                }
            }
            Suspicion::Restore(restored) => {
                self.suspected.remove(&restored);
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
            Timer::NoAnswer => self.become_leader(cx),
            Timer::NoCoordinator => {
                self.phase = Phase::Idle;
                self.start(cx);
            }
        }
    }
}

impl Bully {
    fn on_election(&mut self, from: Address, cx: &mut Context<'_, Self>) {
        if !better(cx.me(), from, cx) {
            return;
        }
        cx.send(from, Message::Ok);
        if cx.config().variant == Variant::Complete {
            self.start(cx);
        }
    }

    fn on_ok(&mut self, cx: &mut Context<'_, Self>) {
        if self.phase != Phase::Asking {
            return;
        }
        self.phase = Phase::Yielded;
        cx.cancel_timer(Timer::NoAnswer);
        if cx.config().variant == Variant::Complete {
            cx.set_timer(Timer::NoCoordinator, cx.config().coordinator_timeout);
        }
    }

    fn on_coordinator(&mut self, from: Address, cx: &mut Context<'_, Self>) {
        if better(cx.me(), from, cx) || self.suspected.contains(&from) {
            // The new leader is worse than me, or has died since it spoke.
            self.start(cx);
        } else {
            self.settle(from, cx);
            cx.output(Output::follows(cx.id_of(from)));
        }
    }

    /// Starts an election, unless one is under way here; S0: the worse I am, the longer I wait.
    fn start(&mut self, cx: &mut Context<'_, Self>) {
        if self.phase != Phase::Idle {
            return;
        }
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
        self.settle(cx.me(), cx);
        cx.output(Output::leads());
        cx.broadcast(&Message::Coordinator);
    }

    fn settle(&mut self, leader: Address, cx: &mut Context<'_, Self>) {
        match self.phase {
            Phase::Idle => {}
            Phase::Delayed => cx.cancel_timer(Timer::Start),
            Phase::Asking => cx.cancel_timer(Timer::NoAnswer),
            Phase::Yielded => cx.cancel_timer(Timer::NoCoordinator),
        }
        self.phase = Phase::Idle;
        self.leader = Some(leader);
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
    use super::*;
    use crate::testing::Harness;
    use crate::{Effect, Step};

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
        assert_eq!(p.message(Address(4), Message::Coordinator).outputs(), [Output::follows(Id(5))]);
        assert_eq!(p.message(Address(0), Message::Coordinator).sent(), to([4, 5], Message::Election));
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
