//! What every picture needs to know of a trace: which events to draw, what became of each message, and what
//! each process was at each moment.

use std::collections::{BTreeMap, BTreeSet};

use habemus::Status;

use super::Options;
use super::phrase::phrase;
use super::post::{Post, addressed, is_background, posts};
use super::window::{self, Omitted};
use crate::{Dropped, Happening, MessageId, Record, Trace};

/// Of more processes than this, only those to which something drawn happens get a line.
const CROWD: usize = 32;

/// The part of a trace that is drawn.
pub(super) struct Scene<'t> {
    /// The trace itself.
    pub(super) trace: &'t Trace,
    /// The picture's title.
    pub(super) title: String,
    /// The identifiers of the processes, one for each line or column.
    pub(super) processes: Vec<u64>,
    /// How many processes have no line because nothing happens to them.
    pub(super) quiet: usize,
    /// How many events are outside the window.
    pub(super) omitted: Omitted,
    /// What each process was before the first drawn event.
    pub(super) before: Vec<Condition>,
    /// The links that were cut before the first drawn event.
    pub(super) cut: Vec<(u64, u64)>,
    /// The moment with which a cycle begins that the run can repeat for ever, if it does.
    pub(super) cycle: Option<usize>,
    /// The events to draw, in their order.
    pub(super) moments: Vec<SceneEvent<'t>>,
    /// The messages that are sent, delivered or lost in them.
    pub(super) flights: Vec<Flight<'t>>,
}

/// One event to draw.
pub(super) struct SceneEvent<'t> {
    /// When.
    pub(super) at: u64,
    /// The line or column of its process.
    pub(super) column: Option<usize>,
    /// Which step of its process it belongs to: what happens to a process and all that it does about it are
    /// one step.
    pub(super) step: usize,
    /// What its process is from now on.
    pub(super) after: Condition,
    /// Whether it is a start that goes without saying: a process that was taken to be there is there.
    pub(super) expected: bool,
    /// The message that is sent, delivered or lost.
    pub(super) flight: Option<usize>,
    /// The event itself.
    pub(super) record: &'t Record,
}

/// What a process is at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Condition {
    /// Whether it works at all.
    pub(super) life: Life,
    /// What its application takes it for.
    pub(super) status: Status,
}

/// Whether a process works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Life {
    Unborn,
    Up,
    Paused,
    Down,
}

/// A message on its way.
pub(super) struct Flight<'t> {
    /// The line or column of the sender.
    pub(super) from: usize,
    /// The line or column of the receiver.
    pub(super) to: usize,
    /// Its kind; empty if the trace does not say.
    pub(super) kind: &'t str,
    /// All of it, as the trace has it.
    pub(super) label: &'t str,
    /// What is written on its arrow.
    pub(super) words: String,
    /// The moment at which it was sent; none if that was earlier than the picture begins.
    pub(super) sent: Option<usize>,
    /// The moments at which it arrived or was lost: none while it is on its way, several if it was
    /// duplicated.
    pub(super) ends: Vec<(usize, Option<Dropped>)>,
}

impl<'t> Scene<'t> {
    /// Selects what the options ask for.
    pub(super) fn new(trace: &'t Trace, options: &Options) -> Scene<'t> {
        let posts = posts(trace);
        let shown: Vec<usize> = (0..trace.records.len())
            .filter(|&index| options.background || !is_background(&trace.records[index], &posts))
            .collect();
        let inside = window::range(trace, &shown, &options.window);
        let omitted = Omitted { before: inside.start, after: shown.len() - inside.end };
        let shown = &shown[inside];
        let (processes, quiet) = processes(trace, shown);
        let columns = processes.iter().enumerate().map(|(column, &id)| (id, column)).collect();
        let mut scene = Scene {
            trace,
            title: title(trace, options),
            before: births(trace, &processes),
            processes,
            quiet,
            omitted,
            cut: Vec::new(),
            cycle: None,
            moments: Vec::with_capacity(shown.len()),
            flights: Vec::new(),
        };
        scene.play(shown, &columns);
        scene.follow(&columns, &posts);
        scene
    }

    /// What kind of run it is: "chang-roberts · election · ring · seed 7".
    pub(super) fn subtitle(&self) -> String {
        let header = &self.trace.header;
        let seed = header.seed.map(|seed| format!("seed {seed}"));
        let parts = [header.algorithm.as_str(), header.problem.name(), &header.topology].map(str::to_owned);
        let parts = parts.into_iter().chain(seed).filter(|part| !part.is_empty() && *part != self.title);
        parts.collect::<Vec<_>>().join(" · ")
    }

    /// What the picture leaves out, as sentences.
    pub(super) fn omissions(&self) -> Vec<String> {
        let mut sentences = Vec::new();
        for (many, which) in [(self.omitted.before, "earlier"), (self.omitted.after, "later")] {
            match many {
                0 => {}
                1 => sentences.push(format!("1 {which} event is not shown.")),
                _ => sentences.push(format!("{many} {which} events are not shown.")),
            }
        }
        match self.quiet {
            0 => {}
            1 => sentences.push("1 process to which nothing happens is not shown.".into()),
            many => sentences.push(format!("{many} processes to which nothing happens are not shown.")),
        }
        sentences
    }

    /// How long things take here: the median time that a message is on its way, or else the median time
    /// between two events. None if all happens at once.
    pub(super) fn pace(&self) -> Option<u64> {
        let at = |moment: usize| self.moments[moment].at;
        let flown = self.flights.iter().filter_map(|flight| {
            let (end, _) = flight.ends.first()?;
            Some(at(*end).saturating_sub(at(flight.sent?)))
        });
        let gaps = self.moments.windows(2).map(|pair| pair[1].at.saturating_sub(pair[0].at));
        median(flown.filter(|&time| time > 0)).or_else(|| median(gaps.filter(|&gap| gap > 0)))
    }

    /// Walks through the whole trace to know what every process is, and keeps the events that are shown.
    fn play(&mut self, shown: &[usize], columns: &BTreeMap<u64, usize>) {
        let mut now = self.before.clone();
        let mut cut = BTreeSet::new();
        let mut steps = vec![0; self.processes.len()];
        let mut shown = shown.iter().copied().peekable();
        for (index, record) in self.trace.records.iter().enumerate() {
            let Some(&next) = shown.peek() else { break };
            if next == index && self.moments.is_empty() {
                self.before.clone_from(&now);
                self.cut = cut.iter().copied().collect();
            }
            match &record.what {
                Happening::Cut { links } => cut.extend(links),
                Happening::Heal { links } => links.iter().for_each(|link| _ = cut.remove(link)),
                _ => {}
            }
            let column = record.process.and_then(|id| columns.get(&id).copied());
            let is_first_start = matches!(record.what, Happening::Start { recovered: false });
            let mut moment = SceneEvent {
                at: record.at,
                column,
                step: 0,
                after: UP,
                expected: is_first_start,
                flight: None,
                record,
            };
            if let Some(column) = column {
                moment.after = now[column].then(&record.what);
                moment.expected &= moment.after == now[column];
                now[column] = moment.after;
                steps[column] += usize::from(begins_step(&record.what));
                moment.step = steps[column];
            }
            if next == index {
                shown.next();
                let in_cycle = self.trace.header.cycle.is_some_and(|first| first <= index);
                if in_cycle && self.cycle.is_none() {
                    self.cycle = Some(self.moments.len());
                }
                self.moments.push(moment);
            }
        }
    }

    /// Finds what became of each message.
    fn follow(&mut self, columns: &BTreeMap<u64, usize>, posts: &BTreeMap<MessageId, Post<'t>>) {
        let mut known = BTreeMap::new();
        for index in 0..self.moments.len() {
            let record = self.moments[index].record;
            let Some((message, to)) = addressed(record) else {
                continue;
            };
            let (Some(&from), Some(&to)) = (columns.get(&message.sender), columns.get(&to)) else {
                continue;
            };
            let is_send = matches!(record.what, Happening::Send { .. });
            // A number that is used again is another message.
            let known_flight = known.get(&message).copied().filter(|_| !is_send);
            let flight = known_flight.unwrap_or_else(|| {
                let post = posts.get(&message).copied().unwrap_or_default();
                let (kind, label) = (post.kind, post.label);
                let words = phrase(label);
                self.flights.push(Flight { from, to, kind, label, words, sent: None, ends: Vec::new() });
                known.insert(message, self.flights.len() - 1);
                self.flights.len() - 1
            });
            self.moments[index].flight = Some(flight);
            match record.what {
                Happening::Send { .. } => self.flights[flight].sent = Some(index),
                Happening::Drop { why, .. } => self.flights[flight].ends.push((index, Some(why))),
                _ => self.flights[flight].ends.push((index, None)),
            }
        }
    }
}

const UP: Condition = Condition { life: Life::Up, status: Status::Idle };

impl Condition {
    fn then(self, what: &Happening) -> Condition {
        match what {
            Happening::Start { .. } => UP,
            Happening::Crash => Condition { life: Life::Down, status: Status::Idle },
            Happening::Pause if self.life == Life::Up => Condition { life: Life::Paused, ..self },
            Happening::Resume if self.life == Life::Paused => Condition { life: Life::Up, ..self },
            Happening::Command { status: Some(status), .. }
            | Happening::Output { status: Some(status), .. } => Condition { status: *status, ..self },
            _ => self,
        }
    }

    /// Whether the process works and is in this status.
    pub(super) fn shows(self, status: Status) -> bool {
        self.life != Life::Down && self.life != Life::Unborn && self.status == status
    }
}

/// Whether something happens to the process, rather than that the process does something about it.
fn begins_step(what: &Happening) -> bool {
    use Happening::{Drop, Output, Send, State};
    !matches!(what, Send { .. } | Output { .. } | State { .. } | Drop { .. })
}

/// Who gets a line, in the order of the header, and how many get none. Processes that the header forgot
/// come last.
fn processes(trace: &Trace, shown: &[usize]) -> (Vec<u64>, usize) {
    let mut seen = BTreeSet::new();
    let mut present = Vec::new();
    for &index in shown {
        let record = &trace.records[index];
        let partner = match record.what {
            Happening::Start { recovered: false } => continue,
            Happening::Send { to, .. } => Some(to),
            Happening::Deliver { from, .. } | Happening::Drop { from, .. } => Some(from),
            _ => None,
        };
        present.extend(record.process.into_iter().chain(partner).filter(|&id| seen.insert(id)));
    }
    let mut placed = BTreeSet::new();
    let all: Vec<u64> =
        trace.header.processes.iter().chain(&present).copied().filter(|&id| placed.insert(id)).collect();
    if all.len() <= CROWD {
        return (all, 0);
    }
    let everyone = all.len();
    let busy: Vec<u64> = all.into_iter().filter(|id| seen.contains(id)).collect();
    let quiet = everyone - busy.len();
    (busy, quiet)
}

/// What each process is before anything happens: it is there from the beginning unless its first event is a
/// start at a later time.
fn births(trace: &Trace, processes: &[u64]) -> Vec<Condition> {
    let beginning = trace.records.first().map_or(0, |first| first.at);
    let mut late = BTreeMap::new();
    for record in &trace.records {
        let Some(id) = record.process else { continue };
        if !matches!(record.what, Happening::Drop { .. }) {
            let starts = matches!(record.what, Happening::Start { .. });
            late.entry(id).or_insert(starts && record.at > beginning);
        }
    }
    let life = |id| {
        if late.get(id) == Some(&true) { Life::Unborn } else { Life::Up }
    };
    processes.iter().map(|id| Condition { life: life(id), ..UP }).collect()
}

fn title(trace: &Trace, options: &Options) -> String {
    let header = &trace.header;
    options.title.clone().or_else(|| header.title.clone()).unwrap_or_else(|| header.algorithm.clone())
}

fn median(values: impl Iterator<Item = u64>) -> Option<u64> {
    let mut values: Vec<u64> = values.collect();
    values.sort_unstable();
    values.get(values.len() / 2).copied()
}
