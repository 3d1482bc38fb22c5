//! A scenario's script in the terms of a running system: addresses instead of identifiers, known commands.
//!
//! Nothing here knows the process: it is compiled once, not for every algorithm.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use habemus::{Address, Id, Problem, ProblemKind, Process, Status, Suspicion, System};
use habemus_report::CueError;
use habemus_scenario::{Action, Cue, Latency, MessageFate, Occasion, Scenario, Trigger, TriggerKind};

use crate::network::Link;
use crate::time::{Time, nanos};

/// What happens when.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// In the order of time.
    pub(crate) timed: Vec<(Time, Deed)>,
    pub(crate) triggered: Vec<Triggered>,
    /// What waits for a number of events, the first last.
    pub(crate) counted: Vec<Counted>,
}

/// A deed that waits for a number of events.
#[derive(Clone, Debug)]
pub(crate) struct Counted {
    /// Which line of the script it is.
    pub(crate) line: usize,
    pub(crate) events: u64,
    pub(crate) deed: Deed,
}

/// An [`Action`], ready to be done.
#[derive(Clone, Debug)]
pub(crate) enum Deed {
    /// To each of these processes, one after the other.
    Processes(Vec<Address>, ProcessDeed),
    Network(NetworkDeed),
    Foretell {
        at: Address,
        suspicion: Suspicion,
    },
    Message {
        fate: MessageFate,
        link: Link,
        nth: u32,
    },
    Fire {
        at: Address,
        timer: String,
    },
}

/// What is done to a process.
#[derive(Clone, Debug)]
pub(crate) enum ProcessDeed {
    /// By one of the problem's words.
    Command(String),
    Crash,
    Recover {
        amnesia: bool,
    },
    Pause,
    Resume,
    Drift {
        rate: f64,
    },
}

/// What is done to the network.
#[derive(Clone, Debug)]
pub(crate) enum NetworkDeed {
    Slow { processes: Vec<Address>, by: Duration },
    Cut(Vec<Link>),
    Heal(Vec<Link>),
    HealAll,
    Loss(f64),
}

/// A deed that waits for its occasion.
#[derive(Clone, Debug)]
pub(crate) struct Triggered {
    /// Which line of the script it is.
    pub(crate) line: usize,
    process: Option<Address>,
    kind: TriggerKind,
    /// How many more times it must happen.
    left: u32,
    deed: Deed,
}

/// What a plan must know of a system.
pub(crate) struct Surroundings<'a> {
    pub(crate) ids: &'a [Id],
    /// Where each identifier lives, worked out when it is first asked: of a million processes this is no
    /// trifle.
    directory: OnceCell<BTreeMap<Id, Address>>,
    neighbours: &'a dyn Fn(Address) -> Vec<Address>,
    is_command: fn(&str) -> bool,
    problem: ProblemKind,
    commands: &'static [&'static str],
}

impl<'a> Surroundings<'a> {
    /// Those of a system; `neighbours` are whom its topology lets a process send to.
    pub(crate) fn of<P: Process>(
        system: &'a System<P>,
        neighbours: &'a dyn Fn(Address) -> Vec<Address>,
    ) -> Self {
        Surroundings {
            ids: &system.ids,
            directory: OnceCell::new(),
            neighbours,
            is_command: |word| P::Problem::command(word).is_some(),
            problem: P::Problem::KIND,
            commands: P::Problem::COMMANDS,
        }
    }
}

/// The lines of a script as they come to pass; those that wait for an event come first, in their own order.
fn in_order_of_time(script: &[Cue]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..script.len()).collect();
    order.sort_by_key(|&index| match script[index].occasion {
        Occasion::At(time) => Some(time),
        Occasion::When(_) | Occasion::After(_) => None,
    });
    order
}

impl Plan {
    pub(crate) fn new(scenario: &Scenario, surroundings: &Surroundings<'_>) -> Result<Self, CueError> {
        let mut plan = Plan { timed: Vec::new(), triggered: Vec::new(), counted: Vec::new() };
        for index in in_order_of_time(&scenario.script) {
            let Cue { occasion, action } = &scenario.script[index];
            let deed = surroundings.deed(index, action)?;
            match occasion {
                Occasion::After(events) => {
                    plan.counted.push(Counted { line: index, events: *events, deed });
                }
                Occasion::At(time) => plan.timed.push((nanos(*time), deed)),
                Occasion::When(Trigger { process, what, nth }) => plan.triggered.push(Triggered {
                    line: index,
                    process: process.map(|id| surroundings.address(id)).transpose()?,
                    kind: what.clone(),
                    left: (*nth).max(1),
                    deed,
                }),
            }
        }
        // Of those for the same number, the first line is the first to be taken from the end.
        plan.counted.reverse();
        plan.counted.sort_by_key(|counted| std::cmp::Reverse(counted.events));
        Ok(plan)
    }

    /// Whom the script has crash at the very beginning.
    pub(crate) fn dead_from_the_beginning(&self) -> BTreeSet<Address> {
        let at_once = self.timed.iter().take_while(|(time, _)| *time == 0);
        let crashes = at_once.filter_map(|(_, deed)| match deed {
            Deed::Processes(processes, ProcessDeed::Crash) => Some(processes),
            _ => None,
        });
        crashes.flatten().copied().collect()
    }

    /// Takes out the deeds whose occasion has come.
    pub(crate) fn occasion(&mut self, process: Address, occasion: Occurrence<'_>) -> Vec<Deed> {
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

impl Surroundings<'_> {
    /// The latencies of particular links, of those that there are.
    pub(crate) fn latencies(&self, links: &BTreeMap<(u64, u64), Latency>) -> Vec<(Link, Latency)> {
        let known = links.iter().filter_map(|((from, to), latency)| {
            Some(((self.address(*from).ok()?, self.address(*to).ok()?), latency.clone()))
        });
        known.collect()
    }

    fn address(&self, id: u64) -> Result<Address, CueError> {
        let directory =
            self.directory.get_or_init(|| self.ids.iter().copied().zip((0..).map(Address)).collect());
        directory
            .get(&Id(id))
            .copied()
            .ok_or_else(|| CueError::UnknownProcess { id, known: directory.keys().map(|id| id.0).collect() })
    }

    fn addresses(&self, ids: &[u64]) -> Result<Vec<Address>, CueError> {
        ids.iter().map(|id| self.address(*id)).collect()
    }

    fn links(&self, links: &[(u64, u64)]) -> Result<Vec<Link>, CueError> {
        links.iter().map(|(from, to)| Ok((self.address(*from)?, self.address(*to)?))).collect()
    }

    pub(crate) fn deed(&self, cue: usize, action: &Action) -> Result<Deed, CueError> {
        let to_each = |ids: &[u64], deed| Ok(Deed::Processes(self.addresses(ids)?, deed));
        Ok(match action {
            Action::Command { word, processes } => {
                if !(self.is_command)(word) {
                    return Err(CueError::UnknownCommand {
                        cue,
                        word: word.clone(),
                        problem: self.problem,
                        known: self.commands.iter().map(|&word| word.to_owned()).collect(),
                    });
                }
                to_each(processes, ProcessDeed::Command(word.clone()))?
            }
            Action::Crash(processes) => to_each(processes, ProcessDeed::Crash)?,
            Action::Recover { processes, amnesia } => {
                to_each(processes, ProcessDeed::Recover { amnesia: *amnesia })?
            }
            Action::Pause(processes) => to_each(processes, ProcessDeed::Pause)?,
            Action::Resume(processes) => to_each(processes, ProcessDeed::Resume)?,
            Action::Drift { processes, rate } => to_each(processes, ProcessDeed::Drift { rate: *rate })?,
            Action::Slow { processes, by } => {
                Deed::Network(NetworkDeed::Slow { processes: self.addresses(processes)?, by: *by })
            }
            Action::Cut(links) => Deed::Network(NetworkDeed::Cut(self.links(links)?)),
            Action::Heal(links) if links.is_empty() => Deed::Network(NetworkDeed::HealAll),
            Action::Heal(links) => Deed::Network(NetworkDeed::Heal(self.links(links)?)),
            Action::Partition(groups) => Deed::Network(NetworkDeed::Cut(self.partition(groups)?)),
            Action::Loss(probability) => Deed::Network(NetworkDeed::Loss(*probability)),
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
        let mut group_of = vec![groups.len(); self.ids.len()];
        for (group, members) in groups.iter().enumerate() {
            for member in self.addresses(members)? {
                group_of[member.index()] = group;
            }
        }
        let mut links = Vec::new();
        for from in (0..self.ids.len() as u32).map(Address) {
            let away = |to: &Address| group_of[to.index()] != group_of[from.index()];
            links.extend((self.neighbours)(from).into_iter().filter(away).map(|to| (from, to)));
        }
        Ok(links)
    }
}
