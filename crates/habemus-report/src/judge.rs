//! Judging a recorded trace: the same monitors and the same expectations as in a simulation.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use habemus::catalogue::{self, Claim, Entry, Request, Setup, Visitor};
use habemus::clock::VectorClock;
use habemus::property::{Observation, ObservedEvent, Population, Violation};
use habemus::{Address, Id, Problem, Process, Status};
use habemus_scenario::Expectations;
use habemus_trace::{Happening, Record, Trace};

use crate::circumstances::circumstances_of_trace;
use crate::error::RunError;
use crate::finished::{Ended, Ending, Finished};
use crate::monitors::Monitors;
use crate::report::Report;
use crate::standing::Standing;
use crate::statistics::Statistics;

/// Why a trace cannot be judged.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum JudgeError {
    /// The scenario makes no sense.
    #[error("{0}")]
    Run(RunError),
    /// The trace is not one of this system.
    #[error("record {record} of the trace is not one of {algorithm}: {why}")]
    Foreign {
        /// Which record, counted from 1.
        record: usize,
        /// The algorithm.
        algorithm: &'static str,
        /// In which way.
        why: String,
    },
}

impl<E: Into<RunError>> From<E> for JudgeError {
    fn from(error: E) -> Self {
        JudgeError::Run(error.into())
    }
}

/// Feeds a trace to the monitors of the system that `request` describes, and checks what was expected.
/// Violations are written into the trace, which the report keeps.
///
/// # Errors
/// If the request makes no sense, or the trace is not one of that system.
pub fn judge(
    request: &Request<'_>,
    expect: &Expectations,
    trace: Trace,
    ending: &Ending,
) -> Result<Report, JudgeError> {
    catalogue::build(request)?.accept(Judge { expect, trace, ending, seed: request.seed })?
}

struct Judge<'a> {
    expect: &'a Expectations,
    trace: Trace,
    ending: &'a Ending,
    seed: u64,
}

impl Visitor for Judge<'_> {
    type Result = Result<Report, JudgeError>;

    fn visit<P: Process>(self, setup: Setup<P>) -> Self::Result {
        let circumstances = circumstances_of_trace(&self.trace);
        let claim = |property: &str| setup.contract.claim(property, &circumstances);
        TraceJudge::<P::Problem>::new(setup.entry, setup.population.clone()).judge(self, &claim)
    }
}

/// What is known in the midst of a trace. It depends on the problem only, not on the process.
struct TraceJudge<Q: Problem> {
    entry: &'static Entry,
    population: Population,
    statistics: Statistics,
    standing: Standing,
    /// The longest chain of messages that ends at each process, and that each message on its way ends.
    depth: Vec<u32>,
    /// What the processes that are up have decided.
    decided: BTreeMap<Address, String>,
    on_their_way: BTreeMap<(u64, u64), u32>,
    monitors: Monitors<Q>,
    /// Who has recorded anything, or of whom it was recorded that it is down.
    heard: BTreeSet<Address>,
    /// Whether the monitors know that all processes have started, or that one has crashed before.
    begun: bool,
}

impl<Q: Problem> TraceJudge<Q> {
    fn new(entry: &'static Entry, population: Population) -> Self {
        let monitors = Monitors::new(&population);
        let (standing, depth) = (Standing::new(population.len()), vec![0; population.len()]);
        let (statistics, decided, on_their_way) = (Statistics::default(), BTreeMap::new(), BTreeMap::new());
        TraceJudge {
            entry,
            population,
            statistics,
            standing,
            depth,
            decided,
            on_their_way,
            monitors,
            heard: BTreeSet::new(),
            begun: false,
        }
    }

    fn judge(mut self, case: Judge<'_>, claim: &dyn Fn(&str) -> Claim) -> Result<Report, JudgeError> {
        let mut trace = case.trace;
        let mut records = Vec::with_capacity(trace.records.len());
        for (index, record) in trace.records.into_iter().enumerate() {
            let broken = self.hear(&record).map_err(|why| JudgeError::Foreign {
                record: index + 1,
                algorithm: self.entry.name,
                why,
            })?;
            let (at, process) = (record.at, record.process);
            records.push(record);
            records.extend(broken.into_iter().map(|(property, violation)| Record {
                at,
                process,
                clock: BTreeMap::new(),
                what: Happening::Violation { property: property.to_owned(), explanation: violation.0 },
            }));
        }
        trace.records = records;
        self.await_those_that_have_not_begun(case.ending);
        let finished = Finished {
            entry: self.entry,
            population: &self.population,
            seed: case.seed,
            ending: case.ending,
            standing: &self.standing,
            decided: self.decided,
            statistics: self.statistics,
            refused_writes: self.monitors.refused_writes(),
            properties: self.monitors.lines(case.ending.end(), &self.population, claim),
            remarks: Vec::new(),
            fingerprint: "none: a real run cannot be repeated".to_owned(),
            trace: Some(trace),
        };
        Ok(finished.report(case.expect)?)
    }

    /// Takes note of a record; gives what it breaks.
    fn hear(&mut self, record: &Record) -> Result<Vec<(&'static str, Violation)>, String> {
        let address = |id: u64| {
            self.population.address(Id(id)).ok_or_else(|| format!("there is no process {id} in the system"))
        };
        let Some(process) = record.process.map(address).transpose()? else { return Ok(Vec::new()) };
        let clock: VectorClock = record
            .clock
            .iter()
            .map(|(id, ticks)| Ok((address(*id)?, *ticks)))
            .collect::<Result<_, String>>()?;
        self.heard.insert(process);
        let (at, statistics) = (record.at, &mut self.statistics);
        let id = self.population.id(process);
        statistics.events += 1;
        match &record.what {
            Happening::Start { recovered } => {
                statistics.recoveries += u64::from(*recovered);
                self.depth[process.index()] = 0;
                self.standing.become_status(at, process, id, Some(Status::Idle), statistics);
                Ok(self.observe(at, process, &clock, ObservedEvent::Started))
            }
            Happening::Crash => {
                statistics.crashes += 1;
                self.begun = true;
                self.decided.remove(&process);
                self.standing.become_status(at, process, id, None, statistics);
                Ok(self.observe(at, process, &clock, ObservedEvent::Crashed))
            }
            Happening::Send { message, kind, background, .. } => {
                self.on_their_way.insert((id.0, *message), self.depth[process.index()] + 1);
                statistics.messages += 1;
                statistics.background += u64::from(*background);
                *statistics.by_kind.entry(kind.to_string()).or_default() += 1;
                Ok(Vec::new())
            }
            Happening::Deliver { message, from, .. } => {
                statistics.delivered += 1;
                let chain = self.on_their_way.get(&(*from, *message)).copied().unwrap_or(0);
                let depth = &mut self.depth[process.index()];
                *depth = chain.max(*depth);
                statistics.longest_chain = statistics.longest_chain.max(chain);
                Ok(self.begin(at))
            }
            Happening::Drop { .. } => {
                statistics.dropped += 1;
                Ok(Vec::new())
            }
            Happening::Timer { .. } => {
                statistics.timers += 1;
                Ok(self.begin(at))
            }
            Happening::Command { value, status, .. } => {
                let command: Q::Command = typed(value)?;
                if let (Some(status), Some(Status::Idle)) = (*status, self.standing.status(process)) {
                    self.standing.become_status(at, process, id, Some(status), statistics);
                }
                Ok(self.observe(at, process, &clock, ObservedEvent::Command(&command)))
            }
            Happening::Output { value, status, .. } => {
                let output: Q::Output = typed(value)?;
                if let Some(decision) = Q::decision(&output) {
                    self.decided.insert(process, decision);
                }
                if let Some(status) = *status {
                    self.standing.become_status(at, process, id, Some(status), statistics);
                }
                Ok(self.observe(at, process, &clock, ObservedEvent::Output(&output)))
            }
            _ => Ok(Vec::new()),
        }
    }

    /// Who has recorded nothing before a run was cut off is not down: it was about to begin, and owes what
    /// all owe.
    fn await_those_that_have_not_begun(&mut self, ending: &Ending) {
        for process in (0..self.population.len()).map(|index| Address(index as u32)) {
            if self.heard.contains(&process) || ending.ended == Ended::AtRest {
                continue;
            }
            let (at, id) = (ending.time, self.population.id(process));
            self.standing.become_status(at, process, id, Some(Status::Idle), &mut self.statistics);
            // To begin breaks nothing that could be broken by the others alone.
            let _ = self.observe(at, process, &VectorClock::default(), ObservedEvent::Started);
        }
    }

    /// Something happens that is no start: if all processes are up, all have started.
    fn begin(&mut self, at: u64) -> Vec<(&'static str, Violation)> {
        let is_up = |index: usize| self.standing.status(Address(index as u32)).is_some();
        if self.begun || !(0..self.population.len()).all(is_up) {
            return Vec::new();
        }
        self.begun = true;
        self.monitors.all_started(Duration::from_nanos(at), &self.population)
    }

    fn observe(
        &mut self,
        at: u64,
        process: Address,
        clock: &VectorClock,
        what: ObservedEvent<'_, Q>,
    ) -> Vec<(&'static str, Violation)> {
        let seen = Observation { at: Duration::from_nanos(at), process, clock: Some(clock), what };
        self.monitors.observe(&seen, &self.population)
    }
}

fn typed<T: serde::de::DeserializeOwned>(value: &serde_json::Value) -> Result<T, String> {
    serde_json::from_value(value.clone()).map_err(|why| why.to_string())
}

#[cfg(test)]
mod tests {
    use habemus::ProblemKind;
    use habemus_trace::Header;

    use super::*;

    const ENTER: &str =
        r#"{"event":"output","label":"enters","value":{"Entered":{"token":null}},"status":"inside"}"#;

    /// A trace of the coordinator with the processes 1 and 2, of events written as in a trace file.
    fn trace(events: &[(u64, &str)]) -> Trace {
        let header = Header {
            format: habemus_trace::FORMAT,
            algorithm: "coordinator".to_owned(),
            problem: ProblemKind::MutualExclusion,
            title: None,
            processes: vec![1, 2],
            topology: "complete".to_owned(),
            seed: None,
            origin: None,
            cycle: None,
        };
        let record = |(at, (process, event)): (usize, &(u64, &str))| Record {
            at: at as u64,
            process: Some(*process),
            clock: BTreeMap::new(),
            what: serde_json::from_str(event).expect("an event as in a trace file"),
        };
        Trace { header, records: events.iter().enumerate().map(record).collect() }
    }

    /// Two processes of an algorithm.
    fn request<'a>(algorithm: &'a str, options: &'a BTreeMap<String, String>) -> Request<'a> {
        Request {
            algorithm,
            ids: vec![Id(1), Id(2)],
            shape: None,
            detector: None,
            options,
            pulse: habemus::DEFAULT_PULSE,
            seed: 1,
            signatures: None,
        }
    }

    fn judged(events: &[(u64, &str)], expect: &Expectations) -> Result<Report, JudgeError> {
        let options = BTreeMap::new();
        let request = request("coordinator", &options);
        let ending = Ending { stop: String::new(), ended: Ended::AtRest, time: 9 };
        judge(&request, expect, trace(events), &ending)
    }

    /// Whoever is cut off before it has begun owes what it owes, and is not down.
    #[test]
    fn a_run_that_is_cut_off_before_anybody_has_begun_is_open() {
        let options = BTreeMap::new();
        let request = request("majority", &options);
        let ending = Ending { stop: String::new(), ended: Ended::AtALimit, time: 9 };
        for events in [&[][..], &[(1, START)], &[(1, START), (2, START)]] {
            let expect = Expectations::default();
            let report = judge(&request, &expect, trace(events), &ending).expect("it is of this system");
            let open = |label| report.open.iter().any(|open| open.starts_with(label));
            assert!(["E2", "termination", "agreement"].into_iter().all(open), "{:?}", report.open);
            assert_eq!((report.failures.len(), report.down.len()), (0, 0), "{:?}", report.failures);
        }
    }

    const START: &str = r#"{"event":"start","recovered":false}"#;

    #[test]
    fn two_that_are_inside_break_the_promise_and_the_trace_says_where() {
        let report =
            judged(&[(1, START), (2, START), (1, ENTER), (2, ENTER)], &Expectations::default()).unwrap();
        assert!(
            report.failures.iter().any(|failure| failure.contains("EM1 is promised")),
            "{:?}",
            report.failures
        );
        assert_eq!((report.entered, report.statistics.entries), (vec![1, 2], 2));
        let last = report.trace.unwrap().records.pop().unwrap();
        assert!(matches!(last.what, Happening::Violation { .. }) && last.at == 3, "{last:?}");
    }

    #[test]
    fn messages_and_the_longest_chain_are_counted() {
        let send = r#"{"event":"send","message":0,"to":2,"kind":"Request","label":"Request"}"#;
        let deliver = r#"{"event":"deliver","message":0,"from":1,"kind":"Request","label":"Request"}"#;
        let answer = r#"{"event":"send","message":0,"to":1,"kind":"Grant","label":"Grant"}"#;
        let answered = r#"{"event":"deliver","message":0,"from":2,"kind":"Grant","label":"Grant"}"#;
        let events = [(1, START), (2, START), (1, send), (2, deliver), (2, answer), (1, answered)];
        let report = judged(&events, &Expectations::default()).unwrap();
        assert_eq!((report.statistics.messages, report.statistics.longest_chain), (2, 2));
        assert_eq!(report.failures, Vec::<String>::new());
    }

    #[test]
    fn a_trace_of_another_system_is_refused() {
        let strange = judged(&[(7, START)], &Expectations::default()).unwrap_err();
        assert!(matches!(strange, JudgeError::Foreign { record: 1, .. }), "{strange}");
        let garbled = r#"{"event":"output","label":"leads","value":{"Leads":{"term":0}}}"#;
        assert!(matches!(judged(&[(1, garbled)], &Expectations::default()), Err(JudgeError::Foreign { .. })));
        let unknown = Expectations { holds: vec!["EM9".to_owned()], ..Expectations::default() };
        assert!(matches!(
            judged(&[(1, START)], &unknown),
            Err(JudgeError::Run(RunError::UnknownProperty(_)))
        ));
    }
}
