//! The monitors of a problem over one run.

use std::time::Duration;

use habemus::Problem;
use habemus::catalogue::Claim;
use habemus::property::{End, Monitor, Observation, Population, Verdict, Violation};

use crate::property_line::PropertyLine;

/// The monitors of a problem, and what broke each.
#[derive(Clone, Debug)]
pub struct Monitors<Q: Problem>(Vec<(Q::Monitor, Option<Violation>)>);

impl<Q: Problem> Monitors<Q> {
    /// Those of the problem, before anything has happened.
    pub fn new(population: &Population) -> Self {
        Monitors(Q::monitors(population).into_iter().map(|monitor| (monitor, None)).collect())
    }

    /// None at all, where nothing is to be judged.
    pub fn none() -> Self {
        Monitors(Vec::new())
    }

    /// Shows them what happened; gives the names of the properties that it breaks, and how. What is broken
    /// stays so and need not be watched any more.
    pub fn observe(
        &mut self,
        seen: &Observation<'_, Q>,
        population: &Population,
    ) -> Vec<(&'static str, Violation)> {
        self.show(|monitor| monitor.observe(seen, population))
    }

    /// Tells them that all processes have started; gives what that breaks, as [`observe`](Self::observe)
    /// does.
    pub fn all_started(&mut self, at: Duration, population: &Population) -> Vec<(&'static str, Violation)> {
        self.show(|monitor| monitor.all_started(at, population))
    }

    fn show(
        &mut self,
        show: impl Fn(&mut Q::Monitor) -> Result<(), Violation>,
    ) -> Vec<(&'static str, Violation)> {
        let mut broken = Vec::new();
        for (monitor, violation) in self.0.iter_mut().filter(|(_, violation)| violation.is_none()) {
            if let Err(found) = show(monitor) {
                broken.push((monitor.name(), found.clone()));
                *violation = Some(found);
            }
        }
        broken
    }

    /// What became of each property, if the run ends like this; `claim` says what the algorithm claims of it.
    pub fn lines(
        &self,
        end: End,
        population: &Population,
        claim: &dyn Fn(&str) -> Claim,
    ) -> Vec<PropertyLine> {
        let line = |(monitor, violation): &(Q::Monitor, Option<Violation>)| {
            let verdict = match violation {
                Some(violation) => Verdict::Violated(violation.clone()),
                None => monitor.at_end(end, population),
            };
            PropertyLine::new(monitor.name(), monitor.demand(), verdict, claim(monitor.name()))
        };
        self.0.iter().map(line).collect()
    }

    /// How many writes of holders of the past the protected resource has refused.
    pub fn refused_writes(&self) -> u64 {
        self.0.iter().map(|(monitor, _)| monitor.refused_writes()).sum()
    }
}
