//! The eventual leader Ω in the catalogue.

use super::super::{
    Chosen, Entry, Fault, Model, OptionSpec, Options, Promise, Request, Setup, SetupError, Timing, Values,
    as_printed, mutant, rules, shape,
};
use crate::analysis::{Again, Arranged, Arrangement, Bound, BoundKind, CostModel, Start, shuffled_ids};
use crate::election::Wins;
use crate::election::omega::{Config, Omega, Variant};
use crate::topology::Complete;
use crate::{Chooser, ProblemKind, System};

pub(in crate::catalogue) const ENTRY: Entry = Entry {
    name: "omega",
    problem: ProblemKind::Election,
    summary: "all trust the live process that has crashed least often, some time after things have calmed \
        down",
    model: Model::new(
        Timing::EventuallyTimely,
        &[
            Fault::Reordering,
            Fault::Crash,
            Fault::Recovery,
            Fault::Loss,
            Fault::Duplication,
            Fault::Partition,
            Fault::Cut,
            Fault::Pause,
            Fault::Drift,
        ],
    ),
    topologies: &["complete"],
    detectors: &[],
    promises: &[
        Promise::of("E2"),
        Promise::of("termination"),
        Promise::of("agreement"),
        Promise::of("eventual-accuracy"),
    ],
    cost: "n(n−1) per interval, for ever",
    notes: "S3",
    options: &[
        OptionSpec {
            name: "variant",
            values: Values::Variants(&[
                rules("corrected"),
                as_printed("as-printed"),
                mutant("mutant-no-tie-break"),
                mutant("mutant-fixed-interval"),
                mutant("mutant-forgotten-incarnation"),
            ]),
            default: "corrected",
            help: "S3's rules with their gaps closed, by the letter, or with a deliberate bug",
        },
        OptionSpec {
            name: "interval",
            values: Values::Text("duration"),
            default: "100ms",
            help: "the interval between heartbeats at first",
        },
        OptionSpec {
            name: "increment",
            values: Values::Text("duration"),
            default: "50ms",
            help: "how much longer the interval becomes with each change of leader",
        },
        OptionSpec {
            name: "wins",
            values: Values::Text("lowest | highest"),
            default: "lowest",
            help: "which identifier wins among those that have crashed least often",
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
    shape::detector_for(entry, request)?;
    let default = Config::default();
    let variants = [
        ("corrected", Variant::Corrected),
        ("as-printed", Variant::AsPrinted),
        ("mutant-no-tie-break", Variant::NoTieBreak),
        ("mutant-fixed-interval", Variant::FixedInterval),
        ("mutant-forgotten-incarnation", Variant::ForgottenIncarnation),
    ];
    let ends = [("lowest", Wins::Lowest), ("highest", Wins::Highest)];
    let config = Config {
        variant: options.choice("variant", &variants)?.unwrap_or(default.variant),
        interval: options.positive("interval")?.unwrap_or(default.interval),
        increment: options.duration("increment")?.unwrap_or(default.increment),
        wins: options.choice("wins", &ends)?.unwrap_or(default.wins),
    };
    // By the letter everything comes to rest after the first interval.
    let perpetual = config.variant != Variant::AsPrinted;
    let system: System<Omega> = System::new(Complete::new(request.ids.len()), request.ids.clone(), config)?;
    // Who leads depends on who has crashed how often: nobody is best from the beginning.
    let mut setup = Setup { perpetual, ..Setup::new(entry, system, None, &shape) };
    // Everybody takes part from the beginning, whether or not it is told to.
    setup.population.is_sure_to_start = true;
    Ok(setup.into())
}

/// Everybody takes part from the beginning, whoever asks.
fn arrange(_: Arrangement, _: Start, n: usize, chooser: &mut dyn Chooser) -> Arranged {
    let ids = shuffled_ids(n, chooser);
    Arranged { start: ids.clone(), ids, down: Vec::new() }
}

/// All know the leader at the end of the first interval, and begin the second.
fn bound(_: Arrangement, _: Start, n: usize, option: &dyn Fn(&str) -> Option<String>) -> Option<Bound> {
    let plain = ["variant", "interval"];
    let count = n as f64;
    plain.iter().all(|name| option(name).is_none()).then_some(Bound {
        messages: 2.0 * count * (count - 1.0),
        kind: BoundKind::Exactly,
        formula: "2n(n−1)",
    })
}

/// After a crash all choose as one at the end of an interval in which they have not heard of the leader: the
/// second end since it crashed, at the latest. Who comes back chooses at the end of its first interval or, as
/// those of the others have become longer than its own, of its second; others have begun two meanwhile, at
/// most, and it three.
fn again(again: Again, n: usize) -> Option<Bound> {
    let others = n as f64 - 1.0;
    let (messages, formula) = match again {
        Again::Crash => (2.0 * others * others, "2(n−1)²"),
        Again::Recovery => (2.0 * others * others + 3.0 * others, "2(n−1)² + 3(n−1)"),
    };
    Some(Bound { messages, kind: BoundKind::AtMost, formula })
}
