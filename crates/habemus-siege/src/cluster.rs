//! Members that are real processes, each with a directory on a disk, and with a network of its own if that is
//! wanted.

use std::fs::File;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use habemus_etcd::etcdserverpb::PutRequest;
use habemus_etcd::etcdserverpb::StatusRequest;
use habemus_etcd::etcdserverpb::kv_client::KvClient;
use habemus_etcd::etcdserverpb::maintenance_client::MaintenanceClient;
use rustix::process::{Pid, Signal, kill_process};
use tokio::process::{Child, Command};
use tonic::transport::Channel;

use crate::door::{Certificates, Door};
use crate::network::Namespaces;
use crate::{Flags, Kind, Outcome};

/// However loaded the machine, this is long enough.
const LONG: Duration = Duration::from_secs(90);

/// What is attacked.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) kind: Kind,
    pub(crate) path: PathBuf,
    /// What it says of itself.
    pub(crate) version: String,
}

impl Program {
    /// The program that was asked for, or the habemusd that was built beside this one.
    pub(crate) fn find(path: &Path, kind: Option<Kind>) -> Outcome<Program> {
        let beside = std::env::current_exe()?.with_file_name("habemusd");
        let path = if path.as_os_str() == "habemusd" { beside } else { path.to_owned() };
        let is_etcd = path.file_name().is_some_and(|name| name == "etcd");
        let kind = kind.unwrap_or(if is_etcd { Kind::Etcd } else { Kind::Habemus });
        let said = std::process::Command::new(&path).arg("--version").output().map_err(|error| {
            format!("{}: {error}; build it first: cargo build -p habemus-server", path.display())
        })?;
        let said = String::from_utf8_lossy(&said.stdout).into_owned();
        let version = said.lines().next().unwrap_or_default().replace("etcd Version:", "etcd");
        Ok(Program { kind, path, version })
    }

    /// What people call it.
    pub(crate) fn name(&self) -> &'static str {
        match self.kind {
            Kind::Habemus => "habemusd",
            Kind::Etcd => "etcd",
        }
    }
}

/// How a member came to the cluster.
enum Origin {
    /// With the cluster.
    First,
    /// Later, instead of another one.
    Added,
}

/// One member.
pub(crate) struct Member {
    pub(crate) name: String,
    /// Where clients reach it.
    pub(crate) client: String,
    pub(crate) peer: String,
    data: PathBuf,
    origin: Origin,
    /// What it runs: during an upgrade not all run the same.
    program: Program,
    child: Option<Child>,
    pub(crate) stopped: bool,
    /// How many seconds its clocks are ahead, in a time namespace of its own.
    pub(crate) ahead: Option<u32>,
}

/// Some members that work together.
pub(crate) struct Cluster {
    pub(crate) program: Program,
    pub(crate) members: Vec<Member>,
    pub(crate) network: Option<Namespaces>,
    pub(crate) certificates: Option<Certificates>,
    pub(crate) door: Door,
    /// The first members, as all of them were told.
    first: String,
    /// How many were added since.
    added: usize,
    directory: PathBuf,
    /// Which member did not come back, and what it said last.
    pub(crate) lost: Option<String>,
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
        // Beside another siege it may not be empty.
        drop(self.directory.parent().map(std::fs::remove_dir));
    }
}

/// Where the ports begin that Linux gives to whoever connects and names none.
const GIVEN: u16 = 32_768;

/// Ports that are free now, so many; none that is given to clients, or one of them might be where a member
/// wants to come back to.
fn ports(count: usize) -> Outcome<Vec<u16>> {
    // Two sieges at once look in different places first.
    let first = 20_000 + u16::try_from(std::process::id() % 100)? * 100;
    let is_free = |port: &u16| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok();
    let ports: Vec<u16> = (first..GIVEN).filter(is_free).take(count).collect();
    if ports.len() == count { Ok(ports) } else { Err("no ports are free".into()) }
}

impl Cluster {
    /// Starts the members, and waits until one of them has written something.
    pub(crate) async fn start(program: Program, flags: &Flags) -> Outcome<Cluster> {
        let count = usize::from(flags.members);
        // On the disk where the programs are: a directory for temporary files may be in memory.
        let beside = std::env::current_exe()?.with_file_name(format!("siege-{}", std::process::id()));
        let directory = flags.data.clone().unwrap_or(beside).join(program.name());
        std::fs::create_dir_all(&directory)?;
        let network = namespaces(flags, count)?;
        let ports = ports(2 * count)?;
        let before = flags.previous.as_deref().filter(|_| program.kind == Kind::Habemus);
        let begins_with =
            before.map_or(Ok(program.clone()), |path| Program::find(path, Some(program.kind)))?;
        let members: Vec<Member> = (0..count)
            .map(|index| {
                let host = network.as_ref().map_or("127.0.0.1".to_owned(), |network| network.address(index));
                let name = format!("m{index}");
                Member {
                    client: format!("{host}:{}", ports[index]),
                    peer: format!("{host}:{}", ports[count + index]),
                    data: directory.join(&name),
                    name,
                    origin: Origin::First,
                    program: begins_with.clone(),
                    child: None,
                    stopped: false,
                    ahead: None,
                }
            })
            .collect();
        let hosts: Vec<String> =
            members.iter().filter_map(|it| Some(it.client.rsplit_once(':')?.0.to_owned())).collect();
        let certificates = match flags.tls && program.kind == Kind::Habemus {
            true => Some(Certificates::make(&program.path, &directory, &hosts)?),
            false => None,
        };
        let door = certificates.as_ref().map_or(Ok(Door::default()), Certificates::door)?;
        let first = String::new();
        let mut cluster =
            Cluster { program, members, network, certificates, door, first, added: 0, directory, lost: None };
        cluster.first = cluster.all();
        for index in 0..count {
            cluster.launch(index)?;
        }
        cluster.recover().await?;
        Ok(cluster)
    }

    /// All members with their addresses, as a program wants to be told.
    fn all(&self) -> String {
        let scheme = if self.program.kind == Kind::Etcd { "http://" } else { "" };
        let all = self.members.iter().map(|it| format!("{}={scheme}{}", it.name, it.peer));
        all.collect::<Vec<_>>().join(",")
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
        // Ctrl-C on a terminal is for the siege.
        command.process_group(0);
        self.members[index].child = Some(command.spawn()?);
        Ok(())
    }

    /// The program of a member, in the namespaces where it lives.
    fn program(&self, index: usize) -> Command {
        let member = &self.members[index];
        let mut words: Vec<PathBuf> = Vec::new();
        if let Some(network) = &self.network {
            words.extend(["ip", "netns", "exec", &network.name(index)].map(PathBuf::from));
        }
        if let Some(ahead) = member.ahead {
            let clocks = [format!("--monotonic={ahead}"), format!("--boottime={ahead}")];
            words.extend(["unshare", "--time", "--fork", "--kill-child"].map(PathBuf::from));
            words.extend(clocks.map(PathBuf::from));
        }
        words.push(member.program.path.clone());
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]);
        command
    }

    fn command(&self, index: usize) -> Command {
        let member = &self.members[index];
        let mut command = self.program(index);
        match self.program.kind {
            Kind::Habemus => {
                command.arg("--data").arg(&member.data).args(["--listen", &member.client]);
                // All that ever happens is judged in the end.
                command.args(["--history", "100000000", "--quota", "8000000000"]);
                match member.origin {
                    Origin::First if self.members.len() == 1 => {}
                    Origin::First => drop(command.args(["--name", &member.name, "--cluster", &self.first])),
                    Origin::Added => {
                        let others = self.members.iter().filter(|other| other.name != member.name);
                        let others: Vec<&str> = others.map(|other| &other.peer[..]).collect();
                        command.args(["--name", &member.name, "--peer", &member.peer]);
                        command.args(["--join", &others.join(",")]);
                    }
                }
                match &self.certificates {
                    Some(certificates) => drop(command.args(certificates.options())),
                    None if self.network.is_some() => drop(command.arg("--insecure-beyond-loopback")),
                    None => {}
                }
            }
            Kind::Etcd => {
                let (client, peer) = (format!("http://{}", member.client), format!("http://{}", member.peer));
                command.arg("--data-dir").arg(&member.data).args(["--name", &member.name]);
                command.args(["--listen-client-urls", &client, "--advertise-client-urls", &client]);
                command.args(["--listen-peer-urls", &peer, "--initial-advertise-peer-urls", &peer]);
                let (all, state) = match member.origin {
                    Origin::First => (self.first.clone(), "new"),
                    Origin::Added => (self.all(), "existing"),
                };
                command.args(["--initial-cluster", &all, "--initial-cluster-state", state]);
                command.args(["--log-level", "error"]);
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

    /// The process of a member.
    pub(crate) fn process(&self, index: usize) -> Option<Pid> {
        let id = self.members[index].child.as_ref().and_then(Child::id)?;
        Pid::from_raw(id.cast_signed())
    }

    /// Stops a member, or lets it go on.
    pub(crate) fn signal(&mut self, index: usize, signal: Signal) {
        if let Some(id) = self.process(index) {
            // One that has just ended hears nothing.
            let _ = kill_process(id, signal);
            match signal {
                Signal::STOP => self.members[index].stopped = true,
                Signal::CONT => self.members[index].stopped = false,
                _ => {}
            }
        }
    }

    /// Lets everything be well again, and waits until every member answers.
    pub(crate) async fn recover(&mut self) -> Outcome<()> {
        if let Some(network) = &mut self.network {
            network.heal()?;
        }
        let deadline = Instant::now() + LONG;
        for index in 0..self.members.len() {
            self.signal(index, Signal::CONT);
            self.launch(index)?;
        }
        for index in 0..self.members.len() {
            while let Err(why) = write(&self.door, &self.members[index].client).await {
                if Instant::now() > deadline {
                    let log = self.directory.join(format!("m{index}.log"));
                    let said = std::fs::read_to_string(log).unwrap_or_default();
                    let tail: Vec<&str> = said.lines().rev().take(5).collect();
                    let long = LONG.as_secs();
                    let lost = format!("m{index} did not work within {long} s: {why}; it said {tail:?}");
                    self.lost = Some(lost.clone());
                    return Err(lost.into());
                }
                // It may have ended by itself.
                let member = &mut self.members[index];
                if member.child.as_mut().is_some_and(|child| !matches!(child.try_wait(), Ok(None))) {
                    member.child = None;
                    self.launch(index)?;
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
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
                let channel = self.door.channel(&member.client).ok()?;
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

    /// Connections to all members.
    pub(crate) fn ways(&self) -> Outcome<Vec<Channel>> {
        self.members.iter().map(|member| self.door.channel(&member.client)).collect()
    }

    /// The directory of a member.
    pub(crate) fn data(&self, index: usize) -> &Path {
        &self.members[index].data
    }

    /// From its next start on a member runs what is attacked, whatever it ran before.
    pub(crate) fn upgrade(&mut self, index: usize) {
        self.members[index].program = self.program.clone();
    }

    /// Whether somebody still runs something else than what is attacked.
    pub(crate) fn is_mixed(&self) -> bool {
        self.members.iter().any(|member| member.program.path != self.program.path)
    }

    /// A member that does not run becomes a new one, with an empty directory, which the others must be told
    /// of.
    pub(crate) fn replace(&mut self, index: usize) -> Outcome<()> {
        std::fs::remove_dir_all(&self.members[index].data)?;
        self.added += 1;
        let name = format!("m{index}n{}", self.added);
        let member = &mut self.members[index];
        member.data = self.directory.join(&name);
        (member.name, member.origin) = (name, Origin::Added);
        Ok(())
    }
}

/// Networks for the members, if they can be had; says aloud if not.
fn namespaces(flags: &Flags, count: usize) -> Outcome<Option<Namespaces>> {
    if flags.loopback {
        return Ok(None);
    }
    match Namespaces::make(count) {
        Ok(made) => Ok(Some(made)),
        Err(why) if flags.namespaces => Err(why),
        Err(why) => {
            eprintln!("members are on loopback addresses, and nothing is cut: {why}");
            Ok(None)
        }
    }
}

async fn write(door: &Door, address: &str) -> Outcome<()> {
    let request = PutRequest { key: "siege-ready".into(), value: "x".into(), ..Default::default() };
    let put = async { Ok(KvClient::new(door.channel(address)?).put(request).await?) };
    tokio::time::timeout(Duration::from_secs(2), put).await?.map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_have_ports_of_their_own_that_no_client_is_given() {
        let ports = ports(14).expect("there are thousands");
        let different: std::collections::BTreeSet<&u16> = ports.iter().collect();
        assert_eq!(different.len(), 14);
        assert!(ports.iter().all(|port| *port < GIVEN), "{ports:?}");
    }
}
