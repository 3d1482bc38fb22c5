//! The lock of the coordination service: commands in one total order, and clients whose clocks drift and
//! stop.
//!
//! What several members agree upon by consensus is one log for everybody else. Here the first process is that
//! log: it applies each command as it comes, stores what it knows before it answers, and comes back with it
//! (a fail-over). The clients are all processes. A wish opens a *session*, which ends when it is not renewed
//! for its time to live by the clock of the log; whoever waits or holds goes with it. A client counts the
//! same time from when it *sent* the last renewal that was answered, and leaves by itself: before the log,
//! which waits for the grace besides, lets anybody else in, without any message. What a client that is
//! stopped cannot know, its token tells the resource.
//!
//! Three messages for each entry, and two for each renewal.

mod message;
mod store;

use std::time::Duration;

pub use message::{Message, Ticket};
pub use store::{Grant, Request, Store};

use super::{Command, Mutex, Output, Token};
use crate::term::{Sort, Term, TermInvariant, TermPart};
use crate::topology::Complete;
use crate::{Address, Context, Process, System};

/// Where the log is: it can be a client, too.
const LOG: Address = Address(0);

/// How long a session lives, and whether it is renewed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// How long a session lives that is not renewed.
    pub ttl: Duration,
    /// Whether a holder renews its session as long as it is inside. Who waits always does.
    pub keep_alive: bool,
    /// Whose rules.
    pub variant: Variant,
}

impl Default for Config {
    fn default() -> Self {
        Config { ttl: Duration::from_secs(1), keep_alive: true, variant: Variant::Complete }
    }
}

impl Config {
    /// How long the log waits for a session to be renewed: a quarter longer than it lives, so that clocks may
    /// differ by a tenth each way.
    pub fn expiry(&self) -> Duration {
        match self.variant {
            Variant::MutantNoGrace => self.ttl,
            _ => self.ttl + self.ttl / 4,
        }
    }

    /// How often a session is renewed: two attempts may be lost.
    pub fn renewal(&self) -> Duration {
        self.ttl / 4
    }
}

/// Whose rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Variant {
    /// The rules.
    #[default]
    Complete,
    /// A mutant: a session expires without the grace, kept to show that the checker catches it.
    MutantNoGrace,
    /// A mutant: a log that is restored gives its last token again, kept to show that the checker catches it.
    MutantReusesToken,
    /// A mutant: a waiter stays in the queue after its session, kept to show that the checker catches it.
    MutantKeepsWaiter,
    /// A mutant: whoever unlocks frees the lock, kept to show that the checker catches it.
    MutantUnlocksAny,
}

/// What a process is woken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Timer {
    /// When to renew the session, or to ask again.
    Renew,
    /// When what was granted or renewed on this ticket is over.
    SessionOver(Ticket),
    /// When the session of this client has not been renewed in time, at the log.
    Expire(Address),
}

/// Where a client stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Place {
    /// Outside.
    #[default]
    Outside,
    /// It has asked.
    Waiting,
    /// Inside.
    Inside {
        /// The last renewal that was answered,
        ticket: Ticket,
        /// and by which grant it is inside.
        token: Token,
    },
}

/// What survives a crash.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Memory {
    /// How often this client has started.
    pub incarnation: u64,
    /// What the log has applied.
    pub store: Store,
}

/// The variables of one process: those of a client, and those of the log.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Service {
    /// Where I am.
    pub place: Place,
    /// The last ticket that I have sent.
    pub ticket: Ticket,
    /// What I have applied, as the log.
    pub store: Store,
}

impl Process for Service {
    type Problem = Mutex;
    type Topology = Complete;
    type Config = Config;
    type Message = Message;
    type Timer = Timer;
    type Stable = Memory;

    fn on_start(recovered: Option<Memory>, cx: &mut Context<'_, Self>) -> Self {
        let Memory { incarnation, mut store } = recovered.unwrap_or_default();
        if cx.config().variant == Variant::MutantReusesToken {
            store.last = store.last.saturating_sub(1);
        }
        let ticket = Ticket { incarnation: incarnation + 1, ..Ticket::default() };
        let process = Service { place: Place::Outside, ticket, store };
        process.remember(cx);
        // Nobody loses time because there was no leader for a while.
        for client in process.store.clients() {
            cx.set_timer(Timer::Expire(client), cx.config().expiry());
        }
        process
    }

    fn on_command(&mut self, command: Command, cx: &mut Context<'_, Self>) {
        match (command, self.place) {
            (Command::Acquire | Command::Share, Place::Outside) => {
                self.place = Place::Waiting;
                self.ticket = Ticket { wish: self.ticket.wish + 1, sent: Term::ZERO, ..self.ticket };
                self.ask(cx);
            }
            (Command::Release, Place::Inside { ticket, token }) => self.leave(ticket, token, cx),
            // Asking twice, or leaving while outside, changes nothing.
            _ => {}
        }
    }

    fn on_message(&mut self, from: Address, message: Message, cx: &mut Context<'_, Self>) {
        match message {
            Message::Lock(ticket) => self.on_lock(Request { client: from, ticket }, cx),
            Message::KeepAlive { ticket, token } => self.on_keep_alive(from, ticket, token, cx),
            Message::Unlock(token) => self.on_unlock(from, token, cx),
            Message::Granted { ticket, token } => self.on_granted(ticket, token, cx),
        }
    }

    fn on_timer(&mut self, timer: Timer, cx: &mut Context<'_, Self>) {
        match (timer, self.place) {
            (Timer::Renew, Place::Waiting) => self.ask(cx),
            (Timer::Renew, Place::Inside { token, .. }) => self.renew(token, cx),
            (Timer::SessionOver(over), Place::Inside { ticket, token }) if over == ticket => {
                self.leave(ticket, token, cx);
            }
            (Timer::SessionOver(over), Place::Waiting) if over == self.ticket => self.ask(cx),
            (Timer::Renew | Timer::SessionOver(_), _) => {}
            (Timer::Expire(client), _) => self.on_expiry(client, cx),
        }
    }

    fn lease(&self, _: &System<Self>) -> Option<Timer> {
        match self.place {
            Place::Inside { ticket, .. } => Some(Timer::SessionOver(ticket)),
            Place::Outside | Place::Waiting => None,
        }
    }

    fn longest_lease(system: &System<Self>) -> Option<Duration> {
        Some(system.config.expiry())
    }
}

impl TermInvariant for Service {
    fn visit_terms(part: TermPart<'_, Self>, visit: &mut dyn FnMut(Sort, &mut Term)) {
        let mut ticket = |ticket: &mut Ticket| visit(Sort::ROUND, &mut ticket.sent);
        match part {
            TermPart::Process(process) => {
                ticket(&mut process.ticket);
                if let Place::Inside { ticket: renewed, .. } = &mut process.place {
                    ticket(renewed);
                }
                process.store.tickets_mut().for_each(ticket);
            }
            TermPart::Message(
                Message::Lock(sent)
                | Message::KeepAlive { ticket: sent, .. }
                | Message::Granted { ticket: sent, .. },
            )
            | TermPart::Timer(Timer::SessionOver(sent)) => ticket(sent),
            TermPart::Message(Message::Unlock(_)) | TermPart::Timer(Timer::Renew | Timer::Expire(_)) => {}
            TermPart::Stable(memory) => memory.store.tickets_mut().for_each(ticket),
        }
    }
}

/// The client's rules.
impl Service {
    /// Asks, or asks again: the session is renewed while I wait, and lives from now if this is answered.
    fn ask(&mut self, cx: &mut Context<'_, Self>) {
        let before = self.ticket;
        let ticket = self.next_ticket(cx);
        if before.sent > Term::ZERO {
            // Only the last ticket lets me in.
            cx.cancel_timer(Timer::SessionOver(before));
        }
        self.tell_log(Message::Lock(ticket), cx);
    }

    fn renew(&mut self, token: Token, cx: &mut Context<'_, Self>) {
        let ticket = self.next_ticket(cx);
        self.tell_log(Message::KeepAlive { ticket, token }, cx);
    }

    fn next_ticket(&mut self, cx: &mut Context<'_, Self>) -> Ticket {
        self.ticket = self.ticket.next();
        cx.set_timer(Timer::SessionOver(self.ticket), cx.config().ttl);
        cx.set_timer(Timer::Renew, cx.config().renewal());
        self.ticket
    }

    fn on_granted(&mut self, ticket: Ticket, token: Token, cx: &mut Context<'_, Self>) {
        match self.place {
            Place::Waiting if ticket == self.ticket => {
                self.place = Place::Inside { ticket, token };
                cx.output(Output::Entered { token: Some(token) });
                if !cx.config().keep_alive {
                    cx.cancel_timer(Timer::Renew);
                }
            }
            Place::Inside { ticket: mine, token: held } if held == token => {
                if ticket > mine && ticket <= self.ticket {
                    self.place = Place::Inside { ticket, token };
                    cx.cancel_timer(Timer::SessionOver(mine));
                }
            }
            // I have asked again since, and shall be told again.
            Place::Waiting if ticket.is_of_the_same_wish(self.ticket) => {}
            // The turn of a wish that is over is for somebody else.
            _ => self.tell_log(Message::Unlock(token), cx),
        }
    }

    /// I want to, or my session may be over.
    fn leave(&mut self, ticket: Ticket, token: Token, cx: &mut Context<'_, Self>) {
        self.place = Place::Outside;
        cx.cancel_timer(Timer::SessionOver(ticket));
        cx.cancel_timer(Timer::Renew);
        cx.output(Output::Left);
        self.tell_log(Message::Unlock(token), cx);
    }

    fn tell_log(&mut self, message: Message, cx: &mut Context<'_, Self>) {
        self.tell(LOG, message, cx);
    }

    fn tell(&mut self, to: Address, message: Message, cx: &mut Context<'_, Self>) {
        if to == cx.me() {
            self.on_message(to, message, cx);
        } else {
            cx.send(to, message);
        }
    }
}

/// The log's rules: commands as they are applied, one after the other.
impl Service {
    fn on_lock(&mut self, request: Request, cx: &mut Context<'_, Self>) {
        if self.store.is_outdated(request) {
            return;
        }
        self.store.lock(request);
        cx.set_timer(Timer::Expire(request.client), cx.config().expiry());
        self.answer(Some(request.client), cx);
    }

    fn on_keep_alive(&mut self, from: Address, ticket: Ticket, token: Token, cx: &mut Context<'_, Self>) {
        if self.store.keep_alive(Request { client: from, ticket }, token) {
            cx.set_timer(Timer::Expire(from), cx.config().expiry());
            self.answer(Some(from), cx);
        }
    }

    fn on_unlock(&mut self, from: Address, token: Token, cx: &mut Context<'_, Self>) {
        let is_any = cx.config().variant == Variant::MutantUnlocksAny;
        let is_owner = |grant: &Grant| is_any || (grant.request.client, grant.token) == (from, token);
        if let Some(grant) = self.store.holder.filter(is_owner) {
            cx.cancel_timer(Timer::Expire(grant.request.client));
            self.store.holder = None;
            self.answer(None, cx);
        }
    }

    /// Whoever holds or waits goes with the session.
    fn on_expiry(&mut self, client: Address, cx: &mut Context<'_, Self>) {
        if cx.config().variant == Variant::MutantKeepsWaiter {
            self.store.holder = self.store.holder.filter(|grant| grant.request.client != client);
        } else {
            self.store.forget(client);
        }
        self.answer(None, cx);
    }

    /// Grants if it can, stores what was applied, and tells the holder if it is new or has said something.
    fn answer(&mut self, asked: Option<Address>, cx: &mut Context<'_, Self>) {
        let is_new = self.store.grant_next();
        self.remember(cx);
        let Some(Grant { request: Request { client, ticket }, token }) = self.store.holder else { return };
        if is_new || asked == Some(client) {
            self.tell(client, Message::Granted { ticket, token }, cx);
        }
    }

    fn remember(&self, cx: &mut Context<'_, Self>) {
        cx.persist(Memory { incarnation: self.ticket.incarnation, store: self.store.clone() });
    }
}

#[cfg(test)]
mod tests;
