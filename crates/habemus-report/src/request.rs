//! What a scenario asks of the catalogue.

use std::time::Duration;

use habemus::catalogue::{Request, Shape};
use habemus::signatures::Scheme;
use habemus::{Address, Id};
use habemus_scenario::{Scenario, TimeModel, TopologyChoice};

use crate::error::{CueError, RunError};

/// What a scenario asks of the catalogue.
///
/// # Errors
/// If a link leads to a process that is not there.
pub fn request(scenario: &Scenario) -> Result<Request<'_>, RunError> {
    let shape = match &scenario.topology {
        None => None,
        Some(TopologyChoice::Named(name)) => Some(Shape::Named(name.clone())),
        Some(TopologyChoice::Links(links)) => Some(Shape::Links(addressed(links, scenario)?)),
    };
    Ok(Request {
        algorithm: &scenario.algorithm,
        ids: scenario.ids.iter().copied().map(Id).collect(),
        shape,
        detector: scenario.detector.as_deref(),
        options: &scenario.options,
        pulse: pulse(scenario.network.model),
        seed: scenario.seed,
        signatures: Some(Scheme::Made(habemus_signatures::ed25519)),
    })
}

/// The addresses at the ends of links between identifiers.
fn addressed(links: &[(u64, u64)], scenario: &Scenario) -> Result<Vec<(u32, u32)>, CueError> {
    let address = |id: u64| {
        let unknown = || CueError::UnknownProcess { id, known: scenario.ids.clone() };
        address_of(scenario, id).map(|address| address.0).ok_or_else(unknown)
    };
    links.iter().map(|(one, other)| Ok((address(*one)?, address(*other)?))).collect()
}

/// The address of the process with this identifier, if there is one.
pub fn address_of(scenario: &Scenario, id: u64) -> Option<Address> {
    let index = scenario.ids.iter().position(|other| *other == id)?;
    Some(Address(index as u32))
}

/// The length of a pulse on a network that promises this about time.
pub fn pulse(model: TimeModel) -> Duration {
    match model {
        TimeModel::Synchronous { pulse } => pulse,
        _ => habemus::DEFAULT_PULSE,
    }
}
