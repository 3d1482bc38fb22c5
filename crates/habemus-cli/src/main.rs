//! The `habemus` command.

mod args;
mod commands;
mod diagnostics;
mod errata;
mod error;
mod exit_codes;
mod help;
mod interrupt;
mod output;
mod show;

use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use owo_colors::OwoColorize;

use crate::error::CliError;

/// Leader election and mutual exclusion to watch, to prove, and to rely on.
#[derive(Parser)]
#[command(name = "habemus", version = env!("HABEMUS_VERSION"), max_term_width = 100)]
#[command(subcommand_required = true)]
#[command(after_help = "Examples:
  habemus demo
  habemus run chang-roberts --ids 3,17,24,1,28,15,9,4 --start 17 --draw text
  habemus sweep bully --processes 5 --crash-rate 2/s --seeds 10000
  habemus check ricart-agrawala --processes 3
  habemus lock orders -- ./nightly-job

Exit codes: 0 it holds, 1 it does not, 2 bad input, 3 it could not be told;
the help of each command says what that means for it.")]
struct Habemus {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Show the algorithms, all about one, or what a property means.
    List(commands::list::List),
    /// Solve exercises about elections and locks, and be judged.
    Exercise(commands::exercise::Solve),
    /// Run an algorithm or a scenario file in the simulator.
    Run(Box<commands::run::Run>),
    /// Run the same scenario under thousands of seeds, on all cores.
    Sweep(Box<commands::sweep::Sweep>),
    /// Run two algorithms under the same circumstances, side by side.
    Compare(Box<commands::compare::Compare>),
    /// Check every run of a small system.
    Check(Box<commands::check::Check>),
    /// Check every algorithm under every kind of fault.
    Guarantees(commands::guarantees::Guarantees),
    /// Break algorithms rule by rule, and see whether it is noticed.
    Mutants(commands::mutants::Mutants),
    /// Show where the lecture notes are wrong, with runs that prove it.
    Errata(commands::errata::Errata),
    /// Measure messages beside the theorem's figure.
    Cost(commands::cost::Cost),
    /// Measure how good failure detectors are, with the same crashes.
    Detectors(Box<commands::detectors::Detectors>),
    /// Find the timeout with the least expected cost.
    Timeout(commands::timeout::Timeout),
    /// How likely coordinators that forget let two participants in.
    Quorum(commands::quorum::Quorum),
    /// Run one process of an algorithm as a node on a real network.
    #[cfg(feature = "nodes")]
    Node(Box<commands::node::Node>),
    /// Run many nodes on this machine, with a console or a scenario file.
    #[cfg(feature = "nodes")]
    Cluster(Box<commands::cluster::Cluster>),
    /// Make certificates for mutual TLS between nodes, for development.
    #[cfg(feature = "nodes")]
    Certs(commands::certs::Certs),
    /// Tell the whole story in ten seconds, with real processes.
    Demo(commands::service::External),
    /// See algorithms run, and break them by hand, in a browser.
    Lab(commands::lab::Lab),
    /// Run a member of the service: locks, elections and sessions.
    Serve(commands::service::External),
    /// Run a program while holding a lock of the service, or of etcd.
    Lock(commands::service::External),
    /// Run a program while holding one of several permits.
    Semaphore(commands::service::External),
    /// Run a program while leading an election of the service or etcd.
    Elect(commands::service::External),
    /// Show who holds and who waits in the service.
    Locks(commands::service::External),
    /// Show who leads an election of the service.
    Leader(commands::service::External),
    /// Show how the members of the service are.
    Status(commands::service::External),
    /// Show and change who belongs to the service's cluster.
    Member(commands::service::External),
    /// Let another member of the service lead.
    MoveLeader(commands::service::External),
    /// Write all of a running service to a file.
    Backup(commands::service::External),
    /// Make a new cluster of the service from a backup.
    Restore(commands::service::External),
    /// Measure how fast the service, or etcd, hands locks over.
    Bench(commands::service::External),
    /// Draw a recorded trace.
    Draw(commands::draw::Draw),
    /// Print the manual page, or write those of all commands.
    Man(commands::man::Man),
    /// Print completions for a shell.
    Completions(commands::completions::Completions),
}

/// What a command comes to.
pub(crate) enum Outcome {
    /// It holds.
    Holds,
    /// It does not.
    Fails,
    /// It could not be told: a limit or an interruption came first.
    Incomplete,
}

fn main() -> ExitCode {
    diagnostics::install();
    if std::env::args_os().len() <= 1 {
        // Whoever closes the pipe has read enough.
        let _ = output::print(help::FRONT_PAGE);
        return ExitCode::SUCCESS;
    }
    let mut command = help::grouped(exit_codes::explain(Habemus::command()));
    let parsed = command.try_get_matches_from_mut(std::env::args_os());
    let parsed = parsed.and_then(|matches| Habemus::from_arg_matches(&matches));
    let chosen = match parsed {
        Ok(habemus) => habemus.command,
        Err(error) => {
            // Help and version are no errors; clap knows where to print what.
            let code = if error.use_stderr() { 2 } else { 0 };
            let _ = error.print();
            if error.kind() == ErrorKind::MissingRequiredArgument {
                let example = std::env::args().nth(1).and_then(|name| help::example(&command, &name));
                if let Some(example) = example {
                    anstream::eprintln!("{} for example: {example}", " help:".cyan());
                }
            }
            return ExitCode::from(code);
        }
    };
    let outcome = match chosen {
        Command::List(list) => list.execute(),
        Command::Exercise(solve) => solve.execute(),
        Command::Run(run) => run.execute(),
        Command::Sweep(sweep) => sweep.execute(),
        Command::Compare(compare) => compare.execute(),
        Command::Check(check) => check.execute(),
        Command::Guarantees(guarantees) => guarantees.execute(),
        Command::Mutants(mutants) => mutants.execute(),
        Command::Errata(errata) => errata.execute(),
        Command::Cost(cost) => cost.execute(),
        Command::Detectors(detectors) => detectors.execute(),
        Command::Timeout(timeout) => timeout.execute(),
        Command::Quorum(quorum) => quorum.execute(),
        #[cfg(feature = "nodes")]
        Command::Node(node) => node.execute(),
        #[cfg(feature = "nodes")]
        Command::Cluster(cluster) => cluster.execute(),
        #[cfg(feature = "nodes")]
        Command::Certs(certs) => certs.execute(),
        Command::Demo(external) => external.demo(),
        Command::Lab(lab) => lab.execute(),
        Command::Serve(external) => external.serve(),
        Command::Lock(external) => external.ask("lock"),
        Command::Elect(external) => external.ask("elect"),
        Command::Locks(external) => external.ask("locks"),
        Command::Leader(external) => external.ask("leader"),
        Command::Status(external) => external.ask("status"),
        Command::Semaphore(external) => external.ask("semaphore"),
        Command::Member(external) => external.ask("member"),
        Command::MoveLeader(external) => external.ask("move-leader"),
        Command::Backup(external) => external.ask("backup"),
        Command::Restore(external) => external.ask("restore"),
        Command::Bench(external) => external.ask("bench"),
        Command::Draw(draw) => draw.execute(),
        Command::Man(man) => man.execute(),
        Command::Completions(completions) => completions.execute(),
    };
    match outcome {
        Ok(Outcome::Holds) => ExitCode::SUCCESS,
        Ok(Outcome::Fails) => ExitCode::from(1),
        Ok(Outcome::Incomplete) => ExitCode::from(3),
        Err(CliError::ClosedPipe) => ExitCode::SUCCESS,
        Err(error) => {
            let code = if matches!(error, CliError::Interrupted) { 3 } else { 2 };
            error.print();
            ExitCode::from(code)
        }
    }
}
