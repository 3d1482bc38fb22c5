//! What happens when nothing goes wrong, and when one thing does.

use std::time::Duration;

use habemus_replica::{MemberId, Unanswered};
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

#[test]
fn a_new_leader_lengthens_a_session_and_never_shortens_it() {
    let mut cluster = Cluster::new(3, 6);
    let open = Command::OpenSession { id: SessionId(7), ttl: Duration::from_secs(2) };
    let request = cluster.propose(MemberId(2), open).expect("it is up");
    let asked = cluster.now;
    cluster.outcome(request);
    cluster.run_for(1_000_000);
    let leader = cluster.leader().expect("nothing went wrong");
    cluster.crash(leader);
    cluster.run_until("the session ends", |cluster| cluster.ended.contains_key(&7));
    let lasted = cluster.now - asked;
    let election = 40 * TICK;
    assert!(lasted >= 2_000_000, "it lasted {lasted} µs");
    // By what is left and an election, which may have to be held again after a tie.
    assert!(lasted <= 2_000_000 + 3 * election, "it lasted {lasted} µs");
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
