//! What a thread has looked up, as it can be shown to others: the system as far as it was explored.

use super::Worker;

/// A reaction: the local state afterwards, what is sent to whom, what monitors see.
pub(crate) type Shown = (u32, Vec<(u8, u32)>, u32);

/// Tables of numbers.
pub(crate) struct Tables {
    /// What comes of each cause, which has a kind and a number, in each local state: one reaction for each
    /// choice.
    pub(crate) reactions: Vec<(u32, (&'static str, u32), Vec<Shown>)>,
    /// What comes of a timer (local state, timer, choice) at a process that crashes when these of its
    /// messages are sent.
    pub(crate) halfways: Vec<((u32, u32, usize, u32), Shown)>,
    /// The local state after so many nanoseconds.
    pub(crate) elapsed: Vec<(u32, u64, u32)>,
    /// What becomes of monitors that see something.
    pub(crate) watched: Vec<(u32, u32, u32)>,
}

impl Worker<'_> {
    /// All that this worker has looked up.
    pub(crate) fn tables(&self) -> Tables {
        let mut elapsed: Vec<_> =
            self.elapsed.iter().map(|(&(local, nanos), &after)| (local, nanos, after)).collect();
        elapsed.sort_unstable();
        let mut watched: Vec<_> =
            self.watched.iter().map(|((before, seen), (after, _))| (before, seen, after)).collect();
        watched.sort_unstable();
        Tables {
            reactions: self.reflexes.known_reactions(),
            halfways: self.reflexes.known_halfways(),
            elapsed,
            watched,
        }
    }

    /// What is in an inbox.
    pub(crate) fn items(&self, inbox: u32) -> impl Iterator<Item = u32> + use<'_> {
        self.mail.items(inbox).iter().copied()
    }
}
