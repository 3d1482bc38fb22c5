//! The numbers of states with and without each reduction.

use habemus_check::{Reduction, Timers};
use serde_json::json;

use crate::help::model;
use crate::recheck::recheck;

#[test]
fn what_is_counted_with_nothing_left_out_another_program_counts_as_well() {
    let models = [
        model("chang-roberts", 3),
        model("token-ring", 3),
        model("ricart-agrawala", 2),
        model("anonymous-ring", 3).property("uniqueness"),
        model("lamport", 2).with(|setting| setting.budget.losses = 1),
        model("paxos", 2).with(|setting| setting.timers = Timers::MessagesFirst),
    ];
    for model in models {
        let found = recheck(&model.certificate()).expect("the certificate is sound");
        let counts = model.counts();
        let last = counts.last().expect("something was counted");
        assert!(last.complete && last.reductions.is_empty(), "{model:?}: {counts:?}");
        let ours = json!([last.states, last.transitions, last.quiet, last.depth]);
        let theirs = json!([found["states"], found["transitions"], found["quiet"], found["depth"]]);
        assert_eq!(ours, theirs, "{model:?}");
    }
}

#[test]
fn each_reduction_that_makes_a_difference_is_counted_without() {
    let counts = model("ricart-agrawala", 2).with(|setting| setting.entries = 2).counts();
    let used = |index: usize| counts[index].reductions.as_slice();
    let [order, deliveries, shift] =
        [Reduction::PartialOrder, Reduction::InvisibleDeliveries, Reduction::ClockShift];
    assert_eq!(counts.len(), 5, "{counts:?}");
    assert_eq!([used(0), used(4)], [[order, deliveries, shift].as_slice(), &[]]);
    assert_eq!([used(1), used(2), used(3)], [[deliveries, shift], [order, shift], [order, deliveries]]);
    // What is in use is what a check uses.
    let report = model("ricart-agrawala", 2).with(|setting| setting.entries = 2).run();
    assert_eq!((counts[0].states, counts[0].transitions), (report.states, report.transitions));
    let rotated = model("token-ring", 3).counts();
    assert!(rotated.iter().any(|line| !line.reductions.contains(&Reduction::Rotation)), "{rotated:?}");
}

#[test]
fn rotations_of_one_state_are_counted_once() {
    // Of three processes, a state that looks the same from everywhere is its own rotation, and any other is
    // one of three: three times the merged states are the whole ones and two more for each of those that are
    // alike.
    let ring = model("anonymous-ring", 3).property("uniqueness").all_start();
    let ring = ring.with(|setting| setting.reduction = false);
    let counts = ring.counts();
    let [merged, whole] = counts.as_slice() else { panic!("{counts:?}") };
    let alike = 3 * merged.states - whole.states;
    assert!(merged.states < whole.states && alike > 0 && alike % 2 == 0, "{counts:?}");
}
