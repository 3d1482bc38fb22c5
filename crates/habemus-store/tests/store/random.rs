//! Whatever is applied, the store stays what it must be.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::time::Duration;

use bytes::Bytes;
use habemus_store::{
    Answer, ClusterTime, Command, Compare, Delete, Enter, Given, KeyRange, Leave, Mode, Operand, Operation,
    Put, Range, Relation, Revision, SessionId, SnapshotError, Store, Txn, WhenBusy,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

fn keys() -> impl Strategy<Value = Bytes> {
    select(&["a", "b", "lock/1", "lock/x", "lock/2;shared", "lock/deep/3"][..]).prop_map(Bytes::from)
}

fn ranges() -> impl Strategy<Value = KeyRange> {
    prop_oneof![
        keys().prop_map(KeyRange::One),
        keys().prop_map(KeyRange::prefix),
        (keys(), keys()).prop_map(|(first, end)| KeyRange::Between(first, end)),
        keys().prop_map(KeyRange::From),
    ]
}

fn sessions() -> impl Strategy<Value = SessionId> {
    (1_i64..6).prop_map(SessionId)
}

fn puts() -> impl Strategy<Value = Put> {
    let value =
        prop_oneof![Just(Given::Present), select(&["", "x"][..]).prop_map(|it| Given::New(it.into()))];
    let session = prop_oneof![Just(Given::Present), proptest::option::of(sessions()).prop_map(Given::New)];
    (keys(), value, session).prop_map(|(key, value, session)| Put { key, value, session })
}

fn modes() -> impl Strategy<Value = Mode> {
    let two = NonZeroU32::MIN.saturating_add(1);
    select(vec![Mode::Exclusive, Mode::Shared, Mode::Permits(two)])
}

fn operations() -> impl Strategy<Value = Operation> {
    prop_oneof![
        puts().prop_map(Operation::Put),
        ranges().prop_map(|keys| Operation::Delete(Delete { keys })),
        ranges().prop_map(|keys| Operation::Range(Range::of(keys))),
    ]
}

fn transactions() -> impl Strategy<Value = Txn> {
    let compare = (ranges(), 0_u64..3).prop_map(|(keys, version)| Compare {
        keys,
        relation: Relation::Equal,
        operand: Operand::Version(version),
    });
    (vec(compare, 0..2), vec(operations(), 0..4), vec(operations(), 0..4))
        .prop_map(|(compare, then, otherwise)| Txn { compare, then, otherwise })
}

fn names() -> impl Strategy<Value = Bytes> {
    select(&["lock", "lock/deep", "other"][..]).prop_map(Bytes::from)
}

fn commands() -> impl Strategy<Value = Command> {
    let enter = (names(), sessions(), modes(), select(vec![WhenBusy::Wait, WhenBusy::Refuse]));
    prop_oneof![
        2 => puts().prop_map(Command::Put),
        1 => ranges().prop_map(|keys| Command::Delete(Delete { keys })),
        2 => transactions().prop_map(Command::Txn),
        1 => (0_u64..40).prop_map(|revision| Command::Compact(Revision(revision))),
        3 => (sessions(), 1_u64..20)
            .prop_map(|(id, ttl)| Command::OpenSession { id, ttl: Duration::from_secs(ttl) }),
        1 => sessions().prop_map(|id| Command::CloseSession { id }),
        1 => vec(sessions(), 0..3).prop_map(Command::RenewSessions),
        6 => enter.prop_map(|(name, session, mode, when_busy)| {
            Command::Enter(Enter { name, session, mode, value: Bytes::new(), when_busy })
        }),
        3 => (keys(), 1_u64..40)
            .prop_map(|(key, token)| Command::Leave(Leave { key, token: Revision(token) })),
        1 => Just(Command::Tick),
    ]
}

proptest! {
    #[test]
    fn a_snapshot_is_the_store_again(steps in vec((0_u64..3, commands()), 1..60)) {
        let mut store = Store::new();
        let mut now = 0;
        for (later, command) in steps {
            now += later;
            store.apply(ClusterTime(Duration::from_secs(now)), command);
            prop_assert_eq!(&Store::from_bytes(&store.to_bytes()).expect("it was written by a \
                store"), &store);
        }
    }

    #[test]
    fn what_is_refused_changes_nothing_and_what_is_done_is_told(steps in vec(commands(), 1..60)) {
        let mut store = Store::new();
        for command in steps {
            let before = store.clone();
            let applied = store.apply(store.now(), command);
            prop_assert_eq!(applied.revision, store.revision());
            let told: Vec<Revision> = applied.revised.iter().map(|revised| revised.revision).collect();
            let new: Vec<Revision> = (before.revision().0 + 1..=store.revision().0).map(Revision).collect();
            prop_assert_eq!(told, new);
            if applied.answer.is_err() {
                prop_assert_eq!(&store, &before);
            }
        }
    }

    #[test]
    fn tokens_of_a_name_grow_with_every_grant(steps in vec((0_u64..3, commands()), 1..80)) {
        let mut store = Store::new();
        let mut now = 0;
        let mut last: BTreeMap<Bytes, Revision> = BTreeMap::new();
        for (later, command) in steps {
            now += later;
            // Whoever takes a key of a queue from its session, or gives it another, lets everybody in anew.
            if matches!(command, Command::Put(_) | Command::Txn(_)) {
                continue;
            }
            let applied = store.apply(ClusterTime(Duration::from_secs(now)), command);
            for change in &applied.queues {
                for grant in &change.granted {
                    let earlier = last.insert(change.name.clone(), grant.token);
                    prop_assert!(earlier.is_none_or(|earlier| earlier < grant.token));
                }
            }
            if let Ok(Answer::Entered(entered)) = &applied.answer {
                let standing = store.queue(&name_of(&entered.key));
                let mine = standing.iter().find(|it| it.key == entered.key).expect("it has entered");
                prop_assert_eq!((mine.token, mine.is_inside()), (entered.token, entered.granted));
            }
        }
    }

    #[test]
    fn bytes_that_are_no_snapshot_are_refused_and_never_stop_us(bytes in vec(any::<u8>(), 0..200)) {
        let mut form_one = 1_u32.to_le_bytes().to_vec();
        form_one.extend(&bytes);
        drop(Store::from_bytes(&form_one));
        drop(Store::from_bytes(&bytes));
    }
}

fn name_of(key: &Bytes) -> Bytes {
    let slash = key.iter().rposition(|&byte| byte == b'/').expect("keys of queues have a slash");
    key.slice(..slash)
}

#[test]
fn a_snapshot_of_another_form_is_refused_by_name() {
    let mut bytes = Store::new().to_bytes();
    bytes[0] = 9;
    assert_eq!(Store::from_bytes(&bytes), Err(SnapshotError::Form(9)));
    assert!(matches!(Store::from_bytes(&bytes[..2]), Err(SnapshotError::Damaged(_))));
}
