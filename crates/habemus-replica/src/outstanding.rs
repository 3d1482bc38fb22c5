//! What waits for the disk: messages that may leave only when all that was written before them is durable.

use std::collections::VecDeque;

use raft::eraftpb::Message;

/// What waits for the disk, in order.
#[derive(Default)]
pub(crate) struct Outstanding(VecDeque<Waiting>);

struct Waiting {
    number: u64,
    durable: bool,
    messages: Vec<Message>,
}

impl Outstanding {
    /// `messages` may leave when everything up to `number` is durable; this one is `durable` already if it
    /// has nothing to write.
    pub(crate) fn push(&mut self, number: u64, durable: bool, messages: Vec<Message>) {
        self.0.push_back(Waiting { number, durable, messages });
    }

    /// Whether something is being written.
    pub(crate) fn is_waiting(&self) -> bool {
        self.0.iter().any(|waiting| !waiting.durable)
    }

    /// Everything up to `number` is durable.
    pub(crate) fn persisted(&mut self, number: u64) {
        for waiting in self.0.iter_mut().take_while(|waiting| waiting.number <= number) {
            waiting.durable = true;
        }
    }

    /// Up to which number everything is durable, and what may leave because of that.
    pub(crate) fn take(&mut self) -> Option<(u64, Vec<Message>)> {
        let mut last = None;
        let mut messages = Vec::new();
        while let Some(waiting) = self.0.pop_front_if(|waiting| waiting.durable) {
            last = Some(waiting.number);
            messages.extend(waiting.messages);
        }
        last.map(|last| (last, messages))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_leaves_before_what_was_written_earlier_is_durable() {
        let mut outstanding = Outstanding::default();
        outstanding.push(1, false, vec![Message::default()]);
        outstanding.push(2, true, vec![Message::default()]);
        outstanding.push(3, false, vec![Message::default()]);
        assert!(outstanding.is_waiting());
        assert!(outstanding.take().is_none(), "the second has nothing to write, but waits for the first");
        outstanding.persisted(1);
        let (number, messages) = outstanding.take().expect("the first is durable");
        assert_eq!((number, messages.len()), (2, 2));
        assert!(outstanding.take().is_none());
        assert!(outstanding.is_waiting());
        outstanding.persisted(3);
        assert!(!outstanding.is_waiting());
    }
}
