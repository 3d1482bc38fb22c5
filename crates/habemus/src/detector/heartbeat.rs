//! Heartbeats with a fixed timeout (S3, S4).
//!
//! Every process tells its neighbours at each interval that it is alive, and suspects a neighbour that it has
//! not heard for a timeout. S4: in an asynchronous system this can always be wrong, for a slow process cannot
//! be told from a crashed one; the detector then takes its word back when it hears of the suspect again.

use std::collections::BTreeSet;
use std::marker::PhantomData;
use std::time::Duration;

use super::Detection;
use crate::{Address, Context, Message as _, Process, Suspicion, Topology};

/// The rhythm of heartbeats, and how long a silence is borne.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// How often to say that one is alive.
    pub interval: Duration,
    /// How long to wait for another's heartbeat before suspecting it.
    pub timeout: Duration,
}

impl Default for Config {
    fn default() -> Self {
        Config { interval: Duration::from_millis(100), timeout: Duration::from_millis(350) }
    }
}

/// What processes send each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message {
    /// "I am alive." Nothing answers it.
    Heartbeat,
}

impl crate::Message for Message {
    fn kind(&self) -> &'static str {
        "Heartbeat"
    }

    fn vocabulary() -> Vec<&'static str> {
        vec!["Heartbeat"]
    }

    fn is_background(&self) -> bool {
        true
    }
}

/// What a process is woken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Timer {
    /// When to send the next heartbeat.
    Beat,
    /// When to suspect a neighbour that has been silent since.
    Silence(Address),
}

/// The detector at one process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Heartbeat<T> {
    suspected: BTreeSet<Address>,
    topology: PhantomData<T>,
}

impl<T: Topology> Process for Heartbeat<T> {
    type Problem = Detection;
    type Topology = T;
    type Config = Config;
    type Message = Message;
    type Timer = Timer;
    type Stable = ();

    fn on_start(_: Option<()>, cx: &mut Context<'_, Self>) -> Self {
        for neighbour in cx.neighbours() {
            cx.set_timer(Timer::Silence(neighbour), cx.config().timeout);
        }
        beat(cx);
        Heartbeat { suspected: BTreeSet::new(), topology: PhantomData }
    }

    fn on_message(&mut self, from: Address, message: Message, cx: &mut Context<'_, Self>) {
        debug_assert!(message.is_background());
        if self.suspected.remove(&from) {
            cx.report(Suspicion::Restore(from));
        }
        cx.set_timer(Timer::Silence(from), cx.config().timeout);
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

fn beat<T: Topology>(cx: &mut Context<'_, Heartbeat<T>>) {
    cx.broadcast(&Message::Heartbeat);
    cx.set_timer(Timer::Beat, cx.config().interval);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Harness;
    use crate::topology::Complete;
    use crate::{Effect, Step};

    fn detector() -> Harness<Heartbeat<Complete>> {
        Harness::new(Complete::new(3), [1, 2, 3], Config::default(), Address(0))
    }

    fn reports(step: &Step<Heartbeat<Complete>>) -> Vec<Suspicion> {
        let reports = step.effects.iter().filter_map(|effect| match effect {
            Effect::Suspicion(suspicion) => Some(*suspicion),
            _ => None,
        });
        reports.collect()
    }

    #[test]
    fn every_interval_it_tells_all_neighbours_that_it_is_alive() {
        let mut detector = detector();
        let all = [(Address(1), Message::Heartbeat), (Address(2), Message::Heartbeat)];
        assert_eq!(detector.started().sent(), all);
        let step = detector.timer(Timer::Beat);
        assert_eq!(step.sent(), all);
        let again = Effect::SetTimer { timer: Timer::Beat, after: Config::default().interval.into() };
        assert!(step.effects.contains(&again));
    }

    #[test]
    fn a_silent_neighbour_is_suspected_and_restored_when_it_is_heard_again() {
        let mut detector = detector();
        assert_eq!(reports(&detector.timer(Timer::Silence(Address(2)))), [Suspicion::Suspect(Address(2))]);
        let heard = detector.message(Address(2), Message::Heartbeat);
        assert_eq!(reports(&heard), [Suspicion::Restore(Address(2))]);
    }

    #[test]
    fn a_heartbeat_puts_the_suspicion_off() {
        let step = detector().message(Address(1), Message::Heartbeat);
        let wait =
            Effect::SetTimer { timer: Timer::Silence(Address(1)), after: Config::default().timeout.into() };
        assert_eq!(step.effects, [wait]);
    }
}
