//! Mutation testing: algorithms that break a rule of their own, and whether anybody notices.
//!
//! *Planted* mutants are variants of the catalogue, each with a model that catches it. *Generated* ones need
//! no line of the algorithm: behind `Handlers` every process is a number, and what a handler asks for is a
//! list of effects, so that one combinator changes any of them. What can be changed is found by watching the
//! algorithm itself in its models: each kind of event, with each kind of message, timer and output that came
//! of it.
//!
//! A mutant is caught by a model if something is broken there that the algorithm keeps. If it did nothing
//! else than the algorithm in any run, it is the algorithm. If all its runs were covered and everything holds
//! in them, it is harmless as far as these models go. Otherwise it has survived. Whoever survives, harmless
//! or not, is either caught by a new model, or [explained](explanations).

mod locks;
mod model;
mod models;
mod mutant;
mod mutated;
mod planted;
mod promises;
mod survivors;

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use habemus::catalogue::{self, Entry};
use serde::{Deserialize, Serialize};

pub use model::Model;
use models::models;
pub use mutant::{Change, Mutant, Trigger};
pub use planted::{ELSEWHERE, Planted, planted};
pub use promises::{BrokenPromise, Rehearsal, rehearse};
pub use survivors::{Explanation, explanations};

use crate::check::{Erase, ErasedSystem};
use crate::error::CheckError;
use crate::facts::SystemFacts;
use crate::handle::CheckHandle;
use crate::handlers::Handlers;
use crate::report::{CheckReport, CheckVerdict, CheckedProperty, Extent};
use crate::setting::{Properties, Setting};
use mutated::{Habits, Mutated};

/// So many models of which not every run is covered are kept.
const MAX_BOUNDED: usize = 4;
/// Models of which every run is covered are kept, the smallest first, until together they have so many times
/// the states after which one is left.
const MAX_COVERED: u64 = 10;
/// A mutant that nobody has noticed in so many times the states of one model is given up.
const PATIENCE: u64 = 50;

/// What became of a mutant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fate {
    /// A model noticed.
    Caught {
        /// Which one.
        model: String,
        /// What was broken.
        by: String,
        /// In how many steps.
        steps: Option<usize>,
    },
    /// It never did anything else than the algorithm.
    Same,
    /// It did, and in every run of every model all holds that holds for the algorithm.
    Harmless,
    /// It only did the same twice, and nobody minded.
    Tolerated,
    /// Not every run was covered, and in those that were nobody noticed.
    Survived,
    /// Nobody noticed in so many states that it was given up before all models were tried.
    Undecided,
    /// It is planted, and a test other than the checker's catches it.
    Elsewhere,
}

impl Fate {
    /// Whether nobody noticed what the mutant did, and that asks for an explanation.
    pub fn is_survival(&self) -> bool {
        matches!(self, Fate::Harmless | Fate::Survived)
    }
}

/// An algorithm, and the models in which its mutants are tried.
pub struct Subject {
    /// As many of a model were explored at most.
    states: u64,
    stages: Vec<Rehearsed>,
    mutants: Vec<Mutant>,
}

/// A model, its handlers, and what they were seen to do.
struct Stage {
    name: String,
    setting: Setting,
    facts: SystemFacts,
    /// They keep their numbers from one mutant to the next.
    handlers: Arc<dyn Handlers>,
    habits: Arc<Mutex<Habits>>,
}

/// A model in which the algorithm itself was explored.
struct Rehearsed {
    model: Model,
    stage: Stage,
    report: CheckReport,
}

impl Subject {
    /// An algorithm in all its models, each explored up to so many states.
    pub fn new(entry: &'static Entry, states: u64) -> Self {
        Self::in_models(models(entry), states)
    }

    /// An algorithm in these models, each explored up to so many states.
    fn in_models(models: Vec<Model>, states: u64) -> Self {
        let mut stages: Vec<Rehearsed> = Vec::new();
        for model in models {
            let is_needless = |known: &Rehearsed| {
                // Without timers it is all one when they run out. And what is too much for a smaller model is
                // too much for a larger one.
                known.sets_no_timer() && known.model.is_but_for_timers(&model)
                    || known.is_cut_short() && model.is_no_less_than(&known.model)
            };
            if !stages.iter().any(is_needless) {
                stages.extend(Rehearsed::new(model, states));
            }
        }
        // What is soon explored may catch most of them. Where it never ends, little is proved, and a few
        // models will do.
        stages.sort_by_key(|rehearsed| (rehearsed.report.extent == Extent::Bounded, rehearsed.report.states));
        let (mut covered, mut cut_short) = (0, 0);
        stages.retain(|rehearsed| {
            if rehearsed.report.extent != Extent::Bounded {
                covered += rehearsed.report.states;
                covered <= MAX_COVERED * states
            } else {
                cut_short += usize::from(rehearsed.is_cut_short());
                cut_short <= MAX_BOUNDED || !rehearsed.is_cut_short()
            }
        });
        let mut mutants = BTreeSet::new();
        for Rehearsed { stage, .. } in &stages {
            let habits = stage.habits.lock().unwrap_or_else(PoisonError::into_inner);
            mutants.extend(habits.mutants().cloned());
        }
        Subject { states, stages, mutants: mutants.into_iter().collect() }
    }

    /// Everything that might be done otherwise than the algorithm does it.
    pub fn mutants(&self) -> &[Mutant] {
        &self.mutants
    }

    /// Tries a mutant in every model, until one notices.
    pub fn try_mutant(&self, mutant: &Mutant) -> Fate {
        let (mut is_covered, mut is_same, mut explored) = (true, true, 0);
        for stage in self.stages.iter().filter(|stage| stage.stage.gives_occasion_to(mutant)) {
            let changed = Arc::new(AtomicBool::new(false));
            match stage.try_system(Some(mutant), &changed) {
                Notice::Broken { by, steps } => {
                    return Fate::Caught { model: stage.stage.name.clone(), by, steps };
                }
                Notice::Nothing { is_covered: all, states } => {
                    is_covered &= all;
                    explored += states;
                }
            }
            is_same &= !changed.load(Ordering::Relaxed);
            if explored > PATIENCE * self.states {
                return if mutant.change.is_redundant() { Fate::Tolerated } else { Fate::Undecided };
            }
        }
        match (is_same, is_covered) {
            (true, _) => Fate::Same,
            (false, _) if mutant.change.is_redundant() => Fate::Tolerated,
            (false, true) => Fate::Harmless,
            (false, false) => Fate::Survived,
        }
    }
}

impl Subject {
    /// Tries the algorithm once more in every model, until one notices a difference: for whoever changes what
    /// its sources do while the program runs.
    pub fn try_itself(&self) -> Fate {
        let mut is_covered = true;
        for stage in &self.stages {
            match stage.try_system(None, &Arc::default()) {
                Notice::Broken { by, steps } => {
                    return Fate::Caught { model: stage.stage.name.clone(), by, steps };
                }
                Notice::Nothing { is_covered: all, .. } => is_covered &= all,
            }
        }
        if is_covered { Fate::Harmless } else { Fate::Survived }
    }
}

/// The planted mutants of an algorithm, and what becomes of each.
pub fn planted_fates(entry: &Entry) -> Vec<(&'static str, Fate)> {
    let elsewhere = ELSEWHERE.iter().filter(|(algorithm, _)| *algorithm == entry.name);
    let mut fates: Vec<(&'static str, Fate)> =
        elsewhere.map(|(_, mutant)| (*mutant, Fate::Elsewhere)).collect();
    for Planted { mutant, property, model } in planted() {
        if model.algorithm == entry.name {
            let (by, name) = (property.to_owned(), model.name.clone());
            let report = model.property(property).option("variant", mutant).check();
            let line = report.ok().and_then(|report| report.property(property).cloned());
            let broken = line.filter(|line| line.verdict == CheckVerdict::Violated);
            let caught = broken.map(|line| Fate::Caught { model: name, by, steps: line.steps });
            fates.push((mutant, caught.unwrap_or(Fate::Survived)));
        }
    }
    fates
}

/// What a model noticed of a mutant.
enum Notice {
    Broken { by: String, steps: Option<usize> },
    Nothing { is_covered: bool, states: u64 },
}

impl Stage {
    /// Whether the mutant may do otherwise than the algorithm here.
    fn gives_occasion_to(&self, mutant: &Mutant) -> bool {
        self.habits.lock().unwrap_or_else(PoisonError::into_inner).give_occasion_to(mutant)
    }

    fn system(&self, mutant: Option<&Mutant>, changed: &Arc<AtomicBool>) -> ErasedSystem {
        let processes = self.facts.processes() as u32;
        let (inner, habits) = (Arc::clone(&self.handlers), Arc::clone(&self.habits));
        let (mutant, changed) = (mutant.cloned(), Arc::clone(changed));
        let mutated = move || -> Box<dyn Handlers> {
            let (inner, habits, changed) = (Arc::clone(&inner), Arc::clone(&habits), Arc::clone(&changed));
            Box::new(Mutated { inner, habits, processes, mutant: mutant.clone(), changed })
        };
        ErasedSystem { facts: self.facts.clone(), handlers: Box::new(mutated) }
    }
}

impl Rehearsed {
    /// Explores the algorithm itself; `None` if it cannot be under such circumstances, or keeps nothing
    /// there.
    fn new(model: Model, states: u64) -> Option<Self> {
        let system = catalogue::build(&model.request()).ok()?.accept(Erase).ok()?;
        let max_states = match model.setting.max_depth {
            // It says itself how deep it goes.
            Some(_) => 10 * states,
            None => model.setting.max_states.map_or(states, |max| max.min(states)),
        };
        let mut stage = Stage {
            name: model.name.clone(),
            setting: Setting { max_states: Some(max_states), keep_going: true, ..model.setting.clone() },
            handlers: Arc::from((system.handlers)()),
            facts: system.facts,
            habits: Arc::default(),
        };
        let itself = stage.system(None, &Arc::default());
        let mut report = itself.check(&stage.setting, &CheckHandle::default()).ok()?;
        if report.extent == Extent::Bounded {
            // What was begun is not compared with anything: as far as it goes, all runs are covered.
            stage.setting.max_depth = Some(report.depth);
            report = itself.check(&stage.setting, &CheckHandle::default()).ok()?;
        }
        // What is open for a reason may be broken: a mutant is not to blame for it.
        let is_kept = |line: &&CheckedProperty| match line.verdict {
            CheckVerdict::Holds => true,
            CheckVerdict::NotFound => line.explanation.is_none(),
            _ => false,
        };
        let kept = report.properties.iter().filter(is_kept);
        let kept: Vec<String> = kept.map(|line| line.name.clone()).collect();
        let has_any = !kept.is_empty();
        (stage.setting.properties, stage.setting.keep_going) = (Properties::Named(kept), false);
        // A mutant has a few more states than the algorithm, or very many.
        stage.setting.max_states = Some(2 * report.states + 2 * report.states.min(2_000) + 200);
        has_any.then_some(Rehearsed { model, stage, report })
    }

    /// Whether no process ever set a timer.
    fn sets_no_timer(&self) -> bool {
        let habits = self.stage.habits.lock().unwrap_or_else(PoisonError::into_inner);
        habits.mutants().all(|mutant| !matches!(mutant.change, Change::NotSet(_)))
    }

    /// Whether there is more of it than was explored, and nobody asked for so little.
    fn is_cut_short(&self) -> bool {
        let is_as_deep = self.model.setting.max_depth.is_some_and(|max| self.report.depth >= max);
        self.report.extent == Extent::Bounded && !is_as_deep
    }

    fn try_system(&self, mutant: Option<&Mutant>, changed: &Arc<AtomicBool>) -> Notice {
        let system = self.stage.system(mutant, changed);
        let check = |symmetry: bool| {
            let setting = Setting { symmetry, ..self.stage.setting.clone() };
            // A mutant comes to states that its author took for impossible.
            catch_unwind(AssertUnwindSafe(|| system.check(&setting, &CheckHandle::default())))
        };
        // Who breaks a rule may tell apart what the algorithm does not.
        let report = match check(self.stage.setting.symmetry) {
            Ok(Err(_)) if self.stage.setting.symmetry => check(false),
            other => other,
        };
        match report {
            Err(_) => Notice::Broken { by: "a panic".to_owned(), steps: None },
            Ok(Err(CheckError::NoLink { .. })) => {
                Notice::Broken { by: "a message without a link".to_owned(), steps: None }
            }
            Ok(Err(error)) => Notice::Broken { by: error.to_string(), steps: None },
            Ok(Ok(report)) => self.compare(&report),
        }
    }

    /// What is broken that the algorithm keeps.
    fn compare(&self, report: &CheckReport) -> Notice {
        for line in &report.properties {
            let before = self.report.property(&line.name).map(|line| line.verdict);
            match line.verdict {
                CheckVerdict::Violated => {
                    return Notice::Broken { by: line.name.clone(), steps: line.steps };
                }
                CheckVerdict::DoesNotApply if before == Some(CheckVerdict::Holds) => {
                    return Notice::Broken { by: format!("nothing to say of {}", line.name), steps: None };
                }
                _ => {}
            }
        }
        let missing = |name: &str| report.sometimes.iter().any(|line| line.what == name && !line.reached);
        let is_covered = report.extent == Extent::Complete;
        // Both were followed as far; or the algorithm to its end, and the mutant twice as far.
        let is_even = is_covered
            || self.stage.setting.max_states.is_some_and(|max| report.states < max)
            || self.report.extent == Extent::Complete && report.depth >= 2 * self.report.depth;
        let reached = self.report.sometimes.iter().find(|line| line.reached && missing(line.what));
        match reached {
            Some(line) if is_even => {
                Notice::Broken { by: format!("it never happens that {}", line.what), steps: None }
            }
            _ => Notice::Nothing { is_covered, states: report.states },
        }
    }
}
