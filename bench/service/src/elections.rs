//! How soon observers hear of a leader that follows one who resigned.

use std::time::{Duration, Instant};

use habemus_etcd::etcdserverpb::LeaseGrantRequest;
use habemus_etcd::etcdserverpb::lease_client::LeaseClient;
use habemus_etcd::v3electionpb::election_client::ElectionClient;
use habemus_etcd::v3electionpb::{CampaignRequest, LeaderKey, LeaderRequest, ResignRequest};
use tokio::sync::mpsc;
use tokio_stream::StreamExt;
use tonic::transport::Channel;

use crate::cluster::Cluster;
use crate::table::{Goal, Table};
use crate::{Effort, Outcome};

const OBSERVERS: usize = 10;

async fn campaign(channel: Channel, value: String) -> Outcome<LeaderKey> {
    let granted =
        LeaseClient::new(channel.clone()).lease_grant(LeaseGrantRequest { ttl: 600, id: 0 }).await?;
    let request =
        CampaignRequest { name: "seat".into(), lease: granted.into_inner().id, value: value.into() };
    let response = ElectionClient::new(channel).campaign(request).await?.into_inner();
    response.leader.ok_or_else(|| "a leader has no key".into())
}

pub(crate) async fn measure(cluster: &Cluster, effort: Effort, table: &mut Table) -> Outcome<()> {
    let (heard, mut hearing) = mpsc::channel(1024);
    for number in 0..OBSERVERS {
        let mut client = ElectionClient::new(cluster.channel(number).await?);
        let heard = heard.clone();
        tokio::spawn(async move {
            // etcd does not answer before somebody leads.
            let Ok(stream) = client.observe(LeaderRequest { name: "seat".into() }).await else { return };
            let mut stream = stream.into_inner();
            while let Some(Ok(told)) = stream.next().await {
                let value = told.kv.map(|kv| kv.value).unwrap_or_default();
                if heard.send(value).await.is_err() {
                    return;
                }
            }
        });
    }
    let mut leader = campaign(cluster.channel(0).await?, "0".to_owned()).await?;
    all_heard("0", &mut hearing).await?;
    for turn in 1..=(effort.rounds * 3) {
        let value = turn.to_string();
        let next = tokio::spawn(campaign(cluster.channel(turn).await?, value.clone()));
        // The next one stands in the queue by now.
        tokio::time::sleep(Duration::from_millis(200)).await;
        let begin = Instant::now();
        let mut client = ElectionClient::new(cluster.channel(0).await?);
        client.resign(ResignRequest { leader: Some(leader) }).await?;
        all_heard(&value, &mut hearing).await?;
        let millis = begin.elapsed().as_secs_f64() * 1e3;
        table.add(
            &cluster.kind,
            "resignation to the last of 10 observers",
            "ms",
            Goal::UpTo(1.0 / 3.0),
            millis,
        );
        leader = next.await??;
    }
    Ok(())
}

/// Waits until every observer has heard of this leader.
async fn all_heard(value: &str, hearing: &mut mpsc::Receiver<bytes::Bytes>) -> Outcome<()> {
    let mut count = 0;
    while count < OBSERVERS {
        let heard = tokio::time::timeout(Duration::from_secs(30), hearing.recv()).await?;
        count += usize::from(heard.ok_or("no observer is left")? == value.as_bytes());
    }
    Ok(())
}
