//! What a member costs that has nothing to do, and how soon a new one works.

use std::time::Instant;

use habemus_etcd::v3lockpb::LockRequest;
use habemus_etcd::v3lockpb::lock_client::LockClient;

use crate::cluster::{Cluster, Kind, connect};
use crate::table::{Goal, Table};
use crate::{Effort, Outcome};

/// Clock ticks of the kernel in a second, on every Linux.
const TICKS: f64 = 100.0;

/// Memory in MiB, and processor time in seconds.
pub(crate) fn costs(pid: u32) -> Outcome<(f64, f64)> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no memory is told")?;
    let kib: f64 = resident.trim().trim_end_matches("kB").trim().parse()?;
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"))?;
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks: f64 =
        fields.get(11..13).ok_or("no time is told")?.iter().flat_map(|it| it.parse::<f64>()).sum();
    Ok((kib / 1024.0, ticks / TICKS))
}

pub(crate) async fn measure(cluster: &Cluster, effort: Effort, table: &mut Table) -> Outcome<()> {
    // A cluster that has worked is no idle one: a new one is looked at.
    let fresh = Cluster::start(&cluster.kind, 3).await?;
    tokio::time::sleep(effort.time).await;
    let pid = fresh.members[0].pid().ok_or("it has ended")?;
    let (begin, (_, before)) = (Instant::now(), costs(pid)?);
    tokio::time::sleep(effort.time * 2).await;
    let (memory, after) = costs(pid)?;
    let percent = (after - before) / begin.elapsed().as_secs_f64() * 100.0;
    table.add(&cluster.kind, "an idle member: memory", "MiB", Goal::Within(15.0), memory);
    table.add(&cluster.kind, "an idle member: processor", "%", Goal::Within(0.5), percent);
    Ok(())
}

pub(crate) async fn measure_start(kind: &Kind, effort: Effort, table: &mut Table) -> Outcome<()> {
    for _ in 0..effort.rounds {
        let begin = Instant::now();
        let cluster = Cluster::start(kind, 1).await?;
        let mut client = LockClient::new(connect(&cluster.members[0].client).await?);
        client.lock(LockRequest { name: "first".into(), lease: 0 }).await?;
        let millis = begin.elapsed().as_secs_f64() * 1e3;
        table.add(kind, "one member, start to the first lock", "ms", Goal::Within(50.0), millis);
    }
    Ok(())
}
