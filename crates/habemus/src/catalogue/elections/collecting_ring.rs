//! The ring election that collects identifiers, in the catalogue.

use super::super::{
    Chosen, Entry, Fault, Model, OptionSpec, Options, Promise, Request, Setup, SetupError, Timing, Values,
    mutant, rules, shape, stack,
};
use super::{SIDES, WINS, preference, wins};
use crate::analysis::{Again, Arranged, Arrangement, Bound, BoundKind, CostModel, Start, shuffled_ids};
use crate::election::collecting_ring::{Announce, CollectingRing, Config, Member, Variant};
use crate::topology::Ring;
use crate::{Chooser, Id, ProblemKind, System};

/// Why an announcement to each may be missed for good.
const UNCONFIRMED: &str = "nobody confirms an announcement that does not go round, and each side of a \
    partition has the \
                           best of its own";

pub(in crate::catalogue) const ENTRY: Entry = Entry {
    name: "collecting-ring",
    problem: ProblemKind::Election,
    summary: "a list goes round a logical ring past the dead; the best on it leads",
    model: Model::new(Timing::Timely, &[Fault::Reordering, Fault::Crash, Fault::Recovery, Fault::Partition]),
    topologies: &["ring"],
    detectors: stack::DETECTORS,
    promises: &[
        Promise::of("E1").except(&[Fault::Partition], SIDES),
        Promise::of("E2"),
        Promise::of("termination"),
        Promise::of("agreement"),
        Promise::of("eventual-accuracy"),
    ],
    cost: "2n for each process that starts",
    notes: "S0, S4",
    options: &[
        OptionSpec {
            name: "variant",
            values: Values::Variants(&[
                rules("complete"),
                mutant("mutant-first-listed"),
                mutant("mutant-no-restart"),
            ]),
            default: "complete",
            help: "S0's rules with lost rounds repeated, or deliberately broken ones",
        },
        WINS,
        OptionSpec {
            name: "announce",
            values: Values::Text("ring | all | nobody"),
            default: "ring",
            help: "how COORDINATOR travels: round the ring or to each (S0), or not at all (S4)",
        },
        OptionSpec {
            name: "hop-timeout",
            values: Values::Text("duration"),
            default: "20ms",
            help: "how long a hop may take; after two turns of the ring a round is taken for lost",
        },
        OptionSpec {
            name: "leader",
            values: Values::Text("identifier"),
            default: "nobody",
            help: "who leads at the beginning",
        },
    ],
    cost_model: Some(CostModel { arrange, bound, again: Some(again) }),
};

pub(in crate::catalogue) fn build(
    entry: &'static Entry,
    request: &Request<'_>,
    options: &Options<'_>,
) -> Result<Chosen, SetupError> {
    let shape = shape::shape_for(entry, request)?;
    let config = configure(options)?;
    let (announce, hop) = (config.announce, config.hop_timeout);
    let preference = preference(&request.ids, config.wins, &[]);
    let system: System<CollectingRing> =
        System::new(Ring::logical(request.ids.len()), request.ids.clone(), config)?;
    let mut setup = Setup::new(entry, system, Some(preference), &shape);
    setup.contract.limit_latency(hop);
    setup.contract = match announce {
        Announce::Ring => setup.contract,
        Announce::All => ["E1", "E2", "agreement", "eventual-accuracy"]
            .iter()
            .fold(setup.contract, |contract, property| {
                contract.except(property, &[Fault::Recovery, Fault::Partition], UNCONFIRMED)
            }),
        Announce::Nobody => setup.contract.without(&["E2", "termination", "agreement", "eventual-accuracy"]),
    };
    stack::election_on_detector(setup, request, options)
}

fn configure(options: &Options<'_>) -> Result<Config, SetupError> {
    let default = Config::default();
    let variants = [
        ("complete", Variant::Complete),
        ("mutant-first-listed", Variant::MutantFirstListed),
        ("mutant-no-restart", Variant::MutantNoRestart),
    ];
    let announcements = [("ring", Announce::Ring), ("all", Announce::All), ("nobody", Announce::Nobody)];
    Ok(Config {
        variant: options.choice("variant", &variants)?.unwrap_or(default.variant),
        wins: wins(options)?,
        announce: options.choice("announce", &announcements)?.unwrap_or(default.announce),
        hop_timeout: options.duration("hop-timeout")?.unwrap_or(default.hop_timeout),
        leader: options.process("leader")?.map(|(id, address)| Member { id, address }),
    })
}

/// Where the identifiers lie makes no difference: every list goes all the way round. At best the best process
/// starts, and leads even if nobody is told. That the best is dead somebody must tell: see [`again`].
fn arrange(arrangement: Arrangement, start: Start, n: usize, chooser: &mut dyn Chooser) -> Arranged {
    let ids = shuffled_ids(n, chooser);
    let start = match (start, arrangement) {
        (Start::All, _) => ids.clone(),
        (Start::One, Arrangement::Best) => vec![Id(n as u64)],
        (Start::One, _) => vec![ids[chooser.choose(n as u32) as usize]],
    };
    Arranged { ids, start, down: Vec::new() }
}

fn bound(_: Arrangement, start: Start, n: usize, option: &dyn Fn(&str) -> Option<String>) -> Option<Bound> {
    let plain = ["variant", "hop-timeout", "leader"];
    if plain.iter().any(|name| option(name).is_some()) {
        return None;
    }
    let count = n as f64;
    let rounds = if start == Start::All { count } else { 1.0 };
    let (each, one, all) = match option("announce").as_deref() {
        None | Some("ring") => (2.0 * count, "2n", "2n²"),
        Some("all") => (2.0 * count - 1.0, "2n−1", "n(2n−1)"),
        Some("nobody") => (count, "n", "n²"),
        Some(_) => return None,
    };
    let formula = if start == Start::All { all } else { one };
    Some(Bound { messages: rounds * each, kind: BoundKind::Exactly, formula })
}

/// Everybody is told at once, and sends a list round. Who comes back sends one, too, and another if it hears
/// of a worse leader before the detector trusts it.
fn again(again: Again, n: usize) -> Option<Bound> {
    let count = n as f64;
    let (messages, formula) = match again {
        Again::Crash => (2.0 * count * count, "2n²"),
        Again::Recovery => (2.0 * count * (count + 1.0), "2n(n+1)"),
    };
    Some(Bound { messages, kind: BoundKind::AtMost, formula })
}
