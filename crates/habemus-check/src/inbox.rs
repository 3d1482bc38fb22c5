//! What is on its way to a process, by number.

use std::ops::Range;

use smallvec::SmallVec;

use crate::intern::Interner;
use crate::memo::{Memo, entry};
use crate::numbered::Numbered;
use crate::protocol::ItemKind;
use crate::setting::DeliveryOrder;

/// All inboxes that were ever seen. Threads share them. Number 0 is the empty one.
///
/// An inbox is kept sorted by channel; within a channel that keeps the order, in that order, and otherwise by
/// the items' numbers, so that what was sent in another order is the same inbox.
#[derive(Debug)]
pub(crate) struct Inboxes {
    contents: Interner<Items>,
}

/// The items of an inbox: few, nearly always.
type Items = SmallVec<[u32; 6]>;

/// Where items were before; `None`: nowhere.
pub(crate) type Sources = SmallVec<[Option<usize>; 6]>;

impl Inboxes {
    pub(crate) fn new() -> Self {
        let contents = Interner::new();
        let empty = contents.number(Items::new());
        debug_assert_eq!(empty, 0, "the empty inbox has number 0");
        Inboxes { contents }
    }
}

/// One thread's way to what becomes of inboxes: there are far fewer of them than states, so it remembers.
pub(crate) struct Mail<'w> {
    inboxes: &'w Inboxes,
    system: &'w Numbered,
    order: DeliveryOrder,
    /// By item.
    channels: Vec<Option<Channel>>,
    /// By inbox: where in `deliveries` is what can be delivered next.
    deliverable: Vec<Option<(u32, u32)>>,
    deliveries: Vec<Delivery>,
    /// By inbox and item.
    added: Memo,
    blocked: Vec<Option<u32>>,
}

/// An item that can be delivered next, and the inbox without it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Delivery {
    pub(crate) item: u32,
    pub(crate) rest: u32,
}

/// A channel, and whether it keeps the order.
type Channel = (u16, bool);

/// The channels of the oracle come after those of processes.
const NOTICES: u16 = 256;

impl<'w> Mail<'w> {
    pub(crate) fn new(inboxes: &'w Inboxes, system: &'w Numbered, order: DeliveryOrder) -> Self {
        Mail {
            inboxes,
            system,
            order,
            channels: Vec::new(),
            deliverable: Vec::new(),
            deliveries: Vec::new(),
            added: Memo::default(),
            blocked: Vec::new(),
        }
    }

    /// What is in the inbox.
    pub(crate) fn items(&self, inbox: u32) -> &'w [u32] {
        self.inboxes.contents.value(inbox)
    }

    /// The inbox after one more item.
    #[inline]
    pub(crate) fn add(&mut self, inbox: u32, item: u32) -> u32 {
        match self.added.get((inbox, item)) {
            Some((known, _)) => known,
            None => self.find_added(inbox, item),
        }
    }

    #[cold]
    fn find_added(&mut self, inbox: u32, item: u32) -> u32 {
        let items = self.items(inbox);
        let (channel, ordered) = self.channel(item);
        let index = items.partition_point(|&other| {
            let theirs = self.channel(other).0;
            theirs < channel || (theirs == channel && (ordered || other < item))
        });
        let mut more = Items::from_slice(items);
        more.insert(index, item);
        let after = self.inboxes.contents.number(more);
        self.added.keep((inbox, item), (after, 0));
        after
    }

    /// Every item that can be delivered next, as indices for [`delivery`](Mail::delivery).
    #[inline]
    pub(crate) fn deliverable(&mut self, inbox: u32) -> Range<u32> {
        match self.deliverable.get(inbox as usize) {
            Some(&Some((first, last))) => first..last,
            _ => self.find_deliverable(inbox),
        }
    }

    #[cold]
    fn find_deliverable(&mut self, inbox: u32) -> Range<u32> {
        let first = self.deliveries.len() as u32;
        let items = self.items(inbox);
        for (index, &item) in items.iter().enumerate() {
            let is_first = match index.checked_sub(1).map(|before| items[before]) {
                None => true,
                Some(before) => {
                    let (mine, theirs) = (self.channel(item), self.channel(before));
                    mine.0 != theirs.0 || (!mine.1 && before != item)
                }
            };
            if is_first {
                let mut rest = Items::from_slice(items);
                rest.remove(index);
                let rest = self.inboxes.contents.number(rest);
                self.deliveries.push(Delivery { item, rest });
            }
        }
        let last = self.deliveries.len() as u32;
        *entry(&mut self.deliverable, inbox) = Some((first, last));
        first..last
    }

    #[inline]
    pub(crate) fn delivery(&self, index: u32) -> Delivery {
        self.deliveries[index as usize]
    }

    /// The inbox with another item in place of each.
    pub(crate) fn with_each(&mut self, inbox: u32, other: impl Fn(u32) -> u32) -> u32 {
        let mut items: Items = self.items(inbox).iter().map(|&item| other(item)).collect();
        items.sort_by_key(|&item| match self.channel(item) {
            (channel, true) => (channel, 0),
            (channel, false) => (channel, item),
        });
        self.inboxes.contents.number(items)
    }

    /// The processes, as a set of bits, behind whose messages here a new one of theirs would have to wait.
    pub(crate) fn blocked(&mut self, inbox: u32) -> u32 {
        if let Some(&Some(known)) = self.blocked.get(inbox as usize) {
            return known;
        }
        let items = self.items(inbox);
        let senders = items.iter().filter_map(|&item| match self.channel(item) {
            (from, true) if from < NOTICES => Some(1 << from),
            _ => None,
        });
        let blocked = senders.fold(0, |set, sender| set | sender);
        *entry(&mut self.blocked, inbox) = Some(blocked);
        blocked
    }

    /// Where in an inbox this item is; the eldest, if there are several.
    pub(crate) fn eldest(&mut self, inbox: u32, item: u32) -> Option<usize> {
        let is_it = |other: &u32| *other == item;
        let items = self.items(inbox);
        // Where the order is not kept, one more comes to lie before its equals.
        if self.channel(item).1 { items.iter().position(is_it) } else { items.iter().rposition(is_it) }
    }

    /// For each item of an inbox, where it was before one was taken out and others came in; `None`: it came
    /// in.
    pub(crate) fn sources(&mut self, before: u32, taken: Option<usize>, after: u32) -> Sources {
        let (old, new) = (self.items(before), self.items(after));
        let mut sources = Sources::new();
        while let Some(&item) = new.get(sources.len()) {
            let run = self.run(item);
            let length = new[sources.len()..].iter().take_while(|other| self.run(**other) == run).count();
            let mut kept: SmallVec<[usize; 6]> = (0..old.len()).filter(|&at| Some(at) != taken).collect();
            kept.retain(|at| self.run(old[*at]) == run);
            kept.truncate(length);
            let come = std::iter::repeat_n(None, length - kept.len());
            let kept = kept.into_iter().map(Some);
            // Where the order is kept, the latest is the last, and else the first of its equals.
            match run {
                (_, None) => sources.extend(kept.chain(come)),
                (_, Some(_)) => sources.extend(come.chain(kept)),
            }
        }
        sources
    }

    /// Items that lie side by side in the order in which they were sent, or against it.
    fn run(&mut self, item: u32) -> (u16, Option<u32>) {
        let (channel, ordered) = self.channel(item);
        (channel, (!ordered).then_some(item))
    }

    /// The inbox without what the oracle said: it was meant for a life that is over.
    pub(crate) fn without_notices(&mut self, inbox: u32) -> u32 {
        let items = self.items(inbox);
        let messages: Items = items.iter().copied().filter(|&item| self.is_message(item)).collect();
        self.inboxes.contents.number(messages)
    }

    /// The inbox without this item, however often it is in there.
    pub(crate) fn without(&mut self, inbox: u32, item: u32) -> u32 {
        let items = self.items(inbox);
        if !items.contains(&item) {
            return inbox;
        }
        self.inboxes.contents.number(items.iter().copied().filter(|&other| other != item).collect())
    }

    /// Whether an item is a message, and not what the oracle says.
    pub(crate) fn is_message(&mut self, item: u32) -> bool {
        self.channel(item).0 < NOTICES
    }

    fn channel(&mut self, item: u32) -> Channel {
        *entry(&mut self.channels, item).get_or_insert_with(|| match (self.system.item(item), self.order) {
            (ItemKind::Message { from }, DeliveryOrder::Fifo) => (u16::from(from), true),
            (ItemKind::Message { .. }, DeliveryOrder::Any) => (0, false),
            (ItemKind::Notice { about }, _) => (NOTICES + u16::from(about), true),
        })
    }
}
