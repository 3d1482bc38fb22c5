//! The models in which the mutants of an algorithm are tried: many small ones.

use std::collections::BTreeMap;

use habemus::catalogue::Entry;
use habemus::{Address, ProblemKind};

use super::locks;
use super::model::{Model, model};
use super::planted::{Planted, planted};
use crate::guarantees::{self, FAULTS, Fault};
use crate::setting::{Properties, Setting, Start, Timers};

/// Options that the table of guarantees leaves as they usually are, and that give other rules their turn.
const OPTIONS: [(&str, &str, &str); 3] =
    [("all-to-all", "candidates", "told"), ("collecting-ring", "leader", "3"), ("bully", "leader", "3")];

/// What goes wrong in a model.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Trouble {
    One(Fault),
    /// Crashes and recoveries one after the other: what one leaves behind meets the next.
    Repeated {
        name: &'static str,
        crashes: u8,
        recoveries: u8,
    },
}

const NO_TROUBLE: Trouble = Trouble::One(Fault::None);
const REPEATED: [Trouble; 3] = [
    Trouble::Repeated { name: "two crashes", crashes: 2, recoveries: 0 },
    Trouble::Repeated { name: "two crashes and a recovery", crashes: 2, recoveries: 1 },
    Trouble::Repeated { name: "two crashes and recoveries", crashes: 2, recoveries: 2 },
];

impl Trouble {
    fn name(self) -> &'static str {
        match self {
            Trouble::One(fault) => fault.name(),
            Trouble::Repeated { name, .. } => name,
        }
    }

    fn allow(self, setting: &mut Setting) {
        match self {
            // As often as that all runs can be covered.
            Trouble::One(Fault::WrongTimeouts) => setting.budget.wrong_timeouts = 2,
            Trouble::One(fault) => fault.allow(setting),
            Trouble::Repeated { crashes, recoveries, .. } => {
                (setting.budget.crashes, setting.budget.recoveries) = (crashes, recoveries);
            }
        }
    }
}

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
    for (_, name, value) in OPTIONS.iter().filter(|(algorithm, ..)| *algorithm == entry.name) {
        options.push(BTreeMap::from([((*name).to_owned(), (*value).to_owned())]));
    }
    options.extend(locks::options(entry));
    let troubles = || FAULTS.map(Trouble::One).into_iter().chain(REPEATED);
    for (options, trouble) in options.iter().flat_map(|options| troubles().map(move |it| (options, it))) {
        if let Trouble::One(fault) = trouble
            && is_lock
            && fault != Fault::WrongTimeouts
            && options.values().any(|value| value.ends_with("ms"))
        {
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
                Timers::AnyTime => trouble != Trouble::One(Fault::WrongTimeouts),
                // Who stays inside while time passes is of interest where there are timeouts.
                Timers::LateClients => !options.is_empty() && is_lock,
                _ => true,
            };
            for timers in all.filter(may_be) {
                let mut model = small(entry, trouble, processes, &asking, timers);
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
        let four = small(entry, NO_TROUBLE, 4, &asking, usual);
        models.push(four.clone().ids(&[1, 3, 2, 4]));
        models.push(four);
    }
    if entry.problem == ProblemKind::Election {
        let all = (0..4).map(Address).collect::<Vec<_>>();
        let four = small(entry, NO_TROUBLE, 4, &all, usual);
        models.extend([[4, 2, 3, 1], [2, 4, 1, 3]].map(|ids| four.clone().ids(&ids)));
    }
    if entry.topologies.contains(&"line") {
        // Two that both are the best of all that they know, and others between them.
        for trouble in [NO_TROUBLE, Trouble::One(Fault::Reordering)] {
            for starters in [0..1, 0..5] {
                let asking: Vec<Address> = starters.map(Address).collect();
                let line = small(entry, trouble, 5, &asking, usual).topology("line");
                models.push(line.ids(&[1, 3, 5, 4, 2]));
            }
        }
        let all: Vec<Address> = (0..4).map(Address).collect();
        models.push(small(entry, NO_TROUBLE, 4, &all, usual).topology("complete"));
    }
    if is_lock {
        models.extend(locks::of_lock(entry, usual));
    }
    models
}

/// What may go wrong together with something else: what one leaves behind may be what the other needs.
const PAIRED: [Fault; 6] = [
    Fault::WrongTimeouts,
    Fault::Crash,
    Fault::CrashAndRecovery,
    Fault::Loss,
    Fault::FalseSuspicion,
    Fault::Partition,
];

/// Two different faults among three processes, of which two begin, or all.
pub(super) fn pairs(entry: &'static Entry) -> Vec<Model> {
    let mut models = Vec::new();
    for (index, one) in PAIRED.into_iter().enumerate() {
        for other in PAIRED.into_iter().skip(index + 1) {
            // Whoever begins alone may be cut off and crash, and then nobody knows that it was asked.
            for starters in [0..2, 0..3] {
                let asking: Vec<Address> = starters.map(Address).collect();
                let mut model = small(entry, Trouble::One(one), 3, &asking, Timers::MessagesFirst);
                other.allow(&mut model.setting);
                model.setting.budget.wrong_timeouts = model.setting.budget.wrong_timeouts.min(1);
                model.name = format!("n = 3, {} begin, {} and {}", asking.len(), one.name(), other.name());
                models.push(model);
            }
        }
    }
    models
}

fn small(entry: &Entry, trouble: Trouble, processes: u64, asking: &[Address], timers: Timers) -> Model {
    let mut small = model(entry.name, processes);
    small.name = format!("n = {processes}, {} begin, {}", asking.len(), trouble.name());
    small.setting.timers = timers;
    trouble.allow(&mut small.setting);
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
