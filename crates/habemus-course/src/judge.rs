//! Whether an answer does what an exercise asks for, and with what it may.

use std::collections::BTreeMap;

use habemus_report::{Report, RunError};
use habemus_scenario::{Action, Cue, Scenario};
use serde::Serialize;

use crate::exercise::{Change, Exercise};

/// What the judge says of an answer.
#[derive(Clone, Debug)]
pub struct Judgement {
    /// What speaks against it; nothing: it is solved.
    pub objections: Vec<Objection>,
    /// What came of the run.
    pub report: Report,
}

/// Something that speaks against an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "objection", rename_all = "kebab-case")]
pub enum Objection {
    /// Something was changed that must stay as it is.
    Changed {
        /// What.
        what: String,
    },
    /// More was done to the system than may be.
    Budget {
        /// What: the first word of a line of the script.
        word: String,
        /// How often it was done.
        used: u32,
        /// How often it may be.
        allowed: u32,
    },
    /// The run is not what was asked for.
    Goal {
        /// In which way.
        why: String,
    },
}

impl std::fmt::Display for Objection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Objection::Changed { what } => write!(f, "{what} must stay as at the start"),
            Objection::Budget { word, used, allowed: 0 } => write!(f, "{word} may not be used, found {used}"),
            Objection::Budget { word, used, allowed } => {
                write!(f, "{word} may be used {allowed} times, found {used}")
            }
            Objection::Goal { why } => f.write_str(why),
        }
    }
}

impl Judgement {
    /// Whether the exercise is solved.
    pub fn is_solved(&self) -> bool {
        self.objections.is_empty()
    }
}

impl Exercise {
    /// Plays an answer and judges it.
    ///
    /// # Errors
    /// If the answer makes no sense.
    pub fn judge(&self, answer: &Scenario) -> Result<Judgement, RunError> {
        let played = Scenario { expect: self.goal.clone(), ..answer.clone() };
        let report = habemus_sim::run(&played, false)?;
        Ok(self.judge_run(answer, report))
    }

    /// Judges an answer that has been played; what its run was held against does not matter.
    pub fn judge_run(&self, answer: &Scenario, report: Report) -> Judgement {
        let mut objections = self.changes(answer);
        objections.extend(self.excesses(answer));
        let failures = report.check(&self.goal).into_iter();
        let open = report.properties.iter().filter(|line| {
            let wanted = self.goal.holds.contains(&line.name) || self.goal.violates.contains(&line.name);
            wanted && line.verdict == habemus_report::Finding::Open
        });
        let open = open.map(|line| format!("{} could not be told: {}", line.name, line.why()));
        objections.extend(failures.chain(open).map(|why| Objection::Goal { why }));
        Judgement { objections, report }
    }

    /// What was changed that must stay as it is.
    fn changes(&self, answer: &Scenario) -> Vec<Objection> {
        let start = &self.start;
        let may = |change: Change| self.change.contains(&change);
        let sorted = |ids: &[u64]| {
            let mut ids = ids.to_vec();
            ids.sort_unstable();
            ids
        };
        let ids = if may(Change::Ids) {
            sorted(&answer.ids) == sorted(&start.ids)
        } else {
            answer.ids == start.ids
        };
        let any_algorithm = may(Change::Algorithm);
        let fixed = |options: &BTreeMap<String, String>| {
            let mut options = options.clone();
            options.retain(|name, _| !may(Change::Option(name.clone())));
            options
        };
        let same = [
            ("the algorithm", any_algorithm || answer.algorithm == start.algorithm),
            ("the processes", ids),
            ("the topology", any_algorithm || answer.topology == start.topology),
            ("the detector", any_algorithm || answer.detector == start.detector),
            ("the options", any_algorithm || fixed(&answer.options) == fixed(&start.options)),
            ("the seed", may(Change::Seed) || answer.seed == start.seed),
            ("what is drawn", answer.choices == start.choices && answer.random == start.random),
            ("the network", answer.network == start.network),
            ("the clients", answer.workload == start.workload && answer.resources == start.resources),
            (
                "the end",
                (answer.until, answer.time_limit, answer.event_limit)
                    == (start.until, start.time_limit, start.event_limit),
            ),
        ];
        let changed = same.iter().filter(|(_, same)| !same);
        changed.map(|(what, _)| Objection::Changed { what: (*what).to_owned() }).collect()
    }

    /// What was done more often than it may be.
    fn excesses(&self, answer: &Scenario) -> Vec<Objection> {
        if self.change.contains(&Change::Script) && self.budget.is_empty() {
            return Vec::new();
        }
        let mut added: Vec<&Cue> = answer.script.iter().collect();
        let mut missing = false;
        for cue in &self.start.script {
            match added.iter().position(|other| is_same(other, cue)) {
                Some(place) => drop(added.remove(place)),
                None => missing = true,
            }
        }
        let mut objections = Vec::new();
        if missing && !self.change.contains(&Change::Script) {
            objections.push(Objection::Changed { what: "the script".to_owned() });
        }
        let mut used: BTreeMap<String, u32> = BTreeMap::new();
        for cue in added {
            let words = cue.action.to_string();
            *used.entry(words.split(' ').next().unwrap_or_default().to_owned()).or_default() += 1;
        }
        for (word, used) in used {
            let allowed = self.budget.get(&word).copied().unwrap_or(0);
            if used > allowed {
                objections.push(Objection::Budget { word, used, allowed });
            }
        }
        objections
    }
}

/// Whether two lines say the same; in which order they name the processes does not matter.
fn is_same(one: &Cue, other: &Cue) -> bool {
    let sorted = |cue: &Cue| {
        let mut cue = cue.clone();
        if let Action::Command { processes, .. }
        | Action::Crash(processes)
        | Action::Recover { processes, .. } = &mut cue.action
        {
            processes.sort_unstable();
        }
        cue
    };
    sorted(one) == sorted(other)
}
