//! Clients that each do one thing after the other, for a while.

use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use crate::Outcome;

/// Nothing takes as long as this.
const LONG: Duration = Duration::from_secs(30);

/// What came of it.
pub(crate) struct Load {
    /// How often it was done in a second.
    pub(crate) rate: f64,
    /// The time that half of them took less than.
    pub(crate) median: Duration,
}

/// Lets every client do its thing again and again until the time is over.
pub(crate) async fn run<C, F>(clients: Vec<C>, time: Duration, act: fn(C) -> F) -> Outcome<Load>
where
    C: Clone + Send + 'static,
    F: Future<Output = Outcome<()>> + Send + 'static,
{
    let mut all = JoinSet::new();
    let begin = Instant::now();
    for client in clients {
        all.spawn(async move {
            let mut took = Vec::new();
            while begin.elapsed() < time {
                let before = Instant::now();
                // A leader may change under a load that is more than the machine can do: whoever is refused
                // asks again.
                while let Err(why) = act(client.clone()).await {
                    if before.elapsed() > LONG {
                        return Err(why);
                    }
                }
                took.push(before.elapsed());
            }
            Ok::<_, Box<dyn std::error::Error + Send + Sync>>(took)
        });
    }
    let mut took = Vec::new();
    while let Some(client) = all.join_next().await {
        took.extend(client??);
    }
    let seconds = begin.elapsed().as_secs_f64();
    took.sort_unstable();
    let median = took.get(took.len() / 2).copied().ok_or("nothing was done")?;
    Ok(Load { rate: took.len() as f64 / seconds, median })
}
