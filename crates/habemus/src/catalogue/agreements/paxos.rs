//! Paxos in the catalogue.

use super::super::{
    Chosen, Entry, Fault, Model, OptionSpec, Options, Promise, Request, Setup, SetupError, Survivors, Timing,
    Values, mutant, rules, shape, stack,
};
use crate::agreement::paxos::{Config, Paxos, Variant};
use crate::analysis::{Arranged, Arrangement, Bound, BoundKind, CostModel, Start, shuffled_ids};
use crate::topology::Complete;
use crate::{Chooser, Id, ProblemKind, System};

pub(in crate::catalogue) const ENTRY: Entry = Entry {
    name: "paxos",
    problem: ProblemKind::Agreement,
    summary: "the leader that the detector points to has a majority promise, then accept: nobody decides \
        otherwise",
    model: Model::new(
        Timing::Asynchronous,
        &[
            Fault::Reordering,
            Fault::Crash,
            Fault::Recovery,
            Fault::Loss,
            Fault::Duplication,
            Fault::FalseSuspicion,
            Fault::Partition,
            Fault::Cut,
        ],
    )
    .if_up(Survivors::Majority)
    .besides("a detector that is right in the end"),
    topologies: &["complete"],
    detectors: stack::DETECTORS,
    promises: &[
        Promise::of("agreement").regardless(),
        Promise::of("validity").regardless(),
        Promise::of("integrity").regardless(),
        Promise::of("termination")
            .except(&[Fault::WrongTimeouts], "if every ballot comes too late, nobody need ever decide (FLP)"),
    ],
    cost: "6(n−1) if the leader proposes, and one more of each other that does",
    notes: "S1, S3",
    options: &[
        OptionSpec {
            name: "variant",
            values: Values::Variants(&[
                rules("paxos"),
                mutant("mutant-ignores-accepted"),
                mutant("mutant-half-quorum"),
                mutant("mutant-forgets-promise"),
                mutant("mutant-earliest-accepted"),
                mutant("mutant-unbound-acceptance"),
            ]),
            default: "paxos",
            help: "the rules, or the rules with a deliberate bug",
        },
        OptionSpec {
            name: "retry",
            values: Values::Text("duration"),
            default: "100ms",
            help: "how long to wait for answers at least before trying again; at most twice as long",
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
    let variants = [
        ("paxos", Variant::Paxos),
        ("mutant-ignores-accepted", Variant::MutantIgnoresAccepted),
        ("mutant-half-quorum", Variant::MutantHalfQuorum),
        ("mutant-forgets-promise", Variant::MutantForgetsPromise),
        ("mutant-earliest-accepted", Variant::MutantEarliestAccepted),
        ("mutant-unbound-acceptance", Variant::MutantUnboundAcceptance),
    ];
    let default = Config::default();
    let config = Config {
        variant: options.choice("variant", &variants)?.unwrap_or(default.variant),
        retry: options.positive("retry")?.unwrap_or(default.retry),
    };
    let system: System<Paxos> = System::new(Complete::new(request.ids.len()), request.ids.clone(), config)?;
    stack::on_detector(Setup::new(entry, system, None, &shape).term_invariant(), request, options)
}

/// One proposes, the leader, or all do.
fn arrange(_: Arrangement, start: Start, n: usize, chooser: &mut dyn Chooser) -> Arranged {
    let ids = shuffled_ids(n, chooser);
    let start = match start {
        Start::All => ids.clone(),
        Start::One => vec![Id(1)],
    };
    Arranged { ids, start, down: Vec::new() }
}

fn bound(_: Arrangement, start: Start, n: usize, option: &dyn Fn(&str) -> Option<String>) -> Option<Bound> {
    if option("variant").is_some_and(|variant| variant != "paxos") || option("retry").is_some() {
        return None;
    }
    let others = n as f64 - 1.0;
    let (messages, formula) = match start {
        Start::One => (6.0 * others, "6(n−1)"),
        Start::All => (7.0 * others, "7(n−1)"),
    };
    Some(Bound { messages, kind: BoundKind::Exactly, formula })
}
