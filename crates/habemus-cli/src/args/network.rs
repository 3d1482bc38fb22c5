//! The flags that describe the network.

use std::time::Duration;

use clap::Args;
use habemus_scenario::{Scenario, TimeModel, units};

use super::flag;
use crate::error::CliError;

/// The network.
#[derive(Args, Debug, Clone)]
pub(crate) struct NetworkFlags {
    /// What is promised about time: asynchronous, synchronous, partially-synchronous; or scripted: nothing
    /// happens but what the script calls.
    #[arg(long, value_name = "MODEL", help_heading = "Network")]
    model: Option<String>,
    /// The pulse of a synchronous network [default: 10ms].
    #[arg(long, value_name = "TIME", help_heading = "Network")]
    pulse: Option<String>,
    /// The Global Stabilization Time of a partially synchronous network [default: 1s].
    #[arg(long, value_name = "TIME", help_heading = "Network")]
    gst: Option<String>,
    /// The bound on latency after it [default: 10ms].
    #[arg(long, value_name = "TIME", help_heading = "Network")]
    delta: Option<String>,
    /// 5ms, 1ms..10ms, "exponential 5ms" or "log-normal 5ms 0.8" [default: 1ms..10ms].
    #[arg(long, value_name = "TIME", help_heading = "Network")]
    latency: Option<String>,
    /// Whether messages on a link stay in order: fifo or any [default: fifo].
    #[arg(long, value_name = "ORDER", help_heading = "Network")]
    order: Option<String>,
    /// How many messages are lost: 1%.
    #[arg(long, value_name = "SHARE", help_heading = "Network")]
    loss: Option<String>,
    /// How many messages arrive twice: 1%.
    #[arg(long, value_name = "SHARE", help_heading = "Network")]
    duplication: Option<String>,
}

impl NetworkFlags {
    /// Changes the network of a scenario.
    pub(crate) fn apply(&self, scenario: &mut Scenario) -> Result<(), CliError> {
        let network = &mut scenario.network;
        let time = |name: &str, text: &Option<String>, otherwise: u64| match text {
            Some(text) => units::parse_duration(text).map_err(|e| flag(name, &e)),
            None => Ok(Duration::from_millis(otherwise)),
        };
        let model = match (self.model.as_deref(), &self.pulse, &self.gst, &self.delta) {
            (None, None, None, None) => None,
            (None | Some("synchronous"), Some(_), None, None) => Some("synchronous"),
            (None | Some("partially-synchronous"), None, _, _) => Some("partially-synchronous"),
            (Some(model), None, None, None) => Some(model),
            (Some(model), ..) => {
                return Err(CliError::help(
                    format!("--pulse, --gst and --delta do not fit the model {model}"),
                    "--pulse belongs to synchronous, --gst and --delta to partially-synchronous",
                ));
            }
            _ => return Err(CliError::new("--pulse does not go with --gst or --delta")),
        };
        match model {
            None => {}
            Some("asynchronous") => network.model = TimeModel::Asynchronous,
            Some("scripted") => network.model = TimeModel::Scripted,
            Some("synchronous") => {
                network.model = TimeModel::Synchronous { pulse: time("pulse", &self.pulse, 10)? };
            }
            Some("partially-synchronous") => {
                let (gst, delta) = (time("gst", &self.gst, 1000)?, time("delta", &self.delta, 10)?);
                network.model = TimeModel::PartiallySynchronous { gst, delta };
            }
            Some(other) => {
                let known = ["asynchronous", "synchronous", "partially-synchronous", "scripted"];
                let near = habemus_scenario::nearest(other, known);
                let help = match near {
                    Some(near) => format!("did you mean {near}?"),
                    None => format!("there are: {}", known.join(", ")),
                };
                return Err(CliError::help(format!("there is no network model '{other}'"), help));
            }
        }
        if let Some(latency) = &self.latency {
            network.latency = latency.parse().map_err(|e: units::UnitError| flag("latency", &e))?;
        }
        match self.order.as_deref() {
            None => {}
            Some("fifo") => network.fifo = true,
            Some("any") => network.fifo = false,
            Some(other) => {
                return Err(CliError::new(format!("--order must be fifo or any, not '{other}'")));
            }
        }
        if let Some(loss) = &self.loss {
            network.loss = units::parse_probability(loss).map_err(|e| flag("loss", &e))?;
        }
        if let Some(duplication) = &self.duplication {
            network.duplication =
                units::parse_probability(duplication).map_err(|e| flag("duplication", &e))?;
        }
        Ok(())
    }
}
