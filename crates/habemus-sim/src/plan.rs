//! A scenario's script in the terms of a running system: addresses instead of identifiers, typed commands.

use std::collections::BTreeMap;
use std::time::Duration;

use habemus::{Address, Id, Problem, Process, Status, Suspicion, System, Topology};
use habemus_report::CueError;
use habemus_scenario::{Action, Cue, MessageFate, Occasion, Scenario, TimeModel, Trigger, TriggerKind};

use crate::network::Link;
use crate::time::{Time, nanos};

/// What happens when.
#[derive(Clone, Debug)]
pub(crate) struct Plan<P: Process> {
    /// In the order of time.
    pub(crate) timed: Vec<(Time, Deed<P>)>,
    pub(crate) triggered: Vec<Triggered<P>>,
}

/// An [`Action`], ready to be done.
#[derive(Clone, Debug)]
pub(crate) enum Deed<P: Process> {
    Command(habemus::Command<P>, Vec<Address>),
    Crash(Vec<Address>),
    Recover { processes: Vec<Address>, amnesia: bool },
    Pause(Vec<Address>),
    Resume(Vec<Address>),
    Slow { processes: Vec<Address>, by: Duration },
    Drift { processes: Vec<Address>, rate: f64 },
    Cut(Vec<Link>),
    Heal(Vec<Link>),
    HealAll,
    Loss(f64),
    Foretell { at: Address, suspicion: Suspicion },
    Message { fate: MessageFate, link: Link, nth: u32 },
    Fire { at: Address, timer: String },
}

/// A deed that waits for its occasion.
#[derive(Clone, Debug)]
pub(crate) struct Triggered<P: Process> {
    process: Option<Address>,
    kind: TriggerKind,
    /// How many more times it must happen.
    left: u32,
    deed: Deed<P>,
}

/// The lines of a script as they come to pass; those that wait for an event come first, in their own order.
fn in_order_of_time(script: &[Cue]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..script.len()).collect();
    order.sort_by_key(|&index| match script[index].occasion {
        Occasion::At(time) => Some(time),
        Occasion::When(_) => None,
    });
    order
}

impl<P: Process> Plan<P> {
    pub(crate) fn new(scenario: &Scenario, system: &System<P>) -> Result<Self, CueError> {
        let translator = Translator { system, directory: system.directory() };
        let mut plan = Plan { timed: Vec::new(), triggered: Vec::new() };
        for index in in_order_of_time(&scenario.script) {
            let Cue { occasion, action } = &scenario.script[index];
            if action.needs_scripted_network() && scenario.network.model != TimeModel::Scripted {
                return Err(CueError::NotScripted { cue: index, action: action.to_string() });
            }
            let deed = translator.deed(index, action)?;
            match occasion {
                Occasion::At(time) => plan.timed.push((nanos(*time), deed)),
                Occasion::When(Trigger { process, what, nth }) => plan.triggered.push(Triggered {
                    process: process.map(|id| translator.address(id)).transpose()?,
                    kind: what.clone(),
                    left: (*nth).max(1),
                    deed,
                }),
            }
        }
        Ok(plan)
    }

    /// Takes out the deeds whose occasion has come.
    pub(crate) fn occasion(&mut self, process: Address, occasion: Occurrence<'_>) -> Vec<Deed<P>> {
        let mut due = Vec::new();
        self.triggered.retain_mut(|triggered| {
            let fits =
                triggered.process.is_none_or(|wanted| wanted == process) && occasion.is(&triggered.kind);
            if fits {
                triggered.left -= 1;
            }
            let now = fits && triggered.left == 0;
            if now {
                due.push(triggered.deed.clone());
            }
            !now
        });
        due
    }
}

/// Something that a trigger may wait for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Occurrence<'a> {
    Sends(&'a str),
    Receives(&'a str),
    Becomes(Status, Status),
    Crashes,
    Suspects,
}

impl Occurrence<'_> {
    fn is(self, kind: &TriggerKind) -> bool {
        match (self, kind) {
            (Occurrence::Sends(sent), TriggerKind::Sends(wanted)) => sent == wanted,
            (Occurrence::Receives(received), TriggerKind::Receives(wanted)) => received == wanted,
            (Occurrence::Becomes(_, Status::Leading), TriggerKind::Leads) => true,
            (Occurrence::Becomes(_, Status::Following(_)), TriggerKind::Follows) => true,
            (Occurrence::Becomes(_, Status::Inside), TriggerKind::Enters) => true,
            (Occurrence::Becomes(Status::Inside, Status::Idle), TriggerKind::Leaves) => true,
            (Occurrence::Becomes(_, Status::Decided), TriggerKind::Decides) => true,
            (Occurrence::Crashes, TriggerKind::Crashes) => true,
            (Occurrence::Suspects, TriggerKind::Suspects) => true,
            _ => false,
        }
    }
}

struct Translator<'a, P: Process> {
    system: &'a System<P>,
    directory: BTreeMap<Id, Address>,
}

impl<P: Process> Translator<'_, P> {
    fn address(&self, id: u64) -> Result<Address, CueError> {
        self.directory.get(&Id(id)).copied().ok_or_else(|| CueError::UnknownProcess {
            id,
            known: self.directory.keys().map(|id| id.0).collect(),
        })
    }

    fn addresses(&self, ids: &[u64]) -> Result<Vec<Address>, CueError> {
        ids.iter().map(|id| self.address(*id)).collect()
    }

    fn links(&self, links: &[(u64, u64)]) -> Result<Vec<Link>, CueError> {
        links.iter().map(|(from, to)| Ok((self.address(*from)?, self.address(*to)?))).collect()
    }

    fn deed(&self, cue: usize, action: &Action) -> Result<Deed<P>, CueError> {
        Ok(match action {
            Action::Command { word, processes } => {
                let command = P::Problem::command(word).ok_or_else(|| CueError::UnknownCommand {
                    cue,
                    word: word.clone(),
                    problem: P::Problem::KIND,
                    known: P::Problem::COMMANDS.iter().map(|&word| word.to_owned()).collect(),
                })?;
                Deed::Command(command, self.addresses(processes)?)
            }
            Action::Crash(processes) => Deed::Crash(self.addresses(processes)?),
            Action::Recover { processes, amnesia } => {
                Deed::Recover { processes: self.addresses(processes)?, amnesia: *amnesia }
            }
            Action::Pause(processes) => Deed::Pause(self.addresses(processes)?),
            Action::Resume(processes) => Deed::Resume(self.addresses(processes)?),
            Action::Slow { processes, by } => Deed::Slow { processes: self.addresses(processes)?, by: *by },
            Action::Drift { processes, rate } => {
                Deed::Drift { processes: self.addresses(processes)?, rate: *rate }
            }
            Action::Cut(links) => Deed::Cut(self.links(links)?),
            Action::Heal(links) if links.is_empty() => Deed::HealAll,
            Action::Heal(links) => Deed::Heal(self.links(links)?),
            Action::Partition(groups) => Deed::Cut(self.partition(groups)?),
            Action::Loss(probability) => Deed::Loss(*probability),
            Action::Suspect { by, suspect } => Deed::Foretell {
                at: self.address(*by)?,
                suspicion: Suspicion::Suspect(self.address(*suspect)?),
            },
            Action::Restore { by, restored } => Deed::Foretell {
                at: self.address(*by)?,
                suspicion: Suspicion::Restore(self.address(*restored)?),
            },
            Action::Message { fate, from, to, nth } => {
                let link = (self.address(*from)?, self.address(*to)?);
                Deed::Message { fate: *fate, link, nth: *nth }
            }
            Action::Fire { process, timer } => {
                Deed::Fire { at: self.address(*process)?, timer: timer.clone() }
            }
        })
    }

    /// Every link between two groups, both ways; those not named form one more group.
    fn partition(&self, groups: &[Vec<u64>]) -> Result<Vec<Link>, CueError> {
        let mut group_of = vec![groups.len(); self.system.len()];
        for (group, members) in groups.iter().enumerate() {
            for member in self.addresses(members)? {
                group_of[member.index()] = group;
            }
        }
        let topology = &self.system.topology;
        let apart = |from: Address| {
            let group_of = &group_of;
            let away =
                topology.neighbours(from).filter(move |to| group_of[to.index()] != group_of[from.index()]);
            away.map(move |to| (from, to))
        };
        Ok(self.system.addresses().flat_map(apart).collect())
    }
}
