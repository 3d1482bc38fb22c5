//! etcd's watches: many on one stream, from any revision that is still known.
//!
//! Nothing is kept for a watcher but where it stands: when something changes in its range it is woken, and
//! takes what happened since from the store's history. So a slow one costs no memory, and one that is too
//! slow learns from which revision on history is known.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{Stream, StreamExt};
use habemus_etcd::etcdserverpb as rpc;
use habemus_etcd::etcdserverpb::watch_create_request::FilterType;
use habemus_etcd::etcdserverpb::watch_request::RequestUnion;
use habemus_etcd::mvccpb;
use habemus_store::{AuthError, Event, KeyRange, Revised, Revision, StoreError};
use prost::Message;
use tokio::sync::{Notify, mpsc};
use tokio::time::{Interval, MissedTickBehavior, interval};
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Response, Status, Streaming};

use crate::convert;
use crate::engine::View;
use crate::handle::{Freshness, Handle, wire};
use crate::status::Refused;

/// So many events, or bytes of them, are told at once; whatever one revision changed is told together.
const EVENTS: usize = 1024;
const BYTES: usize = 1 << 20;

/// A watch that wants its answers in fragments gets none that is much longer than this.
const FRAGMENT: usize = 3 << 19;

/// A watch that wants to know how far it is, although nothing happens, is told this often.
const PROGRESS: Duration = Duration::from_secs(600);

/// So many watches share a stream, at most.
const MAX_WATCHES: usize = 1 << 16;

/// etcd's watches.
pub(crate) struct Watch(pub(crate) Handle);

#[tonic::async_trait]
impl rpc::watch_server::Watch for Watch {
    type WatchStream = Pin<Box<dyn Stream<Item = Result<rpc::WatchResponse, Status>> + Send + 'static>>;

    async fn watch(
        &self,
        request: Request<Streaming<rpc::WatchRequest>>,
    ) -> Result<Response<Self::WatchStream>, Status> {
        let handle = self.0.of(&request);
        Ok(Response::new(Box::pin(watch(handle, request.into_inner()))))
    }
}

/// What happens, to whoever asks for it.
pub(crate) fn watch(
    handle: Handle,
    requests: impl Stream<Item = Result<rpc::WatchRequest, Status>> + Send + Unpin + 'static,
) -> impl Stream<Item = Result<rpc::WatchResponse, Status>> + Send + 'static {
    let (answers, stream) = mpsc::channel(16);
    let mut progress = interval(PROGRESS);
    progress.set_missed_tick_behavior(MissedTickBehavior::Delay);
    progress.reset();
    let notify = Arc::new(Notify::new());
    let watching = Watching { handle, answers, notify, progress, watches: BTreeMap::new(), next_id: 0 };
    // Whoever has nothing more to ask still wants to know what happens.
    tokio::spawn(watching.run(requests.chain(futures_util::stream::pending())));
    ReceiverStream::new(stream)
}

/// All watches of one stream.
struct Watching {
    handle: Handle,
    answers: mpsc::Sender<Result<rpc::WatchResponse, Status>>,
    notify: Arc<Notify>,
    progress: Interval,
    watches: BTreeMap<i64, One>,
    /// No number is given twice, even if a watch has ended.
    next_id: i64,
}

/// One watch.
#[derive(Clone)]
struct One {
    range: KeyRange,
    /// The first revision that was not told yet.
    next: Revision,
    wants_puts: bool,
    wants_deletions: bool,
    wants_before: bool,
    wants_progress: bool,
    wants_fragments: bool,
}

impl One {
    fn new(create: rpc::WatchCreateRequest, revision: Revision) -> Result<One, &'static str> {
        // An empty key stands for the first one, so that everything can be watched.
        let key = if create.key.is_empty() { Bytes::from_static(&[0]) } else { create.key };
        let filtered = |filter: FilterType| create.filters.contains(&i32::from(filter));
        let range = KeyRange::from_wire(key, create.range_end);
        if let KeyRange::Between(first, end) = &range
            && first >= end
        {
            return Err("mvcc: watcher range is empty");
        }
        let next = match create.start_revision {
            0 => Revision(revision.0 + 1),
            start => Revision(u64::try_from(start).unwrap_or(1)),
        };
        Ok(One {
            range,
            next,
            wants_puts: !filtered(FilterType::Noput),
            wants_deletions: !filtered(FilterType::Nodelete),
            wants_before: create.prev_kv,
            wants_progress: create.progress_notify,
            wants_fragments: create.fragment,
        })
    }

    fn wants(&self, event: &Event) -> bool {
        let kind = if event.now.is_some() { self.wants_puts } else { self.wants_deletions };
        kind && self.range.contains(&event.key)
    }
}

/// What happened since a watch was last told.
struct News {
    /// What it wants to know.
    revised: Vec<Revised>,
    /// From where it goes on.
    next: Revision,
    /// Whether there is more already.
    more: bool,
    revision: Revision,
}

/// Why a watch is not told what happened.
enum Untold {
    /// It may not know.
    Denied(AuthError),
    /// It is not known any more.
    Compacted(Revision),
}

/// How a watch is told that it may not know, in the words of etcd's server.
fn denial(error: AuthError) -> String {
    let status = Status::from(Refused::Store(error.into()));
    format!("rpc error: code = {:?} desc = {}", status.code(), status.message())
}

/// The stream is at its end: the client has gone, or the server stops.
struct Over;

impl Watching {
    async fn run(mut self, mut requests: impl Stream<Item = Result<rpc::WatchRequest, Status>> + Unpin) {
        while let Ok(()) = self.step(&mut requests).await {}
    }

    async fn step(
        &mut self,
        requests: &mut (impl Stream<Item = Result<rpc::WatchRequest, Status>> + Unpin),
    ) -> Result<(), Over> {
        let notify = Arc::clone(&self.notify);
        tokio::select! {
            request = requests.next() => match request {
                Some(Ok(request)) => self.on_request(request).await,
                _ => Err(Over),
            },
            () = notify.notified() => self.tell_all().await,
            _ = self.progress.tick() => self.tell_progress().await,
            () = self.answers.closed() => Err(Over),
        }
    }

    async fn on_request(&mut self, request: rpc::WatchRequest) -> Result<(), Over> {
        match request.request_union {
            Some(RequestUnion::CreateRequest(create)) => self.create(create).await,
            Some(RequestUnion::CancelRequest(cancel)) => {
                if self.watches.remove(&cancel.watch_id).is_none() {
                    return Ok(());
                }
                let canceled = self.response(cancel.watch_id).await?;
                self.answer(rpc::WatchResponse { canceled: true, ..canceled }).await
            }
            Some(RequestUnion::ProgressRequest(_)) => {
                // Everything up to the revision that is named has been told.
                let revision = self.revision().await?;
                self.tell_all().await?;
                let header = Some(self.handle.header(revision));
                self.answer(rpc::WatchResponse { header, watch_id: -1, ..Default::default() }).await
            }
            None => Ok(()),
        }
    }

    async fn create(&mut self, create: rpc::WatchCreateRequest) -> Result<(), Over> {
        let author = self.handle.author().cloned();
        let key = if create.key.is_empty() { Bytes::from_static(&[0]) } else { create.key.clone() };
        let range = KeyRange::from_wire(key, create.range_end.clone());
        // A member that is behind must not show what was taken back.
        let look = move |view: &View<'_>| view.store.auth().check_read(author.as_ref(), &range);
        let freshness =
            if self.handle.author().is_some() { Freshness::Linearizable } else { Freshness::Local };
        let allowed = match self.handle.look(freshness, look).await {
            Ok(allowed) => allowed,
            Err(_) => return self.end().await,
        };
        let revision = self.revision().await?;
        let wanted = create.watch_id;
        let refusal = match One::new(create, revision) {
            _ if allowed.is_err() => &allowed.map_err(denial).err().unwrap_or_default(),
            _ if self.watches.contains_key(&wanted) && wanted != 0 => {
                "mvcc: duplicate watch ID provided on the WatchStream"
            }
            _ if self.watches.len() >= MAX_WATCHES => "etcdserver: too many watches on one stream",
            Err(refusal) => refusal,
            Ok(one) => {
                let watch_id = if wanted == 0 { self.number() } else { wanted };
                self.handle.wake(one.range.clone(), &self.notify).await.map_err(|_| Over)?;
                self.watches.insert(watch_id, one);
                let created = self.response(watch_id).await?;
                self.answer(rpc::WatchResponse { created: true, ..created }).await?;
                return self.tell(watch_id).await;
            }
        };
        let refused = self.response(-1).await?;
        let cancel_reason = refusal.to_owned();
        self.answer(rpc::WatchResponse { created: true, canceled: true, cancel_reason, ..refused }).await
    }

    /// A number for a watch for which the client gave none.
    fn number(&mut self) -> i64 {
        while self.watches.contains_key(&self.next_id) {
            self.next_id += 1;
        }
        self.next_id += 1;
        self.next_id - 1
    }

    async fn tell_all(&mut self) -> Result<(), Over> {
        let ids: Vec<i64> = self.watches.keys().copied().collect();
        for id in ids {
            self.tell(id).await?;
        }
        Ok(())
    }

    /// Tells those that want it how far they are.
    async fn tell_progress(&mut self) -> Result<(), Over> {
        let revision = self.revision().await?;
        self.tell_all().await?;
        let header = self.handle.header(revision);
        let wanting = self.watches.iter().filter(|(_, one)| one.wants_progress && one.next > revision);
        for (&watch_id, _) in wanting {
            let header = Some(header);
            self.answer(rpc::WatchResponse { header, watch_id, ..Default::default() }).await?;
        }
        Ok(())
    }

    /// Tells a watch all that has happened.
    async fn tell(&mut self, id: i64) -> Result<(), Over> {
        while let Some(one) = self.watches.get(&id).cloned() {
            let (with_before, in_fragments) = (one.wants_before, one.wants_fragments);
            let author = self.handle.author().cloned();
            let look = move |view: &View<'_>| {
                // What was taken back meanwhile is not shown any more.
                let allowed = view.store.auth().check_read(author.as_ref(), &one.range);
                allowed.map_err(Untold::Denied).and_then(|()| news(view, &one).map_err(Untold::Compacted))
            };
            match self.handle.look(Freshness::Local, look).await {
                Ok(Ok(news)) => {
                    if let Some(one) = self.watches.get_mut(&id) {
                        one.next = news.next;
                    }
                    self.tell_news(id, &news, with_before, in_fragments).await?;
                    if !news.more {
                        return Ok(());
                    }
                }
                Ok(Err(Untold::Denied(error))) => return self.cancel_denied(id, error).await,
                Ok(Err(Untold::Compacted(compacted))) => return self.cancel_compacted(id, compacted).await,
                Err(_) => return self.end().await,
            }
        }
        Ok(())
    }

    async fn tell_news(
        &self,
        watch_id: i64,
        news: &News,
        with_before: bool,
        in_fragments: bool,
    ) -> Result<(), Over> {
        let events = news.revised.iter().flat_map(|revised| {
            revised.events.iter().map(|event| convert::event(event, revised.revision, with_before))
        });
        let events: Vec<mvccpb::Event> = events.collect();
        if events.is_empty() {
            return Ok(());
        }
        let limit = if in_fragments { FRAGMENT } else { usize::MAX };
        let mut fragments = fragments(events, limit).into_iter().peekable();
        while let Some(events) = fragments.next() {
            let header = Some(self.handle.header(news.revision));
            let fragment = fragments.peek().is_some();
            self.answer(rpc::WatchResponse { header, watch_id, events, fragment, ..Default::default() })
                .await?;
        }
        Ok(())
    }

    async fn cancel_denied(&mut self, watch_id: i64, error: AuthError) -> Result<(), Over> {
        self.watches.remove(&watch_id);
        let canceled = self.response(watch_id).await?;
        let cancel_reason = denial(error);
        self.answer(rpc::WatchResponse { canceled: true, cancel_reason, ..canceled }).await
    }

    async fn cancel_compacted(&mut self, watch_id: i64, compacted: Revision) -> Result<(), Over> {
        self.watches.remove(&watch_id);
        let canceled = self.response(watch_id).await?;
        let compact_revision = wire(compacted);
        self.answer(rpc::WatchResponse { canceled: true, compact_revision, ..canceled }).await
    }

    /// An answer that says nothing yet.
    async fn response(&self, watch_id: i64) -> Result<rpc::WatchResponse, Over> {
        let header = Some(self.handle.header(self.revision().await?));
        Ok(rpc::WatchResponse { header, watch_id, ..Default::default() })
    }

    async fn revision(&self) -> Result<Revision, Over> {
        match self.handle.revision().await {
            Ok(revision) => Ok(revision),
            Err(_) => self.end().await.and(Err(Over)),
        }
    }

    /// Tells the client why there is nothing more: then it asks another member.
    async fn end(&self) -> Result<(), Over> {
        drop(self.answers.send(Err(Refused::Stopping.into())).await);
        Err(Over)
    }

    async fn answer(&self, answer: rpc::WatchResponse) -> Result<(), Over> {
        self.answers.send(Ok(answer)).await.map_err(|_| Over)
    }
}

/// What happened since a watch was last told, or from which revision on it can be known.
fn news(view: &View<'_>, one: &One) -> Result<News, Revision> {
    let revision = view.store.revision();
    let since = match view.store.since(one.next) {
        Ok(since) => since,
        Err(StoreError::Compacted(compacted)) => return Err(compacted),
        Err(_) => return Err(view.store.compacted()),
    };
    let next = one.next.max(Revision(revision.0 + 1));
    let mut news = News { revised: Vec::new(), next, more: false, revision };
    let (mut count, mut bytes) = (0, 0);
    for revised in since {
        let wanted = revised.events.iter().filter(|event| one.wants(event));
        let events: Vec<Event> = wanted.map(|event| since_before(event, revised)).collect();
        if events.is_empty() {
            continue;
        }
        count += events.len();
        bytes += events.iter().map(size).sum::<usize>();
        news.revised.push(Revised { revision: revised.revision, events: events.into() });
        if count >= EVENTS || bytes >= BYTES {
            news.next = Revision(revised.revision.0 + 1);
            news.more = true;
            break;
        }
    }
    Ok(news)
}

/// What a key was before is what it was before the whole revision, even if that wrote it twice.
fn since_before(event: &Event, revised: &Revised) -> Event {
    let is_own = event.before.as_ref().is_some_and(|before| before.modified == revised.revision);
    let first = revised.events.iter().find(|it| is_own && it.key == event.key);
    let before = first.map_or(&event.before, |first| &first.before).clone();
    Event { before, ..event.clone() }
}

/// How many bytes an event takes, roughly.
fn size(event: &Event) -> usize {
    let states = [&event.now, &event.before];
    event.key.len()
        + states.into_iter().flatten().map(|state| state.key.len() + state.value.len()).sum::<usize>()
}

/// Splits events into parts of some length; an event that is longer is a part of its own.
fn fragments(events: Vec<mvccpb::Event>, limit: usize) -> Vec<Vec<mvccpb::Event>> {
    let mut parts = vec![Vec::new()];
    let mut bytes = 0;
    for event in events {
        let size = event.encoded_len();
        if bytes + size > limit && bytes > 0 {
            parts.push(Vec::new());
            bytes = 0;
        }
        bytes += size;
        parts.last_mut().expect("there is always a part").push(event);
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fragments_are_short_and_nothing_is_lost() {
        let event = |bytes: usize| {
            let kv = mvccpb::KeyValue { value: vec![0; bytes].into(), ..Default::default() };
            mvccpb::Event { kv: Some(kv), ..Default::default() }
        };
        let events: Vec<_> = [10, 50, 50, 500, 10].map(event).into();
        let parts = fragments(events.clone(), 100);
        assert_eq!(parts.iter().map(Vec::len).collect::<Vec<_>>(), [2, 1, 1, 1]);
        assert_eq!(parts.concat(), events);
    }
}
