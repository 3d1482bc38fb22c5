//! Transactions: all or nothing, decided before anything is written.

use habemus_store::{
    Answer, Command, Compare, Delete, KeyRange, MAX_OPERATIONS, Operand, Operation, Outcome, Put, Range,
    Relation, Revision, SessionId, SortBy, SortOrder, Store, StoreError, Txn, TxnAnswer,
};

use crate::support::*;

fn put(key: &'static str) -> Operation {
    Operation::Put(Put::new(key, "x"))
}

fn delete(key: &'static str) -> Operation {
    Operation::Delete(Delete { keys: KeyRange::One(key.into()) })
}

fn is(key: &'static str, operand: Operand) -> Compare {
    Compare { keys: KeyRange::One(key.into()), relation: Relation::Equal, operand }
}

fn then(then: Vec<Operation>) -> Txn {
    Txn { then, ..Txn::default() }
}

fn transact(store: &mut Store, txn: Txn) -> TxnAnswer {
    match store.apply(at(0), Command::Txn(txn)).answer {
        Ok(Answer::Txn(answer)) => answer,
        other => panic!("no transaction: {other:?}"),
    }
}

#[test]
fn a_transaction_is_one_revision_and_sees_what_it_wrote() {
    let mut store = Store::new();
    let read = Operation::Range(Range::of(KeyRange::prefix("k")));
    let answer = transact(&mut store, then(vec![read.clone(), put("k1"), put("k2"), read]));
    let revisions: Vec<u64> = answer.answers.iter().map(|it| it.revision.0).collect();
    assert_eq!(revisions, [1, 2, 2, 2]);
    let Outcome::Found(found) = &answer.answers[3].outcome else { panic!("the last one reads") };
    assert_eq!(found.keys.iter().map(|it| it.created).collect::<Vec<_>>(), [Revision(2), Revision(2)]);
    assert_eq!(store.revision(), Revision(2));
}

#[test]
fn a_transaction_that_writes_nothing_is_no_revision() {
    let mut store = Store::new();
    transact(&mut store, then(vec![delete("a"), Operation::Range(Range::of(KeyRange::One("a".into())))]));
    assert_eq!(store.revision(), Revision::FIRST);
}

#[test]
fn a_key_that_is_not_there_has_zeros_and_no_value() {
    let mut store = Store::new();
    for (operand, holds) in [
        (Operand::Version(0), true),
        (Operand::Created(Revision(0)), true),
        (Operand::Modified(Revision(0)), true),
        (Operand::Session(SessionId(0)), true),
        (Operand::Value("".into()), false),
        (Operand::Version(1), false),
    ] {
        let txn = Txn { compare: vec![is("a", operand.clone())], ..Txn::default() };
        assert_eq!(transact(&mut store, txn).succeeded, holds, "{operand:?}");
    }
}

#[test]
fn a_comparison_of_many_keys_holds_for_each() {
    let mut store = Store::new();
    for key in ["k1", "k2"] {
        store.apply(at(0), Command::Put(Put::new(key, "x")));
    }
    let all = |relation, revision| Txn {
        compare: vec![Compare {
            keys: KeyRange::prefix("k"),
            relation,
            operand: Operand::Created(Revision(revision)),
        }],
        ..Txn::default()
    };
    assert!(transact(&mut store, all(Relation::Less, 4)).succeeded);
    assert!(!transact(&mut store, all(Relation::Less, 3)).succeeded);
    assert!(transact(&mut store, all(Relation::Greater, 1)).succeeded);
    assert!(!transact(&mut store, all(Relation::NotEqual, 2)).succeeded);
}

#[test]
fn an_inner_transaction_compares_with_what_was_before_the_outer_one() {
    let mut store = Store::new();
    let inner = Txn {
        compare: vec![is("a", Operand::Created(Revision(0)))],
        then: vec![put("there-was-no-a")],
        otherwise: vec![put("there-was-an-a")],
    };
    transact(&mut store, then(vec![put("a"), Operation::Txn(inner)]));
    assert!(store.get(b"there-was-no-a").is_some() && store.get(b"there-was-an-a").is_none());
}

#[test]
fn no_key_is_written_twice() {
    let mut store = Store::new();
    let either = |one, other| Operation::Txn(Txn { compare: vec![], then: one, otherwise: other });
    for twice in [
        vec![put("a"), put("a")],
        vec![put("a"), delete("a")],
        vec![delete("a"), put("a")],
        vec![put("a"), either(vec![put("a")], vec![])],
        vec![either(vec![put("a")], vec![]), either(vec![], vec![put("a")])],
        vec![delete("a"), either(vec![], vec![put("a")])],
    ] {
        let error = refused(&mut store, Command::Txn(then(twice.clone())));
        assert_eq!(error, StoreError::DuplicateKey, "{twice:?}");
    }
    transact(&mut store, then(vec![either(vec![put("a")], vec![put("a")])]));
    transact(&mut store, then(vec![delete("a"), delete("a")]));
}

#[test]
fn one_operation_that_cannot_be_done_undoes_all() {
    let mut store = Store::new();
    let orphan = Operation::Put(Put::new("b", "x").of(SessionId(9)));
    let error = refused(&mut store, Command::Txn(then(vec![put("a"), orphan.clone()])));
    assert_eq!(error, StoreError::SessionNotFound(SessionId(9)));
    let future = Operation::Range(Range { at: Some(Revision(7)), ..Range::of(KeyRange::One("a".into())) });
    let error = refused(&mut store, Command::Txn(then(vec![put("a"), future])));
    assert_eq!(error, StoreError::Future(Revision(1)));
    // On the way that is not taken nothing has to be possible.
    let txn = Txn { compare: vec![], then: vec![put("a")], otherwise: vec![orphan] };
    assert!(transact(&mut store, txn).succeeded);
}

#[test]
fn too_many_operations_are_refused_however_deep_they_stand() {
    let mut store = Store::new();
    let many = |count| (0..count).map(|_| delete("a")).collect::<Vec<_>>();
    transact(&mut store, then(many(MAX_OPERATIONS)));
    let error = refused(&mut store, Command::Txn(then(many(MAX_OPERATIONS + 1))));
    assert_eq!(error, StoreError::TooManyOperations);
    let nested = then(vec![Operation::Txn(then(many(MAX_OPERATIONS)))]);
    assert_eq!(refused(&mut store, Command::Txn(nested)), StoreError::TooManyOperations);
}

#[test]
fn an_empty_key_is_refused_wherever_it_stands() {
    let mut store = Store::new();
    for operation in [put(""), delete(""), Operation::Range(Range::of(KeyRange::One("".into())))] {
        assert_eq!(refused(&mut store, Command::Txn(then(vec![operation]))), StoreError::EmptyKey);
    }
    let compare = Txn { compare: vec![is("", Operand::Version(0))], ..Txn::default() };
    assert_eq!(refused(&mut store, Command::Txn(compare)), StoreError::EmptyKey);
    assert_eq!(refused(&mut store, Command::Put(Put::new("", "x"))), StoreError::EmptyKey);
    let delete = Command::Delete(Delete { keys: KeyRange::One("".into()) });
    assert_eq!(refused(&mut store, delete), StoreError::EmptyKey);
}

#[test]
fn a_limit_leaves_out_and_says_so_and_counts_all() {
    let mut store = Store::new();
    for (key, value) in [("k1", "c"), ("k2", "a"), ("k3", "b")] {
        store.apply(at(0), Command::Put(Put::new(key, value)));
    }
    let range = Range {
        limit: Some(2),
        sort: Some((SortBy::Value, SortOrder::Descending)),
        ..Range::of(KeyRange::prefix("k"))
    };
    let found = store.range(&range).expect("it makes sense");
    assert_eq!(found.keys.iter().map(|it| &it.value[..]).collect::<Vec<_>>(), [b"c", b"b"]);
    assert_eq!((found.more, found.count), (true, 3));
    let late = Range { min_created: Some(Revision(3)), ..Range::of(KeyRange::prefix("k")) };
    let found = store.range(&late).expect("it makes sense");
    assert_eq!((found.keys.len(), found.more, found.count), (2, false, 3));
}

#[test]
fn what_a_transaction_did_twice_to_a_key_is_told_alike_by_a_snapshot_when_nothing_before_is_known() {
    let mut store = Store::new();
    transact(&mut store, then(vec![put("a"), put("b")]));
    let all = Operation::Delete(Delete { keys: KeyRange::From("a".into()) });
    transact(&mut store, then(vec![put("b"), all]));
    let last = store.revision();
    done(store.apply(at(0), Command::Compact(last)));
    let told = |store: &Store| store.since(last).expect("it is known").cloned().collect::<Vec<_>>();
    assert_eq!(told(&store)[0].events.len(), 3);
    let mut copy = Store::from_bytes(&store.to_bytes()).expect("it was written by a store");
    assert_eq!(told(&copy), told(&store));
    for store in [&mut store, &mut copy] {
        transact(store, then(vec![put("c")]));
        done(store.apply(at(0), Command::Compact(Revision(last.0 + 1))));
    }
    assert_eq!(copy, store, "what was forgotten is forgotten by both");
}
