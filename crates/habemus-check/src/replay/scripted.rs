//! A repeated run as a scenario.

use std::time::Duration;

use habemus_report::Finding;
use habemus_scenario::{Expectations, Network, Scenario, TimeModel, TopologyChoice, Until};
use habemus_trace::Happening;

use super::Replay;

/// The scenario in which every message, timer and suspicion waits for the script, and the script calls them
/// as they happened.
pub(super) fn scenario(replay: &Replay) -> Scenario {
    let report = &replay.report;
    let trace = report.trace.as_ref().expect("who judges a trace keeps it");
    let header = &trace.header;
    let violated = report.properties.iter().filter(|line| line.verdict == Finding::Violated);
    let id = |address: u32| header.processes.get(address as usize).copied().unwrap_or_default();
    let links = replay.origin.links.iter().map(|&(one, other)| (id(one), id(other))).collect::<Vec<_>>();
    let named = replay.origin.topology.clone().map(TopologyChoice::Named);
    // Where all happens at once, even so some time must pass for it.
    let last = trace.records.last().map_or(0, |record| record.at).max(1);
    Scenario {
        title: header.title.clone(),
        algorithm: header.algorithm.clone(),
        ids: header.processes.clone(),
        topology: named.or_else(|| (!links.is_empty()).then_some(TopologyChoice::Links(links))),
        detector: replay.origin.detector.clone(),
        options: replay.origin.options.clone(),
        seed: replay.origin.seed,
        choices: replay.choices.clone(),
        network: Network { model: TimeModel::Scripted, ..Network::default() },
        script: replay.script.clone(),
        // What breaks nothing until it is over must come to its end; else what happens later is of no
        // interest.
        until: if report.quiet { Until::Quiet } else { Until::Time(Duration::from_nanos(last)) },
        expect: Expectations {
            violates: violated.map(|line| line.name.clone()).collect(),
            ..Expectations::default()
        },
        ..Scenario::default()
    }
}

/// What a record says of its process, in words.
pub(super) fn describe(what: &Happening) -> String {
    match what {
        Happening::Start { recovered: false } => "starts".to_owned(),
        Happening::Start { recovered: true } => "recovers".to_owned(),
        Happening::Send { to, label, .. } => format!("sends {label} to {to}"),
        Happening::Deliver { from, label, .. } => format!("receives {label} from {from}"),
        Happening::Timer { label, .. } => format!("notices that the timer {label} has run out"),
        Happening::Command { label, .. } => format!("is told: {label}"),
        Happening::Output { label, .. } => format!("says '{label}'"),
        Happening::Suspect { suspect } => format!("suspects {suspect}"),
        Happening::Restore { restored } => format!("trusts {restored} again"),
        _ => "does something else".to_owned(),
    }
}
