//! What operators do while everything runs: restarts, upgrades, new members, new certificates, other clocks.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use habemus_etcd::etcdserverpb as rpc;
use habemus_etcd::etcdserverpb::cluster_client::ClusterClient;
use rustix::process::Signal;

use crate::Outcome;
use crate::attack::pause;
use crate::cluster::Cluster;

/// Ends each member in order and starts it again, by what is attacked, whatever it ran before.
pub(crate) async fn restart_each(cluster: &mut Cluster) -> Outcome<()> {
    for index in 0..cluster.members.len() {
        cluster.end(index).await?;
        cluster.upgrade(index);
        cluster.recover().await?;
    }
    Ok(())
}

/// A member is lost with its disk; a new one takes its place.
pub(crate) async fn replace(cluster: &mut Cluster, index: usize) -> Outcome<()> {
    cluster.kill(index).await?;
    let name = cluster.members[index].name.clone();
    let peer = cluster.members[index].peer.clone();
    cluster.replace(index)?;
    let deadline = Instant::now() + Duration::from_secs(30);
    // While a new leader is sought, nobody can be removed or added.
    for step in [Step::Remove(&name), Step::Add(&peer)] {
        while let Err(why) = step.take(cluster, index).await {
            if Instant::now() > deadline {
                return Err(format!("no member can be replaced: {why}").into());
            }
            pause(100).await;
        }
    }
    cluster.launch(index)
}

enum Step<'a> {
    Remove(&'a str),
    Add(&'a str),
}

impl Step<'_> {
    /// Asks another member than the one that goes. Whoever asks twice finds it done.
    async fn take(&self, cluster: &Cluster, index: usize) -> Outcome<()> {
        let other = &cluster.members[(index + 1) % cluster.members.len()];
        let mut client = ClusterClient::new(cluster.door.channel(&other.client)?);
        let asked = async {
            let all = client.member_list(rpc::MemberListRequest::default()).await?.into_inner().members;
            match self {
                Step::Remove(name) => {
                    if let Some(found) = all.iter().find(|member| member.name == *name) {
                        client.member_remove(rpc::MemberRemoveRequest { id: found.id }).await?;
                    }
                }
                Step::Add(peer) => {
                    if !all.iter().any(|member| member.peer_ur_ls.iter().any(|url| url.ends_with(peer))) {
                        let peer_ur_ls = vec![format!("http://{peer}")];
                        let request = rpc::MemberAddRequest { peer_ur_ls, ..Default::default() };
                        client.member_add(request).await?;
                    }
                }
            }
            Ok(())
        };
        tokio::time::timeout(Duration::from_secs(5), asked).await?
    }
}

/// Certificates of members and clients are made anew; whoever connects from then on sees them, also one that
/// was killed.
pub(crate) async fn rotate(cluster: &mut Cluster, index: usize) -> Outcome<()> {
    if let Some(certificates) = &cluster.certificates {
        certificates.renew()?;
        cluster.door = certificates.door()?;
    }
    for member in 0..cluster.members.len() {
        cluster.signal(member, Signal::HUP);
    }
    pause(500).await;
    cluster.kill(index).await?;
    pause(500).await;
    Ok(())
}

/// Whether a process can be given clocks of its own.
pub(crate) fn can_set_clocks() -> bool {
    let mut unshare = Command::new("unshare");
    unshare.args(["--time", "--fork", "--monotonic=1", "true"]);
    unshare.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// A member is killed and comes back with clocks that are an hour ahead, and later with right ones.
pub(crate) async fn set_clock_ahead(cluster: &mut Cluster, index: usize) -> Outcome<()> {
    cluster.kill(index).await?;
    cluster.members[index].ahead = Some(3600);
    cluster.recover().await?;
    pause(2500).await;
    cluster.kill(index).await?;
    cluster.members[index].ahead = None;
    Ok(())
}
