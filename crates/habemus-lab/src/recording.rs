//! A run that was recorded elsewhere, or is being recorded by real nodes now: records and nothing behind
//! them.

use std::collections::BTreeSet;

use habemus::{Id, Status, catalogue};
use habemus_report::Finding;
use habemus_sim::ProcessState;
use habemus_trace::{Happening, Header, Record, Trace};

use crate::error::LabError;
use crate::frame::{Frame, LinkView, MessageView, ProcessView, PropertyView, show_time};
use crate::history::History;
use crate::language::Language;
use crate::layout::places;
use crate::meter::Meter;
use crate::panels::ProcessPanel;
use crate::portuguese::{cost_words, monitor_words, title_words};
use crate::processes::status_name;
use crate::sentences::in_words;
use crate::texts::{problem_words, property_words, status_words};

/// A run that was recorded.
pub struct Recording {
    header: Header,
    history: History,
    cursor: u64,
    /// Whether more comes: then the cursor stays at the end unless somebody looks back.
    live: bool,
    /// The event before the part that can repeat itself for ever.
    cycle: Option<u64>,
}

/// What is known of a process from records alone.
#[derive(Clone, Copy)]
struct Known {
    is_up: bool,
    is_paused: bool,
    status: Status,
}

impl Recording {
    /// A trace, as a file has it.
    ///
    /// # Errors
    /// If it is none.
    pub fn read(text: &str) -> Result<Self, LabError> {
        let trace = Trace::read(text.as_bytes()).map_err(|error| LabError::Scenario(error.to_string()))?;
        let mut recording = Recording::begin(trace.header, false);
        let repeats = recording.header.cycle;
        for (place, record) in trace.records.into_iter().enumerate() {
            recording.add(record);
            if repeats == Some(place + 1) {
                recording.cycle = Some(recording.history.known());
            }
        }
        recording.cursor = 0;
        Ok(recording)
    }

    /// A run that is just beginning.
    pub fn begin(header: Header, live: bool) -> Self {
        let history = History::begin(header.processes.clone(), Vec::new());
        Recording { header, history, cursor: 0, live, cycle: None }
    }

    /// Takes note of what has happened since.
    pub fn add(&mut self, record: Record) {
        let was_at_the_end = self.cursor == self.history.known();
        self.history.add(record);
        if was_at_the_end {
            self.cursor = self.history.known();
        }
    }

    /// What has happened.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// After how many events it is looked at.
    pub fn cursor(&self) -> u64 {
        self.cursor
    }

    /// Goes to the moment after so many events, or to the end if there are fewer.
    pub fn seek(&mut self, events: u64) {
        self.cursor = events.min(self.history.known());
    }

    /// All of it, as a trace.
    pub fn trace(&self) -> Trace {
        Trace { header: self.header.clone(), records: self.history.records().to_vec() }
    }

    /// The name of the algorithm.
    pub fn algorithm(&self) -> &str {
        &self.header.algorithm
    }

    fn states(&self) -> Vec<ProcessState> {
        let fresh = Known { is_up: true, is_paused: false, status: Status::Idle };
        let mut known = vec![fresh; self.header.processes.len()];
        let past = &self.history.records()[..self.history.records_after(self.cursor)];
        for record in past {
            let place =
                record.process.and_then(|id| self.header.processes.iter().position(|other| *other == id));
            let Some(known) = place.and_then(|place| known.get_mut(place)) else { continue };
            match &record.what {
                Happening::Start { .. } => *known = fresh,
                Happening::Crash => *known = Known { is_up: false, ..fresh },
                Happening::Pause => known.is_paused = true,
                Happening::Resume => known.is_paused = false,
                Happening::Command { status: Some(status), .. }
                | Happening::Output { status: Some(status), .. } => known.status = *status,
                _ => {}
            }
        }
        let state = |(id, known): (&u64, Known)| ProcessState {
            id: *id,
            is_up: known.is_up,
            is_paused: known.is_paused,
            status: known.status,
        };
        self.header.processes.iter().zip(known).map(state).collect()
    }

    /// The links over which somebody has ever sent something, and those of them that are cut.
    fn links(&self) -> Vec<LinkView> {
        let mut links: BTreeSet<(u64, u64)> = BTreeSet::new();
        let mut cut: BTreeSet<(u64, u64)> = BTreeSet::new();
        let past = self.history.records_after(self.cursor);
        for (place, record) in self.history.records().iter().enumerate() {
            match (&record.what, record.process) {
                (Happening::Send { to, .. }, Some(from)) => {
                    links.insert((from.min(*to), from.max(*to)));
                }
                (Happening::Cut { links }, _) if place < past => {
                    cut.extend(links.iter().map(|(from, to)| (*from.min(to), *from.max(to))));
                }
                (Happening::Heal { links }, _) if place < past => {
                    for (from, to) in links {
                        cut.remove(&(*from.min(to), *from.max(to)));
                    }
                }
                _ => {}
            }
        }
        let view = |&(from, to): &(u64, u64)| {
            let is_cut = cut.contains(&(from, to));
            let word = if is_cut { "heal" } else { "cut" };
            LinkView {
                from,
                to,
                both: true,
                cut: is_cut,
                action: (format!("{word} {from}-{to}"), String::new()),
            }
        };
        links.iter().map(view).collect()
    }

    fn messages(&self) -> Vec<MessageView> {
        let (past, records) = (self.history.records_after(self.cursor) as u32, self.history.records());
        let on_its_way = self.history.passages().iter().filter(|passage| {
            let ends = passage.delivered.into_iter().chain(passage.dropped).min();
            passage.sent < past && ends.is_some_and(|end| end >= past)
        });
        let view = |passage: &crate::history::Passage| match &records[passage.sent as usize].what {
            Happening::Send { to, kind, label, background, .. } => Some(MessageView {
                from: passage.message.sender,
                to: *to,
                number: passage.message.number,
                way: 0.5,
                kind: kind.to_string(),
                label: label.to_string(),
                background: *background,
                actions: Vec::new(),
                refusal: None,
            }),
            _ => None,
        };
        on_its_way.filter_map(view).collect()
    }

    fn properties(&self, language: Language) -> Vec<PropertyView> {
        let mut views: Vec<PropertyView> = Vec::new();
        for (place, record) in self.history.records().iter().enumerate() {
            let Happening::Violation { property, explanation } = &record.what else { continue };
            let event = self.history.event_of(place);
            if event <= self.cursor && !views.iter().any(|view| view.name == *property) {
                views.push(PropertyView {
                    name: property.clone(),
                    title: property_words(property, language).to_owned(),
                    demand: String::new(),
                    verdict: Finding::Violated,
                    promised: false,
                    explanation: monitor_words(explanation, language).unwrap_or_default(),
                    event: Some(event),
                });
            }
        }
        views
    }

    fn meter(&self, language: Language) -> Meter {
        let mut kinds: std::collections::BTreeMap<String, u64> = std::collections::BTreeMap::new();
        let past = &self.history.records()[..self.history.records_after(self.cursor)];
        for record in past {
            if let Happening::Send { kind, .. } = &record.what {
                *kinds.entry(kind.to_string()).or_default() += 1;
            }
        }
        let cost = catalogue::entry(&self.header.algorithm).map_or("", |entry| entry.cost);
        Meter {
            messages: kinds.values().sum(),
            kinds: kinds.into_iter().collect(),
            bound: None,
            theory: String::new(),
            cost: cost_words(cost, language),
        }
    }

    /// What there is to see.
    pub fn frame(&self, selected: Option<u64>, language: Language) -> Frame {
        let states = self.states();
        let count = states.len();
        let address = |id: u64| self.header.processes.iter().position(|other| *other == id);
        let links = self.links();
        let pairs: Vec<(usize, usize)> = links
            .iter()
            .filter_map(|link| Some((address(link.from)?, address(link.to)?)))
            .flat_map(|(from, to)| [(from, to), (to, from)])
            .collect();
        let places = places(count, &pairs);
        let touched: Vec<u64> =
            self.history.records_of(self.cursor).iter().filter_map(|record| record.process).collect();
        let view = |(at, state): (usize, &ProcessState)| ProcessView {
            id: state.id,
            x: places[at].0,
            y: places[at].1,
            up: state.is_up,
            paused: state.is_paused,
            status: status_name(state.status),
            leader: match state.status {
                Status::Following(Some(Id(leader))) => Some(leader),
                _ => None,
            },
            words: status_words(state, language),
            touched: self.cursor > 0 && touched.contains(&state.id),
            timer: None,
            actions: if self.live { console_words(state, language) } else { Vec::new() },
        };
        let chosen = states.iter().find(|state| Some(state.id) == selected);
        let at_the_end = self.cursor == self.history.known();
        let time = self.history.records_of(self.cursor).first().map_or(0, |record| record.at);
        Frame {
            title: title_words(self.header.title.as_deref().unwrap_or_default(), language).to_owned(),
            algorithm: self.header.algorithm.clone(),
            problem: problem_words(self.header.problem, language).to_owned(),
            size: count,
            seed: self.header.seed.unwrap_or_default(),
            topology: String::new(),
            topologies: Vec::new(),
            lock: String::new(),
            locks: Vec::new(),
            cursor: self.cursor,
            known: self.history.known(),
            over: (at_the_end && !self.live)
                .then(|| language.of("the recording ends here", "a gravação termina aqui").to_owned()),
            time: show_time(time, language),
            now: time,
            processes: states.iter().enumerate().map(view).collect(),
            links: if self.live {
                links
            } else {
                links.into_iter().filter(|link| link.cut || count <= 64).collect()
            },
            messages: self.messages(),
            next: Vec::new(),
            properties: self.properties(language),
            meter: self.meter(language),
            process: chosen.map(|state| ProcessPanel {
                id: state.id,
                status: status_words(state, language),
                variables: Vec::new(),
                changed: Vec::new(),
                stable: Vec::new(),
                why: Vec::new(),
            }),
            branches: Vec::new(),
            marks: self.history.marks().to_vec(),
            fingerprint: String::new(),
            said: in_words(&self.history, self.cursor, None, language),
            recorded: !self.live,
            live: self.live,
            cycle: self.cycle,
        }
    }
}

/// What can be said about a real node, in the words of the console.
fn console_words(state: &ProcessState, language: Language) -> Vec<(String, String)> {
    let id = state.id;
    let word = |word: &str, english: &str, portuguese: &str| {
        (format!("{word} {id}"), language.of(english, portuguese).to_owned())
    };
    match (state.is_up, state.is_paused) {
        (false, _) => vec![word("restart", "Start again", "Iniciar de novo")],
        (true, true) => {
            vec![word("resume", "Resume", "Continuar"), word("kill", "Kill", "Matar")]
        }
        (true, false) => vec![word("kill", "Kill", "Matar"), word("pause", "Pause", "Pausar")],
    }
}
