//! Whether a setting applies to a system.

use crate::environment::MAX_PARTITIONED;
use crate::error::CheckError;
use crate::facts::SystemFacts;
use crate::setting::{Budget, MAX_DRIFT, MAX_FAULTS, Setting, Speed, Start, Timers};

/// A system of at most this many processes can be checked.
pub const MAX_PROCESSES: usize = 32;
/// Every choice of those who start is tried for at most this many processes.
const MAX_STARTERS: usize = 10;

/// Who crashes in a pulse has sent any subset of its messages: for more processes there are too many.
const MAX_CRASHING_IN_PULSES: usize = 12;

/// The setting as it applies to this system, or why it does not.
pub(crate) fn fit(facts: &SystemFacts, setting: &Setting) -> Result<Setting, CheckError> {
    let unfit = |reason: String| Err(CheckError::Unfit(reason));
    let (name, count) = (facts.entry.name, facts.processes());
    if facts.reads_clock {
        return unfit(format!(
            "{name} reads the clock, and the checker has none: put it on the oracle detector"
        ));
    }
    if count > MAX_PROCESSES {
        return unfit(format!("at most {MAX_PROCESSES} processes can be checked, not {count}"));
    }
    let budget = &setting.budget;
    let budgets = [
        budget.crashes,
        budget.recoveries,
        budget.losses,
        budget.duplications,
        budget.suspicions,
        budget.partitions,
        budget.wrong_timeouts,
    ];
    if let Some(faults) = budgets.iter().find(|budget| **budget > MAX_FAULTS) {
        return unfit(format!("at most {MAX_FAULTS} faults of a kind can be explored, not {faults}"));
    }
    if budget.suspicions > 0 && !facts.oracle {
        return unfit(format!("{name} stands on no oracle detector that could suspect anybody"));
    }
    if budget.recoveries > 0 && budget.crashes == 0 {
        return unfit("nobody can recover where nobody crashes: allow crashes, too".to_owned());
    }
    if budget.partitions > 0 && count > MAX_PARTITIONED {
        return unfit(format!("partitions of at most {MAX_PARTITIONED} processes can be explored"));
    }
    if budget.wrong_timeouts > 0 && !setting.timers.have_order() && !facts.synchronous {
        return unfit("a timer runs out too early only where messages come before timers".to_owned());
    }
    if facts.one_shot && setting.start == Start::EveryChoice && count > MAX_STARTERS {
        return unfit(format!("name those who start: there are too many choices among {count} processes"));
    }
    if facts.synchronous && budget.crashes > 0 && count > MAX_CRASHING_IN_PULSES {
        return unfit(format!(
            "crashes in the midst of a pulse can be explored for at most {MAX_CRASHING_IN_PULSES} processes"
        ));
    }
    let only_crashes = Budget { crashes: 0, ..*budget }.is_empty();
    if facts.synchronous && !only_crashes {
        return unfit(format!(
            "{name} works in pulses, in which nothing is late or lost; only crashes can be"
        ));
    }
    if let Some(Speed { drift, delay }) = setting.timers.speed() {
        if facts.synchronous {
            return unfit(format!("{name} works in pulses, which know no clocks"));
        }
        if drift > MAX_DRIFT {
            return unfit("a clock may drift by 90 % at most".to_owned());
        }
        if delay.0 > delay.1 {
            return unfit("a message takes longer at least than at most".to_owned());
        }
        // What is left out elsewhere, and why, takes steps of different processes to be independent; but they
        // share time.
        let setting = Setting { reduction: false, symmetry: false, liveness: false, ..setting.clone() };
        return Ok(Setting { clocks: setting.clocks && !facts.one_shot, ..setting });
    }
    let timers = if facts.synchronous { Timers::MessagesFirst } else { setting.timers };
    Ok(Setting { timers, clocks: setting.clocks && !facts.one_shot, ..setting.clone() })
}
