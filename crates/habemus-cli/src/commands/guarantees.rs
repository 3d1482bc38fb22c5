//! `habemus guarantees`: the whole table of what each algorithm guarantees, checked again.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use clap::Args;
use habemus::catalogue;
use habemus_check::CheckHandle;
use habemus_check::guarantees::{GuaranteeRow, manifest, models};

use crate::error::CliError;
use crate::{Outcome, interrupt, output, show};

/// Check every algorithm under every kind of fault: are its promises kept, and is all as it is on record?
#[derive(Args)]
#[command(after_help = "Examples:
  habemus guarantees
  habemus guarantees bully
  habemus guarantees --recorded --json")]
pub(crate) struct Guarantees {
    /// Only this algorithm.
    #[arg(value_name = "ALGORITHM")]
    algorithm: Option<String>,
    /// Show what is on record without checking it.
    #[arg(long)]
    recorded: bool,
    /// The table as JSON.
    #[arg(long)]
    json: bool,
}

impl Guarantees {
    pub(crate) fn execute(&self) -> Result<Outcome, CliError> {
        if let Some(name) = &self.algorithm {
            catalogue::entry(name)?;
        }
        let wanted = |name: &str| self.algorithm.as_deref().is_none_or(|wanted| wanted == name);
        let mut recorded = manifest();
        recorded.retain(|row| wanted(&row.algorithm));
        if self.recorded {
            return self.publish(&recorded, &[]);
        }
        let mut models = models();
        models.retain(|model| wanted(model.entry.name));
        let (done, of) = (Arc::new(AtomicU64::new(0)), models.len() as u64);
        let watched = Arc::clone(&done);
        let progress =
            output::Progress::new("models", move || (watched.load(Ordering::Relaxed), of, String::new()));
        let handle = CheckHandle { stop: interrupt::flag(), ..CheckHandle::default() };
        let mut rows = Vec::new();
        let mut different = Vec::new();
        for model in models {
            let row = model.check(&handle).map(|(row, _)| row);
            if handle.stop.load(Ordering::Relaxed) {
                drop(progress);
                self.publish(&rows, &different)?;
                return Ok(Outcome::Incomplete);
            }
            let is_same = match (recorded.iter().find(|old| model.is_of(old)), &row) {
                (Some(old), Some(row)) => row.is_as_recorded(old),
                (old, row) => old.is_none() && row.is_none(),
            };
            if !is_same {
                different.push(format!("{}, faults: {}", model.entry.name, model.faults()));
            }
            rows.extend(row);
            done.fetch_add(1, Ordering::Relaxed);
        }
        drop(progress);
        self.publish(&rows, &different)
    }

    /// Shows the table; what is wrong with it fails, whether it is on record or not.
    fn publish(&self, rows: &[GuaranteeRow], different: &[String]) -> Result<Outcome, CliError> {
        let broken: Vec<String> = rows.iter().flat_map(GuaranteeRow::broken_promises).collect();
        if self.json {
            output::print_json(&rows)?;
        } else {
            output::print(&show::guarantees(rows, different, &broken))?;
        }
        Ok(if different.is_empty() && broken.is_empty() { Outcome::Holds } else { Outcome::Fails })
    }
}
