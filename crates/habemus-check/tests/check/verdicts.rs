//! What a verdict says: of promises inside and outside their model, of elections that nobody started, of an
//! oracle that tells the truth.

use habemus_check::{CheckVerdict, Timers};

use crate::help::model;

/// Whoever was to start it crashed before: there is no election that could lack a leader.
#[test]
fn an_election_that_nobody_started_breaks_nothing() {
    let bully = model("bully", 2).with(|setting| {
        setting.timers = Timers::MessagesFirst;
        setting.budget.crashes = 1;
        setting.keep_going = true;
    });
    let report = bully.run();
    for property in ["E1", "E2", "termination", "agreement", "eventual-accuracy"] {
        let line = report.property(property).expect("it is promised");
        assert_eq!(line.verdict, CheckVerdict::Holds, "{property}: {line:?}");
    }
}

/// Who is back is not suspected: a lock that relies on that lets nobody in beside a holder that came back in
/// time.
#[test]
fn the_oracle_never_suspects_a_process_that_has_recovered() {
    let ring = model("token-ring", 2).property("EM1").with(|setting| {
        (setting.budget.crashes, setting.budget.recoveries) = (1, 1);
    });
    let report = ring.run();
    let line = report.property("EM1").expect("it was asked for");
    assert_eq!(line.verdict, CheckVerdict::Holds, "{:?}", line.explanation);
}

/// While a request is on its way nobody can be blamed for entering; once it is known, each other enters once
/// at most.
#[test]
fn nobody_who_knows_of_a_request_overtakes_it_twice_at_the_coordinator() {
    let coordinator = model("coordinator", 2).property("bounded-waiting").with(|setting| {
        setting.clocks = true;
        setting.entries = 4;
    });
    let report = coordinator.run();
    let line = report.property("bounded-waiting").expect("it was asked for");
    assert_eq!(line.verdict, CheckVerdict::Holds, "{:?}", line.explanation);
}

/// S4's properties 2 and 3 are two.
#[test]
fn a_deadlock_is_told_from_starvation() {
    let plain = model("maekawa", 3).option("sets", "plane").option("variant", "plain");
    for property in ["no-deadlock", "no-starvation"] {
        let report = plain.clone().property(property).run();
        assert_eq!(
            report.property(property).expect("asked for").verdict,
            CheckVerdict::Violated,
            "{property}"
        );
    }
    // Whoever waits for one that has crashed inside starves; but the holder's crash is no deadlock of the
    // others' making.
    let report = model("coordinator", 3)
        .with(|setting| {
            setting.properties = habemus_check::Properties::All;
            setting.keep_going = true;
        })
        .run();
    for property in ["EM2", "no-deadlock", "no-starvation"] {
        assert_eq!(report.property(property).expect("all").verdict, CheckVerdict::Holds, "{property}");
    }
}

#[test]
fn what_is_outside_the_model_says_so() {
    let bully = |partitions| {
        let model = model("bully", 3).property("E1").all_start();
        let report = model
            .with(|setting| {
                setting.timers = Timers::MessagesFirst;
                setting.budget.partitions = partitions;
            })
            .run();
        report.property("E1").expect("it was asked for").clone()
    };
    let inside = bully(0);
    assert_eq!((inside.verdict, inside.promised, inside.outside), (CheckVerdict::Holds, true, None));
    let outside = bully(1);
    assert_eq!((outside.verdict, outside.promised), (CheckVerdict::Violated, false));
    assert!(outside.outside.is_some_and(|why| why.starts_with("partitions, for each side")));
    let generals = |processes, traitor| {
        let generals =
            model("byzantine-generals", processes).option("traitors", traitor).property("agreement");
        let starts = habemus_check::Start::These(vec![habemus::Address(0)]);
        let report = generals.with(|setting| setting.start = starts).run();
        report.property("agreement").expect("it was asked for").clone()
    };
    let (three, four) = (generals(3, "3"), generals(4, "4"));
    assert_eq!((three.verdict, three.promised), (CheckVerdict::Violated, false));
    assert_eq!(three.outside.as_deref(), Some("n = 3, and 1 traitor takes n ≥ 3m+1 = 4"));
    assert_eq!((four.verdict, four.promised), (CheckVerdict::Holds, true));
}

#[test]
fn fencing_without_tokens_and_terms_without_terms_do_not_apply() {
    let fencing = |option: &str| {
        let report = model("coordinator", 2).option("fencing", option).property("fencing").run();
        report.property("fencing").expect("it was asked for").verdict
    };
    assert_eq!((fencing("false"), fencing("true")), (CheckVerdict::DoesNotApply, CheckVerdict::Holds));
    let report = model("chang-roberts", 3).property("one-leader-per-term").run();
    let line = report.property("one-leader-per-term").expect("it was asked for");
    assert_eq!(line.verdict, CheckVerdict::DoesNotApply);
}
