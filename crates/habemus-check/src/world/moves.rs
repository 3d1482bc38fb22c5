//! What a process can do in a situation.

use super::Worker;
use crate::inbox::Delivery;
use crate::memo::entry;
use crate::protocol::{Act, Cause, Label, Life, Trouble};
use crate::reactions::Reflex;
use crate::row::Situation;
use crate::setting::Timers;

/// A step at a process, ready to be applied.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hop {
    pub(super) reflex: Reflex,
    /// The inbox afterwards.
    pub(super) inbox: u32,
    pub(super) kind: Kind,
    /// Which of the reactions.
    pub(super) choice: u16,
    /// The item or the timer.
    pub(super) subject: u32,
}

/// What a hop is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Delivery,
    Discarding,
    Client,
    Timer,
    Loss,
    Duplication,
}

impl Hop {
    /// What it leads to.
    #[inline]
    pub(super) fn situation(&self) -> Situation {
        (self.reflex.local, self.inbox)
    }

    /// Whether no fault is needed for it.
    pub(super) fn is_ordinary(&self) -> bool {
        !matches!(self.kind, Kind::Loss | Kind::Duplication)
    }

    /// Whether it takes an item, sends nothing and shows nothing.
    pub(super) fn is_unnoticed(&self) -> bool {
        matches!(self.kind, Kind::Delivery | Kind::Discarding) && self.reflex.is_silent()
    }

    /// The hop as a step of the process at `place`.
    pub(super) fn label(&self, place: usize) -> Label {
        let act = match self.kind {
            Kind::Delivery => Act::Deliver(self.subject),
            Kind::Discarding => Act::Discard(self.subject),
            Kind::Client => Act::Client,
            Kind::Timer => Act::Timer { timer: self.subject, elapsed: 0 },
            Kind::Loss => Act::Lose(self.subject),
            Kind::Duplication => Act::Duplicate(self.subject),
        };
        Label { actor: place as u8, act, choice: self.choice }
    }
}

/// What a process is in a local state, and what it does there by itself: what its client asks, and what its timers wake
/// it for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Habits {
    life: Life,
    /// `own[first..last]` of the worker.
    first: u32,
    last: u32,
}

impl Worker<'_> {
    pub(super) fn life(&mut self, local: u32) -> Life {
        *entry(&mut self.lives, local).get_or_insert_with(|| self.world.protocol.life(local))
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
            causes.push((Kind::Client, 0, Cause::Client));
            if self.world.setting.timers == Timers::AnyTime {
                let alarms = self.world.protocol.alarms(local).into_iter();
                causes.extend(alarms.map(|alarm| (Kind::Timer, alarm.timer, Cause::Timer(alarm.timer))));
            }
        }
        let first = self.own.len() as u32;
        for (kind, subject, cause) in causes {
            for (choice, place) in self.reflexes.of(local, cause)?.enumerate() {
                let reflex = self.reflexes.at(place);
                self.own.push(Hop { reflex, inbox: 0, kind, choice: choice as u16, subject });
            }
        }
        let habits = Habits { life, first, last: self.own.len() as u32 };
        *entry(&mut self.habits, local) = Some(habits);
        Ok(habits)
    }

    /// Does something with each hop of a process in this situation.
    #[inline]
    pub(super) fn each_hop(
        &mut self,
        (local, inbox): Situation,
        mut act: impl FnMut(&mut Self, Hop),
    ) -> Result<(), Trouble> {
        let habits = self.habits(local)?;
        if habits.life == Life::Dead {
            return Ok(());
        }
        for place in self.mail.deliverable(inbox) {
            let Delivery { item, rest } = self.mail.delivery(place);
            let nothing =
                |kind| Hop { reflex: Reflex::none(local), inbox: rest, kind, choice: 0, subject: item };
            if habits.life == Life::Down {
                act(self, nothing(Kind::Discarding));
                continue;
            }
            let may_fail = self.lossy && self.mail.is_message(item);
            for (choice, place) in self.reflexes.of(local, Cause::Item(item))?.enumerate() {
                let (reflex, choice) = (self.reflexes.at(place), choice as u16);
                act(self, Hop { reflex, inbox: rest, kind: Kind::Delivery, choice, subject: item });
                if may_fail && self.world.setting.budget.duplications > 0 {
                    act(self, Hop { reflex, inbox, kind: Kind::Duplication, choice, subject: item });
                }
            }
            if may_fail && self.world.setting.budget.losses > 0 {
                act(self, nothing(Kind::Loss));
            }
        }
        for place in habits.first..habits.last {
            act(self, Hop { inbox, ..self.own[place as usize] });
        }
        Ok(())
    }
}
