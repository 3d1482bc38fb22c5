//! The rules of everybody, the coordinator included: to want to enter, and to obey the latest reign.

use super::message::{GrantId, LockMessage, Place, Ticket, Timer};
use super::{Elected, Reign, Variant};
use crate::election::{Command as Elect, Election};
use crate::mutex::{Command, Output};
use crate::term::Term;
use crate::{Address, Context, Process};

impl<E: Process<Problem = Election>> Elected<E> {
    pub(super) fn on_wish(&mut self, command: Command, cx: &mut Context<'_, Self>) {
        match (command, self.place) {
            (Command::Acquire | Command::Share, Place::Outside) => {
                self.place = Place::Waiting;
                self.request(cx);
                if !self.leader_known {
                    // S4: who needs a coordinator and knows none calls an election.
                    self.elect(cx, |election, cx| election.on_command(Elect::Elect, cx));
                }
                self.try_again_later(cx);
            }
            (Command::Release, Place::Inside { ticket, .. }) => self.leave(ticket, cx),
            // Asking twice, or leaving while outside, changes nothing.
            _ => {}
        }
    }

    /// Asks with a new ticket. Its lease runs from now: earlier than from any grant of it.
    fn request(&mut self, cx: &mut Context<'_, Self>) {
        self.ticket.number += 1;
        if let Some(lease) = cx.config().lease {
            cx.set_timer(Timer::LeaseOver(self.ticket), lease);
        }
        self.say_request(cx);
    }

    /// Asks once more. A wish keeps its ticket for as long as it may, and that is for ever where there is no
    /// lease.
    pub(super) fn request_again(&mut self, cx: &mut Context<'_, Self>) {
        match cx.config().lease {
            Some(_) => self.request(cx),
            None => self.say_request(cx),
        }
    }

    fn say_request(&mut self, cx: &mut Context<'_, Self>) {
        let (reign, ticket) = (self.reign.number, self.ticket);
        if reign > Term::ZERO {
            self.tell(self.reign.coordinator, LockMessage::Request { reign, ticket }, cx);
        }
    }

    /// A new coordinator asks where I am.
    pub(super) fn on_ask(&mut self, from: Address, reign: Term, cx: &mut Context<'_, Self>) {
        let asked = Reign { number: reign, coordinator: from };
        if reign < self.reign.number || (reign == self.reign.number && asked != self.reign) {
            self.tell(from, LockMessage::Outdated { reign: self.reign.number }, cx);
            return;
        }
        if asked != self.reign {
            self.obey(asked, cx);
            // If I led, a later leader does now; should the election not say so, I shall be back.
            self.office = None;
        }
        let (ticket, place) = (self.ticket, self.place);
        self.tell(from, LockMessage::Here { reign, ticket, place }, cx);
        if cx.config().renew_after().is_some() {
            // The new coordinator must know before the old lease is over that I want to stay.
            self.on_renewal_due(cx);
        }
        self.try_again_later(cx);
    }

    /// Takes note of a reign, for ever: no later coordinator may use its number.
    pub(super) fn obey(&mut self, reign: Reign, cx: &mut Context<'_, Self>) {
        self.reign = reign;
        // The new coordinator learns from my place what I have released.
        self.unreleased = None;
        self.remember(cx);
    }

    pub(super) fn on_grant(
        &mut self,
        from: Address,
        reign: Term,
        ticket: Ticket,
        grant: GrantId,
        cx: &mut Context<'_, Self>,
    ) {
        match self.place {
            // It is said twice.
            Place::Inside { ticket: mine, grant: held } if mine == ticket || held == grant => {}
            Place::Waiting if reign == self.reign.number && self.is_valid(ticket) => {
                self.place = Place::Inside { ticket, grant };
                let config = cx.config();
                let token = config.fencing.then(|| grant.token(config.reigns));
                cx.output(Output::Entered { token });
                if let Some(after) = cx.config().renew_after() {
                    cx.set_timer(Timer::Renew, after);
                }
                self.rest_if_answered(cx);
            }
            // The turn of a wish that is over is for somebody else.
            _ => self.tell(from, LockMessage::Release { reign, ticket }, cx),
        }
    }

    /// Whether a ticket is of the present wish and its lease not yet over.
    fn is_valid(&self, ticket: Ticket) -> bool {
        ticket.incarnation == self.ticket.incarnation
            && (self.valid_from..=self.ticket.number).contains(&ticket.number)
    }

    pub(super) fn on_lease_over(&mut self, ticket: Ticket, cx: &mut Context<'_, Self>) {
        match self.place {
            Place::Inside { .. } if cx.config().variant == Variant::MutantIgnoresLease => {}
            Place::Inside { ticket: mine, .. } if mine == ticket => self.leave(ticket, cx),
            _ => self.valid_from = self.valid_from.max(ticket.number + 1),
        }
    }

    /// Asks to stay, with a new ticket. Its lease runs from now, if it is renewed.
    pub(super) fn on_renewal_due(&mut self, cx: &mut Context<'_, Self>) {
        let (Place::Inside { grant, .. }, Some(lease)) = (self.place, cx.config().lease) else { return };
        self.ticket.number += 1;
        let (reign, ticket) = (self.reign.number, self.ticket);
        cx.set_timer(Timer::LeaseOver(ticket), lease);
        if let Some(after) = cx.config().renew_after() {
            cx.set_timer(Timer::Renew, after);
        }
        self.tell(self.reign.coordinator, LockMessage::Renew { reign, ticket, grant }, cx);
    }

    pub(super) fn on_renewed(&mut self, ticket: Ticket, cx: &mut Context<'_, Self>) {
        let Place::Inside { ticket: mine, grant } = self.place else { return };
        if ticket > mine && self.is_valid(ticket) {
            self.place = Place::Inside { ticket, grant };
            cx.cancel_timer(Timer::LeaseOver(mine));
        }
    }

    fn leave(&mut self, ticket: Ticket, cx: &mut Context<'_, Self>) {
        self.place = Place::Outside;
        self.valid_from = self.ticket.number + 1;
        if cx.config().lease.is_some() {
            cx.cancel_timer(Timer::LeaseOver(ticket));
        }
        if cx.config().renew_after().is_some() {
            cx.cancel_timer(Timer::Renew);
        }
        cx.output(Output::Left);
        self.release(cx);
    }

    /// Closes all tickets so far, until it is acknowledged.
    pub(super) fn release(&mut self, cx: &mut Context<'_, Self>) {
        self.unreleased = Some(self.ticket);
        self.say_release(cx);
        self.try_again_later(cx);
    }

    fn say_release(&mut self, cx: &mut Context<'_, Self>) {
        if let Some(ticket) = self.unreleased {
            let reign = self.reign.number;
            self.tell(self.reign.coordinator, LockMessage::Release { reign, ticket }, cx);
        }
    }

    /// Somebody has not answered: it did not hear me, or I did not hear it.
    pub(super) fn on_retry(&mut self, cx: &mut Context<'_, Self>) {
        self.reign_again(cx);
        self.say_release(cx);
        if self.place == Place::Waiting {
            self.request_again(cx);
        }
        self.ask_again(cx);
        self.try_again_later(cx);
    }

    /// Sets the alarm if an answer is due.
    pub(super) fn try_again_later(&mut self, cx: &mut Context<'_, Self>) {
        if self.is_owed(cx) && cx.config().variant != Variant::MutantForgetful {
            let retry = cx.config().retry;
            cx.set_timer(Timer::Retry, retry..=2 * retry);
        }
    }

    /// Takes the alarm back if an answer was the last that was due.
    pub(super) fn rest_if_answered(&mut self, cx: &mut Context<'_, Self>) {
        if !self.is_owed(cx) {
            cx.cancel_timer(Timer::Retry);
        }
    }

    /// Whether anybody owes me an answer.
    fn is_owed(&self, cx: &Context<'_, Self>) -> bool {
        self.place == Place::Waiting
            || self.unreleased.is_some()
            || (self.leads && self.office.is_none())
            || !self.silent(cx).is_empty()
    }
}
