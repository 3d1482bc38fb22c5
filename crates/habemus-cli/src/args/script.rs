//! The flags that say what goes wrong when.

use clap::Args;
use habemus_scenario::{Cue, Processes, script};

use super::flag;
use crate::error::CliError;

/// What goes wrong when.
#[derive(Args, Debug, Clone)]
pub(crate) struct ScriptFlags {
    /// A line of a script: "20ms crash 5", "when 3 sends Ok: crash 3".
    #[arg(long, value_name = "LINE", help_heading = "Script")]
    at: Vec<String>,
    /// Crash processes: 5@20ms.
    #[arg(long, value_name = "IDS@TIME", help_heading = "Script")]
    crash: Vec<String>,
    /// Recover processes: 5@60ms.
    #[arg(long, value_name = "IDS@TIME", help_heading = "Script")]
    recover: Vec<String>,
    /// Pause processes, as SIGSTOP does: 5@20ms.
    #[arg(long, value_name = "IDS@TIME", help_heading = "Script")]
    pause: Vec<String>,
    /// Resume paused processes: 5@60ms.
    #[arg(long, value_name = "IDS@TIME", help_heading = "Script")]
    resume: Vec<String>,
    /// Cut links, both ways or one: 1-2@10ms, 1->2@10ms.
    #[arg(long, value_name = "LINKS@TIME", help_heading = "Script")]
    cut: Vec<String>,
    /// Split the processes into groups: "1,2 | 3,4,5@10ms".
    #[arg(long, value_name = "GROUPS@TIME", help_heading = "Script")]
    partition: Vec<String>,
    /// Heal links, or all of them: 1-2@50ms, @50ms.
    #[arg(long, value_name = "LINKS@TIME", help_heading = "Script")]
    heal: Vec<String>,
}

impl ScriptFlags {
    /// As cues of a scenario.
    pub(crate) fn cues(&self, processes: &Processes<'_>) -> Result<Vec<Cue>, CliError> {
        let mut cues = Vec::new();
        for (word, values) in [
            ("crash", &self.crash),
            ("recover", &self.recover),
            ("pause", &self.pause),
            ("resume", &self.resume),
            ("cut", &self.cut),
            ("partition", &self.partition),
            ("heal", &self.heal),
        ] {
            for value in values {
                cues.push(script::parse_flag(word, value, processes).map_err(|e| flag(word, &e))?);
            }
        }
        for line in &self.at {
            cues.push(script::parse_line(line, processes).map_err(|e| flag("at", &e))?.cue);
        }
        Ok(cues)
    }

    /// Whether it says who crashes: by a flag, or perhaps by a line.
    pub(crate) fn crashes(&self) -> bool {
        !self.crash.is_empty() || !self.at.is_empty()
    }
}
