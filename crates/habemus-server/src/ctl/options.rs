//! Options that all tasks share.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use habemus_client::{Client, ClientError, Credentials};
use tokio::process::Command;

use crate::codes::{self, Failed};

/// Where the service is.
#[derive(Args, Clone)]
pub(crate) struct ServiceOptions {
    /// The members of the service, or of etcd
    #[arg(long, env = "HABEMUS_ENDPOINTS", value_delimiter = ',', value_name = "ADDRESS,…")]
    #[arg(default_value = "127.0.0.1:2379")]
    pub(crate) endpoints: Vec<String>,
    /// Who signs the members' certificates; with it connections have TLS
    #[arg(long, env = "HABEMUS_CACERT", value_name = "FILE")]
    cacert: Option<PathBuf>,
    /// The certificate that is shown to them
    #[arg(long, env = "HABEMUS_CERT", value_name = "FILE", requires = "key", requires = "cacert")]
    cert: Option<PathBuf>,
    /// The key of that certificate
    #[arg(long, env = "HABEMUS_KEY", value_name = "FILE", requires = "cert")]
    key: Option<PathBuf>,
    /// As which user, with which password; better in the environment, where others do not see it
    #[arg(long, env = "HABEMUS_USER", value_name = "NAME:PASSWORD", hide_env_values = true)]
    user: Option<String>,
}

impl ServiceOptions {
    pub(crate) fn connect(&self) -> Result<Client, Failed> {
        self.connect_to(&self.endpoints)
    }

    /// The way to the first of some members that answers, for calls that have no name in the client and
    /// cannot be tried again like those that have one.
    pub(crate) async fn connected(&self, endpoints: &[String]) -> Result<Client, Failed> {
        let mut last = ClientError::NoAddress;
        for endpoint in endpoints {
            let client = self.connect_to(std::slice::from_ref(endpoint))?;
            match client.status().await {
                Ok(_) => return Ok(client),
                Err(error) => last = error,
            }
        }
        Err(last.into())
    }

    /// The way to some of the members.
    pub(crate) fn connect_to(&self, endpoints: &[String]) -> Result<Client, Failed> {
        Ok(Client::connect_as(endpoints, &self.credentials()?)?)
    }

    fn credentials(&self) -> Result<Credentials, Failed> {
        let mut credentials = Credentials::default();
        if let Some(authority) = &self.cacert {
            credentials = credentials.trusting(read(authority)?);
        }
        if let (Some(certificate), Some(key)) = (&self.cert, &self.key) {
            credentials = credentials.showing(read(certificate)?, read(key)?);
        }
        if let Some(user) = &self.user {
            let (name, password) = user.split_once(':').ok_or_else(|| Failed {
                code: codes::UNREACHABLE,
                why: "--user: write NAME:PASSWORD".to_owned(),
            })?;
            credentials = credentials.being(name, password);
        }
        Ok(credentials)
    }

    /// Lets another habemusctl find the same service. Nothing of it is seen in a list of processes.
    pub(crate) fn pass_on(&self, command: &mut Command) {
        command.env("HABEMUS_ENDPOINTS", self.endpoints.join(","));
        let files =
            [("HABEMUS_CACERT", &self.cacert), ("HABEMUS_CERT", &self.cert), ("HABEMUS_KEY", &self.key)];
        command.envs(files.into_iter().filter_map(|(name, file)| Some((name, file.as_ref()?))));
        command.envs(self.user.iter().map(|user| ("HABEMUS_USER", user)));
    }
}

fn read(path: &Path) -> Result<Vec<u8>, Failed> {
    let tell = |error| Failed { code: codes::UNREACHABLE, why: format!("{}: {error}", path.display()) };
    std::fs::read(path).map_err(tell)
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
