//! What happens when nothing goes wrong, and when one thing does.

use std::time::Duration;

use habemus_replica::{MemberId, Settings, Unanswered};
use habemus_store::{Answer, Command, Put, SessionId};

use crate::cluster::{Cluster, Outcome, TICK};

fn put(key: &'static str) -> Command {
    Command::Put(Put::new(key, "x"))
}

#[test]
fn a_single_member_leads_and_answers() {
    let mut cluster = Cluster::new(1, 1);
    let request = cluster.propose(MemberId(1), put("a")).expect("it is up");
    assert!(matches!(cluster.outcome(request), Outcome::Applied(_)));
}

#[test]
fn whichever_member_is_asked_answers_what_all_of_them_have() {
    let mut cluster = Cluster::new(3, 2);
    for id in 1..=3 {
        let request = cluster.propose(MemberId(id), put("a")).expect("it is up");
        let Outcome::Applied(applied) = cluster.outcome(request) else { panic!("{id} gave up") };
        assert!(matches!(applied.answer, Ok(Answer::Put { .. })));
    }
    cluster.run_for(200_000);
    for node in cluster.nodes.values() {
        let replica = node.replica.as_ref().expect("nobody crashed");
        assert_eq!(replica.store().get(b"a").expect("it was put").version, 3);
    }
}

#[test]
fn a_read_sees_what_was_answered_elsewhere() {
    let mut cluster = Cluster::new(3, 3);
    let request = cluster.propose(MemberId(1), put("a")).expect("it is up");
    let Outcome::Applied(applied) = cluster.outcome(request) else {
        panic!("1 gave up: {:?}", cluster.outcomes[&request])
    };
    for id in 1..=3 {
        let read = cluster.read(MemberId(id)).expect("it is up");
        let Outcome::Readable(revision) = cluster.outcome(read) else { panic!("{id} gave up") };
        assert!(revision >= applied.revision);
    }
}

#[test]
fn without_a_majority_nothing_is_answered_and_nothing_is_done() {
    let mut cluster = Cluster::new(3, 4);
    cluster.run_until("somebody leads", |cluster| cluster.leader().is_some());
    for id in [2, 3] {
        cluster.crash(MemberId(id));
    }
    cluster.run_for(1_000_000);
    let request = cluster.propose(MemberId(1), put("a")).expect("it is up");
    let Outcome::Unanswered(why) = cluster.outcome(request) else { panic!("there is no majority") };
    assert_eq!(why, Unanswered::NoLeader);
    let read = cluster.read(MemberId(1)).expect("it is up");
    assert!(matches!(cluster.outcome(read), Outcome::Unanswered(Unanswered::NoLeader)));
}

#[test]
fn a_session_ends_in_time_though_nobody_asks() {
    let mut cluster = Cluster::new(3, 5);
    let open = Command::OpenSession { id: SessionId(7), ttl: Duration::from_secs(2) };
    let request = cluster.propose(MemberId(2), open).expect("it is up");
    cluster.outcome(request);
    let opened = cluster.now;
    cluster.run_until("the session ends", |cluster| cluster.ended.contains_key(&7));
    let lasted = cluster.now - opened;
    assert!((1_980_000..2_100_000).contains(&lasted), "it lasted {lasted} µs");
}

/// Opens a session of two seconds, renews it after `renewed` if that is not nothing, and crashes `crashes`
/// leaders, each after another `between`. Says between which bounds the session may end by the promise, and
/// when it did, in microseconds since it was last asked for.
fn lasted(seed: u64, renewed: u64, between: u64, crashes: u64) -> (std::ops::RangeInclusive<u64>, u64) {
    const TTL: u64 = 2_000_000;
    // What may have passed since the old leader was last heard, and until the new one knows that it leads.
    let unheard = Settings::new(MemberId(1), 0).heartbeat_ticks as u64 * TICK + 6 * TICK;
    let mut cluster = Cluster::new(5, seed);
    cluster.run_until("somebody leads", |cluster| cluster.leader().is_some());
    let mut asked = cluster.now;
    let mut ask = |cluster: &mut Cluster, command| {
        asked = cluster.now;
        let leader = cluster.leader().expect("somebody leads");
        let request = cluster.propose(leader, command).expect("it leads");
        assert!(matches!(cluster.outcome(request), Outcome::Applied(_)));
    };
    ask(&mut cluster, Command::OpenSession { id: SessionId(7), ttl: Duration::from_micros(TTL) });
    if renewed > 0 {
        cluster.run_for(renewed);
        ask(&mut cluster, Command::RenewSessions(vec![SessionId(7)]));
    }
    let answered = cluster.now;
    let mut max = TTL + (answered - asked) + 6 * TICK;
    for _ in 0..crashes {
        cluster.run_for(between);
        let leader = cluster.leader().expect("nothing else goes wrong");
        cluster.crash(leader);
        let crashed = cluster.now;
        cluster.run_until("another leads", |cluster| cluster.leader().is_some());
        max += cluster.now - crashed + unheard;
    }
    cluster.run_until("the session ends", |cluster| cluster.ended.contains_key(&7));
    (TTL..=max, cluster.ended[&7] - asked)
}

#[test]
fn a_new_leader_lengthens_a_session_by_the_time_in_which_nobody_led_and_never_shortens_it() {
    for seed in 0..5 {
        for renewed in [0, 1_500_000] {
            for (between, crashes) in [(100_000, 1), (900_000, 1), (1_900_000, 1), (100_000, 2), (600_000, 2)]
            {
                let (allowed, lasted) = lasted(seed, renewed, between, crashes);
                assert!(
                    allowed.contains(&lasted),
                    "seed {seed}, renewed {renewed}, {crashes} leaders dead after {between} µs each: \
                     it lasted {lasted} µs of {allowed:?}"
                );
            }
        }
    }
}

#[test]
fn a_leader_whose_connections_break_is_replaced_before_its_silence_would_show() {
    let mut cluster = Cluster::new(5, 8);
    cluster.run_until("somebody leads", |cluster| cluster.leader().is_some());
    cluster.run_for(100_000);
    let old = cluster.leader().expect("nothing went wrong");
    cluster.crash(old);
    let others: Vec<MemberId> = (1..=5).map(MemberId).filter(|id| *id != old).collect();
    for id in others {
        cluster.replica(id).expect("it is up").suspect(old);
    }
    let began = cluster.now;
    cluster.run_until("another leads", |cluster| cluster.leader().is_some_and(|leader| leader != old));
    assert!(cluster.now - began < 10 * TICK, "it took {} µs", cluster.now - began);
}

#[test]
fn whoever_takes_the_leader_for_dead_though_others_hear_of_it_follows_it_again() {
    let mut cluster = Cluster::new(3, 9);
    cluster.run_until("somebody leads", |cluster| cluster.leader().is_some());
    cluster.run_for(100_000);
    let leader = cluster.leader().expect("nothing went wrong");
    let term = cluster.replica(leader).expect("it leads").role().term;
    let hasty = MemberId(if leader == MemberId(1) { 2 } else { 1 });
    for _ in 0..20 {
        cluster.replica(hasty).expect("it is up").suspect(leader);
        cluster.run_for(30_000);
    }
    cluster.run_for(100_000);
    let role = cluster.replica(hasty).expect("it is up").role();
    assert_eq!((role.leader, role.term), (Some(leader), term));
    assert_eq!(cluster.leader(), Some(leader));
}

#[test]
fn leadership_goes_where_it_is_sent() {
    let mut cluster = Cluster::new(3, 7);
    cluster.run_until("somebody leads", |cluster| cluster.leader().is_some());
    cluster.run_for(100_000);
    let old = cluster.leader().expect("nothing went wrong");
    let heir = MemberId(if old == MemberId(1) { 2 } else { 1 });
    cluster.replica(old).expect("it is up").transfer_leadership(heir);
    let began = cluster.now;
    cluster.run_until("the heir leads", |cluster| cluster.leader() == Some(heir));
    assert!(cluster.now - began < 20 * TICK, "it did not wait for an election timeout");
}
