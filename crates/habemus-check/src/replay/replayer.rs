//! The processes of a run that is repeated.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use habemus::{Address, Status, Suspicion};
use habemus_scenario::{Action, Cue, Occasion, Trigger};

use crate::facts::SystemFacts;
use crate::handlers::{Effect, Handled, Handlers};

mod cycle;
mod matching;

/// All processes, and what is between them. Whatever is of the algorithm's own types is there by number.
#[derive(Clone)]
pub(super) struct Replayer<'a> {
    facts: &'a SystemFacts,
    handlers: &'a dyn Handlers,
    actors: Vec<Actor>,
    /// Messages on their way, in the order in which they were sent.
    flights: Vec<Flight>,
    /// What the oracle has still to say, and to whom.
    notices: Vec<(Address, Suspicion)>,
    /// How many events were given to processes.
    pub(super) steps: usize,
    /// What the processes chose.
    pub(super) choices: Vec<u32>,
    /// The run as a script.
    pub(super) script: Vec<Cue>,
    /// Which process was what after which record, by number.
    pub(super) states: Vec<(usize, Address, u32)>,
}

/// A process, and what a driver keeps about it.
#[derive(Clone)]
struct Actor {
    process: Option<u32>,
    has_lived: bool,
    status: Status,
    timers: Vec<u32>,
    stored: Option<u32>,
    /// What stable storage held before the present step.
    stored_before: Option<u32>,
    /// What the present step has still to do; the trace must say so next.
    due: VecDeque<Effect>,
    /// Whether nothing of the present step has been seen yet.
    is_fresh: bool,
    /// How many messages of each kind it has sent, and the kind of the last.
    sent: BTreeMap<&'static str, u32>,
    last_sent: Option<&'static str>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Flight {
    number: u64,
    from: Address,
    to: Address,
    message: u32,
}

/// A record that fits: what it comes to, worked out but not yet done.
pub(super) struct Match {
    cue: Option<Action>,
    /// What the cue waits for, if not for its time.
    trigger: Option<Trigger>,
    choices: Vec<u32>,
    /// The message that is no longer on its way.
    landed: Option<usize>,
    change: Change,
}

enum Change {
    Nothing,
    /// A process does the next thing that is due.
    Carry {
        at: Address,
        number: Option<u64>,
    },
    React {
        at: Address,
        spent: Spent,
        handled: Handled,
    },
    Crash {
        at: Address,
        unsaved: bool,
    },
}

/// What a reaction uses up.
#[derive(Clone, Copy)]
enum Spent {
    Nothing,
    Timer(u32),
    Notice(Suspicion),
    /// A start; with amnesia, what was stored is gone, too.
    Life {
        amnesia: bool,
    },
    Idleness {
        command: u32,
    },
}

impl Match {
    fn new(change: Change) -> Self {
        Match { cue: None, trigger: None, choices: Vec::new(), landed: None, change }
    }
}

impl<'a> Replayer<'a> {
    pub(super) fn new(facts: &'a SystemFacts, handlers: &'a dyn Handlers) -> Self {
        let actor = Actor {
            process: None,
            has_lived: false,
            status: Status::Idle,
            timers: Vec::new(),
            stored: None,
            stored_before: None,
            due: VecDeque::new(),
            is_fresh: false,
            sent: BTreeMap::new(),
            last_sent: None,
        };
        Replayer {
            facts,
            handlers,
            actors: vec![actor; facts.processes()],
            flights: Vec::new(),
            notices: Vec::new(),
            steps: 0,
            choices: Vec::new(),
            script: Vec::new(),
            states: Vec::new(),
        }
    }

    /// Does what a record, of this number, comes to.
    pub(super) fn commit(&mut self, number: usize, time: u64, matched: Match) {
        let at = Occasion::At(Duration::from_nanos(time));
        let occasion = matched.trigger.map_or(at, Occasion::When);
        self.script.extend(matched.cue.map(|action| Cue { occasion, action }));
        self.choices.extend(matched.choices);
        if let Some(index) = matched.landed {
            self.flights.remove(index);
        }
        match matched.change {
            Change::Nothing => {}
            Change::Carry { at, number } => self.carry_out(at, number),
            Change::React { at, spent, handled } => {
                // The beginning is no step of the run.
                self.steps += usize::from(!matches!(&spent, Spent::Life { .. } if !self.has_lived(at)));
                self.spend(at, spent);
                self.states.push((number, at, handled.process));
                let actor = &mut self.actors[at.index()];
                actor.process = Some(handled.process);
                actor.stored_before = actor.stored;
                actor.stored = handled.persist.or(actor.stored);
                actor.due = handled.effects.into_iter().collect();
                actor.is_fresh = true;
                actor.carry_out_silently();
            }
            Change::Crash { at, unsaved } => {
                self.steps += 1;
                let actor = &mut self.actors[at.index()];
                if unsaved {
                    actor.stored = actor.stored_before.take();
                }
                actor.process = None;
                actor.has_lived = true;
                actor.status = Status::Idle;
                actor.timers.clear();
                actor.due.clear();
                self.notices.retain(|(whom, _)| *whom != at);
                self.take_back(Suspicion::Restore(at));
                self.tell_others(at, Suspicion::Suspect(at));
            }
        }
    }

    /// Whether the run may end here, and has come back to where its cycle began if it should.
    pub(super) fn end(&self, cycle: Option<&Self>) -> Result<(), String> {
        let mut actors = (0..).map(Address).zip(&self.actors);
        if let Some((address, due)) = actors.find_map(|(address, actor)| Some((address, *actor.due.front()?)))
        {
            let id = self.id(address);
            return Err(format!("the trace ends, but {id} would now {}", self.describe(due)));
        }
        match cycle {
            Some(first) if !self.is_where(first) => {
                Err("the trace ends in another state than the one in which its cycle begins".to_owned())
            }
            _ => Ok(()),
        }
    }

    /// Whether nothing more could happen, but for what comes from outside.
    pub(super) fn is_at_rest(&self) -> bool {
        let inside_for_ever = self.handlers.words().next_command(Status::Inside).is_none();
        let is_up = |at: Address| self.actors[at.index()].process.is_some();
        self.flights.iter().all(|flight| !is_up(flight.to))
            && self.notices.is_empty()
            && self
                .actors
                .iter()
                .all(|actor| actor.timers.is_empty() && (inside_for_ever || actor.status != Status::Inside))
    }

    fn carry_out(&mut self, at: Address, number: Option<u64>) {
        let actor = &mut self.actors[at.index()];
        actor.is_fresh = false;
        match (actor.due.pop_front(), number) {
            (Some(Effect::Send { to, message }), Some(number)) => {
                let kind = self.handlers.message(message).kind;
                *actor.sent.entry(kind).or_default() += 1;
                actor.last_sent = Some(kind);
                self.flights.push(Flight { number, from: at, to, message });
            }
            (Some(Effect::Output(output)), _) => {
                let status = self.handlers.words().status_after_output(output);
                actor.status = status.unwrap_or(actor.status);
            }
            _ => {}
        }
        self.actors[at.index()].carry_out_silently();
    }

    fn spend(&mut self, at: Address, spent: Spent) {
        match spent {
            Spent::Nothing => {}
            Spent::Timer(timer) => self.actors[at.index()].timers.retain(|running| *running != timer),
            Spent::Idleness { command } => {
                let actor = &mut self.actors[at.index()];
                let status = self.handlers.words().status_after_command(command);
                if let (Some(status), Status::Idle) = (status, actor.status) {
                    actor.status = status;
                }
            }
            Spent::Notice(suspicion) => {
                let said = self.notices.iter().position(|notice| *notice == (at, suspicion));
                match (said, suspicion) {
                    (Some(said), _) => _ = self.notices.remove(said),
                    // A false suspicion is taken back in the end.
                    (None, Suspicion::Suspect(other)) => self.notices.push((at, Suspicion::Restore(other))),
                    (None, Suspicion::Restore(_)) => {}
                }
            }
            Spent::Life { amnesia } => {
                let actor = &mut self.actors[at.index()];
                actor.status = Status::Idle;
                if amnesia {
                    actor.stored = None;
                }
                if std::mem::replace(&mut actor.has_lived, true) {
                    let down = |other: &Address| self.actors[other.index()].process.is_none();
                    let down: Vec<Address> = self.others(at).filter(down).collect();
                    if self.facts.oracle {
                        self.notices.extend(down.into_iter().map(|other| (at, Suspicion::Suspect(other))));
                    }
                    self.take_back(Suspicion::Suspect(at));
                    self.tell_others(at, Suspicion::Restore(at));
                }
            }
        }
    }

    fn others(&self, at: Address) -> impl Iterator<Item = Address> + use<> {
        (0..self.actors.len() as u32).map(Address).filter(move |other| *other != at)
    }

    /// The oracle does not say what is no longer true.
    fn take_back(&mut self, suspicion: Suspicion) {
        self.notices.retain(|(_, notice)| *notice != suspicion);
    }

    fn tell_others(&mut self, at: Address, suspicion: Suspicion) {
        if self.facts.oracle {
            let up: Vec<Address> =
                self.others(at).filter(|other| self.actors[other.index()].process.is_some()).collect();
            self.notices.extend(up.into_iter().map(|other| (other, suspicion)));
        }
    }

    fn has_lived(&self, at: Address) -> bool {
        self.actors[at.index()].has_lived
    }

    fn id(&self, address: Address) -> u64 {
        self.facts.population.id(address).0
    }

    fn address(&self, id: u64) -> Result<Address, String> {
        let address = self.facts.population.address(habemus::Id(id));
        address.ok_or_else(|| format!("there is no process {id}"))
    }
}

impl Actor {
    /// Does what is due and is not seen in a trace.
    fn carry_out_silently(&mut self) {
        while let Some(&(Effect::SetTimer { timer, .. } | Effect::CancelTimer(timer))) = self.due.front() {
            self.timers.retain(|running| *running != timer);
            if let Some(Effect::SetTimer { .. }) = self.due.pop_front() {
                self.timers.push(timer);
            }
        }
    }
}
