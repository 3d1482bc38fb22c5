//! Sessions end when they are closed or not renewed, and take their keys with them.

use std::time::Duration;

use habemus_store::{Answer, Command, Given, Put, Revision, SessionId, Store, StoreError};

use crate::support::*;

#[test]
fn a_session_ends_at_its_deadline_and_not_before() {
    let mut store = store_with(1);
    done(store.apply(at(9), Command::Tick));
    assert!(store.session(SessionId(1)).is_some());
    let applied = done(store.apply(at(10), Command::Tick));
    assert_eq!(applied.ended, [SessionId(1)]);
    assert_eq!(store.session(SessionId(1)), None);
}

#[test]
fn a_renewed_session_lasts_its_whole_time_from_then_on() {
    let mut store = store_with(1);
    let renewed = store.apply(at(9), Command::RenewSessions(vec![SessionId(1), SessionId(5)])).answer;
    let expected = vec![(SessionId(1), Some(Duration::from_secs(10))), (SessionId(5), None)];
    assert_eq!(renewed, Ok(Answer::Renewed(expected)));
    assert!(done(store.apply(at(18), Command::Tick)).ended.is_empty());
    assert_eq!(done(store.apply(at(19), Command::Tick)).ended, [SessionId(1)]);
}

#[test]
fn a_session_that_has_ended_is_not_revived() {
    let mut store = store_with(1);
    let renewed = store.apply(at(10), Command::RenewSessions(vec![SessionId(1)]));
    assert_eq!(renewed.ended, [SessionId(1)], "its time was over before the renewal came");
    assert_eq!(renewed.answer, Ok(Answer::Renewed(vec![(SessionId(1), None)])));
}

#[test]
fn what_the_first_version_wrote_is_still_read() {
    let mut store = store_with(1);
    let attached = Put { session: Given::New(Some(SessionId(1))), ..Put::new("key", "value") };
    store.apply(at(1), Command::Put(attached)).answer.expect("its session is there");
    let now = store.to_bytes();
    // It had neither who stands in queues, of whom there is nobody, nor its place.
    let (_, written) = now.split_first_chunk::<4>().expect("it begins with its form");
    let first = [&1u32.to_le_bytes(), &written[..written.len() - 1]].concat();
    assert_eq!(Store::from_bytes(&first).as_ref(), Ok(&store));
}

#[test]
fn time_that_goes_back_counts_as_no_time() {
    let mut store = store_with(0);
    done(store.apply(at(100), open(1, 10)));
    done(store.apply(at(50), Command::Tick));
    assert_eq!(store.now(), at(100));
    assert!(done(store.apply(at(109), Command::Tick)).ended.is_empty());
}

#[test]
fn all_keys_of_a_session_go_in_one_revision() {
    let mut store = store_with(2);
    for key in ["a", "b"] {
        store.apply(at(0), Command::Put(Put::new(key, "x").of(SessionId(1))));
    }
    store.apply(at(0), Command::Put(Put::new("c", "x").of(SessionId(2))));
    let applied = done(store.apply(at(1), close(1)));
    assert_eq!(applied.revised.len(), 1);
    let gone: Vec<_> = applied.revised[0].events.iter().map(|event| (&event.key[..], &event.now)).collect();
    assert_eq!(gone, [(&b"a"[..], &None), (&b"b"[..], &None)]);
    assert!(store.get(b"c").is_some());
}

#[test]
fn the_end_of_a_session_without_keys_is_no_revision() {
    let mut store = store_with(1);
    assert!(done(store.apply(at(1), close(1))).revised.is_empty());
    assert_eq!(store.revision(), Revision::FIRST);
}

#[test]
fn a_key_that_is_written_for_another_session_goes_with_that_one() {
    let mut store = store_with(2);
    store.apply(at(0), Command::Put(Put::new("a", "x").of(SessionId(1))));
    store.apply(at(0), Command::Put(Put::new("a", "y").of(SessionId(2))));
    done(store.apply(at(1), close(1)));
    assert!(store.get(b"a").is_some());
    done(store.apply(at(1), close(2)));
    assert!(store.get(b"a").is_none());
}

#[test]
fn what_is_kept_of_a_key_must_be_there() {
    let mut store = store_with(1);
    let keep_value = Put { value: Given::Present, ..Put::new("a", "") };
    assert_eq!(refused(&mut store, Command::Put(keep_value.clone())), StoreError::KeyNotFound);
    store.apply(at(0), Command::Put(Put::new("a", "x")));
    store.apply(at(0), Command::Put(keep_value.of(SessionId(1))));
    let key = store.get(b"a").expect("it was put");
    assert_eq!((&key.value[..], key.session, key.version), (&b"x"[..], Some(SessionId(1)), 2));
    store.apply(at(0), Command::Put(Put { session: Given::Present, ..Put::new("a", "z") }));
    let key = store.get(b"a").expect("it was put");
    assert_eq!((&key.value[..], key.session), (&b"z"[..], Some(SessionId(1))));
}

#[test]
fn sessions_that_make_no_sense_are_refused() {
    let mut store = store_with(1);
    assert_eq!(refused(&mut store, open(1, 10)), StoreError::SessionExists(SessionId(1)));
    assert_eq!(refused(&mut store, open(2, u64::MAX)), StoreError::TtlTooLong);
    assert_eq!(refused(&mut store, close(7)), StoreError::SessionNotFound(SessionId(7)));
    let put = Command::Put(Put::new("a", "x").of(SessionId(7)));
    assert_eq!(refused(&mut store, put), StoreError::SessionNotFound(SessionId(7)));
}

#[test]
fn the_next_deadline_is_the_earliest_one() {
    let mut store = store_with(1);
    done(store.apply(at(1), open(2, 3)));
    assert_eq!(store.next_deadline(), Some(at(4)));
    done(store.apply(at(1), close(2)));
    assert_eq!(store.next_deadline(), Some(at(10)));
}
