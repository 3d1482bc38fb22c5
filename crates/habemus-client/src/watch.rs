//! Watching keys through broken connections and changes of members, without losing or doubling anything.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;
use habemus_etcd::etcdserverpb as rpc;
use habemus_etcd::mvccpb::Event;
use habemus_etcd::mvccpb::event::EventType;
use tonic::Streaming;

use crate::client::Client;
use crate::error::ClientError;

/// How long to wait before the next attempt when nobody answers.
const PAUSE: Duration = Duration::from_millis(50);

/// One change of one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyEvent {
    /// Which key.
    pub key: Bytes,
    /// Its value from now on; nothing if it was deleted.
    pub value: Option<Bytes>,
    /// The revision at which it happened. Keys that are written together have the same.
    pub revision: i64,
    /// The session with whose end it goes; 0 for none.
    pub session: i64,
}

impl From<Event> for KeyEvent {
    fn from(event: Event) -> KeyEvent {
        let is_put = event.r#type() == EventType::Put;
        let kv = event.kv.unwrap_or_default();
        let value = is_put.then_some(kv.value);
        KeyEvent { key: kv.key, value, revision: kv.mod_revision, session: kv.lease }
    }
}

/// Watches keys: every change once, in order, for as long as the service remembers it.
///
/// It knows the revision that it wants next. When the connection breaks, whichever member answers next goes
/// on from there.
#[derive(Debug)]
pub struct Watch {
    client: Client,
    key: Bytes,
    range_end: Bytes,
    /// The first revision of which nothing was told; 0 for whatever comes after the watch has begun.
    next: i64,
    stream: Option<Streaming<rpc::WatchResponse>>,
    told: VecDeque<KeyEvent>,
}

impl Client {
    /// Watches one key, from when this is first asked for an event.
    pub fn watch(&self, key: impl Into<Bytes>) -> Watch {
        Watch::new(self.clone(), key.into(), Bytes::new())
    }

    /// Watches all keys that begin like this.
    pub fn watch_prefix(&self, prefix: impl Into<Bytes>) -> Watch {
        let key = prefix.into();
        let range_end = behind(&key);
        let key = if key.is_empty() { Bytes::from_static(&[0]) } else { key };
        Watch::new(self.clone(), key, range_end)
    }
}

/// The first key behind all that begin with a prefix; a zero byte stands for the end of all.
fn behind(prefix: &[u8]) -> Bytes {
    match prefix.iter().rposition(|byte| *byte < u8::MAX) {
        Some(last) => [&prefix[..last], &[prefix[last] + 1]].concat().into(),
        None => Bytes::from_static(&[0]),
    }
}

impl Watch {
    fn new(client: Client, key: Bytes, range_end: Bytes) -> Watch {
        Watch { client, key, range_end, next: 0, stream: None, told: VecDeque::new() }
    }

    /// Begins with this revision, which may lie in the past.
    #[must_use]
    pub fn from(self, revision: i64) -> Watch {
        Watch { next: revision, stream: None, told: VecDeque::new(), ..self }
    }

    /// The first revision of which not everything was told. A watch that begins [from](Watch::from) there
    /// goes on where this one is.
    pub fn position(&self) -> i64 {
        self.told.front().map_or(self.next, |event| event.revision)
    }

    /// Begins, and returns when every change from now on will be told.
    ///
    /// # Errors
    /// As [`next`](Watch::next).
    pub async fn begin(&mut self) -> Result<(), ClientError> {
        while self.stream.is_none() || self.next == 0 {
            self.step().await?;
        }
        Ok(())
    }

    /// Waits for the next change. While no member answers, it goes on trying; whoever wants to wait no
    /// longer, drops this future, and loses nothing by that.
    ///
    /// # Errors
    /// If the revision that is wanted is not known any more, or if the service refuses.
    pub async fn next(&mut self) -> Result<KeyEvent, ClientError> {
        loop {
            if let Some(event) = self.told.pop_front() {
                return Ok(event);
            }
            self.step().await?;
        }
    }

    /// Connects, or takes what comes next.
    async fn step(&mut self) -> Result<(), ClientError> {
        let Some(stream) = &mut self.stream else { return self.connect().await };
        match stream.message().await {
            Ok(Some(told)) => self.on_told(told),
            Ok(None) => {
                self.stream = None;
                Ok(())
            }
            Err(status) => self.on_failed(status.into()).await,
        }
    }

    async fn connect(&mut self) -> Result<(), ClientError> {
        let create = rpc::WatchCreateRequest {
            key: self.key.clone(),
            range_end: self.range_end.clone(),
            start_revision: self.next,
            // So that a watch of what seldom changes does not fall behind what is remembered.
            progress_notify: true,
            ..Default::default()
        };
        match self.client.watch_once(create).await {
            Ok(stream) => {
                self.stream = Some(stream);
                Ok(())
            }
            Err(error) => self.on_failed(error).await,
        }
    }

    async fn on_failed(&mut self, error: ClientError) -> Result<(), ClientError> {
        self.stream = None;
        if !error.is_transient() {
            return Err(error);
        }
        tokio::time::sleep(PAUSE).await;
        Ok(())
    }

    fn on_told(&mut self, told: rpc::WatchResponse) -> Result<(), ClientError> {
        if told.canceled {
            self.stream = None;
            if told.compact_revision > 0 {
                return Err(ClientError::Compacted(told.compact_revision));
            }
            let why = tonic::Status::permission_denied(told.cancel_reason);
            return if why.message().is_empty() { Ok(()) } else { Err(why.into()) };
        }
        let now = told.header.map_or(0, |header| header.revision);
        for event in told.events {
            let event = KeyEvent::from(event);
            // What was told before the connection broke is not told again.
            if event.revision >= self.next {
                self.told.push_back(event);
            }
        }
        // All of a revision comes in one answer.
        match self.told.back() {
            Some(last) => self.next = self.next.max(last.revision + 1),
            // Nothing happened up to this revision: the watch has begun, or goes on without a change.
            None if !told.created || self.next == 0 => self.next = self.next.max(now + 1),
            None => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_ends_where_the_next_one_begins() {
        assert_eq!(behind(b"a/"), &b"a0"[..]);
        assert_eq!(behind(b"a\xff"), &b"b"[..]);
        assert_eq!(behind(b"\xff\xff"), &b"\0"[..]);
        assert_eq!(behind(b""), &b"\0"[..]);
    }
}
