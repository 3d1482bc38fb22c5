//! Three members of one kind or the other, each a process of its own with a directory on the disk.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use habemus_etcd::etcdserverpb::kv_client::KvClient;
use habemus_etcd::etcdserverpb::maintenance_client::MaintenanceClient;
use habemus_etcd::etcdserverpb::{PutRequest, StatusRequest};
use tokio::process::{Child, Command};
use tonic::transport::{Channel, Endpoint};

use crate::Outcome;

/// However loaded the machine, this is long enough.
const LONG: Duration = Duration::from_secs(30);

/// Which program.
#[derive(Clone)]
pub(crate) enum Kind {
    Habemus(PathBuf),
    Etcd(PathBuf),
    /// One process, and no promises but the disk's.
    Limit(PathBuf),
}

impl Kind {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Kind::Habemus(_) => "habemus",
            Kind::Etcd(_) => "etcd",
            Kind::Limit(_) => "limit",
        }
    }
}

/// One member.
pub(crate) struct BenchMember {
    pub(crate) client: String,
    child: Child,
}

impl BenchMember {
    pub(crate) fn pid(&self) -> Option<u32> {
        self.child.id()
    }

    /// Kills it as the kernel does.
    pub(crate) async fn kill(&mut self) -> Outcome<()> {
        Ok(self.child.kill().await?)
    }
}

/// Some members that work together.
pub(crate) struct Cluster {
    pub(crate) kind: Kind,
    pub(crate) members: Vec<BenchMember>,
    directory: PathBuf,
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for member in &mut self.members {
            // What has ended already cannot be killed.
            drop(member.child.start_kill());
        }
        drop(std::fs::remove_dir_all(&self.directory));
    }
}

/// Ports that are free now, so many.
fn ports(count: usize) -> Outcome<Vec<u16>> {
    let listeners: Result<Vec<_>, _> = (0..count).map(|_| TcpListener::bind("127.0.0.1:0")).collect();
    let ports: Result<Vec<_>, _> = listeners?.iter().map(|it| it.local_addr().map(|it| it.port())).collect();
    Ok(ports?)
}

impl Cluster {
    /// Starts so many members, and waits until one of them has written something.
    pub(crate) async fn start(kind: &Kind, count: usize) -> Outcome<Cluster> {
        // On the disk where the programs are: a directory for temporary files may be in memory.
        let program = std::env::current_exe()?;
        let beside = program.parent().unwrap_or(Path::new("."));
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let directory = beside.join(format!("service-{}-{number}", std::process::id()));
        drop(std::fs::remove_dir_all(&directory));
        std::fs::create_dir_all(&directory)?;
        let ports = ports(2 * count)?;
        let mut cluster = Cluster { kind: kind.clone(), members: Vec::new(), directory };
        for index in 0..count {
            let mut command = command(kind, index, &ports, &cluster.directory);
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
            let client = format!("127.0.0.1:{}", ports[index]);
            cluster.members.push(BenchMember { client, child: command.spawn()? });
        }
        cluster.works().await?;
        Ok(cluster)
    }

    /// Waits until something can be written through every member.
    async fn works(&self) -> Outcome<()> {
        let deadline = Instant::now() + LONG;
        for member in &self.members {
            while let Err(why) = write(&member.client).await {
                if Instant::now() > deadline {
                    return Err(format!("{} does not work: {why}", self.kind.name()).into());
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        }
        Ok(())
    }

    /// A connection to one of the members.
    pub(crate) async fn channel(&self, number: usize) -> Outcome<Channel> {
        connect(&self.members[number % self.members.len()].client).await
    }

    /// The index of the member that leads.
    pub(crate) async fn leader(&self) -> Outcome<usize> {
        for (index, member) in self.members.iter().enumerate() {
            let Ok(channel) = connect(&member.client).await else { continue };
            let status = MaintenanceClient::new(channel).status(StatusRequest {}).await?.into_inner();
            if status.header.is_some_and(|header| header.member_id == status.leader) {
                return Ok(index);
            }
        }
        Err("nobody leads".into())
    }
}

pub(crate) async fn connect(address: &str) -> Outcome<Channel> {
    let endpoint = Endpoint::from_shared(format!("http://{address}"))?;
    Ok(endpoint.tcp_nodelay(true).connect_timeout(Duration::from_secs(1)).connect().await?)
}

async fn write(address: &str) -> Outcome<()> {
    let request = PutRequest { key: "first".into(), value: "x".into(), ..Default::default() };
    let put = async { Ok(KvClient::new(connect(address).await?).put(request).await?) };
    tokio::time::timeout(Duration::from_secs(2), put).await?.map(|_| ())
}

fn command(kind: &Kind, index: usize, ports: &[u16], directory: &Path) -> Command {
    let count = ports.len() / 2;
    let name = |index: usize| format!("m{index}");
    let peer = |index: usize| format!("127.0.0.1:{}", ports[count + index]);
    let data = directory.join(name(index));
    match kind {
        Kind::Habemus(program) => {
            let cluster: Vec<String> = (0..count).map(|it| format!("{}={}", name(it), peer(it))).collect();
            let mut command = Command::new(program);
            command.arg("--data").arg(data).args(["--listen", &format!("127.0.0.1:{}", ports[index])]);
            if count > 1 {
                command.args(["--name", &name(index), "--cluster", &cluster.join(",")]);
            }
            command
        }
        Kind::Limit(program) => {
            let mut command = Command::new(program);
            command.arg("limit").arg(format!("127.0.0.1:{}", ports[index])).arg(data);
            command
        }
        Kind::Etcd(program) => {
            let all: Vec<String> = (0..count).map(|it| format!("{}=http://{}", name(it), peer(it))).collect();
            let (client, own) =
                (format!("http://127.0.0.1:{}", ports[index]), format!("http://{}", peer(index)));
            let mut command = Command::new(program);
            command.arg("--data-dir").arg(data).args(["--name", &name(index)]);
            command.args(["--listen-client-urls", &client, "--advertise-client-urls", &client]);
            command.args(["--listen-peer-urls", &own, "--initial-advertise-peer-urls", &own]);
            command.args(["--initial-cluster", &all.join(","), "--log-level", "error"]);
            command
        }
    }
}
