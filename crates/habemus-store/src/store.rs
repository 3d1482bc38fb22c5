//! The store: what every member of a cluster has, and how a command changes it.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use crate::answer::{Answer, Entered};
use crate::auth::Auth;
use crate::command::{Command, Enter, Given, Leave, Put, WhenBusy};
use crate::error::StoreError;
use crate::event::{KeyValue, Revised, Revision};
use crate::key_range::KeyRange;
use crate::keyspace::{Keyspace, Writing};
use crate::queue::{self, QueueChange, Queues, Standing};
use crate::range::{Found, Range};
use crate::session::{Session, SessionId, Sessions};
use crate::time::ClusterTime;
use crate::txn::Txn;

/// Keys, sessions and queues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Store {
    pub(crate) now: ClusterTime,
    pub(crate) keyspace: Keyspace,
    pub(crate) sessions: Sessions,
    pub(crate) queues: Queues,
    pub(crate) auth: Auth,
}

/// What came of applying a command: first the sessions that had ended by then, then the command itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Applied {
    /// What is answered to whoever sent the command.
    pub answer: Result<Answer, StoreError>,
    /// The latest revision after it.
    pub revision: Revision,
    /// What changed, in order.
    pub revised: Vec<Revised>,
    /// Which queues moved, in order.
    pub queues: Vec<QueueChange>,
    /// Which sessions ended, because their time was over or because they were closed.
    pub ended: Vec<SessionId>,
}

impl Default for Store {
    fn default() -> Self {
        Store::new()
    }
}

impl Store {
    /// An empty store.
    pub fn new() -> Store {
        Store {
            now: ClusterTime::default(),
            keyspace: Keyspace::new(),
            sessions: Sessions::default(),
            queues: Queues::default(),
            auth: Auth::default(),
        }
    }

    /// Applies a command at a time, which is no earlier than that of the last one: if it is, the last one's
    /// counts.
    pub fn apply(&mut self, at: ClusterTime, command: Command) -> Applied {
        self.now = self.now.max(at);
        let mut changes = Changes::default();
        while let Some(id) = self.sessions.due(self.now) {
            self.end_session(id, &mut changes);
        }
        let (author, command) = match command {
            Command::As(author, command) => (Some(author), *command),
            command => (None, command),
        };
        let answer = match self.check_author(author.as_ref(), &command) {
            Ok(()) => self.execute(command, &mut changes),
            Err(refused) => Err(refused.into()),
        };
        let Changes { revised, queues, ended } = changes;
        Applied { answer, revision: self.revision(), revised, queues, ended }
    }

    /// What a new cluster begins with that is made from a backup of another. Revisions go on so far beyond
    /// those of the backup that none is given twice, whatever the other one gave after it; whoever knows an
    /// earlier one is told that it is forgotten. Sessions have their whole time again, but for those that
    /// stood in a queue: these have ended, for others may have been let in since, with greater tokens.
    #[must_use]
    pub fn restored(mut self, skip: u64) -> Store {
        let revision = Revision(self.revision().0.saturating_add(skip));
        let standing = self.queues().flat_map(|name| self.queue(&name)).filter_map(|place| place.session);
        for id in standing.collect::<Vec<SessionId>>() {
            self.end_session(id, &mut Changes::default());
        }
        self.keyspace = self.keyspace.beyond(revision);
        let ids: Vec<SessionId> = self.sessions.ids().collect();
        self.renew(&ids);
        self
    }

    /// The latest revision.
    pub fn revision(&self) -> Revision {
        self.keyspace.revision()
    }

    /// Nothing before this revision is known.
    pub fn compacted(&self) -> Revision {
        self.keyspace.compacted()
    }

    /// Users and roles.
    pub fn auth(&self) -> &Auth {
        &self.auth
    }

    /// The time of the last command.
    pub fn now(&self) -> ClusterTime {
        self.now
    }

    /// When the next session ends unless it is renewed: then at the latest a [`Command::Tick`] is due.
    pub fn next_deadline(&self) -> Option<ClusterTime> {
        self.sessions.next_deadline()
    }

    /// How much memory keys, values and history take, roughly.
    pub fn bytes(&self) -> usize {
        self.keyspace.bytes()
    }

    /// How many revisions are remembered.
    pub fn remembered(&self) -> usize {
        self.keyspace.remembered()
    }

    /// Reads keys.
    ///
    /// # Errors
    /// If no key is given, or if the revision that is asked for is not known.
    pub fn range(&self, range: &Range) -> Result<Found, StoreError> {
        range.check(&self.keyspace)?;
        Ok(range.find(&self.keyspace, self.revision()))
    }

    /// What a key is now.
    pub fn get(&self, key: &[u8]) -> Option<&Arc<KeyValue>> {
        self.keyspace.get(key)
    }

    /// What happened at `first` and later.
    ///
    /// # Errors
    /// If not all of it is known any more.
    pub fn since(&self, first: Revision) -> Result<impl Iterator<Item = &Revised>, StoreError> {
        self.keyspace.since(first)
    }

    /// A session that has not ended.
    pub fn session(&self, id: SessionId) -> Option<&Session> {
        self.sessions.get(id)
    }

    /// All sessions that have not ended.
    pub fn sessions(&self) -> impl Iterator<Item = SessionId> {
        self.sessions.ids()
    }

    /// How many sessions have not ended.
    pub fn session_count(&self) -> usize {
        self.sessions.len()
    }

    /// Everybody in the queue `name`, in order; nobody if nobody stands there by a session.
    pub fn queue(&self, name: &[u8]) -> Vec<Standing> {
        self.queues.standing(name, &self.keyspace)
    }

    /// Whether the key, which was created at `token` and stands in a queue by its session, is inside.
    pub fn is_inside(&self, key: &Bytes, token: Revision) -> bool {
        let slash = key.iter().rposition(|&byte| byte == b'/');
        slash.is_some_and(|slash| self.queues.is_inside(&key[..slash], key, token))
    }

    /// How many stand in queues, and how many of these are inside.
    pub fn queue_counts(&self) -> (usize, usize) {
        self.queues.counts()
    }

    /// The names of all queues in which somebody stands by a session.
    pub fn queues(&self) -> impl Iterator<Item = Bytes> {
        self.queues.names()
    }

    fn execute(&mut self, command: Command, changes: &mut Changes) -> Result<Answer, StoreError> {
        match command {
            Command::Put(put) => {
                // Of several reasons to refuse it, etcd tells this one first, but not in a transaction.
                if !put.key.is_empty() {
                    put.check_session(&self.sessions)?;
                }
                put.check(&self.keyspace, &self.sessions)?;
                let before = self.write(changes, |writing| put.execute(writing));
                Ok(Answer::Put { before })
            }
            Command::Delete(delete) => {
                if delete.keys.first().is_empty() {
                    return Err(StoreError::EmptyKey);
                }
                Ok(Answer::Deleted(self.write(changes, |writing| delete.execute(writing))))
            }
            Command::Txn(txn) => self.transact(&txn, changes),
            Command::Compact(revision) => self.keyspace.compact(revision).map(|()| Answer::Done),
            Command::OpenSession { id, ttl } => self.sessions.open(self.now, id, ttl).map(|()| Answer::Done),
            Command::RenewSessions(ids) => Ok(Answer::Renewed(self.renew(&ids))),
            Command::CloseSession { id } => match self.sessions.get(id) {
                None => Err(StoreError::SessionNotFound(id)),
                Some(_) => {
                    self.end_session(id, changes);
                    Ok(Answer::Done)
                }
            },
            Command::Enter(enter) => self.enter(&enter, changes).map(Answer::Entered),
            Command::Leave(leave) => self.leave(&leave, changes).map(|()| Answer::Done),
            Command::Tick => Ok(Answer::Done),
            Command::Auth(command) => self.auth.execute(command).map(|()| Answer::Done),
            Command::As(_, command) => self.execute(*command, changes),
        }
    }

    fn transact(&mut self, txn: &Txn, changes: &mut Changes) -> Result<Answer, StoreError> {
        txn.check_shape()?;
        let decided = txn.decide(&self.keyspace);
        decided.check(&self.keyspace, &self.sessions)?;
        Ok(Answer::Txn(self.write(changes, |writing| decided.execute(writing))))
    }

    fn renew(&mut self, ids: &[SessionId]) -> Vec<(SessionId, Option<Duration>)> {
        let mut renewed = Vec::with_capacity(ids.len());
        for &id in ids {
            renewed.push((id, self.sessions.renew(self.now, id).map(|session| session.ttl)));
        }
        renewed
    }

    /// Ends a session, with all its keys in one revision.
    fn end_session(&mut self, id: SessionId, changes: &mut Changes) {
        let Some(session) = self.sessions.close(id) else { return };
        self.write(changes, |writing| {
            for key in session.keys.iter() {
                writing.delete(key);
            }
        });
        changes.ended.push(id);
    }

    fn enter(&mut self, enter: &Enter, changes: &mut Changes) -> Result<Entered, StoreError> {
        let Enter { name, session, mode, value, when_busy } = enter;
        if self.sessions.get(*session).is_none() {
            return Err(StoreError::SessionNotFound(*session));
        }
        let key = queue::key(name, *session, *mode);
        match self.keyspace.get(&key).cloned() {
            Some(present) => {
                let inside = self.queues.is_inside(name, &key, present.created);
                if !inside && *when_busy == WhenBusy::Refuse {
                    return Err(StoreError::Busy);
                }
                // Whoever only asks once more must not wake those who watch.
                if present.value != *value {
                    let put =
                        Put { key: key.clone(), value: Given::New(value.clone()), session: Given::Present };
                    self.write(changes, |writing| put.execute(writing));
                }
                Ok(Entered { key, token: present.created, granted: inside })
            }
            None => {
                self.has_no_other_place(name, *session)?;
                if *when_busy == WhenBusy::Refuse && !self.queues.would_admit(name, *mode, &self.keyspace) {
                    return Err(StoreError::Busy);
                }
                let put = Put::new(key.clone(), value.clone()).of(*session);
                self.write(changes, |writing| put.execute(writing));
                let token = self.revision();
                Ok(Entered { granted: self.queues.is_inside(name, &key, token), key, token })
            }
        }
    }

    /// Somebody who stood in a queue twice would wait for itself.
    fn has_no_other_place(&self, name: &[u8], session: SessionId) -> Result<(), StoreError> {
        let exclusive = queue::key(name, session, queue::Mode::Exclusive);
        let others = KeyRange::prefix([&exclusive[..], b";"].concat());
        let stands = self.keyspace.get(&exclusive).is_some()
            || self.keyspace.range(&others, self.revision()).next().is_some();
        if stands { Err(StoreError::OtherMode(session)) } else { Ok(()) }
    }

    fn leave(&mut self, leave: &Leave, changes: &mut Changes) -> Result<(), StoreError> {
        match self.keyspace.get(&leave.key) {
            Some(key) if key.created == leave.token => {
                self.write(changes, |writing| writing.delete(&leave.key));
                Ok(())
            }
            _ => Err(StoreError::NotOwner),
        }
    }

    /// Writes one revision, and lets sessions and queues follow.
    fn write<T>(&mut self, changes: &mut Changes, write: impl FnOnce(&mut Writing<'_>) -> T) -> T {
        let mut writing = self.keyspace.begin();
        let result = write(&mut writing);
        if let Some(revised) = writing.commit() {
            for event in revised.events.iter() {
                let before = event.before.as_ref().and_then(|before| before.session);
                let after = event.now.as_ref().and_then(|now| now.session);
                self.sessions.attach(&event.key, before, after);
            }
            changes.queues.extend(self.queues.follow(&revised, &self.keyspace, self.now));
            changes.revised.push(revised);
        }
        result
    }
}

/// What a command has changed so far.
#[derive(Default)]
struct Changes {
    revised: Vec<Revised>,
    queues: Vec<QueueChange>,
    ended: Vec<SessionId>,
}
