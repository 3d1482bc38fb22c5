//! Members that are real processes, and clients to speak to them.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

use habemus_etcd::etcdserverpb::kv_client::KvClient;
use habemus_etcd::etcdserverpb::lease_client::LeaseClient;
use habemus_etcd::etcdserverpb::{LeaseGrantRequest, PutRequest, PutResponse, RangeRequest, RangeResponse};
use tonic::transport::{Channel, Endpoint};
use tonic::{Response, Status};

/// Whatever takes longer than this has failed.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// A directory that goes when the test is over.
pub(crate) struct Directory(PathBuf);

impl Directory {
    pub(crate) fn new() -> Directory {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a directory can be made");
        Directory(path)
    }

    pub(crate) fn join(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        // What cannot be removed stays in the folder for such things.
        drop(std::fs::remove_dir_all(&self.0));
    }
}

/// A running member.
pub(crate) struct Running {
    child: Child,
    address: String,
    said: Arc<Mutex<Vec<String>>>,
}

/// How a member ended that was not killed.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) said: String,
}

pub(crate) fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_habemusd"));
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("HABEMUS_")) {
        command.env_remove(name);
    }
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    command
}

/// Runs a member that does not come to work.
pub(crate) fn fails(arguments: &[&str]) -> Ended {
    let mut child = command(arguments).spawn().expect("habemusd was built");
    let mut output = child.stderr.take().expect("it was piped");
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || {
        let mut said = String::new();
        tell.send(output.read_to_string(&mut said).map(|_| said))
    });
    let Ok(said) = told.recv_timeout(PATIENCE) else {
        child.kill().expect("it is ours");
        panic!("it comes to work: {:?}", told.recv());
    };
    Ended { code: child.wait().expect("it is ours").code(), said: said.expect("it writes text") }
}

impl Running {
    /// Starts a member on a port that is free, and waits until it listens.
    pub(crate) fn start(data: &Path, more: &[&str]) -> Running {
        let data = data.to_str().expect("it is a text");
        let arguments = [&["--listen", "127.0.0.1:0", "--data", data], more].concat();
        Running::begin(&mut command(&arguments))
    }

    /// Runs a command that starts a member, and waits until it listens.
    pub(crate) fn begin(command: &mut Command) -> Running {
        let mut child = command.spawn().expect("habemusd was built");
        let mut lines = BufReader::new(child.stderr.take().expect("it was piped")).lines();
        let mut said = Vec::new();
        let address = loop {
            let Some(Ok(line)) = lines.next() else { panic!("it does not listen: {said:#?}") };
            match line.split_whitespace().find_map(|word| word.strip_prefix("address=")) {
                Some(address) if line.contains(" listens ") => break address.to_owned(),
                _ => said.push(line),
            }
        };
        let said = Arc::new(Mutex::new(said));
        let heard = Arc::clone(&said);
        std::thread::spawn(move || {
            lines.map_while(Result::ok).for_each(|line| heard.lock().expect("nobody panics").push(line));
        });
        Running { child, address, said }
    }

    /// Waits until it says something like this.
    pub(crate) fn says(&self, text: &str) {
        let deadline = Instant::now() + PATIENCE;
        while !self.said.lock().expect("nobody panics").iter().any(|line| line.contains(text)) {
            assert!(Instant::now() < deadline, "it does not say {text:?}, but {:#?}", self.said);
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Kills it as the kernel does.
    pub(crate) fn kill(mut self) {
        self.child.kill().expect("it is ours");
        self.child.wait().expect("it is ours");
    }

    /// Stops it in good order, and says how it ended.
    pub(crate) fn stop(mut self) -> Option<i32> {
        signal(&self.child, "INT");
        self.wait()
    }

    /// Waits until it has ended.
    pub(crate) fn wait(&mut self) -> Option<i32> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().expect("it is ours") {
                return status.code();
            }
            assert!(Instant::now() < deadline, "it does not end, but says {:#?}", self.said);
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    pub(crate) fn signal(&self, name: &str) {
        signal(&self.child, name);
    }

    pub(crate) async fn channel(&self) -> Channel {
        channel(&self.address).await
    }

    /// What etcdctl prints.
    pub(crate) fn etcdctl(&self, arguments: &[&str]) -> String {
        etcdctl(&self.address, arguments)
    }
}

pub(crate) fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([&format!("-{name}"), &child.id().to_string()]).status();
    assert!(sent.expect("there is a program to send signals").success());
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

pub(crate) async fn channel(address: &str) -> Channel {
    let endpoint = Endpoint::from_shared(format!("http://{address}")).expect("it is an address");
    endpoint.connect_timeout(PATIENCE).connect().await.expect("it listens")
}

pub(crate) async fn put(channel: &Channel, key: &str, value: &str) -> Result<Response<PutResponse>, Status> {
    let (key, value) = (key.to_owned().into(), value.to_owned().into());
    KvClient::new(channel.clone()).put(PutRequest { key, value, ..Default::default() }).await
}

pub(crate) async fn get(channel: &Channel, key: &str) -> RangeResponse {
    let request = RangeRequest { key: key.to_owned().into(), ..Default::default() };
    KvClient::new(channel.clone()).range(request).await.expect("it can be read").into_inner()
}

/// All keys that begin like this.
pub(crate) async fn get_all(channel: &Channel, prefix: &str) -> RangeResponse {
    let mut end = prefix.as_bytes().to_vec();
    *end.last_mut().expect("there is a prefix") += 1;
    let request = RangeRequest { key: prefix.to_owned().into(), range_end: end.into(), ..Default::default() };
    let mut client = KvClient::new(channel.clone()).max_decoding_message_size(1 << 28);
    client.range(request).await.expect("it can be read").into_inner()
}

pub(crate) async fn lease(channel: &Channel, ttl: i64) -> i64 {
    let granted = LeaseClient::new(channel.clone()).lease_grant(LeaseGrantRequest { ttl, id: 0 }).await;
    granted.expect("a lease can be had").into_inner().id
}

/// Whether a program of Debian's package is there. If not, this says so aloud: `./test` installs it where it
/// may.
pub(crate) fn installed(program: &str, package: &str) -> bool {
    let there = Command::new(program).arg("--version").output().is_ok();
    if !there {
        eprintln!("NOT TESTED: {program} is missing. Install it with: sudo apt-get install {package}");
    }
    there
}

/// What etcdctl prints, against this address; its errors included.
pub(crate) fn etcdctl(address: &str, arguments: &[&str]) -> String {
    let output = Command::new("etcdctl")
        .env("ETCDCTL_API", "3")
        .env("ETCDCTL_ENDPOINTS", address)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .expect("etcdctl was there a moment ago");
    String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
}

/// Lines that a program writes, as they come.
pub(crate) fn lines(child: &mut Child) -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    let output = BufReader::new(child.stdout.take().expect("it was piped"));
    std::thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
    receiver
}
