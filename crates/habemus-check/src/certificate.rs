//! What another program needs to recompute a check: docs/certificate.md says what each line means.
//!
//! A system is given as tables of numbers: what comes of each cause in each local state, what monitors make
//! of what they see. How these make a state graph is for the other program to work out; what is claimed of
//! the graph comes last.

use std::collections::BTreeSet;
use std::fmt::Write;

use habemus::Address;
use rustc_hash::FxHashMap;
use serde_json::{Value, json};

use crate::error::CheckError;
use crate::explore::{Explored, Stop, explore};
use crate::handle::CheckHandle;
use crate::local::Item;
use crate::protocol::{Life, Trouble};
use crate::row::situation;
use crate::search::Search;
use crate::selection::Selection;
use crate::setting::{DeliveryOrder, Timers};
use crate::world::{Expansion, Successors, Tables, Worker, World};

/// The version of the format.
const FORMAT: u32 = 1;

/// The certificate of a system whose every state is told apart and whose every order of events is explored.
///
/// # Errors
/// If there are more states than the setting allows, or a handler cannot be explored.
pub(crate) fn certify(
    world: &World,
    selection: &Selection,
    handle: &CheckHandle,
) -> Result<String, CheckError> {
    let search = Search::whole(world);
    let explored = explore(world, search, usize::MAX, handle)?;
    if explored.stop != Stop::Exhausted {
        let reason = "a certificate is of every state, and there are more than were allowed";
        return Err(CheckError::Unfit(reason.to_owned()));
    }
    let mut worker = Worker::new(world, search);
    let graph = Graph::new(world, &mut worker, &explored)?;
    let mut lines = vec![header(world, selection)];
    lines.extend(local_lines(world, &graph, &worker.tables()));
    lines.extend(table_lines(&worker.tables()));
    lines.extend(graph.items.iter().map(|&item| item_line(world, item)));
    lines.extend(graph.monitors.iter().map(|&monitors| judge_line(&mut worker, monitors)));
    lines.extend(explored.initial.iter().map(|initial| initial_line(world, &worker, &initial.row)));
    lines.push(claim(selection, &explored, &graph, &mut worker));
    Ok(lines.iter().fold(String::new(), |mut text, line| {
        let _ = writeln!(text, "{line}");
        text
    }))
}

/// The whole state graph, and what occurs in it.
struct Graph {
    /// Where the steps out of each state lead.
    successors: Vec<Vec<u32>>,
    /// The number of each state's monitors.
    monitors_of: Vec<u32>,
    locals: BTreeSet<u32>,
    items: BTreeSet<u32>,
    monitors: BTreeSet<u32>,
}

impl Graph {
    fn new(world: &World, worker: &mut Worker<'_>, explored: &Explored) -> Result<Self, Trouble> {
        let mut rows: Vec<Vec<u32>> = Vec::new();
        let mut numbers: FxHashMap<Vec<u32>, u32> = FxHashMap::default();
        let mut number = |row: &[u32], rows: &mut Vec<Vec<u32>>| {
            *numbers.entry(row.to_vec()).or_insert_with(|| {
                rows.push(row.to_vec());
                rows.len() as u32 - 1
            })
        };
        for initial in &explored.initial {
            number(&initial.row, &mut rows);
        }
        let mut graph = Graph {
            successors: Vec::new(),
            monitors_of: Vec::new(),
            locals: BTreeSet::new(),
            items: BTreeSet::new(),
            monitors: BTreeSet::new(),
        };
        let mut out = Successors::default();
        while let Some(row) = rows.get(graph.successors.len()).cloned() {
            let expansion = worker.expand(&row, &mut out)?;
            debug_assert!(expansion != Expansion::Merged, "nothing is merged here");
            let next = out.states.chunks_exact(world.width()).map(|row| number(row, &mut rows)).collect();
            graph.successors.push(next);
            for address in 0..world.processes() {
                let (local, inbox) = situation(&row, address);
                graph.locals.insert(local);
                graph.items.extend(worker.items(inbox));
            }
            graph.monitors_of.push(row[world.monitors_at()]);
            graph.monitors.insert(row[world.monitors_at()]);
        }
        Ok(graph)
    }

    /// Whether a run can go round for ever in states of which this is said.
    fn has_cycle(&self, mut is_so: impl FnMut(u32) -> bool) -> bool {
        let kept: Vec<bool> = self.monitors_of.iter().map(|&monitors| is_so(monitors)).collect();
        // States are taken away from which no step leads to one that is left: in the end only cycles are, and
        // ways to them.
        let mut leads: Vec<usize> = Vec::new();
        let mut before: Vec<Vec<u32>> = vec![Vec::new(); kept.len()];
        for (state, successors) in self.successors.iter().enumerate() {
            let inner = successors.iter().filter(|next| kept[state] && kept[**next as usize]);
            leads.push(inner.map(|next| before[*next as usize].push(state as u32)).count());
        }
        let ends = |state: &usize| kept[*state] && leads[*state] == 0;
        let mut gone: Vec<usize> = (0..kept.len()).filter(ends).collect();
        let mut left = kept.iter().filter(|kept| **kept).count();
        while let Some(state) = gone.pop() {
            left -= 1;
            for &earlier in &before[state] {
                leads[earlier as usize] -= 1;
                if leads[earlier as usize] == 0 {
                    gone.push(earlier as usize);
                }
            }
        }
        left > 0
    }
}

fn header(world: &World, selection: &Selection) -> Value {
    let (setting, facts) = (&world.setting, &world.system.facts);
    let budget = &setting.budget;
    json!({
        "certificate": FORMAT,
        "algorithm": facts.entry.name,
        "processes": world.processes(),
        "order": match setting.order { DeliveryOrder::Fifo => "fifo", DeliveryOrder::Any => "any" },
        "time": if setting.timers.have_order() { "in-order" } else { "any" },
        "pulses": facts.synchronous,
        "oracle": facts.oracle,
        "faulty": setting.faulty.iter().map(|address| address.0).collect::<Vec<_>>(),
        "budget": {
            "crashes": budget.crashes,
            "recoveries": budget.recoveries,
            "losses": budget.losses,
            "duplications": budget.duplications,
            "suspicions": budget.suspicions,
            "partitions": budget.partitions,
            "wrong-timeouts": budget.wrong_timeouts,
        },
        "properties": selection.checked,
    })
}

/// Every local state that a process can be in, or that it is in between, when time has passed and its timer
/// runs out.
fn local_lines(world: &World, graph: &Graph, tables: &Tables) -> Vec<Value> {
    let mut locals = graph.locals.clone();
    locals.extend(tables.elapsed.iter().map(|&(_, _, after)| after));
    let line = |&local: &u32| {
        let system = &world.system;
        let may_stay = world.setting.timers == Timers::LateClients && system.is_inside(local);
        let timers = system.timers(local).iter().map(|running| (running.timer, running.min, running.max));
        json!({
            "local": local,
            "life": match system.life(local) { Life::Up => "up", Life::Down => "down", Life::Dead => "dead" },
            "client": match (system.may_leave_it(local), may_stay) {
                (true, _) => "whim",
                (false, true) => "leisure",
                (false, false) => "owed",
            },
            "timers": timers.collect::<Vec<_>>(),
        })
    };
    locals.iter().map(line).collect()
}

fn table_lines(tables: &Tables) -> Vec<Value> {
    let mut lines = Vec::new();
    for (local, (kind, which), reactions) in &tables.reactions {
        lines.push(json!({ "local": local, "cause": kind, "which": which, "reactions": reactions }));
    }
    lines.extend(tables.halfways.iter().map(|((local, timer, choice, kept), reaction)| {
        json!({ "local": local, "halfway": [timer, choice, kept], "reactions": [reaction] })
    }));
    lines.extend(tables.elapsed.iter().map(|elapsed| json!({ "elapse": elapsed })));
    lines.extend(tables.watched.iter().map(|watched| json!({ "watch": watched })));
    lines
}

fn item_line(world: &World, item: u32) -> Value {
    match world.system.items.value(item) {
        Item::Message { from, .. } => json!({ "item": item, "from": from.0 }),
        Item::Notice(habemus::Suspicion::Suspect(Address(about))) => {
            json!({ "item": item, "suspect": about })
        }
        Item::Notice(habemus::Suspicion::Restore(Address(about))) => {
            json!({ "item": item, "restore": about })
        }
    }
}

fn judge_line(worker: &mut Worker<'_>, monitors: u32) -> Value {
    let judgement = worker.judge(monitors);
    let bits = |set: u32| (0..u32::BITS).filter(|bit| set >> bit & 1 == 1).collect::<Vec<_>>();
    json!({
        "monitors": monitors,
        "broken": bits(judgement.broken),
        "lacking": bits(judgement.lacking),
        "at-stake": bits(judgement.at_stake),
    })
}

fn initial_line(world: &World, worker: &Worker<'_>, row: &[u32]) -> Value {
    let situations = (0..world.processes()).map(|address| situation(row, address));
    let situations: Vec<Value> =
        situations.map(|(local, inbox)| json!([local, worker.items(inbox).collect::<Vec<_>>()])).collect();
    json!({ "initial": situations, "monitors": row[world.monitors_at()] })
}

/// What is to be recomputed.
fn claim(selection: &Selection, explored: &Explored, graph: &Graph, worker: &mut Worker<'_>) -> Value {
    let verdict = |(index, name): (usize, &&'static str)| {
        let violation = explored.violations.iter().find(|violation| violation.property == index);
        let lacking = explored.counts.lacking >> index & 1 == 1;
        let mut is_lacking = |monitors: u32| worker.judge(monitors).lacking >> index & 1 == 1;
        let verdict = match violation {
            Some(_) => "violated",
            // Whether such a run is fair is for the checker alone to say.
            None if lacking && graph.has_cycle(&mut is_lacking) => "rests-on-fairness",
            None if explored.counts.at_stake >> index & 1 == 0 => "does-not-apply",
            None => "holds",
        };
        let steps = violation.map(|violation| explored.depth_of(violation.state));
        json!({ "name": name, "verdict": verdict, "steps": steps })
    };
    let properties: Vec<Value> = selection.checked.iter().enumerate().map(verdict).collect();
    json!({
        "states": explored.visited.len(),
        "transitions": explored.counts.transitions,
        "quiet": explored.counts.quiet,
        "depth": explored.depth,
        "verdicts": properties,
    })
}
