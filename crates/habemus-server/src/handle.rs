//! How the services speak to the engine.

use std::future::ready;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::Either;
use habemus_etcd::etcdserverpb::ResponseHeader;
use habemus_replica::{Change, MemberId, Role};
use habemus_store::{Answer, Applied, Author, Command, KeyRange, Revision};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{Notify, mpsc, oneshot, watch};
use tonic::Request;

use crate::engine::{Granted, Input, View};
use crate::status::Refused;
use crate::wakers::Wake;

/// How the services speak to the engine.
#[derive(Clone)]
pub(crate) struct Handle {
    ways: Ways,
    roles: watch::Receiver<Role>,
    cluster: u64,
    member: MemberId,
    /// On whose behalf; `None` if nobody has said.
    author: Option<Author>,
}

/// The ways to the engine: no flood on one of them holds up what comes by another.
#[derive(Clone)]
pub(crate) struct Ways {
    /// What clients ask for.
    pub(crate) clients: mpsc::Sender<Input>,
    /// By which sessions go on.
    pub(crate) renewals: mpsc::Sender<Input>,
    /// What other members and the disk say.
    pub(crate) urgent: mpsc::Sender<Input>,
}

/// A store that has all that was answered before, or the one that happens to be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Freshness {
    /// What anybody was told is in it.
    Linearizable,
    /// It may be a little old.
    Local,
}

impl Handle {
    pub(crate) fn new(ways: Ways, roles: watch::Receiver<Role>, cluster: u64, member: MemberId) -> Handle {
        Handle { ways, roles, cluster, member, author: None }
    }

    /// Speaks on behalf of whoever sent a request.
    pub(crate) fn of<T>(&self, request: &Request<T>) -> Handle {
        self.of_author(request.extensions().get::<Author>().cloned())
    }

    /// Speaks on behalf of somebody, if anybody said who it is.
    pub(crate) fn of_author(&self, author: Option<Author>) -> Handle {
        Handle { author, ..self.clone() }
    }

    /// Speaks for the member itself.
    pub(crate) fn of_member(&self) -> Handle {
        Handle { author: Some(Author::Member), ..self.clone() }
    }

    /// Says which keys will be shown as they were before.
    pub(crate) fn showing(mut self, keys: Vec<KeyRange>) -> Handle {
        if let Some(Author::User(acting)) = &mut self.author {
            acting.shown = keys;
        }
        self
    }

    /// On whose behalf it speaks.
    pub(crate) fn author(&self) -> Option<&Author> {
        self.author.as_ref()
    }

    /// Whether it speaks for somebody who may do everything.
    pub(crate) async fn check_root(&self) -> Result<(), Refused> {
        let author = self.author.clone();
        let look = move |view: &View<'_>| view.store.auth().check_root(author.as_ref());
        let checked = self.look(Freshness::Linearizable, look).await?;
        checked.map_err(|error| Refused::Store(error.into()))
    }

    /// Applies a command on a majority of members.
    pub(crate) async fn apply(&self, command: Command) -> Result<Applied, Refused> {
        let command = match &self.author {
            None => command,
            Some(author) => Command::As(author.clone(), Box::new(command)),
        };
        let (answer, answered) = oneshot::channel();
        self.tell(Input::Propose(command, answer)).await?;
        answered.await.unwrap_or(Err(Refused::Stopping))
    }

    /// Applies a command, and says what came of it in an answer with a header.
    pub(crate) async fn execute(&self, command: Command) -> Result<(Answer, ResponseHeader), Refused> {
        let applied = self.apply(command).await?;
        Ok((applied.answer.map_err(Refused::Store)?, self.header(applied.revision)))
    }

    /// Looks at the store.
    pub(crate) async fn look<T: Send + 'static>(
        &self,
        freshness: Freshness,
        look: impl FnOnce(&View<'_>) -> T + Send + 'static,
    ) -> Result<T, Refused> {
        let (answer, answered) = oneshot::channel();
        let look = Box::new(move |view: Result<View<'_>, Refused>| {
            // Whoever does not listen any more has left.
            drop(answer.send(view.map(|view| look(&view))));
        });
        self.tell(match freshness {
            Freshness::Linearizable => Input::Read(look),
            Freshness::Local => Input::Look(look),
        })
        .await?;
        answered.await.unwrap_or(Err(Refused::Stopping))
    }

    /// The latest revision that this member knows.
    pub(crate) async fn revision(&self) -> Result<Revision, Refused> {
        self.look(Freshness::Local, |view| view.store.revision()).await
    }

    /// Wakes `sleeper` when something in `range` changes.
    pub(crate) async fn wake(&self, range: KeyRange, sleeper: &Arc<Notify>) -> Result<(), Refused> {
        self.tell(Input::Wake(Wake { range, sleeper: Arc::downgrade(sleeper) })).await
    }

    /// Waits until the key, which was created at `token`, is inside its queue, or gone.
    pub(crate) async fn granted(&self, key: Bytes, token: Revision) -> Result<Granted, Refused> {
        let (answer, answered) = oneshot::channel();
        self.tell(Input::AwaitGrant(key, token, answer)).await?;
        answered.await.map_err(|_| Refused::Stopping)
    }

    /// Changes the membership.
    pub(crate) async fn change(&self, change: Change) -> Result<(), Refused> {
        let (answer, answered) = oneshot::channel();
        self.tell(Input::Change(change, answer)).await?;
        answered.await.unwrap_or(Err(Refused::Stopping))
    }

    /// This member was removed: whoever waits for it is told.
    pub(crate) async fn leave(&self) {
        let (answer, answered) = oneshot::channel();
        // If the engine has ended, nobody waits any more.
        if self.tell(Input::Leave(answer)).await.is_ok() {
            drop(answered.await);
        }
    }

    /// Tells the engine at once, or when there is room. The input is not kept in what is returned: a call
    /// that waits for a lock is held for long, and would be as large as whatever can be told.
    pub(crate) fn tell(&self, input: Input) -> impl Future<Output = Result<(), Refused>> + Send + use<> {
        let way = match &input {
            Input::Peer(..)
            | Input::Gone(_)
            | Input::Persisted(_)
            | Input::Offer(_)
            | Input::MoveLeader(_)
            | Input::Leave(_) => &self.ways.urgent,
            Input::Propose(command, _) if command.is_renewal() => &self.ways.renewals,
            _ => &self.ways.clients,
        };
        match way.try_send(input) {
            Ok(()) => Either::Left(ready(Ok(()))),
            Err(TrySendError::Closed(_)) => Either::Left(ready(Err(Refused::Stopping))),
            Err(TrySendError::Full(input)) => {
                let way = way.clone();
                Either::Right(Box::pin(async move { way.send(input).await.map_err(|_| Refused::Stopping) }))
            }
        }
    }

    /// Who leads, and whenever that changes.
    pub(crate) fn roles(&self) -> watch::Receiver<Role> {
        self.roles.clone()
    }

    /// Who this is.
    pub(crate) fn member(&self) -> MemberId {
        self.member
    }

    /// The header of an answer that saw this revision.
    pub(crate) fn header(&self, revision: Revision) -> ResponseHeader {
        ResponseHeader {
            cluster_id: self.cluster,
            member_id: self.member.0,
            revision: wire(revision),
            raft_term: self.roles.borrow().term,
        }
    }
}

/// A revision as etcd's messages have it.
pub(crate) fn wire(revision: Revision) -> i64 {
    i64::try_from(revision.0).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use habemus_replica::PeerMessage;
    use habemus_store::SessionId;

    use super::*;

    #[tokio::test]
    async fn a_flood_of_requests_holds_up_neither_members_nor_renewals() {
        let ((clients, _clients), (renewals, _renewals), (urgent, _urgent)) =
            (mpsc::channel(1), mpsc::channel(1), mpsc::channel(4));
        let (_roles, role) = watch::channel(Role { term: 1, leader: None, leads: false });
        let handle = Handle::new(Ways { clients, renewals, urgent }, role, 1, MemberId(1));
        let put = || Command::Put(habemus_store::Put::new("a", "b"));
        let propose = |command| Input::Propose(command, oneshot::channel().0);
        assert!(handle.tell(propose(put())).await.is_ok(), "there is room for one");
        let flood = tokio::time::timeout(Duration::from_millis(10), handle.tell(propose(put())));
        assert!(flood.await.is_err(), "and for no more");
        let renewal = Command::RenewSessions(vec![SessionId(1)]);
        let renewal = propose(Command::As(Author::Member, renewal.into()));
        let said = PeerMessage::Forward { term: 1, requests: Vec::new() };
        let member = MemberId(2);
        let urgent =
            [Input::Peer(member, said), Input::Gone(member), Input::Persisted(1), Input::MoveLeader(member)];
        for input in urgent.into_iter().chain([renewal]) {
            let told = tokio::time::timeout(Duration::from_secs(30), handle.tell(input)).await;
            assert!(told.is_ok_and(|told| told.is_ok()), "it has a way of its own");
        }
    }
}
