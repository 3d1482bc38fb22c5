//! Members come, learn, vote and go.

use habemus_replica::{Change, MemberId, Replica, Unanswered};
use habemus_store::{Command, Put};

use crate::cluster::{Cluster, Outcome, TICK};

fn change(cluster: &mut Cluster, change: &Change) -> Result<(), Unanswered> {
    cluster.run_until("somebody leads", |cluster| cluster.leader().is_some());
    cluster.run_for(300_000);
    let leader = cluster.leader().expect("nothing goes wrong here");
    let request = cluster.request(leader);
    cluster.replica(leader).expect("it leads").change(request, change)?;
    assert!(matches!(cluster.outcome(request), Outcome::Changed));
    Ok(())
}

fn write(cluster: &mut Cluster, count: usize) {
    let mut done = 0;
    while done < count {
        let put = Command::Put(Put::new("a", vec![0; 100]));
        let request = cluster.propose(MemberId(1), put).expect("1 is up");
        match cluster.outcome(request) {
            Outcome::Applied(_) => done += 1,
            // Whoever crashed may have led.
            other => assert!(matches!(other, Outcome::Unanswered(Unanswered::Unknown)), "{other:?}"),
        }
    }
}

/// Snapshots early, so that a newcomer cannot learn from the log alone.
fn small(members: u64, seed: u64) -> Cluster {
    Cluster::tuned(members, seed, |settings| {
        settings.snapshot_after_bytes = 2_000;
        settings.keep_entries = 3;
    })
}

#[test]
fn members_that_never_live_long_make_snapshots_all_the_same() {
    let mut cluster = small(3, 1);
    // What is written in one life is too little for a snapshot, and all of it is enough for several.
    for _ in 0..12 {
        write(&mut cluster, 5);
        for id in [1, 2, 3].map(MemberId) {
            cluster.crash(id);
            cluster.start(id);
        }
    }
    write(&mut cluster, 1);
    for (id, node) in &cluster.nodes {
        let kept = node.disk.recover().entries.len();
        assert!(kept < 40, "{id} has {kept} entries");
    }
}

#[test]
fn a_newcomer_learns_from_a_snapshot_and_then_votes() {
    let mut cluster = small(3, 1);
    write(&mut cluster, 40);
    let newcomer = cluster.add_machine(MemberId(4));
    change(&mut cluster, &Change::Add(MemberId(4), newcomer)).expect("it makes sense");
    cluster.run_until("the newcomer has caught up", |cluster| {
        let applied = |id| cluster.nodes[&MemberId(id)].replica.as_ref().map_or(0, Replica::applied);
        applied(4) >= applied(1)
    });
    change(&mut cluster, &Change::Promote(MemberId(4))).expect("it has caught up");
    // With four members two are no majority, and three are.
    cluster.crash(MemberId(2));
    write(&mut cluster, 5);
    let voters =
        cluster.replica(MemberId(4)).expect("it is up").members().filter(|(_, it)| !it.learner).count();
    assert_eq!(voters, 4);
}

#[test]
fn a_learner_that_knows_nothing_gets_no_vote() {
    let mut cluster = small(3, 2);
    write(&mut cluster, 40);
    let newcomer = cluster.add_machine(MemberId(4));
    cluster.crash(MemberId(4));
    change(&mut cluster, &Change::Add(MemberId(4), newcomer)).expect("it makes sense");
    assert_eq!(change(&mut cluster, &Change::Promote(MemberId(4))), Err(Unanswered::Unchangeable));
}

#[test]
fn a_member_that_was_removed_neither_disturbs_nor_comes_back() {
    let mut cluster = small(4, 3);
    write(&mut cluster, 5);
    change(&mut cluster, &Change::Remove(MemberId(4))).expect("it makes sense");
    // It does not know, and stands for election for ever.
    cluster.run_for(2_000_000);
    let term = cluster.replica(MemberId(1)).expect("it is up").role().term;
    cluster.run_for(5_000_000);
    assert_eq!(cluster.replica(MemberId(1)).expect("it is up").role().term, term, "nobody heard it");
    write(&mut cluster, 5);
    let again = cluster.add_machine(MemberId(4));
    assert_eq!(change(&mut cluster, &Change::Add(MemberId(4), again)), Err(Unanswered::Unchangeable));
}

#[test]
fn the_last_voter_stays() {
    let mut cluster = Cluster::new(1, 4);
    assert_eq!(change(&mut cluster, &Change::Remove(MemberId(1))), Err(Unanswered::Unchangeable));
    assert_eq!(change(&mut cluster, &Change::Promote(MemberId(1))), Err(Unanswered::Unchangeable));
}

#[test]
fn a_member_that_was_away_for_long_catches_up() {
    let mut cluster = small(3, 5);
    write(&mut cluster, 3);
    cluster.crash(MemberId(3));
    write(&mut cluster, 60);
    cluster.start(MemberId(3));
    cluster.run_until("3 has all that 1 has", |cluster| {
        let version = |id| {
            let replica = cluster.nodes[&MemberId(id)].replica.as_ref().expect("it is up");
            replica.store().get(b"a").map(|key| key.version)
        };
        version(3) == version(1)
    });
}

#[test]
fn a_leader_that_is_removed_steps_down_and_the_others_go_on() {
    let mut cluster = small(3, 4);
    write(&mut cluster, 5);
    let leader = cluster.leader().expect("nothing goes wrong here");
    change(&mut cluster, &Change::Remove(leader)).expect("it makes sense");
    assert!(!cluster.replica(leader).expect("it is up").role().leads);
    cluster.run_until("another one leads", |cluster| cluster.leader().is_some_and(|other| other != leader));
    let origin = cluster.leader().expect("one leads");
    let request = cluster.propose(origin, Command::Put(Put::new("b", "after"))).expect("it leads");
    assert!(matches!(cluster.outcome(request), Outcome::Applied(_)));
}

#[test]
fn a_leader_that_is_removed_is_not_needed_any_more_when_that_is_answered() {
    // Of two, the one that stays must know that it is alone: else it waits for the other's vote for ever.
    for seed in 0..20 {
        let mut cluster = small(2, seed);
        write(&mut cluster, 3);
        let leader = cluster.leader().expect("nothing goes wrong here");
        change(&mut cluster, &Change::Remove(leader)).expect("it makes sense");
        // Whatever it has just sent is lost.
        cluster.cut.push((leader, MemberId(3 - leader.0)));
        cluster.crash(leader);
        cluster.run_until("the other one leads", |cluster| cluster.leader().is_some_and(|it| it != leader));
    }
}

#[test]
fn whoever_was_told_that_the_other_of_two_is_removed_leads_alone_even_after_a_crash() {
    for seed in 0..20 {
        let mut cluster = Cluster::new(2, seed);
        cluster.run_until("somebody leads", |cluster| cluster.leader().is_some());
        cluster.run_for(300_000);
        let leader = cluster.leader().expect("nothing goes wrong here");
        let other = MemberId(3 - leader.0);
        change(&mut cluster, &Change::Remove(other)).expect("it makes sense");
        // What was not synced may be lost, and whoever was removed does not come back.
        cluster.crash(other);
        cluster.crash(leader);
        cluster.start(leader);
        cluster.run_until("it leads alone", |cluster| cluster.leader() == Some(leader));
    }
}

#[test]
fn a_leader_that_finds_its_own_removal_in_its_log_is_not_needed_when_anybody_says_that_it_is_gone() {
    let mut removed = 0;
    for seed in 0..60 {
        let mut cluster = small(2, seed);
        write(&mut cluster, 3);
        let leader = cluster.leader().expect("nothing goes wrong here");
        let other = MemberId(3 - leader.0);
        let request = cluster.request(leader);
        let asked = cluster.replica(leader).expect("it leads").change(request, &Change::Remove(leader));
        asked.expect("it makes sense");
        // The one that is to remove it dies, perhaps as it does so, and votes for it afterwards.
        let moment = cluster.draw(80_000);
        cluster.run_for(moment);
        cluster.crash(other);
        cluster.start(other);
        let is_gone =
            |replica: Option<&mut Replica>| replica.is_some_and(|it| it.removed().contains(&leader));
        let mut knows = [false; 2];
        for _ in 0..4_000 {
            cluster.run_for(1_000);
            knows = [leader, other].map(|id| is_gone(cluster.replica(id)));
            if knows != [false; 2] {
                break;
            }
        }
        if knows == [false; 2] {
            // It died before it had asked for that.
            continue;
        }
        removed += 1;
        let [_, knew] = knows;
        cluster.crash(leader);
        if !knew {
            cluster.crash(other);
            cluster.start(other);
        }
        cluster.run_until("the other leads alone", |cluster| cluster.leader() == Some(other));
    }
    assert!(removed > 20, "{removed}");
}

#[test]
fn a_member_that_is_alone_leads_at_once_also_with_changes_to_apply() {
    let alone = MemberId(1);
    for seed in 0..10 {
        let mut cluster = Cluster::new(1, seed);
        cluster.run_until("it leads", |cluster| cluster.leader().is_some());
        let known = cluster.replica(alone).expect("it is up").members().next().map(|(_, it)| it.clone());
        change(&mut cluster, &Change::Update(alone, known.expect("it is a member"))).expect("it makes sense");
        write(&mut cluster, 3);
        cluster.run_for(300_000);
        cluster.crash(alone);
        cluster.start(alone);
        cluster.replica(alone).expect("it was started").stand_for_election();
        let begun = cluster.now;
        write(&mut cluster, 1);
        let took = cluster.now - begun;
        assert!(took < 20 * TICK, "it waited for an election timeout: {took} µs");
    }
}
