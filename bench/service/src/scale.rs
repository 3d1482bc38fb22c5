//! Many of everything: sessions that are renewed, waiters in one queue, keys. Only ours is measured.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use habemus_etcd::etcdserverpb::kv_client::KvClient;
use habemus_etcd::etcdserverpb::lease_client::LeaseClient;
use habemus_etcd::etcdserverpb::request_op::Request as Op;
use habemus_etcd::etcdserverpb::{
    LeaseGrantRequest, LeaseKeepAliveRequest, LeaseLeasesRequest, PutRequest, RangeRequest, RequestOp,
    TxnRequest,
};
use habemus_etcd::v3lockpb::lock_client::LockClient;
use habemus_etcd::v3lockpb::{LockRequest, UnlockRequest};
use tokio::task::JoinSet;
use tokio_stream::StreamExt;
use tonic::transport::Channel;

use crate::cluster::{Cluster, Kind};
use crate::idle::costs;
use crate::table::{Goal, Table};
use crate::{Effort, Outcome};

/// So many clients share the work.
const CLIENTS: usize = 48;

/// A leader may change under a load that is more than the machine can do: whoever is refused asks again.
async fn again<T, F: Future<Output = Result<T, tonic::Status>>>(act: impl Fn() -> F) -> Outcome<T> {
    let begin = Instant::now();
    loop {
        match act().await {
            Err(status) if status.code() == tonic::Code::Unavailable && begin.elapsed().as_secs() < 30 => {}
            other => return Ok(other?),
        }
    }
}

fn peak(cluster: &Cluster) -> Outcome<f64> {
    let mut peak: f64 = 0.0;
    for member in &cluster.members {
        peak = peak.max(costs(member.pid().ok_or("it has ended")?)?.0);
    }
    Ok(peak)
}

async fn grant(channel: Channel, count: usize) -> Outcome<Vec<i64>> {
    let client = LeaseClient::new(channel);
    let mut ids = Vec::new();
    for _ in 0..count {
        let request = LeaseGrantRequest { ttl: 600, id: 0 };
        let granted = again(|| {
            let mut client = client.clone();
            async move { client.lease_grant(request).await }
        })
        .await?;
        ids.push(granted.into_inner().id);
    }
    Ok(ids)
}

async fn grants(cluster: &Cluster, count: usize) -> Outcome<Vec<Vec<i64>>> {
    let mut all = JoinSet::new();
    for number in 0..CLIENTS {
        all.spawn(grant(cluster.channel(number).await?, count / CLIENTS));
    }
    let mut ids = Vec::new();
    while let Some(some) = all.join_next().await {
        ids.push(some??);
    }
    Ok(ids)
}

async fn renew(channel: Channel, ids: Vec<i64>) -> Outcome<usize> {
    let count = ids.len();
    let requests = tokio_stream::iter(ids.into_iter().map(|id| LeaseKeepAliveRequest { id }));
    let answers = LeaseClient::new(channel).lease_keep_alive(requests.chain(tokio_stream::pending())).await?;
    let mut answers = answers.into_inner();
    for _ in 0..count {
        let answer = answers.next().await.ok_or("the stream has ended")??;
        if answer.ttl <= 0 {
            return Err("a session has ended".into());
        }
    }
    Ok(count)
}

async fn renewed_sessions(cluster: &Cluster, count: usize, table: &mut Table) -> Outcome<()> {
    let before = peak(cluster)?;
    let ids = grants(cluster, count).await?;
    let bytes = (peak(cluster)? - before) * 1024.0 * 1024.0 / count as f64;
    table.add(&cluster.kind, "memory of a session, of 100,000", "bytes", Goal::Within(1024.0), bytes);
    let begin = Instant::now();
    let mut all = JoinSet::new();
    for (number, ids) in ids.into_iter().enumerate() {
        let channel = cluster.channel(number).await?;
        all.spawn(async move {
            let begin = Instant::now();
            loop {
                match renew(channel.clone(), ids.clone()).await {
                    Err(why) if begin.elapsed().as_secs() >= 30 => return Err(why),
                    Err(_) => {}
                    renewed => return renewed,
                }
            }
        });
    }
    let mut renewed = 0;
    while let Some(some) = all.join_next().await {
        renewed += some??;
    }
    let seconds = begin.elapsed().as_secs_f64() * count as f64 / renewed as f64;
    table.add(&cluster.kind, "all of 100,000 sessions renewed once", "s", Goal::Within(10.0), seconds);
    let mut client = LeaseClient::new(cluster.channel(0).await?).max_decoding_message_size(1 << 26);
    let alive = client.lease_leases(LeaseLeasesRequest {}).await?.into_inner().leases.len();
    if alive < renewed {
        return Err(format!("{alive} of {renewed} sessions are left").into());
    }
    Ok(())
}

/// How long it takes from an unlock to the next holder, with so many who wait: the median of some.
async fn hand_over(cluster: &Cluster, count: usize, turns: usize) -> Outcome<(f64, f64)> {
    let before = peak(cluster)?;
    let name = Bytes::from(format!("queue-{count}"));
    let ids: Vec<i64> = grants(cluster, count.next_multiple_of(CLIENTS)).await?.concat();
    let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
    let mut channels = Vec::new();
    for number in 0..24 {
        channels.push(cluster.channel(number).await?);
    }
    let mut waiting = JoinSet::new();
    for (number, lease) in ids.into_iter().take(count).enumerate() {
        let mut client = LockClient::new(channels[number % channels.len()].clone());
        let (tell, name) = (tell.clone(), name.clone());
        waiting.spawn(async move {
            if let Ok(held) = client.lock(LockRequest { name, lease }).await {
                // Nobody listens any more when it is over.
                drop(tell.send((Instant::now(), held.into_inner().key)));
            }
        });
    }
    let mut kv = KvClient::new(cluster.channel(0).await?);
    let end = Bytes::from([&name[..], b"0"].concat());
    let range = RangeRequest { key: name.clone(), range_end: end, count_only: true, ..Default::default() };
    while kv.range(range.clone()).await?.into_inner().count < count as i64 {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let bytes = (peak(cluster)? - before) * 1024.0 * 1024.0 / count as f64;
    let mut client = LockClient::new(cluster.channel(0).await?);
    let (_, mut key) = told.recv().await.ok_or("nobody is inside")?;
    let mut took = Vec::new();
    for _ in 0..turns {
        let begin = Instant::now();
        client.unlock(UnlockRequest { key }).await?;
        let (at, next) = told.recv().await.ok_or("nobody follows")?;
        took.push(at.saturating_duration_since(begin).as_secs_f64() * 1e3);
        key = next;
    }
    took.sort_by(f64::total_cmp);
    waiting.abort_all();
    Ok((took[took.len() / 2], bytes))
}

async fn write_keys(channel: Channel, first: usize, count: usize, longest: Arc<AtomicU64>) -> Outcome<()> {
    let client = KvClient::new(channel);
    let put = |number: usize| {
        let key = format!("many/{number:09}").into();
        let put = PutRequest { key, value: "0123456789".into(), ..Default::default() };
        RequestOp { request: Some(Op::RequestPut(put)) }
    };
    let numbers: Vec<usize> = (first..first + count).collect();
    for some in numbers.chunks(100) {
        let request = TxnRequest { success: some.iter().map(|it| put(*it)).collect(), ..Default::default() };
        let begin = Instant::now();
        again(|| {
            let (mut client, request) = (client.clone(), request.clone());
            async move { client.txn(request).await }
        })
        .await?;
        longest.fetch_max(begin.elapsed().as_millis() as u64, Ordering::Relaxed);
    }
    Ok(())
}

async fn many_keys(cluster: &Cluster, count: usize, table: &mut Table) -> Outcome<()> {
    let longest = Arc::new(AtomicU64::new(0));
    let mut all = JoinSet::new();
    let share = count / 10;
    for number in 0..10 {
        let channel = cluster.channel(number).await?;
        all.spawn(write_keys(channel, number * share, share, Arc::clone(&longest)));
    }
    while let Some(some) = all.join_next().await {
        some??;
    }
    let range = RangeRequest {
        key: "many/".into(),
        range_end: "many0".into(),
        count_only: true,
        ..Default::default()
    };
    let there = KvClient::new(cluster.channel(0).await?).range(range).await?.into_inner().count;
    if there != count as i64 {
        return Err(format!("{there} of {count} keys are there").into());
    }
    let kind = &cluster.kind;
    table.add(kind, "a member with 1,000,000 keys", "MiB", Goal::Within(1024.0), peak(cluster)?);
    let longest = longest.load(Ordering::Relaxed) as f64;
    table.add(kind, "longest wait while they were written", "ms", Goal::Shown, longest);
    Ok(())
}

/// A look takes a hundredth of everything.
fn part(effort: Effort) -> usize {
    if effort.judges { 1 } else { 100 }
}

pub(crate) async fn sessions(kind: &Kind, effort: Effort, table: &mut Table) -> Outcome<()> {
    eprintln!("many sessions");
    let cluster = Cluster::start(kind, 3).await?;
    renewed_sessions(&cluster, 100_000 / part(effort) / CLIENTS * CLIENTS, table).await
}

pub(crate) async fn waiters(kind: &Kind, effort: Effort, table: &mut Table) -> Outcome<()> {
    eprintln!("many waiters");
    let cluster = Cluster::start(kind, 3).await?;
    let (few, _) = hand_over(&cluster, 48, 40).await?;
    let (many, bytes) = hand_over(&cluster, 10_000 / part(effort), 40).await?;
    table.add(kind, "memory of a waiter, of 10,000", "bytes", Goal::Within(1024.0), bytes);
    table.add(kind, "hand-over with 10,000 waiters over one with 48", "times", Goal::Within(1.5), many / few);
    Ok(())
}

pub(crate) async fn keys(kind: &Kind, effort: Effort, table: &mut Table) -> Outcome<()> {
    eprintln!("many keys");
    many_keys(&Cluster::start(kind, 3).await?, 1_000_000 / part(effort), table).await
}
