//! `habemus demo`: the whole story in ten seconds. Three members of the service, clients that compete, a
//! leader that is killed, a holder that sleeps beyond its session; and the same once more in the simulator,
//! without tokens.

mod hub;
mod judge;
mod lab;
mod members;
mod scratch;
mod simulator;
mod stop;
mod story;
mod teller;
mod worker;
mod workers;

use std::io::Write;
use std::net::SocketAddr;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::hub::Care;
use crate::lab::Browser;

/// Tell the whole story in ten seconds, with real processes on this machine.
#[derive(Parser)]
#[command(name = "habemus demo", version, max_term_width = 100)]
#[command(after_help = "Examples:
  habemus demo
  habemus demo --keep
  habemus demo --careless

Three members of the service run on loopback, and three clients compete for a
lock and an election. The member that leads is killed; the client that holds
the lock is stopped until its session is over. Everything is real: processes,
sockets, disks and signals. Nothing is left behind.

--keep lets all of it run on, and serves the lab beside it, which opens at the
run that went wrong.

Exit codes:
  0  everything was as it must be
  1  something was not
  2  bad input, or a program is missing
  3  interrupted")]
struct Arguments {
    /// Let members and clients run on until Ctrl-C, with the lab open beside them.
    #[arg(long)]
    keep: bool,
    /// Print the lab's address, and open no browser.
    #[arg(long, requires = "keep")]
    no_browser: bool,
    /// Let the resource look at no token: a late write is lost, and the verdicts say so.
    #[arg(long)]
    careless: bool,
    #[command(subcommand)]
    role: Option<Role>,
}

#[derive(Subcommand)]
enum Role {
    /// Be one of the clients.
    #[command(hide = true)]
    Worker {
        /// Its name.
        name: String,
        /// Where the protected resource is.
        resource: SocketAddr,
        /// Where the members are.
        members: Vec<String>,
    },
    /// Become a member.
    #[command(hide = true)]
    Member {
        /// What it is told.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        words: Vec<String>,
    },
}

/// What went wrong, and with which code the program ends because of it.
#[derive(Debug)]
pub(crate) struct Failed {
    code: u8,
    why: String,
}

impl Failed {
    /// Something was not as it must be.
    pub(crate) fn story(why: impl Into<String>) -> Failed {
        Failed { code: 1, why: why.into() }
    }

    /// Somebody wanted it to end.
    pub(crate) fn interrupted() -> Failed {
        Failed { code: 3, why: "interrupted; everything was ended".to_owned() }
    }

    /// Something is missing that the story needs.
    pub(crate) fn missing(why: impl Into<String>) -> Failed {
        Failed { code: 2, why: why.into() }
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let browser = if arguments.no_browser { Browser::Leave } else { Browser::Open };
    let care = if arguments.careless { Care::Careless } else { Care::Fenced };
    let keep = arguments.keep.then_some(browser);
    let done = match arguments.role {
        Some(Role::Worker { name, resource, members }) => match scratch::end_with_the_story() {
            Ok(()) => worker::work(&name, resource, &members).await,
            Err(failed) => Err(failed),
        },
        Some(Role::Member { words }) => Err(members::become_member(&words)),
        None => story::tell(care, keep).await,
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failed) => {
            // Its terminal may be what has gone.
            drop(writeln!(std::io::stderr(), "habemus demo: {}", failed.why));
            ExitCode::from(failed.code)
        }
    }
}
