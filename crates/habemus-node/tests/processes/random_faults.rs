//! Faults drawn at random against what is built for them; the monitors watch over the merged trace.

use std::collections::BTreeMap;
use std::time::Duration;

use habemus::Id;
use habemus::catalogue::{ENTRIES, Request};
use habemus_machine::Random;
use habemus_node::cluster::Cluster;
use habemus_node::{Clients, SupervisorCommand};
use habemus_report::{Ended, Ending, Report, judge};
use habemus_scenario::Expectations;
use tokio::time::Instant;

use crate::bench::{LONG, Scratch, blueprint, until};

/// How long faults rain down, unless `HABEMUS_FAULT_SECONDS` says otherwise.
const SECONDS: u64 = 12;

fn seconds() -> Duration {
    let asked = std::env::var("HABEMUS_FAULT_SECONDS").ok().and_then(|text| text.parse().ok());
    Duration::from_secs(asked.unwrap_or(SECONDS))
}

/// Crashes, pauses, cuts and their ends, at random, never more than a minority down or stopped at once.
async fn rain(cluster: &mut Cluster, random: &mut Random, pauses: bool) {
    let (end, ids) = (Instant::now() + seconds(), cluster.ids().to_vec());
    let pick = |random: &mut Random| ids[random.below(ids.len() as u64) as usize];
    while Instant::now() < end {
        let id = pick(random);
        let away = ids.iter().filter(|id| cluster.status(**id).is_none() || cluster.is_paused(**id)).count();
        let may_fall = away < (ids.len() - 1) / 2;
        match random.below(8) {
            0 | 1 if may_fall && cluster.status(id).is_some() => cluster.kill(id).await,
            0..=2 if cluster.status(id).is_none() => cluster.restart(id, false).await.expect("it comes back"),
            3 if may_fall && pauses => cluster.pause(id),
            4 if cluster.is_paused(id) => cluster.resume(id),
            5 => {
                let other = pick(random);
                if other != id {
                    let both = random.below(2) == 0;
                    let links = [(id, other), (other, id)];
                    cluster.cut(if both { &links } else { &links[..1] });
                }
            }
            6 => {
                let apart: Vec<(u64, u64)> = ids
                    .iter()
                    .filter(|other| **other != id)
                    .flat_map(|other| [(id, *other), (*other, id)])
                    .collect();
                cluster.cut(&apart);
            }
            7 => cluster.heal(&[]),
            _ => {}
        }
        let pause = Instant::now() + random.between(Duration::from_millis(20), Duration::from_millis(400));
        while cluster.attend(pause).await.expect("no node ends by itself").is_some() {}
    }
    // Then there is peace.
    cluster.heal(&[]);
    for id in ids {
        cluster.resume(id);
        if cluster.status(id).is_none() {
            cluster.restart(id, false).await.expect("it comes back");
        }
    }
}

pub(crate) fn verdict(
    cluster: &Cluster,
    algorithm: &str,
    detector: Option<&str>,
    options: &BTreeMap<String, String>,
) -> Report {
    let request = Request {
        algorithm,
        ids: cluster.ids().iter().copied().map(Id).collect(),
        shape: None,
        detector,
        options,
        pulse: habemus::DEFAULT_PULSE,
        seed: 1,
        signatures: None,
    };
    let ending = Ending { stop: String::new(), ended: Ended::AsAsked, time: 0 };
    let trace = cluster.trace(None).expect("traces can be read");
    judge(&request, &Expectations::default(), trace, &ending).expect("it is a trace of this system")
}

#[tokio::test]
async fn the_majority_election_keeps_its_promises_whatever_happens() {
    let (scratch, mut random) = (Scratch::new(), Random::new());
    let mut cluster =
        Cluster::start(blueprint(&scratch, "majority", 5, &[]), &[]).await.expect("they come up");
    cluster.begin();
    until(&mut cluster, "a first leader", |it| it.agreed_leader().is_some()).await;
    rain(&mut cluster, &mut random, true).await;
    until(&mut cluster, "a leader when all is well again", |it| it.agreed_leader().is_some()).await;
    let report = verdict(&cluster, "majority", None, &BTreeMap::new());
    assert_eq!(report.failures, Vec::<String>::new());
    assert!(report.statistics.crashes + report.statistics.dropped > 0, "something did happen");
    cluster.end().await;
}

#[tokio::test]
async fn an_elected_coordinator_keeps_its_promises_whatever_happens() {
    // It is in the catalogue as soon as there is an algorithm of this name.
    let Some(entry) = ENTRIES.iter().find(|entry| entry.name == "elected-coordinator") else { return };
    let detector = entry.detectors.contains(&"heartbeat").then_some("heartbeat");
    let mut flags: Vec<&str> = detector.map_or(Vec::new(), |name| vec!["--detector", name]);
    // Under faults of every kind only a majority is sure of itself.
    flags.extend(["--option", "election=majority"]);
    let options = BTreeMap::from([("election".to_owned(), "majority".to_owned())]);
    let (scratch, mut random) = (Scratch::new(), Random::new());
    let started = Cluster::start(blueprint(&scratch, entry.name, 5, &flags), &[]).await;
    let mut cluster = started.expect("they come up");
    let ms = Duration::from_millis;
    cluster.tell_all(SupervisorCommand::Clients(Clients {
        entries: 1000,
        hold: (ms(5), ms(50)),
        think: (ms(5), ms(100)),
        wish_every: None,
    }));
    cluster.begin();
    // Who is stopped cannot leave when its lease ends; only the fencing token helps then, and EM1 is not
    // promised.
    rain(&mut cluster, &mut random, false).await;
    let calm = Instant::now() + ms(3000);
    while cluster.attend(calm).await.expect("no node ends by itself").is_some() {}
    let report = verdict(&cluster, entry.name, detector, &options);
    assert_eq!(report.failures, Vec::<String>::new());
    assert!(report.statistics.entries > 0, "somebody entered within {LONG:?}");
    cluster.end().await;
}
