//! A system of processes as numbers: runs handlers, and gives whatever comes of them a number.

use std::time::Duration;

use habemus::catalogue::Setup;
use habemus::clock::VectorClock;
use habemus::symmetry::{Part, Rotate, Rotation, VisitTimes};
use habemus::{
    Address, Command, Context, Effect, Problem, Process, Status, Step, Suspicion, System, Topology,
};
use habemus_trace::Trace;
use smallvec::SmallVec;

use crate::intern::Interner;
use crate::local::{Body, Branch, Item, Local, Running};
use crate::narrator::Narrator;
use crate::protocol::{Alarm, Cause, ItemKind, Judgement, Life, Protocol, Reacted, Reaction, Story, Trouble};
use crate::setting::{ANY_NUMBER, Setting, Timers};
use crate::watching::{Seen, Sight, Watching};

mod renaming;
mod times;
mod turns;
use renaming::{Later, Rotated, renamed_clock};
use times::{MUCH_LATER, least};
use turns::turns;

/// The processes of one system, numbered.
pub(crate) struct Numbered<P: Process> {
    pub(crate) setup: Setup<P>,
    pub(crate) watching: Watching<P::Problem>,
    pub(crate) locals: Interner<Local<P>>,
    pub(crate) items: Interner<Item<P::Message>>,
    pub(crate) timers: Interner<P::Timer>,
    keeps_durations: bool,
    keeps_stable: bool,
    amnesia: bool,
    clocks: bool,
    /// How to visit logical times, if nothing but their distances matters.
    clock_shift: Option<VisitTimes<P>>,
    /// How to rename processes, if they are interchangeable.
    rotation: Option<Rotate<P>>,
}

/// What a handler did: the process afterwards, and what it asked for.
pub(crate) type Deed<P> = (Option<P>, Step<P>);

/// One for each way to choose: nearly always one.
pub(crate) type Deeds<P> = SmallVec<[Deed<P>; 1]>;

impl<P: Process> Numbered<P> {
    /// The system of `setup`, watched by the monitors of these properties.
    pub(crate) fn new(setup: Setup<P>, setting: &Setting, properties: &[&'static str]) -> Self {
        use habemus::property::Monitor;
        let mut monitors = P::Problem::monitors(&setup.population);
        monitors.retain(|monitor| properties.contains(&monitor.name()));
        Numbered {
            watching: Watching::new(setup.population.clone(), monitors),
            locals: Interner::new(),
            items: Interner::new(),
            timers: Interner::new(),
            // Who starts again begins with a time of its own, whatever the others' are.
            clock_shift: setup
                .symmetries
                .clock_shift
                .filter(|_| setting.symmetry && setting.budget.recoveries == 0),
            // Who is better suited to lead is somebody.
            rotation: setup
                .symmetries
                .rotation
                .filter(|_| setup.population.preference.is_none() && turns(&setup.system, setting)),
            setup,
            keeps_durations: setting.timers == Timers::MessagesFirst,
            keeps_stable: setting.budget.recoveries > 0,
            amnesia: setting.budget.amnesia,
            clocks: setting.clocks,
        }
    }

    pub(crate) fn system(&self) -> &System<P> {
        &self.setup.system
    }

    /// A process that has not started.
    pub(crate) fn unborn(place: Address, wants: u32) -> Local<P> {
        Local {
            place,
            body: Body::Down,
            stable: None,
            status: Status::Idle,
            wants,
            clock: VectorClock::default(),
        }
    }

    /// What the client of this process asks next, and how many wishes it has afterwards.
    pub(crate) fn wish(local: &Local<P>) -> Option<(Command<P>, u32)> {
        if P::Problem::next_command(&Status::Idle).is_none() {
            // An election is asked for once, at any time.
            let first = P::Problem::COMMANDS.first()?;
            return P::Problem::command(first).zip(local.wants.checked_sub(1));
        }
        let command = P::Problem::next_command(&local.status)?;
        match (local.status, local.wants) {
            (Status::Idle, 0) => None,
            (Status::Idle, wants) if wants != ANY_NUMBER => Some((command, wants - 1)),
            (_, wants) => Some((command, wants)),
        }
    }

    /// What the process does, for every way to choose.
    pub(crate) fn deeds(&self, local: &Local<P>, cause: &Cause) -> Result<Deeds<P>, Trouble> {
        let mut branch = Branch::default();
        let mut deeds = Deeds::new();
        loop {
            let Some(deed) = self.enact(local, cause, &mut branch) else { return Ok(deeds) };
            branch.again();
            // Pure handlers give the same again; one that does not would make every result here worthless.
            if self.enact(local, cause, &mut branch).as_ref() != Some(&deed) {
                let process = self.system().id_of(local.place).0;
                return Err(Trouble::Nondeterministic { process, event: self.describe(local, cause) });
            }
            deeds.push(deed);
            if !branch.advance() {
                return Ok(deeds);
            }
        }
    }

    fn enact(&self, local: &Local<P>, cause: &Cause, branch: &mut Branch) -> Option<Deed<P>> {
        let mut step = Step::default();
        let mut cx = Context::new(local.place, self.system(), Duration::ZERO, &mut step, branch);
        let process = match (cause, &local.body) {
            (Cause::Start, Body::Down) => P::on_start(None, &mut cx),
            (Cause::Recover, Body::Down) => {
                let stable = (!self.amnesia).then(|| local.stable.clone().unwrap_or_default());
                P::on_start(stable, &mut cx)
            }
            (cause, Body::Up { process, .. }) => {
                let mut process = process.clone();
                match cause {
                    Cause::Item(item) => match self.items.value(*item) {
                        Item::Message { from, message, .. } => {
                            process.on_message(*from, message.clone(), &mut cx);
                        }
                        Item::Notice(suspicion) => process.on_suspicion(*suspicion, &mut cx),
                    },
                    Cause::Client => process.on_command(Self::wish(local)?.0, &mut cx),
                    Cause::Timer(timer) => {
                        process.on_timer(self.timers.value(*timer).clone(), &mut cx);
                    }
                    Cause::Suspicion(suspicion) => process.on_suspicion(*suspicion, &mut cx),
                    Cause::Crash { .. } => return Some((None, step)),
                    Cause::Start | Cause::Recover => return None,
                }
                process
            }
            _ => return None,
        };
        Some((Some(process), step))
    }

    /// The local state after a deed, and what monitors see of it. Messages are left to the caller.
    pub(crate) fn after(
        &self,
        local: &Local<P>,
        cause: &Cause,
        process: Option<P>,
        step: &Step<P>,
    ) -> (Local<P>, Vec<Seen<P::Problem>>) {
        let Local { status, wants, .. } = *local;
        let (stable, clock) = (local.stable.clone(), local.clock.clone());
        let mut next = Local { place: local.place, body: Body::Down, stable, status, wants, clock };
        let place = local.place;
        let mut seen = Vec::new();
        let see = |what| Seen { process: place, clock: None, what };
        let mut timers = Vec::new();
        if let Body::Up { timers: running, .. } = &local.body {
            timers.clone_from(running);
        }
        match cause {
            Cause::Item(item) => {
                if let (Item::Message { clock, .. }, true) = (self.items.value(*item), self.clocks) {
                    next.clock.merge(clock);
                }
            }
            Cause::Client => {
                if let Some((command, wants)) = Self::wish(local) {
                    next.wants = wants;
                    let mut clock = None;
                    if let Some(status) = P::Problem::status_after_command(&command) {
                        if next.status == Status::Idle {
                            next.status = status;
                        }
                        if self.clocks {
                            next.clock.tick(place);
                            clock = Some(next.clock.clone());
                        }
                    }
                    seen.push(Seen { process: place, clock, what: Sight::Command(command) });
                }
            }
            Cause::Timer(timer) => {
                let timer = self.timers.value(*timer);
                timers.retain(|running| running.timer != *timer);
            }
            Cause::Crash { forever } => {
                next.body = if *forever { Body::Dead } else { Body::Down };
                next.status = Status::Idle;
                if *forever {
                    // Nobody will read them again.
                    (next.stable, next.wants, next.clock) = (None, 0, VectorClock::default());
                }
                seen.push(see(Sight::Crashed));
                return (next, seen);
            }
            Cause::Start | Cause::Recover => {
                next.status = Status::Idle;
                if self.amnesia {
                    next.stable = None;
                }
                seen.push(see(Sight::Started));
            }
            Cause::Suspicion(_) => {}
        }
        if let (Some(stable), true) = (&step.persist, self.keeps_stable) {
            next.stable = Some(stable.clone());
        }
        for effect in &step.effects {
            match effect {
                Effect::SetTimer { timer, after } => {
                    timers.retain(|running| running.timer != *timer);
                    let (least, most) = if self.keeps_durations {
                        (nanos(after.least), nanos(after.most).max(nanos(after.least)))
                    } else {
                        (0, 0)
                    };
                    timers.push(Running { timer: timer.clone(), least, most });
                }
                Effect::CancelTimer(timer) => timers.retain(|running| running.timer != *timer),
                Effect::Output(output) => {
                    if let Some(status) = P::Problem::status_after_output(output) {
                        next.status = status;
                    }
                    seen.push(see(Sight::Output(output.clone())));
                }
                Effect::Send { .. } | Effect::Suspicion(_) => {}
            }
        }
        timers.sort_unstable();
        if let Some(process) = process {
            next.body = Body::Up { process, timers };
        }
        (next, seen)
    }

    fn reaction(
        &self,
        local: &Local<P>,
        cause: &Cause,
        (process, step): Deed<P>,
    ) -> Result<Reaction, Trouble> {
        let (next, mut seen) = self.after(local, cause, process, &step);
        let mut sends = SmallVec::new();
        for effect in step.effects {
            let Effect::Send { to, message } = effect else { continue };
            if !self.system().topology.linked(local.place, to) {
                let id = |address: Address| self.system().id_of(address).0;
                return Err(Trouble::NoLink {
                    process: id(local.place),
                    to: id(to),
                    event: self.describe(local, cause),
                });
            }
            let item = Item::Message { from: local.place, message, clock: next.clock.clone() };
            sends.push((to.0 as u8, self.items.number(item)));
        }
        if P::Problem::NAME == "election" {
            // No monitor minds when an election is asked for; a state that forgets it is met more often.
            seen.retain(|seen| !matches!(seen.what, Sight::Command(_)));
        }
        Ok(Reaction { local: self.locals.number(next), sends, observations: self.watching.number(seen) })
    }

    fn reactions(&self, local: &Local<P>, cause: &Cause) -> Result<Reacted, Trouble> {
        let deeds = self.deeds(local, cause)?;
        let process = self.system().id_of(local.place).0;
        if let Some(later) = self.later(MUCH_LATER)
            && !self.does_not_mind(&later, local, cause, &deeds)?
        {
            return Err(Trouble::Timebound { process, event: self.describe(local, cause) });
        }
        if let Some(rotated) = self.rotation()
            && !self.does_not_mind(&rotated, local, cause, &deeds)?
        {
            return Err(Trouble::Placebound { process, event: self.describe(local, cause) });
        }
        let mut reactions = Reacted::new();
        for deed in deeds {
            reactions.push(self.reaction(local, cause, deed)?);
        }
        Ok(reactions)
    }

    fn later(&self, by: u64) -> Option<Later<'_, P>> {
        Some(Later { visit: self.clock_shift?, config: &self.system().config, by })
    }

    fn rotation(&self) -> Option<Rotated<'_, P>> {
        Some(Rotated { rotate: self.rotation?, rotation: Rotation::new(&self.system().ids) })
    }

    /// An event in words.
    fn describe(&self, local: &Local<P>, cause: &Cause) -> String {
        match cause {
            Cause::Item(item) => match self.items.value(*item) {
                Item::Message { from, message, .. } => {
                    format!("the message {message:?} from {}", self.system().id_of(*from))
                }
                Item::Notice(suspicion) => format!("the suspicion {suspicion:?}"),
            },
            Cause::Client => match Self::wish(local) {
                Some((command, _)) => format!("the command {command}"),
                None => "a command".to_owned(),
            },
            Cause::Timer(timer) => format!("the timer {:?}", self.timers.value(*timer)),
            Cause::Crash { .. } => "a crash".to_owned(),
            Cause::Start | Cause::Recover => "its start".to_owned(),
            Cause::Suspicion(suspicion) => format!("the suspicion {suspicion:?}"),
        }
    }
}

impl<P: Process> Protocol for Numbered<P> {
    fn len(&self) -> usize {
        self.system().len()
    }

    fn turns(&self) -> bool {
        self.rotation.is_some()
    }

    fn turned(&self, local: u32) -> u32 {
        let Some(rotated) = self.rotation() else { return local };
        self.locals.number(self.renamed(self.locals.value(local), &rotated))
    }

    fn turned_item(&self, item: u32) -> u32 {
        self.rotation().map_or(item, |rotated| self.renamed_item(item, &rotated))
    }

    fn turned_monitors(&self, monitors: u32) -> u32 {
        let Some(rotated) = self.rotation() else { return monitors };
        self.watching.turned(monitors, |seen| {
            seen.process = rotated.rotation.address(seen.process);
            seen.clock = seen.clock.as_ref().map(|clock| renamed_clock::<P>(clock, &rotated));
        })
    }

    fn linked(&self, from: u8, to: u8) -> bool {
        self.system().topology.linked(Address(u32::from(from)), Address(u32::from(to)))
    }

    fn start(&self, place: u8, wants: u32) -> Result<Reacted, Trouble> {
        self.reactions(&Self::unborn(Address(u32::from(place)), wants), &Cause::Start)
    }

    fn react(&self, local: u32, cause: Cause) -> Result<Reacted, Trouble> {
        let local = self.locals.value(local);
        self.reactions(local, &cause)
    }

    fn halfway(&self, local: u32, timer: u32, choice: usize, kept: usize) -> Result<Reaction, Trouble> {
        let local = self.locals.value(local);
        let cause = Cause::Timer(timer);
        let mut deeds = self.deeds(local, &cause)?;
        let deed = cut_short(deeds.swap_remove(choice), kept);
        let mut reaction = self.reaction(local, &cause, deed)?;
        let crash = Cause::Crash { forever: true };
        let (dead, crashed) = self.after(self.locals.value(reaction.local), &crash, None, &Step::default());
        reaction.local = self.locals.number(dead);
        reaction.observations = self.watching.number_after(reaction.observations, crashed);
        Ok(reaction)
    }

    fn in_pulses(&self) -> bool {
        self.setup.synchronous
    }

    fn life(&self, local: u32) -> Life {
        match self.locals.value(local).body {
            Body::Up { .. } => Life::Up,
            Body::Down => Life::Down,
            Body::Dead => Life::Dead,
        }
    }

    fn is_waiting(&self, local: u32) -> bool {
        self.locals.value(local).status == Status::Waiting
    }

    fn may_leave_it(&self, local: u32) -> bool {
        let local = self.locals.value(local);
        (local.status, local.wants) == (Status::Idle, ANY_NUMBER)
    }

    fn alarms(&self, local: u32) -> Vec<Alarm> {
        match &self.locals.value(local).body {
            Body::Up { timers, .. } => timers
                .iter()
                .map(|running| Alarm {
                    timer: self.timers.number(running.timer.clone()),
                    least: running.least,
                    most: running.most,
                })
                .collect(),
            _ => Vec::new(),
        }
    }

    fn elapse(&self, local: u32, nanos: u64) -> u32 {
        let mut after = self.locals.value(local).clone();
        if let Body::Up { timers, .. } = &mut after.body {
            for running in timers {
                running.least = running.least.saturating_sub(nanos);
                running.most = running.most.saturating_sub(nanos);
            }
        }
        self.locals.number(after)
    }

    fn is_timeless(&self) -> bool {
        self.clock_shift.is_some()
    }

    fn least_time(&self, local: u32) -> Option<u64> {
        let Body::Up { mut process, .. } = self.locals.value(local).body.clone() else { return None };
        let visit_times = self.clock_shift?;
        least(|visit| visit_times(Part::Process(&mut process), &self.system().config, visit))
    }

    fn least_time_of_item(&self, item: u32) -> Option<u64> {
        let Item::Message { mut message, .. } = self.items.value(item).clone() else { return None };
        let visit_times = self.clock_shift?;
        least(|visit| visit_times(Part::Message(&mut message), &self.system().config, visit))
    }

    fn earlier(&self, local: u32, by: u64) -> u32 {
        let Some(earlier) = self.later(by.wrapping_neg()) else { return local };
        self.locals.number(self.renamed(self.locals.value(local), &earlier))
    }

    fn earlier_item(&self, item: u32, by: u64) -> u32 {
        self.later(by.wrapping_neg()).map_or(item, |earlier| self.renamed_item(item, &earlier))
    }

    fn notice(&self, suspicion: Suspicion) -> u32 {
        self.items.number(Item::Notice(suspicion))
    }

    fn item(&self, item: u32) -> ItemKind {
        match self.items.value(item) {
            Item::Message { from, .. } => ItemKind::Message { from: from.0 as u8 },
            Item::Notice(Suspicion::Suspect(about) | Suspicion::Restore(about)) => {
                ItemKind::Notice { about: about.0 as u8 }
            }
        }
    }

    fn monitors(&self) -> u32 {
        self.watching.first()
    }

    fn watch(&self, monitors: u32, observations: u32) -> u32 {
        self.watching.watch(monitors, observations)
    }

    fn judge(&self, monitors: u32) -> Judgement {
        self.watching.judge(monitors)
    }

    fn reached(&self, observations: u32) -> u32 {
        self.watching.reached(observations)
    }

    fn narrate(&self, story: &Story<'_>) -> (Trace, Option<String>) {
        Narrator::new(self, story).tell()
    }
}

/// What is done of a deed up to the sending of so many messages.
pub(crate) fn cut_short<P: Process>(mut deed: Deed<P>, kept: usize) -> Deed<P> {
    let sends = deed.1.effects.iter().enumerate().filter(|(_, effect)| matches!(effect, Effect::Send { .. }));
    if let Some(end) = sends.map(|(index, _)| index).nth(kept) {
        deed.1.effects.truncate(end);
    }
    deed
}

pub(crate) fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
