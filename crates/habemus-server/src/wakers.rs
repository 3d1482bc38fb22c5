//! Who is woken when something changes.

use std::collections::BTreeMap;
use std::sync::Weak;

use bytes::Bytes;
use habemus_store::{Applied, KeyRange};
use tokio::sync::Notify;

/// Somebody who wants to be woken when something in a range changes, for as long as it lives.
pub(crate) struct Wake {
    pub(crate) range: KeyRange,
    pub(crate) sleeper: Weak<Notify>,
}

/// Everybody who wants to be woken: by key where it is one key, for nearly all watch the one that is before
/// them.
#[derive(Default)]
pub(crate) struct Wakers {
    by_key: BTreeMap<Bytes, Vec<Weak<Notify>>>,
    by_range: Vec<Wake>,
    /// How many there are, those included who live no more, and when to look for these.
    count: usize,
    tidy_at: usize,
}

impl Wakers {
    pub(crate) fn add(&mut self, wake: Wake) {
        if self.count >= self.tidy_at {
            self.tidy();
        }
        self.count += 1;
        match wake.range {
            KeyRange::One(key) => self.by_key.entry(key).or_default().push(wake.sleeper),
            _ => self.by_range.push(wake),
        }
    }

    /// Forgets who lives no more: as often as their number has doubled.
    fn tidy(&mut self) {
        self.by_range.retain(|wake| wake.sleeper.strong_count() > 0);
        self.by_key.retain(|_, sleepers| {
            sleepers.retain(|sleeper| sleeper.strong_count() > 0);
            !sleepers.is_empty()
        });
        self.count = self.by_range.len() + self.by_key.values().map(Vec::len).sum::<usize>();
        self.tidy_at = self.count * 2 + 64;
    }

    /// Wakes whoever wants to know of what was applied.
    pub(crate) fn wake(&self, applied: &Applied) {
        if self.count == 0 {
            return;
        }
        for event in applied.revised.iter().flat_map(|revised| revised.events.iter()) {
            self.by_key.get(&event.key).into_iter().flatten().for_each(wake);
            self.by_range.iter().filter(|it| it.range.contains(&event.key)).for_each(|it| wake(&it.sleeper));
        }
    }

    /// Wakes everybody.
    pub(crate) fn wake_all(&self) {
        self.by_key.values().flatten().for_each(wake);
        self.by_range.iter().for_each(|it| wake(&it.sleeper));
    }
}

fn wake(sleeper: &Weak<Notify>) {
    if let Some(sleeper) = sleeper.upgrade() {
        sleeper.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn those_who_have_gone_are_forgotten() {
        let mut wakers = Wakers::default();
        let lives = Arc::new(Notify::new());
        for number in 0..1000 {
            let sleeper = if number == 0 { Arc::clone(&lives) } else { Arc::new(Notify::new()) };
            let sleeper = Arc::downgrade(&sleeper);
            let key = Bytes::from(number.to_string());
            let range = if number % 2 == 0 { KeyRange::One(key) } else { KeyRange::prefix(key) };
            wakers.add(Wake { range, sleeper });
        }
        assert!(wakers.by_key.len() + wakers.by_range.len() <= 64 + 2, "{} are remembered", wakers.count);
        assert_eq!(wakers.by_key.get(&b"0"[..]).map(Vec::len), Some(1));
    }
}
