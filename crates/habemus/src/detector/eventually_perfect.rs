//! The eventually perfect detector ◇P (S3): heartbeats, and a timeout that grows after each false suspicion.
//!
//! T. D. Chandra and S. Toueg, *Unreliable failure detectors for reliable distributed systems*, 1996. Every
//! process tells its neighbours at each interval that it is alive. A neighbour that is heard of again was
//! suspected too early, so it is given more time from then on. After the Global Stabilization Time heartbeats
//! come at bounded distances; once the timeout has outgrown that bound there is no false suspicion any more,
//! and a process that has crashed for good is suspected for good.
//!
//! A process that crashed and came back cannot be told from one that was only slow: it is given more time,
//! too.

use std::collections::{BTreeMap, BTreeSet};
use std::marker::PhantomData;
use std::time::Duration;

use super::Detection;
use super::heartbeat::{Message, Timer};
use crate::{Address, Context, Process, Suspicion, Topology};

/// The rhythm of heartbeats, and how patience grows with every mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// How often to say that one is alive.
    pub interval: Duration,
    /// How long to wait for another's heartbeat at first.
    pub initial_timeout: Duration,
    /// How much longer to wait after each false suspicion.
    pub increment: Duration,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            interval: Duration::from_millis(100),
            initial_timeout: Duration::from_millis(150),
            increment: Duration::from_millis(50),
        }
    }
}

/// The detector at one process. Its messages and timers are those of the [heartbeat](super::heartbeat)
/// detector.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EventuallyPerfect<T> {
    /// Those that seem to have crashed.
    suspected: BTreeSet<Address>,
    /// How many times each neighbour was suspected falsely; those that never were are left out.
    mistakes: BTreeMap<Address, u32>,
    topology: PhantomData<T>,
}

impl<T: Topology> Process for EventuallyPerfect<T> {
    type Problem = Detection;
    type Topology = T;
    type Config = Config;
    type Message = Message;
    type Timer = Timer;
    type Stable = ();

    fn on_start(_: Option<()>, cx: &mut Context<'_, Self>) -> Self {
        let detector = EventuallyPerfect {
            suspected: BTreeSet::new(),
            mistakes: BTreeMap::new(),
            topology: PhantomData,
        };
        for neighbour in cx.neighbours() {
            detector.wait_for(neighbour, cx);
        }
        beat(cx);
        detector
    }

    fn on_message(&mut self, from: Address, Message::Heartbeat: Message, cx: &mut Context<'_, Self>) {
        if self.suspected.remove(&from) {
            let mistakes = self.mistakes.entry(from).or_default();
            *mistakes = mistakes.saturating_add(1);
            cx.report(Suspicion::Restore(from));
        }
        self.wait_for(from, cx);
    }

    fn on_timer(&mut self, timer: Timer, cx: &mut Context<'_, Self>) {
        match timer {
            Timer::Beat => beat(cx),
            Timer::Silence(neighbour) => {
                self.suspected.insert(neighbour);
                cx.report(Suspicion::Suspect(neighbour));
            }
        }
    }
}

impl<T: Topology> EventuallyPerfect<T> {
    fn wait_for(&self, neighbour: Address, cx: &mut Context<'_, Self>) {
        let mistakes = self.mistakes.get(&neighbour).copied().unwrap_or(0);
        let Config { initial_timeout, increment, .. } = *cx.config();
        let timeout = initial_timeout.saturating_add(increment.saturating_mul(mistakes));
        cx.set_timer(Timer::Silence(neighbour), timeout);
    }
}

fn beat<T: Topology>(cx: &mut Context<'_, EventuallyPerfect<T>>) {
    cx.broadcast(&Message::Heartbeat);
    cx.set_timer(Timer::Beat, cx.config().interval);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Harness;
    use crate::topology::Complete;
    use crate::{Effect, Step};

    type Detector = EventuallyPerfect<Complete>;

    fn detector() -> Harness<Detector> {
        Harness::new(Complete::new(3), [1, 2, 3], Config::default(), Address(0))
    }

    fn waits(neighbour: u32, milliseconds: u64) -> Effect<Detector> {
        let after = Duration::from_millis(milliseconds).into();
        Effect::SetTimer { timer: Timer::Silence(Address(neighbour)), after }
    }

    #[test]
    fn it_starts_by_waiting_for_everyone_and_beats_every_interval() {
        let mut detector = detector();
        let again = Effect::SetTimer { timer: Timer::Beat, after: Config::default().interval.into() };
        let beat = |to| Effect::Send { to: Address(to), message: Message::Heartbeat };
        let round = [beat(1), beat(2), again];
        assert_eq!(detector.started().effects, [[waits(1, 150), waits(2, 150)].as_slice(), &round].concat());
        assert_eq!(detector.timer(Timer::Beat).effects, round);
    }

    /// S3: "fica incrementando timeout a cada suspeita"; "o motivo é evitar falsas suspeitas".
    #[test]
    fn each_false_suspicion_gives_that_neighbour_more_time() {
        let mut detector = detector();
        for (mistakes, milliseconds) in [(1, 200), (2, 250), (3, 300)] {
            let silent: Step<Detector> = detector.timer(Timer::Silence(Address(2)));
            assert_eq!(silent.effects, [Effect::Suspicion(Suspicion::Suspect(Address(2)))]);
            let heard = detector.message(Address(2), Message::Heartbeat);
            let restored = Effect::Suspicion(Suspicion::Restore(Address(2)));
            assert_eq!(heard.effects, [restored, waits(2, milliseconds)], "mistake {mistakes}");
        }
        // The other neighbour was never suspected: it is waited for as long as ever.
        assert_eq!(detector.message(Address(1), Message::Heartbeat).effects, [waits(1, 150)]);
    }

    #[test]
    fn a_heartbeat_in_time_changes_nothing() {
        let mut detector = detector();
        let before = detector.process.clone();
        assert_eq!(detector.message(Address(1), Message::Heartbeat).effects, [waits(1, 150)]);
        assert_eq!(detector.process, before);
    }
}
