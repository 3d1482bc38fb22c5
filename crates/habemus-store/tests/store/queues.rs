//! Locks and elections: who is inside, who is next, and what everybody is told.

use std::num::NonZeroU32;

use bytes::Bytes;
use habemus_store::queue::admitted;
use habemus_store::{
    Command, Delete, Enter, KeyRange, Leave, Mode, Put, SessionId, Store, StoreError, WhenBusy,
};

use crate::support::*;

fn permits(permits: u32) -> Mode {
    Mode::Permits(NonZeroU32::new(permits).expect("tests ask for permits"))
}

#[test]
fn a_lock_is_given_in_the_order_in_which_it_was_asked_for() {
    let mut store = store_with(3);
    let first = entered(&store.apply(at(0), enter("lock", 2, Mode::Exclusive)));
    let second = entered(&store.apply(at(0), enter("lock", 1, Mode::Exclusive)));
    let third = entered(&store.apply(at(0), enter("lock", 3, Mode::Exclusive)));
    assert_eq!((first.granted, second.granted, third.granted), (true, false, false));
    assert!(first.token < second.token && second.token < third.token);
    assert_eq!(granted(&done(store.apply(at(0), leave(&first)))), [second.token]);
    assert_eq!(granted(&done(store.apply(at(0), leave(&second)))), [third.token]);
    let last = done(store.apply(at(0), leave(&third)));
    assert!(last.queues[0].vacant && last.queues[0].name == "lock");
}

#[test]
fn a_waiter_whose_session_ends_leaves_the_queue() {
    let mut store = store_with(3);
    let first = entered(&store.apply(at(0), enter("lock", 1, Mode::Exclusive)));
    store.apply(at(0), enter("lock", 2, Mode::Exclusive));
    let third = entered(&store.apply(at(0), enter("lock", 3, Mode::Exclusive)));
    assert!(granted(&done(store.apply(at(0), close(2)))).is_empty());
    assert_eq!(granted(&done(store.apply(at(0), leave(&first)))), [third.token]);
}

#[test]
fn the_next_one_is_inside_in_the_step_in_which_a_holder_expires() {
    let mut store = store_with(1);
    done(store.apply(at(5), open(2, 100)));
    store.apply(at(5), enter("lock", 1, Mode::Exclusive));
    let second = entered(&store.apply(at(5), enter("lock", 2, Mode::Exclusive)));
    assert_eq!(granted(&done(store.apply(at(10), Command::Tick))), [second.token]);
}

#[test]
fn whoever_asks_again_keeps_its_place_and_token() {
    let mut store = store_with(2);
    let first = entered(&store.apply(at(0), enter("lock", 1, Mode::Exclusive)));
    let second = entered(&store.apply(at(0), enter("lock", 2, Mode::Exclusive)));
    let again = store.apply(at(0), enter("lock", 1, Mode::Exclusive));
    assert_eq!(entered(&again), first);
    assert!(again.revised.is_empty(), "nothing has changed");
    assert_eq!(entered(&store.apply(at(0), enter("lock", 2, Mode::Exclusive))), second);
}

#[test]
fn a_leader_that_stands_again_proclaims_a_new_value() {
    let mut store = store_with(1);
    let stand = |value: &'static str| {
        let (session, mode, when_busy) = (SessionId(1), Mode::Exclusive, WhenBusy::Wait);
        Command::Enter(Enter { name: "chief".into(), session, mode, value: value.into(), when_busy })
    };
    let first = entered(&store.apply(at(0), stand("here")));
    let again = entered(&store.apply(at(0), stand("there")));
    assert_eq!((again.token, again.granted), (first.token, true));
    assert_eq!(store.get(&first.key).expect("it leads").value, "there");
    assert_eq!(inside(&store, "chief"), [1]);
}

#[test]
fn whoever_does_not_wait_is_refused_and_leaves_no_trace() {
    let mut store = store_with(2);
    assert!(entered(&store.apply(at(0), enter_or_refuse("lock", 1, Mode::Exclusive))).granted);
    assert_eq!(refused(&mut store, enter_or_refuse("lock", 2, Mode::Exclusive)), StoreError::Busy);
    assert_eq!(refused(&mut store, enter_or_refuse("lock", 2, Mode::Shared)), StoreError::Busy);
}

#[test]
fn readers_share_and_do_not_overtake_a_writer() {
    let mut store = store_with(4);
    let first = entered(&store.apply(at(0), enter("lock", 1, Mode::Shared)));
    assert!(entered(&store.apply(at(0), enter("lock", 2, Mode::Shared))).granted);
    let writer = entered(&store.apply(at(0), enter("lock", 3, Mode::Exclusive)));
    let late = entered(&store.apply(at(0), enter("lock", 4, Mode::Shared)));
    assert!(!writer.granted && !late.granted);
    assert_eq!(
        refused(&mut store, enter_or_refuse("lock", 9, Mode::Shared)),
        StoreError::SessionNotFound(SessionId(9))
    );
    done(store.apply(at(0), leave(&first)));
    assert_eq!(inside(&store, "lock"), [2]);
    assert_eq!(granted(&done(store.apply(at(0), close(2)))), [writer.token]);
    assert_eq!(granted(&done(store.apply(at(0), leave(&writer)))), [late.token]);
}

#[test]
fn a_reader_behind_a_writer_that_gives_up_goes_in_beside_the_others() {
    let mut store = store_with(3);
    store.apply(at(0), enter("lock", 1, Mode::Shared));
    let writer = entered(&store.apply(at(0), enter("lock", 2, Mode::Exclusive)));
    let reader = entered(&store.apply(at(0), enter("lock", 3, Mode::Shared)));
    assert_eq!(granted(&done(store.apply(at(0), leave(&writer)))), [reader.token]);
    assert_eq!(inside(&store, "lock"), [1, 3]);
}

#[test]
fn a_car_park_lets_in_as_many_as_it_has_permits() {
    let mut store = store_with(4);
    let cars: Vec<_> =
        (1..=4).map(|car| entered(&store.apply(at(0), enter("park", car, permits(2))))).collect();
    assert_eq!(cars.iter().map(|car| car.granted).collect::<Vec<_>>(), [true, true, false, false]);
    assert_eq!(granted(&done(store.apply(at(0), leave(&cars[0])))), [cars[2].token]);
    assert_eq!(inside(&store, "park"), [2, 3]);
}

#[test]
fn those_who_disagree_about_the_number_of_permits_are_not_inside_together() {
    let mut store = store_with(2);
    store.apply(at(0), enter("park", 1, permits(5)));
    assert!(!entered(&store.apply(at(0), enter("park", 2, permits(2)))).granted);
}

#[test]
fn nobody_waits_for_itself() {
    let mut store = store_with(1);
    store.apply(at(0), enter("lock", 1, Mode::Exclusive));
    assert_eq!(refused(&mut store, enter("lock", 1, Mode::Shared)), StoreError::OtherMode(SessionId(1)));
    assert_eq!(refused(&mut store, enter("lock", 1, permits(3))), StoreError::OtherMode(SessionId(1)));
}

#[test]
fn nobody_leaves_for_somebody_else() {
    let mut store = store_with(2);
    let first = entered(&store.apply(at(0), enter("lock", 1, Mode::Exclusive)));
    let second = entered(&store.apply(at(0), enter("lock", 2, Mode::Exclusive)));
    let stale = Command::Leave(Leave { key: first.key.clone(), token: second.token });
    assert_eq!(refused(&mut store, stale), StoreError::NotOwner);
    done(store.apply(at(0), leave(&first)));
    assert_eq!(refused(&mut store, leave(&first)), StoreError::NotOwner);
}

#[test]
fn a_key_that_a_client_of_etcd_put_there_counts() {
    let mut store = store_with(2);
    store.apply(at(0), Command::Put(Put::new("lock/1", "").of(SessionId(1))));
    let second = entered(&store.apply(at(0), enter("lock", 2, Mode::Exclusive)));
    assert!(!second.granted);
    let unlock = Command::Delete(Delete { keys: KeyRange::One("lock/1".into()) });
    assert_eq!(granted(&store.apply(at(0), unlock)), [second.token]);
}

#[test]
fn any_key_under_the_name_keeps_others_out_until_it_goes() {
    let mut store = store_with(1);
    store.apply(at(0), Command::Put(Put::new("lock/by-hand", "")));
    assert_eq!(refused(&mut store, enter_or_refuse("lock", 1, Mode::Exclusive)), StoreError::Busy);
    let waiting = entered(&store.apply(at(0), enter("lock", 1, Mode::Exclusive)));
    assert!(!waiting.granted);
    let delete = Command::Delete(Delete { keys: KeyRange::One("lock/by-hand".into()) });
    assert_eq!(granted(&store.apply(at(0), delete)), [waiting.token]);
}

#[test]
fn a_name_below_a_name_keeps_the_upper_one_busy_as_in_etcd() {
    let mut store = store_with(2);
    let lower = entered(&store.apply(at(0), enter("a/b", 1, Mode::Exclusive)));
    let upper = entered(&store.apply(at(0), enter("a", 2, Mode::Exclusive)));
    assert!(lower.granted && !upper.granted);
    assert_eq!(granted(&done(store.apply(at(0), leave(&lower)))), [upper.token]);
}

#[test]
fn the_key_of_an_entry_is_the_one_that_etcd_would_take() {
    let mut store = store_with(0);
    done(store.apply(at(0), open(0x694d_7f2a, 10)));
    let first = entered(&store.apply(at(0), enter("lock", 0x694d_7f2a, Mode::Exclusive)));
    assert_eq!(first.key, Bytes::from_static(b"lock/694d7f2a"));
}

#[test]
fn a_key_that_is_taken_from_its_session_counts_as_one_that_wants_to_be_alone() {
    let mut store = store_with(2);
    store.apply(at(0), enter("lock", 1, Mode::Shared));
    store.apply(at(0), enter("lock", 2, Mode::Shared));
    store.apply(at(0), Command::Put(Put::new("lock/1;shared", "")));
    assert_eq!(
        store.queue(b"lock").iter().map(habemus_store::Standing::is_inside).collect::<Vec<_>>(),
        [true, false]
    );
    // Who is inside follows from the keys alone, so that whoever starts from a snapshot agrees.
    assert_eq!(Store::from_bytes(&store.to_bytes()).as_ref(), Ok(&store));
}

#[test]
fn handing_over_names_nobody_but_the_next_in_a_long_queue() {
    let mut store = store_with(2000);
    let first = entered(&store.apply(at(0), enter("lock", 1, Mode::Exclusive)));
    let others: Vec<_> =
        (2..=2000).map(|id| entered(&store.apply(at(0), enter("lock", id, Mode::Exclusive)))).collect();
    let applied = done(store.apply(at(0), leave(&first)));
    assert_eq!(granted(&applied), [others[0].token]);
    assert_eq!(applied.revised[0].events.len(), 1);
}

#[test]
fn since_when_somebody_waits_and_is_inside_is_known_and_survives_a_snapshot() {
    let mut store = store_with(2);
    store.apply(at(1), enter("lock", 1, Mode::Exclusive));
    store.apply(at(2), enter("lock", 2, Mode::Exclusive));
    store.apply(at(5), Command::CloseSession { id: SessionId(1) });
    let restored = Store::from_bytes(&store.to_bytes()).expect("it was just written");
    for store in [store, restored] {
        let standing = store.queue(b"lock");
        assert_eq!((standing[0].since, standing[0].inside_since), (at(2), Some(at(5))));
    }
}

#[test]
fn the_rule_of_who_is_inside_can_be_had_without_a_store() {
    let (exclusive, shared) = (Mode::Exclusive, Mode::Shared);
    assert_eq!(admitted([]), 0);
    assert_eq!(admitted([exclusive, exclusive]), 1);
    assert_eq!(admitted([shared, shared, exclusive, shared]), 2);
    assert_eq!(admitted([permits(2), permits(2), permits(2)]), 2);
    assert_eq!(admitted([permits(2), permits(3)]), 1);
}

#[test]
fn whoever_stood_in_a_queue_when_a_backup_was_made_asks_anew_and_tokens_grow() {
    let mut store = store_with(4);
    let inside = entered(&store.apply(at(0), enter("lock", 1, Mode::Exclusive)));
    store.apply(at(0), enter("lock", 2, Mode::Exclusive));
    let kept = Put::new("kept", "x").of(SessionId(3));
    store.apply(at(0), Command::Put(kept));
    let backup = store.clone();
    // What the old cluster does after the backup: two come and go.
    store.apply(at(1), close(1));
    store.apply(at(1), close(2));
    let last = entered(&store.apply(at(1), enter("lock", 3, Mode::Exclusive)));

    let mut restored = backup.restored(100);
    assert!(restored.queue(b"lock").is_empty(), "nobody is let in with a token of then");
    assert_eq!(refused(&mut restored, enter("lock", 1, Mode::Exclusive)), no_session(1));
    assert_eq!(restored.sessions().collect::<Vec<_>>(), [SessionId(3), SessionId(4)]);
    assert!(restored.get(b"kept").is_some());
    let next = entered(&restored.apply(at(1), enter("lock", 4, Mode::Exclusive)));
    assert!(next.granted && next.token > last.token && last.token > inside.token);
    let read = Store::from_bytes(&restored.to_bytes()).expect("it was just written");
    assert_eq!(read, restored);
}

fn no_session(id: i64) -> StoreError {
    StoreError::SessionNotFound(SessionId(id))
}
