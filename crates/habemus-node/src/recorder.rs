//! The trace of one process, written as it happens.
//!
//! What a step records is in the system's hands before anything of the step leaves the node, so that even
//! after `kill -9` the trace knows of every message that anybody received.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use habemus::Address;
use habemus::clock::VectorClock;
use habemus_trace::{Happening, Header, Record, TraceWriter};

use crate::clock::BootInstant as Instant;

/// Wall time that cannot run backwards: read once, then counted on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wall {
    start: Instant,
    /// Nanoseconds from the beginning of the run to `start`.
    offset: i128,
}

impl Wall {
    /// Counts from `zero`, in nanoseconds since 1970.
    pub(crate) fn new(zero: u64) -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        Wall { start: Instant::now(), offset: since as i128 - i128::from(zero) }
    }

    /// Nanoseconds since the run began.
    pub(crate) fn at(&self, now: Instant) -> u64 {
        let elapsed = now.duration_since(self.start).as_nanos() as i128;
        (self.offset + elapsed).clamp(0, i128::from(u64::MAX)) as u64
    }

    /// The instant that is `at` nanoseconds after the run began.
    pub(crate) fn instant(&self, at: u64) -> Instant {
        let ahead = i128::from(at) - self.offset;
        match u64::try_from(ahead) {
            Ok(ahead) => self.start + Duration::from_nanos(ahead),
            Err(_) => self.start,
        }
    }
}

/// A trace that has more bytes than this is put aside, and a new one is begun; the one before is deleted.
pub const MAX_TRACE: u64 = 64 << 20;

/// Writes the trace of one process.
#[derive(Debug)]
pub(crate) struct Recorder {
    path: PathBuf,
    header: Vec<u8>,
    file: File,
    /// How long the file is, and may become.
    length: u64,
    longest: u64,
    me: Address,
    /// What this step has recorded so far.
    writer: TraceWriter,
}

impl Recorder {
    /// Opens the trace at `path`, or begins it. A trace of former lives is continued, and put aside when it
    /// has become longer than `longest`.
    pub(crate) fn open(path: &Path, header: &Header, me: Address, longest: u64) -> io::Result<Self> {
        let mut file = OpenOptions::new().create(true).truncate(false).read(true).write(true).open(path)?;
        let mut writer = TraceWriter::new(header.processes.clone());
        let mut header = serde_json::to_vec(header)?;
        header.push(b'\n');
        let (mut length, mut past) = read_past(&mut file, writer.id(me))?;
        // A line that was torn by the end of the last life goes.
        file.set_len(length)?;
        file.seek(SeekFrom::Start(length))?;
        if length == 0 {
            file.write_all(&header)?;
            length = header.len() as u64;
        }
        if !past.lived
            && let Ok(mut before) = File::open(put_aside(path))
        {
            past = read_past(&mut before, writer.id(me))?.1;
        }
        let known = past.clock.iter().filter_map(|(id, ticks)| Some((writer.address(*id)?, *ticks)));
        let known: Vec<(Address, u32)> = known.collect();
        writer.learn(me, known);
        writer.number_from(past.next_message);
        if past.lived {
            // The count between two lives is that of the crash, which somebody else records.
            writer.tick(me);
        }
        Ok(Recorder { path: path.to_owned(), header, file, length, longest, me, writer })
    }

    /// Records something that the process does or notices.
    pub(crate) fn record(&mut self, at: u64, what: Happening) {
        self.writer.event(at, self.me, what);
    }

    /// Records something of which no process takes notice.
    pub(crate) fn note(&mut self, at: u64, process: Address, what: Happening) {
        self.writer.note(at, Some(process), what);
    }

    /// The number of the next message to be sent.
    pub(crate) fn number(&mut self) -> u64 {
        self.writer.number()
    }

    /// The clock as it goes with a message.
    pub(crate) fn clock(&self) -> Vec<(u32, u32)> {
        let known = self.writer.clock(self.me).into_iter().flat_map(VectorClock::iter);
        known.map(|(address, ticks)| (address.0, ticks)).collect()
    }

    /// Learns what the sender of a message knew. Addresses that do not exist, numbers that nobody has counted
    /// to, and what others say of this process itself are ignored.
    pub(crate) fn learn(&mut self, clock: &[(u32, u32)]) {
        let me = self.me;
        let known = clock.iter().map(|(address, ticks)| (Address(*address), *ticks));
        self.writer.learn(me, known.filter(|(address, ticks)| *address != me && *ticks <= i32::MAX as u32));
    }

    /// Hands what was recorded to the system, and to `show`.
    pub(crate) fn commit(&mut self, mut show: impl FnMut(&Record)) -> io::Result<()> {
        if self.writer.is_empty() {
            return Ok(());
        }
        let mut lines = Vec::new();
        for record in self.writer.drain() {
            serde_json::to_writer(&mut lines, &record)?;
            lines.push(b'\n');
            show(&record);
        }
        self.file.write_all(&lines)?;
        self.length += lines.len() as u64;
        // A pipe or a device keeps its place.
        if self.length > self.longest && self.path.is_file() {
            std::fs::rename(&self.path, put_aside(&self.path))?;
            self.file = File::create(&self.path)?;
            self.file.write_all(&self.header)?;
            self.length = self.header.len() as u64;
        }
        Ok(())
    }
}

/// Where a trace goes that has become too long.
fn put_aside(path: &Path) -> PathBuf {
    path.with_extension("1.jsonl")
}

/// What former lives left in a trace.
#[derive(Default)]
struct Past {
    lived: bool,
    clock: std::collections::BTreeMap<u64, u32>,
    next_message: u64,
}

/// Reads as much of the end of former lives as it takes; gives where the last complete line ends.
fn read_past(file: &mut File, me: u64) -> io::Result<(u64, Past)> {
    let (length, mut window) = (file.metadata()?.len(), 1 << 16);
    loop {
        let start = length.saturating_sub(window);
        let (end, past) = read_from(file, start, me)?;
        if start == 0 || (past.lived && past.next_message > 0) {
            return Ok((end, past));
        }
        window *= 4;
    }
}

/// Reads former lives from `start` on, which may be in the midst of a line.
fn read_from(file: &mut File, start: u64, me: u64) -> io::Result<(u64, Past)> {
    let (mut end, mut past) = (start, Past::default());
    file.seek(SeekFrom::Start(start))?;
    let (mut reader, mut line) = (BufReader::new(&*file), Vec::new());
    let mut is_first = true;
    loop {
        line.clear();
        let length = reader.read_until(b'\n', &mut line)? as u64;
        if length == 0 || line.last() != Some(&b'\n') {
            return Ok((end, past));
        }
        // The first is the header, or what is left of a line.
        if !std::mem::take(&mut is_first) {
            // Whatever cannot be read is not of ours.
            let Ok(record) = serde_json::from_slice::<Record>(&line) else { return Ok((end, past)) };
            if record.process == Some(me) && !record.clock.is_empty() {
                (past.lived, past.clock) = (true, record.clock);
            }
            if let Happening::Send { message, .. } = record.what {
                past.next_message = past.next_message.max(message + 1);
            }
        }
        end += length;
    }
}

#[cfg(test)]
mod tests {
    use habemus::ProblemKind;

    use super::*;
    use crate::scratch::Scratch;

    fn header() -> Header {
        Header {
            format: habemus_trace::FORMAT,
            algorithm: "bully".to_owned(),
            problem: ProblemKind::Election,
            title: None,
            processes: vec![10, 20],
            topology: "complete".to_owned(),
            seed: None,
            origin: None,
            cycle: None,
        }
    }

    fn send(number: u64) -> Happening {
        let (kind, label) = ("Election".into(), "Election".into());
        Happening::Send { message: number, to: 10, kind, label, background: false }
    }

    #[test]
    fn a_new_life_goes_on_where_the_old_one_ended() {
        let scratch = Scratch::new();
        let path = scratch.path().join("trace.jsonl");
        let mut first = Recorder::open(&path, &header(), Address(1), MAX_TRACE).unwrap();
        first.record(1, Happening::Start { recovered: false });
        let number = first.number();
        first.record(2, send(number));
        first.commit(|_| {}).unwrap();
        drop(first);
        let torn = OpenOptions::new().append(true).open(&path).unwrap().write_all(b"{\"at\":3,\"pro");
        torn.unwrap();

        let mut second = Recorder::open(&path, &header(), Address(1), MAX_TRACE).unwrap();
        assert_eq!(second.number(), 1);
        second.learn(&[(0, 5), (77, 1), (1, u32::MAX)]);
        second.record(4, Happening::Start { recovered: true });
        second.commit(|_| {}).unwrap();
        let trace = habemus_trace::Trace::read(BufReader::new(File::open(&path).unwrap())).unwrap();
        let clocks: Vec<_> = trace.records.iter().map(|record| record.clock.clone()).collect();
        // The third tick of 20 is left for its crash.
        assert_eq!(clocks, [[(20, 1)].into(), [(20, 2)].into(), [(10, 5), (20, 4)].into()]);
    }

    #[test]
    fn a_trace_that_becomes_too_long_is_put_aside_and_the_count_goes_on() {
        let scratch = Scratch::new();
        let path = scratch.path().join("trace.jsonl");
        let record = |recorder: &mut Recorder| {
            let number = recorder.number();
            recorder.record(number, send(number));
            recorder.commit(|_| {}).unwrap();
            number
        };
        let longest = 10_000;
        let open = || Recorder::open(&path, &header(), Address(1), longest).unwrap();
        let mut recorder = open();
        let last = (0..1000).map(|_| record(&mut recorder)).last().unwrap();
        let length = |path: &Path| std::fs::metadata(path).unwrap().len();
        assert!(length(&path) <= longest && length(&put_aside(&path)) < 2 * longest);
        assert_eq!(std::fs::read_dir(scratch.path()).unwrap().count(), 2);
        drop(recorder);
        // Also in a life that begins just after that.
        std::fs::write(&path, []).unwrap();
        let kept = std::fs::read_to_string(put_aside(&path)).unwrap().lines().count() as u64 - 1;
        let again = record(&mut open());
        assert!(again > kept && again <= last + 1, "{again} after {last}");
    }

    #[test]
    fn of_a_long_trace_only_the_end_is_read() {
        let scratch = Scratch::new();
        let path = scratch.path().join("trace.jsonl");
        let mut recorder = Recorder::open(&path, &header(), Address(1), MAX_TRACE).unwrap();
        for _ in 0..2000 {
            let number = recorder.number();
            recorder.record(number, send(number));
        }
        recorder.commit(|_| {}).unwrap();
        // What stands in the midst is never looked at.
        let mut bytes = std::fs::read(&path).unwrap();
        let middle = bytes.len() / 2;
        assert!(middle > 1 << 16, "{middle}");
        bytes[middle..middle + 100].fill(b'#');
        std::fs::write(&path, &bytes).unwrap();
        let mut again = Recorder::open(&path, &header(), Address(1), MAX_TRACE).unwrap();
        assert_eq!(again.number(), 2000);
    }

    #[test]
    fn wall_time_is_counted_from_the_beginning_of_the_run() {
        let wall = Wall::new(0);
        let soon = wall.start + Duration::from_millis(5);
        assert_eq!(wall.at(soon) - wall.at(wall.start), 5_000_000);
        assert_eq!(wall.instant(wall.at(soon)), soon);
        assert_eq!(wall.instant(0), wall.start);
    }
}
