//! The space-time diagram: a row for each event, a column for each process, arrows for messages.

use std::collections::BTreeSet;

use habemus_trace::{Happening, Record};
use serde::{Deserialize, Serialize};

use crate::frame::show_time;
use crate::history::{History, Passage};
use crate::language::Language;
use crate::sentences::in_words;

/// By time, events that follow at this many times the usual distance have a silence between them, which is
/// cut.
const SILENCE: f64 = 8.0;
/// No event is farther from the one before it than so many rows.
const FARTHEST: f64 = 4.0;
/// A diagram of more rows has them in order whatever is asked for: no browser shows anything taller.
const MAX_BY_TIME: usize = 100_000;

/// What of a run is shown, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct DiagramView {
    /// Down the page: events in order, or time.
    pub axis: Axis,
    /// Whether background traffic is shown.
    pub background: bool,
    /// The kinds of messages that are not shown.
    pub hidden: BTreeSet<String>,
    /// The processes that are shown; none named: all.
    pub processes: BTreeSet<u64>,
}

/// What the way down the page means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Axis {
    /// Each event is a row below the one before it.
    #[default]
    Order,
    /// The later, the lower; silences are cut.
    Time,
}

/// The diagram of a run: where its rows are.
#[derive(Clone, Debug)]
pub struct Diagram {
    columns: Vec<u64>,
    rows: Vec<Place>,
    /// Where all rows end.
    height: f64,
    arrows: Vec<Course>,
    kinds: Vec<String>,
    hidden: usize,
}

/// Where a row is.
#[derive(Clone, Copy, Debug)]
struct Place {
    event: u64,
    top: f64,
    /// How long nothing happened before it, if that was cut.
    silence: u64,
}

/// Where an arrow begins and ends.
#[derive(Clone, Copy, Debug)]
struct Course {
    passage: u32,
    from: f64,
    to: f64,
}

/// A piece of the diagram. All its places are in rows from the top of the diagram.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DiagramWindow {
    /// The identifiers of the processes, by column.
    pub columns: Vec<u64>,
    /// The kinds of messages that there are in the run.
    pub kinds: Vec<String>,
    /// How many rows there are in all.
    pub total: usize,
    /// How many events are left out.
    pub hidden: usize,
    /// Where the last row ends.
    pub height: f64,
    /// The number of the first row of this piece.
    pub first: usize,
    /// Its rows.
    pub rows: Vec<DiagramRow>,
    /// The messages that are on their way somewhere in it.
    pub arrows: Vec<Arrow>,
}

/// An event.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DiagramRow {
    /// Its number; 0 is the beginning.
    pub event: u64,
    /// Where it is.
    pub top: f64,
    /// How long nothing happened before it, if that was cut.
    pub silence: Option<String>,
    /// When.
    pub time: String,
    /// What happened, in words.
    pub words: String,
    /// Whether it was done by hand.
    pub by_hand: bool,
    /// What is drawn.
    pub marks: Vec<Mark>,
}

/// Something at a process.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Mark {
    /// The column of the process.
    pub column: usize,
    /// What happened, in a word: the page knows a sign for it.
    pub kind: &'static str,
    /// What it became by it, if it became something.
    pub label: String,
}

/// A message. Where it begins or ends outside the piece, its row lies outside, too.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Arrow {
    /// Its sender.
    pub sender: u64,
    /// The sender's number for it.
    pub number: u64,
    /// With which event it was sent.
    pub event: u64,
    /// The row and the column where it was sent.
    pub from: (f64, usize),
    /// The row where it ends (that behind the last row of the diagram if it is still on its way), and the
    /// column.
    pub to: (f64, usize),
    /// How it ends.
    pub end: ArrowEnd,
    /// Its kind.
    pub kind: String,
    /// All of it.
    pub label: String,
}

/// How a message ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ArrowEnd {
    /// It arrived.
    Arrived,
    /// It was lost.
    Lost,
    /// It is still on its way.
    OnItsWay,
}

fn is_background(history: &History, record: &Record) -> bool {
    match &record.what {
        Happening::Send { background, .. }
        | Happening::Deliver { background, .. }
        | Happening::Timer { background, .. } => *background,
        Happening::Drop { .. } => sending(history, record).is_some_and(|sent| is_background(history, sent)),
        _ => false,
    }
}

/// The record of the sending of the message that a record tells of.
fn sending<'a>(history: &'a History, record: &Record) -> Option<&'a Record> {
    let passage = history.passage(record.message()?)?;
    history.records().get(passage.sent as usize)
}

impl DiagramView {
    fn shows_process(&self, id: u64) -> bool {
        self.processes.is_empty() || self.processes.contains(&id)
    }

    fn shows_kind(&self, history: &History, record: &Record) -> bool {
        match &record.what {
            Happening::Send { kind, .. } | Happening::Deliver { kind, .. } => {
                self.hidden.is_empty() || !self.hidden.contains(&kind.to_string())
            }
            Happening::Drop { .. } => {
                self.hidden.is_empty()
                    || sending(history, record).is_none_or(|sent| self.shows_kind(history, sent))
            }
            _ => true,
        }
    }

    fn shows_record(&self, history: &History, record: &Record) -> bool {
        (self.background || !is_background(history, record))
            && self.shows_kind(history, record)
            && record.process.is_none_or(|id| self.shows_process(id))
    }

    fn shows(&self, history: &History, event: u64) -> bool {
        let records = history.records_of(event);
        // Where nothing is written of what was done by hand, it is shown all the same.
        event == 0
            || records.is_empty()
            || match records {
                // What came is what it is about: what was sent because of it comes to be seen where it
                // arrives.
                [first, rest @ ..] if matches!(first.what, Happening::Deliver { .. }) => {
                    self.shows_record(history, first)
                        || rest.iter().any(|record| {
                            !matches!(record.what, Happening::Send { .. })
                                && self.shows_record(history, record)
                        })
                }
                all => all.iter().any(|record| self.shows_record(history, record)),
            }
    }
}

impl Diagram {
    /// The diagram of a run, as far as it is known.
    pub fn new(history: &History, view: &DiagramView) -> Self {
        let shown: Vec<u64> = (0..=history.known()).filter(|event| view.shows(history, *event)).collect();
        let time = |event: u64| history.records_of(event).first().map(|record| record.at);
        let by_time = view.axis == Axis::Time && shown.len() <= MAX_BY_TIME;
        let usual = if by_time { usual_distance(shown.iter().filter_map(|event| time(*event))) } else { 1.0 };
        let (mut rows, mut top, mut before) = (Vec::with_capacity(shown.len()), 0.0, 0);
        for (number, event) in shown.into_iter().enumerate() {
            let now = time(event).unwrap_or(before).max(before);
            let distance = if by_time { (now - before) as f64 / usual } else { 1.0 };
            let is_silent = by_time && number > 0 && distance > SILENCE;
            if number > 0 {
                top += if is_silent { FARTHEST / 2.0 } else { distance.clamp(1.0, FARTHEST) };
            }
            rows.push(Place { event, top, silence: if is_silent { now - before } else { 0 } });
            before = now;
        }
        let height = top + 1.0;
        let (arrows, kinds) = courses(history, view, &rows, height);
        let columns = history.ids().iter().copied().filter(|id| view.shows_process(*id)).collect();
        let hidden = (history.known() as usize + 1).saturating_sub(rows.len());
        Diagram { columns, rows, height, arrows, kinds, hidden }
    }

    /// The piece of it between two places, counted in rows from the top. `by_hand` says which events were
    /// done by hand.
    pub fn window(
        &self,
        history: &History,
        by_hand: &dyn Fn(u64) -> Option<String>,
        (top, bottom): (f64, f64),
        language: Language,
    ) -> DiagramWindow {
        let column = |id: u64| self.columns.iter().position(|other| *other == id);
        let first = self.rows.partition_point(|row| row.top + 1.0 < top);
        let end = self.rows.partition_point(|row| row.top <= bottom);
        let shown = &self.rows[first.min(end)..end];
        let rows = shown.iter().map(|place| row(history, *place, by_hand, &column, language)).collect();
        let crossing = self.arrows.iter().filter(|course| course.from <= bottom && course.to >= top);
        let arrows = crossing.filter_map(|course| arrow(history, *course, &column)).collect();
        DiagramWindow {
            columns: self.columns.clone(),
            kinds: self.kinds.clone(),
            total: self.rows.len(),
            hidden: self.hidden,
            height: self.height,
            first,
            rows,
            arrows,
        }
    }

    /// Where the row of an event is, or that of the last one before it that is shown.
    pub fn top_of(&self, event: u64) -> f64 {
        let place = self.rows.partition_point(|row| row.event <= event);
        place.checked_sub(1).and_then(|place| self.rows.get(place)).map_or(0.0, |row| row.top)
    }
}

/// The distance in time between two events that is neither short nor long.
fn usual_distance(times: impl Iterator<Item = u64>) -> f64 {
    let times: Vec<u64> = times.collect();
    let mut distances: Vec<u64> = times
        .windows(2)
        .map(|pair| pair[1].saturating_sub(pair[0]))
        .filter(|distance| *distance > 0)
        .collect();
    distances.sort_unstable();
    distances.get(distances.len() / 2).map_or(1.0, |distance| *distance as f64)
}

/// Where all arrows are that are shown, and of which kinds there are any.
fn courses(history: &History, view: &DiagramView, rows: &[Place], height: f64) -> (Vec<Course>, Vec<String>) {
    let mut kinds = BTreeSet::new();
    let mut arrows = Vec::new();
    let top = |record: u32| {
        let event = history.event_of(record as usize);
        let place = rows.partition_point(|row| row.event < event);
        rows.get(place).map_or(height, |row| row.top)
    };
    for (number, passage) in history.passages().iter().enumerate() {
        let record = &history.records()[passage.sent as usize];
        let Happening::Send { to, kind, background, .. } = &record.what else { continue };
        if (*background && !view.background) || !view.shows_process(*to) {
            continue;
        }
        if !kinds.contains(&**kind) {
            kinds.insert(kind.to_string());
        }
        if !view.shows_record(history, record) {
            continue;
        }
        let from = top(passage.sent);
        let to = match (passage.delivered, passage.dropped) {
            (Some(delivered), _) => top(delivered),
            (None, Some(dropped)) => top(dropped).max(from),
            (None, None) => height,
        };
        arrows.push(Course { passage: number as u32, from, to });
    }
    (arrows, kinds.into_iter().collect())
}

fn arrow(history: &History, course: Course, column: &dyn Fn(u64) -> Option<usize>) -> Option<Arrow> {
    let passage: &Passage = history.passages().get(course.passage as usize)?;
    let record = history.records().get(passage.sent as usize)?;
    let Happening::Send { to, kind, label, .. } = &record.what else { return None };
    Some(Arrow {
        sender: passage.message.sender,
        number: passage.message.number,
        event: history.event_of(passage.sent as usize),
        from: (course.from, column(record.process?)?),
        to: (course.to, column(*to)?),
        end: match (passage.delivered, passage.dropped) {
            (Some(_), _) => ArrowEnd::Arrived,
            (None, Some(_)) => ArrowEnd::Lost,
            (None, None) => ArrowEnd::OnItsWay,
        },
        kind: kind.to_string(),
        label: label.to_string(),
    })
}

fn row(
    history: &History,
    place: Place,
    by_hand: &dyn Fn(u64) -> Option<String>,
    column: &dyn Fn(u64) -> Option<usize>,
    language: Language,
) -> DiagramRow {
    let records = history.records_of(place.event);
    let mut marks = Vec::new();
    for record in records {
        let Some(at) = record.process.and_then(column) else { continue };
        if let Some((kind, label)) = mark(&record.what) {
            marks.push(Mark { column: at, kind, label });
        }
    }
    let act = by_hand(place.event);
    DiagramRow {
        event: place.event,
        top: place.top,
        silence: (place.silence > 0).then(|| show_time(place.silence, language)),
        time: show_time(records.first().map_or(0, |record| record.at), language),
        words: in_words(history, place.event, act.as_deref(), language),
        by_hand: act.is_some(),
        marks,
    }
}

fn mark(what: &Happening) -> Option<(&'static str, String)> {
    Some(match what {
        Happening::Start { recovered: true } => ("recover", String::new()),
        Happening::Start { .. } => ("start", String::new()),
        Happening::Crash => ("crash", String::new()),
        Happening::Pause => ("pause", String::new()),
        Happening::Resume => ("resume", String::new()),
        Happening::Deliver { .. } => ("deliver", String::new()),
        Happening::Drop { .. } => ("lost", String::new()),
        Happening::Timer { .. } => ("timer", String::new()),
        Happening::Command { label, .. } => ("command", label.to_string()),
        Happening::Output { label, .. } => ("output", label.to_string()),
        Happening::Suspect { .. } => ("suspect", String::new()),
        Happening::Restore { .. } => ("restore", String::new()),
        Happening::Violation { property, .. } => ("violation", property.clone()),
        Happening::Send { .. } | Happening::State { .. } => return None,
        Happening::Cut { .. } | Happening::Heal { .. } => return None,
    })
}
