//! Users, roles, and what they may do.

use habemus_store::{
    Access, Acting, AuthCommand, AuthError, Author, Command, Delete, Enter, Given, KeyRange, Leave, Mode,
    Operation, Permission, Put, Revision, SessionId, Store, StoreError, Txn, WhenBusy,
};
use std::time::Duration;

fn apply(store: &mut Store, command: Command) -> Result<(), StoreError> {
    store.apply(store.now(), command).answer.map(drop)
}

fn by(name: &str, command: Command) -> Command {
    Command::As(Author::User(Acting::named(name)), Box::new(command))
}

fn put(key: &'static str) -> Command {
    Command::Put(Put::new(key, "value"))
}

const DENIED: Result<(), StoreError> = Err(StoreError::Auth(AuthError::Denied));

/// `root` may do everything, `alice` may write `a/…` and read `c`.
fn guarded() -> Store {
    let mut store = Store::new();
    let text = str::to_owned;
    let permit = |keys, access| AuthCommand::Permit(text("role"), Permission { keys, access });
    for command in [
        AuthCommand::AddUser(text("root"), Some(text("hash"))),
        AuthCommand::GrantRole(text("root"), text("root")),
        AuthCommand::AddUser(text("alice"), Some(text("hash"))),
        AuthCommand::AddRole(text("role")),
        permit(KeyRange::prefix("a/"), Access::ReadWrite),
        permit(KeyRange::One("c".into()), Access::Read),
        permit(KeyRange::One("d".into()), Access::Write),
        AuthCommand::GrantRole(text("alice"), text("role")),
        AuthCommand::Enable { secret: vec![1] },
    ] {
        apply(&mut store, Command::Auth(command)).expect("nobody need be asked yet");
    }
    store
}

#[test]
fn nobody_does_anything_without_saying_who_it_is() {
    let mut store = guarded();
    let empty = Err(StoreError::Auth(AuthError::UserEmpty));
    assert_eq!(apply(&mut store, put("a/1")), empty);
    assert_eq!(apply(&mut store, Command::Compact(Revision(1))), empty);
    assert_eq!(apply(&mut store, Command::Auth(AuthCommand::Disable)), empty);
    let stranger = Command::As(Author::Stranger, Box::new(put("a/1")));
    assert_eq!(apply(&mut store, stranger), Err(StoreError::Auth(AuthError::Token)));
    assert_eq!(apply(&mut store, Command::Tick), Ok(()), "time passes for everybody");
    assert_eq!(apply(&mut store, Command::As(Author::Member, Box::new(put("z")))), Ok(()));
}

#[test]
fn a_user_writes_what_its_roles_allow() {
    let mut store = guarded();
    let mut may = |command: Command| apply(&mut store, by("alice", command));
    assert_eq!(may(put("a/1")), Ok(()));
    assert_eq!(may(put("b")), DENIED);
    assert_eq!(may(put("c")), DENIED, "it may only read it");
    assert_eq!(may(Command::Delete(Delete { keys: KeyRange::prefix("a/") })), Ok(()));
    assert_eq!(may(Command::Delete(Delete { keys: KeyRange::prefix("a") })), DENIED);
    assert_eq!(may(Command::Compact(Revision(1))), DENIED);
    assert_eq!(may(by("root", put("b"))), DENIED, "nobody speaks for somebody else");
    let nested = Txn { then: vec![Operation::Put(Put::new("b", ""))], ..Txn::default() };
    assert_eq!(may(Command::Txn(Txn { then: vec![Operation::Txn(nested)], ..Txn::default() })), DENIED);
    let mut acting = Acting::named("alice");
    acting.shown = vec![KeyRange::One("d".into())];
    assert_eq!(may(put("d")), Ok(()));
    let shown = Command::As(Author::User(acting), Box::new(put("d")));
    assert_eq!(apply(&mut store, shown), DENIED, "it may write it, and not see what it was");
}

#[test]
fn a_session_is_as_guarded_as_its_keys() {
    let mut store = guarded();
    let id = SessionId(7);
    apply(&mut store, by("root", Command::OpenSession { id, ttl: Duration::from_secs(9) })).expect("it may");
    let with = |key: &'static str| Command::Put(Put { session: Given::New(Some(id)), ..Put::new(key, "") });
    let enter = |name: &'static str| {
        let (mode, when_busy) = (Mode::Exclusive, WhenBusy::Wait);
        Command::Enter(Enter { name: name.into(), session: id, mode, value: "".into(), when_busy })
    };
    assert_eq!(apply(&mut store, by("alice", with("a/1"))), Ok(()), "it has no keys yet");
    assert_eq!(apply(&mut store, by("alice", enter("b"))), DENIED);
    assert_eq!(apply(&mut store, by("alice", enter("a/lock"))), Ok(()));
    apply(&mut store, by("root", with("b"))).expect("it may");
    assert_eq!(apply(&mut store, by("alice", with("a/2"))), DENIED);
    assert_eq!(apply(&mut store, by("alice", enter("a/other"))), DENIED);
    assert_eq!(apply(&mut store, by("alice", Command::CloseSession { id })), DENIED);
    let leave = Leave { key: "b".into(), token: store.get(b"b").expect("it was put").created };
    assert_eq!(apply(&mut store, by("alice", Command::Leave(leave))), DENIED);
    assert_eq!(apply(&mut store, by("root", Command::CloseSession { id })), Ok(()));
}

#[test]
fn what_is_taken_back_counts_at_once_and_a_new_password_ends_old_tokens() {
    let mut store = guarded();
    let since = store.auth().user("alice").expect("she is there").since;
    let known = Acting { since: Some(since), ..Acting::named("alice") };
    let as_known = |command| Command::As(Author::User(known.clone()), Box::new(command));
    assert_eq!(apply(&mut store, as_known(put("a/1"))), Ok(()));
    let root = |command| by("root", Command::Auth(command));
    apply(&mut store, root(AuthCommand::SetPassword("alice".into(), "other".into()))).expect("it may");
    assert_eq!(apply(&mut store, as_known(put("a/1"))), Err(StoreError::Auth(AuthError::Token)));
    apply(&mut store, root(AuthCommand::Forbid("role".into(), KeyRange::prefix("a/")))).expect("it may");
    assert_eq!(apply(&mut store, by("alice", put("a/1"))), DENIED);
    apply(&mut store, root(AuthCommand::DeleteRole("role".into()))).expect("it may");
    let author = Author::User(Acting::named("alice"));
    let read = store.auth().check_read(Some(&author), &KeyRange::One("c".into()));
    assert_eq!(read, Err(AuthError::Denied));
}

#[test]
fn users_and_roles_are_in_snapshots_and_stores_without_them_read_as_before() {
    let store = guarded();
    assert_eq!(Store::from_bytes(&store.to_bytes()).as_ref(), Ok(&store));
    assert_eq!(store.to_bytes()[..4], 3u32.to_le_bytes());
    assert_eq!(Store::new().to_bytes()[..4], 2u32.to_le_bytes(), "an earlier version reads that");
}
