//! A cluster for a test, in a directory that goes with it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use habemus_node::cluster::{Blueprint, Cluster, Program};
use tokio::time::Instant;

/// The one that the tests within the crate use.
#[path = "../../src/scratch.rs"]
mod scratch;

pub(crate) use scratch::Scratch;

/// However loaded the machine, this is long enough.
pub(crate) const LONG: Duration = Duration::from_secs(60);

pub(crate) fn program() -> PathBuf {
    env!("CARGO_BIN_EXE_habemus-node").into()
}

pub(crate) fn blueprint(scratch: &Scratch, algorithm: &str, count: u64, flags: &[&str]) -> Blueprint {
    let mut all = vec!["--algorithm".to_owned(), algorithm.to_owned()];
    all.extend(flags.iter().map(|flag| (*flag).to_owned()));
    Blueprint {
        program: Program { path: program(), arguments: Vec::new() },
        ids: (1..=count).collect(),
        flags: all,
        own_flags: BTreeMap::new(),
        hosts: BTreeMap::new(),
        wrappers: BTreeMap::new(),
        directory: scratch.path().to_owned(),
        oracle: None,
        stretch: 1.0,
    }
}

/// A cluster whose processes have begun.
pub(crate) async fn cluster(scratch: &Scratch, algorithm: &str, count: u64, flags: &[&str]) -> Cluster {
    let mut cluster =
        Cluster::start(blueprint(scratch, algorithm, count, flags), &[]).await.expect("the nodes come up");
    cluster.begin();
    cluster
}

/// Attends to the cluster until something holds of it.
pub(crate) async fn until(cluster: &mut Cluster, what: &str, mut holds: impl FnMut(&Cluster) -> bool) {
    let deadline = Instant::now() + LONG;
    while !holds(cluster) {
        assert!(Instant::now() < deadline, "not in time: {what}");
        let soon = Instant::now() + Duration::from_millis(50);
        cluster.attend(soon).await.expect("no node ends by itself");
    }
}
