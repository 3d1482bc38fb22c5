//! A small load generator: how fast keys are written, locks are taken and released, and one lock goes from
//! hand to hand.

use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use habemus_client::Client;
use habemus_etcd::etcdserverpb::kv_client::KvClient;
use habemus_etcd::etcdserverpb::lease_client::LeaseClient;
use habemus_etcd::etcdserverpb::{LeaseGrantRequest, LeaseRevokeRequest, PutRequest};
use habemus_etcd::v3lockpb::lock_client::LockClient;
use habemus_etcd::v3lockpb::{LockRequest, UnlockRequest};

use crate::codes::{self, Failed};
use crate::options::{ServiceOptions, duration};

/// Measure how fast keys are written, locks are taken, and a lock is handed over.
#[derive(Args)]
#[command(after_help = "Examples:
  habemus bench
  habemus bench locks --clients 64 --for 10s
  habemus bench --endpoints 127.0.0.1:2379,127.0.0.1:2479,127.0.0.1:2579

  keys       each client writes one key of its own, one write after the other
  locks      each client takes and releases one lock of its own, one cycle after
             the other
  hand-over  all clients take and release the same lock: how long from one's
             release to the next one's grant is one divided by the rate

Every client has a connection of its own, the next one to the next member. Each
waits for its answer before it asks again, so latencies are those of that many
clients, not of an overload. The first tenth of the time is not counted. It
works on etcd, too. Keys and locks are called habemus-bench/…, and are removed
again.

Exit codes: 0 done, 125 the service could not be reached, or refused")]
pub(crate) struct Bench {
    /// What is measured; everything if nothing is named
    #[arg(value_enum)]
    loads: Vec<Load>,
    #[command(flatten)]
    service: ServiceOptions,
    /// How many clients ask at once
    #[arg(long, default_value = "16", value_name = "NUMBER")]
    clients: usize,
    /// How long each of them is measured
    #[arg(long = "for", default_value = "3s", value_parser = duration, value_name = "DURATION")]
    time: Duration,
    /// How long a value is that is written
    #[arg(long, default_value = "64", value_name = "BYTES")]
    value: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Load {
    Keys,
    Locks,
    HandOver,
}

impl Load {
    const ALL: [Load; 3] = [Load::Keys, Load::Locks, Load::HandOver];

    fn name(self) -> &'static str {
        match self {
            Load::Keys => "keys",
            Load::Locks => "locks",
            Load::HandOver => "hand-over",
        }
    }
}

/// What one client does again and again.
struct Worker {
    client: Client,
    load: Load,
    number: usize,
    lease: i64,
    value: bytes::Bytes,
}

impl Worker {
    async fn cycle(&self) -> Result<(), Failed> {
        let channel = self.client.channel();
        let name = match self.load {
            Load::HandOver => "habemus-bench/hand-over".to_owned(),
            _ => format!("habemus-bench/{}-{}", self.load.name(), self.number),
        };
        if self.load == Load::Keys {
            let (key, value) = (name.into(), self.value.clone());
            let request = PutRequest { key, value, lease: self.lease, ..Default::default() };
            KvClient::new(channel).put(request).await.map_err(codes::refused)?;
            return Ok(());
        }
        let mut locks = LockClient::new(channel);
        let request = LockRequest { name: name.into(), lease: self.lease };
        let held = locks.lock(request).await.map_err(codes::refused)?.into_inner();
        locks.unlock(UnlockRequest { key: held.key }).await.map_err(codes::refused)?;
        Ok(())
    }
}

impl Bench {
    pub(crate) async fn execute(self) -> Result<u8, Failed> {
        let clients = self.clients.max(1);
        let loads = if self.loads.is_empty() { Load::ALL.to_vec() } else { self.loads.clone() };
        println!("{clients} clients, {:?} each, values of {} bytes", self.time, self.value);
        println!(
            "{:10} {:>10} {:>9} {:>9} {:>9} {:>9} {:>9}",
            "", "per second", "p50 ms", "p90 ms", "p99 ms", "p99.9 ms", "max ms"
        );
        for load in loads {
            let took = self.measure(load, clients).await?;
            println!("{}", line(load, took));
        }
        Ok(0)
    }

    async fn measure(&self, load: Load, clients: usize) -> Result<(Vec<Duration>, Duration), Failed> {
        let mut workers = Vec::new();
        // Longer than it takes: nobody renews it.
        let ttl = i64::try_from(self.time.as_secs()).unwrap_or(i64::MAX).saturating_mul(2).saturating_add(60);
        for number in 0..clients {
            let endpoint = &self.service.endpoints[number % self.service.endpoints.len()];
            let client = self.service.connected(std::slice::from_ref(endpoint)).await?;
            let request = LeaseGrantRequest { ttl, id: 0 };
            let granted = LeaseClient::new(client.channel()).lease_grant(request).await;
            let lease = granted.map_err(codes::refused)?.into_inner().id;
            workers.push(Worker { client, load, number, lease, value: vec![b'x'; self.value].into() });
        }
        let begin = Instant::now();
        let (warm, end) = (begin + self.time / 10, begin + self.time);
        let mut running = Vec::new();
        for worker in workers {
            running.push(tokio::spawn(async move {
                let mut took = Vec::new();
                let mut answer = Ok(());
                while answer.is_ok() && Instant::now() < end {
                    let asked = Instant::now();
                    answer = worker.cycle().await;
                    if asked >= warm && answer.is_ok() {
                        took.push(asked.elapsed());
                    }
                }
                let revoke = LeaseRevokeRequest { id: worker.lease };
                // If it cannot be told, its own time ends it.
                drop(LeaseClient::new(worker.client.channel()).lease_revoke(revoke).await);
                answer.map(|()| took)
            }));
        }
        let mut all = Vec::new();
        for one in running {
            let took = one.await.map_err(|error| Failed { code: 1, why: error.to_string() })?;
            all.extend(took?);
        }
        all.sort_unstable();
        Ok((all, self.time - self.time / 10))
    }
}

/// The duration below which this part of all stay.
fn percentile(sorted: &[Duration], part: f64) -> Duration {
    let last = sorted.len().saturating_sub(1);
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
    let index = ((sorted.len() as f64 * part).ceil() as usize).saturating_sub(1).min(last);
    sorted.get(index).copied().unwrap_or_default()
}

fn line(load: Load, (sorted, time): (Vec<Duration>, Duration)) -> String {
    #[allow(clippy::cast_precision_loss)]
    let rate = sorted.len() as f64 / time.as_secs_f64();
    let milliseconds = |part| percentile(&sorted, part).as_secs_f64() * 1000.0;
    let columns: Vec<String> =
        [0.5, 0.9, 0.99, 0.999, 1.0].iter().map(|part| format!("{:9.2}", milliseconds(*part))).collect();
    format!("{:10} {rate:10.0} {}", load.name(), columns.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_those_of_the_nearest_rank() {
        let sorted: Vec<Duration> = (1..=100).map(Duration::from_millis).collect();
        assert_eq!(percentile(&sorted, 0.5), Duration::from_millis(50));
        assert_eq!(percentile(&sorted, 0.99), Duration::from_millis(99));
        assert_eq!(percentile(&sorted, 1.0), Duration::from_millis(100));
        assert_eq!(percentile(&[], 0.5), Duration::ZERO);
    }
}
