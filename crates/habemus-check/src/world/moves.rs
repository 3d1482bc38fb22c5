//! What a process can do in a situation, worked out once and then looked up.

use std::sync::Arc;

use super::{Worker, entry};
use crate::inbox::Delivery;
use crate::protocol::{Act, Cause, Label, Life, Reaction, Trouble};
use crate::setting::Timers;

/// A step at a process, ready to be applied.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hop {
    /// What it leads to.
    pub(super) situation: u32,
    pub(super) observations: u32,
    /// Its sends are `sends[first..first + count]` of the worker.
    pub(super) first: u32,
    pub(super) count: u16,
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
    /// Whether no fault is needed for it.
    pub(super) fn is_ordinary(&self) -> bool {
        !matches!(self.kind, Kind::Loss | Kind::Duplication)
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

/// What a process does by itself in a local state: what its client asks, and what its timers wake it for.
pub(super) type Own = Arc<[(Kind, u32, Arc<[Reaction]>)]>;

impl Worker<'_> {
    pub(super) fn life(&mut self, situation: u32) -> Life {
        if let Some(&Some(life)) = self.lives.get(situation as usize) {
            return life;
        }
        let life = self.life_of(self.local(situation));
        *entry(&mut self.lives, situation) = Some(life);
        life
    }

    fn life_of(&mut self, local: u32) -> Life {
        *entry(&mut self.lives_by_local, local).get_or_insert_with(|| self.world.protocol.life(local))
    }

    /// The hops of a process in this situation.
    #[inline]
    pub(super) fn moves_of(&mut self, situation: u32) -> Result<(u32, u32), Trouble> {
        if let Some(&Some(range)) = self.moves.get(situation as usize) {
            return Ok(range);
        }
        let first = self.hops.len() as u32;
        self.find_moves(situation)?;
        let range = (first, self.hops.len() as u32);
        *entry(&mut self.moves, situation) = Some(range);
        Ok(range)
    }

    fn find_moves(&mut self, situation: u32) -> Result<(), Trouble> {
        let world = self.world;
        let (local, inbox) = self.situation(situation);
        let deliverable = self.mail.deliverable(inbox);
        let nothing = Reaction { local, sends: Box::default(), observations: 0 };
        match self.life_of(local) {
            Life::Dead => return Ok(()),
            Life::Down => {
                for place in deliverable {
                    let Delivery { item, rest } = self.mail.delivery(place);
                    self.keep(&nothing, rest, Kind::Discarding, item, 0);
                }
                return Ok(());
            }
            Life::Up => {}
        }
        let (losses, duplications) = (world.setting.budget.losses > 0, world.setting.budget.duplications > 0);
        for place in deliverable {
            let Delivery { item, rest } = self.mail.delivery(place);
            let reactions = self.react(local, Cause::Item(item))?;
            let may_fail = (losses || duplications) && self.mail.is_message(item);
            for (choice, reaction) in reactions.iter().enumerate() {
                self.keep(reaction, rest, Kind::Delivery, item, choice);
                if may_fail && duplications {
                    self.keep(reaction, inbox, Kind::Duplication, item, choice);
                }
            }
            if may_fail && losses {
                self.keep(&nothing, rest, Kind::Loss, item, 0);
            }
        }
        for (kind, subject, reactions) in self.own(local)?.iter() {
            for (choice, reaction) in reactions.iter().enumerate() {
                self.keep(reaction, inbox, *kind, *subject, choice);
            }
        }
        Ok(())
    }

    fn own(&mut self, local: u32) -> Result<Own, Trouble> {
        if let Some(Some(known)) = self.own.get(local as usize) {
            return Ok(Arc::clone(known));
        }
        let mut own = vec![(Kind::Client, 0, self.react(local, Cause::Client)?)];
        if self.world.setting.timers == Timers::AnyTime {
            for alarm in self.world.protocol.alarms(local) {
                own.push((Kind::Timer, alarm.timer, self.react(local, Cause::Timer(alarm.timer))?));
            }
        }
        own.retain(|(.., reactions)| !reactions.is_empty());
        let own: Own = own.into();
        *entry(&mut self.own, local) = Some(Arc::clone(&own));
        Ok(own)
    }

    fn keep(&mut self, reaction: &Reaction, inbox: u32, kind: Kind, subject: u32, choice: usize) {
        let first = self.sends.len() as u32;
        self.sends.extend_from_slice(&reaction.sends);
        let count = reaction.sends.len() as u16;
        let Reaction { local, observations, .. } = *reaction;
        let situation = self.number((local, inbox));
        self.hops.push(Hop { situation, observations, first, count, kind, choice: choice as u16, subject });
    }
}
