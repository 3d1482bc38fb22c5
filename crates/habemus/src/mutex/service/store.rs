//! What the log has applied: who holds the lock, who waits, and the last token.

use std::collections::VecDeque;

use super::message::Ticket;
use crate::Address;
use crate::mutex::Token;

/// A client that wants to enter, or is inside: its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Request {
    /// Whose.
    pub client: Address,
    /// The last renewal that was applied.
    pub ticket: Ticket,
}

/// The lock, held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Grant {
    /// By whom.
    pub request: Request,
    /// With this token.
    pub token: Token,
}

/// The state that all commands of the log lead to, in their order. It has no clock: that a session is over is
/// a command.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Store {
    /// The last token given. It grows with every grant, for ever.
    pub last: u64,
    /// Who is inside.
    pub holder: Option<Grant>,
    /// Who waits, in the order in which the requests were applied.
    pub queue: VecDeque<Request>,
}

impl Store {
    /// Everybody who has a session.
    pub fn clients(&self) -> impl Iterator<Item = Address> + '_ {
        self.holder.iter().map(|grant| grant.request.client).chain(self.queue.iter().map(|it| it.client))
    }

    /// The last renewals that were applied, of everybody who has a session.
    pub fn tickets_mut(&mut self) -> impl Iterator<Item = &mut Ticket> {
        let held = self.holder.iter_mut().map(|grant| &mut grant.request);
        held.chain(&mut self.queue).map(|request| &mut request.ticket)
    }

    /// Whether something later of this client has been applied, or the same: messages may come twice and in
    /// any order.
    pub fn is_outdated(&self, request: Request) -> bool {
        let held = self.holder.iter().map(|grant| &grant.request);
        held.chain(&self.queue).any(|known| known.client == request.client && known.ticket >= request.ticket)
    }

    /// A request: of the same wish it renews the session, wherever it stands; another wish is a new session
    /// at the end of the queue, and whoever had one before has left.
    pub fn lock(&mut self, request: Request) {
        let held = self.holder.iter_mut().map(|grant| &mut grant.request);
        let is_its_session = |known: &&mut Request| {
            known.client == request.client && known.ticket.is_of_the_same_wish(request.ticket)
        };
        if let Some(known) = held.chain(&mut self.queue).find(is_its_session) {
            known.ticket = request.ticket;
        } else {
            self.forget(request.client);
            self.queue.push_back(request);
        }
    }

    /// Renews the session of the holder, if it still is.
    pub fn keep_alive(&mut self, request: Request, token: Token) -> bool {
        let Some(grant) = &mut self.holder else { return false };
        let is_renewed = (grant.request.client, grant.token) == (request.client, token)
            && request.ticket > grant.request.ticket;
        if is_renewed {
            grant.request.ticket = request.ticket;
        }
        is_renewed
    }

    /// Ends the session of a client, whether it holds or waits.
    pub fn forget(&mut self, client: Address) {
        self.holder = self.holder.filter(|grant| grant.request.client != client);
        self.queue.retain(|request| request.client != client);
    }

    /// Lets the first of the queue in, if nobody is inside.
    pub fn grant_next(&mut self) -> bool {
        if self.holder.is_some() {
            return false;
        }
        let Some(request) = self.queue.pop_front() else { return false };
        self.last += 1;
        self.holder = Some(Grant { request, token: Token(self.last) });
        true
    }
}
