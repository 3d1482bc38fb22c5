//! Sessions: for how long the service believes that this program is there.

use std::sync::Arc;
use std::time::Duration;

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
        let seconds = i64::try_from(ttl.as_secs()).unwrap_or(i64::MAX).max(1);
        // If nobody says what came of it, a second one does no harm: the first one ends by itself.
        let (sent, granted) = client
            .retried(|| async {
                let sent = clock::now();
                let request = rpc::LeaseGrantRequest { ttl: seconds, id: 0 };
                Ok((sent, client.leases().lease_grant(request).await?.into_inner()))
            })
            .await?;
        let ttl = Duration::from_secs(u64::try_from(granted.ttl).unwrap_or_default());
        let renewal = Renewal::new(sent, ttl);
        let (tell, valid) = watch::channel(Some(renewal.valid_until()));
        let renewing = tokio::spawn(renew(client.clone(), granted.id, renewal, tell)).abort_handle();
        Ok(Session(Arc::new(Inner { client, id: granted.id, ttl, valid, renewing })))
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
async fn renew(client: Client, id: i64, mut renewal: Renewal, tell: watch::Sender<Option<Duration>>) {
    let mut pause = renewal.pause();
    loop {
        tokio::time::sleep(pause).await;
        let sent = clock::now();
        let renewed = tokio::time::timeout(renewal.patience(sent), renew_once(&client, id)).await;
        pause = match renewed {
            Ok(Ok(0)) => {
                tell.send_replace(None);
                return;
            }
            Ok(Ok(seconds)) => {
                renewal.renewed(sent, Duration::from_secs(seconds));
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

async fn renew_once(client: &Client, id: i64) -> Result<u64, ClientError> {
    let request = tokio_stream::once(rpc::LeaseKeepAliveRequest { id });
    client.authenticate().await?;
    let asked = async { client.leases().lease_keep_alive(request).await?.into_inner().message().await };
    let answer = asked.await.map_err(|status: tonic::Status| client.noticed(status.into()))?;
    let answer = answer.ok_or(ClientError::Nonsense("a renewal without an answer"))?;
    Ok(u64::try_from(answer.ttl).unwrap_or_default())
}
