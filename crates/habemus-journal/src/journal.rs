//! The journal: segments, one after the other, and the snapshot before them.

use std::collections::VecDeque;

use habemus_replica::{Entry, Recovered, StoredSnapshot, StoredState, Write};

use crate::batch::Batch;
use crate::disk::Disk;
use crate::error::JournalError;
use crate::extent::Extent;
use crate::segment;
use crate::snapshot;

/// How a journal uses its disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How long a segment is, in bytes.
    pub segment: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { segment: 64 << 20 }
    }
}

/// What a member must never forget.
pub struct Journal<D> {
    disk: D,
    limits: Limits,
    /// The segments, each with the index of the last entry in it; the last one is written to.
    segments: VecDeque<Segment>,
    /// Where the next batch goes.
    end: usize,
    /// How far it went when it was opened.
    found: Extent,
    /// The latest state. Every segment begins with the one before it, so that no earlier segment is needed
    /// for that.
    state: StoredState,
    /// The index of the latest snapshot.
    snapshot_index: u64,
    /// Nothing more is confirmed after a failure.
    failed: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Segment {
    number: u64,
    /// The name of its file, which every write and every sync asks for.
    name: String,
    last_index: u64,
}

impl Segment {
    fn new(number: u64) -> Segment {
        Segment { number, name: segment::name(number), last_index: 0 }
    }
}

impl<D: Disk> Journal<D> {
    /// Makes a journal on an empty disk, for a member that begins with this.
    ///
    /// # Errors
    /// If the disk fails.
    pub fn create(disk: D, limits: Limits, first: &Recovered) -> Result<Journal<D>, JournalError> {
        let mut journal = Journal {
            disk,
            limits,
            segments: VecDeque::new(),
            end: 0,
            found: Extent::default(),
            state: first.state,
            snapshot_index: first.snapshot.as_ref().map_or(0, |snapshot| snapshot.index),
            failed: false,
        };
        journal.begin_segment(1, None)?;
        journal.found = journal.extent();
        let empty = StoredSnapshot {
            index: 0,
            term: 0,
            voters: Vec::new(),
            learners: Vec::new(),
            data: bytes::Bytes::new(),
        };
        // The snapshot is what makes a directory a journal: it comes last.
        snapshot::write(&mut journal.disk, first.snapshot.as_ref().unwrap_or(&empty), first.state, 1)?;
        Ok(journal)
    }

    /// Whether there is a journal on this disk.
    ///
    /// # Errors
    /// If the disk fails.
    pub fn exists(disk: &D) -> Result<bool, JournalError> {
        let names = disk.list().map_err(JournalError::disk("."))?;
        Ok(names.iter().any(|name| name == snapshot::NAME))
    }

    /// Opens a journal, and says what was found.
    ///
    /// # Errors
    /// If the disk fails, or if something that was durable is damaged or missing.
    pub fn open(disk: D, limits: Limits) -> Result<(Journal<D>, Recovered), JournalError> {
        let found = snapshot::read(&disk)?;
        let names = disk.list().map_err(JournalError::disk("."))?;
        let mut numbers: Vec<u64> = names.iter().filter_map(|name| segment::number(name)).collect();
        numbers.sort_unstable();
        // Segments before the snapshot's are left over from a crash in the midst of tidying up.
        let leftover = numbers.iter().take_while(|number| **number < found.first_segment).count();
        let stale: Vec<u64> = numbers.drain(..leftover).collect();
        // No two have the same number, so they are in a row as long as none is missing.
        for (expected, number) in (found.first_segment..=u64::MAX).zip(&numbers) {
            if *number != expected {
                return Err(JournalError::Missing { file: segment::name(expected) });
            }
        }
        if numbers.is_empty() {
            return Err(JournalError::Missing { file: segment::name(found.first_segment) });
        }
        let mut journal = Journal {
            disk,
            limits,
            segments: VecDeque::new(),
            end: 0,
            found: Extent::default(),
            state: found.state,
            snapshot_index: found.snapshot.index,
            failed: false,
        };
        let mut entries = Vec::new();
        for number in &numbers {
            let is_last = Some(number) == numbers.last();
            journal.read_segment(*number, is_last, found.snapshot.index, &mut entries)?;
        }
        for number in stale {
            let name = segment::name(number);
            journal.disk.remove(&name).map_err(JournalError::disk(&name))?;
        }
        journal.found = journal.extent();
        journal.cut_torn_end(&numbers)?;
        let snapshot = Some(found.snapshot).filter(|snapshot| snapshot.index > 0);
        let recovered = Recovered { state: journal.state, snapshot, entries };
        Ok((journal, recovered))
    }

    /// Makes writes durable, by one append and one sync if any of them asks for it.
    ///
    /// # Errors
    /// If the disk fails: then nothing more is written, and the member must stop.
    pub fn write(&mut self, writes: &[Write]) -> Result<(), JournalError> {
        if self.failed {
            return Err(JournalError::Failed);
        }
        let result = self.try_write(writes);
        self.failed = result.is_err();
        result
    }

    /// Puts a snapshot in the place of all entries up to its index. Entries after it stay. Whoever took long
    /// to write it down may come too late: of two snapshots the later one counts.
    ///
    /// # Errors
    /// If the disk fails: then nothing more is written, and the member must stop.
    pub fn compact(&mut self, snapshot: &StoredSnapshot) -> Result<(), JournalError> {
        if self.failed {
            return Err(JournalError::Failed);
        }
        let result = self.try_compact(snapshot);
        self.failed = result.is_err();
        result
    }

    /// How many segments there are.
    pub fn segments(&self) -> usize {
        self.segments.len()
    }

    /// How far it goes.
    pub fn extent(&self) -> Extent {
        Extent { segment: last(&self.segments).number, end: self.end as u64 }
    }

    /// How far it went when it was opened, before its end was mended: what that wrote says nothing of what
    /// had been there.
    pub fn found(&self) -> Extent {
        self.found
    }

    fn try_write(&mut self, writes: &[Write]) -> Result<(), JournalError> {
        // A snapshot that was received begins a new log: what was written before it counts no more.
        let (before, after) = match writes.iter().rposition(|write| write.snapshot.is_some()) {
            Some(at) => writes.split_at(at),
            None => (&writes[..0], writes),
        };
        if let Some(snapshot) = after.first().and_then(|write| write.snapshot.as_ref()) {
            let states = before.iter().chain(after.first());
            self.state = states.filter_map(|write| write.state).next_back().unwrap_or(self.state);
            self.replace_all(snapshot)?;
        }
        let state = after.iter().rev().find_map(|write| write.state).unwrap_or(self.state);
        // What need not be durable waits for what must be: so a batch is only ever written behind durable
        // ones, and whatever is behind damage shows that it is damage.
        if after.iter().any(|write| write.sync) {
            for batch in Batch::of(after, state, self.state.commit, self.limits.segment / 4) {
                self.append(&batch)?;
                let name = &last(&self.segments).name;
                self.disk.sync(name).map_err(JournalError::disk(name))?;
                // The next part may begin a segment, with the state before it.
                self.state = batch.state.unwrap_or(self.state);
            }
        }
        self.state = state;
        Ok(())
    }

    fn append(&mut self, batch: &Batch) -> Result<(), JournalError> {
        let mut bytes = batch.to_bytes(last(&self.segments).number, self.end);
        if (self.end + bytes.len()) as u64 > self.limits.segment {
            self.begin_segment(last(&self.segments).number + 1, Some(self.state))?;
            bytes = batch.to_bytes(last(&self.segments).number, self.end);
            if (self.end + bytes.len()) as u64 > self.limits.segment {
                return Err(JournalError::TooLong { bytes: bytes.len(), segment: self.limits.segment });
            }
        }
        let name = &last(&self.segments).name;
        self.disk.write(name, self.end as u64, &bytes).map_err(JournalError::disk(name))?;
        self.end += bytes.len();
        self.note(batch);
        Ok(())
    }

    /// Remembers up to which index the last segment goes.
    fn note(&mut self, batch: &Batch) {
        let last = batch.appended.iter().filter_map(|entries| entries.last()).map(|entry| entry.index).max();
        if let (Some(index), Some(segment)) = (last, self.segments.back_mut()) {
            segment.last_index = segment.last_index.max(index);
        }
    }

    /// Begins a segment, with the state if no earlier one is to be needed for it.
    fn begin_segment(&mut self, number: u64, state: Option<StoredState>) -> Result<(), JournalError> {
        let segment = Segment::new(number);
        let name = &segment.name;
        self.disk.create(name, self.limits.segment).map_err(JournalError::disk(name))?;
        let first = Batch { appended: Vec::new(), state }.to_bytes(number, 0);
        self.disk.write(name, 0, &first).map_err(JournalError::disk(name))?;
        self.disk.sync(name).map_err(JournalError::disk(name))?;
        self.disk.sync_names().map_err(JournalError::disk(name))?;
        self.segments.push_back(segment);
        self.end = first.len();
        Ok(())
    }

    fn try_compact(&mut self, snapshot: &StoredSnapshot) -> Result<(), JournalError> {
        if snapshot.index <= self.snapshot_index {
            return Ok(());
        }
        let keep = self.segments.iter().take_while(|segment| segment.last_index <= snapshot.index).count();
        // The last one is being written to.
        let keep = keep.min(self.segments.len() - 1);
        let first = self.segments[keep].number;
        snapshot::write(&mut self.disk, snapshot, self.state, first)?;
        self.snapshot_index = snapshot.index;
        self.remove_before(first)
    }

    /// Puts a snapshot in the place of everything. It brings the state with it, so that there is never the
    /// one without the other.
    fn replace_all(&mut self, snapshot: &StoredSnapshot) -> Result<(), JournalError> {
        let first = last(&self.segments).number + 1;
        self.begin_segment(first, None)?;
        snapshot::write(&mut self.disk, snapshot, self.state, first)?;
        self.snapshot_index = snapshot.index;
        self.remove_before(first)
    }

    fn remove_before(&mut self, first: u64) -> Result<(), JournalError> {
        while let Some(segment) = self.segments.pop_front_if(|segment| segment.number < first) {
            self.disk.remove(&segment.name).map_err(JournalError::disk(&segment.name))?;
        }
        Ok(())
    }

    fn read_segment(
        &mut self,
        number: u64,
        is_last: bool,
        snapshot_index: u64,
        entries: &mut Vec<Entry>,
    ) -> Result<(), JournalError> {
        let name = segment::name(number);
        let bytes = self.disk.read(&name).map_err(JournalError::disk(&name))?;
        let scanned = segment::scan(&name, number, &bytes, is_last)?;
        self.segments.push_back(Segment::new(number));
        self.end = scanned.end;
        for batch in scanned.batches {
            self.note(&batch);
            self.state = batch.state.unwrap_or(self.state);
            for appended in batch.appended {
                replay(&name, snapshot_index, entries, appended)?;
            }
        }
        Ok(())
    }

    /// What is left of a torn batch must not be taken for damage when something is written after it: a new
    /// segment begins.
    fn cut_torn_end(&mut self, numbers: &[u64]) -> Result<(), JournalError> {
        let last = *numbers.last().expect("there is a segment");
        let name = segment::name(last);
        if self.end == 0 {
            // The crash came as the segment was made, so nothing was ever confirmed in it.
            self.segments.pop_back();
            return self.begin_segment(last, Some(self.state));
        }
        let bytes = self.disk.read(&name).map_err(JournalError::disk(&name))?;
        let torn = &bytes[self.end.min(bytes.len())..];
        if torn.iter().any(|&byte| byte != 0) {
            self.disk
                .write(&name, self.end as u64, &vec![0; torn.len()])
                .map_err(JournalError::disk(&name))?;
            self.disk.sync(&name).map_err(JournalError::disk(&name))?;
        }
        Ok(())
    }
}

/// The segment that is written to.
fn last(segments: &VecDeque<Segment>) -> &Segment {
    segments.back().expect("a journal has a segment")
}

/// Entries replace those that have the index of the first one or a later one; those in the snapshot are left
/// out.
fn replay(
    file: &str,
    snapshot_index: u64,
    entries: &mut Vec<Entry>,
    appended: Vec<Entry>,
) -> Result<(), JournalError> {
    let Some(first) = appended.first() else { return Ok(()) };
    let keep = first.index.saturating_sub(snapshot_index + 1);
    if keep > entries.len() as u64 {
        let what = format!("entry {} follows entry {}", first.index, snapshot_index + entries.len() as u64);
        return Err(JournalError::damaged(file, 0, what));
    }
    // What they replace goes, even if they themselves are in the snapshot.
    entries.truncate(usize::try_from(keep).expect("memory holds the log"));
    entries.extend(appended.into_iter().filter(|entry| entry.index > snapshot_index));
    Ok(())
}
