//! Attacks real members of the service, or of etcd, while real clients use them, and judges what the clients
//! saw by the rules of the simulation.

mod attack;
mod clients;
mod cluster;
mod disks;
mod door;
mod holder;
mod interrupt;
mod kills;
mod locks;
mod network;
mod operators;
mod picture;
mod record;
mod report;
mod verdict;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::{Parser, ValueEnum};

use crate::clients::Pace;
use crate::cluster::{Cluster, Program};
use crate::door::Door;
use crate::holder::Holder;
use crate::interrupt::Interrupt;
use crate::record::Record;
use crate::report::Siege;

/// Whatever can go wrong while we look: text for people.
pub(crate) type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Attacks real members of the service, or of etcd, while clients read, write, lock and watch, and judges
/// what they saw: linearizable keys, one holder at a time by the clients' own clocks, growing tokens, nothing
/// lost.
#[derive(Clone, Debug, Parser)]
#[command(
    name = "habemus siege",
    version,
    after_help = "Examples:
  habemus siege
      three members for three minutes; as root each in a network namespace of its own, and cut off, too
  habemus siege --members 5 --report siege --program habemusd --program etcd
      five, and then five of etcd; writes siege.md and its pictures
  habemus siege --kills 1000
      a thousand times kill -9, as fast as members come back
  habemus siege --previous old/habemusd --tls
      begins with an older program, which is replaced while clients work; with certificates, which are, too

Ctrl-C ends the attacks, and what was seen so far is judged; a second one ends everything.

It exits with 0 if every promise was kept, with 1 if one was not, and with 2 if it could not be tried."
)]
pub(crate) struct Flags {
    /// What is attacked, one after the other: `habemusd` (that beside this program), `etcd`, or a path of one
    /// of them
    #[arg(long, value_name = "PROGRAM", default_value = "habemusd")]
    program: Vec<PathBuf>,
    /// Which of the two it is, if its name does not say
    #[arg(long)]
    kind: Option<Kind>,
    /// How many members
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..=7))]
    members: u8,
    /// For how long each is attacked
    #[arg(long, default_value_t = 180)]
    seconds: u64,
    /// Nothing but so many times kill -9
    #[arg(long, value_name = "COUNT")]
    kills: Option<u64>,
    /// Members in network namespaces or not at all; else, without root and iproute2, they are on loopback
    /// addresses
    #[arg(long, conflicts_with = "loopback")]
    namespaces: bool,
    /// Members on loopback addresses, where nothing can be cut
    #[arg(long)]
    loopback: bool,
    /// An older habemusd: the members begin with it, and are upgraded first
    #[arg(long, value_name = "PROGRAM")]
    previous: Option<PathBuf>,
    /// Everybody shows certificates, which are replaced while everything runs (habemusd only)
    #[arg(long)]
    tls: bool,
    /// What the attacks are drawn from
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Write FILE.md and pictures beside it
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Where the members have their data [default: a directory beside this program]
    #[arg(long, value_name = "DIRECTORY")]
    data: Option<PathBuf>,
    /// Be a holder that is going to be stopped
    #[arg(long, hide = true, requires = "at")]
    hold: Option<Holder>,
    #[arg(long, hide = true, value_delimiter = ',')]
    at: Vec<String>,
    #[arg(long, hide = true)]
    showing: Option<PathBuf>,
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
    let lived = runtime.map_err(Into::into).and_then(|runtime| runtime.block_on(begin(&flags)));
    match lived {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("error: {why}");
            ExitCode::from(2)
        }
    }
}

async fn begin(flags: &Flags) -> Outcome<bool> {
    if let Some(holder) = flags.hold {
        let door = flags.showing.as_deref().map_or(Ok(Door::default()), Door::with)?;
        return holder::be(holder, &flags.at, &door).await.map(|()| true);
    }
    let interrupt = Interrupt::default();
    tokio::select! {
        lived = besiege_all(flags, &interrupt) => lived,
        // Whatever was made for the siege goes with it.
        heard = interrupt.twice() => heard.and(Err("interrupted, and nothing was judged".into())),
    }
}

async fn besiege_all(flags: &Flags, interrupt: &Interrupt) -> Outcome<bool> {
    let mut sieges = Vec::new();
    for path in &flags.program {
        if !interrupt.is_heard() {
            sieges.push(besiege(Program::find(path, flags.kind)?, flags, interrupt).await?);
        }
    }
    let picture = flags.report.as_deref().and_then(Path::file_stem).map(Path::new);
    print!("{}", report::markdown(&sieges, flags, None));
    if let Some(path) = &flags.report {
        std::fs::write(path.with_extension("md"), report::markdown(&sieges, flags, picture))?;
        let stem = picture.unwrap_or(path).display();
        let write = |kind: &str, text: String| {
            std::fs::write(path.with_file_name(format!("{stem}-{kind}.svg")), text)
        };
        write("outages", picture::outages(&sieges))?;
        for siege in &sieges {
            write(siege.name, picture::course(siege))?;
        }
        let late = |siege: &Siege| siege.trials.iter().find(|it| it.overwritten).cloned();
        if let Some((siege, trial)) = sieges.iter().rev().find_map(|siege| Some((siege, late(siege)?))) {
            write("paused", picture::paused(siege, &trial))?;
        }
    }
    match sieges.iter().find_map(|siege| siege.failed.clone()) {
        Some(why) if sieges.iter().all(|siege| siege.verdict.holds()) => Err(why.into()),
        _ => Ok(sieges.iter().all(|siege| siege.verdict.holds())),
    }
}

async fn besiege(program: Program, flags: &Flags, interrupt: &Interrupt) -> Outcome<Siege> {
    let mut cluster = Cluster::start(program, flags).await?;
    let record = Arc::new(Record::new());
    // What has to be judged of a siege by kills grows for hours.
    let pace = if flags.kills.is_some() { Pace::Slow } else { Pace::Quick };
    let workers = clients::start(&cluster, &record, pace)?;
    let attacked = attack::run(&mut cluster, &record, flags, interrupt).await;
    let attacked = match cluster.lost {
        // Nobody waits for it again.
        Some(_) => Ok(()),
        None => attacked.and(cluster.recover().await),
    };
    // What is still under way may end.
    tokio::time::sleep(Duration::from_secs(2)).await;
    workers.stop().await;
    // However it ended, what was seen is judged: it may be why.
    let failed = attacked.err().filter(|_| cluster.lost.is_none()).map(|why| why.to_string());
    let why = failed.as_ref().or(cluster.lost.as_ref()).map_or(String::new(), |why| format!("{why}; and "));
    let revised = clients::all_revisions(&cluster).await;
    let revised = revised.map_err(|error| format!("{why}nothing can be judged: {error}"))?;
    let verdict = verdict::of(&record, &revised, cluster.lost.clone());
    let parts = record.parts();
    // A holder takes its time.
    let has_time = flags.kills.is_none() && flags.seconds >= 60 && !interrupt.is_heard();
    let trials = match has_time && cluster.lost.is_none() {
        true => holder::try_all(&cluster, &record).await?,
        false => Vec::new(),
    };
    let place = if cluster.network.is_some() { "in network namespaces" } else { "on loopback addresses" };
    let tls = if cluster.certificates.is_some() { ", with certificates" } else { "" };
    Ok(Siege {
        name: cluster.program.name(),
        version: cluster.program.version.clone(),
        place: format!("{} members {place}{tls}", cluster.members.len()),
        parts,
        verdict,
        failed,
        trials,
    })
}
