//! Users and roles, as etcd's own clients use them.

use std::process::{Command, Stdio};

use habemus_client::{Client, Credentials, Wait};
use habemus_etcd::etcdserverpb as rpc;
use habemus_etcd::etcdserverpb::watch_client::WatchClient;
use tokio_stream::StreamExt;

use crate::http::{ask, ask_as};
use crate::support::{Directory, Running, etcdctl, installed};

/// Makes a cluster of one in which `root` and `alice` have passwords, and alice may write below `a/`.
pub(crate) fn guarded(directory: &Directory) -> Running {
    let member = Running::start(&directory.join("data"), &[]);
    let says = |arguments: &[&str], answer: &str| {
        let told = member.etcdctl(arguments);
        assert!(told.contains(answer), "{arguments:?}: {told}");
    };
    says(&["auth", "enable"], "root user does not exist");
    says(&["user", "add", "root:secret"], "User root created");
    says(&["user", "add", "root:secret"], "user name already exists");
    says(&["user", "grant-role", "root", "root"], "Role root is granted to user root");
    says(&["user", "add", "alice:wonder"], "User alice created");
    says(&["user", "grant-role", "alice", "writer"], "role name not found");
    says(&["role", "add", "writer"], "Role writer created");
    says(&["role", "grant-permission", "writer", "readwrite", "a/", "--prefix"], "Role writer updated");
    says(&["user", "grant-role", "alice", "writer"], "Role writer is granted to user alice");
    says(&["put", "b/secret", "1"], "OK");
    says(&["auth", "enable"], "Authentication Enabled");
    member
}

#[test]
fn etcdctl_may_what_its_user_may_and_nothing_else() {
    if !installed("etcdctl", "etcd-client") {
        return;
    }
    let directory = Directory::new();
    let member = guarded(&directory);
    let says = |user: Option<&str>, arguments: &[&str], answer: &str| {
        let user = user.map(|user| format!("--user={user}"));
        let all: Vec<&str> = user.iter().map(String::as_str).chain(arguments.iter().copied()).collect();
        let told = member.etcdctl(&all);
        assert!(told.contains(answer), "{all:?}: {told}");
    };
    let (alice, root) = (Some("alice:wonder"), Some("root:secret"));
    says(None, &["get", "a/1"], "user name is empty");
    says(None, &["lease", "grant", "60"], "user name is empty");
    says(Some("alice:wrong"), &["get", "a/1"], "authentication failed");
    says(Some("nobody:wrong"), &["get", "a/1"], "authentication failed");
    says(alice, &["put", "a/1", "x"], "OK");
    says(alice, &["get", "a/", "--prefix", "--keys-only"], "a/1");
    for denied in [
        &["get", "b/secret"][..],
        &["put", "b/secret", "2"],
        &["del", "b/secret"],
        &["get", "", "--prefix"],
        &["watch", "b/secret"],
        &["compact", "2"],
        &["user", "list"],
        &["role", "add", "more"],
        &["auth", "disable"],
        &["snapshot", "save", "/dev/null"],
        &["member", "add", "x", "--peer-urls=http://127.0.0.1:1"],
        &["lock", "b/lock", "true"],
    ] {
        says(alice, denied, "permission denied");
    }
    says(alice, &["user", "get", "alice"], "writer");
    says(alice, &["role", "get", "writer"], "[a/, a0)");
    says(alice, &["lock", "a/lock", "echo", "inside"], "inside");
    says(root, &["get", "b/secret", "--print-value-only"], "1");
    // What is taken back counts at once.
    says(root, &["role", "revoke-permission", "writer", "a/", "--prefix"], "Permission");
    says(alice, &["get", "a/1"], "permission denied");
    says(root, &["user", "delete", "root"], "invalid auth management");
    says(root, &["auth", "disable"], "Authentication Disabled");
    says(None, &["get", "a/1"], "x");
}

/// Everything is in the journal, and in snapshots.
#[test]
fn users_and_roles_are_there_after_a_restart() {
    if !installed("etcdctl", "etcd-client") {
        return;
    }
    let directory = Directory::new();
    guarded(&directory).kill();
    let member = Running::start(&directory.join("data"), &[]);
    assert!(member.etcdctl(&["get", "a/1"]).contains("user name is empty"));
    assert!(member.etcdctl(&["--user=alice:wonder", "put", "a/1", "x"]).contains("OK"));
}

#[tokio::test]
async fn a_watch_ends_when_its_user_may_not_read_any_more() {
    if !installed("etcdctl", "etcd-client") {
        return;
    }
    let directory = Directory::new();
    let member = guarded(&directory);
    let credentials = Credentials::default().being("alice", "wonder");
    let client = Client::connect_as([member.address()], &credentials).expect("it is an address");
    client.authenticate().await.expect("that is the password");
    let create = rpc::WatchCreateRequest { key: "a/1".into(), ..Default::default() };
    let request_union = Some(rpc::watch_request::RequestUnion::CreateRequest(create));
    let requests = tokio_stream::iter([rpc::WatchRequest { request_union }]).chain(tokio_stream::pending());
    let mut watching =
        WatchClient::new(client.channel()).watch(requests).await.expect("it answers").into_inner();
    let mut next = async || watching.message().await.expect("it goes on").expect("it goes on");
    assert!(next().await.created);
    let root = |arguments: &[&str]| member.etcdctl(&[&["--user=root:secret"], arguments].concat());
    root(&["put", "a/1", "seen"]);
    assert_eq!(next().await.events.len(), 1);
    root(&["user", "revoke-role", "alice", "writer"]);
    root(&["put", "a/1", "unseen"]);
    let last = next().await;
    assert!(last.canceled && last.events.is_empty(), "{last:?}");
    assert!(last.cancel_reason.contains("permission denied"), "{last:?}");
}

#[tokio::test]
async fn sessions_obey_permissions() {
    if !installed("etcdctl", "etcd-client") {
        return;
    }
    let directory = Directory::new();
    let member = guarded(&directory);
    let client = |user, password| {
        let credentials = Credentials::default().being(user, password);
        Client::connect_as([member.address()], &credentials).expect("it is an address")
    };
    let root = client("root", "secret").session(std::time::Duration::from_secs(60)).await.expect("it may");
    let held = root.lock("b/lock", Wait::Never).await.expect("it may");
    let alice = client("alice", "wonder");
    alice
        .session(std::time::Duration::from_secs(60))
        .await
        .expect("it may")
        .lock("a/lock", Wait::Never)
        .await
        .expect("it may");
    let revoke = rpc::LeaseRevokeRequest { id: root.id() };
    let mut leases = rpc::lease_client::LeaseClient::new(alice.channel());
    let denied = leases.lease_revoke(revoke).await.expect_err("it would delete a key that it may not write");
    assert_eq!(denied.message(), "etcdserver: permission denied");
    let ask = rpc::LeaseTimeToLiveRequest { id: root.id(), keys: true };
    let denied = leases.lease_time_to_live(ask).await.expect_err("it would show a key that it may not read");
    assert_eq!(denied.message(), "etcdserver: permission denied");
    held.release().await.expect("it was held all the time");
}

#[test]
fn who_may_not_read_a_queue_learns_nothing_of_it_by_habemus_v1() {
    if !installed("etcdctl", "etcd-client") {
        return;
    }
    let directory = Directory::new();
    let member = guarded(&directory);
    let token = |name: &str, password: &str| {
        let body = serde_json::json!({"name": name, "password": password}).to_string();
        let (_, answer) = ask(&member, "POST", "/v3/auth/authenticate", &body);
        let answer: serde_json::Value = serde_json::from_str(&answer).expect("it is JSON");
        answer["token"].as_str().expect("that is the password").to_owned()
    };
    let (root, alice) = (token("root", "secret"), token("alice", "wonder"));
    let session = |token: &str| {
        let (_, answer) = ask_as(&member, token, "POST", "/v1/sessions", "{\"ttl_ms\": 60000}");
        let answer: serde_json::Value = serde_json::from_str(&answer).expect("it is JSON");
        answer["session"].as_str().expect("it may").to_owned()
    };
    let acquire = |token: &str, session: &str, name: &str| {
        let body = serde_json::json!({"session": session, "wait_ms": 0}).to_string();
        ask_as(&member, token, "POST", &format!("/v1/locks/{name}/acquire"), &body).0
    };
    let (roots, alices) = (session(&root), session(&alice));
    assert_eq!(acquire(&root, &roots, "b%2Flock"), 200);
    assert_eq!(acquire(&alice, &alices, "a%2Flock"), 200);
    assert_eq!(acquire(&alice, &alices, "b%2Flock"), 403);
    for path in ["/v1/locks/b%2Flock", "/v1/locks/b%2Flock/events", "/v1/elections/b%2Flock"] {
        assert_eq!(ask_as(&member, &alice, "GET", path, "").0, 403, "{path}");
        assert_eq!(ask(&member, "GET", path, "").0, 403, "{path}");
    }
    let listed = ask_as(&member, &alice, "GET", "/v1/locks", "").1;
    assert!(listed.contains("a/lock") && !listed.contains("b/lock"), "{listed}");
    assert_eq!(ask(&member, "GET", "/v1/sessions", "").0, 403);
    // Whose session holds something that it may not write, it may not end.
    assert_eq!(ask_as(&member, &alice, "DELETE", &format!("/v1/sessions/{roots}"), "").0, 403);
    assert_eq!(ask_as(&member, &root, "GET", "/v1/locks/b%2Flock", "").0, 200);
}

#[test]
fn whom_a_certificate_names_is_its_user() {
    if !installed("etcdctl", "etcd-client") {
        return;
    }
    let directory = Directory::new();
    let certs = directory.join("certs");
    let file = |name: &str| certs.join(name).to_str().expect("it is a text").to_owned();
    let made = Command::new(env!("CARGO_BIN_EXE_habemusctl"))
        .args(["certs", "--hosts", "127.0.0.1", "--users", "root,alice,mallory", "--out", &file("")])
        .stdout(Stdio::null())
        .status();
    assert!(made.expect("habemusctl was built").success());
    let (cert, key, ca) = (file("server.pem"), file("server.key"), file("ca.pem"));
    let tls = ["--cert-file", &cert, "--key-file", &key, "--trusted-ca-file", &ca, "--client-cert-auth"];
    let member = Running::start(&directory.join("data"), &tls);
    let url = format!("https://{}", member.address());
    let says = |user: &str, arguments: &[&str], answer: &str| {
        let (cert, key) = (file(&format!("{user}.pem")), file(&format!("{user}.key")));
        let files = ["--cacert", &ca, "--cert", &cert, "--key", &key];
        let told = etcdctl(&url, &[&files, arguments].concat());
        assert!(told.contains(answer), "{user}, {arguments:?}: {told}");
    };
    says("root", &["user", "add", "root", "--no-password"], "created");
    says("root", &["user", "grant-role", "root", "root"], "granted");
    says("root", &["user", "add", "alice", "--no-password"], "created");
    says("root", &["role", "add", "reader"], "created");
    says("root", &["role", "grant-permission", "reader", "read", "a"], "updated");
    says("root", &["user", "grant-role", "alice", "reader"], "granted");
    says("root", &["auth", "enable"], "Enabled");
    says("root", &["put", "a", "1"], "OK");
    says("alice", &["get", "a"], "1");
    says("alice", &["put", "a", "2"], "permission denied");
    says("mallory", &["get", "a"], "permission denied");
    // The wrapper, too, and its guardian.
    let (cert, key) = (file("root.pem"), file("root.key"));
    let run = Command::new(env!("CARGO_BIN_EXE_habemusctl"))
        .args(["lock", "door", "--endpoints", &url, "--cacert", &ca, "--cert", &cert, "--key", &key])
        .args(["--", "true"])
        .status();
    assert_eq!(run.expect("habemusctl was built").code(), Some(0));
}
