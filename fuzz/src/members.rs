//! Any bytes as what a member of the service sends that is not honest: the one that hears it goes on,
//! whatever it is.

use std::time::Duration;

use bytes::Bytes;
use habemus_replica::{Effect, Member, MemberId, PeerMessage, Recovered, Replica, RequestId, Settings};
use habemus_store::{Command, Given, Put, SessionId};

const HONEST: MemberId = MemberId(1);
const LIAR: MemberId = MemberId(2);

/// One of two members.
pub(crate) fn member(id: MemberId) -> Replica {
    let member = |id: MemberId| Member {
        name: format!("m{id}"),
        peer_addresses: vec![],
        client_addresses: vec![],
        learner: false,
    };
    let first = Recovered::first([HONEST, LIAR].map(|id| (id, member(id))));
    Replica::start(Settings::new(id, id.0), &first, Duration::ZERO).expect("nothing is wrong with it")
}

/// Does what the replica wants done, by a disk that always writes; gives what it sends.
fn flush(replica: &mut Replica, now: Duration) -> Vec<PeerMessage> {
    let mut sent = Vec::new();
    // What was written lets it go on.
    for _ in 0..8 {
        let effects = replica.flush(now);
        if effects.is_empty() {
            break;
        }
        for effect in effects {
            match effect {
                Effect::Send { message, .. } => sent.push(message),
                Effect::Write(write) if write.sync => replica.persisted(write.number),
                _ => {}
            }
        }
    }
    sent
}

/// One message after the other, each with its length in two bytes before it; the first byte says whether the
/// one that hears them stands for election first.
pub fn attack(bytes: &[u8]) {
    let Some((&first, mut bytes)) = bytes.split_first() else { return };
    let (mut replica, mut now) = (member(HONEST), Duration::ZERO);
    if first % 2 == 1 {
        replica.stand_for_election();
    }
    while let [low, high, rest @ ..] = bytes {
        let length = usize::from(u16::from_le_bytes([*low, *high]));
        let (message, rest) = rest.split_at(length.min(rest.len()));
        bytes = rest;
        now += Duration::from_millis(5);
        replica.tick(now);
        if let Ok(message) = postcard::from_bytes::<PeerMessage>(message) {
            let again = postcard::to_extend(&message, Vec::new()).expect("memory takes it");
            assert_eq!(postcard::from_bytes(&again), Ok(message.clone()));
            replica.receive(LIAR, message, now);
        }
        flush(&mut replica, now);
        let request = RequestId { origin: HONEST, number: now.as_millis() as u64 };
        replica.propose(request, put("k"));
        flush(&mut replica, now);
    }
}

pub(crate) fn put(key: &'static str) -> Command {
    let value = Given::New(Bytes::from_static(b"v"));
    Command::Put(Put { key: Bytes::from_static(key.as_bytes()), value, session: Given::New(None) })
}

/// The messages of a story, for whoever hears them otherwise than this replica does.
pub(crate) fn told(story: &[u8]) -> Vec<PeerMessage> {
    let (mut rest, mut all) = (&story[1..], Vec::new());
    while let [low, high, more @ ..] = rest {
        let (message, more) = more.split_at(usize::from(u16::from_le_bytes([*low, *high])));
        all.push(postcard::from_bytes(message).expect("honest members say what makes sense"));
        rest = more;
    }
    all
}

/// What the second of two honest members says, once as the one that follows and once as the one that leads.
pub fn examples() -> Vec<Vec<u8>> {
    [HONEST, LIAR]
        .into_iter()
        .enumerate()
        .map(|(stands, leader)| converse(stands as u8 ^ 1, leader))
        .collect()
}

fn converse(stands: u8, leader: MemberId) -> Vec<u8> {
    let mut replicas = [member(HONEST), member(LIAR)];
    let mut story = vec![stands];
    let leads = usize::from(leader == LIAR);
    replicas[leads].stand_for_election();
    for round in 1..30 {
        let now = Duration::from_millis(5 * round);
        if round % 7 == 6 {
            let request = RequestId { origin: leader, number: round };
            let commands = [put("a"), Command::OpenSession { id: SessionId(9), ttl: Duration::from_secs(5) }];
            replicas[leads].propose(request, commands[round as usize % 2].clone());
        }
        for (from, id) in [(0, HONEST), (1, LIAR)] {
            replicas[from].tick(now);
            for message in flush(&mut replicas[from], now) {
                if id == LIAR {
                    let said = postcard::to_extend(&message, Vec::new()).expect("memory takes it");
                    story.extend((said.len() as u16).to_le_bytes());
                    story.extend(said);
                }
                replicas[1 - from].receive(id, message, now);
            }
        }
    }
    assert_eq!(replicas[leads].role().leader, Some(leader), "honest members elect whoever stands");
    story
}
