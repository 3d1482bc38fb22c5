//! Every election and every mutual exclusion of the catalogue on real nodes: the normal case, and a crash.

use std::collections::BTreeMap;
use std::time::Duration;

use futures_util::future::join_all;
use habemus::catalogue::{ENTRIES, Entry, Request};
use habemus::{Id, ProblemKind, Status};
use habemus_node::cluster::Cluster;
use habemus_node::{Clients, NodeReport, SupervisorCommand};
use habemus_report::{Ended, Ending, judge};
use habemus_scenario::Expectations;
use habemus_trace::Happening;
use tokio::time::Instant;

use crate::bench::{LONG, Scratch, blueprint, until};

/// So many clusters run at the same time.
const TOGETHER: usize = 3;
/// The machine may be loaded: all timeouts are so many times longer.
const STRETCH: f64 = 4.0;

fn flags(entry: &Entry) -> Vec<&'static str> {
    let detector = ["--detector", "heartbeat"];
    if entry.detectors.contains(&"heartbeat") { detector.to_vec() } else { Vec::new() }
}

async fn start(scratch: &Scratch, entry: &Entry, count: u64) -> Cluster {
    let mut blueprint = blueprint(scratch, entry.name, count, &flags(entry));
    blueprint.stretch = STRETCH;
    Cluster::start(blueprint, &[]).await.unwrap_or_else(|why| panic!("{}: {why}", entry.name))
}

fn command(word: &str) -> SupervisorCommand {
    SupervisorCommand::Command { word: word.to_owned(), name: String::new() }
}

/// The monitors find nothing in what the nodes recorded.
fn assert_kept(cluster: &Cluster, entry: &Entry) {
    let options = BTreeMap::new();
    let request = Request {
        algorithm: entry.name,
        ids: cluster.ids().iter().copied().map(Id).collect(),
        shape: None,
        detector: flags(entry).get(1).copied(),
        options: &options,
        pulse: habemus::DEFAULT_PULSE,
        seed: 1,
        signatures: Some(habemus::signatures::Scheme::Made(habemus_signatures::ed25519)),
    };
    let ending = Ending { stop: String::new(), ended: Ended::AsAsked, time: 0 };
    let trace = cluster.trace(None).expect("traces can be read");
    assert!(!trace.records.is_empty(), "{}: nothing was recorded", entry.name);
    let report =
        judge(&request, &Expectations::default(), trace, &ending).expect("the trace is one of this system");
    assert_eq!(report.failures, Vec::<String>::new(), "{}", entry.name);
}

fn leading(cluster: &Cluster) -> Option<u64> {
    cluster.alive().find(|id| cluster.status(*id) == Some(Status::Leading))
}

/// Everybody knows that there is a leader.
fn is_settled(cluster: &Cluster) -> bool {
    let knows = |id| matches!(cluster.status(id), Some(Status::Leading | Status::Following(_)));
    cluster.alive().all(knows) && leading(cluster).is_some()
}

async fn elects(entry: &'static Entry) {
    // On a ring without identifiers and without chance two may win, and that is known: one starts alone.
    let anonymous = entry.name == "anonymous-ring";
    // These know no crashes: a follower goes when all is said.
    let follower = matches!(entry.name, "all-to-all" | "capture-sync" | "large-group");
    let scratch = Scratch::new();
    let mut cluster = start(&scratch, entry, 4).await;
    cluster.begin();
    for id in if anonymous { 1..=1 } else { 1..=4 } {
        cluster.tell(id, command("elect"));
    }
    until(&mut cluster, &format!("{}: a leader", entry.name), |it| {
        is_settled(it) && (anonymous || it.agreed_leader().is_some())
    })
    .await;
    let leader = leading(&cluster).expect("somebody leads");
    let victim = if follower { leader % 4 + 1 } else { leader };
    cluster.kill(victim).await;
    if matches!(entry.name, "anonymous-ring" | "itai-rodeh") {
        // Nobody knows whom to miss: somebody must ask for another election.
        cluster.tell(victim % 4 + 1, command("elect"));
    }
    until(&mut cluster, &format!("{}: a leader after {victim} crashed", entry.name), |it| {
        let agreed = if anonymous { leading(it) } else { it.agreed_leader() };
        agreed.is_some_and(|leader| leader != victim)
    })
    .await;
    assert_kept(&cluster, entry);
    cluster.end().await;
}

#[tokio::test]
async fn every_election_elects_and_gets_over_a_crash() {
    let all: Vec<&'static Entry> =
        ENTRIES.iter().filter(|entry| entry.problem == ProblemKind::Election).collect();
    for some in all.chunks(TOGETHER) {
        join_all(some.iter().map(|entry| elects(entry))).await;
    }
}

/// What the others can expect when one that is outside crashes.
enum Then {
    /// They enter as before.
    GoOn,
    /// They wait for ever, which is what the algorithm's model says.
    Wait,
    /// Nothing is said of it here but that all stays safe.
    Safe,
}

async fn excludes(entry: &'static Entry) {
    let then = match entry.name {
        "coordinator" | "quorum" | "suzuki-kasami" | "raymond" | "token-ring" => Then::GoOn,
        "lamport" | "ricart-agrawala" | "maekawa" => Then::Wait,
        _ => Then::Safe,
    };
    let scratch = Scratch::new();
    let mut cluster = start(&scratch, entry, 4).await;
    cluster.begin();
    let ms = Duration::from_millis;
    let clients = Clients { entries: 2, hold: (ms(2), ms(5)), think: (ms(0), ms(20)), wish_every: None };
    for id in 1..=4 {
        cluster.tell(id, SupervisorCommand::Clients(clients));
    }
    entries(&mut cluster, entry, 8).await;
    until(&mut cluster, "all are outside", |it| it.alive().all(|id| it.status(id) == Some(Status::Idle)))
        .await;
    // From now on nobody leaves unasked.
    let hour = Duration::from_secs(3600);
    cluster.tell(2, SupervisorCommand::Clients(Clients { entries: 0, hold: (hour, hour), ..clients }));
    // The last one inside is 2: where there is a token, it is not 4 that takes it along.
    cluster.tell(2, command("acquire"));
    until(&mut cluster, &format!("{}: 2 is inside", entry.name), |it| it.status(2) == Some(Status::Inside))
        .await;
    cluster.kill(4).await;
    cluster.tell(2, command("release"));
    until(&mut cluster, "2 is outside", |it| it.status(2) == Some(Status::Idle)).await;
    cluster.tell(3, command("acquire"));
    match then {
        Then::GoOn => {
            let what = format!("{}: 3 is inside although 4 crashed", entry.name);
            until(&mut cluster, &what, |it| it.status(3) == Some(Status::Inside)).await;
        }
        Then::Wait | Then::Safe => {
            let deadline = Instant::now() + Duration::from_secs(1);
            while Instant::now() < deadline {
                cluster.attend(deadline).await.expect("no node ends by itself");
            }
            if matches!(then, Then::Wait) {
                assert_eq!(cluster.status(3), Some(Status::Waiting), "{}", entry.name);
            }
        }
    }
    assert_kept(&cluster, entry);
    cluster.end().await;
}

/// Waits until there were so many entries.
async fn entries(cluster: &mut Cluster, entry: &Entry, count: usize) {
    let (mut seen, deadline) = (0, Instant::now() + LONG);
    while seen < count {
        assert!(Instant::now() < deadline, "{}: only {seen} of {count} entries in time", entry.name);
        let report = cluster.attend(deadline).await.expect("no node ends by itself");
        if let Some((_, NodeReport::Record { record, .. })) = report
            && matches!(record.what, Happening::Output { status: Some(Status::Inside), .. })
        {
            seen += 1;
        }
    }
}

#[tokio::test]
async fn every_lock_lets_one_in_at_a_time_and_stays_safe_after_a_crash() {
    let all: Vec<&'static Entry> =
        ENTRIES.iter().filter(|entry| entry.problem == ProblemKind::MutualExclusion).collect();
    for some in all.chunks(TOGETHER) {
        join_all(some.iter().map(|entry| excludes(entry))).await;
    }
}

async fn decides(entry: &'static Entry) {
    let scratch = Scratch::new();
    let mut cluster = start(&scratch, entry, 4).await;
    cluster.begin();
    for id in 1..=4 {
        cluster.tell(id, command("propose 1"));
    }
    until(&mut cluster, &format!("{}: a decision of all", entry.name), |it| {
        it.alive().all(|id| it.status(id) == Some(Status::Decided))
    })
    .await;
    cluster.kill(4).await;
    assert_kept(&cluster, entry);
    cluster.end().await;
}

#[tokio::test]
async fn every_agreement_decides() {
    let all: Vec<&'static Entry> =
        ENTRIES.iter().filter(|entry| entry.problem == ProblemKind::Agreement).collect();
    assert!(!all.is_empty(), "the catalogue has agreements");
    for some in all.chunks(TOGETHER) {
        join_all(some.iter().map(|entry| decides(entry))).await;
    }
}
