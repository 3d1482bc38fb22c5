//! What the checker says of algorithms of the catalogue.

use habemus_check::{Extent, Verdict};

use crate::help::model;

#[test]
fn the_anonymous_ring_is_proved_for_one_initiator_and_refuted_for_two() {
    let report = model("anonymous-ring", 3).property("uniqueness").run();
    let line = report.property("uniqueness").expect("it was asked for");
    assert_eq!((report.extent, line.verdict), (Extent::UntilViolation, Verdict::Violated));
    eprintln!("{report:#?}");
}

#[test]
fn chang_roberts_keeps_its_promises() {
    let report = model("chang-roberts", 4).run();
    assert!(report.holds(), "{report:#?}");
    assert_eq!(report.extent, Extent::Complete);
    eprintln!("{report:#?}");
}

#[test]
fn probe() {
    for entry in habemus::catalogue::ENTRIES {
        for n in [2, 3] {
            let begin = std::time::Instant::now();
            match model(entry.name, n)
                .with(|s| {
                    s.most_states = Some(300_000);
                    if entry.model.contains("synchronous") && !entry.model.starts_with("asynchronous") {
                        s.timers = habemus_check::Timers::MessagesFirst;
                    }
                })
                .try_run()
            {
                Ok(report) => {
                    eprintln!(
                        "{} {n}: {:?} {} states {} trans depth {} quiet {} {:.2?} bytes/state {}",
                        entry.name,
                        report.extent,
                        report.states,
                        report.transitions,
                        report.depth,
                        report.quiet,
                        begin.elapsed(),
                        report.bytes / report.states.max(1)
                    );
                    for line in report.properties {
                        eprintln!(
                            "    {} {:?} {:?} {:?}",
                            line.name, line.verdict, line.steps, line.explanation
                        );
                    }
                }
                Err(error) => eprintln!("{} {n}: {error}", entry.name),
            }
        }
    }
}
