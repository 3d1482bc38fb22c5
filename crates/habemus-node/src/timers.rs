//! The timers that run, in the order in which they run out.

use std::collections::BTreeMap;

use crate::clock::BootInstant as Instant;

/// Which process of the node, and which of its timers.
pub(crate) type Key = (String, Vec<u8>);

/// Timers by name and by time. Setting one that runs replaces it.
#[derive(Debug, Default)]
pub(crate) struct Timers {
    by_time: BTreeMap<(Instant, u64), Key>,
    by_key: BTreeMap<Key, Running>,
    next_number: u64,
}

#[derive(Clone, Copy, Debug)]
struct Running {
    due: Instant,
    /// Tells timers of one instant apart: the one set first runs out first.
    number: u64,
    background: bool,
}

impl Timers {
    pub(crate) fn set(&mut self, key: Key, due: Instant, background: bool) {
        self.cancel(&key);
        let running = Running { due, number: self.next_number, background };
        self.next_number += 1;
        self.by_time.insert((due, running.number), key.clone());
        self.by_key.insert(key, running);
    }

    pub(crate) fn cancel(&mut self, key: &Key) {
        if let Some(running) = self.by_key.remove(key) {
            self.by_time.remove(&(running.due, running.number));
        }
    }

    /// Cancels all timers of one process.
    pub(crate) fn cancel_all(&mut self, name: &str) {
        let keys = self.by_key.range((name.to_owned(), Vec::new())..).map(|(key, _)| key.clone());
        for key in keys.take_while(|(other, _)| other == name).collect::<Vec<_>>() {
            self.cancel(&key);
        }
    }

    /// When the next one runs out.
    pub(crate) fn next_due(&self) -> Option<Instant> {
        self.by_time.first_key_value().map(|((due, _), _)| *due)
    }

    /// When this one runs out, if it runs.
    pub(crate) fn due(&self, key: &Key) -> Option<Instant> {
        self.by_key.get(key).map(|running| running.due)
    }

    /// Takes out a timer that has run out by `now`.
    pub(crate) fn pop(&mut self, now: Instant) -> Option<(Instant, Key)> {
        let entry = self.by_time.first_entry().filter(|entry| entry.key().0 <= now)?;
        let ((due, _), key) = entry.remove_entry();
        self.by_key.remove(&key);
        Some((due, key))
    }

    /// How many run that are not background traffic of a detector.
    pub(crate) fn pending(&self) -> usize {
        self.by_key.values().filter(|running| !running.background).count()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn key(number: u8) -> Key {
        (String::new(), vec![number])
    }

    #[test]
    fn timers_run_out_in_the_order_of_time_and_then_of_setting() {
        let (mut timers, now) = (Timers::default(), Instant::now());
        let later = now + Duration::from_millis(5);
        timers.set(key(3), later, false);
        timers.set(key(1), now, false);
        timers.set(key(2), now, true);
        assert_eq!((timers.next_due(), timers.pending()), (Some(now), 2));
        assert_eq!(timers.pop(now), Some((now, key(1))));
        assert_eq!(timers.pop(now), Some((now, key(2))));
        assert_eq!(timers.pop(now), None);
        assert_eq!(timers.pop(later), Some((later, key(3))));
    }

    #[test]
    fn setting_again_replaces_and_cancelling_takes_away() {
        let (mut timers, now) = (Timers::default(), Instant::now());
        let later = now + Duration::from_millis(5);
        timers.set(key(1), now, false);
        timers.set(key(1), later, false);
        timers.set(key(2), now, false);
        timers.cancel(&key(2));
        timers.set(("a".to_owned(), vec![1]), now, false);
        timers.set(("a".to_owned(), vec![9]), now, false);
        timers.cancel_all("a");
        assert_eq!(timers.pop(now), None);
        assert_eq!(timers.pop(later), Some((later, key(1))));
        assert_eq!(timers.pop(later), None);
    }
}
