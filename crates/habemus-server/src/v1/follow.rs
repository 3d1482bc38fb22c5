//! What happens to a queue, change by change: nothing that history still knows is left out.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use habemus_api::v1 as rpc;
use habemus_store::{Event, KeyRange, KeyValue, Mode, Range, Revision, queue as queues};
use tokio::sync::{Notify, mpsc};

use super::elections::office;
use super::{Api, Needs, Refusal, name, text};
use crate::engine::View;
use crate::handle::{Freshness, Handle};

/// So many messages wait for a slow reader; then it waits with the queue's history, which keeps nothing for
/// it.
const WAITING: usize = 16;

/// So many revisions are taken from history at once.
const AT_ONCE: usize = 256;

/// What is told, until nobody listens.
pub(super) type Told<T> = mpsc::Receiver<Result<T, Refusal>>;

/// Everybody in a queue as of a revision.
#[derive(Clone, Debug)]
struct Seen {
    prefix: Bytes,
    revision: Revision,
    places: BTreeMap<(Revision, Bytes), Arc<KeyValue>>,
    inside: usize,
}

impl Seen {
    /// How a queue is now.
    fn of(view: &View<'_>, prefix: Bytes) -> Seen {
        let all = Range::of(KeyRange::prefix(prefix.clone()));
        let keys = view.store.range(&all).map(|found| found.keys).unwrap_or_default();
        let places = keys.into_iter().map(|key| ((key.created, key.key.clone()), key)).collect();
        let mut seen = Seen { prefix, revision: view.store.revision(), places, inside: 0 };
        seen.inside = seen.admitted();
        seen
    }

    /// How many are inside.
    fn admitted(&self) -> usize {
        let modes = self.places.values();
        queues::admitted(modes.map(|key| queues::mode_in(&self.prefix, key).unwrap_or(Mode::Exclusive)))
    }

    /// The first one, if anybody stands here by a session.
    fn head(&self) -> Option<&KeyValue> {
        let is_queue = self.places.values().any(|key| queues::mode_in(&self.prefix, key).is_some());
        self.places.values().next().filter(|_| is_queue).map(|key| &**key)
    }

    /// How it is, as if it happened now.
    fn present(&self) -> Vec<rpc::LockEvent> {
        let mut events: Vec<_> = self.places.values().map(|key| told("queued", key, self.revision)).collect();
        events.extend(self.places.values().take(self.inside).map(|key| told("granted", key, self.revision)));
        if self.places.is_empty() {
            events.push(vacant(self.revision));
        }
        events
    }

    /// Takes note of what a revision changed, and says what that means.
    fn follow(&mut self, revision: Revision, events: &[Event]) -> Vec<rpc::LockEvent> {
        self.revision = revision;
        let before: Vec<(Revision, Bytes)> = self.places.keys().take(self.inside).cloned().collect();
        let mut said = Vec::new();
        for event in events.iter().filter(|event| event.key.starts_with(&self.prefix)) {
            if let Some(gone) = event.before.as_ref().filter(|_| event.now.is_none()) {
                self.places.remove(&(gone.created, gone.key.clone()));
                said.push(told("left", gone, revision));
            }
            if let Some(now) = &event.now {
                let place = (now.created, now.key.clone());
                if self.places.insert(place, Arc::clone(now)).is_none() {
                    said.push(told("queued", now, revision));
                }
            }
        }
        if said.is_empty() {
            return said;
        }
        self.inside = self.admitted();
        let now_inside = self.places.iter().take(self.inside);
        let entered = now_inside.filter(|(place, _)| !before.contains(place));
        said.extend(entered.map(|(_, key)| told("granted", key, revision)));
        if self.places.is_empty() {
            said.push(vacant(revision));
        }
        said
    }
}

fn told(kind: &str, key: &KeyValue, revision: Revision) -> rpc::LockEvent {
    rpc::LockEvent {
        kind: kind.to_owned(),
        session: key.session.map(|id| id.to_string()).unwrap_or_default(),
        token: key.created.0,
        value: text(&key.value),
        revision: revision.0,
    }
}

fn vacant(revision: Revision) -> rpc::LockEvent {
    rpc::LockEvent { kind: "vacant".to_owned(), revision: revision.0, ..rpc::LockEvent::default() }
}

/// What comes next for somebody who has seen a queue up to a revision.
enum Next {
    /// These events; and there may be more.
    Events(Vec<rpc::LockEvent>),
    /// Nothing yet.
    Nothing,
    /// History does not know any more; it is like this now.
    Missed,
}

fn next(view: &View<'_>, seen: &mut Seen) -> Next {
    let Ok(history) = view.store.since(Revision(seen.revision.0 + 1)) else {
        *seen = Seen::of(view, seen.prefix.clone());
        return Next::Missed;
    };
    let mut events = Vec::new();
    let mut is_more = false;
    for (count, revised) in history.enumerate() {
        events.extend(seen.follow(revised.revision, &revised.events));
        is_more = count + 1 >= AT_ONCE;
        if is_more {
            break;
        }
    }
    if events.is_empty() && !is_more { Next::Nothing } else { Next::Events(events) }
}

/// Somebody who is woken when a queue changes.
async fn sleeper(handle: &Handle, prefix: &Bytes) -> Result<Arc<Notify>, Refusal> {
    let sleeper = Arc::new(Notify::new());
    handle.wake(KeyRange::prefix(prefix.clone()), &sleeper).await?;
    Ok(sleeper)
}

impl Api {
    pub(super) async fn watch(&self, request: rpc::NamedLock) -> Result<Told<rpc::LockEvent>, Refusal> {
        let prefix = queues::prefix(name(&request.name)?.as_bytes());
        let woken = sleeper(&self.0, &prefix).await?;
        let needs = Needs::Queue(request.name.into());
        let look = move |view: &View<'_>| Seen::of(view, prefix);
        let seen = self.look(Freshness::Linearizable, needs.clone(), look).await?;
        let (sender, receiver) = mpsc::channel(WAITING);
        let api = self.clone();
        tokio::spawn(async move {
            // Whoever does not listen any more has left.
            drop(watch(&api, &needs, seen, &woken, &sender).await);
        });
        Ok(receiver)
    }

    pub(super) async fn observe(&self, request: rpc::NamedLock) -> Result<Told<rpc::Office>, Refusal> {
        let of = Bytes::from(name(&request.name)?.to_owned());
        let woken = sleeper(&self.0, &queues::prefix(&of)).await?;
        let named = of.clone();
        let look = move |view: &View<'_>| (office(view, &named), Seen::of(view, queues::prefix(&named)));
        let needs = Needs::Queue(request.name.into());
        let (first, seen) = self.look(Freshness::Linearizable, needs, look).await?;
        let (sender, receiver) = mpsc::channel(WAITING);
        let api = self.clone();
        tokio::spawn(async move { drop(observe(&api, &of, first, seen, &woken, &sender).await) });
        Ok(receiver)
    }
}

/// Nobody listens any more.
struct Left;

async fn send<T>(sender: &mpsc::Sender<Result<T, Refusal>>, what: Result<T, Refusal>) -> Result<(), Left> {
    sender.send(what).await.map_err(|_| Left)
}

async fn watch(
    api: &Api,
    needs: &Needs,
    mut seen: Seen,
    woken: &Notify,
    sender: &mpsc::Sender<Result<rpc::LockEvent, Refusal>>,
) -> Result<(), Left> {
    let mut events = seen.present();
    loop {
        for event in events {
            send(sender, Ok(event)).await?;
        }
        let look = move |view: &View<'_>| (next(view, &mut seen), seen);
        // What was taken back meanwhile is not told any more.
        let (next, later) = match api.look(Freshness::Local, needs.clone(), look).await {
            Ok(looked) => looked,
            Err(refusal) => return send(sender, Err(refusal)).await,
        };
        seen = later;
        events = match next {
            Next::Events(events) => events,
            Next::Missed => {
                let (kind, revision) = ("missed".to_owned(), seen.revision.0);
                let mut events = vec![rpc::LockEvent { kind, revision, ..rpc::LockEvent::default() }];
                events.extend(seen.present());
                events
            }
            Next::Nothing => {
                tokio::select! {
                    () = woken.notified() => {}
                    () = sender.closed() => return Err(Left),
                }
                Vec::new()
            }
        };
    }
}

/// Tells who leads after each revision that changes it, so that nobody who led for a moment, and no vacancy,
/// is left out.
async fn observe(
    api: &Api,
    of: &Bytes,
    first: rpc::Office,
    mut seen: Seen,
    woken: &Notify,
    sender: &mpsc::Sender<Result<rpc::Office, Refusal>>,
) -> Result<(), Left> {
    let mut last = first.leader.as_ref().map(|leader| (leader.token, leader.value.clone()));
    send(sender, Ok(first)).await?;
    loop {
        let named = of.clone();
        let look = move |view: &View<'_>| (heads(view, &named, &mut seen), seen);
        let (offices, later) = match api.look(Freshness::Local, Needs::Queue(of.to_vec()), look).await {
            Ok(looked) => looked,
            Err(refusal) => return send(sender, Err(refusal)).await,
        };
        seen = later;
        let Some(offices) = offices else {
            tokio::select! {
                () = woken.notified() => {}
                () = sender.closed() => return Err(Left),
            }
            continue;
        };
        for office in offices {
            let now = office.leader.as_ref().map(|leader| (leader.token, leader.value.clone()));
            if now != last {
                last = now;
                send(sender, Ok(office)).await?;
            }
        }
    }
}

/// Who led after each of the revisions that were not seen yet; nothing if there are none.
fn heads(view: &View<'_>, of: &Bytes, seen: &mut Seen) -> Option<Vec<rpc::Office>> {
    let Ok(history) = view.store.since(Revision(seen.revision.0 + 1)) else {
        *seen = Seen::of(view, seen.prefix.clone());
        return Some(vec![office(view, of)]);
    };
    let present = office(view, of);
    let mut heads = Vec::new();
    let mut is_any = false;
    for revised in history.take(AT_ONCE) {
        is_any = true;
        if !revised.events.iter().any(|event| event.key.starts_with(&seen.prefix)) {
            seen.revision = revised.revision;
            continue;
        }
        seen.follow(revised.revision, &revised.events);
        let leader = seen.head().map(|key| leader(key, present.leader.as_ref()));
        let (vacant, revision) = (leader.is_none(), revised.revision.0);
        heads.push(rpc::Office { vacant, leader, revision, ..present.clone() });
    }
    is_any.then_some(heads)
}

/// Somebody who leads or led: what is known of it now, if it leads still, and otherwise what its key says.
fn leader(key: &KeyValue, present: Option<&rpc::Place>) -> rpc::Place {
    let known = present.filter(|present| present.token == key.created.0).cloned();
    rpc::Place {
        session: key.session.map(|id| id.to_string()).unwrap_or_default(),
        token: key.created.0,
        value: text(&key.value),
        key: text(&key.key),
        ..known.unwrap_or_default()
    }
}
