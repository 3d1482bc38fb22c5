//! The election in the simulator, with and without somebody who watches.

use habemus::election::chang_roberts::{ChangRoberts, Config};
use habemus::election::{self, Wins};
use habemus::property::Population;
use habemus::topology::Ring;
use habemus::{Id, Problem, Status, System};
use habemus_sim::{Attention, Limits, Observer, Simulation, Stop, Watch};
use habemus_trace::Header;

use crate::measurement::Measurement;
use crate::ring::Election;

/// Nobody watches.
pub(crate) fn unobserved(election: &Election) -> Measurement {
    measure(election, |_| ())
}

/// Statistics, a fingerprint and every property of an election.
pub(crate) fn watched(election: &Election) -> Measurement {
    measure(election, |ids| Watch::new(population(ids), Attention::Judge))
}

/// The same, and the trace.
pub(crate) fn traced(election: &Election) -> Measurement {
    measure(election, |ids| {
        let header = Header {
            format: habemus_trace::FORMAT,
            algorithm: "chang-roberts".to_owned(),
            problem: election::Election::KIND,
            title: None,
            processes: ids.iter().map(|id| id.0).collect(),
            topology: "ring".to_owned(),
            seed: Some(election.seed),
            origin: None,
            cycle: None,
        };
        Watch::new(population(ids), Attention::Record(Box::new(header)))
    })
}

fn population(ids: &[Id]) -> Population {
    let preference = ids.iter().map(|id| id.0 as u32).collect();
    Population { ids: ids.to_vec(), preference: Some(preference), permits: 1, is_sure_to_start: false }
}

fn measure<O: Observer<ChangRoberts>>(election: &Election, observer: impl FnOnce(&[Id]) -> O) -> Measurement {
    let build = || {
        let ids = election.ids();
        let observer = observer(&ids);
        let config = Config { wins: Wins::Highest, ..Config::default() };
        let system =
            System::new(Ring::new(ids.len()), ids, config).expect("a shuffled range is no bad system");
        let mut simulation = Simulation::plain(system, &election.network(), election.seed, observer);
        simulation.start();
        simulation
    };
    let (measurement, simulation) = Measurement::take(build, |simulation| {
        for address in election.addresses() {
            simulation.command(address, election::Command::Elect);
        }
        let stop = simulation.run(Limits::quiet());
        assert_eq!(stop, Stop::Quiet);
        simulation.delivered()
    });
    let leader = Id(election.processes as u64);
    let knows = |address| match simulation.status(address) {
        Status::Following(who) => who == Some(leader),
        status => status == Status::Leading,
    };
    assert!(election.addresses().all(knows), "everybody knows the leader");
    measurement
}
