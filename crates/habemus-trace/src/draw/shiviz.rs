//! The scene as a log for ShiViz.

use std::collections::BTreeMap;

use super::scene::{Scene, SceneEvent};
use super::words;

/// How ShiViz finds the parts of an event: first the words, then the host and its clock.
const PARSER: &str = r"(?<event>.*)\n(?<host>\S*) (?<clock>{.*})";

/// Writes the log: the parser, an empty line (there is one run only, so nothing delimits runs), two lines
/// per event.
pub(super) fn render(scene: &Scene<'_>) -> String {
    let (events, counts) = number(scene);
    let mut log = format!("{PARSER}\n\n");
    for event in events {
        let flight = event.moment.flight.map(|flight| &scene.flights[flight]);
        let sentence = words::sentence(event.moment, flight);
        let clock: Vec<String> =
            event.clock(&counts).into_iter().map(|(id, count)| format!("\"p{id}\":{count}")).collect();
        log += &format!("{sentence}\np{} {{{}}}\n", event.process, clock.join(","));
    }
    log
}

/// An event with a clock that counts it.
struct Event<'s> {
    moment: &'s SceneEvent<'s>,
    process: u64,
    /// The how-manieth event of its process it is in the log.
    rank: usize,
}

/// The own clock entries of each process's events, in their order, never falling.
type Counts = BTreeMap<u64, Vec<u32>>;

fn number<'s>(scene: &'s Scene<'s>) -> (Vec<Event<'s>>, Counts) {
    let mut counts = Counts::new();
    let mut events = Vec::new();
    for moment in &scene.moments {
        let Some(process) = moment.record.process else {
            continue;
        };
        let Some(&own) = moment.record.clock.get(&process) else {
            continue;
        };
        let earlier = counts.entry(process).or_default();
        earlier.push(earlier.last().copied().unwrap_or(0).max(own));
        events.push(Event { moment, process, rank: earlier.len() });
    }
    (events, counts)
}

impl Event<'_> {
    /// The event's clock, counting only the events that are in the log.
    ///
    /// An event that knows `n` events of a process knows those in the log whose own entry is at most `n`.
    /// Without events left out this changes nothing.
    fn clock(&self, counts: &Counts) -> BTreeMap<u64, usize> {
        let known =
            |id: &u64, known: u32| counts.get(id).map_or(0, |own| own.partition_point(|&own| own <= known));
        let entries = self.moment.record.clock.iter().map(|(&id, &count)| match id == self.process {
            true => (id, self.rank),
            false => (id, known(&id, count)),
        });
        entries.filter(|&(_, count)| count > 0).collect()
    }
}
