//! Debian's etcd, as the one that is right.

use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::PATIENCE;

/// A running etcd.
pub(crate) struct Etcd {
    child: Child,
    pub(crate) address: String,
}

impl Etcd {
    pub(crate) fn start(data: &Path) -> Etcd {
        let free =
            || TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr()).expect("there are free ports");
        let (clients, peers) = (free(), free());
        let child = Command::new("etcd")
            .arg("--data-dir")
            .arg(data)
            .args(["--listen-client-urls", &format!("http://{clients}")])
            .args(["--advertise-client-urls", &format!("http://{clients}")])
            .args(["--listen-peer-urls", &format!("http://{peers}")])
            .args(["--initial-advertise-peer-urls", &format!("http://{peers}")])
            .args(["--initial-cluster", &format!("default=http://{peers}")])
            .args(["--log-level", "error"])
            .env("ETCD_UNSUPPORTED_ARCH", std::env::consts::ARCH)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("etcd was there a moment ago");
        let deadline = Instant::now() + PATIENCE;
        while TcpStream::connect(clients).is_err() {
            assert!(Instant::now() < deadline, "etcd does not listen");
            std::thread::sleep(Duration::from_millis(10));
        }
        Etcd { child, address: clients.to_string() }
    }
}

impl Drop for Etcd {
    fn drop(&mut self) {
        // It may have ended already.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
