//! Any algorithm on any failure detector, and any one-shot election as a service.

use std::sync::Arc;

use super::{Chosen, Fault, Options, Request, Setup, SetupError, elections, shape};
use crate::detector::any::{AnyDetector, Choice};
use crate::detector::{Layers, Stacked};
use crate::election::any::AnyElection;
use crate::election::recurring::Recurring;
use crate::election::{self, Election};
use crate::topology::Complete;
use crate::{Id, Process, System};

/// The detectors of an entry whose algorithm listens to suspicions, as [`on_detector`] knows them.
pub(super) const DETECTORS: &[&str] = &["oracle", "heartbeat", "eventually-perfect", "phi-accrual", "none"];

/// Puts an algorithm on the detector that was asked for, or on its entry's first.
///
/// `setup` is the algorithm alone, without an oracle.
///
/// # Errors
/// If the algorithm cannot stand on that detector, or if an option of the detector makes no sense.
pub(super) fn on_detector<A: Process>(
    setup: Setup<A>,
    request: &Request<'_>,
    options: &Options<'_>,
) -> Result<Chosen, SetupError>
where
    Chosen: From<Setup<A>> + From<Setup<Stacked<AnyDetector, A>>>,
{
    let detector = shape::detector_for(setup.entry, request)?;
    let mut setup = Setup { detector, ..setup };
    setup.contract.model = setup.entry.on_detector(setup.contract.model, detector);
    if detector == "heartbeat" {
        let heartbeat = options.heartbeat()?;
        setup.contract.limit_latency(heartbeat.timeout.saturating_sub(heartbeat.interval));
    }
    match choice(detector, &setup.system.ids, options)? {
        Some(Choice::Oracle) => {
            let oracle = Some(options.detection_delay()?);
            Ok(Setup { oracle, ..setup }.into())
        }
        Some(choice) => Ok(stacked(setup, choice)?.into()),
        None => Ok(setup.into()),
    }
}

/// An election on the detector that was asked for, as [`on_detector`]. Elections that share their process
/// with a detector are all of one type, so that drivers are compiled once for them.
///
/// # Errors
/// As [`on_detector`].
pub(super) fn election_on_detector<A: Process<Problem = Election>>(
    setup: Setup<A>,
    request: &Request<'_>,
    options: &Options<'_>,
) -> Result<Chosen, SetupError>
where
    Chosen: From<Setup<A>>,
{
    match shape::detector_for(setup.entry, request)? {
        detector @ "oracle" => {
            let oracle = Some(options.detection_delay()?);
            Ok(Setup { oracle, detector, ..setup }.into())
        }
        detector @ "none" => {
            let mut setup = setup;
            setup.contract.model = setup.entry.on_detector(setup.contract.model, detector);
            Ok(setup.into())
        }
        _ => on_detector::<AnyElection>(any_election(setup)?, request, options),
    }
}

/// The same election as one of the type of all.
fn any_election<A: Process<Problem = Election>>(setup: Setup<A>) -> Result<Setup<AnyElection>, SetupError> {
    let (ids, pulse) = (setup.system.ids.clone(), setup.system.pulse);
    let choice =
        election::any::Choice::of(setup.system.clone()).expect("every election that listens is one of them");
    let system = System { pulse, ..System::new(Complete::new(ids.len()), ids, choice)? };
    Ok(setup.with_system(system))
}

/// The detector of this name over everybody; `None` if nothing of that name detects anything.
pub(super) fn choice(
    name: &str,
    ids: &Arc<[Id]>,
    options: &Options<'_>,
) -> Result<Option<Choice>, SetupError> {
    let (ids, network) = (Arc::clone(ids), Complete::new(ids.len()));
    Ok(Some(match name {
        "oracle" => Choice::Oracle,
        "heartbeat" => Choice::Heartbeat(System::new(network, ids, options.heartbeat()?)?),
        "eventually-perfect" => {
            Choice::EventuallyPerfect(System::new(network, ids, options.eventually_perfect()?)?)
        }
        "phi-accrual" => Choice::PhiAccrual(System::new(network, ids, options.phi_accrual()?)?),
        _ => return Ok(None),
    }))
}

/// The detectors of an entry whose algorithm elects once, and again and again on a detector.
pub(super) const ONE_SHOT_DETECTORS: &[&str] =
    &["none", "oracle", "heartbeat", "eventually-perfect", "phi-accrual"];

/// A one-shot election as it is, if no detector is asked for; on a detector it is held again and again, over
/// `network`, in which processes reach each other past those that are dead.
///
/// # Errors
/// As [`on_detector`].
pub(super) fn one_shot<A: Process<Problem = Election>>(
    setup: Setup<A>,
    network: A::Topology,
    request: &Request<'_>,
    options: &Options<'_>,
) -> Result<Chosen, SetupError>
where
    Chosen: From<Setup<A>>,
{
    if shape::detector_for(setup.entry, request)? == "none" {
        return Ok(setup.into());
    }
    let election = System { topology: network.clone(), ..setup.system.clone() };
    let (ids, pulse) = (election.ids.clone(), election.pulse);
    let system: System<Recurring<A>> = System { pulse, ..System::new(network, ids, election)? };
    let mut service = Setup { service: true, ..setup.with_system(system) };
    // Who elects again whenever somebody comes or goes promises neither that a leader stays nor that the old
    // one knows at once.
    service.contract = service.contract.without(&["uniqueness", "stability"]).except(
        "E1",
        &[Fault::Partition],
        elections::SIDES,
    );
    on_detector::<AnyElection>(any_election(service)?.term_invariant(), request, options)
}

/// Detectors reach everybody, whatever logical network the algorithm sees.
fn stacked<A: Process>(
    setup: Setup<A>,
    choice: Choice,
) -> Result<Setup<Stacked<AnyDetector, A>>, SetupError> {
    let algorithm = setup.system.clone();
    let network = Complete::new(algorithm.len());
    let (ids, pulse) = (algorithm.ids.clone(), algorithm.pulse);
    let detector: System<AnyDetector> = System::new(network.clone(), ids.clone(), choice)?;
    let layers = Layers { detector, algorithm };
    let system: System<Stacked<AnyDetector, A>> = System { pulse, ..System::new(network, ids, layers)? };
    // Heartbeats never end, whatever the algorithm does.
    Ok(Setup { oracle: None, perpetual: true, ..setup.with_system(system) })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::DEFAULT_PULSE;
    use crate::catalogue::{Visitor, build};

    /// What there is to say of a system without running it.
    struct Describe;

    impl Visitor for Describe {
        type Result = (bool, bool);

        fn visit<P: Process>(self, setup: Setup<P>) -> Self::Result {
            (setup.oracle.is_some(), setup.perpetual)
        }
    }

    fn describe(
        detector: Option<&str>,
        options: &BTreeMap<String, String>,
    ) -> Result<(bool, bool), SetupError> {
        let ids = vec![Id(1), Id(2), Id(3)];
        let request = Request {
            algorithm: "bully",
            ids,
            shape: None,
            detector,
            options,
            pulse: DEFAULT_PULSE,
            seed: 1,
            signatures: None,
        };
        build(&request)?.accept(Describe)
    }

    #[test]
    fn an_algorithm_stands_on_every_detector() {
        let none = BTreeMap::new();
        let (oracle, perpetual) = (true, true);
        assert_eq!(describe(None, &none), Ok((oracle, !perpetual)));
        assert_eq!(describe(Some("oracle"), &none), Ok((oracle, !perpetual)));
        assert_eq!(describe(Some("heartbeat"), &none), Ok((!oracle, perpetual)));
        assert_eq!(describe(Some("eventually-perfect"), &none), Ok((!oracle, perpetual)));
        assert_eq!(describe(Some("phi-accrual"), &none), Ok((!oracle, perpetual)));
        assert_eq!(describe(Some("none"), &none), Ok((!oracle, !perpetual)));
        let error = describe(Some("crystal-ball"), &none).unwrap_err();
        assert!(error.to_string().contains("phi-accrual"), "{error}");
    }

    #[test]
    fn senseless_parameters_of_a_detector_are_refused() {
        for (detector, option, value) in [
            ("heartbeat", "heartbeat-interval", "0ms"),
            ("heartbeat", "heartbeat-timeout", "soon"),
            ("eventually-perfect", "initial-timeout", "0ms"),
            ("eventually-perfect", "timeout-increment", "-1ms"),
            ("phi-accrual", "phi-threshold", "0"),
            ("phi-accrual", "phi-window", "1"),
            ("phi-accrual", "phi-min-deviation", "5"),
        ] {
            let options = BTreeMap::from([(option.to_owned(), value.to_owned())]);
            let refused = matches!(
                describe(Some(detector), &options),
                Err(SetupError::Value { option: named, .. }) if named == option
            );
            assert!(refused, "{option} = {value}");
        }
    }
}
