//! `habemusctl`: programs under a lock or as a leader, and a look at who holds what. `habemus lock` and its
//! siblings become this program.

mod backup;
mod bench;
mod certs;
mod codes;
mod guardian;
mod hold;
mod inspect;
mod members;
mod options;
mod processes;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Programs under a lock or as a leader, and a look at who holds what: on habemus's service, or on etcd.
#[derive(Parser)]
#[command(name = "habemusctl", version, max_term_width = 100, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Run a program while holding a lock; it is dead before anybody else can hold it.
    Lock(hold::Lock),
    /// Run a program while holding one of several permits.
    Semaphore(hold::Semaphore),
    /// Run a program while leading an election, again after every loss.
    Elect(hold::Elect),
    /// Show who holds and who waits.
    Locks(inspect::Locks),
    /// Show who leads an election.
    Leader(inspect::Leads),
    /// Show how the members are.
    Status(inspect::Health),
    /// Show and change who belongs to the cluster.
    Member(members::Members),
    /// Let another member lead.
    MoveLeader(members::MoveLeader),
    /// Write all of a running cluster to a file.
    Backup(backup::Backup),
    /// Make the directory of a member of a new cluster from a backup.
    Restore(backup::Restore),
    /// Measure how fast keys are written, locks are taken, and a lock is handed over.
    Bench(bench::Bench),
    /// Make certificates for members and clients.
    Certs(certs::Certs),
    /// See to it that a program is dead in time, whatever becomes of the one that started it.
    #[command(hide = true)]
    Guardian(guardian::Guardian),
}

#[tokio::main]
async fn main() -> ExitCode {
    let done = match Arguments::parse().task {
        Task::Lock(lock) => lock.execute().await,
        Task::Elect(elect) => elect.execute().await,
        Task::Locks(locks) => locks.execute().await,
        Task::Leader(leads) => leads.execute().await,
        Task::Status(health) => health.execute().await,
        Task::Semaphore(semaphore) => semaphore.execute().await,
        Task::Member(members) => members.execute().await,
        Task::MoveLeader(moved) => moved.execute().await,
        Task::Backup(backup) => backup.execute().await,
        Task::Restore(restore) => restore.execute(),
        Task::Bench(bench) => bench.execute().await,
        Task::Certs(certs) => certs.execute(),
        Task::Guardian(guardian) => guardian.execute().await,
    };
    ExitCode::from(done.unwrap_or_else(|failed| {
        eprintln!("habemusctl: {}", failed.why);
        failed.code
    }))
}
