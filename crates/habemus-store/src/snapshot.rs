//! A store as bytes, and back.
//!
//! Only what does not follow from something else is written down: keys with their versions, sessions with
//! their deadlines, since when who stands in a queue, users and roles. History, who is inside and whose keys
//! are whose are found again when it is read.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use serde::ser::SerializeSeq;
use serde::{Deserialize, Serialize, Serializer};

use crate::auth::Auth;
use crate::event::{KeyValue, Revision};
use crate::keyspace::{Keyspace, Stamp, Version, Versions};
use crate::ordered::Ordered;
use crate::queue::{Queues, WrittenStand};
use crate::session::{SessionId, Sessions};
use crate::store::Store;
use crate::time::ClusterTime;

/// The form of what is written. Whoever changes the form changes this number.
const FORM: u32 = 2;

/// The form before, which did not say since when anybody stands in a queue.
const FORM_WITHOUT_STANDS: u32 = 1;

/// The same as now, with users and roles behind it: where there are none, earlier versions can read it, too.
const FORM_WITH_AUTH: u32 = 3;

/// Why bytes are no store.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SnapshotError {
    /// They were written in another form.
    #[error("the snapshot has form {0}; this version reads up to {FORM_WITH_AUTH}")]
    Form(u32),
    /// They make no sense.
    #[error("the snapshot is damaged: {0}")]
    Damaged(String),
}

type WrittenSession = (SessionId, Duration, ClusterTime);

/// What is written down. Whoever writes lends it all, whoever reads keeps it.
#[derive(Serialize, Deserialize)]
struct Written<Keys, Sessions, Stands> {
    now: ClusterTime,
    revision: Revision,
    compacted: Revision,
    keys: Keys,
    sessions: Sessions,
    queues: Stands,
}

/// What was read.
type Read = Written<Vec<(Bytes, Vec<WrittenVersion<Bytes>>)>, Vec<WrittenSession>, Vec<WrittenStand>>;

/// All keys, as they are written: a row of each with its versions.
struct WrittenKeys<'a>(&'a Ordered<Versions>);

/// The versions of a key, as they are written.
struct WrittenVersions<'a>(&'a Versions);

#[derive(Serialize, Deserialize)]
struct WrittenVersion<Value> {
    since: Stamp,
    state: Option<WrittenState<Value>>,
}

#[derive(Serialize, Deserialize)]
struct WrittenState<Value> {
    value: Value,
    created: Revision,
    version: u64,
    session: Option<SessionId>,
}

/// A store as it was at a moment, which can be written down elsewhere while the store goes on: it is made
/// quickly, for it shares all keys with the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frozen {
    now: ClusterTime,
    revision: Revision,
    compacted: Revision,
    keys: Ordered<Versions>,
    sessions: Vec<WrittenSession>,
    queues: Vec<WrittenStand>,
    auth: Auth,
}

impl Frozen {
    /// The store as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let written = Written {
            now: self.now,
            revision: self.revision,
            compacted: self.compacted,
            keys: WrittenKeys(&self.keys),
            sessions: &self.sessions,
            queues: &self.queues,
        };
        let enough = "memory takes whatever is written";
        if self.auth == Auth::default() {
            return postcard::to_extend(&written, FORM.to_le_bytes().to_vec()).expect(enough);
        }
        let form = FORM_WITH_AUTH.to_le_bytes().to_vec();
        let bytes = postcard::to_extend(&written, form).expect(enough);
        postcard::to_extend(&self.auth, bytes).expect(enough)
    }
}

impl Store {
    /// The store as it is now.
    pub fn freeze(&self) -> Frozen {
        Frozen {
            now: self.now,
            revision: self.keyspace.revision(),
            compacted: self.keyspace.compacted(),
            keys: self.keyspace.frozen(),
            sessions: self.sessions.iter().map(|(id, it)| (id, it.ttl, it.deadline)).collect(),
            queues: self.queues.written(),
            auth: self.auth.clone(),
        }
    }

    /// The store as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.freeze().to_bytes()
    }

    /// The store that was written as these bytes.
    ///
    /// # Errors
    /// If they are no store.
    pub fn from_bytes(bytes: &[u8]) -> Result<Store, SnapshotError> {
        let damaged = |what: &str| SnapshotError::Damaged(what.to_owned());
        let (form, rest) = bytes.split_first_chunk().ok_or_else(|| damaged("it is too short"))?;
        let form = u32::from_le_bytes(*form);
        let bad = |error: postcard::Error| damaged(&error.to_string());
        let (written, auth): (Read, Auth) = match form {
            // Nothing is known of anybody: an empty list stands at the end.
            FORM_WITHOUT_STANDS => {
                let written = [rest, &[0]].concat();
                (postcard::from_bytes(&written).map_err(bad)?, Auth::default())
            }
            FORM => (postcard::from_bytes(rest).map_err(bad)?, Auth::default()),
            FORM_WITH_AUTH => postcard::from_bytes(rest).map_err(bad)?,
            other => return Err(SnapshotError::Form(other)),
        };
        if written.keys.iter().any(|(_, versions)| !versions.is_sorted_by(|one, next| one.since < next.since))
        {
            return Err(damaged("the versions of a key are out of order"));
        }
        if !written.keys.is_sorted_by(|one, next| one.0 < next.0)
            || !written.sessions.is_sorted_by(|one, next| one.0 < next.0)
        {
            return Err(damaged("keys or sessions are out of order"));
        }
        let keys = written.keys.into_iter().map(|(key, versions)| {
            let versions = versions.into_iter().map(|version| read(&key, version)).collect();
            (key, versions)
        });
        let keyspace = Keyspace::rebuild(written.revision, written.compacted, keys);
        let mut sessions = Sessions::restore(written.sessions);
        for key in keyspace.range(&crate::KeyRange::From(Bytes::new()), keyspace.revision()) {
            sessions.attach(&key.key, None, key.session);
        }
        Ok(Store {
            now: written.now,
            queues: Queues::of(&keyspace, written.now, written.queues),
            keyspace,
            sessions,
            auth,
        })
    }
}

impl Serialize for WrittenKeys<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut all = serializer.serialize_seq(Some(self.0.len()))?;
        for (key, versions) in self.0.iter() {
            all.serialize_element(&(key, WrittenVersions(versions)))?;
        }
        all.end()
    }
}

impl Serialize for WrittenVersions<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.all().iter().map(write))
    }
}

fn write(version: &Version) -> WrittenVersion<&Bytes> {
    let state = version.state.as_ref().map(|state| WrittenState {
        value: &state.value,
        created: state.created,
        version: state.version,
        session: state.session,
    });
    WrittenVersion { since: version.since, state }
}

fn read(key: &Bytes, version: WrittenVersion<Bytes>) -> Version {
    let since = version.since;
    let state = version.state.map(|WrittenState { value, created, version, session }| {
        Arc::new(KeyValue { key: key.clone(), value, created, modified: since.revision, version, session })
    });
    Version { since, state }
}
