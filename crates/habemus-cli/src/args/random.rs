//! The flags that say what goes wrong at random.

use clap::Args;
use habemus_scenario::{RandomFaults, Scenario, units};

use super::flag;
use crate::error::CliError;

/// What goes wrong at random.
#[derive(Args, Debug, Clone)]
pub(crate) struct RandomFlags {
    /// Random crashes, over all processes: 2/s.
    #[arg(long, value_name = "RATE", help_heading = "Random faults")]
    crash_rate: Option<String>,
    /// How long a crashed process stays down [default: 50ms..200ms]; never: for ever.
    #[arg(long, value_name = "TIME", help_heading = "Random faults")]
    recover_after: Option<String>,
    /// Recovering processes have forgotten what they had stored.
    #[arg(long, help_heading = "Random faults")]
    amnesia: bool,
    /// How many processes may be down at once [default: a minority].
    #[arg(long, value_name = "N", help_heading = "Random faults")]
    max_down: Option<usize>,
    /// Random pauses, over all processes: 2/s.
    #[arg(long, value_name = "RATE", help_heading = "Random faults")]
    pause_rate: Option<String>,
    /// How long a pause lasts [default: 10ms..200ms].
    #[arg(long, value_name = "TIME", help_heading = "Random faults")]
    pause_for: Option<String>,
    /// Random cuts of links and partitions: 2/s.
    #[arg(long, value_name = "RATE", help_heading = "Random faults")]
    cut_rate: Option<String>,
    /// How long a cut lasts [default: 10ms..200ms].
    #[arg(long, value_name = "TIME", help_heading = "Random faults")]
    cut_for: Option<String>,
    /// Random partitions in two, one after the other: 1/s.
    #[arg(long, value_name = "RATE", help_heading = "Random faults")]
    partition_rate: Option<String>,
    /// How long a partition lasts [default: 10ms..200ms].
    #[arg(long, value_name = "TIME", help_heading = "Random faults")]
    partition_for: Option<String>,
    /// Random changes of the rate of a clock, by a tenth at most: 2/s.
    #[arg(long, value_name = "RATE", help_heading = "Random faults")]
    drift_rate: Option<String>,
    /// Random false suspicions of the oracle detector: 2/s.
    #[arg(long, value_name = "RATE", help_heading = "Random faults")]
    suspicion_rate: Option<String>,
    /// When the random faults end and all is well again [default: 2s].
    #[arg(long, value_name = "TIME", help_heading = "Random faults")]
    faults_until: Option<String>,
}

impl RandomFlags {
    /// Whether it says when the faults end.
    pub(crate) fn ends(&self) -> bool {
        self.faults_until.is_some()
    }

    /// Changes the random faults of a scenario.
    pub(crate) fn apply(&self, scenario: &mut Scenario) -> Result<(), CliError> {
        let rate = |name: &str, text: &Option<String>| match text {
            Some(text) => units::parse_rate(text).map(Some).map_err(|e| flag(name, &e)),
            None => Ok(None),
        };
        let range = |name: &str, text: &Option<String>| match text {
            Some(text) => units::parse_range(text).map(Some).map_err(|e| flag(name, &e)),
            None => Ok(None),
        };
        let crashes = rate("crash-rate", &self.crash_rate)?;
        let pauses = rate("pause-rate", &self.pause_rate)?;
        let cuts = rate("cut-rate", &self.cut_rate)?;
        let partitions = rate("partition-rate", &self.partition_rate)?;
        let drifts = rate("drift-rate", &self.drift_rate)?;
        let suspicions = rate("suspicion-rate", &self.suspicion_rate)?;
        let given = [crashes, pauses, cuts, partitions, drifts, suspicions].iter().any(Option::is_some);
        if !given && scenario.random.is_none() {
            return Ok(());
        }
        let usual = RandomFaults::usual(scenario.ids.len());
        let random = scenario.random.get_or_insert(usual);
        random.crashes = crashes.unwrap_or(random.crashes);
        random.pauses = pauses.unwrap_or(random.pauses);
        random.cuts = cuts.unwrap_or(random.cuts);
        random.partitions = partitions.unwrap_or(random.partitions);
        random.drifts = drifts.unwrap_or(random.drifts);
        random.suspicions = suspicions.unwrap_or(random.suspicions);
        random.amnesia |= self.amnesia;
        random.max_down = self.max_down.unwrap_or(random.max_down);
        if self.recover_after.as_deref() == Some("never") {
            random.recover_after = None;
        } else if let Some(after) = range("recover-after", &self.recover_after)? {
            random.recover_after = Some(after);
        }
        random.pause_for = range("pause-for", &self.pause_for)?.unwrap_or(random.pause_for);
        random.cut_for = range("cut-for", &self.cut_for)?.unwrap_or(random.cut_for);
        random.partition_for = range("partition-for", &self.partition_for)?.unwrap_or(random.partition_for);
        if let Some(until) = &self.faults_until {
            random.until = units::parse_duration(until).map_err(|e| flag("faults-until", &e))?;
        }
        Ok(())
    }
}
