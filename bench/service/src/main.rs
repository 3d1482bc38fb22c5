//! Measures the service beside etcd: the same client, the same calls, three members each on the loopback,
//! real disks, in turns.

mod cluster;
mod elections;
mod failover;
mod holders;
mod idle;
mod keys;
mod limit;
mod load;
mod locks;
mod scale;
mod table;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use cluster::Kind;
use table::Table;

/// Whatever goes wrong ends the benchmark, with a reason.
pub(crate) type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// How long and how often is measured.
#[derive(Clone, Copy)]
pub(crate) struct Effort {
    /// Rounds in which the two take turns; the median counts.
    pub(crate) rounds: usize,
    /// How long each load lasts.
    pub(crate) time: Duration,
    /// How often a leader is killed.
    pub(crate) kills: usize,
    /// Whether goals are judged.
    pub(crate) judges: bool,
}

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (habemusd, etcd, quick) = match &arguments[..] {
        [limit, address, directory] if limit == "limit" => {
            return match limit::serve(address, directory).await {
                Ok(()) => ExitCode::SUCCESS,
                Err(why) => {
                    eprintln!("error: {why}");
                    ExitCode::from(1)
                }
            };
        }
        [habemusd, etcd] => (habemusd, etcd, false),
        [habemusd, etcd, quick] if quick == "--quick" => (habemusd, etcd, true),
        _ => {
            eprintln!("usage: habemus-bench-service HABEMUSD ETCD [--quick]; bench/service/run calls it");
            return ExitCode::from(2);
        }
    };
    let effort = if quick {
        Effort { rounds: 1, time: Duration::from_millis(300), kills: 1, judges: false }
    } else {
        Effort { rounds: 3, time: Duration::from_secs(3), kills: 7, judges: true }
    };
    // Without etcd only our own figures are shown.
    let mut kinds = vec![Kind::Habemus(PathBuf::from(habemusd))];
    if etcd != "no-etcd" {
        kinds.push(Kind::Etcd(PathBuf::from(etcd)));
    }
    if let Ok(program) = std::env::current_exe() {
        kinds.push(Kind::Limit(program));
    }
    match measure(&kinds, effort).await {
        Ok(table) => {
            table.print(effort.judges);
            ExitCode::from(u8::from(effort.judges && table.has_misses()))
        }
        Err(why) => {
            eprintln!("error: {why}");
            ExitCode::from(1)
        }
    }
}

async fn one_round(kind: &Kind, effort: Effort, table: &mut Table) -> Outcome<()> {
    if let Kind::Limit(_) = kind {
        return locks::own(&cluster::Cluster::start(kind, 1).await?, effort, table).await;
    }
    let cluster = cluster::Cluster::start(kind, 3).await?;
    keys::measure(&cluster, effort, table).await?;
    locks::measure(&cluster, effort, table).await?;
    elections::measure(&cluster, effort, table).await?;
    idle::measure(&cluster, effort, table).await
}

/// What could not be measured costs the verdict, but not the other figures.
fn told(outcome: Outcome<()>, table: &mut Table) {
    if let Err(why) = outcome {
        eprintln!("not measured: {why}");
        table.is_incomplete = true;
    }
}

async fn measure(kinds: &[Kind], effort: Effort) -> Outcome<Table> {
    let mut table = Table::default();
    for round in 1..=effort.rounds {
        for kind in kinds {
            eprintln!("round {round} of {}: {}", effort.rounds, kind.name());
            // On a busy machine a leader may change in the midst of it; but not each time.
            if let Err(why) = one_round(kind, effort, &mut table).await {
                eprintln!("once more: {why}");
                one_round(kind, effort, &mut table).await?;
            }
        }
    }
    locks::beside_the_limit(&mut table);
    for kind in kinds.iter().filter(|kind| !matches!(kind, Kind::Limit(_))) {
        told(failover::measure(kind, effort, &mut table).await, &mut table);
        told(idle::measure_start(kind, effort, &mut table).await, &mut table);
        if let Kind::Habemus(program) = kind {
            let program = program.with_file_name("habemusctl");
            told(holders::measure(kind, &program, effort, &mut table).await, &mut table);
            told(scale::sessions(kind, effort, &mut table).await, &mut table);
            told(scale::waiters(kind, effort, &mut table).await, &mut table);
            told(scale::keys(kind, effort, &mut table).await, &mut table);
        }
    }
    Ok(table)
}
