//! SIGKILL, SIGSTOP, restarts from disk, cuts.

use std::time::Duration;

use habemus::Status;
use habemus_node::SupervisorCommand;
use habemus_trace::Happening;
use tokio::time::Instant;

use crate::bench::{Scratch, cluster, until};

#[tokio::test]
async fn the_bully_elects_survives_its_leader_and_takes_it_back() {
    let scratch = Scratch::new();
    let mut cluster = cluster(&scratch, "bully", 3, &["--detector", "heartbeat"]).await;
    cluster.tell(1, SupervisorCommand::Command { word: "elect".to_owned(), name: String::new() });
    until(&mut cluster, "3 leads", |it| it.agreed_leader() == Some(3)).await;
    cluster.kill(3).await;
    until(&mut cluster, "2 leads", |it| it.agreed_leader() == Some(2)).await;
    cluster.restart(3, false).await.unwrap();
    until(&mut cluster, "3 leads again", |it| it.agreed_leader() == Some(3)).await;
    let trace = cluster.trace(None).unwrap();
    let crashes = trace.records.iter().filter(|record| record.what == Happening::Crash).count();
    assert_eq!(crashes, 1);
    let restarts: Vec<_> = trace
        .records
        .iter()
        .filter(|record| matches!(record.what, Happening::Start { recovered: true }))
        .map(|record| record.process)
        .collect();
    assert_eq!(restarts, [Some(3)]);
    cluster.end().await;
}

#[tokio::test]
async fn a_stopped_leader_is_replaced_and_follows_when_it_goes_on() {
    let scratch = Scratch::new();
    let mut cluster = cluster(&scratch, "majority", 3, &[]).await;
    until(&mut cluster, "somebody leads", |it| it.agreed_leader().is_some()).await;
    let first = cluster.agreed_leader().unwrap();
    cluster.pause(first);
    until(&mut cluster, "another leads", |it| {
        it.alive().any(|id| id != first && it.status(id) == Some(Status::Leading))
    })
    .await;
    cluster.resume(first);
    until(&mut cluster, "all agree", |it| it.agreed_leader().is_some_and(|leader| leader != first)).await;
    cluster.end().await;
}

#[tokio::test]
async fn a_leader_that_reaches_nobody_is_replaced_by_the_majority() {
    let scratch = Scratch::new();
    let mut cluster = cluster(&scratch, "majority", 3, &[]).await;
    until(&mut cluster, "somebody leads", |it| it.agreed_leader().is_some()).await;
    let first = cluster.agreed_leader().unwrap();
    let others: Vec<u64> = cluster.alive().filter(|id| *id != first).collect();
    let links: Vec<(u64, u64)> = others.iter().flat_map(|id| [(first, *id), (*id, first)]).collect();
    cluster.cut(&links);
    until(&mut cluster, "the others agree", |it| {
        let leads = |id: &u64| it.status(*id) == Some(Status::Leading);
        others.iter().any(leads) && !leads(&first)
    })
    .await;
    cluster.heal(&[]);
    until(&mut cluster, "all agree", |it| it.agreed_leader().is_some()).await;
    cluster.end().await;
}

/// Each side has a leader while a partition lasts; when it is healed, all follow the best of all again.
#[tokio::test]
async fn after_a_partition_everybody_follows_the_best_live_process_again() {
    for algorithm in ["bully", "collecting-ring", "chang-roberts"] {
        let scratch = Scratch::new();
        let mut cluster = cluster(&scratch, algorithm, 4, &["--detector", "heartbeat"]).await;
        cluster.tell(1, SupervisorCommand::Command { word: "elect".to_owned(), name: String::new() });
        until(&mut cluster, "4 leads", |it| it.agreed_leader() == Some(4)).await;
        let apart = [(1, 3), (1, 4), (2, 3), (2, 4)];
        let links: Vec<(u64, u64)> =
            apart.iter().flat_map(|&(one, other)| [(one, other), (other, one)]).collect();
        cluster.cut(&links);
        until(&mut cluster, "2 leads, too", |it| it.status(2) == Some(Status::Leading)).await;
        cluster.heal(&[]);
        until(&mut cluster, "4 leads again", |it| it.agreed_leader() == Some(4)).await;
        cluster.end().await;
    }
}

/// How long the others take to agree on another leader, once killed and once told to stop.
async fn times_to_replace_a_leader(algorithm: &str, flags: &[&str]) -> [Duration; 2] {
    let scratch = Scratch::new();
    let mut cluster = cluster(&scratch, algorithm, 5, flags).await;
    cluster.tell(1, SupervisorCommand::Command { word: "elect".to_owned(), name: String::new() });
    let mut times = [Duration::ZERO; 2];
    for (kindly, time) in times.iter_mut().enumerate() {
        until(&mut cluster, "all agree", |it| it.agreed_leader().is_some()).await;
        // Everybody has heard of everybody.
        let deadline = Instant::now() + Duration::from_millis(500);
        while cluster.attend(deadline).await.expect("no node ends by itself").is_some() {}
        until(&mut cluster, "all agree still", |it| it.agreed_leader().is_some()).await;
        let leader = cluster.agreed_leader().unwrap();
        let began = Instant::now();
        if kindly == 1 {
            cluster.terminate(leader).await;
        } else {
            cluster.kill(leader).await;
        }
        until(&mut cluster, "the others agree", |it| it.agreed_leader().is_some_and(|other| other != leader))
            .await;
        *time = began.elapsed();
        cluster.restart(leader, false).await.unwrap();
    }
    cluster.end().await;
    times
}

#[tokio::test]
async fn a_leader_that_is_told_to_stop_need_not_be_missed_first() {
    let detector = ["--detector", "heartbeat", "--option", "heartbeat-timeout=3s"];
    let timeouts = ["--option", "min-timeout=2s", "--option", "max-timeout=3s"];
    for (algorithm, flags) in [("bully", detector), ("majority", timeouts)] {
        let [killed, stopped] = times_to_replace_a_leader(algorithm, &flags).await;
        assert!(stopped * 3 < killed, "{algorithm}: {stopped:?} after SIGTERM, {killed:?} after SIGKILL");
    }
}

#[tokio::test]
async fn a_holder_that_is_told_to_stop_hands_the_lock_over() {
    let scratch = Scratch::new();
    let mut cluster = cluster(&scratch, "coordinator", 3, &[]).await;
    let acquire = || SupervisorCommand::Command { word: "acquire".to_owned(), name: String::new() };
    cluster.tell(2, acquire());
    until(&mut cluster, "2 is inside", |it| it.status(2) == Some(Status::Inside)).await;
    cluster.tell(3, acquire());
    until(&mut cluster, "3 waits", |it| it.status(3) == Some(Status::Waiting)).await;
    cluster.terminate(2).await;
    until(&mut cluster, "3 is inside", |it| it.status(3) == Some(Status::Inside)).await;
    cluster.end().await;
}

#[tokio::test]
async fn locks_have_names_and_do_not_wait_for_each_other() {
    let scratch = Scratch::new();
    let mut cluster = cluster(&scratch, "ricart-agrawala", 3, &[]).await;
    let named = |name: &str| SupervisorCommand::Command { word: "acquire".to_owned(), name: name.to_owned() };
    cluster.tell(1, named("orders"));
    cluster.tell(2, named("stock"));
    let deadline = Instant::now() + crate::bench::LONG;
    loop {
        let overviews = cluster.overviews(deadline).await.unwrap();
        let inside = |id: u64, name: &str| {
            overviews.get(&id).is_some_and(|it| it.locks.get(name) == Some(&Status::Inside))
        };
        if inside(1, "orders") && inside(2, "stock") {
            break;
        }
        assert!(Instant::now() < deadline, "{overviews:?}");
    }
    cluster.end().await;
}
