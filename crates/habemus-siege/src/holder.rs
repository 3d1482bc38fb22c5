//! A holder that stands still for longer than its session lasts, wakes, and writes: whether that comes
//! through, and what can keep it away. The holder is a process of its own, which is really stopped.

use std::process::Stdio;
use std::time::Duration;

use clap::ValueEnum;
use habemus_client::{Client, ClientError, Guard, Wait};
use habemus_etcd::etcdserverpb as rpc;
use habemus_etcd::etcdserverpb::kv_client::KvClient;
use habemus_etcd::etcdserverpb::lease_client::LeaseClient;
use habemus_etcd::v3lockpb::LockRequest;
use habemus_etcd::v3lockpb::lock_client::LockClient;
use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{ChildStdout, Command};
use tokio_stream::StreamExt;
use tokio_stream::wrappers::IntervalStream;

use crate::Outcome;
use crate::cluster::Cluster;
use crate::door::Door;
use crate::record::Record;

/// How long the session of the first holder lasts: the shortest that etcd has is two seconds.
const TTL: Duration = Duration::from_secs(2);
const LOCK: &str = "paused";
const RESOURCE: &str = "paused-resource";
/// However loaded the machine, this is long enough.
const LONG: Duration = Duration::from_secs(30);

/// How a holder goes about its lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Holder {
    /// By etcd's own lock service and lease, without looking back: it has the lock, so it writes.
    Plain,
    /// By habemus-client, looking at its own clock before it writes.
    Careful,
    /// By habemus-client, writing with its token, which the service compares.
    Fenced,
}

impl Holder {
    pub(crate) const ALL: [Holder; 3] = [Holder::Plain, Holder::Careful, Holder::Fenced];

    pub(crate) fn describe(self) -> &'static str {
        match self {
            Holder::Plain => "etcd's lock service, a lease kept alive, a plain write",
            Holder::Careful => "habemus-client, which looks at its clock before it writes",
            Holder::Fenced => "habemus-client, which writes with its token (`Guard::put`)",
        }
    }

    fn word(self) -> &'static str {
        match self {
            Holder::Plain => "plain",
            Holder::Careful => "careful",
            Holder::Fenced => "fenced",
        }
    }
}

/// What came of it, with times in microseconds of the record.
#[derive(Clone, Debug)]
pub(crate) struct Trial {
    pub(crate) holder: Holder,
    pub(crate) inside: u64,
    pub(crate) stopped: u64,
    /// The second holder is inside, and has written.
    pub(crate) second: u64,
    pub(crate) continued: u64,
    pub(crate) done: u64,
    /// What the first holder says of its late write.
    pub(crate) said: String,
    /// Whether the late write has overwritten what the second holder wrote.
    pub(crate) overwritten: bool,
}

/// Lets a holder of each kind stand still.
pub(crate) async fn try_all(cluster: &Cluster, record: &Record) -> Outcome<Vec<Trial>> {
    let mut trials = Vec::new();
    for holder in Holder::ALL {
        trials.push(tokio::time::timeout(LONG, attempt(cluster, record, holder)).await??);
    }
    Ok(trials)
}

async fn attempt(cluster: &Cluster, record: &Record, holder: Holder) -> Outcome<Trial> {
    let mut first = Command::new(std::env::current_exe()?);
    first.args(["--hold", holder.word(), "--at", &cluster.addresses().join(",")]);
    if let Some(certificates) = &cluster.certificates {
        first.arg("--showing").arg(certificates.of_clients());
    }
    let mut first = first.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true).spawn()?;
    let process = first.id().and_then(|id| Pid::from_raw(id.cast_signed())).ok_or("it has ended")?;
    let (Some(mut told), Some(says)) = (first.stdin.take(), first.stdout.take()) else {
        return Err("it has no pipes".into());
    };
    let mut says = BufReader::new(says).lines();
    hear(&mut says).await?;
    let inside = record.now();
    kill_process(process, Signal::STOP)?;
    let stopped = record.now();
    // It is about to write, and does not know that time passes.
    told.write_all(b"write\n").await?;
    let client = Client::connect_as(cluster.addresses(), &cluster.door.credentials)?;
    let session = client.session(Duration::from_secs(10)).await?;
    let guard = session.lock(LOCK, Wait::For(LONG)).await?;
    client.put(RESOURCE, "second").await?;
    let second = record.now();
    tokio::time::sleep(Duration::from_millis(500)).await;
    kill_process(process, Signal::CONT)?;
    let continued = record.now();
    let said = hear(&mut says).await?;
    let done = record.now();
    let overwritten = client.get(RESOURCE).await?.is_none_or(|value| value != "second");
    guard.release().await?;
    first.kill().await?;
    Ok(Trial { holder, inside, stopped, second, continued, done, said, overwritten })
}

async fn hear(says: &mut tokio::io::Lines<BufReader<ChildStdout>>) -> Outcome<String> {
    Ok(says.next_line().await?.ok_or("the holder has ended")?)
}

/// The holder's own process: takes the lock, says so, waits for a line, and writes.
pub(crate) async fn be(holder: Holder, addresses: &[String], door: &Door) -> Outcome<()> {
    let client = Client::connect_as(addresses, &door.credentials)?;
    let said = match holder {
        Holder::Plain => {
            hold_plainly(addresses, door).await?;
            println!("inside");
            wait_for_a_word().await?;
            client.put(RESOURCE, "first").await.map(|()| "it wrote".to_owned())
        }
        Holder::Careful | Holder::Fenced => {
            let session = client.session(TTL).await?;
            let guard = session.lock(LOCK, Wait::For(LONG)).await?;
            println!("inside");
            wait_for_a_word().await?;
            let said = write(&client, &guard, holder).await;
            drop(guard);
            said
        }
    };
    println!("{}", said.unwrap_or_else(|error| format!("it was refused: {error}")));
    // Whoever started this one ends it.
    tokio::time::sleep(LONG).await;
    Ok(())
}

/// Waits until something is said to this process.
async fn wait_for_a_word() -> Outcome<()> {
    tokio::task::spawn_blocking(|| std::io::stdin().read_line(&mut String::new())).await??;
    Ok(())
}

async fn write(client: &Client, guard: &Guard, holder: Holder) -> Result<String, ClientError> {
    if holder == Holder::Fenced {
        return guard.put(RESOURCE, "first").await.map(|()| "it wrote".to_owned());
    }
    if guard.valid_until().is_none_or(|until| habemus_client::now() >= until) {
        return Ok("it knew that its time was over, and did not write".to_owned());
    }
    client.put(RESOURCE, "first").await.map(|()| "it wrote".to_owned())
}

/// As a program does that follows etcd's interface and nothing else. The lease is kept alive for as long as
/// the process is.
async fn hold_plainly(addresses: &[String], door: &Door) -> Outcome<()> {
    let channel = door.channel(addresses.first().ok_or("there is no member")?)?;
    let mut leases = LeaseClient::new(channel.clone());
    let ttl = i64::try_from(TTL.as_secs())?;
    let lease = leases.lease_grant(rpc::LeaseGrantRequest { ttl, id: 0 }).await?.into_inner().id;
    let renewals = IntervalStream::new(tokio::time::interval(TTL / 4));
    let renewals = renewals.map(move |_| rpc::LeaseKeepAliveRequest { id: lease });
    tokio::spawn(async move {
        // What it is told is what most programs never look at while they work.
        if let Ok(answers) = leases.lease_keep_alive(renewals).await {
            let mut answers = answers.into_inner();
            while let Ok(Some(_)) = answers.message().await {}
        }
    });
    // Something to overwrite, and the first sign that everything works.
    let first = rpc::PutRequest { key: RESOURCE.into(), value: "nothing".into(), ..Default::default() };
    KvClient::new(channel.clone()).put(first).await?;
    LockClient::new(channel).lock(LockRequest { name: LOCK.into(), lease }).await?;
    Ok(())
}
