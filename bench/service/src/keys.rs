//! Writing keys.

use habemus_etcd::etcdserverpb::PutRequest;
use habemus_etcd::etcdserverpb::kv_client::KvClient;
use tonic::transport::Channel;

use crate::cluster::Cluster;
use crate::table::{Goal, Table};
use crate::{Effort, Outcome, load};

#[derive(Clone)]
struct Writer {
    client: KvClient<Channel>,
    key: String,
}

async fn put(mut writer: Writer) -> Outcome<()> {
    let request = PutRequest { key: writer.key.into(), value: vec![b'x'; 100].into(), ..Default::default() };
    writer.client.put(request).await?;
    Ok(())
}

pub(crate) async fn measure(cluster: &Cluster, effort: Effort, table: &mut Table) -> Outcome<()> {
    let sizes = [
        (1, "keys written by 1 client"),
        (64, "keys written by 64 clients"),
        (256, "keys written by 256 clients"),
    ];
    for (count, what) in sizes {
        let mut writers = Vec::new();
        for number in 0..count {
            let client = KvClient::new(cluster.channel(number).await?);
            writers.push(Writer { client, key: format!("key-{number}") });
        }
        let load = load::run(writers, effort.time, put).await?;
        table.add(&cluster.kind, what, "/s", Goal::AtLeast(2.0), load.rate);
    }
    Ok(())
}
