//! Locking and unlocking.

use bytes::Bytes;
use habemus_etcd::etcdserverpb::LeaseGrantRequest;
use habemus_etcd::etcdserverpb::lease_client::LeaseClient;
use habemus_etcd::v3lockpb::lock_client::LockClient;
use habemus_etcd::v3lockpb::{LockRequest, UnlockRequest};
use tonic::transport::Channel;

use crate::cluster::Cluster;
use crate::load::Load;
use crate::table::{Goal, Table};
use crate::{Effort, Outcome, load};

#[derive(Clone)]
struct Holder {
    client: LockClient<Channel>,
    name: Bytes,
    lease: i64,
}

async fn cycle(mut holder: Holder) -> Outcome<()> {
    let request = LockRequest { name: holder.name, lease: holder.lease };
    let key = holder.client.lock(request).await?.into_inner().key;
    holder.client.unlock(UnlockRequest { key }).await?;
    Ok(())
}

const OWN: &str = "64 clients, each its own lock: cycles";

/// How many cycles 64 clients make, each with a lock of its own.
pub(crate) async fn own(cluster: &Cluster, effort: Effort, table: &mut Table) -> Outcome<()> {
    let own = cycles(cluster, effort, 64, |number| format!("own-{number}")).await?;
    table.add(&cluster.kind, OWN, "/s", Goal::AtLeast(10.0), own.rate);
    Ok(())
}

/// What is reached of the limit.
pub(crate) fn beside_the_limit(table: &mut Table) {
    table.add_beside_limit(OWN, "the same, of one process with a sync for each batch", 0.5);
}

pub(crate) async fn measure(cluster: &Cluster, effort: Effort, table: &mut Table) -> Outcome<()> {
    let one = cycles(cluster, effort, 1, |_| "alone".to_owned()).await?;
    let millis = one.median.as_secs_f64() * 1e3;
    table.add(&cluster.kind, "one client, lock and unlock, median", "ms", Goal::UpTo(0.5), millis);
    own(cluster, effort, table).await?;
    let shared = cycles(cluster, effort, 64, |_| "shared".to_owned()).await?;
    table.add(&cluster.kind, "64 clients, one lock: cycles", "/s", Goal::AtLeast(5.0), shared.rate);
    Ok(())
}

async fn cycles(cluster: &Cluster, effort: Effort, count: usize, name: fn(usize) -> String) -> Outcome<Load> {
    let mut holders = Vec::new();
    for number in 0..count {
        let channel = cluster.channel(number).await?;
        let granted =
            LeaseClient::new(channel.clone()).lease_grant(LeaseGrantRequest { ttl: 600, id: 0 }).await?;
        let lease = granted.into_inner().id;
        holders.push(Holder { client: LockClient::new(channel), name: name(number).into(), lease });
    }
    load::run(holders, effort.time, cycle).await
}
