//! What an application sees of a node.

use std::time::Duration;

use habemus_node::{ElectionEvent, ElectionHandle, Leadership, LockError, Node, NodeError, Settings};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// However loaded the machine, this is long enough.
const LONG: Duration = Duration::from_secs(60);

async fn nodes(algorithm: &str, count: u64, adapt: impl Fn(&mut Settings)) -> Vec<Node> {
    let ids: Vec<u64> = (1..=count).collect();
    let mut nodes = Vec::new();
    for id in &ids {
        let mut settings = Settings::new(algorithm, *id, ids.clone());
        adapt(&mut settings);
        nodes.push(Node::start(settings).await.expect("a node starts"));
    }
    for one in &nodes {
        nodes.iter().for_each(|other| one.introduce(other.id(), other.address()));
    }
    nodes
}

#[tokio::test]
async fn everybody_sees_the_same_leader_and_the_leader_hears_of_it() {
    let nodes = nodes("majority", 3, |_| {}).await;
    let elections: Vec<_> = nodes.iter().map(|node| node.election().unwrap()).collect();
    let mut events: Vec<_> = elections.iter().map(ElectionHandle::events).collect();
    let mut known = Vec::new();
    for election in &elections {
        let mut leader = election.leader();
        let seen = timeout(LONG, leader.wait_for(|now| now.leader().is_some())).await.unwrap().unwrap();
        known.push((seen.leader().unwrap(), seen.term()));
    }
    let newest = known.iter().max_by_key(|(_, term)| *term).copied().unwrap();
    let index = (newest.0 - 1) as usize;
    let event = timeout(LONG, async {
        loop {
            match events[index].recv().await.unwrap() {
                ElectionEvent::Elected { term } if term == newest.1 => return term,
                _ => {}
            }
        }
    });
    assert_eq!(event.await.unwrap(), newest.1);
}

#[tokio::test]
async fn one_holder_at_a_time_across_nodes_and_tasks_with_growing_tokens() {
    let nodes = nodes("coordinator", 3, |settings| {
        settings.options.insert("fencing".to_owned(), "true".to_owned());
    })
    .await;
    let inside = std::sync::Arc::new(std::sync::Mutex::new((0_u32, 0_u64)));
    let mut tasks = Vec::new();
    for node in &nodes {
        let locks = node.locks().unwrap();
        for _ in 0..3 {
            let (locks, inside) = (locks.clone(), std::sync::Arc::clone(&inside));
            tasks.push(tokio::spawn(async move {
                for _ in 0..3 {
                    let guard = locks.acquire("stock").await.unwrap();
                    let token = guard.token();
                    {
                        let mut inside = inside.lock().unwrap();
                        inside.0 += 1;
                        assert_eq!(inside.0, 1, "two are inside");
                        assert!(token > inside.1, "token {token} after {}", inside.1);
                        inside.1 = token;
                    }
                    tokio::time::sleep(Duration::from_millis(1)).await;
                    inside.lock().unwrap().0 -= 1;
                    assert!(!guard.is_lost());
                }
            }));
        }
    }
    for task in tasks {
        timeout(LONG, task).await.expect("everybody gets in").unwrap();
    }
}

#[tokio::test]
async fn a_wait_that_is_given_up_does_not_keep_the_lock() {
    let nodes = nodes("ricart-agrawala", 2, |_| {}).await;
    let (first, second) = (nodes[0].unfenced_locks().unwrap(), nodes[1].unfenced_locks().unwrap());
    let held = timeout(LONG, first.acquire("door")).await.unwrap().unwrap();
    assert!(timeout(Duration::from_millis(50), second.acquire("door")).await.is_err(), "it is held");
    drop(held);
    // The request that was given up is served and passed on.
    let again = timeout(LONG, first.acquire("door")).await.unwrap().unwrap();
    assert_eq!(again.name(), "door");
}

#[tokio::test]
async fn those_who_share_are_in_together_and_nobody_overtakes_one_who_waits_to_be_alone() {
    let nodes = nodes("coordinator", 3, |_| {}).await;
    let locks: Vec<_> = nodes.iter().map(|node| node.unfenced_locks().unwrap()).collect();
    let mut shared = Vec::new();
    for index in [0, 1, 1, 2] {
        let guard = timeout(LONG, locks[index].acquire_shared("report")).await.expect("all share");
        shared.push(guard.unwrap());
    }
    let writer = tokio::spawn({
        let locks = locks[1].clone();
        async move { locks.acquire("report").await }
    });
    tokio::time::sleep(Duration::from_millis(200)).await;
    let late = tokio::spawn({
        let locks = locks[1].clone();
        async move { locks.acquire_shared("report").await }
    });
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert!(!writer.is_finished() && !late.is_finished(), "the others are inside, and one waits to be alone");
    shared.clear();
    let alone = timeout(LONG, writer).await.expect("the others have left").unwrap().unwrap();
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert!(!late.is_finished(), "it is alone");
    drop(alone);
    timeout(LONG, late).await.expect("nobody is inside").unwrap().unwrap();
}

#[tokio::test]
async fn a_leader_that_stops_hears_that_it_leads_no_longer() {
    let mut nodes = nodes("majority", 1, |_| {}).await;
    let election = nodes[0].election().unwrap();
    let (mut leader, mut events) = (election.leader(), election.events());
    timeout(LONG, leader.wait_for(Leadership::is_leading)).await.expect("it is alone").unwrap();
    nodes.remove(0).stop().await.unwrap();
    assert!(matches!(events.recv().await, Ok(ElectionEvent::Elected { .. } | ElectionEvent::Lost { .. })));
    timeout(LONG, leader.wait_for(|now| !now.is_leading())).await.expect("it has stopped").unwrap();
}

#[tokio::test]
async fn a_lease_that_is_over_is_noticed_by_the_guard() {
    let nodes = nodes("coordinator", 2, |settings| {
        settings.options.insert("lease".to_owned(), "50ms".to_owned());
    })
    .await;
    let mut guard =
        timeout(LONG, nodes[1].unfenced_locks().unwrap().acquire("short")).await.unwrap().unwrap();
    timeout(LONG, guard.lost()).await.expect("the lease ends");
    assert!(guard.is_lost());
}

#[tokio::test]
async fn what_the_algorithm_does_not_do_is_refused() {
    let node = Node::start(Settings::new("bully", 1, [1])).await.unwrap();
    assert!(matches!(node.locks(), Err(NodeError::Problem { .. })));
    let node = Node::start(Settings::new("coordinator", 1, [1])).await.unwrap();
    assert!(matches!(node.election(), Err(NodeError::Problem { .. })));
    let refused = node.locks().unwrap().acquire("../etc/passwd").await.unwrap_err();
    assert!(matches!(refused, LockError::Name(_)));
}

#[tokio::test]
async fn a_lock_without_a_fencing_token_must_be_asked_for_by_name() {
    let mut settings = Settings::new("ricart-agrawala", 1, [1]);
    settings.options.insert("fencing".to_owned(), "false".to_owned());
    let node = Node::start(settings).await.unwrap();
    let refused = node.locks().unwrap().acquire("door").await.unwrap_err();
    assert_eq!(refused, LockError::NoToken("ricart-agrawala"));
    // What was refused is not held.
    let guard = timeout(LONG, node.unfenced_locks().unwrap().acquire("door")).await.unwrap().unwrap();
    assert!(!guard.is_lost() && guard.lease().valid_until().is_none(), "no time ends it");
}

#[tokio::test]
async fn a_node_that_is_dropped_leads_no_longer_in_the_eyes_of_those_who_were_told() {
    let node = Node::start(Settings::new("majority", 1, [1])).await.unwrap();
    let mut leader = node.election().unwrap().leader();
    let known = timeout(LONG, leader.wait_for(Leadership::is_leading)).await.unwrap().unwrap().clone();
    assert!(known.lease().is_some_and(|lease| lease.valid_until().is_some()), "no longer than its lease");
    drop(node);
    timeout(LONG, leader.wait_for(|now| !now.is_leading())).await.expect("it is gone").unwrap();
    assert!(!known.is_leading() && known.leader().is_none());
}

/// How many locks have names, unless `HABEMUS_NAMES` says otherwise.
const NAMES: usize = 200;

#[tokio::test]
async fn hundreds_of_names_share_one_election_and_are_forgotten_when_nobody_uses_them() {
    let count = std::env::var("HABEMUS_NAMES").ok().and_then(|text| text.parse().ok()).unwrap_or(NAMES);
    let directory = std::env::temp_dir().join(format!("habemus-names-{}", std::process::id()));
    let nodes = nodes("majority", 3, |settings| {
        settings.data = Some(directory.join(settings.id.to_string()));
        settings.first_start = true;
    })
    .await;
    let descriptors = || std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
    let locks = nodes[1].locks().unwrap();
    let held = timeout(LONG, locks.acquire("first")).await.unwrap().unwrap();
    let before = descriptors();
    let names: Vec<String> = (0..count).map(|number| format!("name-{number}")).collect();
    let guards = names.iter().map(|name| locks.acquire(name));
    let guards = timeout(LONG, futures_util::future::join_all(guards)).await.expect("all are granted");
    let guards: Vec<_> = guards.into_iter().map(|guard| guard.expect("there is room")).collect();
    assert!(guards.iter().all(|guard| guard.token() > 0));
    assert!(descriptors() < before + count / 4, "{} and then {}", before, descriptors());
    assert!(nodes[1].overview().await.unwrap().locks.len() > count);
    drop((held, guards));
    for node in &nodes {
        let forgotten = async {
            while !node.overview().await.unwrap().locks.is_empty() {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        timeout(LONG, forgotten).await.expect("names are forgotten");
    }
    let _ = std::fs::remove_dir_all(&directory);
}

#[tokio::test]
async fn one_name_too_many_is_refused_with_the_limit_until_another_is_free() {
    let nodes = nodes("majority", 1, |_| {}).await;
    let locks = nodes[0].locks().unwrap();
    let mut guards = Vec::new();
    for number in 0..habemus_node::MAX_LOCKS {
        let guard = timeout(LONG, locks.acquire(&format!("name-{number}"))).await.unwrap();
        guards.push(guard.expect("there is room"));
    }
    let refused = timeout(LONG, locks.acquire("one-more")).await.unwrap().unwrap_err();
    assert!(refused.to_string().contains("at most 1024 locks"), "{refused}");
    guards.pop();
    let free = async {
        while locks.acquire("one-more").await.is_err() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(LONG, free).await.expect("a name that nobody uses makes room");
}

#[tokio::test]
async fn a_lease_is_renewed_as_long_as_the_guard_lives() {
    let nodes = nodes("majority", 3, |_| {}).await;
    let locks = nodes[0].locks().unwrap();
    let renewed = async {
        loop {
            let guard = locks.acquire("orders").await.unwrap();
            let first = guard.lease().valid_until().expect("it has a lease");
            // On a machine that stands still for too long it is lost, and rightly so.
            while !guard.is_lost() {
                if guard.lease().valid_until().is_some_and(|end| end > first + 2 * habemus_node::SHARED_LEASE)
                {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
    };
    timeout(LONG, renewed).await.expect("it is held for longer than two leases");
}

#[tokio::test]
async fn a_token_of_a_lock_that_was_forgotten_in_between_is_greater_all_the_same() {
    let nodes = nodes("majority", 1, |_| {}).await;
    let locks = nodes[0].locks().unwrap();
    let mut last = 0;
    for _ in 0..2 {
        let guard = timeout(LONG, locks.acquire("orders")).await.unwrap().unwrap();
        assert!(guard.token() > last, "{} after {last}", guard.token());
        last = guard.token();
        drop(guard);
        let forgotten = async {
            while !nodes[0].overview().await.unwrap().locks.is_empty() {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        timeout(LONG, forgotten).await.expect("names are forgotten");
    }
}

#[tokio::test]
async fn a_stopped_node_says_so() {
    let node = Node::start(Settings::new("coordinator", 1, [1])).await.unwrap();
    let locks = node.locks().unwrap();
    node.stop().await.unwrap();
    assert_eq!(timeout(LONG, locks.acquire("late")).await.unwrap().unwrap_err(), LockError::Stopped);
}

async fn get(address: &str, request: &str) -> String {
    let mut stream = TcpStream::connect(address).await.expect("it serves");
    let text = format!("{request} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
    stream.write_all(text.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

#[tokio::test]
async fn http_tells_status_leader_health_and_metrics() {
    let nodes = nodes("majority", 1, |settings| settings.http = Some("127.0.0.1:0".to_owned())).await;
    let mut leader = nodes[0].election().unwrap().leader();
    timeout(LONG, leader.wait_for(Leadership::is_leading)).await.unwrap().unwrap();
    let address = nodes[0].http().unwrap();
    assert!(get(address, "GET /health").await.ends_with("ok\n"));
    let leader = get(address, "GET /leader").await;
    assert!(leader.starts_with("HTTP/1.1 200") && leader.contains(r#""leader":1"#), "{leader}");
    assert!(leader.contains(&format!(r#""address":"{}""#, nodes[0].address())), "{leader}");
    let status = get(address, "GET /status").await;
    assert!(status.contains(r#""algorithm": "majority""#), "{status}");
    assert!(status.contains(r#""sent": {"#) && status.contains(r#""locks": {}"#), "{status}");
    let metrics = get(address, "GET /metrics").await;
    for line in ["# TYPE habemus_leading gauge", "habemus_leading 1", "habemus_frames_sent_total 0"] {
        assert!(metrics.lines().any(|found| found == line), "{line}: {metrics}");
    }
    assert!(get(address, "GET /secret").await.starts_with("HTTP/1.1 404"));
    assert!(get(address, "POST /status").await.starts_with("HTTP/1.1 405"));
}

#[tokio::test]
async fn nodes_with_certificates_find_each_other_and_refuse_those_without() {
    let directory = std::env::temp_dir().join(format!("habemus-certs-{}", std::process::id()));
    habemus_node::certs::make(&directory, &[1, 2], habemus_node::certs::Existing::Replace).unwrap();
    let files = |id| habemus_node::certs::node_files(&directory, id);
    let secure = nodes("majority", 2, |settings| settings.tls = Some(files(settings.id))).await;
    let mut leader = secure[0].election().unwrap().leader();
    timeout(LONG, leader.wait_for(|now| now.leader().is_some()))
        .await
        .expect("two nodes are a majority")
        .unwrap();

    // A certificate of another node is refused by the node itself.
    let wrong = Settings { tls: Some(files(2)), ..Settings::new("majority", 1, [1, 2]) };
    let error = Node::start(wrong).await.unwrap_err().to_string();
    assert!(error.contains("does not name this node"), "{error}");

    // Without TLS, or with a certificate of another authority, nobody gets in.
    let other = directory.join("other");
    habemus_node::certs::make(&other, &[2], habemus_node::certs::Existing::Replace).unwrap();
    let foreign = habemus_node::TlsFiles {
        authority: files(1).authority,
        ..habemus_node::certs::node_files(&other, 2)
    };
    for tls in [None, Some(foreign)] {
        let stranger = Node::start(Settings { tls, ..Settings::new("majority", 2, [1, 2]) }).await.unwrap();
        stranger.introduce(1, secure[0].address());
        tokio::time::sleep(Duration::from_millis(300)).await;
        assert!(stranger.overview().await.unwrap().connected.is_empty());
    }
    let _ = std::fs::remove_dir_all(&directory);
}
