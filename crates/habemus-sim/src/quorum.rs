//! Forgetful quorums by trial, to hold the formulas against.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::time::Duration;

use habemus::analysis::quorum::ForgetfulQuorum;
use habemus_report::{RunError, Stream, Use};
use habemus_scenario::{Action, Cue, Latency, Network, Occasion, Scenario, Until, Workload};
use serde::Serialize;

use crate::run::run;
use crate::simulation::Control;

/// How often a second participant could have got in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Sampled {
    /// How often it was tried.
    pub samples: u64,
    /// By asking everybody.
    pub by_asking_all: u64,
    /// By asking one quorum, of those that share as few as can be with the first.
    pub by_asking_worst: u64,
    /// By asking one quorum drawn at random.
    pub by_asking_random: u64,
}

/// How many trials are made between two looks at `control`.
const BATCH: u64 = 1 << 10;

/// Tries it `samples` times, or as often as it can until `control` stops it: draws who forgets and whom the
/// second participant asks, and counts grants. No formula is used.
pub fn sample_quorum(quorum: &ForgetfulQuorum, samples: u64, seed: u64, control: &Control) -> Sampled {
    let mut trial = Trial::new(quorum, seed);
    let mut sampled = Sampled::default();
    while sampled.samples < samples && !control.stop.load(Ordering::Relaxed) {
        for _ in 0..BATCH.min(samples - sampled.samples) {
            trial.forget();
            sampled.samples += 1;
            sampled.by_asking_all += u64::from(trial.all());
            sampled.by_asking_worst += u64::from(trial.worst());
            sampled.by_asking_random += u64::from(trial.random());
        }
        control.events.store(sampled.samples, Ordering::Relaxed);
    }
    sampled
}

/// One trial. The first `quorum` coordinators have granted to the participant that is inside.
struct Trial {
    quorum: usize,
    /// The logarithm of the probability that a coordinator remembers.
    remembers: f64,
    /// Who has forgotten, of those that had granted.
    forgotten: Vec<bool>,
    /// The same as a list.
    forgetful: Vec<usize>,
    /// The coordinators in some order.
    order: Vec<usize>,
    stream: Stream,
}

impl Trial {
    fn new(quorum: &ForgetfulQuorum, seed: u64) -> Self {
        let count = |number: u64| usize::try_from(number).expect("there are few coordinators");
        Trial {
            quorum: count(quorum.quorum()),
            remembers: quorum.forgets().complement().ln(),
            forgotten: vec![false; count(quorum.coordinators())],
            forgetful: Vec::new(),
            order: (0..count(quorum.coordinators())).collect(),
            stream: Stream::new(seed, Use::Sampling),
        }
    }

    /// Draws who forgets. How many remember in a row is geometrically distributed: few draws, if few forget.
    fn forget(&mut self) {
        for coordinator in self.forgetful.drain(..) {
            self.forgotten[coordinator] = false;
        }
        if self.remembers == 0.0 {
            return;
        }
        let mut next = 0_usize;
        loop {
            let in_a_row = libm::log(1.0 - self.stream.unit()) / self.remembers;
            next = next.saturating_add(in_a_row as usize);
            if next >= self.quorum {
                break;
            }
            self.forgotten[next] = true;
            self.forgetful.push(next);
            next += 1;
        }
    }

    /// The numbers of all coordinators that forget, whether or not they had granted, counted from 1.
    fn all_that_forget(&mut self) -> Vec<u64> {
        let forgets = 1.0 - libm::exp(self.remembers);
        (1..=self.order.len() as u64).filter(|_| self.stream.unit() < forgets).collect()
    }

    fn remembers(&self, coordinator: usize) -> bool {
        coordinator < self.quorum && !self.forgotten[coordinator]
    }

    /// Everybody is asked, and a quorum grants.
    fn all(&self) -> bool {
        let outside = self.order.len() - self.quorum;
        outside + self.forgetful.len() >= self.quorum
    }

    /// The last ones are asked: they share as few as can be with the first.
    fn worst(&self) -> bool {
        let first = self.order.len() - self.quorum;
        (first..self.order.len()).all(|coordinator| !self.remembers(coordinator))
    }

    /// A quorum drawn at random is asked; the rest need not be drawn once one remembers.
    fn random(&mut self) -> bool {
        for place in 0..self.quorum {
            let left = (self.order.len() - place) as u64;
            let drawn = place + self.stream.below(left) as usize;
            self.order.swap(place, drawn);
            if self.remembers(self.order[place]) {
                return false;
            }
        }
        true
    }
}

/// How often the protocol itself let two in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ProtocolRuns {
    /// How many runs there were of each kind.
    pub runs: u64,
    /// Where the first participant got just a quorum, because the second asked as well.
    pub contended: u64,
    /// Where nobody else had asked when the first did.
    pub uncontended: u64,
}

/// Runs the protocol itself so often, or until `control` stops it: one participant is inside, coordinators
/// restart and have forgotten, and another asks. Nothing is assumed but the order in which messages arrive.
///
/// # Errors
/// If the catalogue knows no such system.
pub fn run_quorum(
    quorum: &ForgetfulQuorum,
    runs: u64,
    seed: u64,
    control: &Control,
) -> Result<ProtocolRuns, RunError> {
    let mut trial = Trial::new(quorum, seed);
    let mut counted = ProtocolRuns::default();
    while counted.runs < runs && !control.stop.load(Ordering::Relaxed) {
        let forgetful = trial.all_that_forget();
        counted.runs += 1;
        for (contention, count) in
            [(Contention::Some, &mut counted.contended), (Contention::None, &mut counted.uncontended)]
        {
            let report = run(&protocol(quorum, &forgetful, contention), false)?;
            *count += u64::from(report.entered.len() > 1);
        }
    }
    Ok(counted)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Contention {
    /// The second participant asks at the same time, and is first at all coordinators that the first does not
    /// need.
    Some,
    /// It asks later.
    None,
}

/// The first participant enters, these coordinators restart and have forgotten, and then the requests of the
/// second reach those at which it was not first.
fn protocol(quorum: &ForgetfulQuorum, forgetful: &[u64], contention: Contention) -> Scenario {
    let (n, m) = (quorum.coordinators(), quorum.quorum());
    let (first, second) = (n + 1, n + 2);
    let ms = Duration::from_millis;
    let slowly = |from: u64, to: u64| ((from, to), Latency::Constant(ms(30)));
    let links = match contention {
        Contention::Some => {
            let late = (1..=m).map(|to| slowly(second, to));
            late.chain((m + 1..=n).map(|to| slowly(first, to))).collect()
        }
        Contention::None => BTreeMap::new(),
    };
    let acquire = |process| Action::Command { word: "acquire".to_owned(), processes: vec![process] };
    let mut script = vec![(0, acquire(first))];
    let asks = if contention == Contention::Some { 0 } else { 30 };
    if !forgetful.is_empty() {
        script.push((10, Action::Crash(forgetful.to_vec())));
        script.push((20, Action::Recover { processes: forgetful.to_vec(), amnesia: true }));
    }
    script.push((asks, acquire(second)));
    let cue = |(at, action): (u64, Action)| Cue { occasion: Occasion::At(ms(at)), action };
    let for_ever = Duration::from_secs(3600);
    Scenario {
        algorithm: "quorum".to_owned(),
        ids: (1..=n + 2).collect(),
        options: [("coordinators", n.to_string()), ("quorum", m.to_string()), ("timeout", "none".to_owned())]
            .map(|(name, value)| (name.to_owned(), value))
            .into(),
        network: Network { latency: Latency::Constant(ms(1)), links, ..Network::default() },
        script: script.into_iter().map(cue).collect(),
        workload: Some(Workload { hold: (for_ever, for_ever), ..Workload::usual(true) }),
        until: Until::Time(ms(90)),
        ..Scenario::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use habemus::analysis::LogProbability;
    use habemus::analysis::binomial::confidence_interval;

    fn quorum(coordinators: u64, quorum: u64, forgets: f64) -> ForgetfulQuorum {
        let forgets = LogProbability::new(forgets).expect("a probability");
        ForgetfulQuorum::new(coordinators, quorum, forgets).expect("a majority")
    }

    #[test]
    fn trials_agree_with_the_formulas() {
        for (n, m, p) in [(7, 4, 0.01), (7, 5, 0.2), (5, 5, 0.5), (32, 20, 0.4), (100, 60, 0.3), (1, 1, 0.7)]
        {
            let one = quorum(n, m, p);
            let sampled = sample_quorum(&one, 50_000, 1, &Control::default());
            assert_eq!(sampled.samples, 50_000);
            for (hits, formula) in [
                (sampled.by_asking_all, one.by_asking_all()),
                (sampled.by_asking_worst, one.by_asking_worst()),
                (sampled.by_asking_random, one.by_asking_random()),
            ] {
                let (low, high) = confidence_interval(hits, sampled.samples, 1e-4);
                assert!(low <= formula && formula <= high, "{n} {m} {p}: {hits} but {formula}");
            }
        }
    }

    #[test]
    fn the_protocol_itself_agrees_with_the_formulas_with_and_without_contention() {
        for (n, m, p) in [(7, 4, 0.1), (5, 4, 0.4), (3, 2, 0.3)] {
            let one = quorum(n, m, p);
            let counted = run_quorum(&one, 400, 1, &Control::default()).expect("it runs");
            assert_eq!(counted.runs, 400);
            for (hits, formula) in
                [(counted.contended, one.by_asking_all()), (counted.uncontended, one.uncontended())]
            {
                let (low, high) = confidence_interval(hits, counted.runs, 1e-4);
                assert!(low <= formula && formula <= high, "{n} {m} {p}: {hits} but {formula}");
            }
            assert!(counted.uncontended < counted.contended, "{counted:?}");
        }
    }

    #[test]
    fn certainty_is_certain() {
        let never = sample_quorum(&quorum(5, 3, 0.0), 100, 1, &Control::default());
        assert_eq!(never, Sampled { samples: 100, ..Sampled::default() });
        let always = sample_quorum(&quorum(5, 3, 1.0), 100, 1, &Control::default());
        let counts = [always.by_asking_all, always.by_asking_worst, always.by_asking_random];
        assert_eq!(counts, [100; 3]);
    }

    #[test]
    fn it_can_be_stopped_and_the_seed_repeats_it() {
        let control = Control::default();
        control.stop.store(true, Ordering::Relaxed);
        assert_eq!(sample_quorum(&quorum(7, 4, 0.1), 1000, 1, &control).samples, 0);
        let sample = |seed| sample_quorum(&quorum(7, 4, 0.1), 1000, seed, &Control::default());
        assert_eq!(sample(3), sample(3));
        assert_ne!(sample(3), sample(4));
    }
}
