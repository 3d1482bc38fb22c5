//! An algorithm that is in no catalogue, between real processes: this program is its own node.
//!
//! It brings its own `main`, because a cluster starts the program again for each of its nodes.

use std::collections::BTreeSet;
use std::process::ExitCode;
use std::time::Duration;

use habemus::catalogue::{Entry, Setup};
use habemus::election::{Command, Election, Output};
use habemus::topology::Complete;
use habemus::{Address, Context, Id, ProblemKind, Process, Status, System, SystemError};
use habemus_node::cluster::{Blueprint, Cluster, Program};
use habemus_node::command::main_with;
use habemus_node::{Node, NodeError, Settings};
use habemus_trace::Happening;
use tokio::time::{Instant, timeout};

/// However loaded the machine, this is long enough.
const LONG: Duration = Duration::from_secs(120);

/// Everybody calls its own name; who has heard all names knows the first in the alphabet, and that one leads.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct RollCall {
    called: bool,
    names: BTreeSet<Id>,
}

/// "This is my name."
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
struct Name(Id);

impl habemus::Message for Name {
    fn kind(&self) -> &'static str {
        "Name"
    }
}

impl Process for RollCall {
    type Problem = Election;
    type Topology = Complete;
    type Config = ();
    type Message = Name;
    type Timer = ();
    type Stable = ();

    fn on_start(_: Option<()>, cx: &mut Context<'_, Self>) -> Self {
        RollCall { called: false, names: BTreeSet::from([cx.id()]) }
    }

    fn on_command(&mut self, Command::Elect: Command, cx: &mut Context<'_, Self>) {
        self.call(cx);
    }

    fn on_message(&mut self, _: Address, Name(name): Name, cx: &mut Context<'_, Self>) {
        self.names.insert(name);
        self.call(cx);
        if self.names.len() == cx.process_count() {
            let first = self.names.first().copied().unwrap_or(name);
            cx.output(if first == cx.id() { Output::leads() } else { Output::follows(first) });
        }
    }
}

impl RollCall {
    fn call(&mut self, cx: &mut Context<'_, Self>) {
        if !std::mem::replace(&mut self.called, true) {
            cx.broadcast(&Name(cx.id()));
        }
    }
}

static ROLL_CALL: Entry = Entry::own("roll-call", ProblemKind::Election);

fn setup(ids: Vec<Id>) -> Result<Setup<RollCall>, SystemError> {
    Ok(Setup::own(&ROLL_CALL, System::new(Complete::new(ids.len()), ids, ())?))
}

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_some_and(|word| word == "node") {
        return main_with(setup, arguments);
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime can be had").block_on(async {
        nodes_in_one_program_run_it().await;
        settings_that_only_the_catalogue_understands_are_refused().await;
        a_cluster_of_processes_runs_it().await;
    });
    ExitCode::SUCCESS
}

async fn nodes_in_one_program_run_it() {
    let mut nodes = Vec::new();
    for id in [4, 2, 7] {
        let settings = Settings::new("roll-call", id, [4, 2, 7]);
        let setup = setup([4, 2, 7].map(Id).to_vec()).expect("it is a system");
        nodes.push(Node::start_with(setup, settings).await.expect("a node starts"));
    }
    for one in &nodes {
        nodes.iter().for_each(|other| one.introduce(other.id(), other.address()));
    }
    let election = nodes[0].election().expect("it is an election");
    election.elect().await.expect("the node lives");
    let mut leader = election.leader();
    let known = timeout(LONG, leader.wait_for(|now| now.leader().is_some())).await;
    assert_eq!(known.expect("it ends").expect("the node lives").leader(), Some(2));
    let overview = nodes[2].overview().await.expect("the node lives");
    assert_eq!((overview.algorithm.as_str(), overview.problem), ("roll-call", ProblemKind::Election));
}

async fn settings_that_only_the_catalogue_understands_are_refused() {
    let setup = || setup([1, 2].map(Id).to_vec()).expect("it is a system");
    let mut detector = Settings::new("roll-call", 1, [1, 2]);
    detector.detector = Some("heartbeat".to_owned());
    let strangers = Settings::new("roll-call", 1, [1, 3]);
    let bully = Settings::new("bully", 1, [1, 2]);
    let refused = [(detector, "detector"), (strangers, "processes [1, 2]"), (bully, "roll-call")];
    for (settings, expected) in refused {
        match Node::start_with(setup(), settings).await {
            Err(NodeError::Settings(why)) => assert!(why.to_string().contains(expected), "{why}"),
            other => panic!("{other:?}"),
        }
    }
}

async fn a_cluster_of_processes_runs_it() {
    let directory = std::env::temp_dir().join(format!("habemus-own-{}", std::process::id()));
    let program = Program::this(["node"]).expect("the system knows where it is");
    let blueprint = Blueprint::new(program, [3, 1, 2], &directory);
    let mut cluster = Cluster::start(blueprint, &[]).await.expect("the nodes find each other");
    cluster.begin();
    cluster.command(3, "elect");
    let leader = cluster.leader_by(Instant::now() + LONG).await.expect("no node ends");
    assert_eq!(leader, Some(1));
    assert_eq!(cluster.status(2), Some(Status::Following(Some(Id(1)))));
    let trace = cluster.trace(None).expect("the traces can be read");
    assert_eq!((trace.header.algorithm.as_str(), trace.header.processes), ("roll-call", vec![3, 1, 2]));
    let sent = trace.records.iter().filter(|it| matches!(it.what, Happening::Send { .. })).count();
    assert_eq!(sent, 6, "everybody calls its name to everybody else");
    cluster.end().await;
    std::fs::remove_dir_all(&directory).expect("the directory is ours");
}
