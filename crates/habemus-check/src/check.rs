//! From a request to a report: plan, explore, refine, report.

use std::time::Duration;

use habemus::Process;
use habemus::catalogue::{self, Request, Setup, Visitor};
use habemus_trace::Origin;

use crate::certificate::certify;
use crate::counts::{ExplorationCounts, count};
use crate::error::CheckError;
use crate::facts::SystemFacts;
use crate::fit::fit;
use crate::handle::CheckHandle;
use crate::handlers::{Erased, Handlers};
use crate::numbered::Numbered;
use crate::rate::Rates;
use crate::refine::Searched;
use crate::report::{CheckReport, CheckedProperty, report};
use crate::selection::Selection;
use crate::setting::Setting;
use crate::world::World;

/// What was found among more states is told as it was found: to look for it again on one thread takes too
/// long.
const MAX_RETOLD: u64 = 1_000_000;

/// Checks an algorithm of the catalogue.
///
/// # Errors
/// If the request or the setting makes no sense, or if the algorithm is not a pure state machine.
pub fn check(
    request: &Request<'_>,
    setting: &Setting,
    handle: &CheckHandle,
) -> Result<CheckReport, CheckError> {
    let chosen = catalogue::build(request).and_then(|chosen| chosen.accept(Erase));
    let system = chosen.map_err(CheckError::Setup)?;
    let mut report = system.check(setting, handle)?;
    for trace in report.properties.iter_mut().filter_map(|line| line.counterexample.as_mut()) {
        trace.header.origin = Some(Origin::of(request));
    }
    Ok(report)
}

/// Checks a system that is not in the catalogue.
///
/// # Errors
/// As [`check`].
pub fn check_system<P: Process>(
    setup: &Setup<P>,
    setting: &Setting,
    handle: &CheckHandle,
) -> Result<CheckReport, CheckError> {
    Erase.visit(setup.clone()).check(setting, handle)
}

/// The certificate of a check: what another program needs to recompute its counts and verdicts, as lines of
/// JSON. Every state is told apart and every order of events explored, whatever the setting says.
///
/// # Errors
/// If the system cannot be made or explored, if timers run by clocks, or if there are more states than the
/// setting allows.
pub fn certificate(
    request: &Request<'_>,
    setting: &Setting,
    handle: &CheckHandle,
) -> Result<String, CheckError> {
    let chosen = catalogue::build(request).and_then(|chosen| chosen.accept(Erase));
    chosen.map_err(CheckError::Setup)?.certify(setting, handle)
}

/// Counts states with every reduction that the setting allows, without each one of those that make a
/// difference, and with none: numbers that another program can be compared with. Nothing is judged.
///
/// # Errors
/// As [`check`].
pub fn counts(
    request: &Request<'_>,
    setting: &Setting,
    handle: &CheckHandle,
) -> Result<Vec<ExplorationCounts>, CheckError> {
    let chosen = catalogue::build(request).and_then(|chosen| chosen.accept(Erase));
    chosen.map_err(CheckError::Setup)?.count(setting, handle)
}

/// Takes a system for one of numbers: all that is compiled for each algorithm.
pub(crate) struct Erase;

impl Visitor for Erase {
    type Result = ErasedSystem;

    /// A detector's heartbeats never end; the oracle stands for all of them.
    const ON_DETECTORS: bool = false;

    fn visit<P: Process>(self, setup: Setup<P>) -> ErasedSystem {
        let facts = SystemFacts::of(&setup);
        ErasedSystem { facts, handlers: Box::new(move || Box::new(Erased::new(&setup))) }
    }
}

/// A system, whatever its processes are.
pub(crate) struct ErasedSystem {
    pub(crate) facts: SystemFacts,
    /// Its handlers, with fresh numbers.
    pub(crate) handlers: Box<dyn Fn() -> Box<dyn Handlers>>,
}

impl ErasedSystem {
    pub(crate) fn check(&self, setting: &Setting, handle: &CheckHandle) -> Result<CheckReport, CheckError> {
        let setting = fit(&self.facts, setting)?;
        let selection = Selection::new(&self.facts, &setting)?;
        self.check_reproducibly(&setting, &selection, handle)
    }

    fn certify(&self, setting: &Setting, handle: &CheckHandle) -> Result<String, CheckError> {
        let setting = fit(&self.facts, setting)?;
        if setting.timers.speed().is_some() {
            let reason = "a certificate holds no clocks: it is for other timers than timed ones";
            return Err(CheckError::Unfit(reason.to_owned()));
        }
        let setting = Setting { reduction: false, symmetry: false, threads: 1, ..setting };
        let selection = Selection::new(&self.facts, &setting)?;
        let system = Numbered::new(&self.facts, (self.handlers)(), &setting, &selection.checked);
        certify(&World::new(system, setting, Rates::Loose), &selection, handle)
    }

    fn count(&self, setting: &Setting, handle: &CheckHandle) -> Result<Vec<ExplorationCounts>, CheckError> {
        let setting = fit(&self.facts, setting)?;
        let selection = Selection::new(&self.facts, &setting)?;
        let make = |setting: &Setting| {
            let system = Numbered::new(&self.facts, (self.handlers)(), setting, &selection.checked);
            World::new(system, setting.clone(), Rates::Loose)
        };
        count(&setting, &make, handle)
    }

    /// Checks, and checks again on one thread where a violation is to be told: which of several threads comes
    /// first to a state is chance, and with it which of the shortest runs is told. On one thread it is the
    /// same every time. Numbers are given anew, for they hang on chance as well.
    fn check_reproducibly(
        &self,
        setting: &Setting,
        selection: &Selection,
        handle: &CheckHandle,
    ) -> Result<CheckReport, CheckError> {
        let stopwatch = Stopwatch::start();
        let report = self.check_once(setting, selection, handle, &stopwatch)?;
        let is_broken = |line: &CheckedProperty| line.counterexample.is_some();
        let is_told = report.properties.iter().any(is_broken);
        if setting.threads == 1 || !is_told || report.states > MAX_RETOLD {
            return Ok(report);
        }
        let alone = Setting { threads: 1, ..setting.clone() };
        let again = self.check_once(&alone, selection, handle, &stopwatch)?;
        let same = report.properties.iter().map(is_broken).eq(again.properties.iter().map(is_broken));
        // It may have been interrupted.
        Ok(if same { again } else { report })
    }

    fn check_once(
        &self,
        setting: &Setting,
        selection: &Selection,
        handle: &CheckHandle,
        stopwatch: &Stopwatch,
    ) -> Result<CheckReport, CheckError> {
        let search = |selection: &Selection, rates| -> Result<CheckReport, CheckError> {
            let system = Numbered::new(&self.facts, (self.handlers)(), setting, &selection.checked);
            let world = World::new(system, setting.clone(), rates);
            let searched = Searched::new(&world, selection, handle)?;
            Ok(report(&world, selection, &searched, stopwatch.elapsed()))
        };
        let loose = search(selection, Rates::Loose)?;
        let drifts = setting.timers.speed().is_some_and(|speed| speed.drift > 0);
        let broken: Vec<&str> = loose.violated().map(|line| line.name.as_str()).collect();
        if !drifts || broken.is_empty() {
            return Ok(loose);
        }
        let extreme = search(&selection.only(&broken), Rates::Extreme)?;
        Ok(loose.with_runs_of(&extreme))
    }
}

/// How long a check takes. In a browser there is no clock to ask, and nobody is told.
struct Stopwatch {
    #[cfg(not(target_family = "wasm"))]
    start: std::time::Instant,
}

impl Stopwatch {
    fn start() -> Self {
        Stopwatch {
            #[cfg(not(target_family = "wasm"))]
            start: std::time::Instant::now(),
        }
    }

    fn elapsed(&self) -> Duration {
        #[cfg(not(target_family = "wasm"))]
        return self.start.elapsed();
        #[cfg(target_family = "wasm")]
        return Duration::ZERO;
    }
}
