//! What happened, as the members agreed on it and as the clients saw it, and whether the one is what was
//! promised to the other.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Display, Formatter};
use std::time::Duration;

use bytes::Bytes;
use habemus_store::{Applied, Event, Mode, Revised, Revision, SessionId, Store};

use crate::calamity::DRIFT_BOUND;
use crate::clock::Micros;
use crate::linearizability::KeyCall;

/// What happened.
#[derive(Default)]
pub(crate) struct History {
    /// What each revision changed, as the first member said that got there.
    pub(crate) revised: BTreeMap<Revision, Revised>,
    pub(crate) key_calls: Vec<KeyCall>,
    pub(crate) inside: Vec<Inside>,
    sessions: BTreeMap<SessionId, KnownSession>,
    /// The last token of each lock.
    tokens: BTreeMap<Bytes, Revision>,
    /// Whether clocks are wrong by more than is allowed for: then only tokens tell who comes later.
    clocks_are_wild: bool,
    /// The first thing that must not have happened.
    pub(crate) violation: Option<String>,
}

/// What is judged: whoever finds something says so first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Judge {
    /// Keys are linearizable, and nothing answered is lost.
    Keys,
    /// One holder, or as many as share, by the clients' own clocks; tokens grow.
    Locks,
    /// Sessions end neither early nor never, and their clients know in time.
    Sessions,
    /// Watches have neither gap nor double.
    Watches,
    /// One leader a term, and the same on every member.
    Members,
    /// Disks do not grow, and what was synced is there, or its loss is noticed.
    Disks,
    /// When nothing is wrong any more, everybody is served.
    Progress,
}

impl Display for Judge {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Judge::Keys => "keys",
            Judge::Locks => "locks",
            Judge::Sessions => "sessions",
            Judge::Watches => "watches",
            Judge::Members => "members",
            Judge::Disks => "disks",
            Judge::Progress => "progress",
        })
    }
}

/// Somebody believed to be inside.
#[derive(Clone, Debug)]
pub struct Inside {
    /// Who.
    pub client: usize,
    /// Of what.
    pub name: Bytes,
    /// Beside whom it may be.
    pub mode: Mode,
    /// Its token.
    pub token: Revision,
    /// From when, in microseconds of true time.
    pub from: u64,
    /// Until when it believed so.
    pub until: u64,
}

/// What is known of a session.
pub(crate) struct KnownSession {
    ttl: Duration,
    /// When the last opening or renewal was sent that was acknowledged.
    acknowledged: Option<Micros>,
    ended: Option<Micros>,
    /// Whether its client wants it to end.
    closing: bool,
}

impl KnownSession {
    pub(crate) fn close(&mut self) {
        self.closing = true;
    }
}

impl History {
    pub(crate) fn new(clocks_are_right: bool) -> History {
        History { clocks_are_wild: !clocks_are_right, ..History::default() }
    }

    /// A client learned from a member that its session was over, and had not known it.
    pub(crate) fn was_surprised(&mut self, id: SessionId) {
        if !self.clocks_are_wild {
            self.violated(Judge::Sessions, format!("session {id} was over, and its client did not know it"));
        }
    }

    pub(crate) fn violated(&mut self, judge: Judge, what: impl Display) {
        self.violation.get_or_insert_with(|| format!("{judge}: {what}"));
    }

    /// Forgets what was before a revision, but for the keys that were there then; and sessions that ended
    /// before a time.
    pub(crate) fn forget_before(&mut self, first: Revision, time: Micros) {
        let later = self.revised.split_off(&first);
        let earlier = std::mem::replace(&mut self.revised, later);
        let mut seen = BTreeSet::new();
        for (revision, revised) in earlier.into_iter().rev() {
            let is_last = |event: &&Event| seen.insert(event.key.clone()) && event.now.is_some();
            let events: Vec<Event> = revised.events.iter().filter(is_last).cloned().collect();
            if !events.is_empty() {
                self.revised.insert(revision, Revised { revision, events: events.into() });
            }
        }
        self.sessions.retain(|_, session| session.ended.is_none_or(|ended| ended >= time));
    }

    /// The cluster was made of a backup: what came after this revision is lost, and whoever had a session has
    /// gone.
    pub(crate) fn begin_anew_after(&mut self, last: Revision) {
        self.revised.retain(|revision, _| *revision <= last);
        self.key_calls.clear();
        self.sessions.values_mut().for_each(KnownSession::close);
    }

    /// A cluster begins with this store, made of a backup: keys of sessions may have gone, and nothing else.
    pub(crate) fn restore(&mut self, store: &Store) {
        let mut present = BTreeMap::new();
        for event in self.revised.values().flat_map(|revised| revised.events.iter()) {
            present.insert(event.key.clone(), event.now.clone());
        }
        let mut gone = Vec::new();
        for (key, before) in present {
            let Some(before) = before.filter(|_| store.get(&key).is_none()) else { continue };
            if before.session.is_none() {
                self.violated(Judge::Keys, format!("{key:?} was in the backup, and is lost"));
            }
            gone.push(Event { key, now: None, before: Some(before) });
        }
        let revision = store.revision();
        self.revised.insert(revision, Revised { revision, events: gone.into() });
    }

    pub(crate) fn open_session(&mut self, id: SessionId, ttl: Duration) {
        self.sessions.insert(id, KnownSession { ttl, acknowledged: None, ended: None, closing: false });
    }

    /// A client was told that its session lasts, by an answer to what it had sent then.
    pub(crate) fn acknowledged(&mut self, id: SessionId, sent_at: Micros) {
        let session = self.session(id);
        session.acknowledged = session.acknowledged.max(Some(sent_at));
        if session.ended.is_some_and(|ended| ended < sent_at) {
            self.violated(Judge::Sessions, format!("session {id} had ended, and was renewed"));
        }
    }

    pub(crate) fn session(&mut self, id: SessionId) -> &mut KnownSession {
        self.sessions.get_mut(&id).expect("whoever knows of a session has asked for it")
    }

    /// A member has applied a command.
    pub(crate) fn applied(&mut self, now: Micros, applied: &Applied) {
        let mut is_news = false;
        for revised in &applied.revised {
            if let Entry::Vacant(place) = self.revised.entry(revised.revision) {
                place.insert(revised.clone());
                is_news = true;
            }
        }
        if is_news {
            self.note_grants(applied);
        }
        for id in &applied.ended {
            self.session_ended(now, *id);
        }
    }

    /// Nobody's token is smaller than that of one who was inside before.
    fn note_grants(&mut self, applied: &Applied) {
        for change in &applied.queues {
            for grant in &change.granted {
                let last = self.tokens.insert(change.name.clone(), grant.token);
                if last.is_some_and(|last| last > grant.token) {
                    let (name, token) = (change.name.escape_ascii(), grant.token);
                    self.violated(Judge::Locks, format!("{name}: token {token} was granted after {last:?}"));
                }
            }
        }
    }

    fn session_ended(&mut self, now: Micros, id: SessionId) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        if session.ended.is_some() {
            return;
        }
        session.ended = Some(now);
        if session.closing || self.clocks_are_wild {
            return;
        }
        let Some(sent) = session.acknowledged else { return };
        // The clocks of all leaders may have been as fast as they may be.
        let bound = 1.0 + DRIFT_BOUND as f64 / 1e6;
        let shortest = (session.ttl.as_micros() as f64 / bound) as Micros;
        if now + 1 < sent + shortest {
            let early = sent + shortest - now;
            self.violated(Judge::Sessions, format!("session {id} ended {early} microseconds early"));
        }
    }

    /// A client saw what a revision changed.
    pub(crate) fn saw(&mut self, revised: &Revised) {
        let known = self.revised.get(&revised.revision);
        // A member that has forgotten what was before says so by saying nothing.
        let is_same = known.is_some_and(|known| {
            let (mut one, mut other) = (known.events.iter(), revised.events.iter());
            known.events.len() == revised.events.len()
                && one.all(|one| {
                    other.next().is_some_and(|other| (&one.key, &one.now) == (&other.key, &other.now))
                })
        });
        if !is_same {
            self.violated(Judge::Watches, format!("a watch was told of {revised:?}, and it was {known:?}"));
        }
    }

    /// No two believed to be inside together who must not be.
    pub(crate) fn judge_locks(&mut self) {
        let clocks = if self.clocks_are_wild { Clocks::Wild } else { Clocks::Right };
        if let Err(why) = judge_locks(&mut self.inside, clocks) {
            self.violated(Judge::Locks, why);
        }
    }
}

/// Whether clients' clocks are as right as clients allow for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clocks {
    /// They are.
    Right,
    /// They are not: only tokens tell who comes later.
    Wild,
}

/// Sorts who believed to be inside when, and says who was so beside others and must not have been.
///
/// # Errors
/// If somebody was.
pub fn judge_locks(all: &mut Vec<Inside>, clocks: Clocks) -> Result<(), String> {
    all.retain(|inside| inside.from < inside.until);
    all.sort_by_key(|inside| inside.from);
    let mut present: Vec<&Inside> = Vec::new();
    let mut latest: BTreeMap<&Bytes, Revision> = BTreeMap::new();
    let mut holders: BTreeMap<(&Bytes, Revision), usize> = BTreeMap::new();
    for one in &*all {
        present.retain(|other| other.until > one.from);
        let beside: Vec<&&Inside> = present.iter().filter(|other| other.name == one.name).collect();
        let is_allowed = match one.mode {
            Mode::Exclusive => beside.is_empty(),
            Mode::Shared => beside.iter().all(|other| other.mode == Mode::Shared),
            Mode::Permits(permits) => {
                beside.len() < permits.get() as usize && beside.iter().all(|other| other.mode == one.mode)
            }
        };
        if !is_allowed && clocks == Clocks::Right {
            let others: Vec<usize> = beside.iter().map(|other| other.client).collect();
            return Err(format!("{one:?} was inside beside clients {others:?}"));
        }
        let holder = *holders.entry((&one.name, one.token)).or_insert(one.client);
        if holder != one.client {
            return Err(format!("{one:?} has the token of client {holder}"));
        }
        if one.mode == Mode::Exclusive && clocks == Clocks::Right {
            let last = latest.insert(&one.name, one.token);
            if last.is_some_and(|last| last > one.token) {
                return Err(format!("{one:?} came after one with token {last:?}"));
            }
        }
        present.push(one);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inside(mode: Mode, from: Micros, until: Micros) -> Inside {
        Inside { client: 0, name: "a".into(), mode, token: Revision(1), from, until }
    }

    fn is_allowed(all: &[Inside]) -> bool {
        let mut history = History { inside: all.to_vec(), ..History::default() };
        history.judge_locks();
        history.violation.is_none()
    }

    #[test]
    fn two_who_exclude_each_other_are_not_inside_together() {
        let one = inside(Mode::Exclusive, 1, 5);
        assert!(is_allowed(&[one.clone(), inside(Mode::Exclusive, 5, 9)]));
        assert!(!is_allowed(&[one.clone(), inside(Mode::Exclusive, 4, 9)]));
        assert!(!is_allowed(&[inside(Mode::Shared, 4, 9), one]));
    }

    #[test]
    fn those_who_share_may_be_together_and_of_permits_there_are_so_many() {
        assert!(is_allowed(&[inside(Mode::Shared, 1, 5), inside(Mode::Shared, 2, 4)]));
        let two = Mode::Permits(2.try_into().expect("it is not zero"));
        let all = [inside(two, 1, 5), inside(two, 2, 5), inside(two, 4, 9)];
        assert!(is_allowed(&all[1..]));
        assert!(!is_allowed(&all));
    }

    #[test]
    fn a_session_that_ends_before_its_time_is_noticed() {
        let mut history = History::default();
        let (early, late) = (SessionId(1), SessionId(2));
        for id in [early, late] {
            history.open_session(id, Duration::from_secs(1));
            history.acknowledged(id, 5_000_000);
        }
        history.session_ended(5_995_000, late);
        assert_eq!(history.violation, None);
        history.session_ended(5_985_000, early);
        assert!(history.violation.is_some());
    }
}
