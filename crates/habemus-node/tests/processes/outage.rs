//! The network is out of order for longer than messages wait, and nobody crashes.

use std::time::Duration;

use habemus::catalogue::{ENTRIES, Links};
use habemus::{ProblemKind, Status};
use habemus_node::{Node, Settings, UnfencedGuard, UnfencedLocks};
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::bench::{LONG, Scratch, cluster, until};

/// Messages that may get lost wait so long in these tests.
const PATIENCE: Duration = Duration::from_millis(20);

/// Every lock whose model says that no message is lost.
fn locks_on_reliable_links() -> impl Iterator<Item = &'static str> {
    let fits = |entry: &&habemus::catalogue::Entry| {
        entry.problem == ProblemKind::MutualExclusion && entry.model.links() == Links::Reliable
    };
    ENTRIES.iter().filter(fits).map(|entry| entry.name)
}

/// A way to `target` that works while `works` says so; the address of its beginning.
async fn way(target: String, works: watch::Receiver<bool>, ways: &mut JoinSet<()>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port can be had");
    let address = listener.local_addr().expect("it is bound").to_string();
    ways.spawn(async move {
        let mut connections = JoinSet::new();
        loop {
            let Ok((mut near, _)) = listener.accept().await else { return };
            let (target, mut works) = (target.clone(), works.clone());
            connections.spawn(async move {
                if !*works.borrow() {
                    return;
                }
                let Ok(mut far) = TcpStream::connect(target).await else { return };
                tokio::select! {
                    _ = copy_bidirectional(&mut near, &mut far) => {}
                    _ = works.wait_for(|works| !works) => {}
                }
            });
        }
    });
    address
}

async fn acquired(name: &str, locks: &UnfencedLocks) -> UnfencedGuard {
    let granted = timeout(LONG, locks.acquire("door")).await;
    granted.unwrap_or_else(|_| panic!("{name}: the lock never comes")).expect("it can be had")
}

#[tokio::test]
async fn after_an_outage_of_any_length_locks_that_assume_reliable_links_go_on() {
    let names: Vec<_> = locks_on_reliable_links().collect();
    for known in
        ["coordinator", "lamport", "maekawa", "raymond", "ricart-agrawala", "suzuki-kasami", "token-ring"]
    {
        assert!(names.contains(&known), "{known}");
    }
    for name in names {
        let (network, works) = watch::channel(true);
        let (mut ways, mut nodes) = (JoinSet::new(), Vec::new());
        for id in 1..=3 {
            let mut settings = Settings { patience: PATIENCE, ..Settings::new(name, id, [1, 2, 3]) };
            // Heartbeats may say in an outage that somebody has died: a token ring whose members learn of the
            // mistake one after the other may leave one waiting, and does not promise otherwise.
            if name == "token-ring" {
                settings.detector = Some("none".to_owned());
            }
            nodes.push(Node::start(settings).await.expect("a node starts"));
        }
        for one in &nodes {
            for other in &nodes {
                one.introduce(other.id(), &way(other.address().to_owned(), works.clone(), &mut ways).await);
            }
        }
        let locks: Vec<_> = nodes.iter().map(|node| node.unfenced_locks().expect("it has locks")).collect();
        for locks in &locks {
            drop(acquired(name, locks).await);
        }
        let held = acquired(name, &locks[1]).await;
        network.send_replace(false);
        // What is said now is said to nobody: two ask, and the holder leaves.
        let asking = [0, 2].map(|index| {
            let locks = locks[index].clone();
            tokio::spawn(async move { drop(acquired(name, &locks).await) })
        });
        drop(held);
        // However slow the machine, the outage is only longer.
        sleep(10 * PATIENCE).await;
        network.send_replace(true);
        for asking in asking {
            timeout(LONG, asking).await.unwrap_or_else(|_| panic!("{name} does not go on")).unwrap();
        }
        for locks in &locks {
            drop(acquired(name, locks).await);
        }
    }
}

#[tokio::test]
async fn a_cut_in_a_cluster_is_an_outage_after_which_entries_go_on() {
    for name in locks_on_reliable_links() {
        let scratch = Scratch::new();
        let mut cluster = cluster(&scratch, name, 3, &[]).await;
        cluster.command(1, "acquire");
        until(&mut cluster, "1 is inside", |it| it.status(1) == Some(Status::Inside)).await;
        let links: Vec<_> = (1..=3).flat_map(|from| (1..=3).map(move |to| (from, to))).collect();
        cluster.cut(&links);
        cluster.command(2, "acquire");
        cluster.command(1, "release");
        until(&mut cluster, "1 is outside", |it| it.status(1) == Some(Status::Idle)).await;
        sleep(Duration::from_millis(50)).await;
        cluster.heal(&[]);
        until(&mut cluster, name, |it| it.status(2) == Some(Status::Inside)).await;
        cluster.command(2, "release");
        cluster.command(3, "acquire");
        until(&mut cluster, name, |it| it.status(3) == Some(Status::Inside)).await;
        cluster.end().await;
    }
}
