//! The admin page: what it is told, and who is told nothing.

use std::time::{Duration, Instant};

use habemus_etcd::etcdserverpb::StatusRequest;
use habemus_etcd::etcdserverpb::maintenance_client::MaintenanceClient;
use serde_json::{Value, json};

use crate::auth::guarded;
use crate::cluster::free_addresses;
use crate::http::{ask, ask_as, ask_with};
use crate::support::{Directory, PATIENCE, Running, installed};

fn state(member: &Running) -> Value {
    let (status, body) = ask(member, "GET", "/admin/state", "");
    assert_eq!(status, 200, "{body}");
    serde_json::from_str(&body).expect("it is JSON")
}

/// Waits until something is told, and gives it.
fn until<T>(member: &Running, mut told: impl FnMut(&Value) -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let state = state(member);
        if let Some(told) = told(&state) {
            return told;
        }
        assert!(Instant::now() < deadline, "it is never told, but {state:#}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Opens a session, as JSON.
fn session(member: &Running) -> String {
    let (_, answer) = ask(member, "POST", "/v1/sessions", r#"{"ttl_ms": 60000}"#);
    let answer: Value = serde_json::from_str(&answer).expect("it is JSON");
    answer["session"].as_str().expect("it has a name").to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fail_over_is_told_by_another_member_with_both_sides_of_what_was_said() {
    let directory = Directory::new();
    let addresses = free_addresses(3);
    let cluster: Vec<String> =
        ["a", "b", "c"].iter().zip(&addresses).map(|(n, a)| format!("{n}={a}")).collect();
    let cluster = cluster.join(",");
    let start = |name: &str| Running::start(&directory.join(name), &["--name", name, "--cluster", &cluster]);
    let mut members = vec![start("a"), start("b"), start("c")];
    let is_led = |state: &Value| {
        let all = state["members"].as_array()?;
        let place = all.iter().position(|member| member["leads"] == json!(true))?;
        let is_whole =
            all.iter().all(|member| member["present"] == json!(true) && member["term"] == state["term"]);
        is_whole.then(|| all[place]["id"].clone())
    };
    let old = until(&members[0], is_led);
    let mut leads = None;
    for (index, member) in members.iter().enumerate() {
        let status = MaintenanceClient::new(member.channel().await).status(StatusRequest {}).await;
        let status = status.expect("it answers").into_inner();
        let header = status.header.expect("answers have headers");
        if header.member_id == status.leader {
            leads = Some(index);
        }
    }
    members.remove(leads.expect("somebody leads")).kill();
    let incident = until(&members[0], |state| {
        let first = &state["incidents"][0];
        let away =
            state["members"].as_array()?.iter().any(|it| it["id"] == old && it["present"] == json!(false));
        // Both that are left have told their side by then.
        let tells = |what: &str| {
            first["rows"].as_array().is_some_and(|rows| rows.iter().any(|row| row["what"] == json!(what)))
        };
        let both = tells("leads") && tells("follows");
        (away && first["before"] == old && first["kind"] == json!("elected") && both).then(|| first.clone())
    });
    assert_eq!(incident["why"], json!("silence"), "{incident:#}");
    let took = incident["took"].as_u64().expect("it took a while");
    assert!(took > 0, "nobody is elected in no time");
    let rows = incident["rows"].as_array().expect("a list");
    let voted = |row: &&Value| {
        row["what"] == json!("heard") && row["ballot"]["kind"]["vote"]["granted"] == json!(true)
    };
    let vote = rows.iter().find(voted).expect("it had somebody's vote");
    let sent = &rows[vote["sent_in"].as_u64().expect("that member told of it, too") as usize];
    assert_eq!((&sent["member"], &sent["other"]), (&vote["other"], &vote["member"]));
    assert_ne!(sent["member"], vote["member"]);
}

#[test]
fn locks_queues_and_sessions_are_told_and_found_by_their_names() {
    let directory = Directory::new();
    let member = Running::start(&directory.join("data"), &[]);
    let (first, second) = (session(&member), session(&member));
    for (session, name) in [(&first, "orders"), (&second, "stock")] {
        let body = json!({ "session": session, "value": "job" }).to_string();
        assert_eq!(ask(&member, "POST", &format!("/v1/locks/{name}/acquire"), &body).0, 200);
    }
    let told = state(&member);
    assert_eq!((&told["queues"][0]["name"], &told["queue_count"]), (&json!("orders"), &json!(2)));
    assert_eq!(told["queues"][0]["holders"][0]["session"], json!(first));
    assert_eq!(told["session_count"], json!(2));
    let (_, found) = ask(&member, "GET", "/admin/state/sto", "");
    let found: Value = serde_json::from_str(&found).expect("it is JSON");
    assert_eq!((&found["queues"][0]["name"], &found["queue_count"]), (&json!("stock"), &json!(1)));
}

#[test]
fn strangers_are_told_nothing_and_users_what_they_may_read() {
    if !installed("etcdctl", "etcd-client") {
        return;
    }
    let directory = Directory::new();
    let member = guarded(&directory);
    let token = |name: &str, password: &str| {
        let body = json!({ "name": name, "password": password }).to_string();
        let (_, answer) = ask(&member, "POST", "/v3/auth/authenticate", &body);
        let answer: Value = serde_json::from_str(&answer).expect("it is JSON");
        answer["token"].as_str().expect("it is given").to_owned()
    };
    let (root, alice) = (token("root", "secret"), token("alice", "wonder"));
    let (_, session) = ask_as(&member, &root, "POST", "/v1/sessions", r#"{"ttl_ms": 60000}"#);
    let session: Value = serde_json::from_str(&session).expect("it is JSON");
    let body = json!({ "session": session["session"] }).to_string();
    for name in ["a%2Fhers", "b%2Fsecret"] {
        assert_eq!(ask_as(&member, &root, "POST", &format!("/v1/locks/{name}/acquire"), &body).0, 200);
    }
    for stranger in
        [ask(&member, "GET", "/admin/state", ""), ask_as(&member, "x.y", "GET", "/admin/state", "")]
    {
        assert_eq!(stranger.0, 403);
        assert!(!stranger.1.contains("hers") && !stranger.1.contains("secret"), "{}", stranger.1);
    }
    let seen = |token: &str| {
        let (status, body) = ask_as(&member, token, "GET", "/admin/state", "");
        assert_eq!(status, 200, "{body}");
        let state: Value = serde_json::from_str(&body).expect("it is JSON");
        let queues = state["queues"].as_array().expect("a list").clone();
        queues.iter().map(|queue| queue["name"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(seen(&alice), [json!("a/hers")]);
    assert_eq!(seen(&root), [json!("a/hers"), json!("b/secret")]);
}

#[test]
fn a_name_that_was_made_to_point_here_is_told_nothing() {
    let directory = Directory::new();
    let member = Running::start(&directory.join("data"), &[]);
    assert_eq!(ask_with(&member, "evil.example:2379", "", "GET", "/admin/state", "").0, 400);
    assert_eq!(ask_with(&member, "localhost:2379", "", "GET", "/admin/state", "").0, 200);
    let (status, page) = ask(&member, "GET", "/admin", "");
    assert!(status == 200 && page.contains("/admin/page.js"), "{page}");
}
