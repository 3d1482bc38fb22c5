//! What is done to the members, one thing after the other.

use std::time::{Duration, Instant};

use rand_pcg::Pcg32;
use rand_pcg::rand_core::Rng;
use rustix::process::Signal;

use crate::cluster::Cluster;
use crate::record::{Fault, Record};
use crate::{Flags, Outcome};

/// What can be done to the members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Attack {
    KillLeader,
    KillAny,
    KillAll,
    StopLeader,
    StopAny,
    RollingRestart,
    FullDisk,
    IsolateLeader,
    OneWay,
    Halves,
    Bridge,
    Delay,
    Loss,
}

const EVERYWHERE: [Attack; 7] = [
    Attack::KillLeader,
    Attack::StopLeader,
    Attack::KillAny,
    Attack::RollingRestart,
    Attack::StopAny,
    Attack::KillAll,
    Attack::FullDisk,
];
const IN_NAMESPACES: [Attack; 4] = [Attack::IsolateLeader, Attack::OneWay, Attack::Halves, Attack::Bridge];
const WITH_NETEM: [Attack; 2] = [Attack::Delay, Attack::Loss];

impl Attack {
    fn kind(self) -> &'static str {
        match self {
            Attack::KillLeader => "kill -9 of the leader",
            Attack::KillAny => "kill -9 of any member",
            Attack::KillAll => "kill -9 of all",
            Attack::StopLeader => "SIGSTOP of the leader",
            Attack::StopAny => "SIGSTOP of any member",
            Attack::RollingRestart => "rolling restart",
            Attack::FullDisk => "full disk of the leader",
            Attack::IsolateLeader => "leader cut off",
            Attack::OneWay => "leader heard, but not hearing",
            Attack::Halves => "cut in two",
            Attack::Bridge => "two halves joined by one",
            Attack::Delay => "30 ms of delay, reordering",
            Attack::Loss => "5 % loss, doubling",
        }
    }
}

/// Attacks until the time is over, or so many were killed.
pub(crate) async fn run(cluster: &mut Cluster, record: &Record, flags: &Flags) -> Outcome<()> {
    let mut random = Pcg32::new(flags.seed, 0xa77ac);
    // Something to compare with.
    tokio::time::sleep(Duration::from_secs(2)).await;
    if let Some(kills) = flags.kills {
        return kill(cluster, record, kills, &mut random).await;
    }
    let mut attacks = EVERYWHERE.to_vec();
    if let Some(network) = &cluster.network {
        attacks.extend(IN_NAMESPACES);
        if network.has_netem {
            attacks.extend(WITH_NETEM);
        }
    }
    let end = Instant::now() + Duration::from_secs(flags.seconds);
    let mut turn = 0;
    while Instant::now() < end {
        let attack = attacks[turn % attacks.len()];
        turn += 1;
        if attack == Attack::FullDisk && !filler_is_possible() {
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

/// Kills members at random, and starts them again at once.
async fn kill(cluster: &mut Cluster, record: &Record, kills: u64, random: &mut Pcg32) -> Outcome<()> {
    let mut shown = Instant::now();
    for number in 0..kills {
        let index = random.next_u32() as usize % cluster.members.len();
        let from = record.now();
        cluster.kill(index).await?;
        cluster.launch(index)?;
        let wait = u64::from(random.next_u32() % 200);
        tokio::time::sleep(Duration::from_millis(wait)).await;
        let fault = Fault { what: format!("kill -9 of m{index}"), kind: "kill -9", from, until: from };
        record.note(|parts| parts.faults.push(fault));
        // Mostly the next one goes when this one is back, and now and then at once.
        if !number.is_multiple_of(4) {
            cluster.recover().await?;
        }
        if shown.elapsed() > Duration::from_secs(30) {
            shown = Instant::now();
            eprintln!("{number} of {kills} kills");
        }
    }
    Ok(())
}

async fn pause(millis: u64) {
    tokio::time::sleep(Duration::from_millis(millis)).await;
}

async fn strike(cluster: &mut Cluster, attack: Attack, random: &mut Pcg32) -> Outcome<String> {
    let count = cluster.members.len();
    let any = random.next_u32() as usize % count;
    let leader = cluster.leader().await.unwrap_or(any);
    let others = |one: usize| (0..count).filter(move |other| *other != one);
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
        Attack::RollingRestart => {
            for index in 0..count {
                cluster.end(index).await?;
                cluster.recover().await?;
            }
        }
        Attack::FullDisk => full_disk(cluster, leader).await?,
        Attack::IsolateLeader | Attack::OneWay | Attack::Halves | Attack::Bridge => {
            let Some(network) = &cluster.network else { return Ok(String::new()) };
            for one in 0..count {
                for other in others(one) {
                    let parted = match attack {
                        Attack::IsolateLeader => one == leader || other == leader,
                        Attack::OneWay => other == leader,
                        Attack::Halves => (one < count / 2) != (other < count / 2),
                        _ => one != leader && other != leader && (one % 2) != (other % 2),
                    };
                    if parted {
                        network.cut(one, other)?;
                    }
                }
            }
            pause(3000).await;
        }
        Attack::Delay | Attack::Loss => {
            let Some(network) = &cluster.network else { return Ok(String::new()) };
            let how = match attack {
                Attack::Delay => "delay 30ms 20ms reorder 25%",
                _ => "loss 5% duplicate 2%",
            };
            for index in 0..count {
                network.spoil(index, how)?;
            }
            pause(4000).await;
        }
    }
    Ok(format!("{} (m{leader} led)", attack.kind()))
}

fn filler_is_possible() -> bool {
    rustix::process::geteuid().is_root()
}

/// A member moves to a small disk in memory, which is then filled; it must stop or refuse, and come back when there is room.
async fn full_disk(cluster: &mut Cluster, index: usize) -> Outcome<()> {
    let data = cluster.data(index).to_owned();
    let copy = data.with_extension("elsewhere");
    cluster.end(index).await?;
    let run = |program: &str, arguments: &[&std::path::Path]| -> Outcome<()> {
        let done = std::process::Command::new(program).args(arguments).output()?;
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        if done.status.success() { Ok(()) } else { Err(format!("{program}: {said}").into()) }
    };
    std::fs::rename(&data, &copy)?;
    std::fs::create_dir(&data)?;
    let mut mount = std::process::Command::new("mount");
    mount.args(["-t", "tmpfs", "-o", "size=512m", "siege"]).arg(&data);
    if !mount.status()?.success() {
        std::fs::remove_dir(&data)?;
        std::fs::rename(&copy, &data)?;
        return Ok(());
    }
    run("cp", &["-a".as_ref(), &copy.join("."), &data])?;
    cluster.launch(index)?;
    pause(1000).await;
    let filler = data.join("filler");
    // It ends when nothing fits any more.
    drop(
        std::process::Command::new("dd")
            .args(["if=/dev/zero", "bs=64k"])
            .arg(format!("of={}", filler.display()))
            .output(),
    );
    pause(2500).await;
    drop(std::fs::remove_file(&filler));
    cluster.end(index).await?;
    std::fs::remove_dir_all(&copy)?;
    std::fs::create_dir(&copy)?;
    run("cp", &["-a".as_ref(), &data.join("."), &copy])?;
    run("umount", &[&data])?;
    std::fs::remove_dir(&data)?;
    std::fs::rename(&copy, &data)?;
    cluster.launch(index)
}
