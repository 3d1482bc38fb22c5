//! Faults are spent, and reductions change nothing where they are.

use std::collections::BTreeMap;

use habemus::catalogue::ENTRIES;
use habemus_check::{Budget, CheckReport, CheckVerdict, Extent, Properties, Timers};

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
