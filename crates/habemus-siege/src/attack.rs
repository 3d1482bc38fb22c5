//! What is done to the members, one thing after the other.

use std::time::{Duration, Instant};

use rand_pcg::Pcg32;
use rand_pcg::rand_core::Rng;
use rustix::process::Signal;

use crate::cluster::Cluster;
use crate::interrupt::Interrupt;
use crate::network::Namespaces;
use crate::record::{Fault, Record};
use crate::{Flags, Outcome, disks, kills, operators};

/// What can be done to the members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Attack {
    Upgrade,
    KillLeader,
    KillAny,
    KillAll,
    StopLeader,
    StopAny,
    StopLong,
    RollingRestart,
    Replace,
    Certificates,
    Clock,
    FullDisk,
    SlowDisk,
    IsolateLeader,
    Deaf,
    Mute,
    Pair,
    Halves,
    Bridge,
    Flapping,
    Thin,
    Delay,
    Loss,
}

/// A member stands still for so long in a siege of ten minutes or more.
const LONG_STOP: u64 = 60_000;

impl Attack {
    const ALL: [Attack; 23] = [
        Attack::Upgrade,
        Attack::KillLeader,
        Attack::StopLeader,
        Attack::IsolateLeader,
        Attack::KillAny,
        Attack::RollingRestart,
        Attack::Deaf,
        Attack::Halves,
        Attack::Thin,
        Attack::Delay,
        Attack::Loss,
        Attack::Flapping,
        Attack::StopAny,
        Attack::KillAll,
        Attack::Bridge,
        Attack::SlowDisk,
        Attack::FullDisk,
        Attack::Mute,
        Attack::Replace,
        Attack::Pair,
        Attack::Clock,
        Attack::Certificates,
        Attack::StopLong,
    ];

    pub(crate) fn kind(self) -> &'static str {
        match self {
            Attack::Upgrade => "rolling upgrade",
            Attack::KillLeader => "kill -9 of the leader",
            Attack::KillAny => "kill -9 of any member",
            Attack::KillAll => "kill -9 of all",
            Attack::StopLeader => "SIGSTOP of the leader",
            Attack::StopAny => "SIGSTOP of any member",
            Attack::StopLong => "SIGSTOP of the leader for a minute",
            Attack::RollingRestart => "rolling restart",
            Attack::Replace => "a member replaced by a new one",
            Attack::Certificates => "certificates replaced, then kill -9",
            Attack::Clock => "clocks of a member an hour ahead",
            Attack::FullDisk => "full disk of the leader",
            Attack::SlowDisk => "leader's syncs take 100 ms more",
            Attack::IsolateLeader => "leader cut off",
            Attack::Deaf => "leader heard, but not hearing",
            Attack::Mute => "leader hearing, but not heard",
            Attack::Pair => "leader and one other parted",
            Attack::Halves => "cut in two",
            Attack::Bridge => "two halves joined by one",
            Attack::Flapping => "a member's links come and go",
            Attack::Thin => "links of 400 kbit/s",
            Attack::Delay => "30 ms of delay, reordering",
            Attack::Loss => "5 % loss, doubling",
        }
    }

    /// The names of all, in the order in which they come; and of what `--kills` does.
    pub(crate) fn kinds() -> impl Iterator<Item = &'static str> {
        Attack::ALL.into_iter().map(Attack::kind).chain(["kill -9"])
    }

    /// Whether it can be done here; what cannot was said aloud when this began.
    fn is_possible(self, cluster: &Cluster, flags: &Flags) -> bool {
        let network = cluster.network.as_ref();
        let is_root = rustix::process::geteuid().is_root();
        match self {
            Attack::Upgrade => cluster.is_mixed(),
            Attack::Replace => cluster.members.len() > 2,
            Attack::Certificates => cluster.certificates.is_some(),
            Attack::StopLong => flags.seconds >= 600,
            Attack::Clock => is_root && operators::can_set_clocks(),
            Attack::FullDisk => is_root,
            Attack::SlowDisk => disks::can_be_slow(),
            Attack::IsolateLeader | Attack::Deaf | Attack::Mute | Attack::Flapping => network.is_some(),
            Attack::Pair | Attack::Halves | Attack::Bridge => network.is_some() && cluster.members.len() > 2,
            Attack::Thin => network.is_some_and(|it| it.has_shaper && !it.has_netem),
            Attack::Delay | Attack::Loss => network.is_some_and(|it| it.has_netem),
            Attack::KillLeader
            | Attack::KillAny
            | Attack::KillAll
            | Attack::StopLeader
            | Attack::StopAny
            | Attack::RollingRestart => true,
        }
    }

    /// Whether nothing passes from the one to the other.
    fn parts(self, leader: usize, count: usize, from: usize, to: usize) -> bool {
        match self {
            Attack::IsolateLeader => from == leader || to == leader,
            Attack::Deaf => to == leader,
            Attack::Mute => from == leader,
            Attack::Pair => {
                [(leader, (leader + 1) % count), ((leader + 1) % count, leader)].contains(&(from, to))
            }
            Attack::Halves => (from < count / 2) != (to < count / 2),
            Attack::Bridge => from != leader && to != leader && (from % 2) != (to % 2),
            _ => false,
        }
    }
}

/// Attacks until the time is over, or so many were killed.
pub(crate) async fn run(
    cluster: &mut Cluster,
    record: &Record,
    flags: &Flags,
    interrupt: &Interrupt,
) -> Outcome<()> {
    let mut random = Pcg32::new(flags.seed, 0xa77ac);
    // Something to compare with.
    tokio::time::sleep(Duration::from_secs(2)).await;
    if let Some(kills) = flags.kills {
        return kills::kill(cluster, record, kills, &mut random, interrupt).await;
    }
    let end = Instant::now() + Duration::from_secs(flags.seconds);
    for attack in Attack::ALL.into_iter().cycle() {
        if Instant::now() >= end || interrupt.is_heard() {
            break;
        }
        if !attack.is_possible(cluster, flags) {
            continue;
        }
        let from = record.now();
        let what = strike(cluster, attack, &mut random).await?;
        record
            .note(|parts| parts.faults.push(Fault { what, kind: attack.kind(), from, until: record.now() }));
        cluster.recover().await?;
        tokio::time::sleep(Duration::from_millis(1500)).await;
    }
    Ok(())
}

pub(crate) async fn pause(millis: u64) {
    tokio::time::sleep(Duration::from_millis(millis)).await;
}

async fn strike(cluster: &mut Cluster, attack: Attack, random: &mut Pcg32) -> Outcome<String> {
    let count = cluster.members.len();
    let any = random.next_u32() as usize % count;
    let leader = cluster.leader().await.unwrap_or(any);
    match attack {
        Attack::KillLeader => {
            cluster.kill(leader).await?;
            pause(1000).await;
        }
        Attack::KillAny => {
            cluster.kill(any).await?;
            pause(500).await;
        }
        Attack::KillAll => {
            for index in 0..count {
                cluster.kill(index).await?;
            }
        }
        Attack::StopLeader => {
            cluster.signal(leader, Signal::STOP);
            pause(4000).await;
        }
        Attack::StopAny => {
            cluster.signal(any, Signal::STOP);
            pause(2500).await;
        }
        Attack::StopLong => {
            cluster.signal(leader, Signal::STOP);
            pause(LONG_STOP).await;
        }
        Attack::Upgrade | Attack::RollingRestart => operators::restart_each(cluster).await?,
        Attack::Replace => operators::replace(cluster, any).await?,
        Attack::Certificates => operators::rotate(cluster, any).await?,
        Attack::Clock => operators::set_clock_ahead(cluster, any).await?,
        Attack::FullDisk => disks::fill(cluster, leader).await?,
        Attack::SlowDisk => disks::slow_down(cluster, leader).await?,
        Attack::IsolateLeader
        | Attack::Deaf
        | Attack::Mute
        | Attack::Pair
        | Attack::Halves
        | Attack::Bridge => {
            let Some(network) = &mut cluster.network else { return Ok(String::new()) };
            part(network, count, |from, to| attack.parts(leader, count, from, to))?;
            pause(3000).await;
        }
        Attack::Flapping => flap(cluster, any).await?,
        Attack::Thin => spoil(cluster, Namespaces::THIN).await?,
        Attack::Delay => spoil(cluster, "netem delay 30ms 20ms reorder 25%").await?,
        Attack::Loss => spoil(cluster, "netem loss 5% duplicate 2%").await?,
    }
    Ok(format!("{} (m{leader} led)", attack.kind()))
}

fn part(network: &mut Namespaces, count: usize, parts: impl Fn(usize, usize) -> bool) -> Outcome<()> {
    for from in 0..count {
        for to in (0..count).filter(|to| *to != from && parts(from, *to)) {
            network.cut(from, to)?;
        }
    }
    Ok(())
}

async fn spoil(cluster: &mut Cluster, how: &str) -> Outcome<()> {
    let Some(network) = &mut cluster.network else { return Ok(()) };
    for index in 0..cluster.members.len() {
        network.spoil(index, how)?;
    }
    pause(4000).await;
    Ok(())
}

/// What a member says and hears is lost for a moment, again and again.
async fn flap(cluster: &mut Cluster, index: usize) -> Outcome<()> {
    let count = cluster.members.len();
    let Some(network) = &mut cluster.network else { return Ok(()) };
    for round in 0..12 {
        part(network, count, |from, to| from == index || to == index)?;
        pause(20 * (round % 4)).await;
        network.heal()?;
        pause(150).await;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cuts(attack: Attack, leader: usize, count: usize) -> Vec<(usize, usize)> {
        let pairs = (0..count).flat_map(|from| (0..count).map(move |to| (from, to)));
        pairs.filter(|(from, to)| from != to && attack.parts(leader, count, *from, *to)).collect()
    }

    #[test]
    fn partitions_have_the_shapes_that_their_names_say() {
        assert_eq!(cuts(Attack::Deaf, 1, 3), [(0, 1), (2, 1)]);
        assert_eq!(cuts(Attack::Mute, 1, 3), [(1, 0), (1, 2)]);
        assert_eq!(cuts(Attack::IsolateLeader, 1, 3), [(0, 1), (1, 0), (1, 2), (2, 1)]);
        assert_eq!(cuts(Attack::Pair, 2, 3), [(0, 2), (2, 0)]);
        assert_eq!(cuts(Attack::Halves, 0, 3), [(0, 1), (0, 2), (1, 0), (2, 0)]);
        // Whoever leads hears everybody, and of the others those of one half do not hear those of the other.
        assert_eq!(cuts(Attack::Bridge, 0, 4), [(1, 2), (2, 1), (2, 3), (3, 2)]);
    }

    #[test]
    fn every_attack_has_its_turn_and_a_name_of_its_own() {
        let names: std::collections::BTreeSet<&str> = Attack::ALL.iter().map(|it| it.kind()).collect();
        assert_eq!(names.len(), Attack::ALL.len());
    }
}
