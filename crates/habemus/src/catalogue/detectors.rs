//! Failure detectors by name, without any algorithm on top: to be watched themselves.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::{Options, Request, SetupError, stack};
use crate::detector::any::AnyDetector;
use crate::topology::Complete;
use crate::{DEFAULT_PULSE, Id, System};

/// Every failure detector.
pub const DETECTORS: &[&str] = &["oracle", "heartbeat", "eventually-perfect", "phi-accrual"];

/// A detector at every process, ready to be driven.
#[derive(Clone, Debug)]
pub struct DetectorSetup {
    /// The processes, each of which can reach every other.
    pub system: System<AnyDetector>,
    /// How long after a crash or recovery the driver must speak as the oracle; `None`: never.
    pub oracle: Option<Duration>,
}

/// The detector called `name` among the processes `ids`. An option may belong to another detector: options
/// that are given for several at once need not fit each.
///
/// # Errors
/// If there is no such detector or option, or a value makes no sense.
pub fn detector(
    name: &str,
    ids: &[Id],
    options: &BTreeMap<String, String>,
) -> Result<DetectorSetup, SetupError> {
    let request = Request {
        algorithm: "",
        ids: ids.to_vec(),
        shape: None,
        detector: Some(name),
        options,
        pulse: DEFAULT_PULSE,
        seed: 0,
        signatures: None,
    };
    let options = Options::of_detectors(DETECTORS, &request)?;
    let ids: Arc<[Id]> = ids.into();
    let choice = stack::choice(name, &ids, &options)?.ok_or_else(|| SetupError::Unknown {
        what: "detector",
        name: name.to_owned(),
        known: DETECTORS.iter().map(|&name| name.to_owned()).collect(),
    })?;
    let oracle = if name == "oracle" { Some(options.detection_delay()?) } else { None };
    Ok(DetectorSetup { system: System::new(Complete::new(ids.len()), ids, choice)?, oracle })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids() -> Vec<Id> {
        (1..=3).map(Id).collect()
    }

    #[test]
    fn every_detector_can_be_had_and_only_the_oracle_needs_the_driver_to_speak() {
        for name in DETECTORS {
            let setup = detector(name, &ids(), &BTreeMap::new()).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(setup.oracle.is_some(), *name == "oracle");
        }
    }

    #[test]
    fn what_no_detector_knows_is_refused() {
        let with = |name: &str, option: &str, value: &str| {
            let options = BTreeMap::from([(option.to_owned(), value.to_owned())]);
            detector(name, &ids(), &options).map(|_| ()).map_err(|error| error.to_string())
        };
        // It belongs to another, but it exists.
        assert_eq!(with("oracle", "phi-threshold", "5"), Ok(()));
        assert!(with("oracle", "phi", "5").is_err_and(|error| error.contains("no option 'phi'")));
        assert!(
            with("phi-accrual", "phi-threshold", "0").is_err_and(|error| error.contains("from 1 to 100"))
        );
        assert!(detector("psychic", &ids(), &BTreeMap::new()).is_err());
        assert!(detector("oracle", &[], &BTreeMap::new()).is_err());
        assert!(detector("heartbeat", &[Id(1), Id(1)], &BTreeMap::new()).is_err());
    }
}
