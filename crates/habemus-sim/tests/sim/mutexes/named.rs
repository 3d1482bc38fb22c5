//! Locks with names: each is an instance of its own, over the same processes and under the same faults.

use habemus_scenario::Scenario;
use habemus_sim::{RunError, Sweeping, run, sweep};

use crate::support::{parse, play_traced};

fn two_locks() -> Scenario {
    parse(
        r#"
        algorithm = "coordinator"
        processes = 4
        resources = ["orders", "stock"]
        script = ["100ms crash 4", "1s recover 4"]
        [options]
        timeout = "50ms"
        [workload]
        entries = 3
        "#,
    )
}

#[test]
fn every_client_enters_every_lock_as_often_as_it_is_to() {
    let mut calm = two_locks();
    calm.script.clear();
    let report = play_traced(&calm);
    assert_eq!((report.statistics.entries, report.locks.len()), (24, 2));
    for (name, own) in &report.locks {
        assert_eq!(own.statistics.entries, 12, "{name}");
    }
    assert!(report.succeeded(), "{:?}", report.failures);
}

#[test]
fn faults_strike_a_process_at_all_locks_and_count_once() {
    let report = play_traced(&two_locks());
    assert_eq!((report.statistics.crashes, report.statistics.recoveries), (1, 1));
    for own in report.locks.values() {
        assert_eq!((own.statistics.crashes, own.statistics.recoveries), (1, 1));
    }
}

#[test]
fn random_faults_are_the_same_at_all_locks() {
    let mut random = two_locks();
    random.script.clear();
    random.random =
        Some(habemus_scenario::RandomFaults { crashes: 5.0, ..habemus_scenario::RandomFaults::usual(4) });
    let report = play_traced(&random);
    let when = |name: &str| -> Vec<u64> {
        let records = &report.locks[name].trace.as_ref().expect("a trace was wanted").records;
        let crashes = records.iter().filter(|record| record.what == habemus_trace::Happening::Crash);
        crashes.map(|record| record.at).collect()
    };
    assert!(!when("orders").is_empty());
    assert_eq!(when("orders"), when("stock"));
}

#[test]
fn a_lock_does_not_notice_that_there_are_others() {
    let report = play_traced(&two_locks());
    for (name, own) in &report.locks {
        assert_eq!(play_traced(&two_locks().about(name)).fingerprint, own.fingerprint, "{name}");
    }
}

#[test]
fn what_breaks_at_one_lock_is_broken_and_named() {
    let slow = parse(
        r#"
        algorithm = "coordinator"
        processes = 3
        script = ["0ms acquire orders by 2", "0ms acquire stock by 2", "1ms pause 2", "2ms acquire stock by 3", "1s resume 2"]
        [options]
        timeout = "50ms"
        [workload]
        entries = 0
        hold = "2s"
        [network]
        latency = "100us"
        [expect]
        violates = ["EM1", "fencing"]
        "#,
    );
    let report = play_traced(&slow);
    assert!(report.succeeded(), "{:?}", report.failures);
    let broken = report.properties.iter().find(|line| line.name == "EM1").expect("it is watched");
    assert!(broken.explanation.as_ref().is_some_and(|why| why.starts_with("stock: ")), "{broken:?}");
}

#[test]
fn seeds_can_be_swept() {
    let report = sweep(&two_locks(), 1, 20, 2, &Sweeping::default()).expect("it makes sense");
    assert_eq!((report.runs, report.crashes), (20, 20));
}

#[test]
fn what_names_cannot_do_is_refused() {
    let refused = |scenario: &Scenario, part: &str| {
        let Err(RunError::Names(why)) = run(scenario, false) else { panic!("not refused: {part}") };
        assert!(why.contains(part), "{why}");
    };
    refused(&Scenario { algorithm: "bully".to_owned(), ..two_locks() }, "only locks have names");
    let mut waits = two_locks();
    waits.script =
        parse("algorithm = \"coordinator\"\nprocesses = 4\nscript = [\"when 2 enters: crash 2\"]").script;
    refused(&waits, "give the action a time");
    let mut expects = two_locks();
    expects.expect.entered = Some(vec![1]);
    refused(&expects, "the order at one lock");
}
