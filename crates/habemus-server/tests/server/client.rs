//! The client for programs in Rust.

use std::num::NonZeroU32;
use std::time::Duration;

use habemus_client::{Client, ClientError, Mode, Wait};

use crate::proxy::Proxy;
use crate::support::{Directory, PATIENCE, Running};

#[path = "../../../habemus-client/examples/elect.rs"]
mod elect_example;
#[path = "../../../habemus-client/examples/exclusive.rs"]
mod lock_example;
#[path = "../../../habemus-client/examples/watch.rs"]
mod watch_example;

fn member() -> (Directory, Running, Client) {
    let directory = Directory::new();
    let member = Running::start(&directory.join("data"), &[]);
    let client = Client::connect([member.address()]).expect("it is an address");
    (directory, member, client)
}

const TTL: Duration = Duration::from_secs(30);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn guards_have_growing_tokens_and_let_the_next_one_in() {
    let (_directory, _member, client) = member();
    let sessions = [client.session(TTL).await, client.session(TTL).await].map(|it| it.expect("it answers"));
    let first = sessions[0].lock("door", Wait::Always).await.expect("nobody is inside");
    assert!(first.valid_until().is_some_and(|until| until <= habemus_client::now() + TTL));
    let busy = sessions[1].lock("door", Wait::Never).await.expect_err("somebody is inside");
    assert!(matches!(busy, ClientError::Busy), "{busy}");
    let late = sessions[1].lock("door", Wait::For(Duration::from_millis(100))).await;
    assert!(matches!(late, Err(ClientError::Busy)), "{late:?}");
    assert_eq!(client.queue("door").await.expect("it answers").len(), 1, "who gave up has left the queue");

    let waiting = tokio::spawn({
        let session = sessions[1].clone();
        async move { session.lock("door", Wait::Always).await }
    });
    while client.queue("door").await.expect("it answers").len() < 2 {}
    let token = first.token();
    first.release().await.expect("it was held");
    let second = waiting.await.expect("it does not panic").expect("it is inside");
    assert!(second.token() > token);
    // Dropping it lets the next one in, too.
    drop(second);
    sessions[0].lock("door", Wait::For(PATIENCE)).await.expect("nobody is inside");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_guard_knows_by_itself_that_it_is_lost() {
    let (_directory, member, client) = member();
    let session = client.session(Duration::from_secs(3)).await.expect("it answers");
    let guard = session.lock("door", Wait::Always).await.expect("nobody is inside");
    let first = guard.valid_until().expect("it has just begun");
    while guard.valid_until().expect("it is renewed") == first {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    member.signal("STOP");
    guard.lost().await;
    assert_eq!(guard.valid_until(), None);
    member.signal("CONT");
    let other = client.session(TTL).await.expect("it answers again");
    let next = other.lock("door", Wait::For(PATIENCE)).await.expect("the first one's time is over");
    assert!(next.token() > guard.token());
    let gone = guard.release().await.expect_err("somebody else is inside");
    assert!(matches!(gone, ClientError::Evicted), "{gone}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_counts_from_when_it_was_asked_for_however_late_the_answer_comes() {
    let (_directory, member, _) = member();
    let proxy = Proxy::to(member.address());
    let client = Client::connect([proxy.address()]).expect("it is an address");
    client.session(TTL).await.expect("it is connected");
    proxy.silence();
    let late = Duration::from_millis(900);
    let heal = async {
        tokio::time::sleep(late).await;
        let healed = habemus_client::now();
        proxy.heal();
        healed
    };
    let (session, healed) = tokio::join!(client.session(TTL), heal);
    let until = session.expect("it answers in the end").valid_until().expect("it has just begun");
    assert!(until <= healed + TTL - late, "it counts from the answer: {until:?} is {:?} on", until - healed);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn observers_are_told_who_leads_and_that_nobody_does() {
    let (_directory, _member, client) = member();
    let mut observation = client.observe("seat");
    assert_eq!(observation.next().await.expect("it answers"), None);
    let session = client.session(TTL).await.expect("it answers");
    let leads = session.campaign("seat", "first", Wait::Always).await.expect("nobody leads");
    let seen = observation.next().await.expect("it answers").expect("somebody leads");
    assert_eq!((seen.value.as_ref(), seen.token, seen.session), (&b"first"[..], leads.token(), session.id()));
    leads.proclaim("second").await.expect("it leads");
    let seen = observation.next().await.expect("it answers").expect("somebody leads");
    assert_eq!(seen.value.as_ref(), b"second");
    leads.release().await.expect("it leads");
    assert_eq!(observation.next().await.expect("it answers"), None);
    assert!(matches!(Client::connect(Vec::<String>::new()), Err(ClientError::NoAddress)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_examples_work() {
    let (_directory, member, _client) = member();
    let members = [member.address()];
    lock_example::run(&members).await.expect("locks work");
    elect_example::run(&members).await.expect("elections work");
    watch_example::run(&members).await.expect("watches work");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_watch_goes_on_where_it_was_through_broken_connections() {
    let (_directory, member, client) = member();
    let proxy = Proxy::to(member.address());
    let watching = Client::connect([proxy.address()]).expect("it is an address");
    let mut watch = watching.watch_prefix("key/");
    watch.begin().await.expect("it answers");
    let first = watch.position();
    let writing = tokio::spawn(async move {
        for number in 0..300 {
            client.put(format!("key/{number}"), "value").await.expect("it answers");
        }
    });
    let mut seen = Vec::new();
    for number in 0..300 {
        if number % 20 == 10 {
            proxy.break_all();
        }
        let event = tokio::time::timeout(PATIENCE, watch.next()).await;
        seen.push(event.expect("it goes on").expect("it goes on"));
    }
    writing.await.expect("it does not panic");
    let revisions: Vec<i64> = seen.iter().map(|event| event.revision).collect();
    assert_eq!(revisions, (first..first + 300).collect::<Vec<i64>>(), "each once, and in order");
    assert_eq!(seen[299].key.as_ref(), b"key/299");
    // What is not known any more is not passed over in silence.
    let mut forgotten = watching.watch("key/1").from(first);
    let compact = habemus_etcd::etcdserverpb::CompactionRequest { revision: first + 100, physical: false };
    let mut kv = habemus_etcd::etcdserverpb::kv_client::KvClient::new(member.channel().await);
    kv.compact(compact).await.expect("it is known");
    let told = forgotten.next().await;
    assert!(matches!(told, Err(ClientError::Compacted(at)) if at == first + 100), "{told:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sessions_may_be_shorter_than_a_second_and_are_renewed() {
    let (_directory, member, client) = member();
    let session = client.session(Duration::from_millis(2500)).await.expect("it answers");
    assert_eq!(session.ttl(), Duration::from_millis(2500));
    let until = session.valid_until().expect("it is there");
    let later = session.renewed().await.expect("it is renewed");
    assert!(later > until);
    let short = client.session(Duration::from_millis(100)).await.expect("it answers");
    assert_eq!(short.ttl(), Duration::from_millis(100));
    member.signal("STOP");
    short.lost().await;
    session.lost().await;
    member.signal("CONT");
    let refused = client.session(Duration::from_millis(50)).await.expect_err("nobody could renew it in time");
    assert!(refused.to_string().contains("100 milliseconds"), "{refused}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn some_share_some_have_permits_and_nobody_overtakes() {
    let (_directory, _member, client) = member();
    let mut sessions = Vec::new();
    for _ in 0..4 {
        sessions.push(client.session(TTL).await.expect("it answers"));
    }
    let reads = sessions[0].lock_as("book", Mode::Shared, Wait::Never).await.expect("nobody is inside");
    let writer = sessions[1].clone();
    let writes = tokio::spawn(async move { writer.lock("book", Wait::Always).await });
    while client.queue("book").await.expect("it answers").len() < 2 {}
    let busy = sessions[2].lock_as("book", Mode::Shared, Wait::Never).await;
    assert!(matches!(busy, Err(ClientError::Busy)), "a writer waits: {busy:?}");
    reads.release().await.expect("it is inside");
    let writes = writes.await.expect("it does not panic").expect("it is inside");
    writes.put("page", "1").await.expect("it is inside");
    let token = writes.token();
    let key = writes.key().clone();
    writes.release().await.expect("it is inside");
    assert!(!client.queue("book").await.expect("it answers").iter().any(|place| place.key == key));

    let two = Mode::Permits(NonZeroU32::new(2).expect("it is not zero"));
    let first = sessions[0].lock_as("book", two, Wait::Never).await.expect("nobody is inside");
    let _second = sessions[1].lock_as("book", two, Wait::Always).await.expect("there is a permit");
    let third = sessions[2].lock_as("book", two, Wait::For(Duration::from_millis(50))).await;
    assert!(matches!(third, Err(ClientError::Busy)), "{third:?}");
    let waiter = sessions[3].clone();
    let waits = tokio::spawn(async move { waiter.lock_as("book", two, Wait::Always).await });
    while client.queue("book").await.expect("it answers").len() < 3 {}
    drop(first);
    let third = waits.await.expect("it does not panic").expect("a permit is free");
    assert!(third.token() > token);
}
