//! `habemus lab`: the page on which algorithms run, served on this machine or written out.

use std::path::PathBuf;

use clap::Args;
use habemus_page::Page;

use crate::commands::service;
use crate::error::CliError;
use crate::{Outcome, output};

/// See algorithms run, and break them by hand, in a browser.
#[derive(Args)]
#[command(after_help = "Examples:
  habemus lab
  habemus lab --no-browser --port 8080
  habemus lab --export site

It is served to this machine only, on port 4223, to which links of `habemus run
--lab` lead, or on a free one if that is taken. Ctrl-C ends it. In the
project's directory `./habemus lab` builds the page.")]
pub(crate) struct Lab {
    /// Serve it on this port; 0 is any that is free.
    #[arg(long, value_name = "PORT")]
    port: Option<u16>,
    /// Print the address, and open no browser.
    #[arg(long)]
    no_browser: bool,
    /// Write the page to a directory, for any web server, and serve nothing.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["port", "no_browser"])]
    export: Option<PathBuf>,
    /// Where the page is [default: $HABEMUS_LAB, or where it was installed].
    #[arg(long, value_name = "DIR")]
    page: Option<PathBuf>,
}

impl Lab {
    pub(crate) fn execute(&self) -> Result<Outcome, CliError> {
        let help = "`./habemus lab` in the project's directory builds it";
        let page = Page::find(self.page.as_deref()).map_err(|error| CliError::help(error, help))?;
        let Some(page) = page else { return self.build() };
        if let Some(directory) = &self.export {
            page.write(directory).map_err(CliError::new)?;
            output::print(&format!("{}\n", directory.display()))?;
            return Ok(Outcome::Holds);
        }
        let (listener, port) =
            self.port.map_or_else(habemus_page::listen_where_expected, habemus_page::listen).map_err(
                |error| CliError::help(error, "leave --port out, or choose another one; 0 is any free one"),
            )?;
        habemus_page::end_when_told();
        let address = format!("http://127.0.0.1:{port}/");
        output::print(&format!("{address}\n"))?;
        if !self.no_browser {
            habemus_page::open_browser(&address);
        }
        habemus_page::serve(page, &listener, port);
        Ok(Outcome::Holds)
    }

    /// Becomes what builds the page, where there is none.
    fn build(&self) -> Result<Outcome, CliError> {
        let mut arguments = Vec::new();
        if let Some(port) = self.port {
            arguments.extend(["--port".into(), port.to_string().into()]);
        }
        if self.no_browser {
            arguments.push("--no-browser".into());
        }
        if let Some(directory) = &self.export {
            arguments.extend(["--export".into(), directory.into()]);
        }
        service::become_program("habemus-lab-build", &arguments).map_err(|_| {
            CliError::help(
                "the lab's page is not installed",
                "`./habemus lab` in the project's directory builds it; `habemus lab --page DIR` shows one \
                    that \
                 was written by `./habemus lab --export DIR`",
            )
        })
    }
}
