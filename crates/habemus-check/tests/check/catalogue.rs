//! What the checker says of algorithms of the catalogue.

use std::sync::atomic::{AtomicBool, Ordering};

use habemus::Address;
use habemus_check::{CheckHandle, CheckVerdict, DeliveryOrder, Extent, Properties, Start};

use crate::help::model;

#[test]
fn the_anonymous_ring_is_proved_for_one_initiator_and_refuted_for_two() {
    let ring = model("anonymous-ring", 3).property("uniqueness");
    let one = ring.clone().with(|setting| setting.start = Start::These(vec![Address(1)])).run();
    assert!(one.holds(), "{one:#?}");
    let any = ring.run();
    let line = any.property("uniqueness").expect("it was asked for");
    assert_eq!((any.extent, line.verdict), (Extent::UntilViolation, CheckVerdict::Violated));
    // Three commands and two votes, each taken for the receiver's own: nothing shorter will do.
    assert_eq!(line.steps, Some(5));
}

#[test]
fn any_number_of_threads_gives_the_same_counts_and_verdicts() {
    let counts = [1, 2, 3].map(|threads| {
        let report = model("chang-roberts", 6)
            .with(|setting| {
                setting.threads = threads;
                setting.order = DeliveryOrder::Any;
                setting.start = Start::These((0..6).map(Address).collect());
            })
            .run();
        let verdicts: Vec<CheckVerdict> = report.properties.iter().map(|line| line.verdict).collect();
        (report.states, report.transitions, report.depth, report.quiet, verdicts)
    });
    assert_eq!(counts[0], counts[1]);
    assert_eq!(counts[0], counts[2]);
    // Only levels that are wide are shared.
    assert!(counts[0].0 > 100_000, "{counts:?}");
}

#[test]
fn any_number_of_threads_tells_the_same_run() {
    // Without FIFO links a reply overtakes a request. The levels are wide enough to be shared.
    let told = [1, 2, 3].map(|threads| {
        let report = model("lamport", 3)
            .property("EM1")
            .with(|setting| {
                setting.threads = threads;
                setting.order = DeliveryOrder::Any;
                (setting.reduction, setting.symmetry) = (false, false);
            })
            .run();
        assert!(report.states > 30_000, "{report:#?}");
        let line = report.property("EM1").expect("it was asked for");
        line.counterexample.clone().expect("it is broken")
    });
    assert_eq!(told[0], told[1]);
    assert_eq!(told[0], told[2]);
}

#[test]
fn limits_end_a_check_and_are_named() {
    let ring = model("chang-roberts", 4);
    let deep = ring.clone().with(|setting| setting.max_depth = Some(3)).run();
    assert_eq!((deep.extent, deep.stop.as_str()), (Extent::Bounded, "the limit on steps was reached"));
    let many = ring.clone().with(|setting| setting.max_states = Some(100)).run();
    assert_eq!((many.extent, many.stop.as_str()), (Extent::Bounded, "the limit on states was reached"));
    let big = ring.with(|setting| setting.max_memory = Some(1)).run();
    assert_eq!((big.extent, big.stop.as_str()), (Extent::Bounded, "the limit on memory was reached"));
    assert!(big.properties.iter().all(|line| line.verdict != CheckVerdict::Holds), "{big:#?}");
}

#[test]
fn a_limit_on_steps_is_how_long_a_run_may_be() {
    let ring = |depth| {
        let ring = model("anonymous-ring", 3).property("uniqueness");
        ring.with(|setting| setting.max_depth = Some(depth)).run()
    };
    let verdict = |depth| ring(depth).properties.iter().find_map(|line| line.steps);
    assert_eq!([verdict(4), verdict(5)], [None, Some(5)]);
    // A run that ends is judged by its end, and where no run is longer the limit is none.
    let whole = model("chang-roberts", 3).all_start();
    let deepest = whole.run().depth;
    let limited = |depth| whole.clone().with(|setting| setting.max_depth = Some(depth)).run();
    assert_eq!([limited(deepest - 1).extent, limited(deepest).extent], [Extent::Bounded, Extent::Complete]);
    assert_eq!((limited(deepest).states, limited(deepest).quiet), (whole.run().states, whole.run().quiet));
}

#[test]
fn the_run_told_of_each_property_is_a_shortest_one_or_it_says_so() {
    let ring = |change: fn(&mut habemus_check::Setting)| {
        let ring = model("token-ring", 3).with(|setting| {
            (setting.budget.crashes, setting.budget.recoveries, setting.budget.amnesia) = (1, 1, true);
        });
        ring.with(change).run()
    };
    let alone = ring(|setting| setting.properties = Properties::Named(vec!["EM1".to_owned()]));
    let among = ring(|setting| {
        (setting.properties, setting.keep_going) = (Properties::All, true);
        setting.max_states = Some(60_000);
    });
    for report in [alone, among] {
        let line = report.property("EM1").expect("it was asked for");
        assert_eq!((line.steps, line.shortest), (Some(7), Some(true)), "{report:#?}");
        let is_told = |remark: &String| remark.contains("fewer steps");
        let doubtful = report.properties.iter().any(|line| line.shortest == Some(false));
        assert_eq!(report.remarks.iter().any(is_told), doubtful, "{report:#?}");
    }
}

#[test]
fn a_check_that_is_stopped_while_it_looks_for_runs_without_end_says_so() {
    let (handle, over) = (CheckHandle::default(), AtomicBool::new(false));
    let locks = model("ricart-agrawala", 3).with(|setting| setting.entries = 2);
    let report = std::thread::scope(|scope| {
        scope.spawn(|| {
            while handle.cycle_search.load(Ordering::Relaxed) == 0 && !over.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
            handle.stop.store(true, Ordering::Relaxed);
        });
        let report = locks.run_under(&handle);
        over.store(true, Ordering::Relaxed);
        report.expect("the model makes sense")
    });
    assert!(handle.cycle_search.load(Ordering::Relaxed) > 0, "it was looked for");
    assert_eq!((report.extent, report.stop.as_str()), (Extent::Bounded, "it was interrupted"));
    let verdict = |name| report.property(name).map(|line| line.verdict);
    // What happens is known by then; what never happens is not.
    let found = (verdict("EM1"), verdict("EM2"));
    assert_eq!(found, (Some(CheckVerdict::Holds), Some(CheckVerdict::NotFound)), "{report:#?}");
}

#[test]
fn what_cannot_be_checked_is_refused_with_a_reason() {
    let refused = |model: crate::help::Model| model.try_run().expect_err("it makes no sense").to_string();
    let many = refused(model("chang-roberts", 33));
    assert!(many.contains("at most 32"), "{many}");
    let nobody = refused(model("chang-roberts", 3).with(|setting| setting.budget.suspicions = 1));
    assert!(nobody.contains("no oracle"), "{nobody}");
    let pulses = refused(model("capture-sync", 3).with(|setting| setting.budget.losses = 1));
    assert!(pulses.contains("pulses"), "{pulses}");
    let unknown = refused(model("chang-roberts", 3).property("EM1"));
    assert!(unknown.contains("E2"), "{unknown}");
    let recovery = refused(model("bully", 3).with(|setting| setting.budget.recoveries = 1));
    assert!(recovery.contains("nobody crashes"), "{recovery}");
}
