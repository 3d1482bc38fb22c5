//! Debian's etcdctl, unmodified.

use std::process::{Child, Command, Stdio};

use crate::support::{Directory, PATIENCE, Running, installed, lines};

fn member() -> Option<(Directory, Running)> {
    installed("etcdctl", "etcd-client").then(|| {
        let directory = Directory::new();
        let member = Running::start(&directory.join("data"), &[]);
        (directory, member)
    })
}

fn spawn(member: &Running, arguments: &[&str]) -> Child {
    Command::new("etcdctl")
        .env("ETCDCTL_API", "3")
        .env("ETCDCTL_ENDPOINTS", member.address())
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("etcdctl was there a moment ago")
}

#[test]
fn keys_are_written_read_deleted_and_compacted() {
    let Some((_directory, member)) = member() else { return };
    assert_eq!(member.etcdctl(&["put", "fruit/apple", "red"]), "OK\n");
    assert_eq!(member.etcdctl(&["put", "fruit/pear", "green"]), "OK\n");
    assert_eq!(member.etcdctl(&["put", "--prev-kv", "fruit/apple", "yellow"]), "OK\nfruit/apple\nred\n");
    assert_eq!(member.etcdctl(&["get", "--prefix", "fruit/"]), "fruit/apple\nyellow\nfruit/pear\ngreen\n");
    assert_eq!(member.etcdctl(&["get", "--rev=2", "fruit/apple"]), "fruit/apple\nred\n");
    assert_eq!(
        member.etcdctl(&["get", "--prefix", "--sort-by=MODIFY", "--order=DESCEND", "--limit=1", "fruit/"]),
        "fruit/apple\nyellow\n"
    );
    assert_eq!(member.etcdctl(&["del", "fruit/pear"]), "1\n");
    assert_eq!(member.etcdctl(&["compaction", "4"]), "compacted revision 4\n");
    let refused = member.etcdctl(&["get", "--rev=2", "fruit/apple"]);
    assert!(refused.contains("etcdserver: mvcc: required revision has been compacted"), "{refused}");
}

#[test]
fn a_transaction_goes_one_way_or_the_other() {
    let Some((_directory, member)) = member() else { return };
    let transact = || {
        use std::io::Write;
        let mut child = spawn(&member, &["txn"]);
        let mut input = child.stdin.take().expect("it was piped");
        input.write_all(b"version(\"a\") = \"0\"\n\nput a first\n\nget a\n\n").expect("it reads");
        drop(input);
        String::from_utf8(child.wait_with_output().expect("it is ours").stdout).expect("it writes text")
    };
    assert_eq!(transact(), "SUCCESS\n\nOK\n");
    assert_eq!(transact(), "FAILURE\n\na\nfirst\n");
}

#[test]
fn a_watch_tells_what_happened_and_what_happens() {
    let Some((_directory, member)) = member() else { return };
    member.etcdctl(&["put", "a", "1"]);
    let mut child = spawn(&member, &["watch", "--rev=2", "--prev-kv", "a"]);
    let told = lines(&mut child);
    let next = || told.recv_timeout(PATIENCE).expect("it is told");
    assert_eq!([next(), next(), next()], ["PUT", "a", "1"]);
    member.etcdctl(&["del", "a"]);
    assert_eq!([next(), next(), next(), next()], ["DELETE", "a", "1", "a"]);
    child.kill().and_then(|()| child.wait()).expect("it is ours");
}

#[test]
fn a_lock_is_handed_from_one_to_the_next() {
    let Some((_directory, member)) = member() else { return };
    assert_eq!(member.etcdctl(&["lock", "door", "echo", "inside"]), "inside\n");
    let mut first = spawn(&member, &["lock", "door"]);
    let first_says = lines(&mut first);
    let key = first_says.recv_timeout(PATIENCE).expect("it is inside");
    let mut second = spawn(&member, &["lock", "door"]);
    let second_says = lines(&mut second);
    assert!(key.starts_with("door/"), "{key}");
    let waiting = || member.etcdctl(&["get", "--prefix", "--keys-only", "door/"]).matches("door/").count();
    while waiting() < 2 {}
    assert!(second_says.try_recv().is_err(), "only one is inside");
    // As if the first one's session had ended.
    member.etcdctl(&["lease", "revoke", key.strip_prefix("door/").expect("it names the session")]);
    assert!(second_says.recv_timeout(PATIENCE).expect("it is inside").starts_with("door/"));
    for mut child in [first, second] {
        child.kill().and_then(|()| child.wait()).expect("it is ours");
    }
}

#[test]
fn an_election_is_won_and_observed() {
    let Some((_directory, member)) = member() else { return };
    let mut candidate = spawn(&member, &["elect", "seat", "first"]);
    let says = lines(&mut candidate);
    let key = says.recv_timeout(PATIENCE).expect("it leads");
    assert!(key.starts_with("seat/"), "{key}");
    let mut observer = spawn(&member, &["elect", "--listen", "seat"]);
    let observed = lines(&mut observer);
    assert_eq!(observed.recv_timeout(PATIENCE).as_deref(), Ok(key.as_str()));
    assert_eq!(observed.recv_timeout(PATIENCE).as_deref(), Ok("first"));
    for mut child in [candidate, observer] {
        child.kill().and_then(|()| child.wait()).expect("it is ours");
    }
}

#[test]
fn leases_are_granted_kept_asked_for_and_revoked() {
    let Some((_directory, member)) = member() else { return };
    let granted = member.etcdctl(&["lease", "grant", "100"]);
    let id = granted.split_whitespace().nth(1).expect("it names the lease");
    assert_eq!(granted, format!("lease {id} granted with TTL(100s)\n"));
    member.etcdctl(&["put", "--lease", id, "mine", "1"]);
    let left = member.etcdctl(&["lease", "timetolive", "--keys", id]);
    assert!(left.contains("granted with TTL(100s)") && left.contains("attached keys([mine])"), "{left}");
    assert!(member.etcdctl(&["lease", "keep-alive", "--once", id]).contains("keepalived with TTL(100)"));
    assert!(member.etcdctl(&["lease", "list"]).contains(id));
    assert_eq!(member.etcdctl(&["lease", "revoke", id]), format!("lease {id} revoked\n"));
    assert_eq!(member.etcdctl(&["get", "mine"]), "");
    assert!(member.etcdctl(&["lease", "revoke", id]).contains("etcdserver: requested lease not found"));
}

#[test]
fn whoever_maintains_it_finds_what_etcd_has() {
    let Some((directory, member)) = member() else { return };
    assert!(member.etcdctl(&["endpoint", "health"]).contains("is healthy"));
    assert!(member.etcdctl(&["endpoint", "status"]).contains(", 3.4.0, "));
    assert_eq!(member.etcdctl(&["alarm", "list"]), "");
    assert!(member.etcdctl(&["defrag"]).starts_with("Finished defragmenting"));
    assert!(member.etcdctl(&["endpoint", "hashkv"]).starts_with(member.address()));
    let file = directory.join("snapshot");
    let saved = member.etcdctl(&["snapshot", "save", file.to_str().expect("it is a text")]);
    assert!(saved.contains("Snapshot saved at"), "{saved}");
    let mut list = member.etcdctl(&["member", "list"]);
    while !list.contains(member.address()) {
        list = member.etcdctl(&["member", "list"]);
    }
    assert!(list.contains(", started, default, http://127.0.0.1:2380, http://127.0.0.1:"), "{list}");
    assert!(member.etcdctl(&["move-leader", "1"]).contains("etcdserver: bad leader transferee"));
}
