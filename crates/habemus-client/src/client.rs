//! The way to the service.

use std::future::Future;
use std::time::Duration;

use bytes::Bytes;
use habemus_etcd::etcdserverpb as rpc;
use habemus_etcd::etcdserverpb::kv_client::KvClient;
use habemus_etcd::etcdserverpb::lease_client::LeaseClient;
use habemus_etcd::etcdserverpb::maintenance_client::MaintenanceClient;
use habemus_etcd::etcdserverpb::range_request::{SortOrder, SortTarget};
use habemus_etcd::etcdserverpb::watch_client::WatchClient;
use habemus_etcd::etcdserverpb::watch_request::RequestUnion;
use habemus_etcd::mvccpb::KeyValue;
use tokio_stream::StreamExt;
use tonic::Streaming;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::Channel;

use crate::credentials::{Badge, Credentials};
use crate::error::ClientError;
use crate::session::Session;

/// How long a member may take to connect, and to show that it is still there.
const PATIENCE: Duration = Duration::from_secs(2);

/// How long a request is tried again while no member answers.
const ATTEMPTS: u32 = 40;
const PAUSE: Duration = Duration::from_millis(50);

/// The way to the service: cheap to clone, and connected when it is first used.
#[derive(Clone, Debug)]
pub struct Client {
    channel: Channel,
    badge: Badge,
}

/// A connection that shows who the client is.
pub type Connection = InterceptedService<Channel, Badge>;

/// Who leads an election.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leader {
    /// What it proclaims.
    pub value: Bytes,
    /// Its term: the fencing token.
    pub token: i64,
    /// Its session.
    pub session: i64,
}

/// Somebody in a queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The key with which it stands there.
    pub key: Bytes,
    /// What it says.
    pub value: Bytes,
    /// The fencing token.
    pub token: i64,
    /// With whose end it goes; 0 for a key that belongs to no session.
    pub session: i64,
}

/// What all keys of a queue begin with, and the first key behind them.
pub(crate) fn prefix(name: &[u8]) -> (Bytes, Bytes) {
    ([name, b"/"].concat().into(), [name, b"0"].concat().into())
}

fn place(kv: KeyValue) -> Place {
    Place { key: kv.key, value: kv.value, token: kv.create_revision, session: kv.lease }
}

impl Client {
    /// The way to a service whose members are at these addresses: `127.0.0.1:2379` or
    /// `http://127.0.0.1:2379`. Whichever of them answers is used.
    ///
    /// # Errors
    /// If there is none, or one is no address. Whether anybody answers shows later.
    pub fn connect<A: AsRef<str>>(addresses: impl IntoIterator<Item = A>) -> Result<Client, ClientError> {
        Client::connect_as(addresses, &Credentials::default())
    }

    /// As [`connect`](Client::connect), with certificates or a password. If there are certificates, an
    /// address without a scheme is one with TLS.
    ///
    /// # Errors
    /// As there, and if the certificates are no good.
    pub fn connect_as<A: AsRef<str>>(
        addresses: impl IntoIterator<Item = A>,
        credentials: &Credentials,
    ) -> Result<Client, ClientError> {
        let mut endpoints = Vec::new();
        for address in addresses {
            endpoints.push(
                credentials
                    .endpoint(address.as_ref())?
                    .connect_timeout(PATIENCE)
                    .tcp_nodelay(true)
                    .http2_keep_alive_interval(PATIENCE)
                    .keep_alive_timeout(PATIENCE)
                    .keep_alive_while_idle(true),
            );
        }
        let channel = match endpoints.as_slice() {
            [] => return Err(ClientError::NoAddress),
            [one] => one.connect_lazy(),
            _ => Channel::balance_list(endpoints.into_iter()),
        };
        Ok(Client { channel, badge: Badge::new(credentials) })
    }

    /// The connection, for calls of etcd's interface (the crate `habemus-etcd`) that have no name here.
    /// Whoever has a password calls [`authenticate`](Client::authenticate) first.
    pub fn channel(&self) -> Connection {
        InterceptedService::new(self.channel.clone(), self.badge.clone())
    }

    /// Gets a token for the user's password, unless there is one or no user was given. What is called by name
    /// here does so by itself.
    ///
    /// # Errors
    /// If the service refuses.
    pub async fn authenticate(&self) -> Result<(), ClientError> {
        self.badge.get(self.channel.clone()).await
    }

    /// Whether it may help to try again because the token had expired.
    fn has_expired(&self, error: &ClientError) -> bool {
        self.badge.is_refused(error)
    }

    /// Opens a session that is renewed in the background for as long as it is kept: of whole seconds on
    /// habemus and on etcd, or of any number of milliseconds from 100 on, which etcd does not have.
    ///
    /// # Errors
    /// If the service refuses.
    pub async fn session(&self, ttl: Duration) -> Result<Session, ClientError> {
        Session::open(self.clone(), ttl).await
    }

    /// Everybody in the queue of a lock or an election, in order.
    ///
    /// # Errors
    /// If the service refuses.
    pub async fn queue(&self, name: &str) -> Result<Vec<Place>, ClientError> {
        let (key, range_end) = prefix(name.as_bytes());
        let request = rpc::RangeRequest {
            key,
            range_end,
            sort_target: SortTarget::Create.into(),
            sort_order: SortOrder::Ascend.into(),
            ..Default::default()
        };
        Ok(self.range(request).await?.kvs.into_iter().map(place).collect())
    }

    /// Every key that belongs to a session: whoever holds or waits for anything.
    ///
    /// # Errors
    /// If the service refuses.
    pub async fn standing(&self) -> Result<Vec<Place>, ClientError> {
        let all = Bytes::from_static(&[0]);
        let request = rpc::RangeRequest { key: all.clone(), range_end: all, ..Default::default() };
        let found = self.range(request).await?.kvs;
        let mut places: Vec<Place> = found.into_iter().filter(|kv| kv.lease != 0).map(place).collect();
        places.sort_by_key(|place| place.token);
        Ok(places)
    }

    /// Who leads an election; nobody, perhaps.
    ///
    /// # Errors
    /// If the service refuses.
    pub async fn leader(&self, name: &str) -> Result<Option<Leader>, ClientError> {
        let (leader, _) = self.leader_at(name).await?;
        Ok(leader)
    }

    async fn leader_at(&self, name: &str) -> Result<(Option<Leader>, i64), ClientError> {
        let (key, range_end) = prefix(name.as_bytes());
        let request = rpc::RangeRequest {
            key,
            range_end,
            limit: 1,
            sort_target: SortTarget::Create.into(),
            sort_order: SortOrder::Ascend.into(),
            ..Default::default()
        };
        let found = self.range(request).await?;
        let revision = found.header.map_or(0, |header| header.revision);
        let leader = found.kvs.into_iter().next();
        let leader =
            leader.map(|kv| Leader { value: kv.value, token: kv.create_revision, session: kv.lease });
        Ok((leader, revision))
    }

    /// Follows who leads an election.
    pub fn observe(&self, name: &str) -> Observation {
        Observation { client: self.clone(), name: name.to_owned(), last: None, watching: None }
    }

    /// Writes a key. If the connection breaks, it may be written twice.
    ///
    /// # Errors
    /// If the service refuses.
    pub async fn put(&self, key: impl Into<Bytes>, value: impl Into<Bytes>) -> Result<(), ClientError> {
        let request = rpc::PutRequest { key: key.into(), value: value.into(), ..Default::default() };
        self.retried(|| async { Ok(self.kv().put(request.clone()).await?) }).await.map(drop)
    }

    /// What a key is now, if it is there.
    ///
    /// # Errors
    /// If the service refuses.
    pub async fn get(&self, key: impl Into<Bytes>) -> Result<Option<Bytes>, ClientError> {
        let request = rpc::RangeRequest { key: key.into(), ..Default::default() };
        Ok(self.range(request).await?.kvs.into_iter().next().map(|kv| kv.value))
    }

    /// What the member that answers says of itself.
    ///
    /// # Errors
    /// If the service refuses.
    pub async fn status(&self) -> Result<rpc::StatusResponse, ClientError> {
        self.authenticate().await?;
        let mut client = MaintenanceClient::new(self.channel());
        Ok(client.status(rpc::StatusRequest {}).await?.into_inner())
    }

    pub(crate) fn kv(&self) -> KvClient<Connection> {
        KvClient::new(self.channel()).max_decoding_message_size(usize::MAX)
    }

    pub(crate) fn leases(&self) -> LeaseClient<Connection> {
        LeaseClient::new(self.channel())
    }

    pub(crate) async fn range(&self, request: rpc::RangeRequest) -> Result<rpc::RangeResponse, ClientError> {
        self.retried(|| async { Ok(self.kv().range(request.clone()).await?.into_inner()) }).await
    }

    /// Tries what may be done twice until some member answers.
    pub(crate) async fn retried<T, F: Future<Output = Result<T, ClientError>>>(
        &self,
        call: impl Fn() -> F,
    ) -> Result<T, ClientError> {
        let mut attempt = 1;
        loop {
            let answer = match self.authenticate().await {
                Ok(()) => call().await,
                Err(error) => Err(error),
            };
            match answer {
                Err(error) if (error.is_transient() || self.has_expired(&error)) && attempt < ATTEMPTS => {
                    attempt += 1;
                    tokio::time::sleep(PAUSE).await;
                }
                other => return other,
            }
        }
    }

    /// The same error; if it says so, the token has expired, and the next call gets another.
    pub(crate) fn noticed(&self, error: ClientError) -> ClientError {
        self.has_expired(&error);
        error
    }

    /// Watches keys from a revision on, until the connection breaks.
    pub(crate) async fn watch_once(
        &self,
        create: rpc::WatchCreateRequest,
    ) -> Result<Streaming<rpc::WatchResponse>, ClientError> {
        let request_union = Some(RequestUnion::CreateRequest(create));
        let requests = tokio_stream::iter([rpc::WatchRequest { request_union }]);
        let requests = requests.chain(tokio_stream::pending());
        self.authenticate().await?;
        let mut client = WatchClient::new(self.channel()).max_decoding_message_size(usize::MAX);
        match client.watch(requests).await {
            Ok(watching) => Ok(watching.into_inner()),
            Err(status) => Err(self.noticed(status.into())),
        }
    }
}

/// Follows who leads an election, through changes of the service's own leader and broken connections.
pub struct Observation {
    client: Client,
    name: String,
    last: Option<Option<Leader>>,
    watching: Option<Streaming<rpc::WatchResponse>>,
}

impl Observation {
    /// Waits until somebody else leads than was told last, or nobody does; at first it tells how it is.
    ///
    /// # Errors
    /// If the service refuses for longer than a moment.
    pub async fn next(&mut self) -> Result<Option<Leader>, ClientError> {
        loop {
            let (leader, revision) = self.client.leader_at(&self.name).await?;
            if self.last.as_ref() != Some(&leader) {
                self.last = Some(leader.clone());
                return Ok(leader);
            }
            if self.watching.is_none() {
                let (key, range_end) = prefix(self.name.as_bytes());
                let start_revision = revision + 1;
                let create = rpc::WatchCreateRequest { key, range_end, start_revision, ..Default::default() };
                self.watching = self.client.watch_once(create).await.ok();
            }
            self.wait().await;
        }
    }

    /// Waits until something has happened, or may have.
    async fn wait(&mut self) {
        while let Some(watching) = &mut self.watching {
            match watching.message().await {
                Ok(Some(told)) if told.canceled => self.watching = None,
                Ok(Some(told)) if !told.events.is_empty() => return,
                Ok(Some(_)) => {}
                Ok(None) | Err(_) => self.watching = None,
            }
        }
        tokio::time::sleep(PAUSE).await;
    }
}
