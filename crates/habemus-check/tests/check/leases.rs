//! Leases, under late clients: messages are faster than timers, but whoever is inside may stay while time
//! passes.

use habemus_check::{CheckVerdict, Timers};

use crate::help::model;

#[test]
fn a_holder_that_stays_is_overtaken_unless_its_lease_ends_before_the_timeout() {
    let verdict = |options: &[(&str, &str)], reduction| {
        let lock = model("coordinator", 3).option("timeout", "20ms").property("EM1");
        let lock = options.iter().fold(lock, |lock, (name, value)| lock.option(name, value));
        let report =
            lock.with(|setting| (setting.timers, setting.reduction) = (Timers::LateClients, reduction)).run();
        report.property("EM1").map(|line| line.verdict)
    };
    for reduction in [true, false] {
        assert_eq!(verdict(&[("lease", "10ms")], reduction), Some(CheckVerdict::Holds));
        // A holder that ignores its lease is one that has none.
        assert_eq!(verdict(&[], reduction), Some(CheckVerdict::Violated));
        assert_eq!(verdict(&[("lease", "30ms")], reduction), Some(CheckVerdict::Violated));
    }
}
