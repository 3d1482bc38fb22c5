//! What the page asks for, and what it is answered.

use std::collections::BTreeMap;

use habemus_report::Report;
use serde::{Deserialize, Serialize};

use crate::cone::Cone;
use crate::course::CourseView;
use crate::diagram::{DiagramView, DiagramWindow};
use crate::frame::Frame;
use crate::language::Language;

/// What the page may ask for.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "wish", rename_all = "kebab-case")]
pub enum Wish {
    /// Here are the example runs, by name.
    Exhibits {
        /// Name and text of each.
        exhibits: Vec<(String, String)>,
    },
    /// Begin an experiment.
    Open(Start),
    /// Go so many events on or back.
    Step {
        /// How many.
        by: i64,
    },
    /// Go to the moment after so many events.
    Seek {
        /// How many.
        to: u64,
    },
    /// Go on as long as what comes next has come by this time.
    Advance {
        /// In nanoseconds of the run's own time.
        to: u64,
    },
    /// Go on towards the end, a good piece at a time.
    RunOn,
    /// Do something, in the words of a script.
    Act {
        /// What.
        text: String,
    },
    /// Part the network along a stroke across its picture.
    Stroke {
        /// Where it begins.
        from: (f64, f64),
        /// Where it ends.
        to: (f64, f64),
    },
    /// Look at a process closely, or at none.
    Select {
        /// Its identifier.
        process: Option<u64>,
    },
    /// The next or the last event of the selected process.
    Hop {
        /// Whether to go on, not back.
        on: bool,
    },
    /// Look at another branch.
    Visit {
        /// Which.
        branch: usize,
    },
    /// Speak this language.
    Speak {
        /// Which.
        language: Language,
    },
    /// A piece of the diagram.
    Rows {
        /// Where it begins, in rows from the top.
        top: f64,
        /// Where it ends.
        bottom: f64,
        /// What of the run is shown, and how.
        view: DiagramView,
    },
    /// What an event can have caused, and what can have caused it, among some events.
    Cone {
        /// The event.
        event: u64,
        /// The first of those events.
        from: u64,
        /// The one behind the last.
        to: u64,
    },
    /// Deliver a message right after an event, earlier or later than it comes by itself.
    Move {
        /// Its sender.
        sender: u64,
        /// The sender's number for it.
        number: u64,
        /// The event.
        after: u64,
    },
    /// Look at the run of another of the locks that have names.
    Lock {
        /// Its name.
        name: String,
    },
    /// Begin another branch here, in which nothing else is done yet.
    Fork,
    /// Go to the next event of which these words tell, or select the process with this identifier.
    Search {
        /// What is looked for.
        text: String,
    },
    /// A link to this moment.
    Share {
        /// Parts of the page that whoever follows it does not see.
        #[serde(default)]
        hide: Vec<String>,
    },
    /// The scenario of this branch, its trace, or a picture, as a file.
    File {
        /// `scenario`, `trace`, `svg`, `mermaid` or `shiviz`.
        format: String,
    },
    /// Answer the question that is asked.
    Answer {
        /// Which choice.
        choice: usize,
    },
    /// One more hint.
    Hint,
    /// Records of real nodes, each a line of a trace; the first of all is its header.
    Records {
        /// The lines.
        lines: Vec<String>,
    },
    /// What came of the run, if it is over.
    Report,
}

/// How an experiment begins.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Start {
    /// With a link, or the part of it behind its `#`.
    Link(String),
    /// With a scenario as a file has it.
    Toml(String),
    /// With a recorded run as a file has it.
    Trace(String),
    /// With an exercise.
    Exercise(String),
    /// With real nodes, whose records will come.
    Live,
    /// With nothing but the name of an algorithm.
    Algorithm {
        /// Its name.
        name: String,
        /// How many processes.
        processes: Option<usize>,
        /// The seed.
        seed: Option<u64>,
        /// How they are connected, if the algorithm has a choice.
        topology: Option<String>,
    },
}

/// What the lab answers; what was not asked for is absent.
#[derive(Default, Serialize)]
pub(crate) struct Answer {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) frame: Option<Frame>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rows: Option<DiagramWindow>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cone: Option<Cone>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) link: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) file: Option<(String, String)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) report: Option<Report>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) texts: Option<BTreeMap<&'static str, &'static str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) language: Option<Language>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) exhibits: Option<Vec<(String, String)>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) algorithms: Option<Vec<(&'static str, &'static str)>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) exhibit: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) done: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
    /// What the parser or the command says of it, in English.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) detail: Option<String>,
    /// Where the row of the cursor is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) top: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) exercises: Option<Vec<(&'static str, String)>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) hide: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) course: Option<CourseView>,
}

impl Answer {
    /// This answer, with what another one has and it has not.
    pub(crate) fn joined(self, other: Answer) -> Answer {
        Answer {
            frame: self.frame.or(other.frame),
            rows: self.rows.or(other.rows),
            cone: self.cone.or(other.cone),
            link: self.link.or(other.link),
            file: self.file.or(other.file),
            report: self.report.or(other.report),
            texts: self.texts.or(other.texts),
            language: self.language.or(other.language),
            exhibits: self.exhibits.or(other.exhibits),
            algorithms: self.algorithms.or(other.algorithms),
            exhibit: self.exhibit.or(other.exhibit),
            done: self.done.or(other.done),
            error: self.error.or(other.error),
            detail: self.detail.or(other.detail),
            top: self.top.or(other.top),
            exercises: self.exercises.or(other.exercises),
            hide: self.hide.or(other.hide),
            course: self.course.or(other.course),
        }
    }
}
