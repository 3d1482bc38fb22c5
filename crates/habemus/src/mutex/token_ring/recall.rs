//! A token that was lost, and the one that takes its place.
//!
//! When the detector says that a process has died or has come back, or when one that has come back says so
//! itself, the first process of the ring that is alive calls all tokens back: the recall goes round, voids
//! every token of an older generation, and waits wherever somebody is inside. When it is home again there is
//! no token any more, and its sender issues exactly one. A recall of the dead that comes late is outbid by
//! the first. If the detector is right there are never two tokens; if it is wrong, two may be inside, and
//! only the fencing token, in which the generation comes first, protects the resource. A generation is stored
//! by everybody that is alive when it is issued: as long as that is always a majority, no later one has a
//! lower number.

use super::{Generation, Message, Permission, TokenRing};
use crate::mutex::State;
use crate::{Address, Context, Id, Suspicion};

impl TokenRing {
    pub(super) fn on_change_of_the_ring(&mut self, suspicion: Suspicion, cx: &mut Context<'_, Self>) {
        let before = self.successor(cx);
        match suspicion {
            Suspicion::Suspect(process) => self.suspected.insert(process),
            Suspicion::Restore(process) => self.suspected.remove(&process),
        };
        let successor = self.successor(cx);
        if self.is_first(cx) {
            self.recall(cx);
        } else if successor != before && self.generation.by.is_some() && !self.held_back {
            // A recall that I passed on may have died with my old successor, and the new one may not know of
            // it.
            cx.send(successor, Message::Recall(self.generation));
        }
    }

    /// Somebody, perhaps I, has come back after a crash, so soon perhaps that no detector has noticed.
    pub(super) fn on_missing(&mut self, origin: Id, cx: &mut Context<'_, Self>) {
        if self.is_first(cx) {
            self.recall(cx);
        } else {
            cx.send(self.successor(cx), Message::Missing(origin));
        }
    }

    pub(super) fn on_recall(&mut self, generation: Generation, cx: &mut Context<'_, Self>) {
        let is_mine = generation.by == Some(cx.me());
        // Whoever was to issue that generation is dead, or I have one of my own under way: if I do not begin
        // again above it, nobody issues any more.
        let is_orphaned = generation.by.is_some_and(|by| self.suspected.contains(&by));
        let begin_again = self.is_first(cx) && (self.recalling || is_orphaned);
        if generation == self.generation {
            // If it is home, nobody has an older token, or will accept one. Otherwise it has been here.
            if self.recalling && is_mine {
                self.issue(cx);
            }
        } else if generation.number > self.generation.number {
            self.learn(generation, cx);
            if begin_again {
                self.recall(cx);
            } else {
                self.recalling = false;
                self.pass_recall_on(cx);
            }
        } else if begin_again && generation.number == self.generation.number {
            // Two processes cannot issue the same generation.
            self.recall(cx);
        } else if let Some(sender) = generation.by.filter(|_| !is_mine) {
            cx.send(sender, Message::Superseded(self.generation));
        }
    }

    /// I was down, and did not know of a later generation. Mine will not be issued, and somebody must begin
    /// again.
    pub(super) fn on_superseded(&mut self, generation: Generation, cx: &mut Context<'_, Self>) {
        let is_news = generation != self.generation && generation.number >= self.generation.number;
        if is_news && self.recalling {
            self.recalling = false;
            self.learn(generation, cx);
            self.on_missing(cx.id(), cx);
        }
    }

    fn recall(&mut self, cx: &mut Context<'_, Self>) {
        self.learn(Generation { number: self.generation.number + 1, by: Some(cx.me()) }, cx);
        self.recalling = true;
        self.pass_recall_on(cx);
    }

    pub(super) fn pass_recall_on(&mut self, cx: &mut Context<'_, Self>) {
        self.held_back = self.state == State::Held;
        if self.held_back {
            return;
        }
        self.token = None;
        let successor = self.successor(cx);
        if successor != cx.me() {
            cx.send(successor, Message::Recall(self.generation));
        } else if self.recalling {
            self.issue(cx);
        }
    }

    pub(super) fn learn(&mut self, generation: Generation, cx: &mut Context<'_, Self>) {
        self.generation = generation;
        cx.persist(generation);
    }

    fn issue(&mut self, cx: &mut Context<'_, Self>) {
        self.recalling = false;
        self.take(Permission { generation: self.generation, entries: 0, idle_hops: 0 }, cx);
    }

    /// Whether nobody alive comes before me: the election that decides who issues the token.
    fn is_first(&self, cx: &Context<'_, Self>) -> bool {
        (0..cx.me().0).all(|before| self.suspected.contains(&Address(before)))
    }
}
