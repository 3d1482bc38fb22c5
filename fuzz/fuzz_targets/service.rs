//! Any bytes against everything of the service that decodes what a stranger, a member or a disk says: it may refuse them, and
//! whatever it takes it survives. The first byte chooses who reads the rest.

#![no_main]

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::rc::Rc;
use std::time::Duration;

use habemus_etcd::etcdserverpb as rpc;
use habemus_journal::{Disk, Journal, Limits};
use habemus_replica::{Member, MemberId, PeerMessage, Recovered, Replica, Settings};
use habemus_store::{Command, Store};
use libfuzzer_sys::fuzz_target;
use prost::Message;

/// Two members, of which the second says what the bytes say.
fn replica() -> Replica {
    let member = |id: u64| Member {
        name: format!("m{id}"),
        peer_addresses: vec![],
        client_addresses: vec![],
        learner: false,
    };
    let first = Recovered::first([1, 2].map(|id| (MemberId(id), member(id))));
    Replica::start(Settings::new(MemberId(1), 1), &first, Duration::ZERO).expect("nothing is wrong with it")
}

/// What a member that is not honest sends, one message after the other, each with its length.
fn peer(mut bytes: &[u8]) {
    let mut replica = replica();
    let mut now = Duration::ZERO;
    while let Some((&length, rest)) = bytes.split_first() {
        let (frame, rest) = rest.split_at(usize::from(length).min(rest.len()));
        bytes = rest;
        now += Duration::from_millis(5);
        replica.tick(now);
        if let Ok(message) = postcard::from_bytes::<PeerMessage>(frame) {
            let again = postcard::to_extend(&message, Vec::new()).expect("memory takes it");
            assert_eq!(postcard::from_bytes(&again), Ok(message.clone()));
            replica.receive(MemberId(2), message, now);
        }
        replica.flush(now);
    }
}

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

/// A journal whose segment, or whose snapshot behind a checksum that is right, says what the bytes say.
fn journal(bytes: &[u8]) {
    let Some((&which, bytes)) = bytes.split_first() else { return };
    let member =
        Member { name: "a".into(), peer_addresses: vec![], client_addresses: vec![], learner: false };
    let (files, limits) = (Files::default(), Limits { segment: 4096 });
    let first = Recovered::first([(MemberId(1), member)]);
    drop(Journal::create(files.clone(), limits, &first).expect("nothing is wrong with an empty disk"));
    let mut snapshot = b"habemus1".to_vec();
    snapshot.extend(crc32fast::hash(bytes).to_le_bytes());
    snapshot.extend(bytes);
    let (name, says) =
        if which % 2 == 0 { ("0000000000000001.log", bytes.to_vec()) } else { ("snapshot", snapshot) };
    files.0.borrow_mut().insert(name.to_owned(), says);
    if let Ok((_, recovered)) = Journal::open(files, limits) {
        // What makes sense to the journal may still make none to the replica.
        drop(Replica::start(Settings::new(MemberId(1), 1), &recovered, Duration::ZERO));
    }
}

/// What clients send, as the transport decodes it.
fn requests(bytes: &[u8]) {
    macro_rules! decode {
        ($($message:ident),*) => {
            $(if let Ok(message) = rpc::$message::decode(bytes) {
                assert_eq!(rpc::$message::decode(&message.encode_to_vec()[..]).as_ref(), Ok(&message));
            })*
        };
    }
    decode!(
        RangeRequest,
        PutRequest,
        DeleteRangeRequest,
        TxnRequest,
        CompactionRequest,
        WatchRequest,
        LeaseGrantRequest,
        LeaseRevokeRequest,
        LeaseKeepAliveRequest,
        LeaseTimeToLiveRequest,
        MemberAddRequest,
        MemberRemoveRequest,
        MemberUpdateRequest,
        MemberPromoteRequest,
        AlarmRequest,
        StatusRequest,
        SnapshotRequest,
        HashKvRequest
    );
}

fuzz_target!(|bytes: &[u8]| {
    let Some((&who, rest)) = bytes.split_first() else { return };
    match who % 5 {
        0 => peer(rest),
        1 => journal(rest),
        2 => requests(rest),
        3 => {
            if let Ok(store) = Store::from_bytes(rest) {
                assert_eq!(Store::from_bytes(&store.to_bytes()), Ok(store));
            }
        }
        _ => {
            if let Ok(command) = postcard::from_bytes::<Command>(rest) {
                Store::new().apply(habemus_store::ClusterTime::default(), command);
            }
        }
    }
});
