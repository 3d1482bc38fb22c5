//! The members of the service: real processes with real disks, on loopback.

use std::net::{SocketAddr, TcpListener};
use std::os::unix::process::CommandExt;
use std::process::Stdio;
use std::time::{Duration, Instant};

use habemus_client::Client;
use habemus_etcd::etcdserverpb::PutRequest;
use habemus_etcd::etcdserverpb::kv_client::KvClient;
use tokio::process::{Child, Command};

use crate::Failed;
use crate::scratch::{self, Scratch, cannot_run, program};

/// Whatever takes longer than this has failed.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

const NAMES: [&str; 3] = ["a", "b", "c"];

/// One of them.
pub(crate) struct Member {
    pub(crate) name: &'static str,
    pub(crate) address: SocketAddr,
    data: String,
    cluster: String,
    child: Option<Child>,
}

/// Who leads the members, and since which term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Leading {
    pub(crate) member: usize,
    pub(crate) term: u64,
}

/// All of them.
pub(crate) struct Members(pub(crate) Vec<Member>);

impl Members {
    /// Starts three on ports that are free.
    pub(crate) fn start(scratch: &Scratch) -> Result<Members, Failed> {
        program("habemusd")?;
        let ports = free_ports(2 * NAMES.len())?;
        let (clients, peers) = ports.split_at(NAMES.len());
        let cluster: Vec<String> =
            NAMES.iter().zip(peers).map(|(name, address)| format!("{name}={address}")).collect();
        let mut members = Vec::new();
        for (name, address) in NAMES.into_iter().zip(clients) {
            let data = scratch.join(name).display().to_string();
            let mut member =
                Member { name, address: *address, data, cluster: cluster.join(","), child: None };
            member.start()?;
            members.push(member);
        }
        Ok(Members(members))
    }

    pub(crate) fn addresses(&self) -> Vec<String> {
        self.0.iter().map(|member| member.address.to_string()).collect()
    }

    /// Waits until the members that run agree on one of them.
    pub(crate) async fn agree(&self) -> Result<Leading, Failed> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(leading) = self.ask().await {
                return Ok(leading);
            }
            if Instant::now() > deadline {
                return Err(Failed::story("the members did not agree on a leader in time"));
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Whom all that run name, in the same term.
    async fn ask(&self) -> Option<Leading> {
        let mut ids = Vec::new();
        let mut named = None;
        for (index, member) in self.0.iter().enumerate().filter(|(_, member)| member.child.is_some()) {
            let client = Client::connect([member.address.to_string()]).ok()?;
            let status = tokio::time::timeout(Duration::from_secs(1), client.status()).await.ok()?.ok()?;
            ids.push((status.header?.member_id, index));
            let names = (status.leader, status.raft_term);
            if status.leader == 0 || *named.get_or_insert(names) != names {
                return None;
            }
        }
        let (leader, term) = named?;
        let (_, member) = ids.into_iter().find(|(id, _)| *id == leader)?;
        Some(Leading { member, term })
    }

    /// Kills one as the kernel does, and measures how long nobody answers: from the moment of the signal
    /// until another member has answered a write.
    pub(crate) async fn fail_over(&mut self, victim: usize) -> Result<Duration, Failed> {
        let others = self.0.iter().enumerate().filter(|(index, _)| *index != victim);
        let others: Vec<Client> = others
            .map(|(_, member)| Client::connect([member.address.to_string()]))
            .collect::<Result<_, _>>()
            .map_err(|error| Failed::story(error.to_string()))?;
        // Connected before, so that only the service is measured.
        for other in &others {
            write(other).await;
        }
        let killed = Instant::now();
        if let Some(mut child) = self.0[victim].child.take() {
            child.kill().await.map_err(|error| Failed::story(error.to_string()))?;
        }
        while killed.elapsed() < PATIENCE {
            for other in &others {
                if tokio::time::timeout(Duration::from_millis(100), write(other)).await.unwrap_or(false) {
                    return Ok(killed.elapsed());
                }
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        Err(Failed::story("nobody answered after a member was killed"))
    }
}

/// Writes something; whether that was answered.
async fn write(member: &Client) -> bool {
    let request = PutRequest { key: "probe".into(), value: "anybody?".into(), ..Default::default() };
    KvClient::new(member.channel()).put(request).await.is_ok()
}

impl Member {
    /// Starts it, or starts it again.
    pub(crate) fn start(&mut self) -> Result<(), Failed> {
        let own = std::env::current_exe().map_err(|error| cannot_run("a member", &error))?;
        let mut command = Command::new(own);
        command.args(["member", "--"]);
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("HABEMUS_")) {
            command.env_remove(name);
        }
        command.args(["--name", self.name, "--data", &self.data, "--cluster", &self.cluster]);
        command.args(["--listen", &self.address.to_string()]);
        // What the terminal sends is for the one who tells the story.
        command.process_group(0).kill_on_drop(true);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        self.child = Some(command.spawn().map_err(|error| cannot_run("a member", &error))?);
        Ok(())
    }
}

/// Becomes a member that does not outlive the story; comes back only if that cannot be.
pub(crate) fn become_member(words: &[String]) -> Failed {
    match scratch::end_with_the_story().and_then(|()| program("habemusd")) {
        Ok(habemusd) => cannot_run("habemusd", &std::process::Command::new(habemusd).args(words).exec()),
        Err(failed) => failed,
    }
}

/// Ports that nobody uses.
fn free_ports(count: usize) -> Result<Vec<SocketAddr>, Failed> {
    let listeners: Vec<TcpListener> = (0..count)
        .map(|_| TcpListener::bind(("127.0.0.1", 0)))
        .collect::<Result<_, _>>()
        .map_err(|error| Failed::missing(format!("no port of 127.0.0.1 is free: {error}")))?;
    listeners
        .iter()
        .map(|listener| listener.local_addr().map_err(|error| Failed::missing(error.to_string())))
        .collect()
}
