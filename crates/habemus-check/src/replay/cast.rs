//! The processes of a run that is repeated.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use habemus::catalogue::Setup;
use habemus::{
    Address, Chooser, Command, Context, Effect, Message, Problem, Process, Status, Step, Suspicion, Topology,
};
use habemus_scenario::{Action, Cue, MessageFate, Occasion, Trigger, TriggerKind};
use habemus_trace::{Dropped, Happening, Record};

use crate::local::Branch;

mod circle;

/// All processes, and what is between them.
pub(super) struct Cast<'a, P: Process> {
    setup: &'a Setup<P>,
    actors: Vec<Actor<P>>,
    /// Messages on their way, in the order in which they were sent.
    flights: Vec<Flight<P::Message>>,
    /// What the oracle has still to say, and to whom.
    notices: Vec<(Address, Suspicion)>,
    /// How many events were given to processes.
    pub(super) steps: usize,
    /// What the processes chose.
    pub(super) choices: Vec<u32>,
    /// The run as a script.
    pub(super) script: Vec<Cue>,
}

impl<P: Process> Clone for Cast<'_, P> {
    fn clone(&self) -> Self {
        Cast {
            setup: self.setup,
            actors: self.actors.clone(),
            flights: self.flights.clone(),
            notices: self.notices.clone(),
            steps: self.steps,
            choices: self.choices.clone(),
            script: self.script.clone(),
        }
    }
}

/// A process, and what a driver keeps about it.
#[derive(Clone)]
struct Actor<P: Process> {
    process: Option<P>,
    has_lived: bool,
    status: Status,
    timers: Vec<P::Timer>,
    stable: Option<P::Stable>,
    /// What stable storage held before the present step.
    stable_before: Option<P::Stable>,
    /// What the present step has still to do; the trace must say so next.
    due: VecDeque<Effect<P>>,
    /// Whether nothing of the present step has been seen yet.
    is_fresh: bool,
    /// How many messages of each kind it has sent, and the kind of the last.
    sent: BTreeMap<&'static str, u32>,
    last_sent: Option<&'static str>,
}

#[derive(Clone, PartialEq, Eq)]
struct Flight<M> {
    number: u64,
    from: Address,
    to: Address,
    message: M,
}

/// What a record comes to, worked out but not yet done.
pub(super) struct Deed<P: Process> {
    cue: Option<Action>,
    /// What the cue waits for, if not for its time.
    trigger: Option<Trigger>,
    choices: Vec<u32>,
    /// The message that is no longer on its way.
    landed: Option<usize>,
    what: What<P>,
}

enum What<P: Process> {
    Nothing,
    /// A process does the next thing that is due.
    Carry {
        at: Address,
        number: Option<u64>,
    },
    React {
        at: Address,
        spent: Spent<P>,
        process: P,
        step: Step<P>,
    },
    Crash {
        at: Address,
        unsaved: bool,
    },
}

/// What a reaction uses up.
enum Spent<P: Process> {
    Nothing,
    Timer(P::Timer),
    Notice(Suspicion),
    /// A start; with amnesia, what was stored is gone, too.
    Life {
        amnesia: bool,
    },
    Idleness(Command<P>),
}

impl<P: Process> Deed<P> {
    fn new(what: What<P>) -> Self {
        Deed { cue: None, trigger: None, choices: Vec::new(), landed: None, what }
    }
}

impl<'a, P: Process> Cast<'a, P> {
    pub(super) fn new(setup: &'a Setup<P>) -> Self {
        let actor = Actor {
            process: None,
            has_lived: false,
            status: Status::Idle,
            timers: Vec::new(),
            stable: None,
            stable_before: None,
            due: VecDeque::new(),
            is_fresh: false,
            sent: BTreeMap::new(),
            last_sent: None,
        };
        Cast {
            actors: vec![actor; setup.system.len()],
            flights: Vec::new(),
            notices: Vec::new(),
            steps: 0,
            choices: Vec::new(),
            script: Vec::new(),
            setup,
        }
    }

    /// What this record comes to, or in which way it does not fit. `again` tells that the message of the record
    /// will be heard of once more.
    pub(super) fn enact(&self, record: &Record, again: bool, branch: &mut Branch) -> Result<Deed<P>, String> {
        let Some(id) = record.process else { return Ok(self.enact_outside(&record.what)) };
        if let Happening::Violation { .. } = record.what {
            return Ok(Deed::new(What::Nothing));
        }
        let at = self.place(id)?;
        let actor = &self.actors[at.index()];
        match &record.what {
            Happening::Drop { message, from, why } => {
                return self.drop_message(at, *message, *from, *why, again);
            }
            Happening::Crash => return self.crash(at, branch),
            Happening::Pause | Happening::Resume => return Ok(Deed::new(What::Nothing)),
            _ => {}
        }
        if let Some(due) = actor.due.front() {
            return self.carry(at, due, &record.what);
        }
        let now = Duration::from_nanos(record.at);
        match &record.what {
            Happening::Start { recovered } => self.start(at, *recovered, now, branch),
            _ if actor.process.is_none() => Err(format!("process {id} is down and can do nothing")),
            Happening::Deliver { message, from, label, .. } => {
                let index = self.flight(*from, at, *message)?;
                let flight = &self.flights[index];
                if format!("{:?}", flight.message) != *label {
                    let sent = format!("{:?}", flight.message);
                    return Err(format!("{id} receives {label} from {from}, but {sent} was sent"));
                }
                let fate = if again { MessageFate::Duplicate } else { MessageFate::Deliver };
                let mut deed = self.react(at, now, branch, Spent::Nothing, |process, cx| {
                    process.on_message(flight.from, flight.message.clone(), cx);
                })?;
                deed.cue = Some(self.call(fate, index));
                deed.landed = (!again).then_some(index);
                Ok(deed)
            }
            Happening::Timer { label, .. } => {
                let Some(timer) = actor.timers.iter().find(|timer| format!("{timer:?}") == *label) else {
                    return Err(format!("no timer {label} runs at {id}"));
                };
                let spent = Spent::Timer(timer.clone());
                let mut deed =
                    self.react(at, now, branch, spent, |process, cx| process.on_timer(timer.clone(), cx))?;
                deed.cue = Some(Action::Fire { process: id, timer: label.clone() });
                Ok(deed)
            }
            Happening::Command { value, .. } => {
                let command: Command<P> = serde_json::from_value(value.clone())
                    .map_err(|why| format!("{id} is given a command that makes no sense: {why}"))?;
                let spent = Spent::Idleness(command.clone());
                let word = command.to_string();
                let mut deed =
                    self.react(at, now, branch, spent, |process, cx| process.on_command(command, cx))?;
                deed.cue = Some(Action::Command { word, processes: vec![id] });
                Ok(deed)
            }
            Happening::Suspect { suspect } => {
                let cue = Action::Suspect { by: id, suspect: *suspect };
                self.notice(at, now, branch, Suspicion::Suspect(self.place(*suspect)?), cue)
            }
            Happening::Restore { restored } => {
                let cue = Action::Restore { by: id, restored: *restored };
                self.notice(at, now, branch, Suspicion::Restore(self.place(*restored)?), cue)
            }
            Happening::Send { label, to, .. } => {
                Err(format!("{id} sends {label} to {to}, but it has nothing more to do"))
            }
            Happening::Output { label, .. } => {
                Err(format!("{id} says '{label}', but it has nothing more to say"))
            }
            _ => Err(format!("nothing of this kind happens at process {id}")),
        }
    }

    /// Does what a record comes to.
    pub(super) fn commit(&mut self, time: u64, deed: Deed<P>) {
        let at = Occasion::At(Duration::from_nanos(time));
        let occasion = deed.trigger.map_or(at, Occasion::When);
        self.script.extend(deed.cue.map(|action| Cue { occasion, action }));
        self.choices.extend(deed.choices);
        if let Some(index) = deed.landed {
            self.flights.remove(index);
        }
        match deed.what {
            What::Nothing => {}
            What::Carry { at, number } => self.carry_out(at, number),
            What::React { at, spent, process, step } => {
                // The beginning is no step of the run.
                self.steps += usize::from(!matches!(&spent, Spent::Life { .. } if !self.has_lived(at)));
                self.spend(at, spent);
                let actor = &mut self.actors[at.index()];
                actor.process = Some(process);
                actor.stable_before.clone_from(&actor.stable);
                if let Some(stable) = step.persist {
                    actor.stable = Some(stable);
                }
                actor.due = step.effects.into();
                actor.is_fresh = true;
                actor.settle();
            }
            What::Crash { at, unsaved } => {
                self.steps += 1;
                let actor = &mut self.actors[at.index()];
                if unsaved {
                    actor.stable = actor.stable_before.take();
                }
                actor.process = None;
                actor.has_lived = true;
                actor.status = Status::Idle;
                actor.timers.clear();
                actor.due.clear();
                self.notices.retain(|(whom, _)| *whom != at);
                self.tell_others(at, Suspicion::Suspect(at));
            }
        }
    }

    /// Whether the run may end here, and goes round in a circle if it should.
    pub(super) fn end(&self, circle: Option<&Self>) -> Result<(), String> {
        let busy =
            self.actors.iter().enumerate().find_map(|(place, actor)| Some((place, actor.due.front()?)));
        if let Some((place, due)) = busy {
            let id = self.id(Address(place as u32));
            return Err(format!("the trace ends, but {id} would now {}", self.describe(due)));
        }
        match circle {
            Some(circle) if !self.is_where(circle) => {
                Err("the trace ends in another state than the one in which its circle begins".to_owned())
            }
            _ => Ok(()),
        }
    }

    /// Whether nothing more could happen, but for what comes from outside.
    pub(super) fn is_at_rest(&self) -> bool {
        let inside_for_ever = P::Problem::next_command(&Status::Inside).is_none();
        let is_up = |at: Address| self.actors[at.index()].process.is_some();
        self.flights.iter().all(|flight| !is_up(flight.to))
            && self.notices.is_empty()
            && self
                .actors
                .iter()
                .all(|actor| actor.timers.is_empty() && (inside_for_ever || actor.status != Status::Inside))
    }

    /// What happens to the network.
    fn enact_outside(&self, what: &Happening) -> Deed<P> {
        let tidy = |links: &[(u64, u64)]| {
            let mut links = links.to_vec();
            links.sort_by_key(|&(one, other)| (one.min(other), one.max(other), one));
            links
        };
        let cue = match what {
            Happening::Cut { links } => Some(Action::Cut(tidy(links))),
            Happening::Heal { links } => Some(Action::Heal(tidy(links))),
            _ => None,
        };
        Deed { cue, ..Deed::new(What::Nothing) }
    }

    fn drop_message(
        &self,
        at: Address,
        number: u64,
        from: u64,
        why: Dropped,
        again: bool,
    ) -> Result<Deed<P>, String> {
        let index = self.flight(from, at, number)?;
        let cue = match why {
            // It never was on its way.
            Dropped::Cut => None,
            Dropped::Down => Some(self.call(MessageFate::Deliver, index)),
            Dropped::Loss => Some(self.call(MessageFate::Lose, index)),
        };
        Ok(Deed { cue, landed: (!again).then_some(index), ..Deed::new(What::Nothing) })
    }

    fn crash(&self, at: Address, branch: &mut Branch) -> Result<Deed<P>, String> {
        let actor = &self.actors[at.index()];
        if actor.process.is_none() && actor.has_lived {
            return Err(format!("process {} crashes, but it is down already", self.id(at)));
        }
        // Who crashes in the midst of a step of which nothing is seen may not even have stored anything.
        let saved = actor.stable != actor.stable_before;
        let unsaved = actor.is_fresh && saved && branch.choose(2) == 1;
        let cue = Some(Action::Crash(vec![self.id(at)]));
        // In the midst of a step no time can be named, but the message after which it happens can.
        let amid = actor.last_sent.filter(|_| !actor.due.is_empty() && !actor.is_fresh);
        let trigger = amid.map(|kind| Trigger {
            process: Some(self.id(at)),
            what: TriggerKind::Sends(kind.to_owned()),
            nth: actor.sent.get(kind).copied().unwrap_or(1),
        });
        Ok(Deed { cue, trigger, ..Deed::new(What::Crash { at, unsaved }) })
    }

    fn start(
        &self,
        at: Address,
        recovered: bool,
        now: Duration,
        branch: &mut Branch,
    ) -> Result<Deed<P>, String> {
        let (actor, id) = (&self.actors[at.index()], self.id(at));
        if actor.process.is_some() {
            return Err(format!("process {id} starts, but it is up already"));
        }
        if recovered != actor.has_lived {
            let how =
                if recovered { "recovers, but it has not lived yet" } else { "starts for a second time" };
            return Err(format!("process {id} {how}"));
        }
        let amnesia = recovered && branch.choose(2) == 1;
        let stable = (recovered && !amnesia).then(|| actor.stable.clone().unwrap_or_default());
        let skip = usize::from(recovered);
        let mut step = Step::default();
        let mut cx = Context::new(at, &self.setup.system, now, &mut step, branch);
        let process = P::on_start(stable, &mut cx);
        let cue = recovered.then(|| Action::Recover { processes: vec![id], amnesia });
        let what = What::React { at, spent: Spent::Life { amnesia }, process, step };
        Ok(Deed { cue, choices: branch.chosen().skip(skip).collect(), ..Deed::new(what) })
    }

    fn notice(
        &self,
        at: Address,
        now: Duration,
        branch: &mut Branch,
        suspicion: Suspicion,
        cue: Action,
    ) -> Result<Deed<P>, String> {
        if self.setup.oracle.is_none() {
            return Err(format!("there is no detector that could tell {} anything", self.id(at)));
        }
        let mut deed = self.react(at, now, branch, Spent::Notice(suspicion), |process, cx| {
            process.on_suspicion(suspicion, cx);
        })?;
        deed.cue = Some(cue);
        Ok(deed)
    }

    fn react(
        &self,
        at: Address,
        now: Duration,
        branch: &mut Branch,
        spent: Spent<P>,
        handler: impl FnOnce(&mut P, &mut Context<'_, P>),
    ) -> Result<Deed<P>, String> {
        let mut step = Step::default();
        let Some(mut process) = self.actors[at.index()].process.clone() else {
            return Err(format!("process {} is down and can do nothing", self.id(at)));
        };
        handler(&mut process, &mut Context::new(at, &self.setup.system, now, &mut step, branch));
        let strays = |effect: &Effect<P>| match effect {
            Effect::Send { to, .. } => !self.setup.system.topology.linked(at, *to),
            _ => false,
        };
        if step.effects.iter().any(strays) {
            return Err(format!("process {} sends where it has no link", self.id(at)));
        }
        let choices = branch.chosen().collect();
        Ok(Deed { choices, ..Deed::new(What::React { at, spent, process, step }) })
    }

    /// The trace must say what is due.
    fn carry(&self, at: Address, due: &Effect<P>, what: &Happening) -> Result<Deed<P>, String> {
        let number = match (due, what) {
            (Effect::Send { to, message }, Happening::Send { message: number, to: said, label, .. })
                if self.id(*to) == *said && format!("{message:?}") == *label =>
            {
                Some(*number)
            }
            (Effect::Output(output), Happening::Output { value, .. })
                if serde_json::to_value(output).is_ok_and(|output| output == *value) =>
            {
                None
            }
            (Effect::Suspicion(Suspicion::Suspect(one)), Happening::Suspect { suspect: said })
            | (Effect::Suspicion(Suspicion::Restore(one)), Happening::Restore { restored: said })
                if self.id(*one) == *said =>
            {
                None
            }
            _ => {
                let said = super::scripted::describe(what);
                return Err(format!(
                    "process {} would now {}, but the trace says that it {said}",
                    self.id(at),
                    self.describe(due)
                ));
            }
        };
        Ok(Deed::new(What::Carry { at, number }))
    }

    fn carry_out(&mut self, at: Address, number: Option<u64>) {
        let actor = &mut self.actors[at.index()];
        actor.is_fresh = false;
        match (actor.due.pop_front(), number) {
            (Some(Effect::Send { to, message }), Some(number)) => {
                *actor.sent.entry(message.kind()).or_default() += 1;
                actor.last_sent = Some(message.kind());
                self.flights.push(Flight { number, from: at, to, message });
            }
            (Some(Effect::Output(output)), _) => {
                actor.status = P::Problem::status_after_output(&output).unwrap_or(actor.status);
            }
            _ => {}
        }
        self.actors[at.index()].settle();
    }

    fn spend(&mut self, at: Address, spent: Spent<P>) {
        match spent {
            Spent::Nothing => {}
            Spent::Timer(timer) => self.actors[at.index()].timers.retain(|running| *running != timer),
            Spent::Idleness(command) => {
                let actor = &mut self.actors[at.index()];
                if let (Some(status), Status::Idle) =
                    (P::Problem::status_after_command(&command), actor.status)
                {
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
                    actor.stable = None;
                }
                if std::mem::replace(&mut actor.has_lived, true) {
                    let down = |other: &Address| self.actors[other.index()].process.is_none();
                    let down: Vec<Address> = self.others(at).filter(down).collect();
                    if self.setup.oracle.is_some() {
                        self.notices.extend(down.into_iter().map(|other| (at, Suspicion::Suspect(other))));
                    }
                    self.tell_others(at, Suspicion::Restore(at));
                }
            }
        }
    }

    fn others(&self, at: Address) -> impl Iterator<Item = Address> + use<P> {
        (0..self.actors.len() as u32).map(Address).filter(move |other| *other != at)
    }

    fn tell_others(&mut self, at: Address, suspicion: Suspicion) {
        if self.setup.oracle.is_some() {
            let up: Vec<Address> =
                self.others(at).filter(|other| self.actors[other.index()].process.is_some()).collect();
            self.notices.extend(up.into_iter().map(|other| (other, suspicion)));
        }
    }

    /// The action that calls the message on its way at this index.
    fn call(&self, fate: MessageFate, index: usize) -> Action {
        let Flight { from, to, .. } = self.flights[index];
        let before = self.flights[..index].iter().filter(|other| (other.from, other.to) == (from, to));
        Action::Message { fate, from: self.id(from), to: self.id(to), nth: before.count() as u32 + 1 }
    }

    fn flight(&self, from: u64, to: Address, number: u64) -> Result<usize, String> {
        let from_place = self.place(from)?;
        let same =
            |flight: &Flight<P::Message>| (flight.from, flight.to, flight.number) == (from_place, to, number);
        self.flights.iter().position(same).ok_or_else(|| {
            format!("message {number} from {from} comes to {}, but it is not on its way", self.id(to))
        })
    }

    fn describe(&self, effect: &Effect<P>) -> String {
        match effect {
            Effect::Send { to, message } => format!("send {message:?} to {}", self.id(*to)),
            Effect::Output(output) => format!("say '{output}'"),
            Effect::Suspicion(Suspicion::Suspect(other)) => format!("suspect {}", self.id(*other)),
            Effect::Suspicion(Suspicion::Restore(other)) => format!("trust {} again", self.id(*other)),
            Effect::SetTimer { timer, .. } => format!("set the timer {timer:?}"),
            Effect::CancelTimer(timer) => format!("take back the timer {timer:?}"),
        }
    }

    fn has_lived(&self, at: Address) -> bool {
        self.actors[at.index()].has_lived
    }

    fn id(&self, place: Address) -> u64 {
        self.setup.population.id(place).0
    }

    fn place(&self, id: u64) -> Result<Address, String> {
        let place = self.setup.population.address(habemus::Id(id));
        place.ok_or_else(|| format!("there is no process {id}"))
    }
}

impl<P: Process> Actor<P> {
    /// Does what is due and is not seen in a trace.
    fn settle(&mut self) {
        while let Some(Effect::SetTimer { timer, .. } | Effect::CancelTimer(timer)) = self.due.front() {
            let timer = timer.clone();
            self.timers.retain(|running| *running != timer);
            if let Some(Effect::SetTimer { .. }) = self.due.pop_front() {
                self.timers.push(timer);
            }
        }
    }
}
