//! The transitions of one process in a situation.

use super::Worker;
use crate::inbox::Delivery;
use crate::memo::entry;
use crate::protocol::{Cause, Life, Transition, TransitionKind, Trouble};
use crate::reactions::Reflex;
use crate::row::Situation;
use crate::setting::Timers;

/// A transition of one process, ready to be applied to any state in which the process is in the same
/// situation.
#[derive(Clone, Copy, Debug)]
pub(super) struct LocalTransition {
    pub(super) reflex: Reflex,
    /// The inbox afterwards.
    pub(super) inbox: u32,
    pub(super) kind: LocalKind,
    /// Which of the reactions.
    pub(super) choice: u16,
    /// The item or the timer.
    pub(super) subject: u32,
}

/// What a local transition is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LocalKind {
    Delivery,
    Discarding,
    Client,
    /// A client of a lock that is inside leaves in its own time: it will, but timers need not wait for it.
    Leisure,
    /// A client asks for something that it may as well leave.
    Whim,
    Timer,
    Loss,
    Duplication,
}

impl LocalKind {
    /// The set of bits in which only this kind is.
    #[inline]
    pub(super) fn bit(self) -> u32 {
        1 << self as u32
    }

    /// The kinds, as a set of bits, without which a run may end: neither a fault nor a client's whim need
    /// ever come.
    pub(super) fn not_owed() -> u32 {
        LocalKind::Loss.bit() | LocalKind::Duplication.bit() | LocalKind::Whim.bit()
    }
}

impl LocalTransition {
    /// What it leads to.
    #[inline]
    pub(super) fn situation(&self) -> Situation {
        (self.reflex.local, self.inbox)
    }

    /// Whether a run may not end before it: neither a fault nor a client's whim need ever come.
    pub(super) fn is_owed(&self) -> bool {
        self.kind.bit() & LocalKind::not_owed() == 0
    }

    /// Whether time stands still until it has happened, where messages are faster than timers.
    pub(super) fn is_under_way(&self) -> bool {
        self.is_owed() && self.kind != LocalKind::Leisure
    }

    /// Whether it takes an item, sends nothing and no monitor sees it.
    pub(super) fn is_invisible(&self) -> bool {
        matches!(self.kind, LocalKind::Delivery | LocalKind::Discarding) && self.reflex.is_silent()
    }

    /// The transition of global states that it is at the process at `address`.
    pub(super) fn at(&self, address: usize) -> Transition {
        let kind = match self.kind {
            LocalKind::Delivery => TransitionKind::Deliver(self.subject),
            LocalKind::Discarding => TransitionKind::Discard(self.subject),
            LocalKind::Client | LocalKind::Leisure | LocalKind::Whim => TransitionKind::Client,
            LocalKind::Timer => TransitionKind::Timer { timer: self.subject, elapsed: 0 },
            LocalKind::Loss => TransitionKind::Lose(self.subject),
            LocalKind::Duplication => TransitionKind::Duplicate(self.subject),
        };
        Transition { process: address as u8, kind, choice: self.choice }
    }
}

/// What a process is in a local state, and what it does there by itself: what its client asks, and what its
/// timers wake it for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Habits {
    life: Life,
    /// `own[first..last]` of the worker.
    first: u32,
    last: u32,
}

impl Worker<'_> {
    pub(super) fn life(&mut self, local: u32) -> Life {
        *entry(&mut self.lives, local).get_or_insert_with(|| self.world.system.life(local))
    }

    #[inline]
    fn habits(&mut self, local: u32) -> Result<Habits, Trouble> {
        match self.habits.get(local as usize) {
            Some(&Some(habits)) => Ok(habits),
            _ => self.find_habits(local),
        }
    }

    #[cold]
    fn find_habits(&mut self, local: u32) -> Result<Habits, Trouble> {
        let life = self.life(local);
        let mut causes = Vec::new();
        if life == Life::Up {
            let system = &self.world.system;
            let may_stay = match self.world.setting.timers {
                Timers::AnyTime | Timers::MessagesFirst => false,
                Timers::LateClients => system.is_inside(local),
                Timers::Timed(_) => true,
            };
            let kind = match (system.may_leave_it(local), may_stay) {
                (true, _) => LocalKind::Whim,
                (false, true) => LocalKind::Leisure,
                (false, false) => LocalKind::Client,
            };
            causes.push((kind, 0, Cause::Client));
            if !self.world.setting.timers.have_order() {
                let timers = self.world.system.timers(local).iter().map(|running| running.timer);
                causes.extend(timers.map(|timer| (LocalKind::Timer, timer, Cause::Timer(timer))));
            }
        }
        let first = self.own.len() as u32;
        for (kind, subject, cause) in causes {
            for (choice, index) in self.reflexes.of(local, cause)?.enumerate() {
                let reflex = self.reflexes.at(index);
                self.own.push(LocalTransition { reflex, inbox: 0, kind, choice: choice as u16, subject });
            }
        }
        let habits = Habits { life, first, last: self.own.len() as u32 };
        *entry(&mut self.habits, local) = Some(habits);
        Ok(habits)
    }

    /// Does something with each transition of a process in this situation.
    #[inline]
    pub(super) fn each_transition(
        &mut self,
        (local, inbox): Situation,
        mut act: impl FnMut(&mut Self, LocalTransition),
    ) -> Result<(), Trouble> {
        let habits = self.habits(local)?;
        if habits.life == Life::Dead {
            return Ok(());
        }
        for index in self.mail.deliverable(inbox) {
            let Delivery { item, rest } = self.mail.delivery(index);
            let nothing = |kind| LocalTransition {
                reflex: Reflex::none(local),
                inbox: rest,
                kind,
                choice: 0,
                subject: item,
            };
            if habits.life == Life::Down {
                act(self, nothing(LocalKind::Discarding));
                continue;
            }
            let may_fail = self.lossy && self.mail.is_message(item);
            for (choice, index) in self.reflexes.of(local, Cause::Item(item))?.enumerate() {
                let (reflex, choice) = (self.reflexes.at(index), choice as u16);
                act(
                    self,
                    LocalTransition { reflex, inbox: rest, kind: LocalKind::Delivery, choice, subject: item },
                );
                if may_fail && self.world.setting.budget.duplications > 0 {
                    act(
                        self,
                        LocalTransition {
                            reflex,
                            inbox,
                            kind: LocalKind::Duplication,
                            choice,
                            subject: item,
                        },
                    );
                }
            }
            if may_fail && self.world.setting.budget.losses > 0 {
                act(self, nothing(LocalKind::Loss));
            }
        }
        for index in habits.first..habits.last {
            act(self, LocalTransition { inbox, ..self.own[index as usize] });
        }
        Ok(())
    }
}
