//! Messages counted: how many, of which kinds, how large, and how long their chains are.

use habemus::Address;
use habemus_report::Statistics;

/// The messages of a run.
#[derive(Clone, Debug)]
pub(super) struct Messages {
    sent: u64,
    by_kind: Vec<(&'static str, u64)>,
    background: u64,
    bytes: u64,
    largest: u64,
    delivered: u64,
    longest_chain: u32,
    /// The longest chain that ends at each process.
    depth: Vec<u32>,
}

impl Messages {
    pub(super) fn new(processes: usize) -> Self {
        Messages {
            sent: 0,
            by_kind: Vec::new(),
            background: 0,
            bytes: 0,
            largest: 0,
            delivered: 0,
            longest_chain: 0,
            depth: vec![0; processes],
        }
    }

    /// Counts a message; gives its number, and the length of the chain that ends with it.
    #[inline]
    pub(super) fn sent(
        &mut self,
        from: Address,
        kind: &'static str,
        background: bool,
        size: u64,
    ) -> (u64, u32) {
        self.count_kind(kind);
        let number = self.sent;
        self.sent += 1;
        self.background += u64::from(background);
        self.bytes += size;
        self.largest = self.largest.max(size);
        (number, self.depth[from.index()] + 1)
    }

    #[inline]
    fn count_kind(&mut self, kind: &'static str) {
        // The words of a kind lie in one place, mostly: to look where is quicker than to read them.
        let same_place = |known: &str| known.as_ptr() == kind.as_ptr() && known.len() == kind.len();
        match self.by_kind.iter_mut().find(|(known, _)| same_place(known)) {
            Some((_, count)) => *count += 1,
            None => self.count_unfamiliar(kind),
        }
    }

    #[cold]
    fn count_unfamiliar(&mut self, kind: &'static str) {
        match self.by_kind.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, count)) => *count += 1,
            None => self.by_kind.push((kind, 1)),
        }
    }

    /// A message arrives that ends a chain of this length.
    #[inline]
    pub(super) fn delivered(&mut self, to: Address, depth: u32) {
        self.delivered += 1;
        let deepest = &mut self.depth[to.index()];
        *deepest = depth.max(*deepest);
        self.longest_chain = self.longest_chain.max(depth);
    }

    /// A process starts: no chain leads to it.
    pub(super) fn begin_again(&mut self, process: Address) {
        self.depth[process.index()] = 0;
    }

    /// Fills in what statistics say of messages.
    pub(super) fn fill_in(&self, statistics: &mut Statistics) {
        statistics.messages = self.sent;
        statistics.by_kind = self.by_kind.iter().map(|(kind, count)| ((*kind).to_owned(), *count)).collect();
        statistics.background = self.background;
        statistics.bytes = self.bytes;
        statistics.largest = self.largest;
        statistics.delivered = self.delivered;
        statistics.longest_chain = self.longest_chain;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_the_same_wherever_their_words_lie() {
        let elsewhere: &'static str = String::from("Ok").leak();
        let mut messages = Messages::new(1);
        for kind in ["Ok", elsewhere, "Election", "Ok"] {
            messages.sent(Address(0), kind, false, 3);
        }
        let mut statistics = Statistics::default();
        messages.fill_in(&mut statistics);
        assert_eq!(statistics.by_kind, [("Election".to_owned(), 1), ("Ok".to_owned(), 3)].into());
        assert_eq!((statistics.messages, statistics.bytes, statistics.largest), (4, 12, 3));
    }

    #[test]
    fn a_chain_grows_from_process_to_process_and_ends_with_a_start() {
        let mut messages = Messages::new(2);
        let (first, depth) = messages.sent(Address(0), "Ok", false, 1);
        messages.delivered(Address(1), depth);
        let (second, depth) = messages.sent(Address(1), "Ok", false, 1);
        assert_eq!((first, second, depth), (0, 1, 2));
        messages.begin_again(Address(1));
        assert_eq!(messages.sent(Address(1), "Ok", false, 1), (2, 1));
    }
}
