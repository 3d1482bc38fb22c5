//! The lock of the coordination service in the catalogue.

use super::super::{
    Chosen, Entry, Fault, Model, OptionSpec, Options, Promise, Request, Setup, SetupError, Timing, Values,
    mutant, rules, shape,
};
use super::lock;
use crate::analysis::{Arranged, Arrangement, Bound, CostModel, Start, shuffled_ids};
use crate::mutex::service::{Config, Service, Variant};
use crate::topology::Complete;
use crate::{Chooser, ProblemKind, System};

/// What may befall links, clients and the members that keep the log.
const FAULTS: &[Fault] = &[
    Fault::Reordering,
    Fault::Crash,
    Fault::Recovery,
    Fault::Loss,
    Fault::Duplication,
    Fault::Partition,
    Fault::Cut,
    Fault::Pause,
    Fault::Drift,
    Fault::LateHolder,
];

/// Why somebody may wait for ever where processes crash for good.
const LOG_GONE: &str = "the log may be what has crashed";

pub(in crate::catalogue) const ENTRY: Entry = Entry {
    name: "service",
    problem: ProblemKind::MutualExclusion,
    summary: "the coordination service: sessions and a queue in a log, clients that leave in time",
    model: Model::new(Timing::EventuallyTimely, FAULTS)
        .besides("clocks that differ by at most a tenth each way"),
    topologies: &["complete"],
    detectors: &[],
    promises: &[
        Promise::of("EM1")
            .except(&[Fault::Pause], "who is stopped cannot know that its session is over")
            .regardless(),
        Promise::of("EM2").except(&[Fault::Crash], LOG_GONE),
        Promise::of("no-deadlock").except(&[Fault::Crash], LOG_GONE),
        Promise::of("no-starvation").except(&[Fault::Crash], LOG_GONE),
        Promise::of("bounded-waiting").except(FAULTS, "who is late or cut off is not in the queue yet"),
        Promise::of("fencing").regardless(),
    ],
    cost: "3 per entry, and 1 or 2 for each renewal",
    notes: "S4",
    options: &[
        OptionSpec {
            name: "ttl",
            values: Values::Text("duration"),
            default: "1s",
            help: "how long a session lives that is not renewed; the log waits a quarter longer",
        },
        OptionSpec {
            name: "keep-alive",
            values: Values::Text("true | false"),
            default: "true",
            help: "whether a holder renews its session as long as it is inside",
        },
        OptionSpec {
            name: "variant",
            values: Values::Variants(&[
                rules("complete"),
                mutant("mutant-no-grace"),
                mutant("mutant-reuses-token"),
                mutant("mutant-keeps-waiter"),
                mutant("mutant-unlocks-any"),
            ]),
            default: "complete",
            help: "the rules, or the rules with a deliberate bug",
        },
    ],
    cost_model: Some(CostModel { arrange, bound, again: None }),
};

pub(in crate::catalogue) fn build(
    entry: &'static Entry,
    request: &Request<'_>,
    options: &Options<'_>,
) -> Result<Chosen, SetupError> {
    let shape = shape::shape_for(entry, request)?;
    shape::detector_for(entry, request)?;
    let variants = [
        ("complete", Variant::Complete),
        ("mutant-no-grace", Variant::MutantNoGrace),
        ("mutant-reuses-token", Variant::MutantReusesToken),
        ("mutant-keeps-waiter", Variant::MutantKeepsWaiter),
        ("mutant-unlocks-any", Variant::MutantUnlocksAny),
    ];
    let default = Config::default();
    let config = Config {
        ttl: options.positive("ttl")?.unwrap_or(default.ttl),
        keep_alive: options.flag("keep-alive")?.unwrap_or(default.keep_alive),
        variant: options.choice("variant", &variants)?.unwrap_or_default(),
    };
    let system: System<Service> = System::new(Complete::new(request.ids.len()), request.ids.clone(), config)?;
    Ok(Setup::new(entry, system, None, &shape).term_invariant().into())
}

/// The first process keeps the log; one other, or all others, enter once.
fn arrange(_: Arrangement, start: Start, n: usize, chooser: &mut dyn Chooser) -> Arranged {
    let ids = shuffled_ids(n, chooser);
    let clients = ids.iter().copied().skip(1);
    let start = match start {
        Start::All => clients.collect(),
        Start::One => clients.take(1).collect(),
    };
    Arranged { ids, start, down: Vec::new() }
}

/// Nobody stays so long that it renews its session; of many that wait, the last ones renew theirs.
fn bound(_: Arrangement, start: Start, n: usize, option: &dyn Fn(&str) -> Option<String>) -> Option<Bound> {
    if ["variant", "ttl"].iter().any(|name| option(name).is_some()) {
        return None;
    }
    let others = n as f64 - 1.0;
    match start {
        Start::One => lock::exactly(3.0 * others.min(1.0), "3"),
        Start::All => lock::at_most(3.0 * others + others * others / 8.0, "3(n−1) + (n−1)²/8"),
    }
}
