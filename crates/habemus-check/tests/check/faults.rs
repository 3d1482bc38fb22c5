//! Faults are spent, and reductions change nothing where they are.

use std::collections::BTreeMap;

use habemus::Address;
use habemus::catalogue::ENTRIES;
use habemus_check::{Budget, CheckReport, CheckVerdict, Extent, Properties, Start, Timers};

use crate::help::model;

fn verdicts(report: &CheckReport) -> BTreeMap<&str, (CheckVerdict, Option<usize>)> {
    report.properties.iter().map(|line| (line.name.as_str(), (line.verdict, line.steps))).collect()
}

#[test]
fn every_algorithm_has_the_same_verdicts_with_and_without_reduction_under_faults() {
    let nothing = Budget::default();
    let budgets = [
        Budget { crashes: 1, ..nothing },
        Budget { losses: 1, ..nothing },
        Budget { duplications: 1, ..nothing },
        Budget { partitions: 1, ..nothing },
        Budget { wrong_timeouts: 1, ..nothing },
    ];
    let mut compared = 0;
    for entry in ENTRIES {
        for budget in budgets {
            let run = |reduction| {
                let model = model(entry.name, 3).all_start().with(|setting| {
                    setting.timers = Timers::usual(entry);
                    setting.properties = Properties::All;
                    setting.keep_going = true;
                    setting.budget = budget;
                    (setting.reduction, setting.symmetry) = (reduction, reduction);
                    setting.max_states = Some(10_000);
                });
                // Nothing is lost in pulses.
                model.try_run().ok()
            };
            let Some(plain) = run(false).filter(|report| report.extent != Extent::Bounded) else { continue };
            let reduced = run(true).expect("it is the same model");
            assert_eq!(verdicts(&plain), verdicts(&reduced), "{} {budget:?}", entry.name);
            compared += 1;
        }
    }
    assert!(compared > 30, "only {compared} models are small enough");
}

/// What the catalogue promises of the elections that recover is proved, through every fault after which they
/// should.
#[test]
fn the_best_live_process_leads_in_the_end_whatever_happened_before() {
    let nothing = Budget::default();
    for (algorithm, budget) in [
        ("bully", Budget { crashes: 1, recoveries: 1, ..nothing }),
        ("collecting-ring", Budget { crashes: 1, recoveries: 1, ..nothing }),
        ("bully", Budget { partitions: 1, ..nothing }),
        ("bully", Budget { suspicions: 1, crashes: 1, ..nothing }),
        ("bully", Budget { losses: 1, ..nothing }),
        ("collecting-ring", Budget { partitions: 1, ..nothing }),
        ("collecting-ring", Budget { suspicions: 1, ..nothing }),
        ("collecting-ring", Budget { crashes: 1, ..nothing }),
    ] {
        let report = model(algorithm, 3)
            .all_start()
            .with(|setting| {
                setting.timers = Timers::MessagesFirst;
                setting.properties = Properties::Named(vec!["agreement".to_owned()]);
                setting.budget = budget;
                if budget.recoveries > 0 {
                    // If all start, the bully has nine million states.
                    setting.start = Start::These(vec![Address(0)]);
                }
            })
            .run();
        assert_eq!(report.extent, Extent::Complete, "{algorithm} {budget:?}");
        assert_eq!(
            report.property("agreement").map(|line| line.verdict),
            Some(CheckVerdict::Holds),
            "{algorithm} {budget:?}"
        );
    }
}

/// A timer of the bully's that runs out too early makes two leaders, as it does where timers run out at any
/// time; and as that happens so often and not more often, every run is covered, and what must happen in the
/// end does.
#[test]
fn wrong_timeouts_are_spent_like_other_faults() {
    let timely = |timeouts| {
        model("bully", 3).all_start().with(|setting| {
            (setting.timers, setting.keep_going) = (Timers::MessagesFirst, true);
            setting.properties = Properties::Named(vec!["uniqueness".to_owned(), "agreement".to_owned()]);
            setting.budget.wrong_timeouts = timeouts;
        })
    };
    assert!(timely(0).run().holds());
    let once = timely(1).run();
    let untimely = timely(0).property("uniqueness").with(|setting| {
        (setting.timers, setting.keep_going) = (Timers::AnyTime, false);
    });
    let steps = |report: &CheckReport| report.property("uniqueness").and_then(|line| line.steps);
    assert_eq!((steps(&once), steps(&untimely.run())), (Some(3), Some(3)));
    assert_eq!(once.extent, Extent::Complete);
    assert_eq!(once.property("agreement").map(|line| line.verdict), Some(CheckVerdict::Holds));
    assert!(timely(1).with(|setting| setting.timers = Timers::AnyTime).try_run().is_err());
}

/// A coordinator that stores its grants comes back and reminds whoever it granted to: nobody waits for ever,
/// unless it stays away.
#[test]
fn who_waits_for_one_that_is_sure_to_come_back_is_served() {
    for (is_sure, verdict) in [(false, CheckVerdict::Violated), (true, CheckVerdict::Holds)] {
        let report = model("quorum", 2)
            .with(|setting| {
                setting.timers = Timers::MessagesFirst;
                setting.properties = Properties::Named(vec!["EM2".to_owned()]);
                setting.budget = Budget { crashes: 1, recoveries: 1, ..Budget::default() };
                (setting.sure_recovery, setting.entries) = (is_sure, 2);
                (setting.clients, setting.faulty) = (vec![Address(0)], vec![Address(1)]);
            })
            .run();
        let line = report.property("EM2").expect("it was asked for");
        assert_eq!(line.verdict, verdict, "{is_sure}");
    }
}
