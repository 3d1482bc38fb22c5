//! Models of locks that no row of the table and no planted mutant asks for.

use std::collections::BTreeMap;
use std::time::Duration;

use habemus::Address;
use habemus::catalogue::Entry;

use super::model::{Model, model};
use crate::guarantees::Fault;
use crate::setting::{ANY_NUMBER, Properties, Setting, Speed, Timers};

/// Options of which each brings rules of its own. They are put to every fault.
const OPTIONS: &[(&str, &[(&str, &str)])] = &[
    ("coordinator", &[("acknowledge", "true")]),
    ("coordinator", &[("permits", "2")]),
    // Whoever leaves by itself says so, and without a timeout nobody else would find out.
    ("coordinator", &[("lease", "10ms"), ("fencing", "true")]),
    ("coordinator", &[("lease", "10ms"), ("timeout", "20ms"), ("fencing", "true")]),
    // No message of a coordinator can be done without.
    ("quorum", &[("coordinators", "3"), ("quorum", "3")]),
];

/// The options of a lock that no row of the table sets.
pub(super) fn options(entry: &Entry) -> impl Iterator<Item = BTreeMap<String, String>> {
    let of_entry = OPTIONS.iter().filter(|(algorithm, _)| *algorithm == entry.name);
    of_entry.map(|(_, options)| {
        options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    })
}

/// Who comes first, who waits for how long, and what becomes of a lock that is used for ever.
pub(super) fn of_lock(entry: &'static Entry, usual: Timers) -> Vec<Model> {
    let small = |processes: u64, name: &str| {
        let mut small = model(entry.name, processes);
        small.name = format!("n = {processes}, {name}");
        (small.setting.timers, small.setting.properties) = (usual, Properties::All);
        small
    };
    let in_order = |setting: &mut Setting| {
        let properties = ["EM3", "bounded-waiting"].map(str::to_owned);
        (setting.clocks, setting.properties) = (true, Properties::Named(properties.to_vec()));
    };
    let mut models = vec![
        small(2, "two entries, in order").with(in_order).with(|setting| setting.entries = 2),
        small(3, "in order").with(in_order),
        // What one that wants nothing tells of another's request makes the next one later.
        small(3, "two enter twice, in order").with(in_order).with(|setting| {
            (setting.clients, setting.entries) = (vec![Address(0), Address(1)], 2);
        }),
        small(2, "any number of entries").with(|setting| setting.entries = ANY_NUMBER),
    ];
    models.extend(of_algorithm(entry.name, &small));
    models
}

/// What it takes to see certain rules of certain locks broken.
fn of_algorithm(name: &str, small: &dyn Fn(u64, &str) -> Model) -> Vec<Model> {
    match name {
        // Whoever leaves tells, with the reply that it owes, of a request that came while it was inside.
        "ricart-agrawala" => vec![small(3, "all enter twice, in order").with(|setting| {
            setting.properties = Properties::Named(vec!["EM3".to_owned()]);
            (setting.clocks, setting.entries, setting.max_depth) = (true, 2, Some(20));
        })],
        // A vote is asked back over a link only where sets have three members.
        "maekawa" => vec![small(4, "4 begin, deep").with(|setting| setting.max_depth = Some(22))],
        // The number of an attempt that was not stored is used again.
        "quorum" => vec![small(2, "two enter twice, the first recovers").with(|setting| {
            (setting.entries, setting.faulty) = (2, vec![Address(0)]);
            (setting.budget.crashes, setting.budget.recoveries) = (1, 1);
            setting.sure_recovery = true;
        })],
        // What was not stored is missed when its process has been down twice, or by the third.
        "token-ring" => {
            let crash = |client: u32, faulty: u32, times: u8| {
                move |setting: &mut Setting| {
                    (setting.clients, setting.faulty) = (vec![Address(client)], vec![Address(faulty)]);
                    (setting.budget.crashes, setting.budget.recoveries) = (times, times);
                    setting.sure_recovery = true;
                }
            };
            let anybody = |setting: &mut Setting| setting.faulty.clear();
            // Where no detector speaks, whoever comes back must say so itself.
            let alone = |model: Model| Model { detector: Some("none"), ..model };
            vec![
                small(2, "the first enters, two recoveries").with(crash(0, 0, 2)).with(anybody),
                small(2, "the last enters, two recoveries").with(crash(1, 0, 2)).with(anybody),
                small(3, "the second enters and recovers").with(crash(1, 1, 1)),
                small(3, "the last enters, the second recovers").with(crash(2, 1, 1)),
                small(3, "the second enters, the last recovers").with(crash(1, 2, 1)),
                alone(small(2, "the first enters, no detector").with(crash(0, 1, 1)).with(anybody)),
                alone(small(2, "the last enters, no detector").with(crash(1, 1, 1)).with(anybody)),
                alone(small(3, "the first enters, no detector").with(crash(0, 1, 1)).with(anybody)),
                alone(small(3, "the second enters, no detector").with(crash(1, 1, 1)).with(anybody)),
                alone(small(3, "the last enters, no detector").with(crash(2, 1, 1)).with(anybody)),
            ]
        }
        _ => Vec::new(),
    }
}

/// Two processes by clocks that drift, under a fault.
pub(super) fn timed(entry: &'static Entry, options: &BTreeMap<String, String>, fault: Fault) -> Model {
    let mut timed = model(entry.name, 2);
    timed.name = format!("n = 2, {}, timed", fault.name());
    timed.name.extend(options.iter().map(|(name, value)| format!(", {name} = {value}")));
    timed.options.clone_from(options);
    let speed = Speed { drift: 10_000, delay: (Duration::ZERO, Duration::from_millis(1)) };
    (timed.setting.timers, timed.setting.properties) = (Timers::Timed(speed), Properties::All);
    fault.allow(&mut timed.setting);
    timed
}
