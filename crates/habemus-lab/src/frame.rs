//! What the page draws of a moment.

use std::collections::BTreeMap;

use habemus::{Address, Status};
use habemus_report::{Finding, PropertyLine};
use habemus_sim::{PendingEvent, PendingKind, ProcessState, Stepper};
use habemus_trace::Happening;
use serde::Serialize;

use crate::branch::Branch;
use crate::diagram::in_words;
use crate::experiment::Experiment;
use crate::language::Language;
use crate::layout::places;
use crate::meter::Meter;
use crate::panels::ProcessPanel;
use crate::texts::{demand_words, refusal_words, status_words, stop_words};

/// Of more processes than this only dots are drawn, and no links.
const MAX_DRAWN_LINKS: usize = 4_000;
/// So many of the next events are listed.
const MAX_NEXT: usize = 40;

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
    /// After how many events.
    pub cursor: u64,
    /// How many are known in this branch.
    pub known: u64,
    /// Why nothing more comes by itself, if the end is known.
    pub over: Option<String>,
    /// The virtual time.
    pub time: String,
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
    /// How many timers run.
    pub timers: usize,
    /// What can be done to it: an action of the script, and words for it.
    pub actions: Vec<(String, String)>,
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
    /// Its name.
    pub name: String,
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
    /// With which event it first differs from the one that is looked at.
    pub differs: Option<u64>,
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
pub(crate) fn show_time(nanoseconds: u64) -> String {
    let milliseconds = nanoseconds as f64 / 1e6;
    match nanoseconds {
        0 => "0 ms".to_owned(),
        _ if milliseconds < 1000.0 => format!("{milliseconds:.1} ms"),
        _ => format!("{:.2} s", milliseconds / 1000.0),
    }
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
            title: scenario.title.clone().unwrap_or_default(),
            algorithm: scenario.algorithm.clone(),
            problem: here.entry().problem.to_string(),
            size: scenario.ids.len(),
            seed: scenario.seed,
            cursor,
            known: branch.known(),
            over: is_end.then(|| stop_words(branch.tip().stop(), language).to_owned()),
            time: show_time(here.now()),
            processes: processes(branch, here, &states, &pending, language),
            links: link_views(&links.all, &links.cut, language),
            messages: message_views(branch, here, &pending, language),
            next: next_views(&pending, here.now(), language),
            properties: properties(experiment, is_end, language),
            meter: Meter::new(here.entry(), here.scenario(), &statistics, language),
            process: selected.and_then(|at| ProcessPanel::new(branch, here, before.as_ref(), at, language)),
            branches: branch_views(experiment),
            marks: slide_marks(branch),
            fingerprint: here.fingerprint(),
            said: in_words(branch, cursor, language),
        }
    }
}

fn processes(
    branch: &Branch,
    here: &Stepper,
    states: &[ProcessState],
    pending: &[PendingEvent],
    language: Language,
) -> Vec<ProcessView> {
    let ids = &branch.scenario().ids;
    let address: BTreeMap<u64, usize> = ids.iter().copied().zip(0..).collect();
    let links: Vec<(usize, usize)> = here
        .links()
        .all
        .iter()
        .filter_map(|(from, to)| Some((*address.get(from)?, *address.get(to)?)))
        .collect();
    let touched: Vec<u64> =
        branch.records_of(here.events()).iter().filter_map(|record| record.process).collect();
    let places = places(ids.len(), &links);
    let view = |(at, state): (usize, &ProcessState)| ProcessView {
        id: state.id,
        x: places[at].0,
        y: places[at].1,
        up: state.is_up,
        paused: state.is_paused,
        status: status_name(state.status),
        leader: match state.status {
            Status::Following(leader) => leader.map(|leader| leader.0),
            _ => None,
        },
        words: status_words(state, language),
        touched: here.events() > 0 && touched.contains(&state.id),
        timers: pending
            .iter()
            .filter(|pending| {
                pending.process == state.id && matches!(pending.what, PendingKind::Timer { .. })
            })
            .count(),
        actions: actions_on(here, at, state, language),
    };
    states.iter().enumerate().map(view).collect()
}

fn status_name(status: Status) -> &'static str {
    match status {
        Status::Idle => "idle",
        Status::Waiting => "waiting",
        Status::Inside => "inside",
        Status::Leading => "leading",
        Status::Following(_) => "following",
        Status::Decided => "decided",
    }
}

/// What can be done to a process.
fn actions_on(here: &Stepper, at: usize, state: &ProcessState, language: Language) -> Vec<(String, String)> {
    let id = state.id;
    let action = |word: &str, english: &str, portuguese: &str| {
        (format!("{word} {id}"), language.of(english, portuguese).to_owned())
    };
    if !state.is_up {
        let amnesia = language.of("Recover with amnesia", "Recuperar com amnésia");
        return vec![
            action("recover", "Recover", "Recuperar"),
            (format!("recover {id} with amnesia"), amnesia.to_owned()),
        ];
    }
    let mut actions = vec![action("crash", "Crash", "Derrubar")];
    actions.push(match state.is_paused {
        true => action("resume", "Resume", "Continuar"),
        false => action("pause", "Pause", "Pausar"),
    });
    for word in here.commands(Address(at as u32)) {
        match word {
            "elect" => actions.push(action(word, "Start an election", "Iniciar eleição")),
            "acquire" => actions.push(action(word, "Ask to enter", "Pedir para entrar")),
            "release" if state.status == Status::Inside => actions.push(action(word, "Leave", "Sair")),
            _ => {}
        }
    }
    let slow = language.of("Slow down by 50 ms", "Atrasar em 50 ms");
    actions.push((format!("slow {id} by 50ms"), slow.to_owned()));
    actions
}

fn link_views(all: &[(u64, u64)], cut: &[(u64, u64)], language: Language) -> Vec<LinkView> {
    let mut views = Vec::new();
    if all.len() > MAX_DRAWN_LINKS {
        return views;
    }
    let there: std::collections::BTreeSet<(u64, u64)> = all.iter().copied().collect();
    let cut: std::collections::BTreeSet<(u64, u64)> = cut.iter().copied().collect();
    for &(from, to) in all {
        let both = there.contains(&(to, from));
        if both && from > to {
            continue;
        }
        let is_cut = cut.contains(&(from, to)) || (both && cut.contains(&(to, from)));
        let sign = if both { "-" } else { "->" };
        let action = match is_cut {
            true => (format!("heal {from}{sign}{to}"), language.of("Mend the link", "Refazer o enlace")),
            false => (format!("cut {from}{sign}{to}"), language.of("Cut the link", "Cortar o enlace")),
        };
        views.push(LinkView { from, to, both, cut: is_cut, action: (action.0, action.1.to_owned()) });
    }
    views
}

fn message_views(
    branch: &Branch,
    here: &Stepper,
    pending: &[PendingEvent],
    language: Language,
) -> Vec<MessageView> {
    let view = |pending: &PendingEvent| {
        let PendingKind::Message { from, number, nth, kind, label, background } = &pending.what else {
            return None;
        };
        let (to, sent) = (pending.process, branch.passages().get(*number as usize)?.sent);
        let sent = branch.records()[sent as usize].at;
        let way = match pending.due {
            _ if *nth == 0 => 1.0,
            Some(due) if due > sent => (here.now() - sent.min(here.now())) as f64 / (due - sent) as f64,
            _ => 0.5,
        };
        let which = ordinal(*nth);
        let message = format!("{which}{from}->{to}");
        let act = |word: &str, english: &str, portuguese: &str| {
            (format!("{word} {message}"), language.of(english, portuguese).to_owned())
        };
        let mut actions = Vec::new();
        if *nth > 0 {
            actions.extend([
                act("deliver", "Deliver now", "Entregar agora"),
                act("lose", "Lose", "Perder"),
                act("duplicate", "Deliver and duplicate", "Entregar e duplicar"),
            ]);
            let delay = language.of("Delay by 50 ms", "Atrasar em 50 ms");
            actions.push((format!("delay {message} by 50ms"), delay.to_owned()));
        }
        Some(MessageView {
            from: *from,
            to,
            number: *number,
            way: (way * 1000.0).round() / 1000.0,
            kind: kind.clone(),
            label: label.clone(),
            background: *background,
            actions,
            refusal: pending.refusal.map(|refusal| refusal_words(refusal, language).to_owned()),
        })
    };
    pending.iter().filter_map(view).collect()
}

/// `2nd `, and nothing for the first.
fn ordinal(nth: u32) -> String {
    let ending = match (nth % 10, nth % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    if nth <= 1 { String::new() } else { format!("{nth}{ending} ") }
}

fn next_views(pending: &[PendingEvent], now: u64, language: Language) -> Vec<NextView> {
    let view = |pending: &PendingEvent| {
        let at = pending.process;
        let (words, action, background) = match &pending.what {
            PendingKind::Message { from, nth, label, background, .. } => {
                let words = format!("{label}: {from} → {at}");
                let action = (*nth > 0).then(|| format!("deliver {}{from}->{at}", ordinal(*nth)));
                (words, action, *background)
            }
            PendingKind::Timer { label, background } => {
                let words = format!("{at}: {} {label}", language.of("timer", "temporizador"));
                (words, Some(format!("fire {at} {label}")), *background)
            }
            PendingKind::Command { label } => (format!("{at}: {label}"), None, false),
            PendingKind::Suspicion { suspect } => {
                (format!("{at} {} {suspect}", language.of("suspects", "suspeita de")), None, false)
            }
            PendingKind::Trust { restored } => {
                let words = language.of("trusts again", "volta a confiar em");
                (format!("{at} {words} {restored}"), None, false)
            }
        };
        NextView {
            process: at,
            words,
            due: pending.due.map(|due| format!("+{}", show_time(due.saturating_sub(now)))),
            background,
            action: action.filter(|_| pending.refusal.is_none()),
            refusal: pending.refusal.map(|refusal| refusal_words(refusal, language).to_owned()),
        }
    };
    pending.iter().take(MAX_NEXT).map(view).collect()
}

fn properties(experiment: &Experiment, is_end: bool, language: Language) -> Vec<PropertyView> {
    let (branch, here) = (experiment.branch(), experiment.here());
    let lines = match is_end.then(|| branch.tip().report()) {
        Some(Ok(report)) => report.properties,
        _ => here.properties(),
    };
    let view = |line: PropertyLine| {
        let event = branch.violations().find(|(_, name)| *name == line.name).map(|(event, _)| event);
        let event = event.filter(|_| line.verdict == Finding::Violated);
        PropertyView {
            demand: demand_words(&line.demand, language).to_owned(),
            explanation: explanation(&line, event, is_end, language),
            verdict: line.verdict,
            promised: line.promised,
            name: line.name,
            event,
        }
    };
    lines.into_iter().map(view).collect()
}

/// What is to be said of a property; the sentences of the monitors are English.
fn explanation(line: &PropertyLine, event: Option<u64>, is_end: bool, language: Language) -> String {
    let mut text = match (line.verdict, language) {
        (Finding::Violated, Language::English) => line.why().to_owned(),
        (Finding::Violated, Language::Portuguese) => match event {
            Some(event) => format!("violada no evento {event}"),
            None => "não se cumpriu até o fim".to_owned(),
        },
        (Finding::Open, _) if !is_end => language.of("not yet", "ainda não").to_owned(),
        (Finding::Open, Language::English) => line.why().to_owned(),
        (Finding::Open, Language::Portuguese) => "em aberto no fim da execução".to_owned(),
        (Finding::DoesNotApply, Language::English) => line.why().to_owned(),
        (Finding::DoesNotApply, Language::Portuguese) => "não se aplica a esta execução".to_owned(),
        _ => String::new(),
    };
    if let Some(outside) = &line.outside {
        let said = match language {
            Language::English => format!("not promised here: {outside}"),
            Language::Portuguese => "não prometida nestas circunstâncias".to_owned(),
        };
        text = if text.is_empty() { said } else { format!("{text}; {said}") };
    }
    text
}

fn branch_views(experiment: &Experiment) -> Vec<BranchView> {
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
            differs: if current { None } else { branch.differs(experiment.branch()) },
        }
    };
    branches.iter().enumerate().map(view).collect()
}

fn depth(branches: &[Branch], number: usize) -> usize {
    branches[number].parent.map_or(0, |(parent, _)| 1 + depth(branches, parent))
}

fn slide_marks(branch: &Branch) -> Vec<SlideMark> {
    const MAX_MARKS: usize = 400;
    let mut marks: Vec<SlideMark> =
        branch.acts().iter().map(|(at, _)| SlideMark { event: at + 1, kind: "hand" }).collect();
    for (place, record) in branch.records().iter().enumerate() {
        let kind = match &record.what {
            Happening::Crash | Happening::Pause | Happening::Cut { .. } => "fault",
            Happening::Start { recovered: true } => "fault",
            Happening::Violation { .. } => "violation",
            Happening::Output {
                status: Some(Status::Leading | Status::Inside | Status::Decided), ..
            } => "result",
            _ => continue,
        };
        let mark = SlideMark { event: branch.event_of(place), kind };
        if marks.last() != Some(&mark) {
            marks.push(mark);
        }
        if marks.len() >= MAX_MARKS {
            break;
        }
    }
    marks
}
