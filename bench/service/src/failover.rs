//! How long nobody can write when the leader is killed.

use std::time::{Duration, Instant};

use habemus_etcd::etcdserverpb::PutRequest;
use habemus_etcd::etcdserverpb::kv_client::KvClient;

use crate::cluster::{Cluster, Kind, connect};
use crate::table::{Goal, Table};
use crate::{Effort, Outcome};

pub(crate) async fn measure(kind: &Kind, effort: Effort, table: &mut Table) -> Outcome<()> {
    for turn in 1..=effort.kills {
        eprintln!("killing the leader, {turn} of {}: {}", effort.kills, kind.name());
        let mut cluster = Cluster::start(kind, 3).await?;
        let leader = cluster.leader().await?;
        let others: Vec<String> = (0..3)
            .filter(|index| *index != leader)
            .map(|index| cluster.members[index].client.clone())
            .collect();
        cluster.members[leader].kill().await?;
        let begin = Instant::now();
        while !writes(&others).await {
            if begin.elapsed() > Duration::from_secs(30) {
                return Err("nobody can write although two of three live".into());
            }
        }
        let millis = begin.elapsed().as_secs_f64() * 1e3;
        table.add(kind, "leader killed to the next write", "ms", Goal::UpTo(0.1), millis);
    }
    Ok(())
}

/// Whether something can be written through any of them; whoever does not answer soon is not waited for.
async fn writes(addresses: &[String]) -> bool {
    for address in addresses {
        let put = async {
            let request = PutRequest { key: "after".into(), value: "x".into(), ..Default::default() };
            Ok::<_, Box<dyn std::error::Error + Send + Sync>>(
                KvClient::new(connect(address).await?).put(request).await?,
            )
        };
        if matches!(tokio::time::timeout(Duration::from_millis(200), put).await, Ok(Ok(_))) {
            return true;
        }
    }
    false
}
