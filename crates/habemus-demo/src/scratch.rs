//! A directory that goes when the story is over, and the programs that belong to this one.

use std::fmt::Display;
use std::path::PathBuf;
use std::time::Duration;

use rustix::process::{Signal, set_parent_process_death_signal};

use crate::Failed;

/// A directory that goes when the story is over.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new() -> Result<Scratch, Failed> {
        let path = std::env::temp_dir().join(format!("habemus-demo-{}", std::process::id()));
        std::fs::create_dir_all(&path).map_err(|error| {
            Failed::missing(format!("cannot make the directory {}: {error}", path.display()))
        })?;
        Ok(Scratch(path))
    }

    pub(crate) fn join(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A member that was killed a moment ago may still be about to make a file. What cannot be removed
        // stays where such things are removed some day.
        for _ in 0..20 {
            if std::fs::remove_dir_all(&self.0).is_ok() {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// A program that is built with this one and lies beside it, or wherever the PATH has it.
pub(crate) fn program(name: &str) -> Result<PathBuf, Failed> {
    let beside = std::env::current_exe().ok().map(|own| own.with_file_name(name));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path).map(|directory| directory.join(name));
    beside
        .into_iter()
        .chain(on_path)
        .find(|path| path.is_file())
        .ok_or_else(|| cannot_run(name, &"there is none"))
}

/// Why a program could not be run, and what to do.
pub(crate) fn cannot_run(name: &str, why: &dyn Display) -> Failed {
    Failed::missing(format!(
        "cannot run {name}: {why}. It belongs beside this program or on the PATH; `./habemus demo` in the \
         project's directory builds all that is needed"
    ))
}

/// However the one who tells the story ends, even by kill -9, this process does not outlive it.
pub(crate) fn end_with_the_story() -> Result<(), Failed> {
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(|error| Failed::missing(error.to_string()))
}
