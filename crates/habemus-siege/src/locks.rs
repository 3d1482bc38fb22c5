//! Clients that hold locks by the service's own client for Rust, and believe to be inside as long as it tells
//! them so.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use habemus_client::{Client, Credentials, Session, Wait};
use habemus_dst::Inside;
use habemus_store::{Mode, Revision};

use crate::clients::Pace;
use crate::record::Record;

/// How long a session lasts: short, so that many end.
const TTL: Duration = Duration::from_secs(2);

/// Enters a lock again and again, until it is to stop.
pub(crate) async fn hold(
    addresses: Vec<String>,
    credentials: Credentials,
    name: &'static str,
    client: usize,
    record: Arc<Record>,
    pace: Pace,
) {
    while !record.is_stopping() {
        let way = Client::connect_as(&addresses, &credentials);
        let entered = match way {
            Ok(way) => attempt(&way, name, client, &record, pace).await,
            Err(_) => None,
        };
        if entered.is_none() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

/// One session with several entries; `None` when something failed.
async fn attempt(way: &Client, name: &'static str, client: usize, record: &Record, pace: Pace) -> Option<()> {
    let session = tokio::time::timeout(Duration::from_secs(5), way.session(TTL)).await.ok()?.ok()?;
    let mut outcome = Some(());
    for entry in 0..20 {
        if record.is_stopping() {
            break;
        }
        outcome = enter(&session, name, client, entry, record).await;
        if outcome.is_none() {
            break;
        }
        if pace == Pace::Slow {
            pace.rest(20).await;
        }
    }
    drop(tokio::time::timeout(Duration::from_secs(1), session.close()).await);
    outcome
}

async fn enter(
    session: &Session,
    name: &'static str,
    client: usize,
    entry: u64,
    record: &Record,
) -> Option<()> {
    let guard = session.lock(name, Wait::For(Duration::from_secs(10))).await.ok()?;
    // The client counts by a clock of its own, of which only differences mean something here.
    let (from, local) = (record.now(), habemus_client::now());
    let on_record = |at: Duration| {
        let later = at.saturating_sub(local);
        from + u64::try_from(later.as_micros()).unwrap_or(u64::MAX / 2)
    };
    let stay = Duration::from_millis(5 + (client as u64 * 7 + entry * 13) % 60);
    let valid_until = session.valid_until();
    let kept = tokio::select! {
        () = session.lost() => false,
        () = tokio::time::sleep(stay) => true,
    };
    // Who was told too late that it was lost has believed in it no longer than its own clock allowed.
    let until = match session.valid_until() {
        Some(_) if kept => record.now(),
        _ => valid_until.map_or(from, on_record).min(record.now()),
    };
    let token = Revision(u64::try_from(guard.token()).unwrap_or_default());
    let inside = Inside {
        client,
        name: Bytes::from_static(name.as_bytes()),
        mode: Mode::Exclusive,
        token,
        from,
        until,
    };
    record.note(|parts| {
        parts.inside.push(inside);
        parts.locks_lost += u64::from(!kept);
    });
    let left = tokio::time::timeout(Duration::from_secs(2), guard.release()).await;
    left.ok()?.ok().map(drop)
}
