//! From the end of a run to its report.

use std::collections::BTreeMap;

use habemus::catalogue::Entry;
use habemus::property::{End, Population};
use habemus::{Address, Status};
use habemus_scenario::Expectations;
use habemus_trace::Trace;

use crate::error::UnknownProperty;
use crate::property_line::PropertyLine;
use crate::report::Report;
use crate::standing::Standing;
use crate::statistics::Statistics;

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ending {
    /// Why, in words.
    pub stop: String,
    /// What that means for what has not happened yet.
    pub ended: Ended,
    /// How long it took, in nanoseconds.
    pub time: u64,
}

/// What the end of a run means for what has not happened yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It came to rest by itself: it never will.
    AtRest,
    /// It goes round in a cycle for ever: it never will.
    InACycle,
    /// The end that was asked for had come: a time, a number of events, agreement. It might still.
    AsAsked,
    /// A limit of time or of events cut it off. It might still.
    AtALimit,
    /// The time was over within which it was expected: whether it might still, nobody asks.
    AtTheDeadline,
    /// Somebody stopped it. It might still.
    Interrupted,
}

impl Ending {
    /// As monitors see it.
    pub fn end(&self) -> End {
        match self.ended {
            Ended::AtRest | Ended::InACycle => End::Quiet,
            _ => End::CutOff,
        }
    }
}

/// All that a driver knows when a run is over.
#[derive(Debug)]
pub struct Finished<'a> {
    /// The algorithm.
    pub entry: &'static Entry,
    /// Who took part.
    pub population: &'a Population,
    /// What repeats it, or was to.
    pub seed: u64,
    /// How it ended.
    pub ending: &'a Ending,
    /// What each process is in the end.
    pub standing: &'a Standing,
    /// What the processes that are up have decided.
    pub decided: BTreeMap<Address, String>,
    /// What was counted on the way; what the end, the standing and the monitors know is filled in.
    pub statistics: Statistics,
    /// Writes of holders of the past that the protected resource refused.
    pub refused_writes: u64,
    /// What became of each property.
    pub properties: Vec<PropertyLine>,
    /// What the reader should know.
    pub remarks: Vec<String>,
    /// The fingerprint of everything that happened, or why there is none.
    pub fingerprint: String,
    /// The trace, if one was kept.
    pub trace: Option<Trace>,
}

impl Finished<'_> {
    /// The report, held against what was expected.
    ///
    /// # Errors
    /// If a property is expected that the problem does not have.
    pub fn report(self, expect: &Expectations) -> Result<Report, UnknownProperty> {
        let (population, standing) = (self.population, self.standing);
        let id = |address: Address| population.id(address).0;
        let ids_where = |is_meant: &dyn Fn(Option<Status>) -> bool| {
            let addresses = (0..population.len() as u32).map(Address);
            addresses.filter(|address| is_meant(standing.status(*address))).map(id).collect()
        };
        let (min_entries, max_entries) = standing.min_and_max_entries();
        let statistics = Statistics {
            time: self.ending.time,
            min_entries,
            max_entries,
            refused_writes: self.refused_writes,
            ..self.statistics
        };
        let mut report = Report {
            algorithm: self.entry.name.to_owned(),
            problem: self.entry.problem,
            processes: population.len(),
            seed: self.seed,
            stop: self.ending.stop.clone(),
            quiet: self.ending.ended == Ended::AtRest,
            complete: !matches!(self.ending.ended, Ended::AtALimit | Ended::Interrupted),
            ended: self.ending.ended,
            leader: standing.agreed_leader(population).map(|leader| leader.0),
            leaders: ids_where(&|status| status == Some(Status::Leading)),
            down: ids_where(&|status| status.is_none()),
            entered: standing.entered().iter().map(|address| id(*address)).collect(),
            decided: self.decided.into_iter().map(|(address, decision)| (id(address), decision)).collect(),
            statistics,
            properties: self.properties,
            expected_something: *expect != Expectations::default(),
            failures: Vec::new(),
            open: Vec::new(),
            unmet: Vec::new(),
            remarks: self.remarks,
            locks: BTreeMap::new(),
            fingerprint: self.fingerprint,
            trace: self.trace,
        };
        report.know_properties(expect)?;
        report.hold_against(expect);
        Ok(report)
    }
}
