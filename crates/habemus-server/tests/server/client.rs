//! The client for programs in Rust.

use std::time::Duration;

use habemus_client::{Client, ClientError, Wait};

use crate::support::{Directory, PATIENCE, Running};

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
    let session = client.session(Duration::from_secs(1)).await.expect("it answers");
    let guard = session.lock("door", Wait::Always).await.expect("nobody is inside");
    // It is renewed for longer than it lasts.
    tokio::time::sleep(Duration::from_millis(1500)).await;
    assert!(guard.valid_until().is_some());
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
