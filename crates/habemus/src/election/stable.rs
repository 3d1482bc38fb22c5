//! The stable election (S4, "Estabilidade"): a leader is replaced only if it fails.
//!
//! S4 wants a process to weigh the more the longer it has run without a break, so that one which comes and
//! goes does not take the lead back whenever it comes. By the letter (`Weight::Uptime`) a process lacks all
//! of its weight when it starts, and regains it step by step until it has run for `regain`. No clock is
//! needed if only failures are to count (`Weight::Restarts`): a process counts its restarts on stable
//! storage, and whoever has restarted less is the better leader. S4 takes the weight away "temporariamente":
//! with `regain`, who has been up for so long has its restarts forgotten. Either way what counts against a
//! process is a number, its handicap, and the identifier breaks ties. And a leader that is alive is never
//! challenged: whoever knows none asks everybody, the leader answers that it leads, and the matter is closed,
//! however good the one that asked may be. Only when no leader answers is it the bully election (H.
//! Garcia-Molina, 1982) in which everybody is asked, because nobody knows the handicaps of the others.
//! Messages: 2(n−1) if the best live process starts, (n−1)(3n/2−1) if all do.
//!
//! Two that ask each other while their uptime grows may both take themselves for the better one, as each
//! compares what it weighs now with what the other weighed. Then both give way and ask again; weights grow
//! only `FULL` times.

use std::collections::BTreeSet;

use super::{Command, Election, Output};
use crate::topology::Complete;
use crate::{Address, Context, Process, Suspicion};

mod config;
pub use config::{Config, Variant, Weight};

/// The handicap of one that has just started, where uptime is the weight: in how many steps it is regained.
pub const FULL: u64 = 10;

/// What processes send each other. The number is the sender's handicap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message {
    /// "Who leads? If nobody, is a better one than me alive?" A leader answers
    /// [`Coordinator`](Message::Coordinator), a better process without a leader [`Ok`](Message::Ok).
    Election(u64),
    /// "I am better: give up." [`Coordinator`](Message::Coordinator) should follow.
    Ok,
    /// "I lead."
    Coordinator(u64),
}
crate::kinds!(Message: Election, Ok, Coordinator);

/// What a process is woken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Timer {
    /// When to take silence for victory.
    NoAnswer,
    /// When to ask again because the better process has announced nothing.
    NoCoordinator,
    /// When to weigh more, because the last start was long ago.
    Regain,
}

/// Where a process stands in an election.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Phase {
    /// In none.
    Idle,
    /// It has asked, and waits for an answer.
    Asking,
    /// It knows of a better process without a leader, and waits for COORDINATOR.
    Yielded,
}

/// A process as a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Candidate {
    /// What counts against it.
    pub handicap: u64,
    /// Who it is.
    pub process: Address,
}

/// The variables of one process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StableElection {
    /// What counts against this process: how often it has restarted, kept on stable storage; or how many
    /// steps of uptime it lacks.
    pub handicap: u64,
    /// Where it stands.
    pub phase: Phase,
    /// The leader, if known.
    pub leader: Option<Candidate>,
    /// Those that the detector takes for dead.
    pub suspected: BTreeSet<Address>,
}

impl Process for StableElection {
    type Problem = Election;
    type Topology = Complete;
    type Config = Config;
    type Message = Message;
    type Timer = Timer;
    type Stable = u64;

    fn on_start(recovered: Option<u64>, cx: &mut Context<'_, Self>) -> Self {
        let handicap = match cx.config().weight {
            Weight::Restarts => recovered.map_or(0, |restarts| restarts.saturating_add(1)),
            Weight::Uptime => FULL,
        };
        let mut process =
            StableElection { handicap, phase: Phase::Idle, leader: None, suspected: BTreeSet::new() };
        process.regain_later(cx);
        if recovered.is_some() {
            if cx.config().weight == Weight::Restarts {
                cx.persist(handicap);
            }
            process.ask(cx);
        } else if let Some(leader) = cx.config().leader {
            let mut all = (0..cx.process_count() as u32).map(Address);
            let address = all.find(|&address| cx.id_of(address) == leader);
            process.leader = address.map(|process| Candidate { handicap, process });
            cx.output(if cx.id() == leader { Output::leads() } else { Output::follows(leader) });
        }
        process
    }

    fn on_command(&mut self, Command::Elect: Command, cx: &mut Context<'_, Self>) {
        if !self.leads(cx) {
            self.start(cx);
        }
    }

    fn on_suspicion(&mut self, suspicion: Suspicion, cx: &mut Context<'_, Self>) {
        match suspicion {
            Suspicion::Suspect(suspect) => {
                self.suspected.insert(suspect);
                if self.follows(suspect) {
                    self.forget_leader(cx);
                    self.start(cx);
                }
            }
            Suspicion::Restore(restored) => {
                self.suspected.remove(&restored);
                if self.leads(cx) {
                    // It may have missed the announcement, or believe in a leader of its own.
                    cx.send(restored, Message::Coordinator(self.handicap));
                } else if self.phase == Phase::Yielded {
                    // It may be the one that leads, and was not believed.
                    self.ask(cx);
                }
            }
        }
    }

    fn on_message(&mut self, from: Address, message: Message, cx: &mut Context<'_, Self>) {
        match message {
            Message::Election(handicap) => self.on_election(Candidate { handicap, process: from }, cx),
            Message::Ok => self.on_ok(cx),
            Message::Coordinator(handicap) => self.on_coordinator(Candidate { handicap, process: from }, cx),
        }
    }

    fn on_timer(&mut self, timer: Timer, cx: &mut Context<'_, Self>) {
        match timer {
            Timer::NoAnswer => self.become_leader(cx),
            Timer::NoCoordinator => self.ask(cx),
            Timer::Regain => self.on_regain(cx),
        }
    }
}

impl StableElection {
    fn on_election(&mut self, asker: Candidate, cx: &mut Context<'_, Self>) {
        let best = better(self.candidate(cx), asker, cx);
        if self.leads(cx) {
            if best || cx.config().variant == Variant::Stable {
                cx.send(asker.process, Message::Coordinator(self.handicap));
            }
            return;
        }
        if self.follows(asker.process) {
            // My leader would not ask: it has restarted, and leads no more.
            self.forget_leader(cx);
        }
        if self.phase == Phase::Idle && self.leader.is_some() {
            return; // The leader answers for itself; if it is dead, I shall hear of it.
        }
        if best {
            cx.send(asker.process, Message::Ok);
            self.start(cx);
        } else {
            self.give_way(cx);
        }
    }

    fn on_ok(&mut self, cx: &mut Context<'_, Self>) {
        // An OK that comes when the matter is settled says nothing new.
        if self.phase == Phase::Asking {
            self.give_way(cx);
        }
    }

    fn on_coordinator(&mut self, claimant: Candidate, cx: &mut Context<'_, Self>) {
        if self.leads(cx) && !better(claimant, self.candidate(cx), cx) {
            // Two lead, as after a partition. I stay, and those that followed the other must know.
            cx.broadcast(&Message::Coordinator(self.handicap));
        } else if self.suspected.contains(&claimant.process) {
            // It has died since it spoke, or the detector will soon say that it is back: then it will say so
            // again.
            self.give_way(cx);
        } else if self.phase == Phase::Idle && self.leader.is_some_and(|leader| better(leader, claimant, cx))
        {
            // My leader is better, so one of the two no longer leads: whoever does will say so.
            self.ask(cx);
        } else if self.settle(claimant, cx) {
            cx.output(Output::follows(cx.id_of(claimant.process)));
        }
    }

    /// Sets the alarm at which it weighs more, if it ever does.
    fn regain_later(&self, cx: &mut Context<'_, Self>) {
        let Some(regain) = cx.config().regain.filter(|_| self.handicap > 0) else { return };
        let after = match cx.config().weight {
            Weight::Restarts => regain,
            Weight::Uptime => regain / FULL as u32,
        };
        cx.set_timer(Timer::Regain, after);
    }

    /// S4: "quanto mais tempo um processo execute, maior será seu peso". A leader that is alive stays all the
    /// same.
    fn on_regain(&mut self, cx: &mut Context<'_, Self>) {
        match cx.config().weight {
            Weight::Restarts => {
                self.handicap = 0;
                cx.persist(0);
            }
            Weight::Uptime => self.handicap -= 1,
        }
        self.regain_later(cx);
        if self.leads(cx) {
            self.leader = Some(self.candidate(cx));
        }
    }

    /// Starts an election, unless one is under way here.
    fn start(&mut self, cx: &mut Context<'_, Self>) {
        if self.phase == Phase::Idle {
            self.ask(cx);
        }
    }

    fn ask(&mut self, cx: &mut Context<'_, Self>) {
        self.leave_phase(cx);
        if cx.process_count() == 1 {
            return self.become_leader(cx);
        }
        self.phase = Phase::Asking;
        cx.broadcast(&Message::Election(self.handicap));
        cx.set_timer(Timer::NoAnswer, cx.config().answer_timeout);
    }

    /// A better process is about to lead; if it dies first, I ask again.
    fn give_way(&mut self, cx: &mut Context<'_, Self>) {
        if self.phase != Phase::Yielded {
            self.leave_phase(cx);
            self.phase = Phase::Yielded;
            cx.set_timer(Timer::NoCoordinator, cx.config().coordinator_timeout);
        }
    }

    fn become_leader(&mut self, cx: &mut Context<'_, Self>) {
        self.settle(self.candidate(cx), cx);
        cx.output(Output::leads());
        cx.broadcast(&Message::Coordinator(self.handicap));
    }

    /// The election is over; says whether the leader is another than before.
    fn settle(&mut self, leader: Candidate, cx: &mut Context<'_, Self>) -> bool {
        self.leave_phase(cx);
        self.leader.replace(leader) != Some(leader)
    }

    fn leave_phase(&mut self, cx: &mut Context<'_, Self>) {
        match self.phase {
            Phase::Idle => {}
            Phase::Asking => cx.cancel_timer(Timer::NoAnswer),
            Phase::Yielded => cx.cancel_timer(Timer::NoCoordinator),
        }
        self.phase = Phase::Idle;
    }

    fn forget_leader(&mut self, cx: &mut Context<'_, Self>) {
        self.leader = None;
        cx.output(Output::Leaderless);
    }

    fn leads(&self, cx: &Context<'_, Self>) -> bool {
        self.follows(cx.me())
    }

    fn follows(&self, process: Address) -> bool {
        self.leader.is_some_and(|leader| leader.process == process)
    }

    fn candidate(&self, cx: &Context<'_, Self>) -> Candidate {
        Candidate { handicap: self.handicap, process: cx.me() }
    }
}

/// Whether `one` would be a better leader than `other`. S4: "quanto mais tempo um processo execute, maior
/// será seu peso"; "no caso de empate, o identificador do processo pode ser usado".
fn better(one: Candidate, other: Candidate, cx: &Context<'_, StableElection>) -> bool {
    match one.handicap.cmp(&other.handicap) {
        std::cmp::Ordering::Equal => {
            cx.config().wins.better(&cx.id_of(one.process), &cx.id_of(other.process))
        }
        order => order.is_lt(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::Id;
    use crate::election::Wins;
    use crate::testing::Harness;
    use crate::{Effect, Step};

    const FOUR: Address = Address(3);
    const FIVE: Address = Address(4);

    /// The process 3 of 1 … 5; addresses are one less than identifiers.
    fn three(config: Config) -> Harness<StableElection> {
        Harness::new(Complete::new(5), 1..=5, config, Address(2))
    }

    /// The same, when it has restarted for the `restarts`th time.
    fn restarted(restarts: u64) -> Harness<StableElection> {
        let stored = Some(restarts - 1);
        Harness::recovered(Complete::new(5), 1..=5, Config::default(), Address(2), stored)
    }

    fn led_by(leader: u64) -> Config {
        Config { leader: Some(Id(leader)), ..Config::default() }
    }

    fn to(ids: impl IntoIterator<Item = u32>, message: Message) -> Vec<(Address, Message)> {
        ids.into_iter().map(|id| (Address(id - 1), message)).collect()
    }

    fn to_all(message: Message) -> Vec<(Address, Message)> {
        to([1, 2, 4, 5], message)
    }

    fn sets(step: &Step<StableElection>, timer: Timer, after: Duration) -> bool {
        step.effects.contains(&Effect::SetTimer { timer, after: after.into() })
    }

    #[test]
    fn who_loses_its_leader_asks_everybody() {
        let mut p = three(led_by(5));
        let step = p.suspicion(Suspicion::Suspect(FIVE));
        assert_eq!(step.outputs(), [Output::Leaderless]);
        assert_eq!(step.sent(), to_all(Message::Election(0)));
        assert!(sets(&step, Timer::NoAnswer, Config::default().answer_timeout));
    }

    #[test]
    fn silence_is_victory() {
        let mut p = three(Config::default());
        p.command(Command::Elect);
        let step = p.timer(Timer::NoAnswer);
        assert_eq!(step.outputs(), [Output::leads()]);
        assert_eq!(step.sent(), to_all(Message::Coordinator(0)));
        assert!(p.command(Command::Elect).is_empty());
    }

    /// S4: "uma vez que um líder é eleito, uma nova eleição só acontece se o líder falha".
    #[test]
    fn a_leader_answers_even_a_better_process_that_it_leads() {
        let mut p = three(led_by(3));
        assert_eq!(p.message(FIVE, Message::Election(0)).sent(), to([5], Message::Coordinator(0)));
        let mut mutant = three(Config { variant: Variant::MutantChallenge, ..led_by(3) });
        assert!(mutant.message(FIVE, Message::Election(0)).is_empty());
        assert_eq!(mutant.message(FIVE, Message::Election(1)).sent(), to([5], Message::Coordinator(0)));
    }

    #[test]
    fn whoever_has_a_leader_lets_it_answer_for_itself() {
        assert!(three(led_by(4)).message(Address(0), Message::Election(0)).is_empty());
        assert!(three(led_by(4)).message(FIVE, Message::Election(0)).is_empty());
    }

    #[test]
    fn without_a_leader_a_better_process_says_ok_and_runs() {
        let mut p = three(Config::default());
        let step = p.message(Address(0), Message::Election(0));
        assert_eq!(step.sent(), [to([1], Message::Ok), to_all(Message::Election(0))].concat());
        assert_eq!(p.message(Address(1), Message::Election(0)).sent(), to([2], Message::Ok));
    }

    #[test]
    fn without_a_leader_a_worse_process_gives_way_and_asks_if_nothing_comes_of_it() {
        let mut p = three(Config::default());
        p.command(Command::Elect);
        let step = p.message(FOUR, Message::Election(0));
        assert!(step.sent().is_empty() && step.effects.contains(&Effect::CancelTimer(Timer::NoAnswer)));
        assert!(sets(&step, Timer::NoCoordinator, Config::default().coordinator_timeout));
        assert!(p.message(FIVE, Message::Ok).is_empty());
        assert_eq!(p.timer(Timer::NoCoordinator).sent(), to_all(Message::Election(0)));
    }

    #[test]
    fn an_ok_makes_it_give_way() {
        let mut p = three(Config::default());
        assert!(p.message(FIVE, Message::Ok).is_empty());
        p.command(Command::Elect);
        p.message(FIVE, Message::Ok);
        assert_eq!(p.process.phase, Phase::Yielded);
    }

    /// S4: "Se o mesmo falhar, então seu peso será drasticamente reduzido".
    #[test]
    fn whoever_has_restarted_more_often_is_worse_whatever_its_identifier() {
        let mut p = three(Config::default());
        let step = p.message(FIVE, Message::Election(1));
        assert_eq!(step.sent(), [to([5], Message::Ok), to_all(Message::Election(0))].concat());
        let mut p = restarted(2);
        p.message(Address(0), Message::Election(1));
        assert_eq!(p.process.phase, Phase::Yielded);
    }

    /// S4: "seu peso será drasticamente reduzido e suas chances de ser eleito líder reduzidas
    /// temporariamente".
    #[test]
    fn who_has_been_up_for_long_weighs_what_it_weighed() {
        let regain = Duration::from_secs(5);
        let config = Config { regain: Some(regain), ..Config::default() };
        let mut p =
            Harness::<StableElection>::recovered(Complete::new(3), 1..=3, config, Address(1), Some(2));
        assert!(
            p.started().effects.contains(&Effect::SetTimer { timer: Timer::Regain, after: regain.into() })
        );
        assert_eq!(p.process.handicap, 3);
        let step = p.timer(Timer::Regain);
        assert_eq!((step.persist, step.effects.len(), p.process.handicap), (Some(0), 0, 0));
    }

    /// S4: "associar ao peso do processo o tempo de execução ininterrupta do mesmo. Assim, quanto mais tempo
    /// um processo execute, maior será seu peso".
    #[test]
    fn by_uptime_it_weighs_more_step_by_step_and_after_a_failure_nothing() {
        let regain = Duration::from_secs(5);
        let config = Config { weight: Weight::Uptime, regain: Some(regain), ..Config::default() };
        let step = Effect::SetTimer { timer: Timer::Regain, after: (regain / 10).into() };
        let mut p = three(config.clone());
        assert_eq!(p.started().effects, std::slice::from_ref(&step));
        for lacks in (1..FULL).rev() {
            assert_eq!(p.timer(Timer::Regain).effects, std::slice::from_ref(&step));
            assert_eq!(p.process.handicap, lacks);
        }
        assert!(p.timer(Timer::Regain).is_empty());
        // It has run for as long as counts: one that runs for less is worse, whatever its identifier.
        assert_eq!(p.message(FIVE, Message::Election(1)).sent()[0], (FIVE, Message::Ok));
        // Uptime is not stored.
        let p = Harness::<StableElection>::recovered(Complete::new(5), 1..=5, config, Address(2), Some(0));
        assert_eq!((p.process.handicap, p.started().persist), (FULL, None));
        assert_eq!(p.started().sent(), to_all(Message::Election(FULL)));
    }

    /// Each compares what it weighs now with what the other weighed when it asked.
    #[test]
    fn two_that_both_think_themselves_better_give_way_and_ask_again() {
        let regain = Some(Duration::from_secs(5));
        let config = Config { weight: Weight::Uptime, regain, ..Config::default() };
        let mut p = three(config);
        p.command(Command::Elect);
        p.timer(Timer::Regain);
        // 5 asked before it weighed more, too.
        assert_eq!(p.message(FIVE, Message::Election(FULL)).sent(), to([5], Message::Ok));
        p.message(FIVE, Message::Ok);
        assert_eq!(p.process.phase, Phase::Yielded);
        assert_eq!(p.timer(Timer::NoCoordinator).sent(), to_all(Message::Election(FULL - 1)));
        p.message(FIVE, Message::Election(FULL - 1));
        assert_eq!(p.process.phase, Phase::Yielded);
        assert_eq!(p.message(FIVE, Message::Coordinator(FULL - 1)).outputs(), [Output::follows(Id(5))]);
    }

    #[test]
    fn a_restart_is_counted_on_stable_storage_and_it_asks_instead_of_bullying() {
        let mut p = restarted(1);
        assert_eq!(p.started().persist, Some(1));
        assert_eq!(p.started().sent(), to_all(Message::Election(1)));
        let step = p.message(Address(0), Message::Coordinator(0));
        let settled = [Effect::CancelTimer(Timer::NoAnswer), Effect::Output(Output::follows(Id(1)))];
        assert_eq!(step.effects, settled);
        // The next life builds on this one.
        assert_eq!(restarted(2).started().persist, Some(2));
    }

    #[test]
    fn a_leader_that_asks_has_restarted_and_leads_no_more() {
        let mut p = three(led_by(5));
        let step = p.message(FIVE, Message::Election(1));
        assert_eq!(step.outputs(), [Output::Leaderless]);
        assert_eq!(step.sent(), [to([5], Message::Ok), to_all(Message::Election(0))].concat());
    }

    #[test]
    fn an_announcement_is_believed_and_said_once() {
        let mut p = three(led_by(4));
        p.suspicion(Suspicion::Suspect(FOUR));
        assert_eq!(p.message(Address(0), Message::Coordinator(0)).outputs(), [Output::follows(Id(1))]);
        assert!(p.message(Address(0), Message::Coordinator(0)).is_empty());
    }

    #[test]
    fn a_suspect_that_claims_to_lead_must_say_so_again_when_it_is_trusted() {
        let mut p = three(Config::default());
        p.suspicion(Suspicion::Suspect(FIVE));
        let step = p.message(FIVE, Message::Coordinator(0));
        assert!(sets(&step, Timer::NoCoordinator, Config::default().coordinator_timeout));
        assert!(p.message(FIVE, Message::Coordinator(0)).is_empty());
        let mut dead = p.clone();
        assert_eq!(dead.timer(Timer::NoCoordinator).sent(), to_all(Message::Election(0)));
        assert_eq!(p.suspicion(Suspicion::Restore(FIVE)).sent(), to_all(Message::Election(0)));
        assert_eq!(p.message(FIVE, Message::Coordinator(0)).outputs(), [Output::follows(Id(5))]);
    }

    #[test]
    fn a_worse_process_that_claims_to_lead_beside_my_leader_makes_me_ask() {
        let mut p = three(led_by(5));
        let step = p.message(FOUR, Message::Coordinator(0));
        assert_eq!(step.sent(), to_all(Message::Election(0)));
        assert!(sets(&step, Timer::NoAnswer, Config::default().answer_timeout));
        // 5 does not answer, 4 does: it is 5 that no longer leads.
        assert_eq!(p.message(FOUR, Message::Coordinator(0)).outputs(), [Output::follows(Id(4))]);
        assert_eq!(p.message(FIVE, Message::Coordinator(0)).outputs(), [Output::follows(Id(5))]);
    }

    #[test]
    fn of_two_leaders_the_worse_steps_down_and_the_better_tells_everybody() {
        let mut p = three(led_by(3));
        assert_eq!(p.message(FIVE, Message::Coordinator(1)).sent(), to_all(Message::Coordinator(0)));
        assert_eq!(p.message(FIVE, Message::Coordinator(0)).outputs(), [Output::follows(Id(5))]);
    }

    #[test]
    fn a_leader_introduces_itself_to_whoever_comes_back() {
        let mut p = three(led_by(3));
        p.suspicion(Suspicion::Suspect(FIVE));
        let step = p.suspicion(Suspicion::Restore(FIVE));
        assert_eq!(step.sent(), to([5], Message::Coordinator(0)));
        assert!(three(led_by(4)).suspicion(Suspicion::Restore(FIVE)).is_empty());
    }

    #[test]
    fn the_order_can_be_turned_round_among_equals() {
        let mut p = three(Config { wins: Wins::Lowest, ..Config::default() });
        p.message(Address(0), Message::Election(0));
        assert_eq!(p.process.phase, Phase::Yielded);
        let mut p = three(Config { wins: Wins::Lowest, ..Config::default() });
        assert_eq!(p.message(Address(0), Message::Election(1)).sent()[0], (Address(0), Message::Ok));
    }

    #[test]
    fn who_is_alone_leads_at_once() {
        let mut p = Harness::<StableElection>::new(Complete::new(1), [7], Config::default(), Address(0));
        assert_eq!(p.command(Command::Elect).effects, [Effect::Output(Output::leads())]);
    }
}
