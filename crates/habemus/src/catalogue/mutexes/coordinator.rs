//! The central server in the catalogue.

use super::super::{
    Chosen, Entry, Fault, Model, OptionSpec, Options, Promise, Request, Setup, SetupError, Timing, Values,
    as_printed, mutant, rules, shape,
};
use super::lock;
use crate::analysis::{Arranged, Arrangement, Bound, BoundKind, CostModel, Start, shuffled_ids};
use crate::mutex::coordinator::{Config, Coordinator, Variant};
use crate::topology::Complete;
use crate::{Address, Chooser, ProblemKind, System};

pub(in crate::catalogue) const ENTRY: Entry = Entry {
    name: "coordinator",
    problem: ProblemKind::MutualExclusion,
    summary: "a coordinator lets the participants in, in the order of their requests",
    model: Model::new(Timing::Asynchronous, &[Fault::Reordering]),
    topologies: &["complete"],
    detectors: &[],
    promises: &[
        Promise::of("EM1"),
        Promise::of("EM2"),
        Promise::of("no-deadlock"),
        Promise::of("no-starvation"),
        Promise::of("bounded-waiting"),
        Promise::of("fencing"),
    ],
    cost: "3 per entry, 4 with acknowledgement",
    notes: "S0, S1, S4",
    options: &[
        OptionSpec {
            name: "variant",
            values: Values::Variants(&[
                rules("complete"),
                as_printed("as-printed"),
                mutant("mutant-ignores-lease"),
            ]),
            default: "complete",
            help: "the rules; or any release frees, as in S4's rule 3; or a holder that minds no lease",
        },
        OptionSpec {
            name: "coordinator",
            values: Values::Text("identifier"),
            default: "the first process",
            help: "who coordinates; it may take part, too",
        },
        OptionSpec {
            name: "acknowledge",
            values: Values::Text("true | false"),
            default: "false",
            help: "whether the release is acknowledged, as in S4's diagrams",
        },
        OptionSpec {
            name: "timeout",
            values: Values::Text("duration | none"),
            default: "none",
            help: "after how long the coordinator takes a permission back",
        },
        OptionSpec {
            name: "lease",
            values: Values::Text("duration | none"),
            default: "none",
            help: "after how long a holder leaves by itself",
        },
        OptionSpec {
            name: "fencing",
            values: Values::Text("true | false"),
            default: "false",
            help: "whether holders get a token that the resource checks",
        },
        OptionSpec {
            name: "permits",
            values: Values::Text("number from 1"),
            default: "1",
            help: "how many may be inside at once, as in S1's car park",
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
        ("as-printed", Variant::AsPrinted),
        ("mutant-ignores-lease", Variant::MutantIgnoresLease),
    ];
    let config = Config {
        variant: options.choice("variant", &variants)?.unwrap_or_default(),
        coordinator: options.process("coordinator")?.map_or(Address(0), |(_, address)| address),
        acknowledge: options.flag("acknowledge")?.unwrap_or(false),
        timeout: options.duration_or_none("timeout")?.flatten(),
        lease: options.duration_or_none("lease")?.flatten(),
        fencing: options.flag("fencing")?.unwrap_or(false),
        permits: options.number("permits", 1..=u64::from(u32::MAX))?.unwrap_or(1) as usize,
    };
    let (permits, fencing) = (config.permits, config.fencing);
    // A holder that leaves by itself before the timeout is never taken for dead.
    let is_impatient = config.timeout.is_some();
    let leaves_in_time = config.lease.zip(config.timeout).is_some_and(|(lease, timeout)| lease < timeout);
    let system: System<Coordinator> =
        System::new(Complete::new(request.ids.len()), request.ids.clone(), config)?;
    let mut setup = lock::fenced(Setup::new(entry, system, None, &shape), fencing);
    setup.population.permits = permits;
    if permits > 1 {
        // Of two that are let in at once, the one that hears of it first may be back before the other has.
        setup.contract = setup.contract.without(&["bounded-waiting"]);
    }
    if is_impatient {
        let late: &[Fault] = match leaves_in_time {
            true => &[Fault::WrongTimeouts, Fault::Pause, Fault::Drift],
            false => &[Fault::WrongTimeouts, Fault::Pause, Fault::Drift, Fault::LateHolder],
        };
        setup.contract = setup.contract.except("EM1", late, "a slow holder is taken for dead");
        // Who is let in instead may be back before the one after has heard that it may enter.
        setup.contract =
            setup.contract.except("bounded-waiting", late, "who is slow to enter is taken for dead");
    }
    Ok(setup.into())
}

/// The first process coordinates; one other, or all others, enter once.
fn arrange(_: Arrangement, start: Start, n: usize, chooser: &mut dyn Chooser) -> Arranged {
    let ids = shuffled_ids(n, chooser);
    let clients = ids.iter().copied().skip(1);
    let start = match start {
        Start::All => clients.collect(),
        Start::One => clients.take(1).collect(),
    };
    Arranged { ids, start, down: Vec::new() }
}

fn bound(_: Arrangement, start: Start, n: usize, option: &dyn Fn(&str) -> Option<String>) -> Option<Bound> {
    if ["variant", "timeout", "lease", "coordinator"].iter().any(|name| option(name).is_some()) {
        return None;
    }
    let acknowledged = option("acknowledge").is_some_and(|value| value == "true");
    let entries = match start {
        Start::All => n.saturating_sub(1),
        Start::One => n.saturating_sub(1).min(1),
    } as f64;
    let (each, formula) = match (acknowledged, start) {
        (false, Start::All) => (3.0, "3(n−1)"),
        (true, Start::All) => (4.0, "4(n−1)"),
        (false, Start::One) => (3.0, "3"),
        (true, Start::One) => (4.0, "4"),
    };
    Some(Bound { messages: each * entries, kind: BoundKind::Exactly, formula })
}
