//! Partitions of a real network: every node lives in a network namespace of its own, with its own address.
//!
//! This needs root and iproute2. Ordinary users have the cuts on the loopback, in `faults`.

use std::collections::BTreeMap;
use std::process::Command;

use habemus::catalogue::Request;
use habemus::{Id, Status};
use habemus_node::cluster::Cluster;
use habemus_report::{Ended, Ending, judge};
use habemus_scenario::Expectations;

use crate::bench::{Scratch, blueprint, until};

/// Namespaces that are connected by a bridge, which has a namespace of its own: the machine's own network is
/// not touched. All of them go when the test is over.
struct Network {
    prefix: String,
    count: u64,
}

fn ip(arguments: &str) {
    let output =
        Command::new("ip").args(arguments.split_whitespace()).output().expect("iproute2 is installed");
    assert!(output.status.success(), "ip {arguments}: {}", String::from_utf8_lossy(&output.stderr));
}

impl Network {
    fn new(name: &str, count: u64) -> Self {
        let prefix = format!("hb{name}{}", std::process::id());
        let network = Network { prefix, count };
        let bridge = network.namespace(0);
        ip(&format!("netns add {bridge}"));
        ip(&format!("-n {bridge} link add br0 type bridge"));
        ip(&format!("-n {bridge} link set br0 up"));
        for id in 1..=count {
            let namespace = network.namespace(id);
            ip(&format!("netns add {namespace}"));
            ip(&format!("-n {bridge} link add port{id} type veth peer name eth0 netns {namespace}"));
            ip(&format!("-n {bridge} link set port{id} master br0 up"));
            ip(&format!("-n {namespace} link set lo up"));
            ip(&format!("-n {namespace} addr add {}/24 dev eth0", host(id)));
            ip(&format!("-n {namespace} link set eth0 up"));
        }
        network
    }

    fn namespace(&self, id: u64) -> String {
        format!("{}-{id}", self.prefix)
    }

    /// Packets from one node to another vanish.
    fn cut(&self, from: u64, to: u64) {
        ip(&format!("-n {} route add blackhole {}/32", self.namespace(from), host(to)));
    }

    fn heal(&self, from: u64, to: u64) {
        ip(&format!("-n {} route del blackhole {}/32", self.namespace(from), host(to)));
    }

    /// The cable of a node is pulled, or put in again.
    fn pull(&self, id: u64, out: bool) {
        let state = if out { "down" } else { "up" };
        ip(&format!("-n {} link set port{id} {state}", self.namespace(0)));
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        for id in 0..=self.count {
            let _ = Command::new("ip").args(["netns", "del", &self.namespace(id)]).output();
        }
    }
}

fn host(id: u64) -> String {
    format!("10.77.0.{id}")
}

fn is_root() -> bool {
    let root = rustix::process::geteuid().is_root();
    if !root {
        eprintln!("network namespaces need root: run the tests as root to include them");
    }
    root
}

/// A majority election between namespaces that has a leader.
async fn elected(network: &Network, scratch: &Scratch) -> (Cluster, u64) {
    let mut blueprint = blueprint(scratch, "majority", network.count, &["--insecure-without-tls"]);
    // The machine may be loaded.
    blueprint.stretch = 3.0;
    for id in 1..=network.count {
        blueprint.hosts.insert(id, host(id));
        let wrapper = ["ip", "netns", "exec", &network.namespace(id)].map(str::to_owned);
        blueprint.wrappers.insert(id, wrapper.to_vec());
    }
    let mut cluster = Cluster::start(blueprint, &[]).await.expect("the nodes come up");
    cluster.begin();
    until(&mut cluster, "a leader", |it| it.agreed_leader().is_some()).await;
    let leader = cluster.agreed_leader().expect("there is one");
    (cluster, leader)
}

/// At the end all agree again, and the monitors find nothing in what was recorded.
async fn assert_well(mut cluster: Cluster) {
    until(&mut cluster, "all agree again", |it| it.agreed_leader().is_some()).await;
    let options = BTreeMap::new();
    let request = Request {
        algorithm: "majority",
        ids: cluster.ids().iter().copied().map(Id).collect(),
        shape: None,
        detector: None,
        options: &options,
        pulse: habemus::DEFAULT_PULSE,
        seed: 1,
        signatures: None,
    };
    let ending = Ending { stop: String::new(), ended: Ended::AsAsked, time: 0 };
    let trace = cluster.trace(None).expect("traces can be read");
    let report =
        judge(&request, &Expectations::default(), trace, &ending).expect("it is a trace of majority");
    assert_eq!(report.failures, Vec::<String>::new());
    cluster.end().await;
}

fn another_leads(cluster: &Cluster, than: u64) -> bool {
    cluster.alive().any(|id| id != than && cluster.status(id) == Some(Status::Leading))
}

#[tokio::test]
async fn a_leader_whose_cable_is_pulled_steps_down_and_is_replaced() {
    if !is_root() {
        return;
    }
    let (network, scratch) = (Network::new("full", 3), Scratch::new());
    let (mut cluster, leader) = elected(&network, &scratch).await;
    network.pull(leader, true);
    until(&mut cluster, "another leads and the old one knows", |it| {
        another_leads(it, leader) && it.status(leader) != Some(Status::Leading)
    })
    .await;
    network.pull(leader, false);
    assert_well(cluster).await;
}

#[tokio::test]
async fn a_leader_that_is_heard_by_nobody_is_replaced() {
    if !is_root() {
        return;
    }
    let (network, scratch) = (Network::new("one", 3), Scratch::new());
    let (mut cluster, leader) = elected(&network, &scratch).await;
    let others: Vec<u64> = (1..=3).filter(|id| *id != leader).collect();
    others.iter().for_each(|other| network.cut(leader, *other));
    until(&mut cluster, "another leads", |it| another_leads(it, leader)).await;
    others.iter().for_each(|other| network.heal(leader, *other));
    assert_well(cluster).await;
}

#[tokio::test]
async fn a_partial_partition_never_shows_two_leaders_of_a_term() {
    if !is_root() {
        return;
    }
    let (network, scratch) = (Network::new("part", 3), Scratch::new());
    let (mut cluster, leader) = elected(&network, &scratch).await;
    // One follower and the leader no longer hear each other; the third hears both.
    let follower = leader % 3 + 1;
    network.cut(leader, follower);
    network.cut(follower, leader);
    until(&mut cluster, "the follower misses its leader", |it| {
        it.status(follower) != Some(Status::Following(Some(Id(leader))))
    })
    .await;
    network.heal(leader, follower);
    network.heal(follower, leader);
    assert_well(cluster).await;
}
