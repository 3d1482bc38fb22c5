//! Queues: who is inside a lock, or leads, and who waits.
//!
//! A queue is made of all keys under `NAME/`, in the order in which they were created. Whoever enters a queue
//! by a [`Command`](crate::Command) gets the key `NAME/SESSION`, the session in hexadecimal digits, as etcd's
//! own clients do by transactions; a mode other than exclusive is written behind it (`NAME/SESSION;shared`,
//! `NAME/SESSION;permits=3`). Any other key under `NAME/` counts as somebody who wants to be alone.
//!
//! Those inside are always the first ones of the queue, and nobody overtakes: a reader waits for the writer
//! who came before it. So everybody gets in who waits long enough, and tokens grow with every grant.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::event::{Event, KeyValue, Revised, Revision};
use crate::key_range::KeyRange;
use crate::keyspace::Keyspace;
use crate::session::SessionId;
use crate::time::ClusterTime;

/// Beside whom somebody may be inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Mode {
    /// Nobody.
    Exclusive,
    /// Everybody else who shares.
    Shared,
    /// So many in all, who all say so.
    Permits(NonZeroU32),
}

/// The key with which `session` stands in the queue `name`.
pub fn key(name: &[u8], session: SessionId, mode: Mode) -> Bytes {
    let mut key = prefix(name).to_vec();
    key.extend(session.to_string().bytes());
    match mode {
        Mode::Exclusive => {}
        Mode::Shared => key.extend(b";shared"),
        Mode::Permits(permits) => key.extend(format!(";permits={permits}").bytes()),
    }
    key.into()
}

/// What all keys of the queue `name` begin with.
pub fn prefix(name: &[u8]) -> Bytes {
    [name, b"/"].concat().into()
}

/// The mode that a key says, if it is one that stands in a queue by its session.
fn mode_of(key: &KeyValue) -> Option<(usize, Mode)> {
    let slash = key.key.iter().rposition(|&byte| byte == b'/')?;
    let rest = key.key[slash + 1..].strip_prefix(key.session?.to_string().as_bytes())?;
    let mode = match rest {
        b"" => Mode::Exclusive,
        b";shared" => Mode::Shared,
        _ => {
            let permits = str::from_utf8(rest.strip_prefix(b";permits=")?).ok()?;
            Mode::Permits(permits.parse().ok()?)
        }
    };
    Some((slash + 1, mode))
}

/// Somebody in a queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// With which key.
    pub key: Bytes,
    /// The fencing token.
    pub token: Revision,
    /// With whose end it goes; nobody's for a key that was merely put there.
    pub session: Option<SessionId>,
    /// Beside whom it may be inside.
    pub mode: Mode,
    /// When it came.
    pub since: ClusterTime,
    /// When it was let in; nothing if it waits.
    pub inside_since: Option<ClusterTime>,
}

impl Standing {
    /// Whether it is inside.
    pub fn is_inside(&self) -> bool {
        self.inside_since.is_some()
    }
}

/// Somebody was let in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// With which key it stands in the queue.
    pub key: Bytes,
    /// The fencing token.
    pub token: Revision,
    /// When it came.
    pub since: ClusterTime,
}

/// What happened to a queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueChange {
    /// Of which lock or election.
    pub name: Bytes,
    /// Who was let in by its session, in order; one who was inside already may be named again.
    pub granted: Vec<Grant>,
    /// Whether nobody is left: the lock is free, nobody leads.
    pub vacant: bool,
}

/// All queues in which somebody stands by a session. They follow from the keys, and are kept so that nobody
/// has to look through these.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Queues(BTreeMap<Bytes, Queue>);

type Place = (Revision, Bytes);

/// How somebody stands in a queue, and since when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stand {
    /// Nothing for whoever stands here by no session.
    mode: Option<Mode>,
    since: ClusterTime,
    inside_since: Option<ClusterTime>,
}

/// Since when somebody stands in a queue, and is inside: all of a queue that does not follow from the keys.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WrittenStand {
    prefix: Bytes,
    place: Place,
    since: ClusterTime,
    inside_since: Option<ClusterTime>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Queue {
    /// Everybody, in order.
    places: BTreeMap<Place, Stand>,
    /// The last one inside; everybody before is inside, too.
    last_inside: Option<Place>,
    inside: usize,
    /// How many stand here by a session.
    by_session: usize,
}

impl Queue {
    /// The queue of all keys under `prefix`.
    fn of(prefix: &Bytes, keyspace: &Keyspace, now: ClusterTime) -> Queue {
        let mut queue = Queue::default();
        for key in keyspace.range(&KeyRange::prefix(prefix.clone()), keyspace.revision()) {
            queue.add(prefix, key, now);
        }
        queue
    }

    fn add(&mut self, prefix: &Bytes, key: &KeyValue, now: ClusterTime) {
        let mode = mode_in(prefix, key);
        self.by_session += usize::from(mode.is_some());
        let stand = Stand { mode, since: now, inside_since: None };
        self.places.insert((key.created, key.key.clone()), stand);
    }

    /// A key that stands here was written again. It stays where it is, unless it goes with another session
    /// now: that may change beside whom it can be, so that everybody is let in anew.
    fn rewrite(&mut self, prefix: &Bytes, before: &KeyValue, now: &KeyValue) {
        let (mode_before, mode_now) = (mode_in(prefix, before), mode_in(prefix, now));
        if mode_before != mode_now {
            self.by_session -= usize::from(mode_before.is_some());
            self.by_session += usize::from(mode_now.is_some());
            if let Some(stand) = self.places.get_mut(&(now.created, now.key.clone())) {
                stand.mode = mode_now;
            }
            self.places.values_mut().for_each(|stand| stand.inside_since = None);
            self.last_inside = None;
            self.inside = 0;
        }
    }

    fn remove(&mut self, prefix: &Bytes, key: &KeyValue) {
        let place = (key.created, key.key.clone());
        self.by_session -= usize::from(mode_in(prefix, key).is_some());
        self.places.remove(&place);
        if self.last_inside.as_ref().is_some_and(|last| place <= *last) {
            self.inside -= 1;
            if self.last_inside.as_ref() == Some(&place) {
                self.last_inside = self.places.range(..&place).next_back().map(|(place, _)| place.clone());
            }
        }
    }

    /// Lets in whoever may be inside now.
    fn admit(&mut self, now: ClusterTime) -> Vec<Grant> {
        let mut granted = Vec::new();
        while let Some((place, stand)) = self.next().map(|(place, stand)| (place.clone(), *stand)) {
            if !self.has_room_for(stand.mode.unwrap_or(Mode::Exclusive)) {
                break;
            }
            self.inside += 1;
            if let Some(stand) = self.places.get_mut(&place) {
                stand.inside_since.get_or_insert(now);
            }
            if stand.mode.is_some() {
                granted.push(Grant { token: place.0, key: place.1.clone(), since: stand.since });
            }
            self.last_inside = Some(place);
        }
        granted
    }

    /// The first one who waits.
    fn next(&self) -> Option<(&Place, &Stand)> {
        match &self.last_inside {
            None => self.places.first_key_value(),
            Some(last) => {
                use std::ops::Bound::{Excluded, Unbounded};
                self.places.range::<Place, _>((Excluded(last), Unbounded)).next()
            }
        }
    }

    /// Whether somebody who comes next may be inside beside those who are. These all agree with the first
    /// one.
    fn has_room_for(&self, mode: Mode) -> bool {
        if self.inside == 0 {
            return true;
        }
        let first = self.places.first_key_value().map(|(place, stand)| (place, stand.mode));
        match (first, mode) {
            (Some((_, Some(Mode::Shared))), Mode::Shared) => true,
            (Some((_, Some(Mode::Permits(theirs)))), Mode::Permits(mine)) => {
                theirs == mine && self.inside < mine.get() as usize
            }
            _ => false,
        }
    }

    /// Whether somebody who came now would be inside at once.
    fn would_admit(&self, mode: Mode) -> bool {
        self.next().is_none() && self.has_room_for(mode)
    }

    fn is_inside(&self, place: &Place) -> bool {
        self.last_inside.as_ref().is_some_and(|last| place <= last) && self.places.contains_key(place)
    }
}

/// How `key` stands in the queue of all keys under `prefix`, if it does so by its session.
pub fn mode_in(prefix: &Bytes, key: &KeyValue) -> Option<Mode> {
    mode_of(key).filter(|(slash, _)| *slash == prefix.len()).map(|(_, mode)| mode)
}

/// How many of those who stand in a queue with these modes, in order, are inside.
pub fn admitted(modes: impl IntoIterator<Item = Mode>) -> usize {
    let mut queue = Queue::default();
    for (number, mode) in modes.into_iter().enumerate() {
        let place = (Revision(number as u64), Bytes::new());
        let stand = Stand { mode: Some(mode), since: ClusterTime::default(), inside_since: None };
        queue.places.insert(place, stand);
        if queue.admit(ClusterTime::default()).is_empty() {
            break;
        }
    }
    queue.inside
}

impl Queues {
    /// The queues that follow from these keys, with what is known of when everybody came.
    pub(crate) fn of(keyspace: &Keyspace, now: ClusterTime, written: Vec<WrittenStand>) -> Queues {
        let mut queues = Queues::default();
        let mut prefixes = BTreeSet::new();
        for key in keyspace.range(&KeyRange::From(Bytes::new()), keyspace.revision()) {
            prefixes.extend(mode_of(key).map(|(slash, _)| key.key.slice(..slash)));
        }
        for prefix in prefixes {
            queues.begin(prefix, keyspace, now);
        }
        for WrittenStand { prefix, place, since, inside_since } in written {
            let queue = queues.0.get_mut(&prefix);
            if let Some(stand) = queue.and_then(|queue| queue.places.get_mut(&place)) {
                stand.since = since;
                // Who is inside follows from the keys; only since when does not.
                stand.inside_since = stand.inside_since.map(|now| inside_since.unwrap_or(now));
            }
        }
        queues
    }

    /// What does not follow from the keys.
    pub(crate) fn written(&self) -> Vec<WrittenStand> {
        let queues = self.0.iter().flat_map(|(prefix, queue)| {
            queue.places.iter().map(|(place, stand)| WrittenStand {
                prefix: prefix.clone(),
                place: place.clone(),
                since: stand.since,
                inside_since: stand.inside_since,
            })
        });
        queues.collect()
    }

    fn begin(&mut self, prefix: Bytes, keyspace: &Keyspace, now: ClusterTime) -> Vec<Grant> {
        let mut queue = Queue::of(&prefix, keyspace, now);
        let granted = queue.admit(now);
        self.0.insert(prefix, queue);
        granted
    }

    /// Follows what a revision has changed, and says what came of it.
    pub(crate) fn follow(
        &mut self,
        revised: &Revised,
        keyspace: &Keyspace,
        at: ClusterTime,
    ) -> Vec<QueueChange> {
        let mut touched: BTreeSet<Bytes> = BTreeSet::new();
        for event in revised.events.iter() {
            self.follow_event(event, &mut touched, at);
        }
        let mut changes: Vec<QueueChange> =
            touched.into_iter().filter_map(|prefix| self.admit_to(&prefix, at)).collect();
        for event in revised.events.iter() {
            // What was written and deleted again in the same revision stands nowhere.
            let Some(now) = keyspace.get(&event.key) else { continue };
            let Some((slash, _)) = mode_of(now) else { continue };
            let prefix = now.key.slice(..slash);
            if !self.0.contains_key(&prefix) {
                let granted = self.begin(prefix.clone(), keyspace, at);
                changes.push(QueueChange { name: name_of(&prefix), granted, vacant: false });
            }
        }
        changes
    }

    fn follow_event(&mut self, event: &Event, touched: &mut BTreeSet<Bytes>, at: ClusterTime) {
        if self.0.is_empty() {
            return;
        }
        let slashes = event.key.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at + 1);
        for slash in slashes {
            let prefix = event.key.slice(..slash);
            let Some(queue) = self.0.get_mut(&prefix) else { continue };
            match (&event.before, &event.now) {
                (Some(before), Some(now)) => queue.rewrite(&prefix, before, now),
                (Some(before), None) => queue.remove(&prefix, before),
                (None, Some(now)) => queue.add(&prefix, now, at),
                (None, None) => {}
            }
            touched.insert(prefix);
        }
    }

    /// Lets in whoever may be inside now, and forgets a queue in which nobody stands by a session any more.
    fn admit_to(&mut self, prefix: &Bytes, now: ClusterTime) -> Option<QueueChange> {
        let queue = self.0.get_mut(prefix)?;
        let granted = queue.admit(now);
        let vacant = queue.places.is_empty();
        if queue.by_session == 0 {
            self.0.remove(prefix);
        }
        (vacant || !granted.is_empty()).then(|| QueueChange { name: name_of(prefix), granted, vacant })
    }

    /// Whether somebody who entered the queue `name` now would be inside at once.
    pub(crate) fn would_admit(&self, name: &[u8], mode: Mode, keyspace: &Keyspace) -> bool {
        let prefix = prefix(name);
        match self.0.get(&prefix) {
            Some(queue) => queue.would_admit(mode),
            None => {
                let mut queue = Queue::of(&prefix, keyspace, ClusterTime::default());
                queue.admit(ClusterTime::default());
                queue.would_admit(mode)
            }
        }
    }

    /// Whether the key, which was created at `token`, is inside the queue `name`.
    pub(crate) fn is_inside(&self, name: &[u8], key: &Bytes, token: Revision) -> bool {
        self.0.get(&prefix(name)).is_some_and(|queue| queue.is_inside(&(token, key.clone())))
    }

    /// Everybody in the queue `name`, in order.
    pub(crate) fn standing(&self, name: &[u8], keyspace: &Keyspace) -> Vec<Standing> {
        let Some(queue) = self.0.get(&prefix(name)) else { return Vec::new() };
        let standing = queue.places.iter().map(|((token, key), stand)| Standing {
            key: key.clone(),
            token: *token,
            session: keyspace.get(key).and_then(|key| key.session),
            mode: stand.mode.unwrap_or(Mode::Exclusive),
            since: stand.since,
            inside_since: stand.inside_since,
        });
        standing.collect()
    }

    /// How many stand in all of them, and how many of these are inside.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let counts = self.0.values().map(|queue| (queue.places.len(), queue.inside));
        counts.fold((0, 0), |(all, inside), (some, of_these)| (all + some, inside + of_these))
    }

    /// The names of all queues in which somebody stands by a session.
    pub(crate) fn names(&self) -> impl Iterator<Item = Bytes> {
        self.0.keys().map(name_of)
    }
}

fn name_of(prefix: &Bytes) -> Bytes {
    prefix.slice(..prefix.len() - 1)
}
