//! Measures real nodes, each a process of its own, on the loopback.

mod failover;
mod idle;
mod locks;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use habemus_node::cluster::{Blueprint, Cluster, ClusterError, Program};
use tokio::time::Instant;

/// A measured figure, and what is required of it.
pub(crate) struct FigureRow {
    what: String,
    measured: String,
    required: &'static str,
    met: bool,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let Some(program) = arguments.next() else {
        eprintln!("usage: habemus-bench-node PROGRAM [--quick]; bench/node/run calls it");
        return ExitCode::from(2);
    };
    let quick = arguments.next().is_some();
    match measure(Path::new(&program), quick).await {
        Ok(rows) => {
            println!("| measured | figure | required | |\n|---|---|---|---|");
            for FigureRow { what, measured, required, met } in &rows {
                let verdict = match (quick, met) {
                    (true, _) => "",
                    (false, true) => "ok",
                    (false, false) => "**missed**",
                };
                println!("| {what} | {measured} | {required} | {verdict} |");
            }
            // A quick look judges nothing: a few rounds on a busy machine say little.
            let failed = !quick && rows.iter().any(|row| !row.met);
            ExitCode::from(u8::from(failed))
        }
        Err(why) => {
            eprintln!("error: {why}");
            ExitCode::from(1)
        }
    }
}

async fn measure(program: &Path, quick: bool) -> Result<Vec<FigureRow>, ClusterError> {
    let mut rows = Vec::new();
    let rounds = if quick { 1 } else { 31 };
    rows.push(failover::measure(program, "bully", Duration::from_millis(350), rounds).await?);
    rows.push(failover::measure(program, "majority", Duration::from_millis(150), rounds).await?);
    let time = Duration::from_secs(if quick { 1 } else { 10 });
    rows.extend(locks::measure(program, "coordinator", time).await?);
    rows.extend(locks::measure(program, "ricart-agrawala", time).await?);
    rows.extend(idle::measure(program, time).await?);
    Ok(rows)
}

/// A cluster of five that has begun, and the directory that goes with it.
pub(crate) struct Bench {
    pub(crate) cluster: Cluster,
    directory: PathBuf,
}

impl Bench {
    pub(crate) async fn new(program: &Path, algorithm: &str, flags: &[&str]) -> Result<Bench, ClusterError> {
        let directory =
            std::env::temp_dir().join(format!("habemus-bench-{}-{algorithm}", std::process::id()));
        let mut all = vec!["--algorithm".to_owned(), algorithm.to_owned()];
        all.extend(flags.iter().map(|flag| (*flag).to_owned()));
        let blueprint = Blueprint {
            program: Program { path: program.to_owned(), arguments: Vec::new() },
            ids: (1..=5).collect(),
            flags: all,
            own_flags: BTreeMap::new(),
            hosts: BTreeMap::new(),
            wrappers: BTreeMap::new(),
            directory: directory.clone(),
            oracle: None,
            stretch: 1.0,
        };
        let mut cluster = Cluster::start(blueprint, &[]).await?;
        cluster.begin();
        Ok(Bench { cluster, directory })
    }

    /// Attends to the cluster until all live nodes agree on a leader.
    pub(crate) async fn agreement(&mut self) -> Result<u64, ClusterError> {
        let deadline = Instant::now() + Duration::from_secs(60);
        while Instant::now() < deadline {
            if let Some(leader) = self.cluster.agreed_leader() {
                return Ok(leader);
            }
            self.cluster.attend(deadline).await?;
        }
        Err(ClusterError::Slow(Duration::from_secs(60)))
    }

    /// Lets time pass.
    pub(crate) async fn pass(&mut self, time: Duration) -> Result<(), ClusterError> {
        let end = Instant::now() + time;
        while Instant::now() < end {
            self.cluster.attend(end).await?;
        }
        Ok(())
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}
