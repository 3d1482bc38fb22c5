//! Where the processes of a trace come from.

use std::collections::BTreeMap;
use std::time::Duration;

use habemus::catalogue::{Request, Shape};
use habemus::signatures::Scheme;
use habemus::{DEFAULT_PULSE, Id};
use serde::{Deserialize, Serialize};

use crate::trace::Header;

/// What the catalogue was asked for beside algorithm and identifiers: with it, the same processes can be made
/// again and the run repeated.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// Options of the algorithm and of its detector.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub options: BTreeMap<String, String>,
    /// The topology by name, if not the algorithm's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topology: Option<String>,
    /// The links themselves, between places counted from 0, if they have no name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<(u32, u32)>,
    /// The detector, if not the algorithm's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detector: Option<String>,
    /// The length of a pulse in nanoseconds, if not the usual one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pulse: Option<u64>,
    /// What drew the topology and the keys of signatures, where they are drawn.
    pub seed: u64,
}

impl Origin {
    /// What this request asks for.
    pub fn of(request: &Request<'_>) -> Self {
        let (topology, links) = match &request.shape {
            None => (None, Vec::new()),
            Some(Shape::Named(name)) => (Some(name.clone()), Vec::new()),
            Some(Shape::Links(links)) => (None, links.clone()),
        };
        let pulse = u64::try_from(request.pulse.as_nanos()).ok();
        Origin {
            options: request.options.clone(),
            topology,
            links,
            detector: request.detector.map(str::to_owned),
            pulse: pulse.filter(|_| request.pulse != DEFAULT_PULSE),
            seed: request.seed,
        }
    }

    /// The request that makes the processes of this trace again.
    pub fn request<'a>(&'a self, header: &'a Header, signatures: Option<Scheme>) -> Request<'a> {
        let links = (!self.links.is_empty()).then(|| Shape::Links(self.links.clone()));
        Request {
            algorithm: &header.algorithm,
            ids: header.processes.iter().copied().map(Id).collect(),
            shape: self.topology.clone().map(Shape::Named).or(links),
            detector: self.detector.as_deref(),
            options: &self.options,
            pulse: self.pulse.map_or(DEFAULT_PULSE, Duration::from_nanos),
            seed: self.seed,
            signatures,
        }
    }
}
