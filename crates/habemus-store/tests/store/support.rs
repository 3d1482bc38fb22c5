//! Shorthand for the tests.

use std::time::Duration;

use habemus_store::{
    Answer, Applied, ClusterTime, Command, Enter, Entered, Leave, Mode, Revision, SessionId, Store,
    StoreError, WhenBusy,
};

pub(crate) fn at(seconds: u64) -> ClusterTime {
    ClusterTime(Duration::from_secs(seconds))
}

pub(crate) fn open(id: i64, seconds: u64) -> Command {
    Command::OpenSession { id: SessionId(id), ttl: Duration::from_secs(seconds) }
}

pub(crate) fn close(id: i64) -> Command {
    Command::CloseSession { id: SessionId(id) }
}

pub(crate) fn enter(name: &'static str, session: i64, mode: Mode) -> Command {
    let (session, when_busy) = (SessionId(session), WhenBusy::Wait);
    Command::Enter(Enter { name: name.into(), session, mode, value: "".into(), when_busy })
}

pub(crate) fn enter_or_refuse(name: &'static str, session: i64, mode: Mode) -> Command {
    let (session, when_busy) = (SessionId(session), WhenBusy::Refuse);
    Command::Enter(Enter { name: name.into(), session, mode, value: "".into(), when_busy })
}

pub(crate) fn leave(entered: &Entered) -> Command {
    Command::Leave(Leave { key: entered.key.clone(), token: entered.token })
}

/// A store with sessions 1 to `sessions`, which last for ten seconds.
pub(crate) fn store_with(sessions: i64) -> Store {
    let mut store = Store::new();
    for id in 1..=sessions {
        done(store.apply(at(0), open(id, 10)));
    }
    store
}

pub(crate) fn done(applied: Applied) -> Applied {
    assert_eq!(applied.answer, Ok(Answer::Done));
    applied
}

pub(crate) fn entered(applied: &Applied) -> Entered {
    match &applied.answer {
        Ok(Answer::Entered(entered)) => entered.clone(),
        other => panic!("nobody entered: {other:?}"),
    }
}

/// Applies a command that must be refused, and sees that nothing has changed.
pub(crate) fn refused(store: &mut Store, command: Command) -> StoreError {
    let before = store.clone();
    let applied = store.apply(store.now(), command);
    assert_eq!(*store, before, "what is refused changes nothing");
    assert!(applied.revised.is_empty() && applied.queues.is_empty() && applied.ended.is_empty());
    applied.answer.expect_err("it must be refused")
}

/// The sessions inside, as the keys of the queue name them.
pub(crate) fn inside(store: &Store, name: &str) -> Vec<i64> {
    let standing = store.queue(name.as_bytes()).into_iter().filter(habemus_store::Standing::is_inside);
    standing.filter_map(|it| it.session).map(|session| session.0).collect()
}

pub(crate) fn granted(applied: &Applied) -> Vec<Revision> {
    applied.queues.iter().flat_map(|change| &change.granted).map(|grant| grant.token).collect()
}
