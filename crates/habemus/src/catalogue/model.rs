//! What an algorithm assumes, and what it promises under which faults: the one source from which the
//! catalogue, the pages, the table of guarantees and every verdict come.

use std::fmt;
use std::time::Duration;

use super::faults::{Fault, Faults};

/// What an algorithm assumes about its world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Model {
    /// What is known about time.
    pub timing: Timing,
    /// What may go wrong, beside what [`Timing`] lets go wrong; [`Model::faults`] has all of it.
    pub withstands: Faults,
    /// How many must be up.
    pub survivors: Survivors,
    /// What else it takes for granted, in words; empty if nothing.
    pub besides: &'static str,
}

/// What is known about time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timing {
    /// Everything sent in one pulse arrives before the next.
    Pulses,
    /// Messages are faster than the timeouts.
    Timely,
    /// They are from some time on, the Global Stabilization Time; nobody knows when.
    EventuallyTimely,
    /// Nothing.
    Asynchronous,
}

/// What a model says of the links, as far as whoever carries the messages must know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Links {
    /// Every message between two processes that do not crash arrives, however late: after an outage, what was
    /// sent meanwhile is still to be delivered.
    Reliable,
    /// A message that comes late is as good as lost: there are timeouts or pulses, or losses do no harm.
    Timely,
}

/// How many processes must be up in the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Survivors {
    /// One is enough.
    Anybody,
    /// More than half.
    Majority,
    /// All but so many.
    AllBut(usize),
}

/// What goes wrong where nothing is known about time: processes and messages are as slow as they like.
const UNTIMELY: Faults = Faults::of(&[Fault::WrongTimeouts, Fault::Pause, Fault::Drift, Fault::LateHolder]);

impl Model {
    /// Pulses, in which nothing is late or lost; the order in which messages come within a pulse does not
    /// matter.
    pub const PULSES: Model = Model::new(Timing::Pulses, &[Fault::Reordering]);

    /// This is known about time, and these faults may come.
    pub const fn new(timing: Timing, withstands: &[Fault]) -> Self {
        Model { timing, withstands: Faults::of(withstands), survivors: Survivors::Anybody, besides: "" }
    }

    /// The same, and something else is taken for granted.
    #[must_use]
    pub const fn besides(self, besides: &'static str) -> Self {
        Model { besides, ..self }
    }

    /// The same, if so many are up.
    #[must_use]
    pub const fn if_up(self, survivors: Survivors) -> Self {
        Model { survivors, ..self }
    }

    /// The same, and these faults may come, too.
    #[must_use]
    pub const fn and(self, faults: &[Fault]) -> Self {
        Model { withstands: self.withstands.and(Faults::of(faults)), ..self }
    }

    /// The same, but these faults do not come.
    #[must_use]
    pub const fn without(self, faults: &[Fault]) -> Self {
        Model { withstands: self.withstands.without(Faults::of(faults)), ..self }
    }

    /// Everything that may go wrong.
    pub const fn faults(&self) -> Faults {
        match self.timing {
            Timing::Asynchronous => self.withstands.and(UNTIMELY),
            Timing::Pulses | Timing::Timely | Timing::EventuallyTimely => self.withstands,
        }
    }

    /// What it says of the links.
    pub const fn links(&self) -> Links {
        const LOSSES: Faults = Faults::of(&[Fault::Loss, Fault::Cut, Fault::Partition]);
        let loses = !self.withstands.common(LOSSES).is_empty();
        match self.timing {
            Timing::Asynchronous if !loses => Links::Reliable,
            _ => Links::Timely,
        }
    }

    /// How many of `processes` may be down at once.
    pub const fn max_down(&self, processes: usize) -> usize {
        match self.survivors {
            Survivors::Anybody => processes.saturating_sub(1),
            Survivors::Majority => processes.saturating_sub(1) / 2,
            Survivors::AllBut(down) => down,
        }
    }
}

/// In words: "asynchronous; reliable FIFO links; no crashes".
impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const LINKS: Faults = Faults::of(&[Fault::Reordering, Fault::Loss, Fault::Duplication, Fault::Cut]);
        const CRASHES: Faults = Faults::of(&[Fault::Crash, Fault::Recovery, Fault::Amnesia]);
        f.write_str(match self.timing {
            Timing::Pulses => "synchronous",
            Timing::Timely => "synchronous enough for its timeouts",
            Timing::EventuallyTimely => "partially synchronous (GST)",
            Timing::Asynchronous => "asynchronous",
        })?;
        let links = self.withstands.common(LINKS);
        match links.iter().collect::<Vec<_>>().as_slice() {
            _ if self.timing == Timing::Pulses => f.write_str("; reliable links")?,
            [] => f.write_str("; reliable FIFO links")?,
            [Fault::Reordering] => f.write_str("; reliable links, in any order")?,
            _ => write!(f, "; {links}")?,
        }
        let has = |fault| self.withstands.contains(fault);
        f.write_str(match (has(Fault::Crash), has(Fault::Recovery), has(Fault::Amnesia)) {
            (false, false, false) => "; no crashes",
            (true, false, false) => "; crashes for good",
            (_, _, false) => "; crashes and recoveries with stable storage",
            (_, _, true) => "; crashes and recoveries",
        })?;
        match self.survivors {
            Survivors::Anybody => {}
            Survivors::Majority => f.write_str(" of less than half")?,
            Survivors::AllBut(down) => write!(f, " of at most {down}")?,
        }
        let others = self.withstands.without(LINKS.and(CRASHES));
        if !others.is_empty() {
            write!(f, "; {others}")?;
        }
        if !self.besides.is_empty() {
            write!(f, "; {}", self.besides)?;
        }
        Ok(())
    }
}

/// A property that holds under the model, whatever of its faults come, with exceptions that are named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Promise {
    /// The property.
    pub property: &'static str,
    /// The faults of the model under which it need not hold all the same,
    pub except: Faults,
    /// and why not.
    pub because: &'static str,
    /// Whether it holds however many are down or cut off in the end.
    pub regardless: bool,
}

impl Promise {
    /// Under all faults of the model.
    pub const fn of(property: &'static str) -> Self {
        Promise { property, except: Faults::NONE, because: "", regardless: false }
    }

    /// Not under these faults, though they belong to the model; `because` says why, in a clause.
    #[must_use]
    pub const fn except(self, faults: &[Fault], because: &'static str) -> Self {
        Promise { except: Faults::of(faults), because, ..self }
    }

    /// However many are down or cut off in the end: nothing has to happen for it to hold.
    #[must_use]
    pub const fn regardless(self) -> Self {
        Promise { regardless: true, ..self }
    }

    /// The faults under which it is promised.
    pub const fn under(&self, model: &Model) -> Faults {
        model.faults().without(self.except)
    }

    /// What is claimed of the property under these circumstances.
    pub fn claim(&self, model: &Model, circumstances: &Circumstances) -> Claim {
        let Circumstances { faults, down, processes, lasting } = *circumstances;
        let beyond = faults.without(model.faults());
        let excepted = faults.common(self.except);
        if !beyond.is_empty() {
            Claim::Outside(beyond.to_string())
        } else if !excepted.is_empty() {
            Claim::Outside(format!("{excepted}, for {}", self.because))
        } else if down > model.max_down(processes) && !self.regardless {
            Claim::Outside(format!("{down} of {processes} are down"))
        } else if lasting && !self.regardless {
            Claim::Outside("a cut or a pause that lasts to the end".to_owned())
        } else {
            Claim::Promised
        }
    }
}

/// What a system promises: an algorithm with its options, on its detector.
#[derive(Clone, Debug)]
pub struct Contract {
    /// What it assumes.
    pub model: Model,
    /// What it promises under that.
    pub promises: Vec<Promise>,
    /// Why it is outside the algorithm's model whatever happens, if it is: too many traitors, for example.
    pub outside: Option<String>,
    /// The longest that a message may take for the algorithm's timeouts to be right; `None`: as long as it
    /// likes.
    pub max_latency: Option<Duration>,
}

impl Contract {
    /// The promise of this property, if there is one.
    pub fn promise(&self, property: &str) -> Option<&Promise> {
        self.promises.iter().find(|promise| promise.property == property)
    }

    /// What is claimed of this property where such things may go wrong.
    pub fn claim(&self, property: &str, circumstances: &Circumstances) -> Claim {
        match (self.promise(property), &self.outside) {
            (None, _) => Claim::NotPromised,
            (Some(_), Some(why)) => Claim::Outside(why.clone()),
            (Some(promise), None) => promise.claim(&self.model, circumstances),
        }
    }

    /// The same, but messages may take no longer than this, if they had longer.
    pub fn limit_latency(&mut self, latency: Duration) {
        self.max_latency = Some(self.max_latency.map_or(latency, |before| before.min(latency)));
    }

    /// The same without this promise.
    #[must_use]
    pub fn without(mut self, properties: &[&str]) -> Self {
        self.promises.retain(|promise| !properties.contains(&promise.property));
        self
    }

    /// The same, but this property need not hold under these faults.
    #[must_use]
    pub fn except(mut self, property: &str, faults: &[Fault], because: &'static str) -> Self {
        let promise = self.promises.iter_mut().find(|promise| promise.property == property);
        if let Some(promise) = promise {
            *promise = Promise { except: promise.except.and(Faults::of(faults)), because, ..*promise };
        }
        self
    }
}

/// What may go wrong in a run, or in all runs that are looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Circumstances {
    /// The kinds of faults.
    pub faults: Faults,
    /// How many processes stay down.
    pub down: usize,
    /// Whether a cut or a pause lasts to the end.
    pub lasting: bool,
    /// How many processes there are.
    pub processes: usize,
}

/// What an algorithm claims of a property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// It holds: if not, the algorithm or its description is wrong.
    Promised,
    /// It is promised, but these circumstances are outside the model, because of this.
    Outside(String),
    /// It is not promised, whatever the circumstances.
    NotPromised,
}

impl Claim {
    /// Whether the property must hold.
    pub fn is_promised(&self) -> bool {
        *self == Claim::Promised
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::ENTRIES;

    const MODEL: Model = Model::new(Timing::Timely, &[Fault::Crash, Fault::Partition]);

    fn under(faults: &[Fault]) -> Circumstances {
        Circumstances { faults: Faults::of(faults), down: 0, lasting: false, processes: 3 }
    }

    #[test]
    fn what_is_promised_is_promised_under_the_faults_of_the_model_and_no_others() {
        let promise = Promise::of("E2");
        assert_eq!(promise.claim(&MODEL, &under(&[])), Claim::Promised);
        assert_eq!(promise.claim(&MODEL, &under(&[Fault::Crash, Fault::Partition])), Claim::Promised);
        let beyond = promise.claim(&MODEL, &under(&[Fault::Crash, Fault::Loss]));
        assert_eq!(beyond, Claim::Outside("lost messages".to_owned()));
    }

    #[test]
    fn an_exception_says_why() {
        let promise = Promise::of("E1").except(&[Fault::Partition], "each part has a leader");
        assert_eq!(promise.claim(&MODEL, &under(&[Fault::Crash])), Claim::Promised);
        let excepted = promise.claim(&MODEL, &under(&[Fault::Crash, Fault::Partition]));
        assert_eq!(excepted, Claim::Outside("partitions, for each part has a leader".to_owned()));
    }

    #[test]
    fn too_few_survivors_are_outside_the_model_unless_the_promise_holds_regardless() {
        let model = MODEL.if_up(Survivors::Majority);
        let too_few_up = Circumstances { down: 2, ..under(&[Fault::Crash]) };
        assert_eq!(
            Promise::of("E2").claim(&model, &too_few_up),
            Claim::Outside("2 of 3 are down".to_owned())
        );
        assert!(Promise::of("one-leader-per-term").regardless().claim(&model, &too_few_up).is_promised());
        assert!(Promise::of("E2").claim(&model, &Circumstances { down: 1, ..too_few_up }).is_promised());
        let cut = Circumstances { lasting: true, ..under(&[Fault::Partition]) };
        assert!(!Promise::of("E2").claim(&model, &cut).is_promised());
        assert!(Promise::of("one-leader-per-term").regardless().claim(&model, &cut).is_promised());
    }

    #[test]
    fn a_model_is_told_in_words() {
        let model = Model::new(Timing::Asynchronous, &[]);
        assert_eq!(model.to_string(), "asynchronous; reliable FIFO links; no crashes");
        assert!(model.faults().contains(Fault::Pause), "it is slow, no more");
        let recovers = MODEL.and(&[Fault::Recovery]).besides("a clock");
        assert_eq!(
            recovers.to_string(),
            "synchronous enough for its timeouts; reliable FIFO links; crashes and recoveries with stable \
                storage; \
             partitions; a clock"
        );
    }

    #[test]
    fn every_exception_is_one_of_the_models_faults_and_says_why() {
        for entry in ENTRIES {
            for promise in entry.promises {
                let name = format!("{}: {}", entry.name, promise.property);
                assert!(promise.except.is_within(entry.model.faults()), "{name}");
                assert_eq!(promise.except.is_empty(), promise.because.is_empty(), "{name}");
            }
        }
    }
}
