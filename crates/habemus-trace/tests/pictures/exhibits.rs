//! The runs that the golden pictures show.

use habemus::{Id, ProblemKind, Status};
use habemus_trace::{Dropped, Trace};

use crate::recorder::Recorder;

/// Every exhibit with the name of its golden files.
pub(crate) fn all() -> Vec<(&'static str, Trace)> {
    vec![
        ("chang-roberts", chang_roberts()),
        ("coordinator", coordinator()),
        ("two-inside", two_inside()),
        ("bully", bully()),
        ("idle", idle()),
        ("ricart-agrawala", ricart_agrawala()),
        ("pause", pause()),
        ("ring-of-eight", ring_of_eight()),
        ("crowd", crowd()),
        ("instant", instant()),
        ("all-to-all", all_to_all()),
    ]
}

fn follows(leader: u64) -> Option<Status> {
    Some(Status::Following(Some(Id(leader))))
}

/// Chang–Roberts on the ring 3 · 17 · 24 · 1, started by 17.
pub(crate) fn chang_roberts() -> Trace {
    let ring = [3, 17, 24, 1];
    let mut run = Recorder::new("chang-roberts", ProblemKind::Election, "ring", &ring)
        .titled("Chang–Roberts: 17 calls the election, 24 wins", 7);
    run.at(1_000).command(17, "elect", None);
    let mut message = run.send(17, 24, "Election(17)");
    run.at(2_200).deliver(message);
    message = run.send(24, 1, "Election(24)");
    run.at(3_100).deliver(message);
    message = run.send(1, 3, "Election(24)");
    run.at(4_500).deliver(message);
    message = run.send(3, 17, "Election(24)");
    run.at(5_400).deliver(message);
    message = run.send(17, 24, "Election(24)");
    run.at(6_700).deliver(message);
    run.output(24, "leads", Some(Status::Leading));
    message = run.send(24, 1, "Elected(24)");
    for (at, process, next) in [(7_900, 1, 3), (8_800, 3, 17), (10_000, 17, 24)] {
        run.at(at).deliver(message);
        run.output(process, "follows 24", follows(24));
        message = run.send(process, next, "Elected(24)");
    }
    run.at(11_200).deliver(message);
    run.finish()
}

/// Three clients of a coordinator enter one after the other.
pub(crate) fn coordinator() -> Trace {
    let mut run = Recorder::new("coordinator", ProblemKind::MutualExclusion, "complete", &[0, 1, 2, 3])
        .titled("A coordinator grants the critical section", 42);
    let waiting = Some(Status::Waiting);
    run.at(500).command(1, "acquire", waiting);
    let request_1 = run.send(1, 0, "Request");
    run.at(900).command(2, "acquire", waiting);
    let request_2 = run.send(2, 0, "Request");
    run.at(1_500).deliver(request_1);
    let grant = run.send(0, 1, "Grant");
    run.at(1_800).deliver(request_2);
    run.at(2_100).command(3, "acquire", waiting);
    let request_3 = run.send(3, 0, "Request");
    run.at(2_400).deliver(grant);
    run.output(1, "enters", Some(Status::Inside));
    run.at(3_200).deliver(request_3);
    run.at(4_000).command(1, "release", Some(Status::Idle));
    let mut release = run.send(1, 0, "Release");
    run.output(1, "left", Some(Status::Idle));
    for (at, next) in [(4_900, 2), (8_400, 3)] {
        run.at(at).deliver(release);
        let grant = run.send(0, next, "Grant");
        run.at(at + 1_000).deliver(grant);
        run.output(next, "enters", Some(Status::Inside));
        run.at(at + 2_600).command(next, "release", Some(Status::Idle));
        release = run.send(next, 0, "Release");
        run.output(next, "left", Some(Status::Idle));
    }
    run.at(12_000).deliver(release);
    run.finish()
}

/// The coordinator takes a slow client for dead and lets the next one in: two are inside.
pub(crate) fn two_inside() -> Trace {
    let mut run = Recorder::new("coordinator", ProblemKind::MutualExclusion, "complete", &[0, 1, 2])
        .titled("A timeout hurts: the holder was only slow", 3);
    run.at(1_000).command(1, "acquire", Some(Status::Waiting));
    let request = run.send(1, 0, "Request");
    run.at(2_000).deliver(request);
    let grant = run.send(0, 1, "Grant");
    run.at(3_100).deliver(grant);
    run.output(1, "enters", Some(Status::Inside));
    run.at(3_600).command(2, "acquire", Some(Status::Waiting));
    let request = run.send(2, 0, "Request");
    run.at(4_500).deliver(request);
    run.at(7_000).timer(0, "holder too slow");
    let grant = run.send(0, 2, "Grant");
    run.at(8_000).deliver(grant);
    run.output(2, "enters", Some(Status::Inside));
    run.violation("EM1", "1 and 2 are both in the critical section");
    run.at(9_000).command(1, "release", Some(Status::Idle));
    let release = run.send(1, 0, "Release");
    run.output(1, "left", Some(Status::Idle));
    run.at(10_100).deliver(release);
    run.finish()
}

/// Bully: the leader 5 crashes, 2 notices, 4 wins; messages are lost, and a cut hides 1 for a while.
pub(crate) fn bully() -> Trace {
    let mut run = Recorder::new("bully", ProblemKind::Election, "complete", &[1, 2, 3, 4, 5])
        .titled("Bully: 5 crashes, 4 takes over, 5 comes back", 11);
    run.output(5, "leads", Some(Status::Leading));
    let beat = run.send_background(5, 1, "Heartbeat");
    run.at(800).deliver(beat);
    run.at(1_000).crash(5);
    let beat = run.send_background(1, 5, "Heartbeat");
    run.at(1_900).lose(beat, Dropped::Down);
    run.at(5_000).suspect(2, 5);
    let to_3 = run.send(2, 3, "Election");
    let to_4 = run.send(2, 4, "Election");
    let to_5 = run.send(2, 5, "Election");
    run.at(6_000).deliver(to_3);
    let answer_3 = run.send(3, 2, "Answer");
    let to_4_again = run.send(3, 4, "Election");
    let to_5_again = run.send(3, 5, "Election");
    run.at(6_100).lose(to_5, Dropped::Down);
    run.at(6_300).deliver(to_4);
    let answer_4 = run.send(4, 2, "Answer");
    let from_4 = run.send(4, 5, "Election");
    run.at(6_900).lose(answer_3, Dropped::Loss);
    run.at(7_000).deliver(to_4_again);
    let answer_4_again = run.send(4, 3, "Answer");
    run.at(7_200).lose(to_5_again, Dropped::Down);
    run.at(7_300).deliver(answer_4);
    run.at(7_500).lose(from_4, Dropped::Down);
    run.at(8_100).deliver(answer_4_again);
    run.at(9_000).cut(&[1], &[2, 3, 4, 5]);
    run.at(10_000).timer(4, "no answer");
    run.output(4, "leads", Some(Status::Leading));
    let announced = run.send_all(4, &[1, 2, 3], "Coordinator");
    run.at(10_500).lose(announced[0], Dropped::Cut);
    run.at(10_900).deliver(announced[1]);
    run.output(2, "follows 4", follows(4));
    run.at(11_200).deliver(announced[2]);
    run.output(3, "follows 4", follows(4));
    run.at(12_500).heal(&[1], &[2, 3, 4, 5]);
    run.at(14_000).recover(5);
    run.output(5, "leads", Some(Status::Leading));
    let announced = run.send_all(5, &[1, 2, 3, 4], "Coordinator");
    for (at, index, process) in [(14_700, 0, 1), (14_850, 3, 4), (15_000, 1, 2), (15_300, 2, 3)] {
        run.at(at).deliver(announced[index]);
        run.output(process, "follows 5", follows(5));
    }
    run.finish()
}

/// A token is lost, nothing happens for two seconds, then a timer makes a new one.
pub(crate) fn idle() -> Trace {
    let mut run = Recorder::new("token-ring", ProblemKind::MutualExclusion, "ring", &[1, 2, 3])
        .titled("A token is lost", 5);
    let token = run.send(1, 2, "Token");
    run.at(1_000).deliver(token);
    run.output(2, "enters", Some(Status::Inside));
    run.at(2_500).command(2, "release", Some(Status::Idle));
    let token = run.send(2, 3, "Token");
    run.at(3_500).lose(token, Dropped::Loss);
    run.at(2_003_500).timer(1, "token lost");
    let token = run.send(1, 2, "Token");
    run.at(2_004_600).deliver(token);
    let token = run.send(2, 3, "Token");
    run.at(2_005_500).deliver(token);
    run.output(3, "enters", Some(Status::Inside));
    run.finish()
}

/// Two concurrent requests, ordered by their timestamps.
pub(crate) fn ricart_agrawala() -> Trace {
    let mut run = Recorder::new("ricart-agrawala", ProblemKind::MutualExclusion, "complete", &[1, 2, 3])
        .titled("Ricart–Agrawala: two want to enter at once", 1);
    run.at(1_000).command(1, "acquire", Some(Status::Waiting));
    let first = run.send_all(1, &[2, 3], "Request(41)");
    run.at(1_200).command(2, "acquire", Some(Status::Waiting));
    let second = run.send_all(2, &[1, 3], "Request(34)");
    run.at(2_000).deliver(first[1]);
    let reply_to_1 = run.send(3, 1, "Reply");
    run.at(2_100).deliver(first[0]);
    run.at(2_300).deliver(second[0]);
    let reply_1_to_2 = run.send(1, 2, "Reply");
    run.at(2_500).deliver(second[1]);
    let reply_to_2 = run.send(3, 2, "Reply");
    run.at(3_000).deliver(reply_to_1);
    run.at(3_300).deliver(reply_1_to_2);
    run.at(3_600).deliver(reply_to_2);
    run.output(2, "enters", Some(Status::Inside));
    run.at(5_200).command(2, "release", Some(Status::Idle));
    let reply = run.send(2, 1, "Reply");
    run.output(2, "left", Some(Status::Idle));
    run.at(6_100).deliver(reply);
    run.output(1, "enters", Some(Status::Inside));
    run.finish()
}

/// A leader that only paused: it still believes in itself when it wakes, and a duplicate arrives.
pub(crate) fn pause() -> Trace {
    use habemus_trace::Happening::{Pause, Resume};
    let mut run = Recorder::new("omega", ProblemKind::Election, "complete", &[1, 2])
        .titled("A pause is not a crash", 9);
    run.output(1, "leads", Some(Status::Leading));
    let beat = run.send(1, 2, "Alive(1)");
    run.at(1_000).deliver(beat);
    run.output(2, "follows 1", follows(1));
    run.at(1_500).happens(1, Pause);
    run.at(3_000).suspect(2, 1);
    run.output(2, "leads", Some(Status::Leading));
    let claim = run.send(2, 1, "Alive(2)");
    run.at(4_600).happens(1, Resume);
    run.at(4_700).deliver(claim);
    let beat = run.send(1, 2, "Alive(1)");
    run.at(5_000).deliver(claim);
    run.at(5_600).deliver(beat).restore(2, 1);
    run.output(2, "follows 1", follows(1));
    run.send(2, 1, "Alive(2)");
    run.finish()
}

/// Chang–Roberts on the ring of eight of the lecture notes.
pub(crate) fn ring_of_eight() -> Trace {
    let ring = [3, 17, 24, 1, 28, 15, 9, 4];
    let mut run =
        Recorder::new("chang-roberts", ProblemKind::Election, "ring", &ring).titled("A ring of eight", 2);
    run.at(1_000).command(17, "elect", None);
    let mut best = 17;
    let mut at = 1_000;
    let mut place = 1;
    let mut message = run.send(17, 24, "Election(17)");
    loop {
        place = (place + 1) % ring.len();
        at += 900 + (at / 7) % 400;
        run.at(at).deliver(message);
        let me = ring[place];
        if me == best {
            break;
        }
        best = best.max(me);
        message = run.send(me, ring[(place + 1) % ring.len()], &format!("Election({best})"));
    }
    run.output(28, "leads", Some(Status::Leading));
    run.finish()
}

/// More processes than fit side by side.
pub(crate) fn crowd() -> Trace {
    let ids: Vec<u64> = (1..=40).map(|id| id * 11).collect();
    let mut run = Recorder::new("all-to-all", ProblemKind::Election, "complete", &ids).titled("A crowd", 4);
    let messages: Vec<u64> = (0..24).map(|i| run.send(ids[i], ids[(i * 7 + 3) % 24], "Candidate")).collect();
    for (i, &message) in messages.iter().enumerate() {
        run.at(1_000 + 37 * i as u64).deliver(message);
    }
    run.violation("E1", "264 and 253 both lead");
    run.finish()
}

/// A counterexample of a checker that has no clock: all happens at the time 0.
pub(crate) fn instant() -> Trace {
    let mut run = Recorder::new("anonymous-ring", ProblemKind::Election, "ring", &[0, 1, 2]);
    run.command(0, "elect", None);
    let a = run.send(0, 1, "VoteForMe");
    run.command(1, "elect", None);
    let b = run.send(1, 2, "VoteForMe");
    run.deliver(a).output(1, "leads", Some(Status::Leading));
    let c = run.send(1, 2, "HabemosLeader");
    run.deliver(b);
    let d = run.send(2, 0, "VoteForMe");
    run.deliver(d).output(0, "leads", Some(Status::Leading));
    run.violation("uniqueness", "0 and 1 both lead");
    run.deliver(c);
    run.finish()
}

/// Six processes tell each other their identifiers: many messages at once, and later starters.
pub(crate) fn all_to_all() -> Trace {
    let ids = [2, 3, 5, 7, 11, 13];
    let mut run = Recorder::new("all-to-all", ProblemKind::Election, "complete", &ids)
        .titled("Everyone tells everyone", 8);
    let mut flights = Vec::new();
    for (index, &from) in ids.iter().enumerate() {
        run.at(200 * index as u64);
        for &to in ids.iter().filter(|&&to| to != from) {
            let lasts = 900 + (from * 131 + to * 377) % 1_100;
            flights.push((200 * index as u64 + lasts, run.send(from, to, "Candidate")));
        }
    }
    flights.sort_unstable();
    let mut heard = [0; 6];
    for (at, message) in flights {
        run.at(at.max(1_000)).deliver(message);
        let to = run.receiver(message);
        let place = ids.iter().position(|&id| id == to).expect("only these take part");
        heard[place] += 1;
        if heard[place] == 5 {
            let (label, status) = match to {
                13 => ("leads", Some(Status::Leading)),
                _ => ("follows 13", follows(13)),
            };
            run.output(to, label, status);
        }
    }
    run.finish()
}
