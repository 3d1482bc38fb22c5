//! The acceptor: it keeps its promises.

use super::{Ballot, Message, Paxos, Variant};
use crate::agreement::Value;
use crate::{Address, Context};

/// The acceptor.
impl Paxos {
    pub(super) fn on_prepare(&mut self, from: Address, ballot: Ballot, cx: &mut Context<'_, Self>) {
        self.latest_round = self.latest_round.max(ballot.round);
        // The same ballot again is the same question again.
        if ballot < self.stable.promised {
            cx.send(from, Message::Refuse(self.stable.promised));
            return;
        }
        self.stable.promised = ballot;
        cx.persist(self.stable);
        cx.send(from, Message::Promise(ballot, self.stable.accepted));
    }

    pub(super) fn on_accept(
        &mut self,
        from: Address,
        ballot: Ballot,
        value: Value,
        cx: &mut Context<'_, Self>,
    ) {
        self.latest_round = self.latest_round.max(ballot.round);
        if ballot < self.stable.promised {
            cx.send(from, Message::Refuse(self.stable.promised));
            return;
        }
        if cx.config().variant != Variant::MutantUnboundAcceptance {
            self.stable.promised = ballot;
        }
        self.stable.accepted = Some((ballot, value));
        cx.persist(self.stable);
        cx.send(from, Message::Accepted(ballot));
    }
}
