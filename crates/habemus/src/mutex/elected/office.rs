//! The office of the coordinator: what it knows while it reigns. None of it survives the reign; the next
//! coordinator asks everybody.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::message::{GrantId, LockMessage, Place, Ticket, Timer};
use super::{Elected, Reign, Reigns, Variant};
use crate::election::Election;
use crate::election::majority::is_majority;
use crate::term::Term;
use crate::{Address, Context, Process, Suspicion};

/// What a coordinator knows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Office {
    /// Who has said where it stands.
    pub answered: BTreeSet<Address>,
    /// Whether leases of earlier reigns are over.
    pub grace_over: bool,
    /// Whether enough is known to grant.
    pub open: bool,
    /// How many grants there were.
    pub given: u64,
    /// Who is inside or may be: one, unless a mistake of the past shows two.
    pub holders: BTreeMap<Address, (Ticket, GrantId)>,
    /// Who waits.
    pub queue: VecDeque<(Address, Ticket)>,
}

impl<E: Process<Problem = Election>> Elected<E> {
    /// The election has made me the leader, or I was told of a reign that is later than mine.
    pub(super) fn begin_reign(&mut self, number: Term, cx: &mut Context<'_, Self>) {
        self.obey(Reign { number, coordinator: cx.me() }, cx);
        self.office = Some(Office::default());
        let reign = self.reign.number;
        for to in cx.neighbours() {
            self.tell(to, LockMessage::Ask { reign }, cx);
        }
        if let Some(grace) = cx.config().reclaim_after() {
            cx.set_timer(Timer::Grace { reign }, grace);
        }
        let (ticket, place) = (self.ticket, self.place);
        self.on_here(cx.me(), ticket, place, cx);
        self.try_again_later(cx);
    }

    /// Begins the reign after one that is known. After the last there is none; nobody gets so far.
    pub(super) fn begin_reign_after(&mut self, reign: Term, cx: &mut Context<'_, Self>) {
        if let Some(next) = reign.next() {
            self.begin_reign(next, cx);
        }
    }

    pub(super) fn on_here(
        &mut self,
        from: Address,
        ticket: Ticket,
        place: Place,
        cx: &mut Context<'_, Self>,
    ) {
        if cx.config().lease.is_none() && self.suspected.contains(&from) {
            // It has died since, and would hold for ever what it is granted. If it is trusted again, it is
            // asked again.
            return;
        }
        let Some(office) = &mut self.office else { return };
        if !office.answered.insert(from) {
            return;
        }
        match place {
            Place::Outside => {}
            Place::Waiting => office.queue.push_back((from, ticket)),
            Place::Inside { ticket, grant } => {
                office.holders.insert(from, (ticket, grant));
                if let Some(after) = cx.config().reclaim_after() {
                    cx.set_timer(Timer::Reclaim(grant), after);
                }
            }
        }
        self.rest_if_answered(cx);
        self.grant_next(cx);
    }

    pub(super) fn on_request(&mut self, from: Address, ticket: Ticket, cx: &mut Context<'_, Self>) {
        let reign = self.reign.number;
        let Some(office) = &mut self.office else { return };
        if !office.answered.contains(&from) {
            // It was suspected; what it says when asked counts.
            self.tell(from, LockMessage::Ask { reign }, cx);
            return;
        }
        match office.holders.get(&from) {
            Some(&(granted, grant)) => {
                // The grant was lost, or the release was: the answer tells.
                self.tell(from, LockMessage::Grant { reign, ticket: granted, grant }, cx);
            }
            None => {
                match office.queue.iter_mut().find(|(waiting, _)| *waiting == from) {
                    Some((_, known)) => *known = ticket.max(*known),
                    None => office.queue.push_back((from, ticket)),
                }
                self.grant_next(cx);
            }
        }
    }

    pub(super) fn on_release(&mut self, from: Address, ticket: Ticket, cx: &mut Context<'_, Self>) {
        let Some(office) = &mut self.office else { return };
        office.queue.retain(|&(waiting, known)| waiting != from || known > ticket);
        if let Some((_, grant)) = office.holders.get(&from).copied().filter(|(granted, _)| *granted <= ticket)
        {
            office.holders.remove(&from);
            if cx.config().lease.is_some() {
                cx.cancel_timer(Timer::Reclaim(grant));
            }
        }
        self.tell(from, LockMessage::Released { ticket }, cx);
        self.grant_next(cx);
    }

    /// One that is inside wants to stay: the time in which its permission can be taken back begins anew.
    pub(super) fn on_renew(
        &mut self,
        from: Address,
        ticket: Ticket,
        grant: GrantId,
        cx: &mut Context<'_, Self>,
    ) {
        let reign = self.reign.number;
        let Some(office) = &mut self.office else { return };
        if !office.answered.contains(&from) {
            self.tell(from, LockMessage::Ask { reign }, cx);
            return;
        }
        // Who is not known to be inside is not told so: its lease ends by itself.
        let Some((granted, _)) = office.holders.get_mut(&from).filter(|(_, held)| *held == grant) else {
            return;
        };
        *granted = ticket.max(*granted);
        if let Some(after) = cx.config().reclaim_after() {
            cx.set_timer(Timer::Reclaim(grant), after);
        }
        self.tell(from, LockMessage::Renewed { reign, ticket }, cx);
    }

    /// A lease is over, and with it the holder's own belief that it is inside.
    pub(super) fn on_reclaim(&mut self, grant: GrantId, cx: &mut Context<'_, Self>) {
        let Some(office) = &mut self.office else { return };
        office.holders.retain(|_, (_, held)| *held != grant);
        self.grant_next(cx);
    }

    pub(super) fn on_grace_over(&mut self, reign: Term, cx: &mut Context<'_, Self>) {
        if let Some(office) = self.office.as_mut().filter(|_| self.reign.number == reign) {
            office.grace_over = true;
            self.grant_next(cx);
        }
    }

    /// Somebody seems dead: it neither waits nor answers any more, and without leases it is not inside
    /// either.
    pub(super) fn on_change_of_the_living(&mut self, suspicion: Suspicion, cx: &mut Context<'_, Self>) {
        let reign = self.reign.number;
        match suspicion {
            Suspicion::Suspect(suspect) => {
                self.suspected.insert(suspect);
                let Some(office) = &mut self.office else { return };
                office.answered.remove(&suspect);
                office.queue.retain(|(waiting, _)| *waiting != suspect);
                if cx.config().lease.is_none() {
                    office.holders.remove(&suspect);
                }
                self.grant_next(cx);
            }
            Suspicion::Restore(restored) => {
                self.suspected.remove(&restored);
                if self.office.is_some() {
                    self.tell(restored, LockMessage::Ask { reign }, cx);
                    self.try_again_later(cx);
                }
            }
        }
    }

    /// Asks those again that owe an answer. Those that seem dead owe none.
    pub(super) fn ask_again(&mut self, cx: &mut Context<'_, Self>) {
        let reign = self.reign.number;
        for to in self.silent(cx) {
            self.tell(to, LockMessage::Ask { reign }, cx);
        }
    }

    /// Those that owe an answer.
    pub(super) fn silent(&self, cx: &Context<'_, Self>) -> Vec<Address> {
        let Some(office) = &self.office else { return Vec::new() };
        let owes =
            |address: &Address| !office.answered.contains(address) && !self.suspected.contains(address);
        cx.neighbours().filter(owes).collect()
    }

    fn grant_next(&mut self, cx: &mut Context<'_, Self>) {
        let may_open = self.knows_enough(cx);
        let Some(office) = &mut self.office else { return };
        office.open |= may_open;
        if !office.open || !office.holders.is_empty() {
            return;
        }
        let Some((next, ticket)) = office.queue.pop_front() else { return };
        let (reigns, grants) = (cx.config().reigns, cx.config().reigns.grants());
        if office.given + 1 >= grants {
            // Tokens must not run into those of the next reign.
            if reigns == Reigns::Counted {
                self.begin_reign_after(self.reign.number, cx);
            }
            return;
        }
        office.given += 1;
        let reign = self.reign.number;
        let grant = GrantId { reign, number: office.given };
        office.holders.insert(next, (ticket, grant));
        if let Some(after) = cx.config().reclaim_after() {
            cx.set_timer(Timer::Reclaim(grant), after);
        }
        self.tell(next, LockMessage::Grant { reign, ticket, grant }, cx);
    }

    /// Whether nobody can be inside that the coordinator does not know of. Who answers is known; who is dead
    /// is not inside; and who can be neither heard nor believed dead has left by itself when its lease is
    /// over.
    fn knows_enough(&self, cx: &Context<'_, Self>) -> bool {
        let Some(office) = &self.office else { return false };
        let config = cx.config();
        if config.variant == Variant::MutantForgetful {
            return true;
        }
        let everybody = cx.process_count();
        let answers = office.answered.len();
        let answered = || office.answered.iter().copied();
        let enough =
            config.majority.as_ref().is_none_or(|weights| is_majority(answered(), weights, everybody));
        let all_accounted = self.silent(cx).is_empty();
        match config.lease {
            _ if answers == everybody => true,
            None => all_accounted && enough,
            Some(_) => office.grace_over && enough && (config.majority.is_some() || all_accounted),
        }
    }
}
