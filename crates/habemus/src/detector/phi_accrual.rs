//! The φ-accrual detector (beyond the notes): it learns how regularly heartbeats come, and suspects a silence
//! that would be too unlikely.
//!
//! N. Hayashibara, X. Défago, R. Yared and T. Katayama, *The φ accrual failure detector*, 2004. The intervals
//! between the last heartbeats of a neighbour are taken for normally distributed. φ is the suspicion that a
//! silence arouses: φ = 1 means that one in ten such silences would be broken by a heartbeat after all, φ = 8
//! one in a hundred million. φ only grows while the silence lasts, so the moment at which it will reach the
//! threshold is known as soon as a heartbeat arrives, and a timer waits for it; nothing is polled.
//!
//! This is not ◇P: the threshold makes mistakes rare, it does not make them end. Intervals are measured in
//! whole microseconds, and the mean and the deviation are integers; see [`Config::new`] for the one real
//! number.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::marker::PhantomData;
use std::time::Duration;

use super::heartbeat::{Message, Timer};
use super::{Detection, normal_tail};
use crate::{Address, Context, Process, Suspicion, Topology};

/// The rhythm of heartbeats, how many of them are remembered, and how unlikely a silence must be.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    interval: Duration,
    /// How many standard deviations beyond the mean a silence must last for φ to reach the threshold.
    deviations: f64,
    window: usize,
    min_deviation: Duration,
}

impl Config {
    /// How often to say that one is alive; the φ at which to suspect (at least 1); how many intervals to
    /// remember of each neighbour (at least 2); and the deviation to assume at least, so that a run of
    /// punctual heartbeats does not make the detector nervous.
    ///
    /// The threshold becomes a number of standard deviations by an approximation of the normal distribution's
    /// tail, good to 0.0012 of φ, that uses only +, −, ×, ÷ and √ and so gives the same bits on every
    /// machine.
    pub fn new(interval: Duration, threshold: u32, window: usize, min_deviation: Duration) -> Self {
        let deviations = normal_tail::deviations(f64::from(threshold.max(1)));
        Config { interval, deviations, window: window.max(2), min_deviation }
    }
}

impl Default for Config {
    fn default() -> Self {
        Config::new(Duration::from_millis(100), 8, 100, Duration::from_millis(5))
    }
}

/// The detector at one process. Its messages and timers are those of the [heartbeat](super::heartbeat)
/// detector.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PhiAccrual<T> {
    /// Those that seem to have crashed.
    suspected: BTreeSet<Address>,
    /// When each neighbour was heard of, last and before.
    heard: BTreeMap<Address, History>,
    topology: PhantomData<T>,
}

/// What is remembered of a neighbour's heartbeats.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct History {
    /// When the last one came; `None` before the first.
    last: Option<Duration>,
    /// The intervals before it, in microseconds, the oldest first.
    intervals: VecDeque<u64>,
}

impl<T: Topology> Process for PhiAccrual<T> {
    type Problem = Detection;
    type Topology = T;
    type Config = Config;
    type Message = Message;
    type Timer = Timer;
    type Stable = ();

    const READS_CLOCK: bool = true;

    fn on_start(_: Option<()>, cx: &mut Context<'_, Self>) -> Self {
        let mut detector =
            PhiAccrual { suspected: BTreeSet::new(), heard: BTreeMap::new(), topology: PhantomData };
        for neighbour in cx.neighbours() {
            let history = History::expected(cx.config());
            cx.set_timer(Timer::Silence(neighbour), history.patience(cx.config()));
            detector.heard.insert(neighbour, history);
        }
        beat(cx);
        detector
    }

    fn on_message(&mut self, from: Address, Message::Heartbeat: Message, cx: &mut Context<'_, Self>) {
        if self.suspected.remove(&from) {
            cx.report(Suspicion::Restore(from));
        }
        let (now, config) = (cx.now(), cx.config());
        let history = self.heard.entry(from).or_insert_with(|| History::expected(config));
        history.record(now, config);
        cx.set_timer(Timer::Silence(from), history.patience(config));
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

impl<T: Topology> PhiAccrual<T> {
    /// φ of a neighbour: how suspicious its silence is at the time `now`; 0 before its first heartbeat.
    pub fn phi(&self, neighbour: Address, now: Duration, config: &Config) -> f64 {
        self.heard.get(&neighbour).map_or(0.0, |history| history.phi(now, config))
    }
}

impl History {
    /// Before the first heartbeat: they will come at the interval that everyone keeps, give or take a
    /// quarter.
    fn expected(config: &Config) -> Self {
        let interval = microseconds(config.interval);
        let quarter = interval / 4;
        History { last: None, intervals: VecDeque::from([interval - quarter, interval + quarter]) }
    }

    /// Takes note of a heartbeat.
    fn record(&mut self, now: Duration, config: &Config) {
        let Some(last) = self.last.replace(now) else { return }; // The first one ends no interval.
        // Of a silence that led to suspicion only the part before the suspicion counts: a crash is no
        // interval between heartbeats, but a neighbour that has become slow must be given more time.
        let interval = now.saturating_sub(last).min(self.patience(config));
        self.intervals.push_back(microseconds(interval));
        if self.intervals.len() > config.window {
            self.intervals.pop_front();
        }
    }

    /// The silence after which φ reaches the threshold.
    fn patience(&self, config: &Config) -> Duration {
        let (mean, deviation) = self.mean_and_deviation(config);
        let beyond = (config.deviations * deviation as f64).ceil() as u64;
        Duration::from_micros(mean.saturating_add(beyond))
    }

    fn phi(&self, now: Duration, config: &Config) -> f64 {
        let Some(last) = self.last else { return 0.0 };
        let (mean, deviation) = self.mean_and_deviation(config);
        let silence = microseconds(now.saturating_sub(last));
        normal_tail::phi((silence as f64 - mean as f64) / deviation as f64)
    }

    /// In microseconds.
    fn mean_and_deviation(&self, config: &Config) -> (u64, u64) {
        let count = self.intervals.len() as u128;
        let mean = (self.intervals.iter().map(|&interval| u128::from(interval)).sum::<u128>() / count) as u64;
        let squares = self.intervals.iter().map(|interval| u128::from(interval.abs_diff(mean)).pow(2));
        let deviation = (squares.sum::<u128>() / count).isqrt() as u64;
        (mean, deviation.max(microseconds(config.min_deviation)).max(1))
    }
}

fn beat<T: Topology>(cx: &mut Context<'_, PhiAccrual<T>>) {
    cx.broadcast(&Message::Heartbeat);
    cx.set_timer(Timer::Beat, cx.config().interval);
}

fn microseconds(duration: Duration) -> u64 {
    // Half a million years are long enough.
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::Complete;
    use crate::{Effect, Id, Step, System};

    type Detector = PhiAccrual<Complete>;
    const OTHER: Address = Address(1);

    /// A detector with one neighbour, and a clock that the test sets.
    struct Watched {
        system: System<Detector>,
        detector: Detector,
        started: Step<Detector>,
    }

    impl Watched {
        fn new(config: Config) -> Self {
            let system = System::new(Complete::new(2), vec![Id(1), Id(2)], config).expect("two processes");
            let mut started = Step::default();
            let mut chooser = |_| 0;
            let mut cx = Context::new(Address(0), &system, Duration::ZERO, &mut started, &mut chooser);
            let detector = Detector::on_start(None, &mut cx);
            Watched { system, detector, started }
        }

        /// A heartbeat arrives after so many milliseconds; gives what the detector does.
        fn heartbeat(&mut self, at: u64) -> Vec<Effect<Detector>> {
            let mut step = Step::default();
            let mut chooser = |_| 0;
            let now = Duration::from_millis(at);
            let mut cx = Context::new(Address(0), &self.system, now, &mut step, &mut chooser);
            self.detector.on_message(OTHER, Message::Heartbeat, &mut cx);
            step.effects
        }

        /// The time until the neighbour is suspected, as the last step set it.
        fn patience(effects: &[Effect<Detector>]) -> Duration {
            let wait = effects.iter().find_map(|effect| match effect {
                Effect::SetTimer { timer: Timer::Silence(OTHER), after } => Some(after.min),
                _ => None,
            });
            wait.expect("the detector waits for its neighbour")
        }
    }

    fn window(window: usize) -> Config {
        Config::new(Duration::from_millis(100), 8, window, Duration::from_millis(5))
    }

    #[test]
    fn before_the_first_heartbeat_the_common_interval_is_expected() {
        let watched = Watched::new(Config::default());
        // Mean 100 ms, deviation 25 ms, and 5.612 deviations for φ = 8.
        let patience = Watched::patience(&watched.started.effects);
        assert!((Duration::from_millis(240)..Duration::from_millis(241)).contains(&patience), "{patience:?}");
    }

    #[test]
    fn regular_heartbeats_make_it_strict_and_irregular_ones_make_it_patient() {
        let (mut regular, mut irregular) = (Watched::new(window(10)), Watched::new(window(10)));
        let (mut strict, mut patient) = (Duration::ZERO, Duration::ZERO);
        for beat in 1..=20 {
            strict = Watched::patience(&regular.heartbeat(100 * beat));
            patient = Watched::patience(&irregular.heartbeat(100 * beat + 40 * (beat % 2)));
        }
        // Nothing but the least deviation is left: 100 ms + 5.612 · 5 ms.
        assert!((Duration::from_millis(128)..Duration::from_millis(129)).contains(&strict), "{strict:?}");
        // Intervals of 60 and 140 ms: 100 ms + 5.612 · 40 ms.
        assert!((Duration::from_millis(324)..Duration::from_millis(325)).contains(&patient), "{patient:?}");
    }

    #[test]
    fn a_silent_neighbour_is_suspected_when_phi_reaches_the_threshold_and_restored_when_heard() {
        let mut watched = Watched::new(window(10));
        let patience = (1..=20).map(|beat| Watched::patience(&watched.heartbeat(100 * beat))).last();
        let deadline = Duration::from_millis(2000) + patience.expect("there were heartbeats");
        let phi = |detector: &Detector, at| detector.phi(OTHER, at, &window(10));
        assert!(phi(&watched.detector, deadline) >= 8.0);
        assert!(phi(&watched.detector, deadline - Duration::from_micros(10)) < 8.0);
        let mut step = Step::default();
        let mut chooser = |_| 0;
        let mut cx = Context::new(Address(0), &watched.system, deadline, &mut step, &mut chooser);
        watched.detector.on_timer(Timer::Silence(OTHER), &mut cx);
        assert_eq!(step.effects, [Effect::Suspicion(Suspicion::Suspect(OTHER))]);
        assert_eq!(watched.heartbeat(9000)[0], Effect::Suspicion(Suspicion::Restore(OTHER)));
    }

    #[test]
    fn a_long_absence_counts_only_until_the_suspicion() {
        let mut watched = Watched::new(window(10));
        let before = (1..=20).map(|beat| Watched::patience(&watched.heartbeat(100 * beat))).last();
        let after = Watched::patience(&watched.heartbeat(60_000));
        assert!(Some(after) > before && after < Duration::from_millis(160), "{after:?}");
    }

    #[test]
    fn a_neighbour_that_has_become_slow_is_given_more_time_until_it_is_suspected_no_more() {
        let mut watched = Watched::new(window(10));
        let (mut now, mut patience) = (0, Watched::patience(&watched.started.effects));
        for _ in 0..100 {
            now += 500;
            patience = Watched::patience(&watched.heartbeat(now));
        }
        assert!(patience > Duration::from_millis(500), "{patience:?}");
    }

    #[test]
    fn it_beats_every_interval() {
        let watched = Watched::new(Config::default());
        let beat = Effect::Send { to: OTHER, message: Message::Heartbeat };
        let again = Effect::SetTimer { timer: Timer::Beat, after: Duration::from_millis(100).into() };
        assert_eq!(watched.started.effects[1..], [beat, again]);
    }
}
