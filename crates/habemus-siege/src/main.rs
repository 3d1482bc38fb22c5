//! Attacks real members of the service, or of etcd, while real clients use them, and judges what the clients saw by the
//! rules of the simulation.

mod attack;
mod clients;
mod cluster;
mod locks;
mod network;
mod record;
mod report;
mod verdict;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::{Parser, ValueEnum};

use crate::cluster::{Cluster, Program};
use crate::record::Record;

/// Whatever can go wrong while we look: text for people.
pub(crate) type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Attacks real members of the service, or of etcd, while clients read, write, lock and watch, and judges what they saw:
/// linearizable keys, one holder at a time by the clients' own clocks, growing tokens, nothing lost.
#[derive(Clone, Debug, Parser)]
#[command(
    name = "habemus siege",
    version,
    after_help = "Examples:
  habemus siege --seconds 60
      three members on loopback addresses, killed, stopped and restarted for a minute
  habemus siege --members 5 --seconds 600 --namespaces --report siege
      five, each in a network namespace of its own (root only), also cut off and slowed down; writes siege.md, siege.svg
  habemus siege --kills 1000
      a thousand times kill -9, as fast as members come back
  habemus siege --program etcd --seconds 60
      the same against etcd

It exits with 0 if every promise was kept, with 1 if one was not, and with 2 if it could not be tried."
)]
pub(crate) struct Flags {
    /// What is attacked: `habemusd`, `etcd`, or the path of one of them [default: the habemusd beside this program]
    #[arg(long, value_name = "PROGRAM")]
    program: Option<PathBuf>,
    /// Which of the two it is, if its name does not say
    #[arg(long)]
    kind: Option<Kind>,
    /// How many members
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..=7))]
    members: u8,
    /// For how long
    #[arg(long, default_value_t = 30)]
    seconds: u64,
    /// Nothing but so many times kill -9
    #[arg(long, value_name = "COUNT")]
    kills: Option<u64>,
    /// Members in network namespaces, which can be cut off and slowed down; needs root and iproute2
    #[arg(long)]
    namespaces: bool,
    /// What the attacks are drawn from
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Write FILE.md and FILE.svg
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Where the members have their data [default: a directory beside this program]
    #[arg(long, value_name = "DIRECTORY")]
    data: Option<PathBuf>,
}

/// Which service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// Ours.
    Habemus,
    /// etcd.
    Etcd,
}

fn main() -> ExitCode {
    let flags = Flags::parse();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let lived = runtime.map_err(Into::into).and_then(|runtime| runtime.block_on(besiege(&flags)));
    match lived {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("error: {why}");
            ExitCode::from(2)
        }
    }
}

async fn besiege(flags: &Flags) -> Outcome<bool> {
    let program = Program::find(flags.program.clone(), flags.kind)?;
    let mut cluster = Cluster::start(program, flags).await?;
    let record = Arc::new(Record::new());
    let workers = clients::start(&cluster, &record)?;
    let attacked = attack::run(&mut cluster, &record, flags).await;
    // What is still under way may end.
    cluster.recover().await?;
    tokio::time::sleep(Duration::from_secs(2)).await;
    workers.stop().await;
    let revised = clients::all_revisions(&cluster).await?;
    let verdict = verdict::of(&record, &revised);
    let text = report::markdown(&cluster, flags, &record, &verdict);
    print!("{text}");
    if let Some(path) = &flags.report {
        std::fs::write(path.with_extension("md"), report::with_picture(&text, path))?;
        std::fs::write(path.with_extension("svg"), report::svg(&record))?;
    }
    attacked?;
    Ok(verdict.holds())
}
