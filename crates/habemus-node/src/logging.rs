//! Log lines that never hold a node up: they go through a queue with a bound to a thread of their own.
//!
//! If nobody reads them, or nobody reads them fast enough, lines are left out and counted. No kind of line is
//! written about the same peer more than so many times a minute, so that no stranger fills a disk.

use std::cell::Cell;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber, callsite};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::{Context, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

/// So many lines wait to be written at most; one more is left out.
pub const MAX_LOG_LINES: usize = 1024;

/// A line has at most so many bytes; the rest of it is left out.
pub const MAX_LOG_LINE: usize = 4096;

/// So many lines of one kind about one peer are written in a minute.
pub const MAX_LOG_RATE: u32 = 20;

/// So many kinds and peers are told apart.
const MAX_KINDS: usize = 256;

const MINUTE: Duration = Duration::from_secs(60);

/// How log lines look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Text,
    Json,
}

/// Logs to standard error from now on; a second node in the same program logs where the first does.
pub(crate) fn start(filter: Targets, format: Format) -> Flush {
    let colours = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|it| it.is_empty());
    let (lines, queue) = sync_channel(MAX_LOG_LINES);
    let sink = Sink { lines: lines.clone(), left_out: Arc::default(), format, colours };
    let log = tracing_subscriber::fmt::layer().with_writer(sink.clone()).log_internal_errors(false);
    let filtered = tracing_subscriber::registry().with(filter).with(RateLimit::default());
    let started = match format {
        Format::Text => filtered.with(log.with_ansi(colours).with_target(false)).try_init(),
        Format::Json => filtered.with(log.json()).try_init(),
    };
    if started.is_ok() {
        let thread = std::thread::Builder::new().name("habemus-log".to_owned());
        // Without the thread nothing is written, and the node runs all the same.
        let _ = thread.spawn(move || write_lines(&queue, &sink, &mut io::stderr()));
    }
    Flush(lines)
}

/// What goes to the thread that writes.
enum Item {
    Line(Vec<u8>),
    /// Everything before has been written.
    Mark(SyncSender<()>),
}

/// Waits, when it is dropped, until what was logged is written, but not for long.
pub(crate) struct Flush(SyncSender<Item>);

impl Drop for Flush {
    fn drop(&mut self) {
        let (written, seen) = sync_channel(1);
        if self.0.try_send(Item::Mark(written)).is_ok() {
            let _ = seen.recv_timeout(Duration::from_millis(500));
        }
    }
}

fn write_lines(queue: &Receiver<Item>, sink: &Sink, out: &mut dyn Write) {
    while let Ok(item) = queue.recv() {
        let left_out = sink.left_out.swap(0, Ordering::Relaxed);
        if left_out > 0 {
            // Whoever does not read does not mind.
            let _ = out.write_all(&sink.format.note(left_out, "nobody read fast enough"));
        }
        match item {
            Item::Line(line) => {
                let _ = out.write_all(&line);
            }
            Item::Mark(written) => {
                let _ = written.try_send(());
            }
        }
    }
}

impl Format {
    /// A line about lines that are not there.
    fn note(self, left_out: u64, why: &str) -> Vec<u8> {
        let text = match self {
            Format::Text => format!("  WARN left out {left_out} lines: {why}\n"),
            Format::Json => {
                let fields = serde_json::json!({"message": "left out lines", "lines": left_out, "why": why});
                format!("{}\n", serde_json::json!({"level": "WARN", "fields": fields}))
            }
        };
        text.into_bytes()
    }
}

/// The way of a line into the queue.
#[derive(Clone)]
struct Sink {
    lines: SyncSender<Item>,
    /// For how many lines there was no room.
    left_out: Arc<AtomicU64>,
    format: Format,
    colours: bool,
}

impl<'a> MakeWriter<'a> for Sink {
    type Writer = Line;

    fn make_writer(&'a self) -> Line {
        let left_out = LEFT_OUT.take();
        let bytes = match left_out {
            0 => Vec::new(),
            lines => self.format.note(lines, "too many like the next one"),
        };
        let (begin, room) = (bytes.len(), bytes.len() + MAX_LOG_LINE);
        Line { bytes, begin, room, sink: self.clone() }
    }
}

/// A line that is being written.
struct Line {
    bytes: Vec<u8>,
    /// Where it begins: after what is said of those that were left out.
    begin: usize,
    /// How long it may be.
    room: usize,
    sink: Sink,
}

impl Write for Line {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes.extend_from_slice(&bytes[..bytes.len().min(self.room - self.bytes.len())]);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        if self.bytes.len() == self.room {
            self.bytes.pop();
            self.bytes.push(b'\n');
        }
        // Whatever a stranger has said is one line, and no terminal obeys it.
        if let Some((_, line)) = self.bytes[self.begin..].split_last_mut() {
            tame(line, self.sink.colours);
        }
        let bytes = std::mem::take(&mut self.bytes);
        if self.sink.lines.try_send(Item::Line(bytes)).is_err() {
            self.sink.left_out.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Leaves nothing in a line that would break it or that a terminal obeys, but for colours where there are
/// any.
fn tame(line: &mut [u8], colours: bool) {
    let mut index = 0;
    while let [first, rest @ ..] = &mut line[index..] {
        index += match (*first, rest) {
            (0x1b, rest) if colours && length_of_colour(rest).is_some() => {
                1 + length_of_colour(rest).unwrap_or_default()
            }
            (0..0x20 | 0x7f, _) => {
                *first = b' ';
                1
            }
            // U+0080 to U+009F, which some terminals obey, too.
            (0xc2, [second @ 0x80..0xa0, ..]) => {
                (*first, *second) = (b' ', b' ');
                2
            }
            _ => 1,
        };
    }
}

/// How long the rest of a sequence is that sets a colour.
fn length_of_colour(rest: &[u8]) -> Option<usize> {
    let [b'[', code @ ..] = rest else { return None };
    let end = code.iter().position(|byte| !matches!(byte, b'0'..=b'9' | b';'))?;
    (code[end] == b'm').then_some(end + 2)
}

thread_local! {
    /// How many lines like the one that this thread is about to write were left out before it.
    static LEFT_OUT: Cell<u64> = const { Cell::new(0) };
}

/// Lets only so many lines of a kind about the same peer through.
#[derive(Default)]
struct RateLimit(Mutex<HashMap<(callsite::Identifier, u64), Quota>>);

struct Quota {
    since: Instant,
    count: u32,
    left_out: u64,
}

impl RateLimit {
    /// Whether one more of this kind may be written at `now`, and how many were left out before it.
    fn admit(&self, kind: callsite::Identifier, peer: u64, now: Instant) -> Option<u64> {
        let mut quotas = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if quotas.len() >= MAX_KINDS && !quotas.contains_key(&(kind.clone(), peer)) {
            quotas.retain(|_, quota| now.duration_since(quota.since) < MINUTE || quota.left_out > 0);
        }
        // If there are still too many, the others share one.
        let peer =
            if quotas.len() >= MAX_KINDS && !quotas.contains_key(&(kind.clone(), peer)) { 0 } else { peer };
        let quota = quotas.entry((kind, peer)).or_insert(Quota { since: now, count: 0, left_out: 0 });
        if now.duration_since(quota.since) >= MINUTE {
            (quota.since, quota.count) = (now, 0);
        }
        if quota.count >= MAX_LOG_RATE {
            quota.left_out += 1;
            return None;
        }
        quota.count += 1;
        Some(std::mem::take(&mut quota.left_out))
    }
}

impl<S: Subscriber> Layer<S> for RateLimit {
    fn event_enabled(&self, event: &Event<'_>, _: Context<'_, S>) -> bool {
        let mut peer = Peer(0);
        event.record(&mut peer);
        let left_out = self.admit(event.metadata().callsite(), peer.0, Instant::now());
        LEFT_OUT.set(left_out.unwrap_or(0));
        left_out.is_some()
    }
}

/// Whom an event is about, as a number.
struct Peer(u64);

impl Visit for Peer {
    fn record_u64(&mut self, field: &Field, value: u64) {
        if field.name() == "peer" {
            self.0 = value;
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        if field.name() == "address" || field.name() == "process" {
            let mut hasher = DefaultHasher::new();
            format!("{value:?}").hash(&mut hasher);
            self.0 = hasher.finish();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sink() -> (Sink, Receiver<Item>) {
        let (lines, queue) = sync_channel(MAX_LOG_LINES);
        (Sink { lines, left_out: Arc::default(), format: Format::Text, colours: false }, queue)
    }

    fn kind() -> callsite::Identifier {
        let kind = tracing::callsite!(name: "test", kind: tracing::metadata::Kind::EVENT, fields: peer);
        tracing::Callsite::metadata(kind).callsite()
    }

    #[test]
    fn a_reader_that_stalls_costs_lines_and_the_number_of_lines_is_said() {
        let (sink, queue) = sink();
        for _ in 0..MAX_LOG_LINES + 7 {
            writeln!(sink.make_writer(), "something").expect("it never fails");
        }
        // The reader is back, and then everybody is gone.
        let (other, _) = sync_channel(0);
        let gone = Sink { lines: other, ..sink.clone() };
        drop(sink);
        let mut out = Vec::new();
        write_lines(&queue, &gone, &mut out);
        let text = String::from_utf8(out).expect("it is text");
        assert_eq!(text.lines().count(), MAX_LOG_LINES + 1);
        assert!(text.contains("left out 7 lines"), "{text:.100}");
    }

    #[test]
    fn a_line_has_a_bound_and_an_end() {
        let (sink, queue) = sink();
        write!(sink.make_writer(), "{}", "x".repeat(3 * MAX_LOG_LINE)).expect("it never fails");
        let Ok(Item::Line(line)) = queue.try_recv() else { panic!("a line") };
        assert_eq!((line.len(), line.last()), (MAX_LOG_LINE, Some(&b'\n')));
    }

    #[test]
    fn a_line_is_one_line_whatever_is_said_in_it() {
        let (sink, queue) = sink();
        LEFT_OUT.set(3);
        writeln!(sink.make_writer(), "not to 'x\r\n2026 ERROR the node stops'").expect("it never fails");
        let Ok(Item::Line(lines)) = queue.try_recv() else { panic!("a line") };
        let text = String::from_utf8(lines).expect("it is text");
        let lines: Vec<&str> = text.lines().collect();
        let expected =
            ["  WARN left out 3 lines: too many like the next one", "not to 'x  2026 ERROR the node stops'"];
        assert_eq!((lines.as_slice(), text.contains('\r')), (expected.as_slice(), false));
    }

    #[test]
    fn no_terminal_obeys_what_a_stranger_says() {
        let tamed = |text: &str, colours| {
            let mut bytes = text.as_bytes().to_vec();
            tame(&mut bytes, colours);
            String::from_utf8(bytes).expect("it is still text")
        };
        let said = "\x1b[31mé\x1b[2J\x07\u{9b}2J\x1b";
        assert_eq!(tamed(said, false), " [31mé [2J   2J ");
        assert_eq!(tamed(said, true), "\x1b[31mé [2J   2J ");
        for end in ["\x1b", "\x1b[", "\x1b[3", "\u{9b}"] {
            assert!(tamed(end, true).starts_with(' '), "{end:?}");
        }
    }

    #[test]
    fn a_reader_that_is_gone_is_no_error() {
        let (sink, queue) = sink();
        drop(queue);
        writeln!(sink.make_writer(), "to nobody").expect("it never fails");
        assert_eq!(sink.left_out.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn so_many_of_a_kind_about_a_peer_are_written_in_a_minute_and_the_rest_is_counted() {
        let (limit, now) = (RateLimit::default(), Instant::now());
        let admitted = |peer, now| (0..100).filter(|_| limit.admit(kind(), peer, now).is_some()).count();
        assert_eq!(admitted(1, now), MAX_LOG_RATE as usize);
        assert_eq!(admitted(2, now), MAX_LOG_RATE as usize);
        assert_eq!(limit.admit(kind(), 1, now + MINUTE), Some(100 - u64::from(MAX_LOG_RATE)));
        assert_eq!(limit.admit(kind(), 1, now + MINUTE), Some(0));
    }

    #[test]
    fn however_many_strangers_there_are_only_so_many_are_told_apart() {
        let (limit, now) = (RateLimit::default(), Instant::now());
        let admitted = (0..100_000).filter(|peer| limit.admit(kind(), *peer, now).is_some()).count();
        assert!(admitted <= MAX_KINDS + MAX_LOG_RATE as usize, "{admitted}");
    }
}
