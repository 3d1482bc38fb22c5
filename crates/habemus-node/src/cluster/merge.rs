//! Many traces as one: in the order of time, but never an effect before its cause.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::io;
use std::path::Path;

use habemus_trace::{Dropped, Happening, MessageId, Record, Trace};

use super::ClusterError;

/// Reads the trace of a node, which may end in the midst of a line. A node that never started has none.
///
/// # Errors
/// If the file is there and cannot be read.
pub fn read(path: &Path) -> Result<Option<Trace>, ClusterError> {
    let failed = |why| ClusterError::Io { path: path.to_owned(), why };
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(why) if why.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(why) => return Err(failed(why)),
    };
    let complete = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
    if complete == 0 {
        return Ok(None);
    }
    Trace::read(&bytes[..complete]).map(Some).map_err(|why| failed(io::Error::other(why)))
}

/// Merges the traces of nodes, each with its identifier, and what was seen from outside: crashes, pauses,
/// cuts.
///
/// Clocks of machines differ a little, so time alone may put a delivery before its sending; the vector clocks
/// say what must come first. `None` if no node has recorded anything.
pub fn merge(traces: Vec<(u64, Option<Trace>)>, notes: &[Record]) -> Option<Trace> {
    let header = traces.iter().find_map(|(_, trace)| trace.as_ref()).map(|trace| trace.header.clone())?;
    let mut streams: Vec<VecDeque<Record>> = Vec::new();
    for (id, trace) in traces {
        let mut records = trace.map(|trace| trace.records).unwrap_or_default();
        for crash in notes.iter().filter(|note| note.process == Some(id) && note.what == Happening::Crash) {
            insert_crash(&mut records, id, crash.at);
        }
        streams.push(records.into());
    }
    streams.push(notes.iter().filter(|note| note.what != Happening::Crash).cloned().collect());
    let mut records = in_order(streams);
    lose_what_never_arrived(&mut records);
    Some(Trace { header, records })
}

/// A crash stands between two lives, and takes the count of the clock that the node has left for it.
fn insert_crash(records: &mut Vec<Record>, id: u64, at: u64) {
    let next_life = |record: &Record| record.at >= at && matches!(record.what, Happening::Start { .. });
    let index = records.iter().position(next_life).unwrap_or(records.len());
    let last = records[..index].iter().rev().find(|record| !record.clock.is_empty());
    let mut clock = last.map(|record| record.clock.clone()).unwrap_or_default();
    *clock.entry(id).or_default() += 1;
    // A node may have recorded more while the signal was on its way.
    let at = records[..index].last().map_or(at, |record| record.at.max(at));
    records.insert(index, Record { at, process: Some(id), clock, what: Happening::Crash });
}

/// Takes from the streams, each in its order, what is earliest and whose causes have been taken.
fn in_order(mut streams: Vec<VecDeque<Record>>) -> Vec<Record> {
    let mut known: BTreeMap<u64, u32> = BTreeMap::new();
    let mut merged = Vec::with_capacity(streams.iter().map(VecDeque::len).sum());
    loop {
        let heads = streams.iter().enumerate().filter_map(|(index, stream)| Some((index, stream.front()?)));
        let ready = |record: &Record| {
            let others = record.clock.iter().filter(|(id, _)| Some(**id) != record.process);
            others.into_iter().all(|(id, ticks)| known.get(id).copied().unwrap_or(0) >= *ticks)
        };
        // If a cause is missing altogether, a lost file must not stop the rest.
        let best = heads.min_by_key(|(_, record)| (!ready(record), record.at));
        let Some((index, _)) = best else { return merged };
        let Some(record) = streams[index].pop_front() else { return merged };
        if let Some(id) = record.process
            && let Some(ticks) = record.clock.get(&id)
        {
            known.insert(id, *ticks);
        }
        merged.push(record);
    }
}

/// What was sent to a process that was down, or that crashed before it arrived, is lost.
fn lose_what_never_arrived(records: &mut Vec<Record>) {
    let ends = |what: &Happening| matches!(what, Happening::Deliver { .. } | Happening::Drop { .. });
    let arrived: BTreeSet<MessageId> =
        records.iter().filter(|record| ends(&record.what)).filter_map(Record::message).collect();
    let mut down: BTreeSet<u64> = BTreeSet::new();
    let mut on_their_way: BTreeMap<u64, Vec<MessageId>> = BTreeMap::new();
    let mut all = Vec::with_capacity(records.len());
    for record in records.drain(..) {
        let at = record.at;
        let mut lost = Vec::new();
        match (&record.what, record.process, record.message()) {
            (Happening::Start { .. }, Some(id), _) => {
                down.remove(&id);
            }
            (Happening::Crash, Some(id), _) => {
                down.insert(id);
                lost.extend(on_their_way.remove(&id).unwrap_or_default().into_iter().map(|sent| (id, sent)));
            }
            (Happening::Send { to, .. }, _, Some(message)) if !arrived.contains(&message) => {
                if down.contains(to) {
                    lost.push((*to, message));
                } else {
                    on_their_way.entry(*to).or_default().push(message);
                }
            }
            _ => {}
        }
        all.push(record);
        all.extend(lost.into_iter().map(|(to, MessageId { sender: from, number: message })| Record {
            at,
            process: Some(to),
            clock: BTreeMap::new(),
            what: Happening::Drop { message, from, why: Dropped::Down },
        }));
    }
    *records = all;
}

#[cfg(test)]
mod tests {
    use habemus::ProblemKind;
    use habemus_trace::{FORMAT, Header};

    use super::*;

    fn record(at: u64, process: u64, clock: &[(u64, u32)], what: Happening) -> Record {
        Record { at, process: Some(process), clock: clock.iter().copied().collect(), what }
    }

    fn start(at: u64, process: u64, ticks: u32) -> Record {
        record(at, process, &[(process, ticks)], Happening::Start { recovered: ticks > 1 })
    }

    fn send(message: u64, to: u64) -> Happening {
        let (kind, label) = ("Hi".into(), "Hi".into());
        Happening::Send { message, to, kind, label, background: false }
    }

    fn deliver(message: u64, from: u64) -> Happening {
        let (kind, label) = ("Hi".into(), "Hi".into());
        Happening::Deliver { message, from, kind, label, background: false }
    }

    fn trace(records: Vec<Record>) -> Option<Trace> {
        let header = Header {
            format: FORMAT,
            algorithm: "bully".to_owned(),
            problem: ProblemKind::Election,
            title: None,
            processes: vec![1, 2],
            topology: "complete".to_owned(),
            seed: None,
            origin: None,
            cycle: None,
        };
        Some(Trace { header, records })
    }

    #[test]
    fn an_effect_never_comes_before_its_cause_whatever_the_clocks_say() {
        let one = vec![start(100, 1, 1), record(110, 1, &[(1, 2)], send(0, 2))];
        // The clock of 2 is behind.
        let two = vec![
            start(1, 2, 1),
            record(50, 2, &[(1, 2), (2, 2)], deliver(0, 1)),
            record(51, 2, &[(1, 2), (2, 3)], send(0, 1)),
        ];
        let merged = merge(vec![(1, trace(one)), (2, trace(two))], &[]).expect("there is a trace");
        let order: Vec<(u64, u64)> = merged.records.iter().map(|it| (it.process.unwrap(), it.at)).collect();
        assert_eq!(order, [(2, 1), (1, 100), (1, 110), (2, 50), (2, 51)]);
    }

    #[test]
    fn a_crash_stands_between_two_lives_and_loses_what_was_on_its_way() {
        let one =
            vec![start(0, 1, 1), record(5, 1, &[(1, 2)], send(0, 2)), record(30, 1, &[(1, 3)], send(1, 2))];
        let two = vec![start(0, 2, 1), start(40, 2, 3)];
        let crash = Record { at: 20, process: Some(2), clock: BTreeMap::new(), what: Happening::Crash };
        let merged = merge(vec![(1, trace(one)), (2, trace(two))], &[crash]).expect("there is a trace");
        let shown: Vec<String> = merged
            .records
            .iter()
            .map(|it| match &it.what {
                Happening::Start { .. } => "start".to_owned(),
                Happening::Crash => format!("crash {:?}", it.clock),
                Happening::Drop { message, .. } => format!("drop {message}"),
                Happening::Send { message, .. } => format!("send {message}"),
                other => format!("{other:?}"),
            })
            .collect();
        assert_eq!(
            shown,
            ["start", "start", "send 0", "crash {2: 2}", "drop 0", "send 1", "drop 1", "start"]
        );
    }

    #[test]
    fn a_missing_cause_does_not_stop_the_rest() {
        let two = vec![start(1, 2, 1), record(50, 2, &[(1, 2), (2, 2)], deliver(0, 1))];
        let merged = merge(vec![(1, None), (2, trace(two))], &[]).expect("there is a trace");
        assert_eq!(merged.records.len(), 2);
    }
}
