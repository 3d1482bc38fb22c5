//! One-shot elections as services: held again on a detector whenever somebody fails or comes back.

use super::Case;
use crate::setting::{Setting, Timers};

/// After a crash, and after a partition that has healed, which nobody notices: an election that came to
/// nothing is held again when its time is over. Epochs are renamed, so there is an end of states.
pub const SERVICES: &[Case] = &[
    crashed("all-to-all"),
    crashed("chang-roberts"),
    parted("chang-roberts"),
    crashed("franklin"),
    parted("franklin"),
    crashed("hirschberg-sinclair"),
    parted("hirschberg-sinclair"),
    crashed("dolev-klawe-rodeh"),
    parted("dolev-klawe-rodeh"),
    parted("yo-yo"),
    crashed("capture-sync"),
    crashed("capture-async"),
    parted("capture-async"),
];

const fn crashed(algorithm: &'static str) -> Case {
    let flags = " --detector oracle --start all --crashes 1 --timers messages-first";
    service(algorithm, "as a service, a crash", flags, |setting| {
        setting.timers = Timers::MessagesFirst;
        setting.budget.crashes = 1;
    })
}

const fn parted(algorithm: &'static str) -> Case {
    let flags = " --detector oracle --start all --partitions 1 --timers messages-first";
    service(algorithm, "as a service, a partition", flags, |setting| {
        setting.timers = Timers::MessagesFirst;
        setting.budget.partitions = 1;
    })
}

const fn service(
    algorithm: &'static str,
    name: &'static str,
    flags: &'static str,
    change: fn(&mut Setting),
) -> Case {
    Case { algorithm, name, ids: &[1, 2, 3], detector: Some("oracle"), options: &[], flags, change }
}
