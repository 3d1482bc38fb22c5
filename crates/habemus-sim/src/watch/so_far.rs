//! What is known of a run that goes on.

use habemus::Problem;
use habemus::catalogue::Claim;
use habemus::property::End;
use habemus_report::{PropertyLine, Statistics};
use habemus_trace::{Header, Record};

use super::{Stamp, Watch};

impl<Q: Problem> Watch<Q> {
    pub(crate) fn statistics_so_far(&self) -> Statistics {
        let mut statistics = self.statistics.clone();
        self.messages.fill_in(&mut statistics);
        (statistics.min_entries, statistics.max_entries) = self.standing.min_and_max_entries();
        statistics
    }

    pub(crate) fn properties_so_far(&self, end: End, claim: &dyn Fn(&str) -> Claim) -> Vec<PropertyLine> {
        self.monitors.lines(end, &self.population, claim)
    }

    pub(crate) fn fingerprint(&self) -> u64 {
        self.digest.value()
    }

    pub(crate) fn take_records(&mut self) -> Vec<Record> {
        self.writer.drain().collect()
    }

    pub(crate) fn header(&self) -> Option<&Header> {
        self.header.as_ref()
    }
}

impl Stamp {
    /// The number of the message.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }
}
