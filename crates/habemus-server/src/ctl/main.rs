//! `habemusctl`: programs under a lock or as a leader, and a look at who holds what. `habemus lock` and its
//! siblings become this program.

mod certs;
mod codes;
mod guardian;
mod hold;
mod inspect;
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
    /// Run a program while leading an election, again after every loss.
    Elect(hold::Elect),
    /// Show who holds and who waits.
    Locks(inspect::Locks),
    /// Show who leads an election.
    Leader(inspect::Leads),
    /// Show how the members are.
    Status(inspect::Health),
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
        Task::Certs(certs) => certs.execute(),
        Task::Guardian(guardian) => guardian.execute().await,
    };
    ExitCode::from(done.unwrap_or_else(|failed| {
        eprintln!("habemusctl: {}", failed.why);
        failed.code
    }))
}
