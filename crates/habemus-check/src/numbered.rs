//! A system of processes as numbers: what comes of every cause in every local state.
//!
//! Exploration works on numbers alone. Handlers run only when a local state meets a cause for the first time.

use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use habemus::clock::VectorClock;
use habemus::{Address, ProblemKind, Status};
use smallvec::SmallVec;

use crate::branch::Branch;
use crate::facts::SystemFacts;
use crate::handlers::{Effect, Event, Handled, Handlers, Storage};
use crate::intern::Interner;
use crate::local::{Body, Item, Local, Running};
use crate::protocol::{Cause, Reacted, Reaction, Trouble};
use crate::rate::Rate;
use crate::setting::{ANY_NUMBER, Reduction, Setting, Speed};
use crate::watching::{Sight, Watch};

mod after;
mod facets;
mod symmetry;
mod terms;

/// The processes of one system, numbered.
pub(crate) struct Numbered {
    pub(crate) facts: SystemFacts,
    pub(crate) handlers: Box<dyn Handlers>,
    pub(crate) watching: Box<dyn Watch>,
    locals: Interner<Local>,
    pub(crate) items: Interner<Item>,
    keeps_durations: bool,
    speed: Option<Speed>,
    keeps_stored: bool,
    amnesia: bool,
    clocks: bool,
    is_sure_to_start: bool,
    /// Whether states that differ by a shift of all logical clocks are one.
    pub(crate) is_shift_invariant: bool,
    /// The permutations of all processes up to which states are one, but for the one that leaves all where
    /// they are: for each process, by address, its new address.
    pub(crate) moves: Vec<Vec<u32>>,
    /// Whether states that differ by the names of terms are one.
    pub(crate) is_term_invariant: bool,
    /// On how many steps other widths of gaps between terms were tried.
    widened: AtomicUsize,
}

/// What a process did for each way to choose, nearly always one; `None` is a crash, which runs no handler.
pub(crate) type Outcomes = SmallVec<[Option<Handled>; 1]>;

impl Numbered {
    /// A system, watched by the monitors of these properties.
    pub(crate) fn new(
        facts: &SystemFacts,
        handlers: Box<dyn Handlers>,
        setting: &Setting,
        properties: &[&'static str],
    ) -> Self {
        Numbered {
            watching: handlers.watch(properties, setting.is_sure_to_start()),
            locals: Interner::new(),
            items: Interner::new(),
            is_shift_invariant: symmetry::is_shift_invariant(&*handlers, setting),
            moves: symmetry::moves(facts, &*handlers, setting),
            is_term_invariant: setting.uses(Reduction::Terms) && handlers.is_term_invariant(),
            facts: facts.clone(),
            handlers,
            keeps_durations: setting.timers.have_order(),
            speed: setting.timers.speed(),
            keeps_stored: setting.budget.recoveries > 0,
            amnesia: setting.budget.amnesia,
            clocks: setting.clocks,
            is_sure_to_start: setting.is_sure_to_start() || facts.population.is_sure_to_start,
            widened: AtomicUsize::new(0),
        }
    }

    /// How many processes there are.
    pub(crate) fn processes(&self) -> usize {
        self.facts.processes()
    }

    /// Whether the first of these processes may send to the second.
    pub(crate) fn linked(&self, from: u8, to: u8) -> bool {
        self.handlers.linked(Address(u32::from(from)), Address(u32::from(to)))
    }

    /// Starts the process at `address`, whose client has `wants` commands to give and whose clock runs at
    /// this rate.
    pub(crate) fn start(&self, address: u8, wants: u32, rate: Rate) -> Result<Reacted, Trouble> {
        self.reactions(&Local::unborn(Address(u32::from(address)), wants, rate), Cause::Start)
    }

    /// What comes of `cause` at a process in this local state: one reaction for each way in which the process
    /// may choose; none if the cause does not apply.
    pub(crate) fn react(&self, local: u32, cause: Cause) -> Result<Reacted, Trouble> {
        self.reactions(self.locals.value(local), cause)
    }

    /// What comes of a timer at a process that crashes in the midst of it, for ever, when these of its
    /// messages are sent: a set of bits.
    pub(crate) fn halfway(
        &self,
        local: u32,
        timer: u32,
        choice: usize,
        kept: u32,
    ) -> Result<Reaction, Trouble> {
        let local = self.locals.value(local);
        let cause = Cause::Timer(timer);
        let outcome = self.outcomes(local, cause)?.swap_remove(choice);
        let outcome = outcome.map(|handled| lose_unsent(cut_short(handled, kept), kept));
        let mut reaction = self.reaction(local, cause, outcome.as_ref())?;
        let crash = Cause::Crash { forever: true };
        let (dead, crashed) = self.after(self.locals.value(reaction.local), crash, None);
        reaction.local = self.locals.number(dead);
        reaction.observations = self.watching.number_after(reaction.observations, crashed);
        Ok(reaction)
    }

    /// The timers, as a set of bits, that a process sets in a step, in the order in which they run
    /// afterwards.
    pub(crate) fn set_timers(&self, local: u32, cause: Cause, choice: u16) -> Result<u32, Trouble> {
        let local = self.locals.value(local);
        let outcome = self.outcomes(local, cause)?.into_iter().nth(usize::from(choice)).flatten();
        let (next, _) = self.after(local, cause, outcome.as_ref());
        let Body::Up { timers, .. } = next.body else { return Ok(0) };
        assert!(timers.len() <= u32::BITS as usize, "a process has at most 32 timers at a time");
        let effects = outcome.map(|handled| handled.effects).unwrap_or_default();
        let is_set = |running: &Running| {
            let sets =
                |effect: &Effect| matches!(effect, Effect::SetTimer { timer, .. } if *timer == running.timer);
            effects.iter().any(sets)
        };
        Ok(timers.iter().rev().fold(0, |set, running| set << 1 | u32::from(is_set(running))))
    }

    /// What the client of this process asks next, and how many wishes it has afterwards.
    fn wish(&self, local: &Local) -> Option<(u32, u32)> {
        let words = self.handlers.words();
        if self.facts.one_shot {
            // An election is asked for once, at any time.
            return words.first_command().zip(local.wants.checked_sub(1));
        }
        let command = words.next_command(local.status)?;
        match (local.status, local.wants) {
            (Status::Idle, 0) => None,
            (Status::Idle, wants) if wants != ANY_NUMBER => Some((command, wants - 1)),
            (_, wants) => Some((command, wants)),
        }
    }

    /// What the process does, for every way to choose.
    pub(crate) fn outcomes(&self, local: &Local, cause: Cause) -> Result<Outcomes, Trouble> {
        let mut outcomes = Outcomes::new();
        if let (Cause::Crash { .. }, Body::Up { .. }) = (cause, &local.body) {
            outcomes.push(None);
            return Ok(outcomes);
        }
        let Some(event) = self.event(local, cause) else { return Ok(outcomes) };
        let mut branch = Branch::default();
        loop {
            let Some(handled) = self.handlers.handle(local.address, event, Duration::ZERO, &mut branch)
            else {
                let process = self.id(local.address);
                return Err(Trouble::Nondeterministic { process, event: self.describe(local, cause) });
            };
            outcomes.push(Some(handled));
            if !branch.advance() {
                return Ok(outcomes);
            }
        }
    }

    /// What a cause is to a process in this local state; `None` if it is nothing.
    fn event(&self, local: &Local, cause: Cause) -> Option<Event> {
        let process = match local.body {
            Body::Up { process, .. } => process,
            Body::Down => {
                return match cause {
                    Cause::Start => Some(Event::Start(Storage::Lost)),
                    Cause::Recover if self.amnesia => Some(Event::Start(Storage::Lost)),
                    Cause::Recover => Some(Event::Start(local.stored.map_or(Storage::Blank, Storage::Holds))),
                    _ => None,
                };
            }
            Body::Dead => return None,
        };
        match cause {
            Cause::Item(item) => match *self.items.value(item) {
                Item::Message { from, message, .. } => Some(Event::Message { process, from, message }),
                Item::Notice(suspicion) => Some(Event::Suspicion { process, suspicion }),
            },
            Cause::Client => self.wish(local).map(|(command, _)| Event::Command { process, command }),
            Cause::Timer(timer) => Some(Event::Timer { process, timer }),
            Cause::Suspicion(suspicion) => Some(Event::Suspicion { process, suspicion }),
            Cause::Crash { .. } | Cause::Start | Cause::Recover => None,
        }
    }

    fn reaction(&self, local: &Local, cause: Cause, handled: Option<&Handled>) -> Result<Reaction, Trouble> {
        let (next, mut seen) = self.after(local, cause, handled);
        let mut sends = SmallVec::new();
        for effect in handled.iter().flat_map(|handled| &handled.effects) {
            let &Effect::Send { to, message } = effect else { continue };
            if !self.handlers.linked(local.address, to) {
                return Err(Trouble::NoLink {
                    process: self.id(local.address),
                    to: self.id(to),
                    event: self.describe(local, cause),
                });
            }
            sends.push((to.0 as u8, self.message_item(local.address, message, &next.clock)));
        }
        if self.facts.problem == ProblemKind::Election && self.is_sure_to_start {
            // No monitor minds when an election is asked for, if it is; a state that forgets it is met more
            // often.
            seen.retain(|seen| !matches!(seen.what, Sight::Command(_)));
        }
        Ok(Reaction { local: self.locals.number(next), sends, observations: self.watching.number(seen) })
    }

    /// The item that a message makes in the inbox of its receiver.
    pub(crate) fn message_item(&self, from: Address, message: u32, clock: &VectorClock) -> u32 {
        self.items.number(Item::Message { from, message, clock: clock.clone() })
    }

    fn reactions(&self, local: &Local, cause: Cause) -> Result<Reacted, Trouble> {
        let outcomes = self.outcomes(local, cause)?;
        let process = self.id(local.address);
        if self.is_shift_invariant && !self.minds_no_shift(local, cause, &outcomes)? {
            return Err(Trouble::NotShiftInvariant { process, event: self.describe(local, cause) });
        }
        if !self.minds_no_move(local, cause, &outcomes)? {
            return Err(Trouble::NotRotationSymmetric { process, event: self.describe(local, cause) });
        }
        if self.is_term_invariant && !self.minds_no_renaming(local, cause, &outcomes)? {
            return Err(Trouble::NotTermInvariant { process, event: self.describe(local, cause) });
        }
        let mut reactions = Reacted::new();
        for outcome in &outcomes {
            reactions.push(self.reaction(local, cause, outcome.as_ref())?);
        }
        Ok(reactions)
    }

    fn id(&self, address: Address) -> u64 {
        self.facts.population.id(address).0
    }

    /// An event in words.
    fn describe(&self, local: &Local, cause: Cause) -> String {
        match cause {
            Cause::Item(item) => match *self.items.value(item) {
                Item::Message { from, message, .. } => {
                    format!("the message {} from {}", self.handlers.message(message).label, self.id(from))
                }
                Item::Notice(suspicion) => format!("the suspicion {suspicion:?}"),
            },
            Cause::Client => match self.wish(local) {
                Some((command, _)) => format!("the command {}", self.handlers.words().command(command).label),
                None => "a command".to_owned(),
            },
            Cause::Timer(timer) => format!("the timer {}", self.handlers.timer(timer).label),
            Cause::Crash { .. } => "a crash".to_owned(),
            Cause::Start | Cause::Recover => "its start".to_owned(),
            Cause::Suspicion(suspicion) => format!("the suspicion {suspicion:?}"),
        }
    }
}

/// What a handler does before it is cut short, when it is about to send the first message behind all of those
/// that are kept. Some before that may be lost, too: they are in no order on their way out.
pub(crate) fn cut_short(mut handled: Handled, kept: u32) -> Handled {
    let is_send = |effect: &Effect| matches!(effect, Effect::Send { .. });
    let sends = handled.effects.iter().enumerate().filter(|(_, effect)| is_send(effect));
    let behind = (u32::BITS - kept.leading_zeros()) as usize;
    if let Some(end) = sends.map(|(index, _)| index).nth(behind) {
        handled.effects.truncate(end);
    }
    handled
}

/// What a handler does, without the messages that are not kept.
fn lose_unsent(mut handled: Handled, kept: u32) -> Handled {
    let mut sends = 0;
    handled.effects.retain(|effect| {
        let is_send = matches!(effect, Effect::Send { .. });
        sends += u32::from(is_send);
        !is_send || kept >> (sends - 1) & 1 == 1
    });
    handled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crash_in_the_midst_of_a_step_leaves_any_set_of_its_messages() {
        let send = |to: u32| Effect::Send { to: Address(to), message: 0 };
        let effects =
            SmallVec::from_slice(&[send(1), Effect::Output(7), send(2), Effect::Output(8), send(3)]);
        let handled = Handled { process: 0, persist: None, effects, peeked: false };
        let left = |kept| lose_unsent(cut_short(handled.clone(), kept), kept).effects.to_vec();
        assert_eq!(left(0b001), [send(1), Effect::Output(7)]);
        assert_eq!(left(0b010), [Effect::Output(7), send(2), Effect::Output(8)]);
        assert_eq!(left(0b101), [send(1), Effect::Output(7), Effect::Output(8), send(3)]);
    }
}
