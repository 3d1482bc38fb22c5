//! What is on its way to a process, by number.

use std::sync::Arc;

use crate::intern::Interner;
use crate::protocol::{ItemKind, Protocol};
use crate::setting::Order;

/// All inboxes that were ever seen. Number 0 is the empty one.
///
/// An inbox is kept sorted by channel; within a channel that keeps the order, in that order, and otherwise by
/// the items' numbers, so that what was sent in another order is the same inbox.
#[derive(Debug)]
pub(crate) struct Inboxes {
    contents: Interner<Vec<u32>>,
    order: Order,
}

impl Inboxes {
    pub(crate) fn new(order: Order) -> Self {
        let contents = Interner::new();
        let empty = contents.number(Vec::new());
        debug_assert_eq!(empty, 0, "the empty inbox has number 0");
        Inboxes { contents, order }
    }

    /// The inbox after one more item.
    pub(crate) fn add(&self, protocol: &dyn Protocol, inbox: u32, item: u32) -> u32 {
        let mut items = (*self.contents.value(inbox)).clone();
        let (channel, ordered) = self.channel(protocol, item);
        let place = items.partition_point(|&other| {
            let theirs = self.channel(protocol, other).0;
            theirs < channel || (theirs == channel && (ordered || other < item))
        });
        items.insert(place, item);
        self.contents.number(items)
    }

    /// Every item that can be delivered next, and the inbox without it.
    pub(crate) fn deliverable(&self, protocol: &dyn Protocol, inbox: u32) -> Vec<(u32, u32)> {
        let items = self.contents.value(inbox);
        let mut deliverable = Vec::new();
        for (index, &item) in items.iter().enumerate() {
            let first = match index.checked_sub(1).map(|before| items[before]) {
                None => true,
                Some(before) => {
                    let (mine, theirs) = (self.channel(protocol, item), self.channel(protocol, before));
                    mine.0 != theirs.0 || (!mine.1 && before != item)
                }
            };
            if first {
                let mut rest = (*items).clone();
                rest.remove(index);
                deliverable.push((item, self.contents.number(rest)));
            }
        }
        deliverable
    }

    /// What is in the inbox.
    pub(crate) fn items(&self, inbox: u32) -> Arc<Vec<u32>> {
        self.contents.value(inbox)
    }

    /// The inbox with another item in place of each.
    pub(crate) fn with_each(&self, protocol: &dyn Protocol, inbox: u32, other: impl Fn(u32) -> u32) -> u32 {
        let mut items: Vec<u32> = self.contents.value(inbox).iter().map(|&item| other(item)).collect();
        items.sort_by_key(|&item| match self.channel(protocol, item) {
            (channel, true) => (channel, 0),
            (channel, false) => (channel, item),
        });
        self.contents.number(items)
    }

    /// The processes, as a set of bits, behind whose messages here a new one of theirs would have to wait.
    pub(crate) fn blocked(&self, protocol: &dyn Protocol, inbox: u32) -> u32 {
        let items = self.contents.value(inbox);
        let senders = items.iter().filter_map(|&item| match (protocol.item(item), self.order) {
            (ItemKind::Message { from }, Order::Fifo) => Some(1 << from),
            _ => None,
        });
        senders.fold(0, |set, sender| set | sender)
    }

    /// The inbox without what the oracle said: it was meant for a life that is over.
    pub(crate) fn without_notices(&self, protocol: &dyn Protocol, inbox: u32) -> u32 {
        let items = self.contents.value(inbox);
        let messages = items.iter().copied();
        self.contents.number(
            messages.filter(|&item| matches!(protocol.item(item), ItemKind::Message { .. })).collect(),
        )
    }

    /// The channel of an item, and whether that keeps the order.
    fn channel(&self, protocol: &dyn Protocol, item: u32) -> (u16, bool) {
        match (protocol.item(item), self.order) {
            (ItemKind::Message { from }, Order::Fifo) => (u16::from(from), true),
            (ItemKind::Message { .. }, Order::Any) => (0, false),
            (ItemKind::Notice { about }, _) => (256 + u16::from(about), true),
        }
    }
}
