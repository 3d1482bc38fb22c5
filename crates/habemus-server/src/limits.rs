//! How much one client may ask for, and all together: what is more costs the request, or the connection,
//! never the member.

use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use tonic::Status;

/// So many bytes of requests that are not answered yet are held for one connection,
const CONNECTION_BYTES: usize = 64 << 20;
/// and for all of them.
const ALL_BYTES: usize = 256 << 20;

/// So many streams of watches and renewals are open on one connection; each may hold a message of its own.
const STREAMS: usize = 2048;

/// What one client may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    /// So many connections are open at once.
    pub(crate) connections: usize,
    /// So many requests a second may come on one of them, on average.
    pub(crate) rate: u32,
    /// How long somebody may take to show who it is, and to finish what stands before a request.
    pub(crate) greeting: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { connections: 8192, rate: 50_000, greeting: Duration::from_secs(10) }
    }
}

/// What is under way of one connection, or of all.
#[derive(Default)]
pub(crate) struct Budget {
    bytes: AtomicUsize,
}

/// What one connection may still ask for.
pub(crate) struct Allowance {
    bucket: Mutex<Bucket>,
    own: Budget,
    all: Arc<Budget>,
    streams: AtomicUsize,
}

/// Fills by so many a second, and holds as many.
struct Bucket {
    rate: f64,
    left: f64,
    since: Instant,
}

impl Bucket {
    fn take(&mut self, now: Instant) -> bool {
        let more = now.saturating_duration_since(self.since).as_secs_f64() * self.rate;
        (self.left, self.since) = ((self.left + more).min(self.rate), now);
        let is_left = self.left >= 1.0;
        self.left -= f64::from(u8::from(is_left));
        is_left
    }
}

impl Allowance {
    pub(crate) fn new(limits: Limits, all: Arc<Budget>) -> Allowance {
        let rate = f64::from(limits.rate);
        let bucket = Mutex::new(Bucket { rate, left: rate, since: Instant::now() });
        Allowance { bucket, own: Budget::default(), all, streams: AtomicUsize::new(0) }
    }

    /// Whether another request may come now.
    pub(crate) fn take(&self) -> bool {
        self.bucket.lock().unwrap_or_else(PoisonError::into_inner).take(Instant::now())
    }

    fn add(&self, bytes: usize) -> bool {
        let add = |budget: &Budget, max| budget.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes <= max;
        // Both are counted in any case, for both are counted back.
        let (own, all) = (add(&self.own, CONNECTION_BYTES), add(&self.all, ALL_BYTES));
        own && all
    }

    fn give_back(&self, bytes: usize) {
        self.own.bytes.fetch_sub(bytes, Ordering::Relaxed);
        self.all.bytes.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// Whether a call is a stream of requests, of which none is kept for long.
fn is_stream(path: &str) -> bool {
    let streams = ["/etcdserverpb.Watch/Watch", "/etcdserverpb.Lease/LeaseKeepAlive"];
    streams.contains(&path) || ["/v3/watch", "/v3/lease/keepalive"].contains(&path)
}

/// What comes with a request, counted while it is held.
pub(crate) struct Metered<B> {
    body: B,
    allowance: Arc<Allowance>,
    held: Held,
}

enum Held {
    Bytes(usize),
    Stream,
}

impl<B> Metered<B> {
    /// Counts what comes for this path; `None` if there are too many streams.
    pub(crate) fn new(body: B, path: &str, allowance: Arc<Allowance>) -> Option<Metered<B>> {
        if !is_stream(path) {
            return Some(Metered { body, allowance, held: Held::Bytes(0) });
        }
        let before = allowance.streams.fetch_add(1, Ordering::Relaxed);
        let metered = Metered { body, allowance, held: Held::Stream };
        (before < STREAMS).then_some(metered)
    }
}

impl<B> Drop for Metered<B> {
    fn drop(&mut self) {
        match self.held {
            Held::Bytes(bytes) => self.allowance.give_back(bytes),
            Held::Stream => {
                self.allowance.streams.fetch_sub(1, Ordering::Relaxed);
            }
        }
    }
}

impl<B: Body<Data = Bytes> + Unpin> Body for Metered<B>
where
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Data = Bytes;
    type Error = Box<dyn std::error::Error + Send + Sync>;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        let Some(frame) = frame.transpose().map_err(Into::into)? else { return Poll::Ready(None) };
        let bytes = frame.data_ref().map_or(0, Bytes::len);
        let this = &mut *self;
        if let Held::Bytes(held) = &mut this.held {
            *held += bytes;
            if !this.allowance.add(bytes) {
                return Poll::Ready(Some(Err(Box::new(too_many()))));
            }
        }
        Poll::Ready(Some(Ok(frame)))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Somebody asks for more than can be done.
pub(crate) fn too_many() -> Status {
    Status::resource_exhausted("etcdserver: too many requests")
}

/// Lets as many files be open as the system allows, and says how many connections that is enough for:
/// journal, snapshots and members must always be able to open theirs.
pub(crate) fn raise_open_files(wanted: usize) -> usize {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    const OTHERS: u64 = 256;
    let limit = getrlimit(Resource::Nofile);
    // If it cannot be raised, what is there must do.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
    let max = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    let enough = usize::try_from(max.saturating_sub(OTHERS).max(max / 2)).unwrap_or(usize::MAX);
    wanted.min(enough.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_gives_its_rate_and_no_more() {
        let start = Instant::now();
        let mut bucket = Bucket { rate: 10.0, left: 10.0, since: start };
        let mut taken =
            |after: u64| (0..100).filter(|_| bucket.take(start + Duration::from_millis(after))).count();
        assert_eq!(taken(0), 10);
        assert_eq!(taken(500), 5);
        assert_eq!(taken(60_000), 10, "what nobody took does not grow without end");
    }

    #[test]
    fn what_is_held_is_counted_and_given_back() {
        let all = Arc::new(Budget::default());
        let allowance = Arc::new(Allowance::new(Limits::default(), Arc::clone(&all)));
        assert!(allowance.add(CONNECTION_BYTES));
        assert!(!allowance.add(1), "that is one too many for a connection");
        let others: Vec<_> = (0..4).map(|_| Allowance::new(Limits::default(), Arc::clone(&all))).collect();
        let fits = others.iter().filter(|other| other.add(CONNECTION_BYTES)).count();
        assert_eq!(fits, 2, "all together may hold four times as much, less one byte");
        allowance.give_back(CONNECTION_BYTES + 1);
        others.iter().for_each(|other| other.give_back(CONNECTION_BYTES));
        assert_eq!(all.bytes.load(Ordering::Relaxed), 0);
        assert!(allowance.add(CONNECTION_BYTES));
    }

    #[test]
    fn streams_are_counted() {
        let allowance = Arc::new(Allowance::new(Limits::default(), Arc::default()));
        let open = || Metered::new((), "/v3/watch", Arc::clone(&allowance));
        let streams: Vec<_> = (0..STREAMS).map(|_| open().expect("there is room")).collect();
        assert!(open().is_none());
        drop(streams);
        assert!(open().is_some());
    }
}
