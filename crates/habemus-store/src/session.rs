//! Sessions: for how long somebody is believed to be there.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Display, Formatter};
use std::time::Duration;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::error::StoreError;
use crate::time::ClusterTime;

/// Whose session it is; etcd calls it a lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SessionId(pub i64);

impl Display for SessionId {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}", self.0)
    }
}

/// For how long somebody is believed to be there, and what goes with them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// How long it lasts without being renewed.
    pub ttl: Duration,
    /// When it ends unless it is renewed.
    pub deadline: ClusterTime,
    /// The keys that are deleted when it ends.
    pub keys: SessionKeys,
}

/// The keys of a session, in order. Nearly all sessions have one, for which a tree would be much too large.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionKeys(Keys);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Keys {
    AtMostOne(Option<Bytes>),
    Several(BTreeSet<Bytes>),
}

impl Default for SessionKeys {
    fn default() -> SessionKeys {
        SessionKeys(Keys::AtMostOne(None))
    }
}

impl SessionKeys {
    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Bytes> {
        let (one, several) = match &self.0 {
            Keys::AtMostOne(one) => (one.as_ref(), None),
            Keys::Several(several) => (None, Some(several)),
        };
        one.into_iter().chain(several.into_iter().flatten())
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        match &self.0 {
            Keys::AtMostOne(one) => one.iter().count(),
            Keys::Several(several) => several.len(),
        }
    }

    fn insert(&mut self, key: Bytes) {
        match &mut self.0 {
            Keys::AtMostOne(one) if one.as_ref().is_none_or(|one| *one == key) => *one = Some(key),
            Keys::AtMostOne(one) => self.0 = Keys::Several(one.take().into_iter().chain([key]).collect()),
            Keys::Several(several) => drop(several.insert(key)),
        }
    }

    fn remove(&mut self, key: &Bytes) {
        match &mut self.0 {
            Keys::AtMostOne(one) => drop(one.take_if(|one| one == key)),
            Keys::Several(several) => {
                several.remove(key);
                if several.len() < 2 {
                    self.0 = Keys::AtMostOne(several.pop_first());
                }
            }
        }
    }
}

/// All sessions, and which of them ends next.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sessions {
    all: BTreeMap<SessionId, Session>,
    deadlines: BTreeSet<(ClusterTime, SessionId)>,
}

impl Sessions {
    /// Longer than etcd allows, too: some 285 years.
    const MAX_TTL: Duration = Duration::from_secs(9_000_000_000);

    pub(crate) fn get(&self, id: SessionId) -> Option<&Session> {
        self.all.get(&id)
    }

    pub(crate) fn ids(&self) -> impl Iterator<Item = SessionId> {
        self.all.keys().copied()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (SessionId, &Session)> {
        self.all.iter().map(|(id, session)| (*id, session))
    }

    /// Sessions to which no key belongs yet.
    pub(crate) fn restore(
        sessions: impl IntoIterator<Item = (SessionId, Duration, ClusterTime)>,
    ) -> Sessions {
        let mut restored = Sessions::default();
        for (id, ttl, deadline) in sessions {
            restored.all.insert(id, Session { ttl, deadline, keys: SessionKeys::default() });
            restored.deadlines.insert((deadline, id));
        }
        restored
    }

    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    pub(crate) fn open(&mut self, now: ClusterTime, id: SessionId, ttl: Duration) -> Result<(), StoreError> {
        if ttl > Sessions::MAX_TTL {
            return Err(StoreError::TtlTooLong);
        }
        if self.all.contains_key(&id) {
            return Err(StoreError::SessionExists(id));
        }
        let deadline = now.after(ttl);
        self.all.insert(id, Session { ttl, deadline, keys: SessionKeys::default() });
        self.deadlines.insert((deadline, id));
        Ok(())
    }

    /// Lets a session last its whole time from now on. It never ends earlier than it would have.
    pub(crate) fn renew(&mut self, now: ClusterTime, id: SessionId) -> Option<&Session> {
        let session = self.all.get_mut(&id)?;
        self.deadlines.remove(&(session.deadline, id));
        session.deadline = session.deadline.max(now.after(session.ttl));
        self.deadlines.insert((session.deadline, id));
        Some(session)
    }

    /// Ends a session, and says what goes with it.
    pub(crate) fn close(&mut self, id: SessionId) -> Option<Session> {
        let session = self.all.remove(&id)?;
        self.deadlines.remove(&(session.deadline, id));
        Some(session)
    }

    /// A session whose time is over, the earliest first.
    pub(crate) fn due(&self, now: ClusterTime) -> Option<SessionId> {
        self.deadlines.first().filter(|(deadline, _)| *deadline <= now).map(|(_, id)| *id)
    }

    pub(crate) fn next_deadline(&self) -> Option<ClusterTime> {
        self.deadlines.first().map(|(deadline, _)| *deadline)
    }

    /// A key that went with `before` goes with `after` now.
    pub(crate) fn attach(&mut self, key: &Bytes, before: Option<SessionId>, after: Option<SessionId>) {
        if before == after {
            return;
        }
        // The session may have ended already: it is because of that that its keys are deleted.
        if let Some(session) = before.and_then(|id| self.all.get_mut(&id)) {
            session.keys.remove(key);
        }
        if let Some(session) = after.and_then(|id| self.all.get_mut(&id)) {
            session.keys.insert(key.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_has_any_number_of_keys_in_order() {
        let key = |number: u8| Bytes::copy_from_slice(&[number]);
        let (mut keys, mut plain) = (SessionKeys::default(), BTreeSet::new());
        for (number, comes) in
            [(2, true), (2, true), (1, true), (3, true), (2, false), (1, false), (9, false), (3, false)]
        {
            if comes {
                keys.insert(key(number));
                plain.insert(key(number));
            } else {
                keys.remove(&key(number));
                plain.remove(&key(number));
            }
            assert!(keys.iter().eq(&plain), "{keys:?} {plain:?}");
            assert_eq!(keys.count(), plain.len());
        }
        assert_eq!(keys, SessionKeys::default(), "what is the same is equal");
    }
}
