//! A place in a queue, and who stands before it.

use std::time::Duration;

use bytes::Bytes;
use habemus_etcd::etcdserverpb as rpc;
use habemus_etcd::etcdserverpb::range_request::{SortOrder, SortTarget};
use habemus_etcd::etcdserverpb::watch_create_request::FilterType;

use crate::client::{Client, prefix};
use crate::error::ClientError;
use crate::guard::Guard;
use crate::queue::{Mode, delete, release_in_background};
use crate::session::Session;

/// Those in a queue, in order.
pub(crate) struct Those(Vec<(Bytes, i64)>);

/// For whom somebody waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Blocker {
    /// For this one, the last before it beside whom it cannot be.
    One(Bytes),
    /// For any of those before it, for there are as many as may be inside.
    Any,
}

impl Those {
    /// Those in a queue who came before a token, if one is given; and at which revision that was so.
    pub(crate) async fn in_queue(
        client: &Client,
        name: &str,
        before: Option<i64>,
    ) -> Result<(Those, i64), ClientError> {
        let (key, range_end) = prefix(name.as_bytes());
        let request = rpc::RangeRequest {
            key,
            range_end,
            keys_only: true,
            sort_target: SortTarget::Create.into(),
            sort_order: SortOrder::Ascend.into(),
            max_create_revision: before.map_or(0, |token| token - 1),
            ..Default::default()
        };
        let found = client.range(request).await?;
        let revision = found.header.map_or(0, |header| header.revision);
        Ok((Those(found.kvs.into_iter().map(|kv| (kv.key, kv.create_revision)).collect()), revision))
    }

    /// The token with which a key stands among them.
    pub(crate) fn token_of(&self, key: &Bytes) -> Option<i64> {
        self.0.iter().find(|(its, _)| its == key).map(|(_, token)| *token)
    }

    /// Those of them who came before a token.
    pub(crate) fn before(&self, token: i64) -> Those {
        Those(self.0.iter().filter(|(_, its)| *its < token).cloned().collect())
    }

    /// For whom one who comes behind all of them waits; nobody if it is inside.
    pub(crate) fn blocker(&self, mode: Mode) -> Option<Blocker> {
        let is_beside = |key: &Bytes| mode != Mode::Exclusive && key.ends_with(mode.suffix().as_bytes());
        if let Some((key, _)) = self.0.iter().rev().find(|(key, _)| !is_beside(key)) {
            return Some(Blocker::One(key.clone()));
        }
        match mode {
            Mode::Permits(permits) if self.0.len() >= permits.get() as usize => Some(Blocker::Any),
            _ => None,
        }
    }
}

/// A place in a queue, which is left when it is dropped, unless it is kept.
pub(crate) struct Standing {
    session: Session,
    name: String,
    key: Bytes,
    mode: Mode,
    token: i64,
    keep: bool,
}

impl Standing {
    pub(crate) fn new(session: Session, name: String, key: Bytes, mode: Mode, token: i64) -> Standing {
        Standing { session, name, key, mode, token, keep: false }
    }

    pub(crate) fn keep(mut self) -> Guard {
        self.keep = true;
        Guard::new(self.session.clone(), self.name.clone(), self.key.clone(), self.token)
    }

    pub(crate) async fn leave(mut self) -> Result<(), ClientError> {
        self.keep = true;
        delete(&self.session, &self.key, self.token).await.map(drop)
    }

    /// Waits until everybody has gone beside whom it cannot be.
    pub(crate) async fn is_inside(&self) -> Result<(), ClientError> {
        loop {
            let (blocker, revision) = self.blocker().await?;
            match blocker {
                Some(Blocker::One(before)) => self.gone(before, Bytes::new(), revision + 1).await,
                Some(Blocker::Any) => {
                    let (first, end) = prefix(self.name.as_bytes());
                    self.gone(first, end, revision + 1).await;
                }
                None => return self.is_there().await,
            }
        }
    }

    /// For whom it waits, and at which revision that was so.
    async fn blocker(&self) -> Result<(Option<Blocker>, i64), ClientError> {
        if self.mode == Mode::Exclusive {
            let (last, revision) = self.predecessor().await?;
            return Ok((last.map(Blocker::One), revision));
        }
        let (those, revision) = Those::in_queue(self.session.client(), &self.name, Some(self.token)).await?;
        Ok((those.blocker(self.mode), revision))
    }

    /// Who stands right before this one, if anybody does: one key, however long the queue is.
    async fn predecessor(&self) -> Result<(Option<Bytes>, i64), ClientError> {
        let (key, range_end) = prefix(self.name.as_bytes());
        let request = rpc::RangeRequest {
            key,
            range_end,
            limit: 1,
            keys_only: true,
            sort_target: SortTarget::Create.into(),
            sort_order: SortOrder::Descend.into(),
            max_create_revision: self.token - 1,
            ..Default::default()
        };
        let found = self.session.client().range(request).await?;
        let revision = found.header.map_or(0, |header| header.revision);
        Ok((found.kvs.into_iter().next().map(|kv| kv.key), revision))
    }

    /// Whether its key is still the one that it wrote.
    async fn is_there(&self) -> Result<(), ClientError> {
        let request = rpc::RangeRequest { key: self.key.clone(), keys_only: true, ..Default::default() };
        let found = self.session.client().range(request).await?;
        match found.kvs.first() {
            Some(own) if own.create_revision == self.token => Ok(()),
            _ => Err(ClientError::Evicted),
        }
    }

    /// Waits until a key, or one of a range, is deleted, or may have been.
    async fn gone(&self, key: Bytes, range_end: Bytes, start_revision: i64) {
        let filters = vec![FilterType::Noput.into()];
        let create =
            rpc::WatchCreateRequest { key, range_end, start_revision, filters, ..Default::default() };
        let Ok(mut watching) = self.session.client().watch_once(create).await else {
            tokio::time::sleep(Duration::from_millis(50)).await;
            return;
        };
        loop {
            match watching.message().await {
                Ok(Some(told)) if told.canceled || !told.events.is_empty() => return,
                Ok(Some(_)) => {}
                Ok(None) | Err(_) => return,
            }
        }
    }
}

impl Drop for Standing {
    fn drop(&mut self) {
        if !self.keep {
            release_in_background(&self.session, &self.key, self.token);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;

    fn those(keys: &[&str]) -> Those {
        Those((1..).zip(keys).map(|(token, key)| (Bytes::from((*key).to_owned()), token)).collect())
    }

    #[test]
    fn who_waits_for_whom_follows_from_the_keys() {
        let permits = |count| Mode::Permits(NonZeroU32::new(count).expect("it is not zero"));
        let one = |key: &str| Some(Blocker::One(Bytes::from(key.to_owned())));
        assert_eq!(those(&[]).blocker(Mode::Exclusive), None);
        assert_eq!(those(&["n/1;shared"]).blocker(Mode::Exclusive), one("n/1;shared"));
        assert_eq!(those(&["n/1;shared", "n/2;shared"]).blocker(Mode::Shared), None);
        assert_eq!(those(&["n/1", "n/2;shared"]).blocker(Mode::Shared), one("n/1"));
        assert_eq!(those(&["n/1;permits=2"]).blocker(permits(2)), None);
        assert_eq!(those(&["n/1;permits=2", "n/2;permits=2"]).blocker(permits(2)), Some(Blocker::Any));
        assert_eq!(those(&["n/1;permits=3"]).blocker(permits(2)), one("n/1;permits=3"));
    }
}
