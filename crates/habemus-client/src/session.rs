//! Sessions: for how long the service believes that this program is there.

use std::sync::Arc;
use std::time::Duration;

use habemus_api::v1;
use habemus_api::v1::sessions_client::SessionsClient;
use habemus_etcd::etcdserverpb as rpc;
use habemus_store::Renewal;
use tokio::sync::watch;
use tokio::task::AbortHandle;

use crate::client::Client;
use crate::clock;
use crate::error::ClientError;

/// A session that is renewed in the background for as long as somebody has it, or a lock by it. Whoever wants
/// others to be inside at once [closes](Session::close) it; otherwise it ends when its time is over.
#[derive(Clone, Debug)]
pub struct Session(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    client: Client,
    id: i64,
    ttl: Duration,
    valid: watch::Receiver<Option<Duration>>,
    renewing: AbortHandle,
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.renewing.abort();
    }
}

impl Session {
    pub(crate) async fn open(client: Client, ttl: Duration) -> Result<Session, ClientError> {
        let counts = if ttl.subsec_nanos() == 0 { Counts::Seconds } else { Counts::Milliseconds };
        // If nobody says what came of it, a second one does no harm: the first one ends by itself.
        let (sent, (id, ttl)) = client
            .retried(|| async {
                let sent = clock::now();
                Ok((sent, counts.open(&client, ttl).await?))
            })
            .await?;
        let renewal = Renewal::new(sent, ttl);
        let (tell, valid) = watch::channel(Some(renewal.valid_until()));
        let renewing = tokio::spawn(renew(client.clone(), counts, id, renewal, tell)).abort_handle();
        Ok(Session(Arc::new(Inner { client, id, ttl, valid, renewing })))
    }

    /// Its number; etcd's tools write it in hexadecimal digits.
    pub fn id(&self) -> i64 {
        self.0.id
    }

    /// How long it lasts without being renewed.
    pub fn ttl(&self) -> Duration {
        self.0.ttl
    }

    /// Until when it is surely there, by [`now`](crate::now); `None` if it is not.
    pub fn valid_until(&self) -> Option<Duration> {
        self.0.valid.borrow().filter(|until| *until > clock::now())
    }

    /// Waits until it is lost, or may be: from then on somebody else may hold what was held by it.
    pub async fn lost(&self) {
        let mut valid = self.0.valid.clone();
        loop {
            let Some(until) = *valid.borrow_and_update() else { return };
            tokio::select! {
                () = clock::until(until) => {
                    // It may have been renewed at the last moment.
                    if self.valid_until().is_none() {
                        return;
                    }
                }
                changed = valid.changed() => if changed.is_err() { return },
            }
        }
    }

    /// Waits until it is valid for longer than it is now, or lost; says until when.
    pub async fn renewed(&self) -> Option<Duration> {
        let mut valid = self.0.valid.clone();
        valid.mark_unchanged();
        tokio::select! {
            () = self.lost() => None,
            // If nobody renews it any more, it is lost in the end.
            Ok(()) = valid.changed() => self.valid_until(),
        }
    }

    /// Ends it: whatever is held by it is free at once.
    ///
    /// # Errors
    /// If the service refuses; then it ends when its time is over.
    pub async fn close(&self) -> Result<(), ClientError> {
        self.0.renewing.abort();
        let request = rpc::LeaseRevokeRequest { id: self.id() };
        let closed =
            self.client().retried(|| async { Ok(self.client().leases().lease_revoke(request).await?) });
        match closed.await {
            // It has ended already.
            Err(ClientError::Refused(status)) if status.code() == tonic::Code::NotFound => Ok(()),
            other => other.map(drop),
        }
    }

    pub(crate) fn client(&self) -> &Client {
        &self.0.client
    }
}

/// Renews a session until it has ended or nobody wants it.
async fn renew(
    client: Client,
    counts: Counts,
    id: i64,
    mut renewal: Renewal,
    tell: watch::Sender<Option<Duration>>,
) {
    let mut pause = renewal.pause();
    loop {
        tokio::time::sleep(pause).await;
        let sent = clock::now();
        let renewed = tokio::time::timeout(renewal.patience(sent), counts.renew(&client, id)).await;
        pause = match renewed {
            Ok(Ok(Duration::ZERO)) => {
                tell.send_replace(None);
                return;
            }
            Ok(Ok(ttl)) => {
                renewal.renewed(sent, ttl);
                tell.send_replace(Some(renewal.valid_until()));
                renewal.pause()
            }
            _ if renewal.may_be_over(clock::now()) => {
                tell.send_replace(None);
                return;
            }
            _ => renewal.pause_after_failure(),
        };
    }
}

/// In what a session is counted: etcd's interface has seconds, habemus.v1 has milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Counts {
    Seconds,
    Milliseconds,
}

impl Counts {
    /// Opens a session; says which, and how long it lasts.
    async fn open(self, client: &Client, ttl: Duration) -> Result<(i64, Duration), ClientError> {
        match self {
            Counts::Seconds => {
                let ttl = i64::try_from(ttl.as_secs()).unwrap_or(i64::MAX).max(1);
                let request = rpc::LeaseGrantRequest { ttl, id: 0 };
                let granted = client.leases().lease_grant(request).await?.into_inner();
                Ok((granted.id, Duration::from_secs(u64::try_from(granted.ttl).unwrap_or_default())))
            }
            Counts::Milliseconds => {
                let ttl_ms = u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX);
                let asked = SessionsClient::new(client.channel()).open(v1::OpenSession { ttl_ms }).await;
                let opened = match asked {
                    Err(status) if status.code() == tonic::Code::Unimplemented => {
                        return Err(ClientError::WholeSeconds);
                    }
                    other => other?.into_inner(),
                };
                let id = u64::from_str_radix(&opened.session, 16)
                    .map_err(|_| ClientError::Nonsense("a session that is no number"))?;
                Ok((id.cast_signed(), Duration::from_millis(opened.ttl_ms)))
            }
        }
    }

    /// Renews a session; says how long it lasts, which is nothing if it has ended.
    async fn renew(self, client: &Client, id: i64) -> Result<Duration, ClientError> {
        match self {
            Counts::Seconds => renew_once(client, id).await.map(Duration::from_secs),
            Counts::Milliseconds => {
                let request = v1::NamedSession { session: format!("{id:x}") };
                match SessionsClient::new(client.channel()).renew(request).await {
                    Err(status) if status.code() == tonic::Code::NotFound => Ok(Duration::ZERO),
                    other => Ok(Duration::from_millis(other?.into_inner().ttl_ms)),
                }
            }
        }
    }
}

async fn renew_once(client: &Client, id: i64) -> Result<u64, ClientError> {
    let request = tokio_stream::once(rpc::LeaseKeepAliveRequest { id });
    client.authenticate().await?;
    let asked = async { client.leases().lease_keep_alive(request).await?.into_inner().message().await };
    let answer = asked.await.map_err(|status: tonic::Status| client.noticed(status.into()))?;
    let answer = answer.ok_or(ClientError::Nonsense("a renewal without an answer"))?;
    Ok(u64::try_from(answer.ttl).unwrap_or_default())
}
