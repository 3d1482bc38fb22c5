//! From killing the leader to all survivors agreeing on another.

use std::path::Path;
use std::time::Duration;

use habemus_node::SupervisorCommand;
use habemus_node::cluster::ClusterError;
use tokio::time::Instant;

use crate::{Bench, FigureRow};

/// `timeout` is the detection timeout in force: with heartbeats, after how long a silent process is
/// suspected; in the majority election, the shortest time after which a follower misses its leader.
pub(crate) async fn measure(
    program: &Path,
    algorithm: &str,
    timeout: Duration,
    rounds: usize,
) -> Result<FigureRow, ClusterError> {
    let flags: &[&str] = if algorithm == "bully" { &["--detector", "heartbeat"] } else { &[] };
    let mut bench = Bench::new(program, algorithm, flags).await?;
    for id in 1..=5 {
        bench.cluster.tell(id, SupervisorCommand::Command { word: "elect".to_owned(), name: String::new() });
    }
    let mut ratios = Vec::new();
    for round in 0..rounds {
        bench.agreement().await?;
        // What the last round stirred up settles, and the crash falls anywhere between two heartbeats.
        bench.pass(Duration::from_millis(1000 + 37 * round as u64 % 100)).await?;
        let leader = bench.agreement().await?;
        let killed = Instant::now();
        bench.cluster.kill(leader).await;
        bench.agreement().await?;
        ratios.push(killed.elapsed().as_secs_f64() / timeout.as_secs_f64());
        bench.cluster.restart(leader, false).await?;
    }
    bench.cluster.end().await;
    ratios.sort_by(f64::total_cmp);
    let (min, median, max) = (ratios[0], ratios[ratios.len() / 2], ratios[ratios.len() - 1]);
    Ok(FigureRow {
        what: format!(
            "{algorithm}, 5 nodes: leader killed until all survivors agree, over the timeout of {timeout:?} \
             ({rounds} rounds)"
        ),
        measured: format!("{median:.2} ({min:.2} to {max:.2})"),
        required: "at most 1.3 at the median",
        met: median <= 1.3,
    })
}
