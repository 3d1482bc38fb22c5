//! Timers that run by clocks: leases are safe within a bound on drift, and a run shows two holders beyond it.

use std::time::Duration;

use habemus::Address;
use habemus_check::{CheckReport, CheckVerdict, DeliveryOrder, Extent, Speed, Start, Timers};
use habemus_trace::Happening;

use crate::help::{Model, model};

/// `model` with clocks that drift by so many per cent, and messages that take so many milliseconds at most.
fn timed(model: Model, percent: u32, delay: u64) -> Model {
    let delay = (Duration::ZERO, Duration::from_millis(delay));
    model.with(|setting| setting.timers = Timers::Timed(Speed { drift: percent * 10_000, delay }))
}

fn verdict(report: &CheckReport, property: &str) -> CheckVerdict {
    report.property(property).expect("it was asked for").verdict
}

/// A timeout of 20 ms and a lease of 10 ms.
fn coordinator() -> Model {
    model("coordinator", 3).option("timeout", "20ms").option("lease", "10ms").property("EM1")
}

#[test]
fn the_lease_of_a_coordinator_is_safe_up_to_a_drift_and_a_delay_and_no_further() {
    // From the grant on: the message and the lease by a slow clock, 10/(1−ρ) + δ, beside the timeout by a
    // fast one, 20/(1+ρ).
    for (percent, delay, expected) in [
        (1, 9, CheckVerdict::Holds),
        (1, 10, CheckVerdict::Violated),
        (33, 0, CheckVerdict::Holds),
        (34, 0, CheckVerdict::Violated),
    ] {
        for order in [DeliveryOrder::Fifo, DeliveryOrder::Any] {
            let report = timed(coordinator(), percent, delay).with(|setting| setting.order = order).run();
            assert_eq!(verdict(&report, "EM1"), expected, "{percent} %, {delay} ms, {order:?}");
        }
    }
}

#[test]
fn the_lease_of_an_elected_coordinator_minds_no_delay_and_a_drift_of_a_ninth() {
    let lock = || model("elected-coordinator", 2).option("lease", "100ms").property("EM1");
    for (percent, delay, expected) in
        [(10, 0, CheckVerdict::Holds), (10, 3, CheckVerdict::Holds), (12, 0, CheckVerdict::Violated)]
    {
        let report = timed(lock(), percent, delay).run();
        assert_eq!(verdict(&report, "EM1"), expected, "{percent} %, {delay} ms");
    }
}

/// Two leaders at once, where the second process has all the weight and is cut off from the first.
fn two_leaders(percent: u32, max_drift: &str) -> CheckReport {
    let majority = model("majority", 2).option("weights", "0,1").option("pre-vote", "false");
    let majority = majority.option("max-drift", max_drift).property("uniqueness").with(|setting| {
        setting.start = Start::These(vec![Address(1)]);
        setting.budget.partitions = 1;
        // A shortest run with two leaders has ten steps.
        setting.max_depth = Some(12);
    });
    timed(majority, percent, 1).run()
}

#[test]
fn a_lease_shortened_by_the_drift_is_over_before_another_leads_and_one_shortened_by_less_is_not() {
    for percent in [1, 5, 20] {
        let within = two_leaders(percent, &percent.to_string());
        assert_eq!(verdict(&within, "uniqueness"), CheckVerdict::NotFound, "{percent} %");
        let beyond = two_leaders(percent, &(percent - 1).to_string());
        assert_eq!(verdict(&beyond, "uniqueness"), CheckVerdict::Violated, "{percent} %");
    }
}

#[test]
fn the_records_of_a_counterexample_carry_the_times_of_a_run_that_clocks_allow() {
    let report = timed(coordinator(), 50, 2).run();
    let trace = report.property("EM1").and_then(|line| line.counterexample.as_ref()).expect("it is broken");
    let at = |wanted: fn(&Happening) -> bool| {
        let record = trace.records.iter().find(|record| wanted(&record.what));
        record.map(|record| record.at).expect("it happens")
    };
    let granted = at(|what| matches!(what, Happening::Send { kind, .. } if kind.as_str() == "Grant"));
    let reclaimed = at(|what| matches!(what, Happening::Timer { label, .. } if label.starts_with("Reclaim")));
    // 20 ms by a clock that is half as fast again, to the nanosecond.
    assert_eq!((reclaimed - granted) / 1000, 13_333);
    assert!(trace.records.is_sorted_by_key(|record| record.at));
    let title = trace.header.title.as_deref().unwrap_or_default();
    assert!(title.contains("slow clocks: ") && title.contains("fast clocks: 1"), "{title}");
    habemus_check::replay(trace, None).expect("the processes do the same again");
}

#[test]
fn without_clocks_that_drift_a_lease_as_long_as_the_timeout_is_no_lease() {
    let lock = coordinator().option("lease", "20ms");
    assert_eq!(verdict(&timed(lock.clone(), 0, 0).run(), "EM1"), CheckVerdict::Violated);
    let shorter = lock.option("lease", "19999us");
    let report = timed(shorter, 0, 0).run();
    assert_eq!((verdict(&report, "EM1"), report.extent), (CheckVerdict::Holds, Extent::Complete));
}

#[test]
fn what_runs_in_pulses_has_no_clocks() {
    let error = timed(model("flood-set", 3), 1, 1).try_run().expect_err("there is no time");
    assert!(error.to_string().contains("works in pulses"), "{error}");
}
