//! The elected coordinator in the catalogue.

use std::collections::BTreeMap;
use std::time::Duration;

use super::super::{
    Chosen, Entry, Fault, Model, OptionSpec, Options, Promise, Request, Setup, SetupError, Survivors, Timing,
    Values, Visitor, build as any, mutant, rules, shape, stack,
};
use super::lock;
use crate::analysis::{Again, Arranged, Arrangement, Bound, CostModel, Start};
use crate::election::any::{AnyElection, Choice};
use crate::mutex::elected::{Config, Elected, Reigns, Variant};
use crate::topology::Complete;
use crate::{Chooser, Id, ProblemKind, Process, System};

/// The elections that can be held again and again, and choose one leader only.
const ELECTIONS: &[&str] = &[
    "bully",
    "majority",
    "stable",
    "omega",
    "collecting-ring",
    "chang-roberts",
    "franklin",
    "hirschberg-sinclair",
    "dolev-klawe-rodeh",
    "itai-rodeh",
    "yo-yo",
    "capture-async",
    "capture-sync",
    "all-to-all",
];

/// What the options of the election begin with here.
const PREFIX: &str = "election-";

pub(in crate::catalogue) const ENTRY: Entry = Entry {
    name: "elected-coordinator",
    problem: ProblemKind::MutualExclusion,
    summary: "whoever is elected coordinates; the next one asks everybody where they stand",
    model: Model::new(Timing::Timely, &[Fault::Crash, Fault::Recovery, Fault::LateHolder])
        .besides("as the election needs; a detector that is right, or leases on an election by majority"),
    topologies: &["complete"],
    detectors: stack::DETECTORS,
    promises: &[
        Promise::of("EM1").regardless(),
        Promise::of("EM2"),
        Promise::of("no-deadlock"),
        Promise::of("no-starvation"),
        Promise::of("fencing").regardless(),
    ],
    cost: "4 per entry; 2(n−1) and the election for a new coordinator",
    notes: "S4",
    options: &[
        OptionSpec {
            name: "election",
            values: Values::Text(
                "bully | majority | stable | omega | collecting-ring | chang-roberts | franklin | \
                     hirschberg-sinclair | dolev-klawe-rodeh | itai-rodeh | yo-yo | all-to-all | \
                     capture-sync | capture-async",
            ),
            default: "bully",
            help: "what elects the coordinator",
        },
        OptionSpec {
            name: "election-*",
            values: Values::Text("as the election says"),
            default: "as the election says",
            help: "any option of the election, such as election-min-timeout",
        },
        OptionSpec {
            name: "lease",
            values: Values::Text("duration | none"),
            default: "none; 1s with majority",
            help: "after how long a holder leaves by itself",
        },
        OptionSpec {
            name: "retry",
            values: Values::Text("duration"),
            default: "200ms",
            help: "after how long to say again what nobody has answered",
        },
        lock::FENCING,
        OptionSpec {
            name: "keep-alive",
            values: Values::Text("true | false"),
            default: "false; true on real nodes",
            help: "whether a holder renews its lease as long as it is inside",
        },
        OptionSpec {
            name: "variant",
            values: Values::Variants(&[
                rules("complete"),
                mutant("mutant-forgetful"),
                mutant("mutant-ignores-lease"),
                mutant("mutant-no-margin"),
            ]),
            default: "complete",
            help: "the rules, or the rules with a deliberate bug",
        },
    ],
    cost_model: Some(CostModel { arrange, bound, again: Some(again) }),
};

/// With leases, and an election by majority below, the detector may be wrong.
const LEASED: Model = Model::new(
    Timing::EventuallyTimely,
    &[
        Fault::Reordering,
        Fault::Crash,
        Fault::Recovery,
        Fault::Loss,
        Fault::Duplication,
        Fault::FalseSuspicion,
        Fault::Partition,
        Fault::Cut,
        Fault::Drift,
        Fault::LateHolder,
    ],
)
.if_up(Survivors::Majority);

pub(in crate::catalogue) fn build(
    entry: &'static Entry,
    request: &Request<'_>,
    options: &Options<'_>,
) -> Result<Chosen, SetupError> {
    let shape = shape::shape_for(entry, request)?;
    let choices: Vec<(&str, &str)> = ELECTIONS.iter().map(|name| (*name, *name)).collect();
    let name = options.choice("election", &choices)?.unwrap_or("bully");
    let below = election(name, request)?;
    let majority = match &below.choice {
        Choice::Majority(system) => Some(system.config.weights.clone()),
        _ => None,
    };
    let variants = [
        ("complete", Variant::Complete),
        ("mutant-forgetful", Variant::MutantForgetful),
        ("mutant-ignores-lease", Variant::MutantIgnoresLease),
        ("mutant-no-margin", Variant::MutantNoMargin),
    ];
    let network = Complete::new(request.ids.len());
    let config = Config {
        election: System::new(network.clone(), request.ids.clone(), below.choice.clone())?,
        lease: options
            .duration_or_none("lease")?
            .unwrap_or(majority.as_ref().map(|_| Duration::from_secs(1))),
        retry: options.positive("retry")?.unwrap_or(Duration::from_millis(200)),
        majority,
        fencing: lock::fencing(options)?,
        keep_alive: options.flag("keep-alive")?.unwrap_or(false),
        reigns: Reigns::Counted,
        variant: options.choice("variant", &variants)?.unwrap_or_default(),
    };
    let system: System<Elected<AnyElection>> = System::new(network, request.ids.clone(), config)?;
    let Below { perpetual, synchronous, .. } = below;
    let is_leased = system.config.majority.is_some() && system.config.lease.is_some();
    let fencing = system.config.fencing;
    let setup = Setup { perpetual, synchronous, ..Setup::new(entry, system, None, &shape) };
    // A token is made of the number of a reign, which matters then.
    let setup = if fencing { setup } else { setup.term_invariant() };
    let mut setup = lock::fenced(setup, fencing);
    if is_leased {
        setup.contract.model = LEASED;
    }
    stack::on_detector(setup, request, options)
}

/// The first entry of all: nobody coordinates yet. The best process asks, or the worst, or anybody.
fn arrange(arrangement: Arrangement, start: Start, n: usize, chooser: &mut dyn Chooser) -> Arranged {
    let ids: Vec<Id> = (1..=n as u64).map(Id).collect();
    let start = match (start, arrangement) {
        (Start::All, _) => ids.clone(),
        (Start::One, Arrangement::Best) => vec![ids[n - 1]],
        (Start::One, Arrangement::Worst) => vec![ids[0]],
        (Start::One, Arrangement::Random) => vec![ids[chooser.choose(n as u32) as usize]],
    };
    Arranged { ids, start, down: Vec::new() }
}

/// With the bully election: 2n² at most to elect, a question to everybody and its answer, and four for each
/// entry. If the best process begins, it announces itself, asks everybody where they stand, and enters.
fn bound(
    arrangement: Arrangement,
    start: Start,
    n: usize,
    option: &dyn Fn(&str) -> Option<String>,
) -> Option<Bound> {
    if ["variant", "election", "lease", "retry", "keep-alive"].iter().any(|name| option(name).is_some()) {
        return None;
    }
    let count = n as f64;
    let office = 2.0 * count * count + 2.0 * (count - 1.0);
    match (start, arrangement) {
        (Start::One, Arrangement::Best) => lock::exactly(3.0 * (count - 1.0), "3(n−1)"),
        (Start::One, _) => lock::at_most(office + 4.0, "2n² + 2(n−1) + 4"),
        (Start::All, _) => lock::at_most(office + 4.0 * count, "2n² + 2(n−1) + 4n"),
    }
}

/// The bully's election, and the new coordinator asks everybody where they stand. After a recovery both may
/// take office, and each again when it hears that its reign was over already: four questions to everybody,
/// and the answers. Who takes office after a retry asks twice; by then the bully is done, with far fewer than
/// 2n².
fn again(again: Again, n: usize) -> Option<Bound> {
    let count = n as f64;
    let election = 2.0 * count * count;
    match again {
        Again::Crash => lock::at_most(election + 2.0 * (count - 1.0), "2n² + 2(n−1)"),
        Again::Recovery => lock::at_most(election + 8.0 * count, "2n² + 8n"),
    }
}

/// The election as the catalogue builds it: as a service, its options being those with the prefix.
fn election(name: &str, request: &Request<'_>) -> Result<Below, SetupError> {
    let stripped = |(option, value): (&String, &String)| {
        option.strip_prefix(PREFIX).map(|option| (option.to_owned(), value.clone()))
    };
    let options: BTreeMap<String, String> = request.options.iter().filter_map(stripped).collect();
    let entry = super::super::entry(name)?;
    // On an oracle it is a service, and nothing is stacked under it here: the lock stands on the detector. If
    // it stands on none, an election that is held again by itself may know.
    let detector = match (request.detector, entry.detectors) {
        (_, []) => None,
        (Some("none"), ["oracle", ..]) => Some("none"),
        (_, known) => known.contains(&"oracle").then_some("oracle"),
    };
    let request = Request { algorithm: name, shape: None, detector, options: &options, ..request.clone() };
    any(&request)?.accept(Keep)?.ok_or_else(|| SetupError::Unfit {
        what: "election",
        name: name.to_owned(),
        reason: "with these options it is not held again and again".to_owned(),
    })
}

/// What stands below the lock.
struct Below {
    choice: Choice,
    perpetual: bool,
    synchronous: bool,
}

/// Keeps the system of an election, whichever it is.
struct Keep;

impl Visitor for Keep {
    type Result = Option<Below>;

    fn visit<P: Process>(self, setup: Setup<P>) -> Option<Below> {
        let Setup { perpetual, synchronous, .. } = setup;
        Choice::of(setup.system).map(|choice| Below { choice, perpetual, synchronous })
    }
}
