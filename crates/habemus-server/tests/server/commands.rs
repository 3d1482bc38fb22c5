//! What operators do: permits, members, backups, and a look at how fast it is.

use std::process::{Command, Output, Stdio};

use habemus_client::{Client, ClientError, Wait};

use crate::cluster::Trio;
use crate::support::{Directory, Running, fails, get, lines, put};

fn run(address: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_habemusctl"));
    command.args(arguments).env("HABEMUS_ENDPOINTS", address).stdin(Stdio::null());
    command.output().expect("habemusctl was built")
}

/// What a task says, and with which code it ends.
fn told(address: &str, arguments: &[&str]) -> (Option<i32>, String) {
    let output = run(address, arguments);
    let said = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(said).expect("it writes text"))
}

fn member(directory: &Directory) -> Running {
    Running::start(&directory.join("data"), &[])
}

#[test]
fn a_semaphore_lets_in_as_many_as_it_has_permits_and_sharers_share() {
    let directory = Directory::new();
    let member = member(&directory);
    let hold = |arguments: &[&str]| {
        let arguments = [arguments, &["--", "sh", "-c", "echo inside; exec sleep 60"]].concat();
        let mut command = Command::new(env!("CARGO_BIN_EXE_habemusctl"));
        command.args(arguments).env("HABEMUS_ENDPOINTS", member.address()).stdin(Stdio::null());
        let mut child = command.stdout(Stdio::piped()).spawn().expect("habemusctl was built");
        let said = lines(&mut child).recv_timeout(crate::support::PATIENCE);
        assert_eq!(said.as_deref(), Ok("inside"));
        child
    };
    let semaphore = ["semaphore", "licences", "--permits", "2"];
    let mut inside = vec![hold(&semaphore), hold(&semaphore)];
    let third = [&semaphore[..], &["--try", "--", "true"]].concat();
    assert_eq!(told(member.address(), &third).0, Some(124));
    inside.push(hold(&["lock", "book", "--shared"]));
    assert_eq!(told(member.address(), &["lock", "book", "--shared", "--try", "--", "true"]).0, Some(0));
    assert_eq!(told(member.address(), &["lock", "book", "--try", "--", "true"]).0, Some(124));
    let (_, locks) = told(member.address(), &["locks"]);
    assert_eq!(locks.lines().filter(|line| line.contains("holds of 2")).count(), 2, "{locks}");
    assert_eq!(locks.lines().filter(|line| line.contains("holds shared")).count(), 1, "{locks}");
    for mut child in inside {
        child.kill().and_then(|()| child.wait()).expect("it is ours");
    }
    assert_eq!(told(member.address(), &["lock", "book", "--wait", "30s", "--", "true"]).0, Some(0));
    let (code, help) = told(member.address(), &["semaphore", "licences", "--", "true"]);
    assert!(code == Some(2) && help.contains("--permits"), "{help}");
}

#[test]
fn members_are_listed_added_and_removed_by_name() {
    let directory = Directory::new();
    let peer = free_address();
    let cluster = format!("a={peer}");
    let member = Running::start(&directory.join("data"), &["--name", "a", "--cluster", &cluster]);
    member.says("a member is reached here");
    let (code, list) = told(member.address(), &["member", "list"]);
    assert!(code == Some(0) && list.contains(" a ") && list.contains("voter"), "{list}");
    let new = free_address();
    let (code, added) = told(member.address(), &["member", "add", &new, "--learner"]);
    assert!(code == Some(0) && added.contains(&format!("--peer {new} --join {peer}")), "{added}");
    let line = added.lines().find(|line| line.contains("(not started)")).expect("it is listed");
    let id = line.split_whitespace().next().expect("it has a number");
    let (code, early) = told(member.address(), &["member", "promote", id]);
    assert!(code == Some(125) && early.contains("in sync"), "{early}");
    assert_eq!(told(member.address(), &["member", "update", id, &free_address()]).0, Some(0));
    let (code, removed) = told(member.address(), &["member", "remove", id]);
    assert!(code == Some(0) && !removed.contains("not started"), "{removed}");
    let (code, unknown) = told(member.address(), &["member", "remove", "zoe"]);
    assert!(code == Some(125) && unknown.contains("there are a ("), "{unknown}");
    let (code, leads) = told(member.address(), &["move-leader", "a"]);
    assert!(code == Some(0) && leads.contains("a leads"), "{leads}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_member_that_is_dead_is_in_the_way_of_no_order() {
    let mut trio = Trio::start();
    let leader = trio.leader().await;
    let (dead, heir) = ((leader + 1) % 3, (leader + 2) % 3);
    let addresses: Vec<String> =
        [dead, leader, heir].iter().map(|index| trio.member(*index).address().to_owned()).collect();
    // The dead one is named first.
    let endpoints = addresses.join(",");
    trio.take(dead).kill();
    let obeyed = |arguments: &[&str]| {
        let (code, said) = told(&endpoints, arguments);
        assert_eq!(code, Some(0), "{arguments:?}: {said}");
        said
    };
    for _ in 0..5 {
        obeyed(&["member", "list"]);
    }
    let directory = Directory::new();
    obeyed(&["backup", directory.join("backup").to_str().expect("it is a text")]);
    let names = ["a", "b", "c"];
    let order = || told(&endpoints, &["move-leader", names[heir]]);
    let (code, said) =
        (0..20).map(|_| order()).find(|(_, said)| !said.contains("took too long")).expect("in the end");
    assert_eq!(code, Some(0), "{said}");
    let left = obeyed(&["member", "remove", names[dead]]);
    assert_eq!(left.lines().count(), 3, "two and what stands above them: {left}");
}

fn free_address() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("there are free ports");
    listener.local_addr().expect("it listens").to_string()
}

async fn token(member: &Running) -> i64 {
    let client = Client::connect([member.address()]).expect("it is an address");
    let session = client.session(std::time::Duration::from_secs(60)).await.expect("it answers");
    let guard = session.lock("door", Wait::Always).await.expect("nobody is inside");
    let token = guard.token();
    session.close().await.expect("it answers");
    token
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cluster_made_from_a_backup_is_another_one_and_its_tokens_go_on() {
    let directory = Directory::new();
    let (backup, new) = (directory.join("backup"), directory.join("new"));
    let (backup, new) = (backup.to_str().expect("it is a text"), new.to_str().expect("it is a text"));
    let old = member(&directory);
    let channel = old.channel().await;
    put(&channel, "kept", "1").await.expect("there is room");
    let before = token(&old).await;
    let (code, said) = told(old.address(), &["backup", backup]);
    assert_eq!(code, Some(0), "{said}");
    let folder = directory.join("").display().to_string();
    let (code, said) = told(old.address(), &["backup", &folder]);
    assert!(code == Some(1) && said.contains("no file"), "{said}");
    put(&channel, "lost", "1").await.expect("there is room");
    for _ in 0..5 {
        token(&old).await;
    }
    let after = token(&old).await;
    let revision = get(&channel, "kept").await.header.expect("answers have one");

    let damaged = directory.join("damaged");
    let bytes = std::fs::read(backup).expect("it was written");
    std::fs::write(&damaged, &bytes[..bytes.len() - 1]).expect("it is ours");
    let damaged = damaged.to_str().expect("it is a text");
    let (code, said) = told("", &["restore", damaged, "--data", new]);
    assert!(code == Some(1) && said.contains("no complete backup"), "{said}");
    let (code, said) = told("", &["restore", backup, "--data", new]);
    assert!(code == Some(0) && said.contains("new cluster"), "{said}");
    let (code, said) = told("", &["restore", backup, "--data", new]);
    assert!(code == Some(1) && said.contains("not empty"), "{said}");

    let restored = Running::start(std::path::Path::new(new), &[]);
    let channel = restored.channel().await;
    assert_eq!(get(&channel, "kept").await.kvs.len(), 1);
    assert!(get(&channel, "lost").await.kvs.is_empty(), "it came after the backup");
    let now = get(&channel, "kept").await.header.expect("answers have one");
    assert_ne!((now.cluster_id, now.member_id), (revision.cluster_id, revision.member_id));
    assert!(now.revision > revision.revision, "{} {}", now.revision, revision.revision);
    let next = token(&restored).await;
    assert!(next > after && after > before, "{before} {after} {next}");
    // Whoever watched the old one must not believe that nothing has happened since.
    let client = Client::connect([restored.address()]).expect("it is an address");
    let told = client.watch("kept").from(revision.revision + 1).next().await;
    assert!(matches!(told, Err(ClientError::Compacted(_))), "{told:?}");
    assert_eq!(restored.stop(), Some(0));
    // The second time it is started like any other.
    let again = Running::start(std::path::Path::new(new), &[]);
    assert!(token(&again).await > next);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn three_members_are_restored_from_one_backup() {
    let directory = Directory::new();
    let backup = directory.join("backup");
    let backup = backup.to_str().expect("it is a text");
    let old = member(&directory);
    put(&old.channel().await, "kept", "1").await.expect("there is room");
    assert_eq!(told(old.address(), &["backup", backup]).0, Some(0));
    old.kill();
    let cluster: Vec<String> =
        ["a", "b", "c"].iter().map(|name| format!("{name}={}", free_address())).collect();
    let cluster = cluster.join(",");
    let mut members = Vec::new();
    for name in ["a", "b", "c"] {
        let data = directory.join(name);
        let path = data.to_str().expect("it is a text");
        let arguments = ["restore", backup, "--data", path, "--name", name, "--cluster", &cluster];
        let (code, said) = told("", &arguments);
        assert_eq!(code, Some(0), "{said}");
        // It may be told again who belongs to it, or not.
        let again = ["--name", name, "--cluster", &cluster];
        members.push(Running::start(&data, if name == "a" { &again } else { &[] }));
    }
    let addresses: Vec<&str> = members.iter().map(Running::address).collect();
    let client = Client::connect(&addresses).expect("they are addresses");
    client.put("new", "1").await.expect("they have a leader");
    assert_eq!(client.get("kept").await.expect("it answers").as_deref(), Some(&b"1"[..]));
    let mine = directory.join("data");
    let mine = mine.to_str().expect("it is a text");
    let wrong = fails(&["--listen", "127.0.0.1:0", "--data", mine, "--name", "a", "--cluster", &cluster]);
    assert_eq!(wrong.code, Some(1), "the old directory belongs to another cluster: {}", wrong.said);
}

#[test]
fn a_look_at_how_fast_it_is_counts_all_three_loads() {
    let directory = Directory::new();
    let member = member(&directory);
    let look = |time| {
        let (code, said) = told(member.address(), &["bench", "--clients", "4", "--for", time]);
        assert_eq!(code, Some(0), "{said}");
        let rates = ["keys", "locks", "hand-over"].map(|load| {
            let line = said.lines().find(|line| line.starts_with(load)).expect("it was measured");
            line.split_whitespace().nth(1).and_then(|rate| rate.parse::<f64>().ok()).expect("a rate")
        });
        rates.iter().all(|rate| *rate > 0.0)
    };
    // On a busy machine nobody may come to anything in a short time.
    assert!(["200ms", "2s", "20s"].into_iter().any(look));
    let (_, locks) = told(member.address(), &["locks"]);
    assert_eq!(locks.lines().count(), 1, "nothing is left: {locks}");
    let (code, said) = told("127.0.0.1:1", &["bench", "--for", "200ms"]);
    assert_eq!(code, Some(125), "{said}");
}
