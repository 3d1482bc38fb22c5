//! States on disk make no difference to what is found.

use habemus_check::{CheckError, CheckReport, DeliveryOrder, Extent, Setting, Spill, Timers};

use crate::help::{Model, model};

/// So little is kept that states go to disk again and again.
fn on_disk(model: &Model) -> Model {
    let directory = std::env::temp_dir();
    model.clone().with(|setting| setting.spill = Some(Spill { directory, after: 1 }))
}

/// What must be the same: everything but the time and the memory that it took.
fn told(model: &Model) -> serde_json::Value {
    let report = model.run();
    let mut told = serde_json::to_value(&report).expect("a report is JSON");
    for figure in ["seconds", "bytes"] {
        told.as_object_mut().expect("a report is an object").remove(figure);
    }
    let traces = report.properties.iter().filter_map(|line| line.counterexample.as_ref());
    told["traces"] = traces.map(|trace| format!("{trace:?}")).collect();
    told
}

#[test]
fn states_on_disk_make_no_difference_to_counts_verdicts_and_counterexamples() {
    let timely = |setting: &mut Setting| setting.timers = Timers::MessagesFirst;
    let models = [
        model("chang-roberts", 4),
        // A reduction that looks for states which were reached before.
        model("ricart-agrawala", 3),
        // Cycles in which nobody waits for ever, and the whole graph after the reduced one.
        model("ricart-agrawala", 2).with(|setting| setting.entries = habemus_check::ANY_NUMBER),
        // One in which somebody does: the way into it is found in the files.
        model("maekawa", 3).option("sets", "plane").option("variant", "plain"),
        model("bully", 3).all_start().with(timely).with(|setting| setting.budget.crashes = 1),
        // A shortest run, which is looked for among all orders of events.
        model("suzuki-kasami", 3)
            .option("variant", "mutant-stale")
            .with(|setting| (setting.entries, setting.order) = (2, DeliveryOrder::Any)),
        model("anonymous-ring", 3).with(|setting| setting.keep_going = true),
    ];
    for model in models {
        for threads in [1, 2] {
            let model = model.clone().with(|setting| setting.threads = threads);
            assert_eq!(told(&on_disk(&model)), told(&model), "{} on {threads}", model.algorithm);
        }
    }
}

/// Much fewer than all states have room in memory, and all of them are found all the same.
#[test]
fn four_times_as_many_states_as_fit_into_memory_are_counted_to_the_last() {
    let model = model("ricart-agrawala", 3).option("variant", "bare-replies").with(|setting| {
        (setting.entries, setting.order) = (2, DeliveryOrder::Any);
        (setting.reduction, setting.symmetry) = (false, false);
    });
    let in_memory = model.run();
    let (directory, after) = (std::env::temp_dir(), in_memory.bytes / 4);
    let on_disk = model.with(|setting| setting.spill = Some(Spill { directory, after })).run();
    let told = |report: &CheckReport| (report.states, report.transitions, report.depth, report.extent);
    assert_eq!(told(&on_disk), told(&in_memory));
    assert_eq!(on_disk.extent, Extent::Complete);
    assert!(on_disk.bytes * 2 < in_memory.bytes, "{} {}", on_disk.bytes, in_memory.bytes);
}

#[test]
fn a_directory_that_is_not_there_is_an_error() {
    let directory = std::env::temp_dir().join("habemus-is-not-here");
    let model = model("chang-roberts", 4).with(|setting| setting.spill = Some(Spill { directory, after: 1 }));
    assert!(matches!(model.try_run(), Err(CheckError::Files { .. })), "{:?}", model.try_run());
}
