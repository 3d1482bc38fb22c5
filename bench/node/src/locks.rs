//! Entries into a lock that all five nodes want all the time.

use std::path::Path;
use std::time::Duration;

use habemus_node::cluster::ClusterError;
use habemus_node::{Clients, Overview, SupervisorCommand};
use tokio::time::Instant;

use crate::{Bench, FigureRow};

pub(crate) async fn measure(
    program: &Path,
    algorithm: &str,
    time: Duration,
) -> Result<Vec<FigureRow>, ClusterError> {
    let mut bench = Bench::new(program, algorithm, &["--untraced", "--log", "warn"]).await?;
    let at_once = (Duration::ZERO, Duration::ZERO);
    let clients = Clients { entries: u32::MAX, hold: at_once, think: at_once, wish_every: None };
    for id in 1..=5 {
        bench.cluster.tell(id, SupervisorCommand::Clients(clients));
    }
    bench.pass(Duration::from_millis(500)).await?;
    let (began, before) = (Instant::now(), bench.overviews().await?);
    bench.pass(time).await?;
    let (seconds, after) = (began.elapsed().as_secs_f64(), bench.overviews().await?);
    bench.cluster.end().await;
    let rate = |count: fn(&Overview) -> u64, which: fn(&Overview) -> bool| {
        let sum = |all: &[Overview]| all.iter().filter(|it| which(it)).map(count).sum::<u64>();
        (sum(&after) - sum(&before)) as f64 / seconds
    };
    let handled = |it: &Overview| it.received + it.sent.values().sum::<u64>();
    Ok(vec![
        FigureRow {
            what: format!("{algorithm}, 5 nodes: lock entries per second"),
            measured: format!("{:.0}", rate(|it| it.entries, |_| true)),
            required: "for information",
            met: true,
        },
        FigureRow {
            what: format!("{algorithm}: messages per second through the busiest node"),
            measured: format!("{:.0}", rate(handled, |it| it.id == 1)),
            required: "for information",
            met: true,
        },
    ])
}

impl Bench {
    async fn overviews(&mut self) -> Result<Vec<Overview>, ClusterError> {
        let deadline = Instant::now() + Duration::from_secs(10);
        Ok(self.cluster.overviews(deadline).await?.into_values().collect())
    }
}
