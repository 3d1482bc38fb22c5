//! Members that are real processes, each with a directory on a disk, and with a network of its own if that is wanted.

use std::fs::File;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use habemus_etcd::etcdserverpb::PutRequest;
use habemus_etcd::etcdserverpb::StatusRequest;
use habemus_etcd::etcdserverpb::kv_client::KvClient;
use habemus_etcd::etcdserverpb::maintenance_client::MaintenanceClient;
use rustix::process::{Pid, Signal, kill_process};
use tokio::process::{Child, Command};
use tonic::transport::{Channel, Endpoint};

use crate::network::Namespaces;
use crate::{Flags, Kind, Outcome};

/// However loaded the machine, this is long enough.
const LONG: Duration = Duration::from_secs(90);

/// What is attacked.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) kind: Kind,
    path: PathBuf,
    beyond_loopback: bool,
}

impl Program {
    /// The program that was asked for, or the habemusd that was built beside this one.
    pub(crate) fn find(path: Option<PathBuf>, kind: Option<Kind>) -> Outcome<Program> {
        let beside = || std::env::current_exe().map(|this| this.with_file_name("habemusd"));
        let path = match path {
            Some(path) if path.as_os_str() == "habemusd" => beside()?,
            Some(path) => path,
            None => beside()?,
        };
        let is_etcd = path.file_name().is_some_and(|name| name == "etcd");
        let kind = kind.unwrap_or(if is_etcd { Kind::Etcd } else { Kind::Habemus });
        let help = std::process::Command::new(&path).arg("--help").output().map_err(|error| {
            format!("{}: {error}; build it first: cargo build -p habemus-server", path.display())
        })?;
        let beyond_loopback = kind == Kind::Etcd
            || String::from_utf8_lossy(&help.stdout).contains("--insecure-beyond-loopback");
        Ok(Program { kind, path, beyond_loopback })
    }
}

/// One member.
pub(crate) struct Member {
    name: String,
    /// Where clients reach it.
    pub(crate) client: String,
    peer: String,
    data: PathBuf,
    child: Option<Child>,
    pub(crate) stopped: bool,
}

/// Some members that work together.
pub(crate) struct Cluster {
    pub(crate) program: Program,
    pub(crate) members: Vec<Member>,
    pub(crate) network: Option<Namespaces>,
    directory: PathBuf,
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for member in &mut self.members {
            if let Some(child) = &mut member.child {
                // What has ended already cannot be killed.
                drop(child.start_kill());
            }
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
    /// Starts the members, and waits until one of them has written something.
    pub(crate) async fn start(program: Program, flags: &Flags) -> Outcome<Cluster> {
        let count = usize::from(flags.members);
        if flags.namespaces && !program.beyond_loopback {
            return Err("this habemusd listens on loopback addresses only: leave out --namespaces".into());
        }
        // On the disk where the programs are: a directory for temporary files may be in memory.
        let beside = std::env::current_exe()?.with_file_name(format!("siege-{}", std::process::id()));
        let directory = flags.data.clone().unwrap_or(beside);
        std::fs::create_dir_all(&directory)?;
        let network = if flags.namespaces { Some(Namespaces::make(count)?) } else { None };
        let ports = ports(2 * count)?;
        let members = (0..count).map(|index| {
            let address = |port: u16| match &network {
                Some(_) => format!("{}:{port}", Namespaces::address(index)),
                None => format!("127.0.0.1:{port}"),
            };
            let name = format!("m{index}");
            Member {
                client: address(ports[index]),
                peer: address(ports[count + index]),
                data: directory.join(&name),
                name,
                child: None,
                stopped: false,
            }
        });
        let mut cluster = Cluster { program, members: members.collect(), network, directory };
        for index in 0..count {
            cluster.launch(index)?;
        }
        cluster.recover().await?;
        Ok(cluster)
    }

    /// Starts a member that does not run.
    pub(crate) fn launch(&mut self, index: usize) -> Outcome<()> {
        if self.members[index].child.is_some() {
            return Ok(());
        }
        let log =
            File::options().create(true).append(true).open(self.directory.join(format!("m{index}.log")))?;
        let mut command = self.command(index);
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log).kill_on_drop(true);
        self.members[index].child = Some(command.spawn()?);
        Ok(())
    }

    fn command(&self, index: usize) -> Command {
        let member = &self.members[index];
        let mut command = match &self.network {
            None => Command::new(&self.program.path),
            Some(_) => {
                let mut command = Command::new("ip");
                command.args(["netns", "exec", &Namespaces::name(index)]).arg(&self.program.path);
                command
            }
        };
        let all = |scheme: &str| {
            let all = self.members.iter().map(|it| format!("{}={scheme}{}", it.name, it.peer));
            all.collect::<Vec<_>>().join(",")
        };
        match self.program.kind {
            Kind::Habemus => {
                command.arg("--data").arg(&member.data).args(["--listen", &member.client]);
                command.args(["--history", "100000000"]);
                if self.members.len() > 1 {
                    command.args(["--name", &member.name, "--cluster", &all("")]);
                }
                if self.network.is_some() {
                    command.arg("--insecure-beyond-loopback");
                }
            }
            Kind::Etcd => {
                let (client, peer) = (format!("http://{}", member.client), format!("http://{}", member.peer));
                command.arg("--data-dir").arg(&member.data).args(["--name", &member.name]);
                command.args(["--listen-client-urls", &client, "--advertise-client-urls", &client]);
                command.args(["--listen-peer-urls", &peer, "--initial-advertise-peer-urls", &peer]);
                command.args(["--initial-cluster", &all("http://"), "--log-level", "error"]);
            }
        }
        command
    }

    /// Kills a member as the kernel does, and waits until it is gone.
    pub(crate) async fn kill(&mut self, index: usize) -> Outcome<()> {
        self.members[index].stopped = false;
        if let Some(mut child) = self.members[index].child.take() {
            child.kill().await?;
        }
        Ok(())
    }

    /// Asks a member to end, and waits until it has; kills it if it does not.
    pub(crate) async fn end(&mut self, index: usize) -> Outcome<()> {
        self.signal(index, Signal::TERM);
        if let Some(child) = &mut self.members[index].child
            && tokio::time::timeout(Duration::from_secs(10), child.wait()).await.is_ok()
        {
            self.members[index].child = None;
        }
        self.kill(index).await
    }

    /// Stops a member, or lets it go on.
    pub(crate) fn signal(&mut self, index: usize, signal: Signal) {
        let member = &mut self.members[index];
        let id = member.child.as_ref().and_then(Child::id).and_then(|id| Pid::from_raw(id.cast_signed()));
        if let Some(id) = id {
            // One that has just ended hears nothing.
            let _ = kill_process(id, signal);
            member.stopped = signal == Signal::STOP;
        }
    }

    /// Lets everything be well again, and waits until every member answers.
    pub(crate) async fn recover(&mut self) -> Outcome<()> {
        if let Some(network) = &self.network {
            network.heal()?;
        }
        let deadline = Instant::now() + LONG;
        for index in 0..self.members.len() {
            self.signal(index, Signal::CONT);
            self.launch(index)?;
        }
        for index in 0..self.members.len() {
            while let Err(why) = write(&self.members[index].client).await {
                if Instant::now() > deadline {
                    let log = self.directory.join(format!("m{index}.log"));
                    let said = std::fs::read_to_string(log).unwrap_or_default();
                    let tail: Vec<&str> = said.lines().rev().take(5).collect();
                    return Err(format!("member {index} does not work: {why}; it says {tail:?}").into());
                }
                // It may have ended by itself.
                let member = &mut self.members[index];
                if member.child.as_mut().is_some_and(|child| !matches!(child.try_wait(), Ok(None))) {
                    member.child = None;
                    self.launch(index)?;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
        Ok(())
    }

    /// The index of the member that leads, if one says so.
    pub(crate) async fn leader(&self) -> Option<usize> {
        for (index, member) in
            self.members.iter().enumerate().filter(|(_, it)| it.child.is_some() && !it.stopped)
        {
            let asked = async {
                let channel = channel(&member.client).ok()?;
                let status =
                    MaintenanceClient::new(channel).status(StatusRequest {}).await.ok()?.into_inner();
                status.header.map(|header| header.member_id == status.leader)
            };
            if let Ok(Some(true)) = tokio::time::timeout(Duration::from_secs(1), asked).await {
                return Some(index);
            }
        }
        None
    }

    /// Where clients reach all members.
    pub(crate) fn addresses(&self) -> Vec<String> {
        self.members.iter().map(|member| member.client.clone()).collect()
    }

    /// The directory of a member.
    pub(crate) fn data(&self, index: usize) -> &Path {
        &self.members[index].data
    }
}

/// A connection to an address, which is made when it is first used.
pub(crate) fn channel(address: &str) -> Outcome<Channel> {
    let endpoint = Endpoint::from_shared(format!("http://{address}"))?;
    Ok(endpoint.tcp_nodelay(true).connect_timeout(Duration::from_millis(500)).connect_lazy())
}

async fn write(address: &str) -> Outcome<()> {
    let request = PutRequest { key: "siege-ready".into(), value: "x".into(), ..Default::default() };
    let put = async { Ok(KvClient::new(channel(address)?).put(request).await?) };
    tokio::time::timeout(Duration::from_secs(2), put).await?.map(|_| ())
}
