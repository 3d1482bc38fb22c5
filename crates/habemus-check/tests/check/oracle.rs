//! Stateright counts the same states.

use habemus::agreement::paxos::{self, Paxos};
use habemus::election::chang_roberts::{self, ChangRoberts};
use habemus::election::majority::{self, Majority};
use habemus::mutex::lamport::{self, Lamport};
use habemus::mutex::ricart_agrawala::{self, RicartAgrawala};
use habemus::topology::{Complete, Ring};
use habemus::{Id, Process, Status, System};
use habemus_check::{DeliveryOrder, Extent};

use crate::help::{Model, model};
use crate::rival::{Way, unique_states};

/// The states that our checker counts, reductions off, watched for one property.
fn ours(model: Model, wants: u32, ordered: bool, property: &str) -> u64 {
    let model = model.property(property).all_start().with(|setting| {
        (setting.reduction, setting.symmetry) = (false, false);
        setting.liveness = false;
        setting.entries = wants;
        setting.order = if ordered { DeliveryOrder::Fifo } else { DeliveryOrder::Any };
    });
    let report = model.run();
    assert!(report.holds(), "{report:#?}");
    report.states
}

fn theirs<P: Process>(system: &System<P>, wants: u32, ordered: bool, alone: Status) -> u64
where
    P::Message: Ord,
    P::Timer: Ord,
{
    let [breadth, depth] = [Way::BreadthFirst, Way::DepthFirst]
        .map(|way| unique_states(system.clone(), wants, ordered, alone, way, 1) as u64);
    assert_eq!(breadth, depth, "stateright agrees with itself");
    breadth
}

fn ids(count: u64) -> Vec<Id> {
    (1..=count).map(Id).collect()
}

#[test]
fn chang_roberts_has_as_many_states_as_stateright_says() {
    for count in 2..=5 {
        let system: System<ChangRoberts> =
            System::new(Ring::new(count as usize), ids(count), chang_roberts::Config::default())
                .expect("the ring is well formed");
        for ordered in [false, true] {
            let theirs = theirs(&system, 1, ordered, Status::Leading);
            assert_eq!(
                ours(model("chang-roberts", count), 1, ordered, "uniqueness"),
                theirs,
                "{count} {ordered}"
            );
        }
    }
}

#[test]
fn lamport_has_as_many_states_as_stateright_says() {
    for (count, wants, orders) in [(2, 2, [true, false].as_slice()), (3, 1, &[true])] {
        let system: System<Lamport> =
            System::new(Complete::new(count as usize), ids(count), lamport::Config::default())
                .expect("the graph is well formed");
        for &ordered in orders {
            // Without FIFO links two may get in at once: there is nothing to forbid then.
            let (alone, property) = if ordered { (Status::Inside, "EM1") } else { (Status::Decided, "EM2") };
            let theirs = theirs(&system, wants, ordered, alone);
            let ours = ours(model("lamport", count), wants, ordered, property);
            assert_eq!(ours, theirs, "{count} {ordered}");
        }
    }
}

#[test]
fn ricart_agrawala_has_as_many_states_as_stateright_says() {
    for (count, wants) in [(2, 3), (3, 1)] {
        let system: System<RicartAgrawala> =
            System::new(Complete::new(count as usize), ids(count), ricart_agrawala::Config::default())
                .expect("the graph is well formed");
        for ordered in [false, true] {
            let theirs = theirs(&system, wants, ordered, Status::Inside);
            let ours = ours(model("ricart-agrawala", count), wants, ordered, "EM1");
            assert_eq!(ours, theirs, "{count} {ordered}");
        }
    }
}

/// Both set timers, which run out at any time, and have no end of states: so many steps are taken.
#[test]
fn majority_and_paxos_have_as_many_states_within_some_steps_as_stateright_says() {
    let majority: System<Majority> = System::new(Complete::new(3), ids(3), majority::Config::default())
        .expect("the network is well formed");
    let paxos: System<Paxos> =
        System::new(Complete::new(3), ids(3), paxos::Config::default()).expect("the network is well formed");
    let within = |algorithm, property, steps| {
        let report = model(algorithm, 3).property(property).all_start().with(|setting| {
            (setting.reduction, setting.symmetry, setting.liveness) = (false, false, false);
            setting.max_depth = Some(steps);
        });
        let report = report.run();
        assert_eq!(report.extent, Extent::Bounded);
        report.states
    };
    let theirs = unique_states(majority, 1, true, Status::Leading, Way::Steps(4), 1) as u64;
    assert_eq!(within("majority", "uniqueness", 4), theirs);
    // Nobody is inside anything here: nothing is asked of stateright but to count.
    let theirs = unique_states(paxos, 1, true, Status::Inside, Way::Steps(6), 1) as u64;
    assert_eq!(within("paxos", "agreement", 6), theirs);
}
