//! The models in which the mutants of an algorithm are tried: many small ones.

use std::collections::BTreeMap;

use habemus::catalogue::Entry;
use habemus::{Address, ProblemKind};

use super::locks;
use super::model::{Model, model};
use super::planted::{Planted, planted};
use crate::guarantees::{self, FAULTS, Fault};
use crate::setting::{Properties, Setting, Start, Timers};

/// The models of the table of guarantees, those of planted mutants, and every fault among few processes of
/// which few begin.
pub(super) fn models(entry: &'static Entry) -> Vec<Model> {
    let rows = guarantees::models().into_iter();
    let rows = rows.filter(|row| row.entry.name == entry.name && row.variant.is_none());
    let mut models: Vec<Model> = rows.map(|row| Model::of_row(&row)).collect();
    let planted = planted().into_iter().filter(|planted| planted.model.algorithm == entry.name);
    models.extend(planted.map(|Planted { mutant, model, .. }| {
        let setting = Setting { properties: Properties::All, ..model.setting.clone() };
        Model { name: format!("that of {mutant}"), setting, ..model }
    }));
    let is_lock = entry.problem == ProblemKind::MutualExclusion;
    let usual = if is_lock { guarantees::timers(entry) } else { Timers::usual(entry) };
    // What is set otherwise somewhere in the table is put to every fault as well.
    let mut options = vec![BTreeMap::new()];
    for model in &models {
        if !options.contains(&model.options) {
            options.push(model.options.clone());
        }
    }
    options.extend(locks::options(entry));
    for (options, fault) in options.iter().flat_map(|options| FAULTS.map(|fault| (options, fault))) {
        if is_lock && fault != Fault::WrongTimeouts && options.values().any(|value| value.ends_with("ms")) {
            models.push(locks::timed(entry, options, fault));
        }
        // What is broken about one client of a lock is broken in very few states.
        let alone = [(2, 0..1), (2, 1..2)].into_iter().filter(|_| is_lock);
        let several = [(2, 0..2), (3, 0..1), (3, 2..3), (3, 1..3), (3, 0..3)];
        for (processes, starters) in alone.chain(several) {
            // Who asks is everybody, one, or two of three, who have rivals in fewer states.
            let asking: Vec<Address> = starters.map(Address).collect();
            // Where timers run out at any time, none is wrong.
            let all = [usual, Timers::MessagesFirst, Timers::LateClients].into_iter();
            let may_be = |timers: &Timers| match timers {
                Timers::AnyTime => fault != Fault::WrongTimeouts,
                // Who stays inside while time passes is of interest where there are timeouts.
                Timers::LateClients => !options.is_empty() && is_lock,
                _ => true,
            };
            for timers in all.filter(may_be) {
                let mut model = small(entry, fault, processes, &asking, timers);
                model.options.clone_from(options);
                model.name.extend(options.iter().map(|(name, value)| format!(", {name} = {value}")));
                match timers {
                    Timers::MessagesFirst if usual == Timers::AnyTime => {
                        model.name.push_str(", messages first");
                    }
                    Timers::LateClients => model.name.push_str(", late clients"),
                    _ => {}
                }
                // Where the first process may crash, nothing may be left that could be kept.
                let last = Address(processes as u32 - 1);
                let spared = model.clone().with(|setting| setting.faulty = vec![last]);
                let spared = Model { name: format!("{}, only the last", model.name), ..spared };
                let crashes = model.setting.budget.crashes > 0;
                for model in [Some(model), Some(spared).filter(|_| crashes)].into_iter().flatten() {
                    let is_new = models.iter().all(|known| {
                        (&known.ids, &known.options, &known.setting)
                            != (&model.ids, &model.options, &model.setting)
                    });
                    if is_new {
                        models.push(model);
                    }
                }
            }
        }
    }
    for starters in [0..1, 3..4, 0..4] {
        // Some rules of a ring apply only where there are enough to be beaten one after the other.
        let asking: Vec<Address> = starters.map(Address).collect();
        let four = small(entry, Fault::None, 4, &asking, usual);
        models.push(four.clone().ids(&[1, 3, 2, 4]));
        models.push(four);
    }
    if is_lock {
        models.extend(locks::of_lock(entry, usual));
    }
    models
}

fn small(entry: &Entry, fault: Fault, processes: u64, asking: &[Address], timers: Timers) -> Model {
    let mut small = model(entry.name, processes);
    small.name = format!("n = {processes}, {} begin, {}", asking.len(), fault.name());
    small.setting.timers = timers;
    match fault {
        // As often as that all runs can be covered.
        Fault::WrongTimeouts => small.setting.budget.wrong_timeouts = 2,
        fault => fault.allow(&mut small.setting),
    }
    small.setting.properties = Properties::All;
    match entry.problem {
        ProblemKind::MutualExclusion => {
            small.setting.clients = asking.to_vec();
            // Whoever waits for one that is down is served when it is back, if it is.
            small.setting.sure_recovery = small.setting.budget.recoveries > 0;
            // What is left over of one entry meets the next.
            small.setting.entries = if processes == 2 || asking.len() == 1 { 2 } else { 1 };
        }
        _ => small.setting.start = Start::These(asking.to_vec()),
    }
    small
}
