//! What the page draws of a moment.

use habemus_report::Finding;
use habemus_scenario::TopologyChoice;
use serde::Serialize;

use crate::branch::Branch;
use crate::experiment::Experiment;
use crate::language::Language;
use crate::meter::Meter;
use crate::panels::ProcessPanel;
use crate::pending::{message_views, next_views};
use crate::portuguese::title_words;
use crate::processes::{link_views, processes};
use crate::properties::properties;
use crate::sentences::in_words;
use crate::texts::{problem_words, stop_words};

/// A moment of an experiment.
#[derive(Clone, Debug, Serialize)]
pub struct Frame {
    /// What the run shows.
    pub title: String,
    /// The algorithm.
    pub algorithm: String,
    /// What it solves.
    pub problem: String,
    /// How many processes there are.
    pub size: usize,
    /// The seed.
    pub seed: u64,
    /// How the processes are connected.
    pub topology: String,
    /// How they may be, by name; `own` if there is nothing to choose.
    pub topologies: Vec<&'static str>,
    /// Where locks have names, each is a run of its own: this one,
    pub lock: String,
    /// of all these.
    pub locks: Vec<String>,
    /// After how many events.
    pub cursor: u64,
    /// How many are known in this branch.
    pub known: u64,
    /// Why nothing more comes by itself, if the end is known.
    pub over: Option<String>,
    /// The virtual time.
    pub time: String,
    /// The same in nanoseconds.
    pub now: u64,
    /// The processes.
    pub processes: Vec<ProcessView>,
    /// The links.
    pub links: Vec<LinkView>,
    /// The messages on their way.
    pub messages: Vec<MessageView>,
    /// What may come next.
    pub next: Vec<NextView>,
    /// What must hold.
    pub properties: Vec<PropertyView>,
    /// The cost.
    pub meter: Meter,
    /// All about the process that is selected.
    pub process: Option<ProcessPanel>,
    /// All branches.
    pub branches: Vec<BranchView>,
    /// What stands out on the slider.
    pub marks: Vec<SlideMark>,
    /// Of everything that has happened.
    pub fingerprint: String,
    /// What the last event was, in words.
    pub said: String,
    /// Whether it is a recording, to which nothing can be done.
    pub recorded: bool,
    /// Whether more comes of itself, from real nodes, to which something can be done.
    pub live: bool,
    /// The event after which what happened can happen again and again, for ever.
    pub cycle: Option<u64>,
}

/// A process.
#[derive(Clone, Debug, Serialize)]
pub struct ProcessView {
    /// Its identifier.
    pub id: u64,
    /// Where it stands.
    pub x: f64,
    /// Where it stands.
    pub y: f64,
    /// Whether it is up.
    pub up: bool,
    /// Whether it is paused.
    pub paused: bool,
    /// What it is: `idle`, `waiting`, `inside`, `leading`, `following`, `decided`.
    pub status: &'static str,
    /// Whom it follows.
    pub leader: Option<u64>,
    /// The same in words.
    pub words: String,
    /// Whether the last event happened here.
    pub touched: bool,
    /// The timer that runs out first, of those that do not only drive background traffic.
    pub timer: Option<TimerView>,
    /// What can be done to it: an action of the script, and words for it.
    pub actions: Vec<(String, String)>,
}

/// A timer.
#[derive(Clone, Debug, Serialize)]
pub struct TimerView {
    /// How much of it is left, as a part of a time that all arcs of a picture share.
    pub left: f64,
    /// Which it is, and when it runs out.
    pub words: String,
}

/// A link.
#[derive(Clone, Debug, Serialize)]
pub struct LinkView {
    /// From whom.
    pub from: u64,
    /// To whom.
    pub to: u64,
    /// Whether it goes both ways.
    pub both: bool,
    /// Whether it carries nothing.
    pub cut: bool,
    /// What can be done to it.
    pub action: (String, String),
}

/// A message on its way.
#[derive(Clone, Debug, Serialize)]
pub struct MessageView {
    /// From whom.
    pub from: u64,
    /// To whom.
    pub to: u64,
    /// Its number.
    pub number: u64,
    /// How far it is, from 0 to 1.
    pub way: f64,
    /// Its kind.
    pub kind: String,
    /// All of it.
    pub label: String,
    /// Whether it is background traffic.
    pub background: bool,
    /// What can be done to it.
    pub actions: Vec<(String, String)>,
    /// Why it cannot be delivered now.
    pub refusal: Option<String>,
}

/// Something that may come next.
#[derive(Clone, Debug, Serialize)]
pub struct NextView {
    /// At whom.
    pub process: u64,
    /// What, in words.
    pub words: String,
    /// When it comes by itself.
    pub due: Option<String>,
    /// Whether it is background traffic.
    pub background: bool,
    /// The action of the script that makes it come now.
    pub action: Option<String>,
    /// Why it cannot.
    pub refusal: Option<String>,
}

/// A property.
#[derive(Clone, Debug, Serialize)]
pub struct PropertyView {
    /// Its name, as scenarios have it.
    pub name: String,
    /// What it is called.
    pub title: String,
    /// What it demands.
    pub demand: String,
    /// `holds`, `violated`, `open` or `does-not-apply`.
    pub verdict: Finding,
    /// Whether the algorithm promises it in these circumstances.
    pub promised: bool,
    /// What is to be said of it.
    pub explanation: String,
    /// With which event it was broken.
    pub event: Option<u64>,
}

/// A branch.
#[derive(Clone, Debug, Serialize)]
pub struct BranchView {
    /// From which it departs.
    pub parent: Option<usize>,
    /// After how many events it departs.
    pub at: u64,
    /// What was done there.
    pub label: String,
    /// How many events are known.
    pub known: u64,
    /// Whether it is looked at.
    pub current: bool,
    /// How deep it is in the tree.
    pub depth: usize,
    /// Where it first differs from the one that is looked at.
    pub differs: Option<Difference>,
}

/// Where two branches part.
#[derive(Clone, Debug, Serialize)]
pub struct Difference {
    /// The first event that is not the same.
    pub event: u64,
    /// What it is in the branch that is looked at,
    pub here: String,
    /// and in the other.
    pub there: String,
}

/// Something on the slider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SlideMark {
    /// At which event.
    pub event: u64,
    /// `fault`, `violation`, `hand` or `result`.
    pub kind: &'static str,
}

/// A time or a span as people read it.
pub(crate) fn show_time(nanoseconds: u64, language: Language) -> String {
    let milliseconds = nanoseconds as f64 / 1e6;
    let time = match nanoseconds {
        0 => "0 ms".to_owned(),
        _ if milliseconds < 1000.0 => format!("{milliseconds:.1} ms"),
        _ => format!("{:.2} s", milliseconds / 1000.0),
    };
    language.of(time.clone(), time.replace('.', ","))
}

impl Frame {
    /// What there is to see; the process with the index `selected` is looked at closely.
    pub fn new(experiment: &Experiment, selected: Option<usize>, language: Language) -> Self {
        let branch = experiment.branch();
        let here = experiment.here();
        let scenario = branch.scenario();
        let cursor = experiment.cursor();
        let states = here.processes();
        let pending = here.pending();
        let links = here.links();
        let is_end = cursor == branch.known() && branch.is_over();
        let before = (cursor > 0 && selected.is_some()).then(|| branch.at(cursor - 1));
        let statistics = here.statistics();
        Frame {
            title: title_words(scenario.title.as_deref().unwrap_or_default(), language).to_owned(),
            algorithm: scenario.algorithm.clone(),
            problem: problem_words(here.entry().problem, language).to_owned(),
            size: scenario.ids.len(),
            seed: scenario.seed,
            topology: match &scenario.topology {
                None => here.entry().topologies.first().copied().unwrap_or_default().to_owned(),
                Some(TopologyChoice::Named(name)) => name.clone(),
                Some(TopologyChoice::Links(_)) => "links".to_owned(),
            },
            topologies: here.entry().topologies.to_vec(),
            lock: String::new(),
            locks: Vec::new(),
            cursor,
            known: branch.known(),
            over: is_end.then(|| stop_words(branch.tip().stop(), language).to_owned()),
            time: show_time(here.now(), language),
            now: here.now(),
            processes: processes(branch, here, &states, &pending, language),
            links: link_views(&links.all, &links.cut, language),
            messages: message_views(branch, here, &pending, language),
            next: next_views(&pending, here.now(), language),
            properties: properties(experiment, is_end, language),
            meter: Meter::new(here.entry(), here.scenario(), &statistics, language),
            process: selected.and_then(|at| ProcessPanel::new(branch, here, before.as_ref(), at, language)),
            branches: branch_views(experiment, language),
            marks: slide_marks(branch),
            recorded: false,
            live: false,
            cycle: None,
            fingerprint: here.fingerprint(),
            said: in_words(branch.history(), cursor, branch.act_before(cursor).as_deref(), language),
        }
    }
}

/// Where another branch first differs from the one that is looked at.
fn difference(experiment: &Experiment, other: &Branch, language: Language) -> Option<Difference> {
    let own = experiment.branch();
    let event = other.history().differs(own.history())?;
    let words = |branch: &Branch| match event <= branch.known() {
        true => in_words(branch.history(), event, branch.act_before(event).as_deref(), language),
        false => language.of("nothing yet", "nada ainda").to_owned(),
    };
    Some(Difference { event, here: words(own), there: words(other) })
}

fn branch_views(experiment: &Experiment, language: Language) -> Vec<BranchView> {
    let branches = experiment.branches();
    let view = |(number, branch): (usize, &Branch)| {
        let at = branch.parent.map_or(0, |(_, at)| at);
        let act = branch.acts().iter().find(|(events, _)| *events == at && branch.parent.is_some());
        let current = number == experiment.current();
        BranchView {
            parent: branch.parent.map(|(parent, _)| parent),
            at,
            label: act.map(|(_, action)| action.to_string()).unwrap_or_default(),
            known: branch.known(),
            current,
            depth: depth(branches, number),
            differs: if current { None } else { difference(experiment, branch, language) },
        }
    };
    branches.iter().enumerate().map(view).collect()
}

fn depth(branches: &[Branch], number: usize) -> usize {
    branches[number].parent.map_or(0, |(parent, _)| 1 + depth(branches, parent))
}

fn slide_marks(branch: &Branch) -> Vec<SlideMark> {
    let mut marks = branch.history().marks().to_vec();
    marks.extend(branch.acts().iter().map(|(at, _)| SlideMark { event: at + 1, kind: "hand" }));
    marks
}
