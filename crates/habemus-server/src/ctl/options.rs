//! Options that all tasks share.

use std::time::Duration;

use clap::Args;
use habemus_client::Client;

use crate::codes::Failed;

/// Where the service is.
#[derive(Args, Clone)]
pub(crate) struct ServiceOptions {
    /// The members of the service, or of etcd
    #[arg(long, env = "HABEMUS_ENDPOINTS", value_delimiter = ',', value_name = "ADDRESS,…")]
    #[arg(default_value = "127.0.0.1:2379")]
    pub(crate) endpoints: Vec<String>,
}

impl ServiceOptions {
    pub(crate) fn connect(&self) -> Result<Client, Failed> {
        self.connect_to(&self.endpoints)
    }

    /// The way to some of the members.
    pub(crate) fn connect_to(&self, endpoints: &[String]) -> Result<Client, Failed> {
        Ok(Client::connect(endpoints)?)
    }
}

/// A duration with its unit: 500ms, 2s, 5m, 1h.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let number: u64 =
        number.parse().map_err(|_| "write a number and a unit: 500ms, 2s, 5m, 1h".to_owned())?;
    let scale = match unit {
        "ms" => return Ok(Duration::from_millis(number)),
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        _ => return Err(format!("`{unit}` is no unit: write 500ms, 2s, 5m or 1h")),
    };
    number.checked_mul(scale).map(Duration::from_secs).ok_or_else(|| "that is too long".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_units() {
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(duration("2h"), Ok(Duration::from_secs(7200)));
        for wrong in ["", "5", "s", "5 s", "99999999999999999999s", "18446744073709551615h"] {
            assert!(duration(wrong).is_err(), "{wrong:?}");
        }
    }
}
