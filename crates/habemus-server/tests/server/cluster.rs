//! Several members: they replace each other, and let nobody in who is not who it says it is.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::time::Duration;

use habemus_etcd::etcdserverpb::cluster_client::ClusterClient;
use habemus_etcd::etcdserverpb::kv_client::KvClient;
use habemus_etcd::etcdserverpb::maintenance_client::MaintenanceClient;
use habemus_etcd::etcdserverpb::{
    Member, MemberAddRequest, MemberListRequest, MemberPromoteRequest, MemberRemoveRequest,
    MoveLeaderRequest, RangeRequest, StatusRequest, StatusResponse,
};
use habemus_etcd::v3lockpb::lock_client::LockClient;
use habemus_etcd::v3lockpb::{LockRequest, UnlockRequest};
use habemus_journal::{Extent, Files, Journal, Limits};
use tonic::{Code, Status};

use crate::proxy::Proxy;
use crate::support::{Directory, Running, fails, get, put};

const NAMES: [&str; 3] = ["a", "b", "c"];

/// Three members, some of which may be down.
pub(crate) struct Trio {
    directory: Directory,
    cluster: String,
    members: [Option<Running>; 3],
    /// What each is told beside that.
    more: &'static [&'static str],
}

/// Addresses at which nobody listens just now.
pub(crate) fn free_addresses(count: usize) -> Vec<String> {
    let listeners: Vec<TcpListener> =
        (0..count).map(|_| TcpListener::bind("127.0.0.1:0").expect("there are free ports")).collect();
    listeners.iter().map(|listener| listener.local_addr().expect("it listens").to_string()).collect()
}

impl Trio {
    pub(crate) fn start() -> Trio {
        Trio::start_with(&[])
    }

    pub(crate) fn start_with(more: &'static [&'static str]) -> Trio {
        Trio::at(&free_addresses(3), more)
    }

    fn at(addresses: &[String], more: &'static [&'static str]) -> Trio {
        let mut trio = Trio::of(addresses, more);
        for index in 0..3 {
            trio.start_one(index);
        }
        trio
    }

    /// None of them is up yet.
    fn of(addresses: &[String], more: &'static [&'static str]) -> Trio {
        let cluster: Vec<String> =
            NAMES.iter().zip(addresses).map(|(name, address)| format!("{name}={address}")).collect();
        let (directory, cluster) = (Directory::new(), cluster.join(","));
        Trio { directory, cluster, members: [None, None, None], more }
    }

    fn data(&self, index: usize) -> PathBuf {
        self.directory.join(NAMES[index])
    }

    fn arguments(&self, index: usize) -> [&str; 4] {
        ["--name", NAMES[index], "--cluster", &self.cluster]
    }

    fn start_one(&mut self, index: usize) {
        let member = Running::start(&self.data(index), &[&self.arguments(index)[..], self.more].concat());
        self.members[index] = Some(member);
    }

    /// Starts one that is to be refused, and says what it says.
    fn refused(&self, index: usize) -> String {
        let data = self.data(index);
        let data = ["--listen", "127.0.0.1:0", "--data", data.to_str().expect("it is a text")];
        let ended = fails(&[&data[..], &self.arguments(index)].concat());
        assert_eq!(ended.code, Some(1));
        ended.said
    }

    pub(crate) fn member(&self, index: usize) -> &Running {
        self.members[index].as_ref().expect("it is up")
    }

    pub(crate) fn take(&mut self, index: usize) -> Running {
        self.members[index].take().expect("it is up")
    }

    pub(crate) async fn status(&self, index: usize) -> StatusResponse {
        let mut client = MaintenanceClient::new(self.member(index).channel().await);
        client.status(StatusRequest {}).await.expect("it answers").into_inner()
    }

    /// Waits until one of those that are up leads and the others know, and says which.
    pub(crate) async fn leader(&self) -> usize {
        for _ in 0..1000 {
            let up: Vec<usize> = (0..3).filter(|index| self.members[*index].is_some()).collect();
            let mut leads = None;
            let mut known = Vec::new();
            for index in &up {
                let status = self.status(*index).await;
                known.push(status.leader);
                if status.header.expect("answers have headers").member_id == status.leader {
                    leads = Some(*index);
                }
            }
            if let Some(leads) = leads
                && known.iter().all(|leader| *leader == known[0])
            {
                return leads;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("nobody leads");
    }
}

/// Writes until it is taken: while nobody leads, it may be refused.
async fn put_in_the_end(member: &Running, key: &str, value: &str) {
    let channel = member.channel().await;
    for _ in 0..200 {
        match put(&channel, key, value).await {
            Ok(_) => return,
            Err(status) => assert_eq!(status.code(), Code::Unavailable, "{status}"),
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("it is never taken");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_member_answers_everything_and_a_dead_leader_is_replaced() {
    let mut trio = Trio::start();
    let leader = trio.leader().await;
    for (index, name) in NAMES.into_iter().enumerate() {
        let channel = trio.member(index).channel().await;
        put(&channel, name, name).await.expect("what the leader must do is forwarded");
        for (reader, other) in NAMES.into_iter().enumerate() {
            let found = get(&trio.member(reader).channel().await, name).await;
            assert_eq!(found.count, 1, "{other} reads what {name} has answered");
        }
    }
    trio.take(leader).kill();
    let next = trio.leader().await;
    assert_ne!(next, leader);
    put_in_the_end(trio.member(next), "after", "1").await;
    for name in NAMES {
        assert_eq!(get(&trio.member(next).channel().await, name).await.count, 1, "nothing is lost");
    }
    // It comes back, and catches up before it answers.
    trio.start_one(leader);
    trio.leader().await;
    assert_eq!(get(&trio.member(leader).channel().await, "after").await.count, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn members_find_each_other_by_the_names_of_their_hosts() {
    let named = free_addresses(3).into_iter().map(|address| address.replace("127.0.0.1", "localhost"));
    let mut trio = Trio::at(&named.collect::<Vec<_>>(), &[]);
    let leader = trio.leader().await;
    trio.take(leader).kill();
    let next = trio.leader().await;
    put_in_the_end(trio.member(next), "after", "1").await;
    let urls: Vec<String> =
        members(trio.member(next)).await.into_iter().flat_map(|it| it.peer_ur_ls).collect();
    assert!(urls.len() == 3 && urls.iter().all(|url| url.starts_with("http://localhost:")), "{urls:?}");
    // It comes back where the others look for it, although it listens elsewhere by its own word.
    let port = trio.cluster.split(',').nth(leader).and_then(|text| text.rsplit(':').next()).expect("a port");
    let listen = format!("127.0.0.1:{port}");
    let arguments = [&trio.arguments(leader)[..], &["--listen-peer", &listen]].concat();
    let back = Running::start(&trio.data(leader), &arguments);
    assert_eq!(get(&back.channel().await, "after").await.count, 1);
}

/// Locks and unlocks in the end, and says with which token it was inside.
async fn token(member: &Running) -> i64 {
    let channel = member.channel().await;
    for _ in 0..200 {
        let mut client = LockClient::new(channel.clone());
        match client.lock(LockRequest { name: "door".into(), lease: 0 }).await {
            Ok(held) => {
                let key = held.into_inner().key;
                let name = String::from_utf8(key.to_vec()).expect("it is a text");
                let token = get(&channel, &name).await.kvs[0].create_revision;
                client.unlock(UnlockRequest { key }).await.expect("it was inside");
                return token;
            }
            Err(status) => assert_eq!(status.code(), Code::Unavailable, "{status}"),
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("nobody is let in");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tokens_grow_through_dead_leaders_restarts_and_changes_of_members() {
    let mut trio = Trio::start();
    let leader = trio.leader().await;
    let follower = (leader + 1) % 3;
    let mut tokens = vec![token(trio.member(follower)).await, token(trio.member(leader)).await];
    trio.take(leader).kill();
    trio.leader().await;
    tokens.push(token(trio.member(follower)).await);
    trio.start_one(leader);
    let mut client = ClusterClient::new(trio.member(follower).channel().await);
    let add = MemberAddRequest { peer_ur_ls: free_addresses(1), is_learner: true };
    let id = client.member_add(add).await.expect("it can be added").into_inner().member.expect("it was").id;
    tokens.push(token(trio.member(leader)).await);
    client.member_remove(MemberRemoveRequest { id }).await.expect("it can be removed");
    tokens.push(token(trio.member(follower)).await);
    (0..3).for_each(|index| trio.take(index).kill());
    (0..3).for_each(|index| trio.start_one(index));
    trio.leader().await;
    tokens.push(token(trio.member(leader)).await);
    assert!(tokens.is_sorted_by(|one, next| one < next), "{tokens:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn leadership_is_moved_by_order_and_before_a_planned_stop() {
    let mut trio = Trio::start();
    let leader = trio.leader().await;
    let heir = (leader + 1) % 3;
    let target_id = trio.status(heir).await.header.expect("answers have headers").member_id;
    let mut client = MaintenanceClient::new(trio.member(leader).channel().await);
    let mut moved = client.move_leader(MoveLeaderRequest { target_id }).await;
    for _ in 0..20 {
        // On a busy machine it may take too long.
        if moved.as_ref().is_err_and(|status| status.message().contains("took too long")) {
            moved = client.move_leader(MoveLeaderRequest { target_id }).await;
        }
    }
    moved.expect("it is moved");
    assert_eq!(trio.leader().await, heir);
    let refused = client.move_leader(MoveLeaderRequest { target_id }).await.expect_err("it leads no more");
    assert_eq!((refused.code(), refused.message()), (Code::FailedPrecondition, "etcdserver: not leader"));

    let term = trio.status(heir).await.raft_term;
    assert_eq!(trio.take(heir).stop(), Some(0));
    let next = trio.leader().await;
    assert_eq!(trio.status(next).await.raft_term, term + 1, "it was handed over, and nobody had to wait");
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a directory can be made");
    for file in std::fs::read_dir(from).expect("it is there") {
        let file = file.expect("it can be listed");
        std::fs::copy(file.path(), to.join(file.file_name())).expect("it can be copied");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_member_without_what_it_confirmed_is_not_let_in() {
    let mut trio = Trio::start();
    trio.leader().await;
    assert_eq!(trio.take(2).stop(), Some(0));
    let (data, kept) = (trio.data(2), trio.directory.join("kept"));
    copy(&data, &kept);
    // It goes on from there, and with it what it confirms.
    trio.start_one(2);
    put_in_the_end(trio.member(2), "key", "value").await;
    trio.take(2).kill();

    let fresh = trio.directory.join("fresh");
    std::fs::rename(&data, &fresh).expect("it is ours");
    copy(&kept, &data);
    let said = trio.refused(2);
    assert!(said.contains("as it was at an earlier time"), "{said}");
    assert!(said.contains("etcdctl member remove"), "{said}");

    std::fs::remove_dir_all(&data).expect("it is ours");
    let said = trio.refused(2);
    assert!(said.contains("another disk than before"), "{said}");

    // With the disk that it had it is welcome.
    std::fs::remove_dir_all(&data).expect("it is ours");
    std::fs::rename(&fresh, &data).expect("it is ours");
    trio.start_one(2);
    put_in_the_end(trio.member(2), "key", "value").await;
}

/// How far the journal in a copy of a directory goes.
fn extent(data: &Path) -> Extent {
    let files = Files::new(data).expect("it is there");
    Journal::open(files, Limits::default()).expect("whenever it is copied, it is sound").0.extent()
}

/// Waits until a member has written down that another's journal goes further than this.
async fn written_down(trio: &Trio, by: usize, whose: u64, before: Extent) {
    for _ in 0..3000 {
        let text = std::fs::read_to_string(trio.data(by).join("disks")).unwrap_or_default();
        let disks: toml::Table = text.parse().expect("it is replaced as a whole");
        let written = disks.get(&format!("{whose:016x}")).and_then(|known| known.get("written")).cloned();
        if written.and_then(|written| written.try_into::<Extent>().ok()).is_some_and(|it| it > before) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("it is not written down");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_that_was_made_while_the_member_ran_is_not_let_in_either() {
    let mut trio = Trio::start();
    let leader = trio.leader().await;
    // One that follows and one that leads: each has confirmed what its copy lacks.
    for index in [(leader + 1) % 3, leader] {
        let id = trio.status(index).await.header.expect("answers have headers").member_id;
        let (data, kept) = (trio.data(index), trio.directory.join(&format!("kept-{index}")));
        copy(&data, &kept);
        put_in_the_end(trio.member(index), "key", "value").await;
        let others: Vec<usize> = (0..3).filter(|other| *other != index).collect();
        for other in &others {
            written_down(&trio, *other, id, extent(&kept)).await;
        }
        // All go, and nobody knows any more what it has not written down.
        (0..3).for_each(|it| trio.take(it).kill());
        let fresh = trio.directory.join(&format!("fresh-{index}"));
        std::fs::rename(&data, &fresh).expect("it is ours");
        copy(&kept, &data);
        others.iter().for_each(|other| trio.start_one(*other));
        let said = trio.refused(index);
        assert!(said.contains("as it was at an earlier time"), "{said}");
        assert!(said.contains("etcdctl member remove"), "{said}");

        // With the disk that it had it is welcome.
        std::fs::remove_dir_all(&data).expect("it is ours");
        std::fs::rename(&fresh, &data).expect("it is ours");
        trio.start_one(index);
        put_in_the_end(trio.member(index), "key", "value").await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_member_of_another_cluster_is_told_so() {
    let trio = Trio::start();
    trio.leader().await;
    let address = &free_addresses(1)[0];
    let first = trio.cluster.split(',').next().expect("there are three");
    let stranger = Running::start(
        &trio.directory.join("stranger"),
        &["--name", "x", "--cluster", &format!("{first},x={address}")],
    );
    stranger.says("compare --cluster of both");
}

async fn members(member: &Running) -> Vec<Member> {
    let mut client = ClusterClient::new(member.channel().await);
    let request = MemberListRequest { linearizable: true };
    client.member_list(request).await.expect("it answers").into_inner().members
}

/// Asks for a vote until the learner has caught up.
async fn promote(member: &Running, id: u64) -> Result<(), Status> {
    let mut client = ClusterClient::new(member.channel().await);
    for _ in 0..100 {
        match client.member_promote(MemberPromoteRequest { id }).await {
            Err(status) if status.message().contains("in sync with leader") => {}
            // On a busy machine another may have to lead first.
            Err(status) if status.code() == Code::Unavailable => {}
            other => return other.map(drop),
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("it never catches up");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn members_are_added_promoted_and_removed_while_clients_work() {
    let mut trio = Trio::start();
    let leader = trio.leader().await;
    let follower = (leader + 1) % 3;
    put(&trio.member(leader).channel().await, "before", "1").await.expect("somebody leads");
    // So much that what the new one is brought comes in several parts.
    let wide: String = ('a'..='z').cycle().take(1_000_000).collect();
    for number in 0..3 {
        put_in_the_end(trio.member(leader), &format!("wide{number}"), &wide).await;
    }
    let peer = &free_addresses(1)[0];
    let (data, url) = (trio.directory.join("d"), format!("http://{peer}"));
    let join =
        trio.cluster.split(',').filter_map(|text| text.split('=').nth(1)).collect::<Vec<_>>().join(",");
    let arguments = ["--name", "d", "--peer", peer, "--join", &join];

    let path = data.to_str().expect("it is a text");
    let early = fails(&[&["--listen", "127.0.0.1:0", "--data", path][..], &arguments].concat());
    assert!(early.said.contains("add it first"), "{}", early.said);

    // Through a member that does not lead: it is forwarded.
    let mut client = ClusterClient::new(trio.member(follower).channel().await);
    let add = MemberAddRequest { peer_ur_ls: vec![url.clone()], is_learner: true };
    let added = client.member_add(add.clone()).await.expect("it can be added").into_inner();
    let id = added.member.expect("it was added").id;
    // An address is enough.
    let again = MemberAddRequest { peer_ur_ls: vec![peer.clone()], ..add };
    let twice = client.member_add(again).await.expect_err("it is there already");
    assert_eq!(twice.message(), "etcdserver: Peer URLs already exists");
    let absent = client.member_promote(MemberPromoteRequest { id: 7 }).await.expect_err("there is none");
    assert_eq!((absent.code(), absent.message()), (Code::NotFound, "etcdserver: member not found"));

    let mut newcomer = Running::start(&data, &arguments);
    promote(trio.member(follower), id).await.expect("it catches up");
    let known = members(trio.member(leader)).await.into_iter().find(|member| member.id == id);
    assert!(known.is_some_and(|member| !member.is_learner), "it has a vote");
    assert_eq!(get(&newcomer.channel().await, "before").await.count, 1);
    for number in 0..3 {
        let found = get(&newcomer.channel().await, &format!("wide{number}")).await;
        assert!(found.kvs[0].value == wide.as_bytes(), "{number}");
    }
    put_in_the_end(&newcomer, "through", "1").await;

    // With two of four down nothing goes; so it counts.
    client.member_remove(MemberRemoveRequest { id }).await.expect("it can be removed");
    assert_eq!(newcomer.wait(), Some(1));
    assert_eq!(members(trio.member(leader)).await.len(), 3);
    let late = fails(&["--listen", "127.0.0.1:0", "--data", path]);
    assert!(late.said.contains("was removed from the cluster"), "{}", late.said);
    let third = (leader + 2) % 3;
    trio.take(third).kill();
    put_in_the_end(trio.member(follower), "two of three", "1").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_leader_is_removed_through_any_member() {
    let mut trio = Trio::start();
    // First through one that follows, then the one of the two left that leads, by itself.
    for left in [2, 1] {
        let leader = trio.leader().await;
        let follower = (0..3).find(|it| *it != leader && trio.members[*it].is_some()).expect("it is up");
        let id = trio.status(leader).await.header.expect("answers have headers").member_id;
        let through = if left == 2 { follower } else { leader };
        let mut client = ClusterClient::new(trio.member(through).channel().await);
        let removed = client.member_remove(MemberRemoveRequest { id }).await.expect("it can be removed");
        assert_eq!(removed.into_inner().members.len(), left);
        assert_eq!(trio.take(leader).wait(), Some(1), "whoever was removed stops");
        put_in_the_end(trio.member(follower), "after", "1").await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_does_not_hear_that_it_was_removed_is_told_and_answers_before_it_stops() {
    // What is said to a member goes through a network of its own.
    let listen = free_addresses(3);
    let ways: Vec<Proxy> = listen.iter().map(|address| Proxy::to(address)).collect();
    let addresses: Vec<String> = ways.iter().map(|way| way.address().to_owned()).collect();
    let mut trio = Trio::of(&addresses, &[]);
    for (index, address) in listen.iter().enumerate() {
        let arguments = [&trio.arguments(index)[..], &["--listen-peer", address]].concat();
        trio.members[index] = Some(Running::start(&trio.data(index), &arguments));
    }
    let leader = trio.leader().await;
    let deaf = (leader + 1) % 3;
    let id = trio.status(deaf).await.header.expect("answers have headers").member_id;
    ways[deaf].silence();
    // It cannot answer, for nobody confirms anything to it.
    let mut client = KvClient::new(trio.member(deaf).channel().await);
    let read = RangeRequest { key: "a".into(), ..Default::default() };
    let unread = client.range(read.clone()).await.expect_err("it hears nothing");
    assert_eq!(unread.message(), "etcdserver: no leader");
    let waits = tokio::spawn(async move {
        loop {
            let refused = client.range(read.clone()).await.expect_err("it hears nothing");
            if refused.message() != "etcdserver: no leader" {
                return refused;
            }
        }
    });
    let mut client = ClusterClient::new(trio.member(leader).channel().await);
    client.member_remove(MemberRemoveRequest { id }).await.expect("it can be removed");
    assert_eq!(trio.take(deaf).wait(), Some(1), "it was told on the connection on which it speaks");
    let told = waits.await.expect("it ends");
    assert_eq!(
        (told.code(), told.message()),
        (Code::Unavailable, "etcdserver: this member was removed from the cluster")
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_majority_nothing_is_taken_and_nothing_is_read() {
    let mut trio = Trio::start();
    let leader = trio.leader().await;
    put(&trio.member(leader).channel().await, "a", "1").await.expect("somebody leads");
    trio.take((leader + 1) % 3).kill();
    trio.take((leader + 2) % 3).kill();
    let channel = trio.member(leader).channel().await;
    let refused = put(&channel, "a", "2").await.expect_err("it is alone");
    assert_eq!(refused.code(), Code::Unavailable, "{refused}");
    let read = |serializable| RangeRequest { key: "a".into(), serializable, ..Default::default() };
    let mut client = KvClient::new(channel);
    let unread = client.range(read(false)).await.expect_err("nobody confirms that it leads");
    assert_eq!((unread.code(), unread.message()), (Code::Unavailable, "etcdserver: no leader"));
    client.range(read(true)).await.expect("what may be old can be read");
}
