//! Builds the lab's page, serves it on this machine, and writes it out.
//!
//! ```text
//! habemus-lab-build                    builds and serves it on port 4223 or a free one, opens a browser
//! habemus-lab-build --no-browser       the same without the browser
//! habemus-lab-build --port 8080        on this port
//! habemus-lab-build --export DIR       builds what is missing and writes the page to DIR, for any web server
//! ```

use std::path::PathBuf;
use std::process::ExitCode;

use habemus_lab_build::{build, end_when_told, listen, listen_where_expected, open_browser, serve};

const USAGE: &str = "\
Usage: habemus lab [--port PORT] [--no-browser]
       habemus lab --export DIR

Builds the lab if need be, and serves it on this machine only; or writes it to a directory, to be put on any \
web
server. Links that `habemus run --lab` and `habemus check --lab` print lead to port 4223, where it is served \
unless
that is taken. It needs Node 18 or newer with npm, and Rust's target wasm32-unknown-unknown.";

/// What is wanted.
enum Order {
    Serve { port: Option<u16>, browser: bool },
    Export(PathBuf),
    Help,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match order(&arguments).and_then(obey) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("habemus lab: {error}");
            ExitCode::from(2)
        }
    }
}

fn order(arguments: &[String]) -> Result<Order, String> {
    let (mut port, mut browser) = (None, true);
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let mut value = || rest.next().ok_or_else(|| format!("{argument} needs a value\n{USAGE}"));
        match argument.as_str() {
            "--help" | "-h" => return Ok(Order::Help),
            "--no-browser" => browser = false,
            "--port" => {
                let number = value()?.parse();
                port = Some(number.map_err(|_| "--port needs a number up to 65535".to_owned())?);
            }
            "--export" => return Ok(Order::Export(PathBuf::from(value()?))),
            other => return Err(format!("'{other}' is not understood\n{USAGE}")),
        }
    }
    Ok(Order::Serve { port, browser })
}

fn obey(order: Order) -> Result<(), String> {
    match order {
        Order::Help => println!("{USAGE}"),
        Order::Export(directory) => {
            let page = build()?;
            page.write(&directory)?;
            println!("{}", directory.display());
        }
        Order::Serve { port, browser } => {
            let page = build()?;
            let (listener, port) = port.map_or_else(listen_where_expected, listen)?;
            end_when_told();
            let address = format!("http://127.0.0.1:{port}/");
            println!("{address}");
            if browser {
                open_browser(&address);
            }
            serve(page, &listener, port);
        }
    }
    Ok(())
}
