//! A scene as rows from top to bottom, for the pictures in which a message is a horizontal arrow.
//!
//! A horizontal arrow has one height, but a message is sent and received at different times. The arrow is
//! drawn where the message arrives. That would move the sending past whatever the sender did in between, so
//! in that case the sending gets a row of its own.

use std::collections::{BTreeMap, BTreeSet};

use super::scene::{Condition, Scene};
use super::words::{self, Mark};
use crate::{Dropped, Happening};

/// After how many times the usual pace of the run a silence is worth a row.
const SILENCE: u64 = 10;

/// One row of the picture.
pub(super) struct Row {
    /// When.
    pub(super) at: u64,
    /// What is in it.
    pub(super) what: RowContent,
    /// The process that has changed, and what it is from this row on.
    pub(super) change: Option<(usize, Condition)>,
}

/// What a row shows.
#[derive(Clone)]
pub(super) enum RowContent {
    /// Nothing, for so many nanoseconds.
    Silence(u64),
    /// Messages are sent that arrive after their sender has gone on to other things.
    Sends { from: usize, to: Vec<usize>, label: String },
    /// A message arrives, or is lost. `earlier` means that its sending has a row above, or is above the
    /// picture.
    Message { from: usize, to: usize, label: String, lost: Option<Dropped>, earlier: bool },
    /// Something happens at one process.
    Mark { column: usize, mark: Mark, text: String },
    /// Something happens to the network.
    Network { text: String },
    /// From here on the run can repeat itself for ever.
    Cycle,
    /// A property is broken.
    Violation { text: String },
}

/// The rows of a scene.
pub(super) fn rows(scene: &Scene<'_>) -> Vec<Row> {
    let own_rows = sends_with_own_row(scene);
    let silence = scene.pace().map(|pace| pace.saturating_mul(SILENCE));
    let mut now = scene.before.clone();
    let mut rows: Vec<Row> = Vec::new();
    if let Some(first) = scene.moments.first().filter(|_| !scene.cut.is_empty()) {
        let text = format!("still cut {}", words::links(&scene.cut));
        rows.push(Row { at: first.at, what: RowContent::Network { text }, change: None });
    }
    let mut previous = None;
    for (index, moment) in scene.moments.iter().enumerate() {
        let idle = previous.map_or(0, |previous| moment.at.saturating_sub(previous));
        if silence.is_some_and(|silence| idle > silence) {
            rows.push(Row { at: moment.at, what: RowContent::Silence(idle), change: None });
        }
        previous = Some(moment.at);
        if scene.cycle == Some(index) {
            rows.push(Row { at: moment.at, what: RowContent::Cycle, change: None });
        }
        let change = moment.column.filter(|&column| now[column] != moment.after);
        let change = change.map(|column| (column, moment.after));
        if let Some((column, after)) = change {
            now[column] = after;
        }
        let what =
            match (&moment.record.what, moment.flight) {
                (Happening::Send { .. }, Some(_)) => own_rows.get(&index).cloned().flatten(),
                (Happening::Deliver { .. } | Happening::Drop { .. }, Some(flight)) => {
                    let flight = &scene.flights[flight];
                    let lost = flight.ends.iter().find(|(end, _)| *end == index).and_then(|(_, lost)| *lost);
                    let earlier = flight.sent.is_none_or(|sent| own_rows.contains_key(&sent));
                    let label = shown_label(&flight.words);
                    Some(RowContent::Message { from: flight.from, to: flight.to, label, lost, earlier })
                }
                (Happening::Cut { links }, _) => {
                    Some(RowContent::Network { text: format!("cut {}", words::links(links)) })
                }
                (Happening::Heal { links }, _) => {
                    Some(RowContent::Network { text: format!("healed {}", words::links(links)) })
                }
                (Happening::Violation { property, explanation }, _) => Some(RowContent::Violation {
                    text: words::plain(&format!("{property} violated: {explanation}")),
                }),
                _ if moment.expected => None,
                (what, _) => Mark::of(what).zip(moment.column).map(|((mark, text), column)| {
                    RowContent::Mark { column, mark, text: words::plain(&text) }
                }),
            };
        // Only a send and a start that was to be expected have no row, and neither changes its process.
        rows.extend(what.map(|what| Row { at: moment.at, what, change }));
    }
    rows
}

fn shown_label(label: &str) -> String {
    if label.is_empty() { "?".into() } else { words::plain(label) }
}

/// The sends that get a row of their own. Sends of the same text in the same step share the row of the
/// first of them; the others map to nothing.
fn sends_with_own_row(scene: &Scene<'_>) -> BTreeMap<usize, Option<RowContent>> {
    let mut groups: BTreeMap<(usize, usize, &str), Vec<usize>> = BTreeMap::new();
    for flight in &scene.flights {
        if let Some(sent) = flight.sent {
            let step = scene.moments[sent].step;
            groups.entry((flight.from, step, flight.words.as_str())).or_default().push(sent);
        }
    }
    let mut own_rows = BTreeMap::new();
    let busy = steps_by_process(scene);
    for ((from, _, label), sends) in groups {
        let flights =
            || sends.iter().filter_map(|&sent| scene.moments[sent].flight).map(|at| &scene.flights[at]);
        let joined = flights().all(|flight| is_undisturbed(scene, flight.sent, &flight.ends, &busy[from]));
        if joined {
            continue;
        }
        let receivers: BTreeSet<usize> = flights().map(|flight| flight.to).collect();
        own_rows.extend(sends.iter().map(|&sent| (sent, None)));
        let to = receivers.into_iter().collect();
        own_rows.insert(sends[0], Some(RowContent::Sends { from, to, label: shown_label(label) }));
    }
    own_rows
}

/// For each process, the moments at which it did something, with the step that each belongs to.
fn steps_by_process(scene: &Scene<'_>) -> Vec<Vec<(usize, usize)>> {
    let mut busy = vec![Vec::new(); scene.processes.len()];
    for (index, moment) in scene.moments.iter().enumerate() {
        if let Some(column) = moment.column
            && !matches!(moment.record.what, Happening::Drop { .. })
        {
            busy[column].push((index, moment.step));
        }
    }
    busy
}

/// Whether the sender did nothing else until its message had arrived (all copies of it) or was lost.
fn is_undisturbed(
    scene: &Scene<'_>,
    sent: Option<usize>,
    ends: &[(usize, Option<Dropped>)],
    busy: &[(usize, usize)],
) -> bool {
    let (Some(sent), Some(&(end, _))) = (sent, ends.last()) else {
        return false;
    };
    let step = scene.moments[sent].step;
    let next = busy.partition_point(|&(index, _)| index <= sent);
    busy[next..].iter().take_while(|&&(index, _)| index < end).all(|&(_, other)| other == step)
}
