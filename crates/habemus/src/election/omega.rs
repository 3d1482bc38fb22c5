//! The eventual leader Ω (S3): heartbeats, incarnations, and an interval that grows until the leader stays.
//!
//! The rules are those of S3's two algorithm slides; in C. Cachin, R. Guerraoui and L. Rodrigues,
//! *Introduction to Reliable and Secure Distributed Programming*, 2011, it is called "Elect Lower Epoch".
//! Every process tells the others at each interval that it is alive, and how often it has started. At the end
//! of its interval it takes for leader, of those it has heard of, the one with the least (incarnation,
//! identifier), and makes the interval longer if that is another than before. Before the Global Stabilization
//! Time anything may happen; some time after it, all processes that stay up have the same leader, which stays
//! up, too. Intervals drift apart, for nobody tells the others its own; each follower's grows until it is
//! longer than its leader's. n(n−1) messages per interval.
//!
//! The slides are wrong in three places, kept in the variant `AsPrinted`: when the interval is over no timer
//! is started again, so everybody chooses once and never again; the first leader is process 0, which may not
//! exist; and a heartbeat that arrives after one of a later incarnation brings the earlier incarnation back
//! into the set. Corrected, intervals follow each other, a process knows no leader before its first one is
//! over, and keeps the latest incarnation that it has heard of in an interval. (The prose lets heartbeats go
//! to "todos os outros"; the algorithm sends them to every process of S, so that a process is its own
//! candidate, as it is here.)

use std::collections::BTreeSet;
use std::time::Duration;

use super::{Election, Output, Wins};
use crate::topology::Complete;
use crate::{Address, Context, Id, Process};

/// The rhythm of heartbeats, how it slows down, and who wins among equals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Whose rules.
    pub variant: Variant,
    /// The interval between heartbeats at first.
    pub interval: Duration,
    /// How much longer it becomes with each change of leader.
    pub increment: Duration,
    /// Which end of the order of identifiers wins among equal incarnations; in S3 it is the lowest.
    pub wins: Wins,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            variant: Variant::Corrected,
            interval: Duration::from_millis(100),
            increment: Duration::from_millis(50),
            wins: Wins::Lowest,
        }
    }
}

/// Whose rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// S3's, with its three gaps closed.
    Corrected,
    /// S3's slides by the letter.
    AsPrinted,
    /// A mutant: among equal incarnations everyone prefers itself, kept to show that the checks catch it.
    NoTieBreak,
    /// A mutant: the interval never grows, kept to show that the checks catch it.
    FixedInterval,
    /// A mutant: a recovered process begins with incarnation 1 again, kept to show what incarnations are for.
    ForgottenIncarnation,
}

/// What processes send each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message {
    /// "I am alive, for the so-manyth time." Nothing answers it.
    Heartbeat {
        /// How often the sender has started.
        incarnation: u64,
    },
    /// "I am about to be stopped: count me out." Nothing answers it.
    Goodbye,
}

impl crate::Message for Message {
    fn kind(&self) -> &'static str {
        match self {
            Message::Heartbeat { .. } => "Heartbeat",
            Message::Goodbye => "Goodbye",
        }
    }

    fn vocabulary() -> Vec<&'static str> {
        vec!["Heartbeat", "Goodbye"]
    }

    fn is_background(&self) -> bool {
        matches!(self, Message::Heartbeat { .. })
    }
}

/// What a process is woken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Timer {
    /// When to choose among those heard of, and to send the next heartbeat.
    Interval,
}

/// What survives a crash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Stable {
    /// How often the process has started.
    pub incarnation: u64,
}

/// The variables of one process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Omega {
    /// How often this process has started.
    pub incarnation: u64,
    /// Whom it trusts, if anybody.
    pub leader: Option<Id>,
    /// Those heard of in this interval, each with its incarnation.
    pub candidates: BTreeSet<(u64, Id)>,
    /// The present interval.
    pub interval: Duration,
}

impl Process for Omega {
    type Problem = Election;
    type Topology = Complete;
    type Config = Config;
    type Message = Message;
    type Timer = Timer;
    type Stable = Stable;

    fn is_background(_: &Timer) -> bool {
        true
    }

    /// "Init" and "Upon Recovery": they differ only in the incarnation.
    fn on_start(recovered: Option<Stable>, cx: &mut Context<'_, Self>) -> Self {
        let &Config { variant, interval, .. } = cx.config();
        let before = match variant {
            Variant::ForgottenIncarnation => 0,
            _ => recovered.unwrap_or_default().incarnation,
        };
        let incarnation = before.saturating_add(1);
        cx.persist(Stable { incarnation });
        let mut omega = Omega { incarnation, leader: None, candidates: BTreeSet::new(), interval };
        if variant == Variant::AsPrinted {
            omega.trust(Some(Id(0)), cx);
        }
        omega.tell_all(cx);
        cx.set_timer(Timer::Interval, interval);
        omega
    }

    fn on_message(&mut self, from: Address, message: Message, cx: &mut Context<'_, Self>) {
        let from = cx.id_of(from);
        let Message::Heartbeat { incarnation } = message else {
            self.candidates.retain(|&(_, id)| id != from);
            return;
        };
        if cx.config().variant != Variant::AsPrinted
            && self.candidates.iter().any(|&(known, id)| id == from && known > incarnation)
        {
            return; // It is older than another that has overtaken it.
        }
        self.candidates.retain(|&(known, id)| id != from || known >= incarnation);
        self.candidates.insert((incarnation, from));
    }

    fn on_timer(&mut self, Timer::Interval: Timer, cx: &mut Context<'_, Self>) {
        let leader = self.select(cx);
        if leader != self.leader {
            // To have had none before is no suspicion; whoever was suspected may only have been slow.
            if self.leader.is_some() && cx.config().variant != Variant::FixedInterval {
                self.interval = self.interval.saturating_add(cx.config().increment);
            }
            self.trust(leader, cx);
        }
        self.tell_all(cx);
        if cx.config().variant != Variant::AsPrinted {
            cx.set_timer(Timer::Interval, self.interval);
        }
    }

    /// Not of S3, which knows crashes only: whoever goes in good order need not be waited for.
    fn on_stop(&mut self, cx: &mut Context<'_, Self>) {
        cx.broadcast(&Message::Goodbye);
    }
}

impl Omega {
    /// "daqueles processos que falharam e recuperaram menos vezes, o que tem menor id".
    fn select(&self, cx: &Context<'_, Self>) -> Option<Id> {
        let &(fewest, lowest) = self.candidates.first()?;
        let &Config { variant, wins, .. } = cx.config();
        if variant == Variant::NoTieBreak && self.incarnation == fewest {
            return Some(cx.id());
        }
        match wins {
            Wins::Lowest => Some(lowest),
            Wins::Highest => self.candidates.range(..=(fewest, Id(u64::MAX))).last().map(|&(_, id)| id),
        }
    }

    fn trust(&mut self, leader: Option<Id>, cx: &mut Context<'_, Self>) {
        self.leader = leader;
        cx.output(match leader {
            Some(leader) if leader == cx.id() => Output::leads(),
            Some(leader) => Output::follows(leader),
            None => Output::Leaderless,
        });
    }

    /// "para todo processo i ∈ S faça: send(heartbeat, encarnação); Candidatos ← Φ".
    fn tell_all(&mut self, cx: &mut Context<'_, Self>) {
        cx.broadcast(&Message::Heartbeat { incarnation: self.incarnation });
        self.candidates.clear();
        // There is no link to oneself; one's own heartbeat would arrive at once.
        self.candidates.insert((self.incarnation, cx.id()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Effect;
    use crate::testing::Harness;

    const INTERVAL: Duration = Duration::from_millis(100);
    const INCREMENT: Duration = Duration::from_millis(50);

    fn variant(variant: Variant) -> Config {
        Config { variant, ..Config::default() }
    }

    /// The process 1 of 0, 1 and 2; addresses are identifiers.
    fn one(config: Config) -> Harness<Omega> {
        Harness::new(Complete::new(3), 0..3, config, Address(1))
    }

    fn beat(incarnation: u64) -> Message {
        Message::Heartbeat { incarnation }
    }

    /// The heartbeats of process 1 and its next interval.
    fn round(incarnation: u64, interval: Duration) -> Vec<Effect<Omega>> {
        let send = |to| Effect::Send { to: Address(to), message: beat(incarnation) };
        vec![send(0), send(2), Effect::SetTimer { timer: Timer::Interval, after: interval.into() }]
    }

    /// S3: "encarnação ← 1; store(encarnação); para todo processo i ∈ S faça: send(heartbeat, encarnação);
    /// Candidatos ← Φ; startTimer(IntervaloHeartbeats)".
    #[test]
    fn at_first_it_stores_its_incarnation_and_tells_everybody() {
        let p = one(Config::default());
        assert_eq!(p.started().persist, Some(Stable { incarnation: 1 }));
        assert_eq!(p.started().effects, round(1, INTERVAL));
        assert_eq!(p.process.leader, None);
    }

    /// S3: "retrieve(encarnação); encarnação++; store(encarnação)".
    #[test]
    fn after_a_crash_the_incarnation_rises() {
        let stable = Some(Stable { incarnation: 4 });
        let mut p =
            Harness::<Omega>::recovered(Complete::new(3), 0..3, Config::default(), Address(1), stable);
        assert_eq!(p.started().persist, Some(Stable { incarnation: 5 }));
        assert_eq!(p.started().effects, round(5, INTERVAL));
        assert!(p.timer(Timer::Interval).effects.ends_with(&round(5, INTERVAL)), "it says so each time");
    }

    /// S3: "Líder ← NovoLíder; para todo processo i ∈ S faça: send(heartbeat, encarnação); Candidatos ← Φ";
    /// "IntervaloHeartbeats++; // após suspeita de falha".
    #[test]
    fn at_each_interval_it_chooses_and_waits_longer_after_a_suspicion() {
        let mut p = one(Config::default());
        p.message(Address(0), beat(1));
        p.message(Address(2), beat(1));
        let step = p.timer(Timer::Interval);
        assert_eq!(step.effects[0], Effect::Output(Output::follows(Id(0))));
        assert_eq!(step.effects[1..], round(1, INTERVAL));
        // The same leader again: nothing is new.
        p.message(Address(0), beat(1));
        assert_eq!(p.timer(Timer::Interval).effects, round(1, INTERVAL));
        // It is silent: another one, and more time.
        let step = p.timer(Timer::Interval);
        assert_eq!(step.effects[0], Effect::Output(Output::leads()));
        assert_eq!(step.effects[1..], round(1, INTERVAL + INCREMENT));
    }

    /// S3: "daqueles processos que falharam e recuperaram menos vezes, o que tem menor id".
    #[test]
    fn the_fewest_crashes_count_before_the_lowest_identifier() {
        let mut p = one(Config::default());
        p.message(Address(0), beat(2));
        p.message(Address(2), beat(1));
        assert_eq!(p.timer(Timer::Interval).outputs(), [Output::leads()]);
    }

    /// S0 and S1 prefer the other end of the order: the highest identifier wins, but still after the
    /// incarnation.
    #[test]
    fn the_highest_identifier_can_be_made_to_win() {
        let mut p = one(Config { wins: Wins::Highest, ..Config::default() });
        p.message(Address(0), beat(1));
        p.message(Address(2), beat(2));
        assert_eq!(p.timer(Timer::Interval).outputs(), [Output::leads()]);
        p.message(Address(2), beat(1));
        assert_eq!(p.timer(Timer::Interval).outputs(), [Output::follows(Id(2))]);
    }

    /// S3: "se ∃ (j,e) ∈ Candidatos | e < enc então Candidatos ← Candidatos - (j,e)".
    #[test]
    fn a_later_incarnation_replaces_an_earlier_one_whatever_the_order_of_arrival() {
        let mut p = one(Config::default());
        p.message(Address(0), beat(1));
        p.message(Address(0), beat(3));
        p.message(Address(0), beat(2));
        assert_eq!(p.process.candidates, BTreeSet::from([(1, Id(1)), (3, Id(0))]));
    }

    /// By the letter the earlier one comes back: "Candidatos ← Candidatos ∪ (pj,enc)", whatever enc is.
    #[test]
    fn as_printed_a_late_heartbeat_brings_the_earlier_incarnation_back() {
        let mut p = one(variant(Variant::AsPrinted));
        p.message(Address(0), beat(3));
        p.message(Address(0), beat(2));
        assert_eq!(p.process.candidates, BTreeSet::from([(1, Id(1)), (2, Id(0)), (3, Id(0))]));
    }

    /// S3: "Líder ← 0; // o processo 0 (zero) é o líder inicial".
    #[test]
    fn as_printed_the_first_leader_may_not_exist() {
        let p = Harness::<Omega>::new(Complete::new(2), [7, 8], variant(Variant::AsPrinted), Address(0));
        assert_eq!(p.started().outputs(), [Output::follows(Id(0))]);
    }

    /// S3: "Upon IntervaloHeartbeats: […] send(heartbeat, encarnação); Candidatos ← Φ;", and there the slide
    /// ends.
    #[test]
    fn as_printed_no_interval_follows_the_first() {
        let mut p = one(variant(Variant::AsPrinted));
        p.message(Address(2), beat(1));
        let step = p.timer(Timer::Interval);
        assert_eq!(step.outputs(), [Output::leads()]);
        assert_eq!(step.sent(), [0, 2].map(|to| (Address(to), beat(1))));
        assert!(!step.effects.iter().any(|effect| matches!(effect, Effect::SetTimer { .. })));
    }

    /// S3: "para todo processo i ∈ S faça: send(heartbeat, encarnação)": who sends is one of S.
    #[test]
    fn as_printed_everybody_is_its_own_candidate() {
        let mut p = Harness::<Omega>::new(Complete::new(3), 1..4, variant(Variant::AsPrinted), Address(0));
        p.message(Address(1), beat(1));
        assert_eq!(p.timer(Timer::Interval).outputs(), [Output::leads()]);
    }

    #[test]
    fn who_says_goodbye_is_left_out_at_the_end_of_the_interval() {
        let mut p = one(Config::default());
        p.message(Address(0), beat(1));
        p.message(Address(0), Message::Goodbye);
        assert_eq!(p.timer(Timer::Interval).outputs(), [Output::leads()]);
        let goodbyes = [(Address(0), Message::Goodbye), (Address(2), Message::Goodbye)];
        assert_eq!(p.stop().sent(), goodbyes);
    }

    #[test]
    fn alone_it_leads() {
        let mut p = Harness::<Omega>::new(Complete::new(1), [9], Config::default(), Address(0));
        assert_eq!(p.timer(Timer::Interval).outputs(), [Output::leads()]);
    }

    #[test]
    fn the_mutants_are_what_they_say() {
        let mut p = one(variant(Variant::NoTieBreak));
        p.message(Address(0), beat(1));
        assert_eq!(p.timer(Timer::Interval).outputs(), [Output::leads()]);
        let mut p = one(variant(Variant::FixedInterval));
        p.timer(Timer::Interval);
        p.message(Address(0), beat(1));
        assert_eq!(p.timer(Timer::Interval).effects[1..], round(1, INTERVAL));
        let (config, stable) = (variant(Variant::ForgottenIncarnation), Some(Stable { incarnation: 4 }));
        let p = Harness::<Omega>::recovered(Complete::new(3), 0..3, config, Address(1), stable);
        assert_eq!(p.process.incarnation, 1);
    }
}
