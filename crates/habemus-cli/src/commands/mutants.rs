//! `habemus mutants`: rules broken one by one, and who notices.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use clap::Args;
use habemus::catalogue::{self, ENTRIES, Entry};
use habemus_check::guarantees::PROBLEMS;
use habemus_check::mutants::{Explanation, Fate, Subject, explanations, planted_fates};
use serde::{Deserialize, Serialize};

use crate::error::CliError;
use crate::{Outcome, interrupt, output, show};

/// Break the rules of algorithms one by one, and see whether the checker notices.
///
/// Planted mutants are variants of the catalogue. Generated ones are made of every event, message, timer and
/// output that an algorithm has: something is not done, done twice, done to another, forgotten, not stored,
/// or done with an old value.
#[derive(Args)]
#[command(after_help = "Examples:
  habemus mutants ricart-agrawala
  habemus mutants --states 2000
  habemus mutants paxos --json")]
pub(crate) struct Mutants {
    /// Only this algorithm.
    #[arg(value_name = "ALGORITHM")]
    algorithm: Option<String>,
    /// Leave a model after so many states.
    #[arg(long, value_name = "N", default_value_t = 20_000)]
    states: u64,
    /// Every mutant and what became of it, as JSON.
    #[arg(long)]
    json: bool,
    /// Print a line for each mutant from this one on: for the command itself, which begins again behind a
    /// mutant that panics.
    #[arg(long, value_name = "N", hide = true)]
    from: Option<usize>,
}

/// A mutant, and what became of it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Tried {
    pub(crate) algorithm: String,
    pub(crate) mutant: String,
    pub(crate) fate: Fate,
    /// Why nobody need notice.
    pub(crate) explanation: Option<String>,
}

impl Tried {
    fn new(entry: &Entry, mutant: String, fate: Fate) -> Self {
        let mut known = explanations().into_iter();
        let known = known.find(|known| known.algorithm == entry.name && known.mutant == mutant);
        let is_noticed = !fate.is_survival() && fate != Fate::Undecided;
        let explanation = known.filter(|_| !is_noticed).map(|known| known.reason);
        Tried { algorithm: entry.name.to_owned(), mutant, fate, explanation }
    }

    /// Whether it is on record as one that nobody need notice, and somebody does.
    pub(crate) fn is_explained_in_vain(&self) -> bool {
        let is_known = |known: &Explanation| known.algorithm == self.algorithm && known.mutant == self.mutant;
        matches!(self.fate, Fate::Caught { .. }) && explanations().iter().any(is_known)
    }

    /// Whether it was given up, and nobody knows whether anybody would notice.
    pub(crate) fn is_undecided(&self) -> bool {
        self.fate == Fate::Undecided && self.explanation.is_none()
    }

    /// Whether nobody notices, and nobody knows why.
    pub(crate) fn is_unexplained(&self) -> bool {
        self.fate.is_survival() && self.explanation.is_none()
    }
}

impl Mutants {
    pub(crate) fn execute(&self) -> Result<Outcome, CliError> {
        let entries: Vec<&'static Entry> = match &self.algorithm {
            Some(name) => vec![catalogue::entry(name)?],
            None => ENTRIES.iter().filter(|entry| PROBLEMS.contains(&entry.problem)).collect(),
        };
        if let (Some(from), [entry]) = (self.from, &entries[..]) {
            return self.try_from(entry, from);
        }
        let stop = interrupt::flag();
        let done = Arc::new(AtomicU64::new(0));
        let watched = Arc::clone(&done);
        let progress =
            output::Progress::new("mutants", move || (watched.load(Ordering::Relaxed), 0, String::new()));
        let mut tried = Vec::new();
        for entry in entries {
            if stop.load(Ordering::Relaxed) {
                break;
            }
            let planted = planted_fates(entry).into_iter();
            tried.extend(planted.map(|(mutant, fate)| Tried::new(entry, mutant.to_owned(), fate)));
            self.try_all(entry, &stop, &done, &mut tried)?;
        }
        drop(progress);
        let is_unexplained = tried.iter().any(|tried| tried.is_unexplained() || tried.is_explained_in_vain());
        if self.json {
            output::print_json(&tried)?;
        } else {
            output::print(&show::mutants(&tried))?;
        }
        Ok(match (stop.load(Ordering::Relaxed), is_unexplained) {
            (true, _) => Outcome::Incomplete,
            (false, true) => Outcome::Fails,
            (false, false) => Outcome::Holds,
        })
    }

    /// Tries the generated mutants of an algorithm in another process: one that comes to a state which its
    /// author took for impossible ends that process, and the next one begins behind it.
    fn try_all(
        &self,
        entry: &Entry,
        stop: &AtomicBool,
        done: &AtomicU64,
        tried: &mut Vec<Tried>,
    ) -> Result<(), CliError> {
        let failed = |why: std::io::Error| CliError::new(format!("mutants cannot be tried: {why}"));
        let mut from = 0;
        loop {
            let mut child = Command::new(std::env::current_exe().map_err(failed)?)
                .args(["mutants", entry.name, "--states", &self.states.to_string()])
                .args(["--from", &from.to_string()])
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .spawn()
                .map_err(failed)?;
            let begun = from;
            // The name of a mutant comes before it is tried, and what became of it after that.
            let mut name = None;
            let lines = child.stdout.take().into_iter().flat_map(|output| BufReader::new(output).lines());
            for line in lines.map_while(Result::ok) {
                match serde_json::from_str::<Tried>(&line) {
                    Ok(line) => {
                        tried.push(line);
                        name = None;
                        from += 1;
                        done.fetch_add(1, Ordering::Relaxed);
                    }
                    Err(_) => name = Some(line),
                }
                if stop.load(Ordering::Relaxed) {
                    let _ = child.kill();
                }
            }
            let status = child.wait().map_err(failed)?;
            match name {
                _ if status.success() || stop.load(Ordering::Relaxed) => return Ok(()),
                Some(name) => {
                    let (model, by) = ("some model".to_owned(), "a panic".to_owned());
                    tried.push(Tried::new(entry, name, Fate::Caught { model, by, steps: None }));
                    from += 1;
                }
                None if from > begun => {}
                None => return Err(CliError::new(format!("the mutants of {} cannot be tried", entry.name))),
            }
        }
    }

    /// Tries mutants one by one, and says so at once.
    fn try_from(&self, entry: &'static Entry, from: usize) -> Result<Outcome, CliError> {
        let subject = Subject::new(entry, self.states);
        let mut to = std::io::stdout().lock();
        for mutant in subject.mutants().iter().skip(from) {
            let mut say = |line: &str| writeln!(to, "{line}").and_then(|()| to.flush());
            let name = mutant.to_string();
            let said = say(&name).and_then(|()| {
                let tried = Tried::new(entry, name.clone(), subject.try_mutant(mutant));
                say(&serde_json::to_string(&tried).unwrap_or_default())
            });
            said.map_err(|_| CliError::ClosedPipe)?;
        }
        Ok(Outcome::Holds)
    }
}
