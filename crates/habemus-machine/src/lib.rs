//! A process of any type behind one interface that speaks bytes and plain data.
//!
//! The catalogue hands out systems whose type is known only to the compiler. [`build`] wraps one process of
//! such a system in a [`Machine`], and [`erase`] one of a system that is in no catalogue. This is the only
//! part of the driver that is compiled once per algorithm, so it does nothing but translate; transport,
//! timers, storage and records are the same code for all. It is a crate of its own so that whoever works on
//! those does not wait for every algorithm to be compiled again.

use habemus::catalogue::{self, Request, Setup, SetupError, Visitor};
use habemus::{Address, Message, Problem, Process};

mod census;
mod erased;
mod facts;
mod machine;
mod plain;
mod random;
mod sharing;

pub use census::{LARGEST_LONG, LARGEST_SHORT};
use erased::Erased;
pub use facts::Facts;
pub use habemus::mutex::elected::Standing;
pub use machine::Machine;
pub use plain::{Encoded, Garbled, Label, Labels, PlainEffect, PlainStep};
pub use random::Random;
pub use sharing::{shared_memory, sharing};

/// Makes the process at the address `me` in the system that `request` describes. `labels` says whether
/// anybody reads them.
///
/// # Errors
/// If the request makes no sense.
pub fn build(
    request: &Request<'_>,
    me: Address,
    labels: Labels,
) -> Result<(Facts, Box<dyn Machine>), SetupError> {
    catalogue::build(request)?.accept(Erase { me, labels })
}

/// What there is to know of the system that `request` describes.
///
/// # Errors
/// If the request makes no sense.
pub fn facts(request: &Request<'_>) -> Result<Facts, SetupError> {
    build(request, Address(0), Labels::Omitted).map(|(facts, _)| facts)
}

/// Makes the process at the address `me` of a system that need not be in the catalogue.
pub fn erase<P: Process>(setup: Setup<P>, me: Address, labels: Labels) -> (Facts, Box<dyn Machine>) {
    let facts = Facts {
        algorithm: setup.entry.name,
        problem: setup.entry.problem,
        links: setup.contract.model.links(),
        commands: P::Problem::COMMANDS,
        kinds: P::Message::vocabulary(),
        hears_of_suspicions: !setup.entry.detectors.is_empty(),
        population: setup.population,
        topology: setup.topology,
        synchronous: setup.synchronous,
        oracle: setup.oracle,
        longest_lease: P::longest_lease(&setup.system),
        perpetual: setup.perpetual,
    };
    (facts, Erased::boxed(setup.system, me, labels))
}

struct Erase {
    me: Address,
    labels: Labels,
}

impl Visitor for Erase {
    type Result = (Facts, Box<dyn Machine>);

    fn visit<P: Process>(self, setup: Setup<P>) -> Self::Result {
        erase(setup, self.me, self.labels)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use habemus::Id;

    use super::*;

    fn bully() -> Box<dyn Machine> {
        machine("bully", "none")
    }

    fn machine(algorithm: &str, detector: &str) -> Box<dyn Machine> {
        let options = BTreeMap::new();
        let request = Request {
            algorithm,
            ids: (1..=3).map(Id).collect(),
            shape: None,
            detector: Some(detector),
            options: &options,
            pulse: habemus::DEFAULT_PULSE,
            seed: 0,
            signatures: None,
        };
        build(&request, Address(1), Labels::Written).expect("the catalogue has it").1
    }

    #[test]
    fn a_process_is_driven_by_bytes_alone() {
        let (mut machine, mut step) = (bully(), PlainStep::default());
        machine.start(None, Duration::ZERO, &mut step).expect("nothing is recovered");
        step = PlainStep::default();
        machine.command("elect", Duration::ZERO, &mut step).expect("elections can be started");
        let sent = step.effects.iter().find_map(|effect| match effect {
            PlainEffect::Send { to, bytes, label } => Some((*to, bytes.clone(), label.text.clone())),
            _ => None,
        });
        let (to, bytes, text) = sent.expect("2 asks 3");
        assert_eq!((to, text.starts_with("Election")), (Address(2), true));
        step = PlainStep::default();
        let label = machine.message(Address(0), &bytes, Duration::ZERO, &mut step).expect("it is a message");
        assert_eq!(label.kind, "Election");
    }

    #[test]
    fn a_well_formed_message_about_somebody_who_is_not_there_is_refused() {
        let (mut machine, mut step) = (machine("token-ring", "heartbeat"), PlainStep::default());
        machine.start(None, Duration::ZERO, &mut step).expect("nothing is recovered");
        // The second layer, a recall: of generation 7 by the second process, and of generation 3 by the 36th,
        // who would have to be told that it is too late.
        let (known, unknown) = ([1, 2, 7, 1, 1], [1, 2, 3, 1, 35]);
        machine.message(Address(0), &known, Duration::ZERO, &mut step).expect("it is one of three");
        step = PlainStep::default();
        let refused = machine.message(Address(0), &unknown, Duration::ZERO, &mut step);
        assert_eq!(refused.unwrap_err(), Garbled("message"));
        assert!(step.effects.is_empty());
    }

    #[test]
    fn garbage_is_refused_and_changes_nothing() {
        let (mut machine, mut step) = (bully(), PlainStep::default());
        machine.start(None, Duration::ZERO, &mut step).expect("nothing is recovered");
        step = PlainStep::default();
        let garbage = [0xff; 40];
        assert_eq!(
            machine.message(Address(0), &garbage, Duration::ZERO, &mut step).unwrap_err(),
            Garbled("message")
        );
        assert_eq!(machine.timer(&garbage, Duration::ZERO, &mut step).unwrap_err(), Garbled("timer"));
        assert!(machine.command("abdicate", Duration::ZERO, &mut step).is_none());
        assert!(step.effects.is_empty() && step.persist.is_none());
    }
}
