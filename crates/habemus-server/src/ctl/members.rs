//! Who belongs to the cluster, and how that changes.

use clap::{Args, Subcommand};
use habemus_etcd::etcdserverpb as rpc;
use habemus_etcd::etcdserverpb::cluster_client::ClusterClient;
use habemus_etcd::etcdserverpb::maintenance_client::MaintenanceClient;

use crate::codes::{self, Failed};
use crate::options::ServiceOptions;

/// Show and change who belongs to the cluster.
#[derive(Args)]
#[command(
    arg_required_else_help = true,
    after_help = "Examples:
  habemus member list
  habemus member add 127.0.0.1:2680 --learner
  habemus serve --name d --data d --peer 127.0.0.1:2680 --join 127.0.0.1:2380 --listen 127.0.0.1:2679
      the new member itself; add says so, too
  habemus member promote 8e9e05c52164694d
  habemus member remove 8e9e05c52164694d
      for ever: whoever comes back is a new one, with an empty directory

A member is named by its number or by its name, as `habemus member list` shows
them.

Exit codes: 0 done, 125 the service could not be reached, or refused"
)]
pub(crate) struct Members {
    #[command(subcommand)]
    task: MemberTask,
}

#[derive(Subcommand)]
enum MemberTask {
    /// Show who belongs to the cluster
    List {
        #[command(flatten)]
        service: ServiceOptions,
    },
    /// Add a member, which learns first and gets its vote when it has caught up
    Add {
        #[command(flatten)]
        service: ServiceOptions,
        /// Where it hears the other members
        #[arg(required = true, value_name = "ADDRESS")]
        peers: Vec<String>,
        /// Let it stay a learner until it is promoted
        #[arg(long)]
        learner: bool,
    },
    /// Give a learner its vote
    Promote {
        #[command(flatten)]
        service: ServiceOptions,
        /// Its number or name
        member: String,
    },
    /// Remove a member, for ever
    Remove {
        #[command(flatten)]
        service: ServiceOptions,
        /// Its number or name
        member: String,
    },
    /// Say where a member hears the others from now on
    Update {
        #[command(flatten)]
        service: ServiceOptions,
        /// Its number or name
        member: String,
        /// Where it hears the other members
        #[arg(required = true, value_name = "ADDRESS")]
        peers: Vec<String>,
    },
}

/// Let another member lead, before one that leads is stopped for long.
#[derive(Args)]
#[command(after_help = "Examples:
  habemus move-leader b
  habemus move-leader 8e9e05c52164694d

A member that is stopped by Ctrl-C or SIGTERM does this by itself.
Exit codes: 0 done, 125 the service could not be reached, or refused")]
pub(crate) struct MoveLeader {
    #[command(flatten)]
    service: ServiceOptions,
    /// The number or name of the member that shall lead
    member: String,
}

fn url(address: &str) -> String {
    if address.contains("://") { address.to_owned() } else { format!("http://{address}") }
}

fn line(member: &rpc::Member) -> String {
    let address = |urls: &[String]| {
        urls.iter().map(|url| url.trim_start_matches("http://")).collect::<Vec<_>>().join(",")
    };
    let name = if member.name.is_empty() { "(not started)" } else { &member.name };
    let role = if member.is_learner { "learner" } else { "voter" };
    let (id, peers, clients) = (member.id, address(&member.peer_ur_ls), address(&member.client_ur_ls));
    format!("{id:>16x} {name:14} {role:7} {peers:21} {clients}").trim_end().to_owned()
}

fn show(members: &[rpc::Member]) {
    println!("{:>16} {:14} {:7} {:21} CLIENTS", "MEMBER", "NAME", "ROLE", "PEERS");
    members.iter().for_each(|member| println!("{}", line(member)));
}

async fn all(service: &ServiceOptions) -> Result<Vec<rpc::Member>, Failed> {
    let client = service.connected(&service.endpoints).await?;
    let request = rpc::MemberListRequest { linearizable: true };
    let answer = ClusterClient::new(client.channel()).member_list(request).await;
    Ok(answer.map_err(codes::refused)?.into_inner().members)
}

/// The number of the member that is called so.
async fn find(service: &ServiceOptions, called: &str) -> Result<u64, Failed> {
    let members = all(service).await?;
    let number = u64::from_str_radix(called, 16).ok();
    let found = members.iter().find(|member| member.name == called || Some(member.id) == number);
    found.map(|member| member.id).ok_or_else(|| {
        let known: Vec<String> =
            members.iter().map(|member| format!("{} ({:x})", member.name, member.id)).collect();
        let why = format!("there is no member `{called}`: there are {}", known.join(", "));
        Failed { code: codes::UNREACHABLE, why }
    })
}

impl Members {
    pub(crate) async fn execute(self) -> Result<u8, Failed> {
        let members = match self.task {
            MemberTask::List { service } => all(&service).await?,
            MemberTask::Add { service, peers, learner } => {
                let request = rpc::MemberAddRequest {
                    peer_ur_ls: peers.iter().map(|peer| url(peer)).collect(),
                    is_learner: learner,
                };
                let client = service.connected(&service.endpoints).await?;
                let answer = ClusterClient::new(client.channel()).member_add(request).await;
                let answer = answer.map_err(codes::refused)?.into_inner();
                let others: Vec<&str> = answer
                    .members
                    .iter()
                    .filter(|member| answer.member.as_ref().is_none_or(|new| new.id != member.id))
                    .flat_map(|member| &member.peer_ur_ls)
                    .map(|url| url.trim_start_matches("http://"))
                    .collect();
                println!(
                    "Start it with: habemus serve --name NAME --data DIRECTORY --peer {} --join {}",
                    peers[0],
                    others.join(",")
                );
                answer.members
            }
            MemberTask::Promote { service, member } => {
                let id = find(&service, &member).await?;
                let client = service.connected(&service.endpoints).await?;
                let request = rpc::MemberPromoteRequest { id };
                let answer = ClusterClient::new(client.channel()).member_promote(request).await;
                answer.map_err(codes::refused)?.into_inner().members
            }
            MemberTask::Remove { service, member } => {
                let id = find(&service, &member).await?;
                let client = service.connected(&service.endpoints).await?;
                let request = rpc::MemberRemoveRequest { id };
                let answer = ClusterClient::new(client.channel()).member_remove(request).await;
                answer.map_err(codes::refused)?.into_inner().members
            }
            MemberTask::Update { service, member, peers } => {
                let id = find(&service, &member).await?;
                let client = service.connected(&service.endpoints).await?;
                let peer_ur_ls = peers.iter().map(|peer| url(peer)).collect();
                let request = rpc::MemberUpdateRequest { id, peer_ur_ls };
                let answer = ClusterClient::new(client.channel()).member_update(request).await;
                answer.map_err(codes::refused)?.into_inner().members
            }
        };
        show(&members);
        Ok(0)
    }
}

impl MoveLeader {
    pub(crate) async fn execute(self) -> Result<u8, Failed> {
        let target_id = find(&self.service, &self.member).await?;
        // Only who leads can do it; so everybody is asked who answers.
        let mut last = None;
        for endpoint in &self.service.endpoints {
            let Ok(client) = self.service.connected(std::slice::from_ref(endpoint)).await else { continue };
            let request = rpc::MoveLeaderRequest { target_id };
            match MaintenanceClient::new(client.channel()).move_leader(request).await {
                Ok(_) => {
                    println!("{} leads", self.member);
                    return Ok(0);
                }
                Err(status) => last = Some(status),
            }
        }
        let told = last.map(codes::refused);
        let mut failed =
            told.unwrap_or(Failed { code: codes::UNREACHABLE, why: "nobody answers any more".to_owned() });
        if failed.why.contains("not leader") {
            failed.why += ": name all members with --endpoints, for only the one that leads can do it";
        }
        Err(failed)
    }
}
