//! habemus.v1, by gRPC and by plain HTTP.

use std::time::{Duration, Instant};

use habemus_api::v1 as rpc;
use habemus_api::{Method, ROUTES, openapi};
use rpc::elections_client::ElectionsClient;
use rpc::locks_client::LocksClient;
use rpc::sessions_client::SessionsClient;
use serde_json::{Value, json};
use tonic::transport::Channel;
use tonic::{Code, Status};

use crate::http::{ask, ask_as};
use crate::support::{Directory, PATIENCE, Running, get, installed};

fn member() -> (Directory, Running) {
    let directory = Directory::new();
    let member = Running::start(&directory.join("data"), &[]);
    (directory, member)
}

fn post(member: &Running, path: &str, body: &Value) -> (u16, Value) {
    let (status, answer) = ask(member, "POST", path, &body.to_string());
    (status, serde_json::from_str(&answer).unwrap_or_else(|_| panic!("{answer} is no JSON")))
}

fn look(member: &Running, path: &str) -> Value {
    let (status, answer) = ask(member, "GET", path, "");
    assert_eq!(status, 200, "{answer}");
    serde_json::from_str(&answer).expect("it is JSON")
}

fn session(member: &Running) -> String {
    let (_, session) = post(member, "/v1/sessions", &json!({"ttl_ms": 60_000}));
    session["session"].as_str().expect("it has a name").to_owned()
}

fn acquire(member: &Running, by: &str, more: &Value) -> (u16, Value) {
    let mut body = json!({"session": by, "wait_ms": 0});
    body.as_object_mut().expect("it is one").extend(more.as_object().cloned().expect("it is one"));
    post(member, "/v1/locks/the%2Fdoor/acquire", &body)
}

fn error(answer: &(u16, Value)) -> (u16, &str) {
    (answer.0, answer.1["error"].as_str().unwrap_or("none"))
}

fn word(status: &Status) -> &str {
    status.metadata().get("habemus-error").and_then(|word| word.to_str().ok()).unwrap_or("none")
}

#[test]
fn a_session_lasts_a_tenth_of_a_second_if_nobody_renews_it_and_longer_if_somebody_does() {
    let (_directory, member) = member();
    let short = post(&member, "/v1/sessions", &json!({"ttl_ms": 99}));
    assert_eq!(error(&short), (400, "invalid_argument"));
    let began = Instant::now();
    let (status, opened) = post(&member, "/v1/sessions", &json!({"ttl_ms": 100}));
    assert_eq!((status, &opened["ttl_ms"]), (200, &json!(100)));
    let left = opened["deadline_ms"].as_u64().zip(opened["now_ms"].as_u64());
    assert!(left.is_some_and(|(deadline, now)| (1..=100).contains(&(deadline - now))), "{opened}");
    let path = format!("/v1/sessions/{}", opened["session"].as_str().expect("it has a name"));
    while ask(&member, "GET", &path, "").0 == 200 {
        assert!(began.elapsed() < PATIENCE, "it does not end");
    }
    assert!(began.elapsed() >= Duration::from_millis(100), "not before its time was over");
    let late = post(&member, &format!("{path}/renew"), &json!({}));
    assert_eq!(error(&late), (404, "session_not_found"));

    // One that lasts long enough for a loaded machine, renewed beyond its first deadline.
    let (_, opened) = post(&member, "/v1/sessions", &json!({"ttl_ms": 20_000}));
    let path = format!("/v1/sessions/{}", opened["session"].as_str().expect("it has a name"));
    std::thread::sleep(Duration::from_millis(10));
    let (_, renewed) = post(&member, &format!("{path}/renew"), &json!({}));
    assert!(renewed["deadline_ms"].as_u64() > opened["deadline_ms"].as_u64(), "{opened} {renewed}");
    assert_eq!(ask(&member, "DELETE", &path, "").0, 200);
    assert_eq!(ask(&member, "GET", &path, "").0, 404);
}

#[test]
fn a_lock_has_an_owner_and_everybody_sees_who_waits_behind_whom() {
    let (_directory, member) = member();
    let (first, second) = (session(&member), session(&member));
    let (status, grant) = acquire(&member, &first, &json!({"value": "nightly"}));
    assert_eq!(status, 200, "{grant}");
    assert!(grant["deadline_ms"].as_u64() > grant["now_ms"].as_u64(), "{grant}");
    assert_eq!(error(&acquire(&member, &second, &json!({}))), (409, "held"));
    assert_eq!(error(&acquire(&member, &second, &json!({"wait_ms": 20}))), (409, "held"));
    let queue = look(&member, "/v1/locks/the%2Fdoor");
    assert_eq!((queue["holders"][0]["value"].as_str(), &queue["waiters"]), (Some("nightly"), &json!([])));
    assert!(queue["holders"][0]["inside_since_ms"].as_u64() >= queue["holders"][0]["since_ms"].as_u64());

    let release = |by: &str, token: &Value| {
        post(&member, "/v1/locks/the%2Fdoor/release", &json!({"session": by, "token": token}))
    };
    assert_eq!(error(&release(&second, &grant["token"])), (403, "not_owner"));
    assert_eq!(error(&release(&first, &json!(1))), (403, "not_owner"));
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| acquire(&member, &second, &json!({"wait_ms": 60_000})));
        let queue = loop {
            let queue = look(&member, "/v1/locks/the%2Fdoor");
            if queue["waiters"] != json!([]) {
                break queue;
            }
        };
        assert_eq!(queue["waiters"][0]["behind"], grant["token"]);
        let all = look(&member, "/v1/locks");
        assert_eq!(all["queues"][0]["waiters"], queue["waiters"], "{all}");
        assert_eq!(release(&first, &grant["token"]).0, 200);
        let (status, next) = waiting.join().expect("it does not panic");
        assert_eq!(status, 200, "{next}");
        assert!(next["token"].as_u64() > grant["token"].as_u64());
    });
    assert_eq!(error(&release(&first, &grant["token"])), (403, "not_owner"));
}

#[test]
fn some_share_and_some_have_permits_and_nobody_has_both() {
    let (_directory, member) = member();
    let sessions: Vec<String> = (0..3).map(|_| session(&member)).collect();
    let shared = json!({"shared": true});
    let grants: Vec<_> = sessions[..2].iter().map(|by| acquire(&member, by, &shared)).collect();
    assert!(grants.iter().all(|grant| grant.0 == 200), "{grants:?}");
    assert_eq!(error(&acquire(&member, &sessions[2], &json!({}))), (409, "held"));
    assert_eq!(error(&acquire(&member, &sessions[0], &json!({}))), (409, "other_mode"));
    let both = json!({"shared": true, "permits": 2});
    assert_eq!(error(&acquire(&member, &sessions[2], &both)), (400, "invalid_argument"));
    for by in &sessions[..2] {
        ask(&member, "DELETE", &format!("/v1/sessions/{by}"), "");
    }
    let sessions: Vec<String> = (0..3).map(|_| session(&member)).collect();
    let permits = json!({"permits": 2});
    let granted: Vec<u16> = sessions.iter().map(|by| acquire(&member, by, &permits).0).collect();
    assert_eq!(granted, [200, 200, 409]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_guarded_write_holds_only_while_its_token_is_inside() {
    let (_directory, member) = member();
    let (first, second) = (session(&member), session(&member));
    let (_, grant) = acquire(&member, &first, &json!({}));
    let write = |by: &str, token: &Value| {
        let body = json!({"session": by, "token": token, "puts": [{"key": "balance", "value": "7"}]});
        post(&member, "/v1/locks/the%2Fdoor/write", &body)
    };
    assert_eq!(write(&first, &grant["token"]).0, 200);
    let channel = member.channel().await;
    assert_eq!(get(&channel, "balance").await.kvs[0].value.as_ref(), b"7");
    // Whoever waits is not inside.
    let request = rpc::Acquire { name: "the/door".into(), session: second.clone(), ..Default::default() };
    let waiting = tokio::spawn({
        let channel = channel.clone();
        async move { LocksClient::new(channel).acquire(request).await }
    });
    let queued = loop {
        let queue = look(&member, "/v1/locks/the%2Fdoor");
        if queue["waiters"] != json!([]) {
            break queue["waiters"][0]["token"].clone();
        }
    };
    assert_eq!(error(&write(&second, &queued)), (412, "fenced"));
    let body = json!({"session": first, "token": grant["token"]});
    assert_eq!(post(&member, "/v1/locks/the%2Fdoor/release", &body).0, 200);
    let next = waiting.await.expect("it does not panic").expect("it is inside").into_inner();
    assert_eq!(json!(next.token), queued, "the token is that of the place");
    assert_eq!(error(&write(&first, &grant["token"])), (412, "fenced"));
    assert_eq!(write(&second, &queued).0, 200);
    let revision = get(&channel, "balance").await.kvs[0].version;
    assert_eq!(revision, 2, "what was fenced has written nothing");
}

async fn open(channel: &Channel) -> String {
    let opened = SessionsClient::new(channel.clone()).open(rpc::OpenSession { ttl_ms: 60_000 }).await;
    opened.expect("it answers").into_inner().session
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_happens_to_a_lock_is_told_in_order() {
    let (_directory, member) = member();
    let channel = member.channel().await;
    let mut locks = LocksClient::new(channel.clone());
    let named = rpc::NamedLock { name: "door".into() };
    let mut events = locks.watch(named).await.expect("it answers").into_inner();
    let mut next = async || {
        let event = events.message().await.expect("it goes on").expect("it goes on");
        (event.kind, event.token)
    };
    assert_eq!(next().await, ("vacant".to_owned(), 0));
    let (first, second) = (open(&channel).await, open(&channel).await);
    let wants = |session: &str| rpc::Acquire {
        name: "door".into(),
        session: session.to_owned(),
        ..Default::default()
    };
    let grant = locks.acquire(wants(&first)).await.expect("nobody is inside").into_inner();
    assert_eq!(next().await, ("queued".to_owned(), grant.token));
    assert_eq!(next().await, ("granted".to_owned(), grant.token));
    let mut other = locks.clone();
    let waits = wants(&second);
    let waiting = tokio::spawn(async move { other.acquire(waits).await });
    let (kind, token) = next().await;
    assert_eq!(kind, "queued");
    SessionsClient::new(channel.clone())
        .end(rpc::NamedSession { session: first })
        .await
        .expect("it is there");
    assert_eq!(next().await, ("left".to_owned(), grant.token));
    assert_eq!(next().await, ("granted".to_owned(), token));
    let granted = waiting.await.expect("it does not panic").expect("it is inside").into_inner();
    assert_eq!(granted.token, token);
    let release = rpc::Release { name: "door".into(), session: second, token };
    locks.release(release).await.expect("it is inside");
    assert_eq!(next().await, ("left".to_owned(), token));
    assert_eq!(next().await, ("vacant".to_owned(), 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn observers_hear_of_every_leader_and_of_every_vacancy() {
    let (_directory, member) = member();
    let channel = member.channel().await;
    let mut elections = ElectionsClient::new(channel.clone());
    let named = rpc::NamedLock { name: "seat".into() };
    let mut told = elections.observe(named.clone()).await.expect("it answers").into_inner();
    let session = open(&channel).await;
    let mut expected = vec![None];
    for round in 0..5 {
        let request = rpc::Campaign {
            name: "seat".into(),
            session: session.clone(),
            value: format!("round {round}"),
            wait_ms: Some(0),
        };
        let leads = elections.campaign(request).await.expect("nobody leads").into_inner();
        let (name, token) = (leads.name, leads.token);
        let proclaim = rpc::Proclaim { name, token, session: session.clone(), value: "still".into() };
        let proclaimed = elections.proclaim(proclaim.clone()).await.expect("it leads").into_inner();
        assert!(proclaimed.deadline_ms > proclaimed.now_ms);
        let resign = rpc::Release { name: "seat".into(), session: session.clone(), token };
        elections.resign(resign).await.expect("it leads");
        let late = elections.proclaim(proclaim).await.expect_err("it has resigned");
        assert_eq!((late.code(), word(&late)), (Code::FailedPrecondition, "not_owner"));
        expected.extend([Some((token, format!("round {round}"))), Some((token, "still".into())), None]);
    }
    // Everything has happened before anything is read, and nothing is left out.
    for expected in expected {
        let office = told.message().await.expect("it goes on").expect("it goes on");
        assert_eq!(office.vacant, expected.is_none());
        assert_eq!(office.leader.map(|leader| (leader.token, leader.value)), expected);
    }
    assert!(elections.get(named).await.expect("it answers").into_inner().vacant);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_is_given_up_leaves_the_queue_unless_a_later_one_stands_for_it() {
    let (_directory, member) = member();
    let channel = member.channel().await;
    let (first, second) = (open(&channel).await, open(&channel).await);
    let wants = |session: &str| rpc::Acquire {
        name: "door".into(),
        session: session.to_owned(),
        ..Default::default()
    };
    let mut locks = LocksClient::new(channel.clone());
    let grant = locks.acquire(wants(&first)).await.expect("nobody is inside").into_inner();
    let waiters = || look(&member, "/v1/locks/door")["waiters"].as_array().map_or(0, Vec::len);
    let call = || {
        let (mut locks, wants) = (locks.clone(), wants(&second));
        tokio::spawn(async move { locks.acquire(wants).await })
    };
    let alone = call();
    while waiters() == 0 {}
    alone.abort();
    while waiters() > 0 {}

    let earlier = call();
    while waiters() == 0 {}
    let written = |store: &Value| store["queues"][0]["revision"].as_u64();
    let before = written(&look(&member, "/v1/locks"));
    let later = call();
    while written(&look(&member, "/v1/locks")) == before {}
    earlier.abort();
    // The server has heard of it when it has forgotten the call; whatever it does then must not count.
    let deadline = Instant::now() + Duration::from_millis(200);
    while Instant::now() < deadline {
        assert_eq!(waiters(), 1, "the later call still stands there");
    }
    let release = rpc::Release { name: "door".into(), session: first, token: grant.token };
    locks.release(release).await.expect("it is inside");
    let next = later.await.expect("it does not panic").expect("it is inside").into_inner();
    assert!(next.token > grant.token);
}

#[test]
fn every_route_is_served_and_described() {
    let (_directory, member) = member();
    assert_eq!(look(&member, "/v1/openapi.json"), openapi());
    for route in ROUTES.iter().filter(|route| !route.path.ends_with("/events")) {
        let path = route.path.replace("{session}", "1").replace("{name}", "door");
        let method = match route.method {
            Method::Get => "GET",
            Method::Post => "POST",
            Method::Delete => "DELETE",
        };
        let (status, answer) = ask(&member, method, &path, "");
        assert!(serde_json::from_str::<Value>(&answer).is_ok(), "{method} {path}: {status} {answer}");
    }
    let wrong = post(&member, "/v1/sessions", &json!({"ttl": 100}));
    assert_eq!(error(&wrong), (400, "invalid_argument"));
    assert!(wrong.1["message"].as_str().is_some_and(|text| text.contains("ttl_ms")), "{}", wrong.1);
    let no_session = acquire(&member, "nobody", &json!({}));
    assert_eq!(error(&no_session), (400, "invalid_argument"));
    assert_eq!(error(&acquire(&member, "77", &json!({}))), (404, "session_not_found"));
}

#[test]
fn whoever_may_not_is_told_so_by_both_ways() {
    if !installed("etcdctl", "etcd-client") {
        return;
    }
    let (_directory, member) = member();
    for arguments in [
        &["user", "add", "root:secret"][..],
        &["user", "grant-role", "root", "root"],
        &["user", "add", "alice:wonder"],
        &["role", "add", "doors"],
        &["role", "grant-permission", "doors", "readwrite", "door/", "--prefix"],
        &["user", "grant-role", "alice", "doors"],
        &["auth", "enable"],
    ] {
        let said = member.etcdctl(arguments);
        assert!(!said.contains("Error"), "{arguments:?}: {said}");
    }
    let nobody = post(&member, "/v1/sessions", &json!({"ttl_ms": 60_000}));
    assert_eq!(error(&nobody), (403, "permission_denied"));
    assert_eq!(ask(&member, "GET", "/v1/locks", "").0, 403);
    let (_, token) = post(&member, "/v3/auth/authenticate", &json!({"name": "alice", "password": "wonder"}));
    let token = token["token"].as_str().expect("the password is right");
    let alice = |method: &str, path: &str, body: &Value| {
        let (status, answer) = ask_as(&member, token, method, path, &body.to_string());
        (status, serde_json::from_str::<Value>(&answer).expect("it is JSON"))
    };
    let (status, session) = alice("POST", "/v1/sessions", &json!({"ttl_ms": 60_000}));
    assert_eq!(status, 200, "{session}");
    let wants = json!({"session": session["session"], "wait_ms": 0});
    let (status, grant) = alice("POST", "/v1/locks/door/acquire", &wants);
    assert_eq!(status, 200, "{grant}");
    assert_eq!(alice("GET", "/v1/locks", &json!({})).1["queues"].as_array().map(Vec::len), Some(1));
    let other = alice("POST", "/v1/locks/vault/acquire", &wants);
    assert_eq!(error(&other), (403, "permission_denied"));
    assert_eq!(error(&alice("GET", "/v1/locks/vault", &json!({}))), (403, "permission_denied"));
    assert_eq!(error(&alice("GET", "/v1/elections/vault/events", &json!({}))), (403, "permission_denied"));
    let write = |key: &str| {
        let puts = json!([{"key": key, "value": "1"}]);
        json!({"session": session["session"], "token": grant["token"], "puts": puts})
    };
    assert_eq!(alice("POST", "/v1/locks/door/write", &write("door/colour")).0, 200);
    let vault = alice("POST", "/v1/locks/door/write", &write("vault/colour"));
    assert_eq!(error(&vault), (403, "permission_denied"));
}
