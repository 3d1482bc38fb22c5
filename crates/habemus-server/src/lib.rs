//! Locks, elections and sessions behind etcd's interface: what the program `habemusd` is.
//!
//! This is no interface for other programs, which speak to a member as its clients do. What it says of itself
//! here is for the attacks of `habemus-fuzz`.

mod admin;
mod auth;
mod check;
mod clock;
mod cluster;
mod config;
mod convert;
mod deadline;
mod door;
mod election;
mod endpoint;
mod engine;
mod form;
mod gateway;
mod handle;
pub mod hostile;
mod http;
mod identity;
mod kv;
mod lease;
mod limits;
mod lock;
mod maintenance;
mod metrics;
mod others;
mod parts;
mod peers;
mod queues;
mod quota;
mod random;
mod restore;
mod server;
mod settled;
mod shown;
mod status;
mod strangers;
mod tls;
mod tokens;
mod v1;
mod wakers;
mod watch;
mod writer;

use std::io::IsTerminal;
use std::process::ExitCode;

use clap::Parser;
use tracing_subscriber::filter::LevelFilter;

use crate::config::{Arguments, Config};

/// One member, alone or of a cluster, as the command line says; until it is told to stop.
pub async fn run() -> ExitCode {
    let config = match Config::new(Arguments::parse()) {
        Ok(config) => config,
        Err(error) => {
            for line in error.lines() {
                eprintln!("habemusd: {line}");
            }
            return ExitCode::from(2);
        }
    };
    if config.check {
        return match server::check(&config) {
            Ok(()) => {
                print!("{}", settled::file(&config));
                ExitCode::SUCCESS
            }
            Err(error) => {
                eprintln!("habemusd: {error}");
                ExitCode::from(2)
            }
        };
    }
    if let Some(from) = &config.restore {
        return match restore::restore(&config, from) {
            Ok(told) => {
                println!("{told}");
                ExitCode::SUCCESS
            }
            Err(error) => {
                eprintln!("habemusd: {error}");
                ExitCode::FAILURE
            }
        };
    }
    tracing_subscriber::fmt()
        .with_max_level(level())
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr)
        .with_target(false)
        // Whoever read the log may be gone, and a complaint about that would have no reader either.
        .log_internal_errors(false)
        .init();
    match server::serve(config).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("habemusd: {error}");
            ExitCode::FAILURE
        }
    }
}

/// How much is told: the environment's HABEMUS_LOG, if it says `error`, `warn`, `info`, `debug` or `trace`.
fn level() -> LevelFilter {
    std::env::var("HABEMUS_LOG").ok().and_then(|text| text.parse().ok()).unwrap_or(LevelFilter::INFO)
}
