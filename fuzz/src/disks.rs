//! Any bytes as what a member of the service finds on its disk: a segment of its journal, a snapshot behind a
//! checksum that is right, a store, a command. It refuses to start, and says why, or starts.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::rc::Rc;
use std::time::Duration;

use habemus_journal::{Disk, Journal, Limits};
use habemus_replica::{Effect, Member, MemberId, Recovered, Replica, RequestId, Settings};
use habemus_store::{ClusterTime, Command, Store};

use crate::members::put;

const LIMITS: Limits = Limits { segment: 4096 };
const SEGMENT: &str = "0000000000000001.log";

/// Files that say what they like. Clones are the same.
#[derive(Clone, Default)]
struct Files(Rc<RefCell<BTreeMap<String, Vec<u8>>>>);

impl Disk for Files {
    fn list(&self) -> io::Result<Vec<String>> {
        Ok(self.0.borrow().keys().cloned().collect())
    }

    fn read(&self, name: &str) -> io::Result<Vec<u8>> {
        self.0.borrow().get(name).cloned().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn create(&mut self, name: &str, length: u64) -> io::Result<()> {
        let length = usize::try_from(length).map_err(io::Error::other)?;
        self.0.borrow_mut().insert(name.to_owned(), vec![0; length]);
        Ok(())
    }

    fn write(&mut self, name: &str, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let mut files = self.0.borrow_mut();
        let file = files.get_mut(name).ok_or(io::ErrorKind::NotFound)?;
        let offset = usize::try_from(offset).map_err(io::Error::other)?;
        let place = file.get_mut(offset..offset + bytes.len()).ok_or(io::ErrorKind::UnexpectedEof)?;
        place.copy_from_slice(bytes);
        Ok(())
    }

    fn sync(&mut self, _: &str) -> io::Result<()> {
        Ok(())
    }

    fn rename(&mut self, from: &str, to: &str) -> io::Result<()> {
        let mut files = self.0.borrow_mut();
        let file = files.remove(from).ok_or(io::ErrorKind::NotFound)?;
        files.insert(to.to_owned(), file);
        Ok(())
    }

    fn remove(&mut self, name: &str) -> io::Result<()> {
        self.0.borrow_mut().remove(name).map(drop).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn sync_names(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The disk of a member that is alone.
fn disk() -> Files {
    let member =
        Member { name: "a".into(), peer_addresses: vec![], client_addresses: vec![], learner: false };
    let (files, first) = (Files::default(), Recovered::first([(MemberId(1), member)]));
    drop(Journal::create(files.clone(), LIMITS, &first).expect("nothing is wrong with an empty disk"));
    files
}

/// Starts from what is on the disk, if it can.
fn start(files: &Files) -> Option<(Journal<Files>, Replica)> {
    let (journal, recovered) = Journal::open(files.clone(), LIMITS).ok()?;
    // What makes sense to the journal may still make none to the replica.
    let replica = Replica::start(Settings::new(MemberId(1), 1), &recovered, Duration::ZERO).ok()?;
    Some((journal, replica))
}

/// Lets it lead, write and do as it is told.
fn live((mut journal, mut replica): (Journal<Files>, Replica), commands: &[Command]) {
    replica.stand_for_election();
    let mut now = Duration::ZERO;
    for number in 0..commands.len() + 4 {
        now += Duration::from_millis(5);
        replica.tick(now);
        if let Some(command) = number.checked_sub(2).and_then(|nth| commands.get(nth)) {
            let request = RequestId { origin: MemberId(1), number: number as u64 };
            replica.propose(request, command.clone());
        }
        for effect in replica.flush(now) {
            match effect {
                Effect::Write(write) => {
                    // A disk on which somebody else has written may be of another mind than its journal.
                    let Ok(()) = journal.write(std::slice::from_ref(&write)) else { return };
                    replica.persisted(write.number);
                }
                Effect::Snapshot(snapshot) => drop(journal.compact(&snapshot.to_stored())),
                _ => {}
            }
        }
    }
}

fn journal(name: &str, says: Vec<u8>) {
    let files = disk();
    files.0.borrow_mut().insert(name.to_owned(), says);
    if let Some(started) = start(&files) {
        live(started, &[put("k")]);
    }
}

/// The first byte says what it is found as.
pub fn attack(bytes: &[u8]) {
    let Some((&place, rest)) = bytes.split_first() else { return };
    match place % 4 {
        0 => journal(SEGMENT, rest.to_vec()),
        1 => {
            let checksum = crc32fast::hash(rest).to_le_bytes();
            journal("snapshot", [b"habemus1", &checksum[..], rest].concat());
        }
        2 => {
            if let Ok(store) = Store::from_bytes(rest) {
                assert_eq!(Store::from_bytes(&store.to_bytes()), Ok(store));
            }
        }
        _ => {
            if let Ok(command) = postcard::from_bytes::<Command>(rest) {
                Store::new().apply(ClusterTime::default(), command);
            }
        }
    }
}

/// What a member that has lived for a while has on its disk.
pub fn examples() -> Vec<Vec<u8>> {
    let files = disk();
    live(start(&files).expect("nothing is wrong with it"), &[put("a"), Command::Tick, put("b")]);
    let files = files.0.borrow();
    let mut store = Store::new();
    store.apply(ClusterTime::default(), put("a"));
    let command = postcard::to_extend(&put("a"), Vec::new()).expect("memory takes it");
    let at = |place: u8, bytes: &[u8]| [&[place], bytes].concat();
    vec![at(0, &files[SEGMENT]), at(1, &files["snapshot"][12..]), at(2, &store.to_bytes()), at(3, &command)]
}
