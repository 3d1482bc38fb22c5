//! Clients that write, read, swap, delete and watch keys, and write down what they were told.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use habemus_dst::{KeyAct, KeyCall, KeyResult};
use habemus_etcd::etcdserverpb as rpc;
use habemus_etcd::etcdserverpb::compare::{CompareResult, CompareTarget, TargetUnion};
use habemus_etcd::etcdserverpb::kv_client::KvClient;
use habemus_etcd::etcdserverpb::request_op::Request;
use habemus_etcd::etcdserverpb::watch_client::WatchClient;
use habemus_etcd::etcdserverpb::watch_request::RequestUnion;
use habemus_etcd::mvccpb;
use habemus_store::{Event, KeyValue, Revised, Revision, SessionId};
use rand_pcg::Pcg32;
use rand_pcg::rand_core::Rng;
use tokio::task::JoinHandle;
use tokio_stream::StreamExt;
use tonic::transport::Channel;

use crate::cluster::Cluster;
use crate::record::Record;
use crate::{Outcome, locks};

const KEY_CLIENTS: usize = 4;
const KEYS: u32 = 4;
/// A call that takes longer is given up: nobody knows what becomes of it.
const PATIENCE: Duration = Duration::from_millis(1000);

/// How much clients do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pace {
    /// Next to no rest.
    Quick,
    /// Ten times the rest, so that what must be judged in the end does not fill the memory.
    Slow,
}

impl Pace {
    /// Waits for so long, or longer.
    pub(crate) async fn rest(self, millis: u64) {
        let times = if self == Pace::Slow { 10 } else { 1 };
        tokio::time::sleep(Duration::from_millis(millis * times)).await;
    }
}

/// All clients, while they are at work.
pub(crate) struct Workers {
    tasks: Vec<JoinHandle<()>>,
    record: Arc<Record>,
}

impl Workers {
    /// Lets everybody end what it is at.
    pub(crate) async fn stop(self) {
        self.record.stop();
        for task in self.tasks {
            // One that hangs has nothing more to say.
            drop(tokio::time::timeout(Duration::from_secs(20), task).await);
        }
    }
}

/// Lets all clients begin.
pub(crate) fn start(cluster: &Cluster, record: &Arc<Record>, pace: Pace) -> Outcome<Workers> {
    let mut tasks = Vec::new();
    for client in 0..KEY_CLIENTS {
        let worker = KeyWorker::new(cluster, record, client, pace)?;
        tasks.push(tokio::spawn(worker.run()));
    }
    tasks.push(tokio::spawn(probe(cluster.ways()?, Arc::clone(record), pace)));
    tasks.push(tokio::spawn(watch(cluster.ways()?, Arc::clone(record))));
    for (index, name) in ["orders", "orders", "orders", "leader", "leader"].into_iter().enumerate() {
        let (addresses, credentials) = (cluster.addresses(), cluster.door.credentials.clone());
        let hold = locks::hold(addresses, credentials, name, 100 + index, Arc::clone(record), pace);
        tasks.push(tokio::spawn(hold));
    }
    Ok(Workers { tasks, record: Arc::clone(record) })
}

/// A client of keys.
struct KeyWorker {
    client: usize,
    record: Arc<Record>,
    pace: Pace,
    ways: Vec<Channel>,
    way: usize,
    random: Pcg32,
    known: BTreeMap<Bytes, Option<Bytes>>,
    written: u64,
}

fn revision(header: Option<&rpc::ResponseHeader>) -> Revision {
    Revision(header.map_or(0, |header| u64::try_from(header.revision).unwrap_or_default()))
}

impl KeyWorker {
    fn new(cluster: &Cluster, record: &Arc<Record>, client: usize, pace: Pace) -> Outcome<KeyWorker> {
        let random = Pcg32::new(client as u64, 0x51e6e);
        let (record, ways) = (Arc::clone(record), cluster.ways()?);
        let known = BTreeMap::new();
        Ok(KeyWorker { client, record, pace, ways, way: client, random, known, written: 0 })
    }

    async fn run(mut self) {
        while !self.record.is_stopping() {
            let act = self.draw();
            let invoked = self.record.now();
            let kv = KvClient::new(self.ways[self.way % self.ways.len()].clone());
            let answered = tokio::time::timeout(PATIENCE, call(kv, &act)).await;
            let result = match answered {
                Ok(Ok(result)) => result,
                // Some errors mean that nothing was done; none is believed.
                Ok(Err(_)) | Err(_) => {
                    self.way += 1;
                    tokio::time::sleep(Duration::from_millis(20)).await;
                    KeyResult::Unknown
                }
            };
            self.learn(&act, &result);
            let responded = (result != KeyResult::Unknown).then(|| self.record.now());
            let call = KeyCall { client: self.client, act, invoked, responded, result };
            self.record.note(|parts| parts.calls.push(call));
            self.pace.rest(u64::from(self.random.next_u32() % 10)).await;
        }
    }

    fn learn(&mut self, act: &KeyAct, result: &KeyResult) {
        let known = match (act, result) {
            (KeyAct::Get { key }, KeyResult::Got { value, .. }) => Some((key, value.clone())),
            (KeyAct::Put { key, value }, KeyResult::Put { .. })
            | (KeyAct::Swap { key, value, .. }, KeyResult::Swapped { succeeded: true, .. }) => {
                Some((key, Some(value.clone())))
            }
            (KeyAct::Delete { key }, KeyResult::Deleted { .. }) => Some((key, None)),
            _ => None,
        };
        if let Some((key, value)) = known {
            self.known.insert(key.clone(), value);
        }
    }

    fn draw(&mut self) -> KeyAct {
        let key = Bytes::from(format!("k{}", self.random.next_u32() % KEYS));
        self.written += 1;
        let value = Bytes::from(format!("{}.{}", self.client, self.written));
        match self.random.next_u32() % 10 {
            0..4 => KeyAct::Put { key, value },
            4..7 => KeyAct::Get { key },
            7..9 => {
                let expected = self.known.get(&key).cloned().flatten();
                KeyAct::Swap { key, expected, value }
            }
            _ => KeyAct::Delete { key },
        }
    }
}

async fn call(mut kv: KvClient<Channel>, act: &KeyAct) -> Result<KeyResult, tonic::Status> {
    Ok(match act {
        KeyAct::Put { key, value } => {
            let (key, value) = (key.clone(), value.clone());
            let request = rpc::PutRequest { key, value, prev_kv: true, ..Default::default() };
            let answer = kv.put(request).await?.into_inner();
            let before = answer.prev_kv.map(|before| before.value);
            KeyResult::Put { revision: revision(answer.header.as_ref()), before }
        }
        KeyAct::Delete { key } => {
            let request = rpc::DeleteRangeRequest { key: key.clone(), prev_kv: true, ..Default::default() };
            let answer = kv.delete_range(request).await?.into_inner();
            let before = answer.prev_kvs.into_iter().next().map(|before| before.value);
            KeyResult::Deleted { revision: revision(answer.header.as_ref()), before }
        }
        KeyAct::Swap { key, expected, value } => {
            let compare = rpc::Compare {
                result: CompareResult::Equal.into(),
                key: key.clone(),
                target: if expected.is_some() { CompareTarget::Value } else { CompareTarget::Mod }.into(),
                target_union: Some(match expected {
                    Some(value) => TargetUnion::Value(value.clone()),
                    None => TargetUnion::ModRevision(0),
                }),
                ..Default::default()
            };
            let put = rpc::PutRequest { key: key.clone(), value: value.clone(), ..Default::default() };
            let success = vec![rpc::RequestOp { request: Some(Request::RequestPut(put)) }];
            let request = rpc::TxnRequest { compare: vec![compare], success, failure: Vec::new() };
            let answer = kv.txn(request).await?.into_inner();
            KeyResult::Swapped { revision: revision(answer.header.as_ref()), succeeded: answer.succeeded }
        }
        other => {
            let key = match other {
                KeyAct::Get { key } => key.clone(),
                _ => return Err(tonic::Status::unimplemented("these clients do not do that")),
            };
            let answer = kv.range(rpc::RangeRequest { key, ..Default::default() }).await?.into_inner();
            let value = answer.kvs.into_iter().next().map(|found| found.value);
            KeyResult::Got { revision: revision(answer.header.as_ref()), value }
        }
    })
}

/// Writes all the time, through whichever member answers, and notes when: that is how availability is
/// measured.
async fn probe(ways: Vec<Channel>, record: Arc<Record>, pace: Pace) {
    let (mut way, mut number) = (0, 0_u64);
    while !record.is_stopping() {
        number += 1;
        let begin = record.now();
        let value = Bytes::from(number.to_string());
        let request = rpc::PutRequest { key: "probe".into(), value, ..Default::default() };
        let mut kv = KvClient::new(ways[way % ways.len()].clone());
        match tokio::time::timeout(Duration::from_millis(200), kv.put(request)).await {
            Ok(Ok(_)) => record.note(|parts| parts.probes.push((record.now(), record.now() - begin))),
            Ok(Err(_)) | Err(_) => way += 1,
        }
        pace.rest(5).await;
    }
}

fn creation(first: i64) -> rpc::WatchRequest {
    let all = Bytes::from_static(&[0]);
    let create = rpc::WatchCreateRequest {
        key: all.clone(),
        range_end: all,
        start_revision: first,
        prev_kv: true,
        ..Default::default()
    };
    rpc::WatchRequest { request_union: Some(RequestUnion::CreateRequest(create)) }
}

/// Watches everything through one member after the other: each revision once, and in order.
async fn watch(ways: Vec<Channel>, record: Arc<Record>) {
    let (mut way, mut next) = (0, 2_i64);
    while !record.is_stopping() {
        way += 1;
        let requests = tokio_stream::iter([creation(next)]).chain(tokio_stream::pending());
        let mut client =
            WatchClient::new(ways[way % ways.len()].clone()).max_decoding_message_size(usize::MAX);
        let asked = tokio::time::timeout(PATIENCE, client.watch(requests)).await;
        let Ok(Ok(answer)) = asked else {
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let mut stream = answer.into_inner();
        // After a while another member is asked, whatever this one says.
        for _ in 0..500 {
            let Ok(Ok(Some(told))) = tokio::time::timeout(PATIENCE, stream.message()).await else { break };
            for event in told.events.iter().filter_map(|event| event.kv.as_ref()) {
                let at = event.mod_revision;
                if at < next - 1 || at > next {
                    let text = format!("a watch that waits for {next} was told of {at}");
                    record.note(|parts| parts.watch.push(text));
                }
                next = at + 1;
                record.note(|parts| parts.watched += 1);
            }
        }
    }
}

fn key_value(kv: &mvccpb::KeyValue) -> Arc<KeyValue> {
    let number = |number: i64| u64::try_from(number).unwrap_or_default();
    Arc::new(KeyValue {
        key: kv.key.clone(),
        value: kv.value.clone(),
        created: Revision(number(kv.create_revision)),
        modified: Revision(number(kv.mod_revision)),
        version: number(kv.version),
        session: (kv.lease != 0).then_some(SessionId(kv.lease)),
    })
}

/// Everything that ever happened, as the members remember it: as the first tells who answers.
pub(crate) async fn all_revisions(cluster: &Cluster) -> Outcome<BTreeMap<Revision, Revised>> {
    let mut told = Err("there is no member".into());
    for way in cluster.ways()? {
        told = all_revisions_by(way).await;
        if told.is_ok() {
            break;
        }
    }
    told
}

async fn all_revisions_by(way: Channel) -> Outcome<BTreeMap<Revision, Revised>> {
    let mut kv = KvClient::new(way.clone());
    let last = kv.range(rpc::RangeRequest { key: "k0".into(), ..Default::default() }).await?;
    let last = revision(last.into_inner().header.as_ref());
    let requests = tokio_stream::iter([creation(2)]).chain(tokio_stream::pending());
    let mut client = WatchClient::new(way).max_decoding_message_size(usize::MAX);
    let mut stream = client.watch(requests).await?.into_inner();
    let mut all: BTreeMap<Revision, Vec<Event>> = BTreeMap::new();
    while all.keys().next_back().is_none_or(|known| *known < last) {
        let told = tokio::time::timeout(Duration::from_secs(30), stream.message()).await??;
        let told = told.ok_or("what happened is not told to its end")?;
        if told.canceled {
            return Err(format!("what happened is not known any more: {}", told.cancel_reason).into());
        }
        for event in &told.events {
            let Some(kv) = &event.kv else { continue };
            let deleted = event.r#type() == mvccpb::event::EventType::Delete;
            let now = (!deleted).then(|| key_value(kv));
            let before = event.prev_kv.as_ref().map(key_value);
            let at = Revision(u64::try_from(kv.mod_revision)?);
            all.entry(at).or_default().push(Event { key: kv.key.clone(), now, before });
        }
    }
    let revised =
        all.into_iter().map(|(revision, events)| (revision, Revised { revision, events: events.into() }));
    Ok(revised.collect())
}
