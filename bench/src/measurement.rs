//! What one child process measures, and how it tells its parent.

use std::fmt;
use std::fs;
use std::iter::Sum;
use std::path::Path;
use std::process::Command;
use std::str::FromStr;
use std::time::Duration;

use cpu_time::ProcessTime;

/// How long it took, for how many messages, and with how much memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Measurement {
    /// Messages delivered.
    pub(crate) messages: u64,
    /// How long that took. It is the time on the processor: the time of day would also count what others
    /// compute meanwhile on a shared machine.
    pub(crate) time: Duration,
    /// By how much memory grew at its peak, from before the system was built. Zero if not measured.
    pub(crate) bytes: u64,
}

impl Measurement {
    /// Measures one run: `build` makes the system, `run` is what is timed; it gives the messages delivered.
    /// Gives the system back, to be checked.
    pub(crate) fn take<S>(build: impl FnOnce() -> S, run: impl FnOnce(&mut S) -> u64) -> (Self, S) {
        let before = resident();
        let mut system = build();
        let begin = ProcessTime::now();
        let messages = run(&mut system);
        let time = begin.elapsed();
        (Measurement { messages, time, bytes: peak().saturating_sub(before) }, system)
    }

    /// Has a child process measure, and reads what it says.
    pub(crate) fn by(command: &mut Command) -> Result<Self, String> {
        let program = Path::new(command.get_program()).file_name().unwrap_or_default().display().to_string();
        let output = command.output().map_err(|error| format!("{program}: {error}"))?;
        if !output.status.success() {
            let stderr = String::from_utf8_lossy(&output.stderr);
            return Err(format!("{program}: {}: {stderr}", output.status));
        }
        let said = String::from_utf8_lossy(&output.stdout);
        said.parse().map_err(|()| format!("{program} said {said:?}"))
    }

    /// Messages per second.
    pub(crate) fn rate(&self) -> f64 {
        self.messages as f64 / self.time.as_secs_f64()
    }

    /// Nanoseconds per message.
    pub(crate) fn cost(&self) -> f64 {
        self.time.as_secs_f64() * 1e9 / self.messages as f64
    }
}

impl fmt::Display for Measurement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.messages, self.time.as_nanos(), self.bytes)
    }
}

impl FromStr for Measurement {
    type Err = ();

    fn from_str(line: &str) -> Result<Self, ()> {
        let mut numbers = line.split_whitespace().map(|word| word.parse::<u64>().map_err(|_| ()));
        let mut next = || numbers.next().ok_or(())?;
        Ok(Measurement { messages: next()?, time: Duration::from_nanos(next()?), bytes: next()? })
    }
}

/// Runs of the same kind add up; memory does not, it is reused.
impl Sum for Measurement {
    fn sum<I: Iterator<Item = Self>>(runs: I) -> Self {
        let none = Measurement { messages: 0, time: Duration::ZERO, bytes: 0 };
        runs.fold(none, |all, run| Measurement {
            messages: all.messages + run.messages,
            time: all.time + run.time,
            bytes: all.bytes.max(run.bytes),
        })
    }
}

/// The memory of this process at present, in bytes; zero where the system does not tell.
fn resident() -> u64 {
    status("VmRSS:")
}

/// The most memory that this process ever had, in bytes.
fn peak() -> u64 {
    status("VmHWM:")
}

fn status(field: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let value = status.lines().find_map(|line| line.strip_prefix(field)).unwrap_or_default();
    let kilobytes = value.trim().trim_end_matches("kB").trim();
    kilobytes.parse::<u64>().unwrap_or(0) * 1024
}
