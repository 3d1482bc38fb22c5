//! What a node costs that has nothing to do but to beat.

use std::path::Path;
use std::time::Duration;

use habemus_node::cluster::ClusterError;
use tokio::time::Instant;

use crate::{Bench, FigureRow};

pub(crate) async fn measure(program: &Path, time: Duration) -> Result<Vec<FigureRow>, ClusterError> {
    let flags =
        ["--untraced", "--log", "warn", "--detector", "heartbeat", "--option", "heartbeat-interval=100ms"];
    let mut bench = Bench::new(program, "bully", &flags).await?;
    bench.pass(Duration::from_secs(1)).await?;
    let pids: Vec<u32> = (1..=5).filter_map(|id| bench.cluster.pid(id)).collect();
    let (began, before): (_, Vec<f64>) = (Instant::now(), pids.iter().map(|pid| processor(*pid)).collect());
    bench.pass(time).await?;
    let seconds = began.elapsed().as_secs_f64();
    let shares = pids.iter().zip(before).map(|(pid, before)| (processor(*pid) - before) / seconds * 100.0);
    let share = shares.fold(0.0, f64::max);
    let memory = pids.iter().map(|pid| resident(*pid)).fold(0.0, f64::max);
    bench.cluster.end().await;
    Ok(vec![
        FigureRow {
            what: "idle node with four peers and 100 ms heartbeats: share of a core".to_owned(),
            measured: format!("{share:.2} %"),
            required: "below 0.5 %",
            met: share < 0.5,
        },
        FigureRow {
            what: "the same: resident memory".to_owned(),
            measured: format!("{memory:.1} MB"),
            required: "below 15 MB",
            met: memory < 15.0,
        },
    ])
}

/// Seconds that all threads of a process have spent on the processor, by the scheduler's own account.
fn processor(pid: u32) -> f64 {
    let Ok(threads) = std::fs::read_dir(format!("/proc/{pid}/task")) else { return f64::NAN };
    let nanos = threads.flatten().map(|thread| {
        let text = std::fs::read_to_string(thread.path().join("schedstat")).unwrap_or_default();
        text.split_whitespace().next().and_then(|word| word.parse::<f64>().ok()).unwrap_or(f64::NAN)
    });
    nanos.sum::<f64>() / 1e9
}

/// Resident memory of a process in megabytes.
fn resident(pid: u32) -> f64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes: Option<f64> = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    kilobytes.unwrap_or(f64::NAN) / 1024.0
}
