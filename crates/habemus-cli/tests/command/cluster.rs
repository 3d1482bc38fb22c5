//! `habemus cluster`, `node` and `certs`: real processes from the command line.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use habemus_scenario::Scenario;

use crate::support::{command, file, root, scratch};

fn spawn(arguments: &[&str]) -> Child {
    let mut command = command(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("habemus can be run")
}

/// Runs it with something to read.
fn habemus(arguments: &[&str], input: &str) -> Output {
    let mut child = spawn(arguments);
    let mut stdin = child.stdin.take().expect("it is piped");
    // A command that reads nothing may have ended already.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    child.wait_with_output().expect("it ends")
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[test]
fn the_console_kills_restarts_and_tells_who_leads() {
    let script = "wait leader\nkill 3   # the leader\nwait leader\nstatus\nrestart 3\nwait leader\n\
                  pause 1\nstatus\nresume 1\ncut 1-2\nheal\nleader\ntrace\nquit\n";
    let output = habemus(&["cluster", "--algorithm", "bully", "--processes", "3"], script);
    let said = text(&output);
    assert_eq!(output.status.code(), Some(0), "{said}");
    for expected in ["3 leads, and every", "2 leads, and every", "   3  down", "   1  paused", "1 recovery"] {
        assert!(said.contains(expected), "'{expected}' is missing: {said}");
    }
}

/// What it answers to words on standard input.
fn answers(arguments: &[&str], words: &str) -> String {
    text(&habemus(arguments, words))
}

#[test]
fn no_leader_is_explained_by_what_is_the_case() {
    let said = answers(&["cluster", "lamport", "-n", "2"], "leader\nwait leader\n");
    assert_eq!(said.matches("lamport is a lock: nobody leads").count(), 2, "{said}");
    let said = answers(&["cluster", "majority", "-n", "3"], "kill 1,2\nwait 2s\nleader\n");
    assert!(said.contains("no quorum: 1 of 3 nodes can talk to each other, and 2 are needed"), "{said}");
    // It is still followed, or has been replaced: in both cases the one that is paused is named.
    let said = answers(&["cluster", "bully", "-n", "3"], "pause 3\nleader\nresume 3\n");
    assert!(said.contains("but it is paused") || said.contains("but 3, paused"), "{said}");
    // Who waits an hour before it says anything elects nobody before the console opens.
    let said = answers(&["cluster", "omega", "-n", "2", "-o", "interval=1h"], "leader\n");
    assert!(said.contains("no election is over yet: wait leader"), "{said}");
    let said = answers(&["cluster", "bully", "-n", "2"], "leader\nkill 1,2\nleader\n");
    assert!(said.contains("2 leads, and every") && said.contains("all nodes are down"), "{said}");
}

/// However loaded the machine, this is long enough.
const LONG: Duration = Duration::from_secs(60);

/// Says `first`, asks for the status again and again until it shows `expected`, and then says `last`. Gives
/// what was answered, and the exit code.
fn converse(arguments: &[&str], first: &str, expected: &str, last: &str) -> (String, Option<i32>) {
    let mut child = spawn(arguments);
    let mut stdin = child.stdin.take().expect("it is piped");
    let stdout = child.stdout.take().expect("it is piped");
    let (sender, answers) = mpsc::channel();
    let reader = std::thread::spawn(move || {
        // Nobody listens any more once it has said enough.
        BufReader::new(stdout).lines().map_while(Result::ok).for_each(|line| _ = sender.send(line));
    });
    let mut said = String::new();
    let mut say = |words: &str| stdin.write_all(words.as_bytes()).expect("it listens");
    say(first);
    let begin = Instant::now();
    while !said.contains(expected) {
        assert!(begin.elapsed() < LONG, "'{expected}' does not come: {said}");
        say("status\n");
        while let Ok(line) = answers.recv_timeout(Duration::from_millis(200)) {
            said += &line;
            said.push('\n');
        }
    }
    say(last);
    drop(stdin);
    let status = child.wait().expect("it ends");
    reader.join().expect("reading does not panic");
    answers.try_iter().for_each(|line| said += &line);
    (said, status.code())
}

#[test]
fn locks_are_acquired_by_name_from_the_console() {
    let arguments = ["cluster", "--algorithm", "lamport", "--processes", "3"];
    let (first, last) = ("acquire 1\nacquire orders by 2\n", "release orders by 2\nrelease 1\n");
    let (said, code) = converse(&arguments, first, "orders: inside", last);
    assert_eq!(code, Some(0), "{said}");
}

#[test]
fn a_scenario_about_locks_with_names_is_played_for_each_of_them() {
    let scenario = r#"
        algorithm = "ricart-agrawala"
        processes = 3
        resources = ["orders", "stock"]
        script = ["40ms acquire stock by 2", "80ms release stock by 2"]
        [workload]
        clients = [1, 3]
        entries = 2
        [expect]
        messages = 36
    "#;
    let file = file("two-locks.toml", scenario);
    let simulated = text(&habemus(&["run", &file], ""));
    let real = text(&habemus(&["cluster", &file], ""));
    assert!(real.contains("a real run cannot be repeated"), "{real}");
    assert!(!real.contains("seed"), "nothing was drawn: {real}");
    for said in [simulated, real] {
        let lines = ["9 entries into 2 locks", "orders", "stock", "as expected"];
        assert!(lines.iter().all(|line| said.contains(line)), "{said}");
    }
}

#[test]
fn what_makes_no_sense_on_the_console_is_said_and_fails() {
    let output = habemus(&["cluster", "majority", "-n", "1"], "kill 9\nabdicate 1\nleadr\n");
    let said = text(&output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("there is no process 9") && said.contains("there is no 'abdicate' here"), "{said}");
    assert!(said.contains("did you mean 'leader'?"), "{said}");
}

/// So many exhibits are played unless `HABEMUS_EXHIBITS` says otherwise; `HABEMUS_EXHIBITS=all` plays all of
/// them.
const EXHIBITS: usize = 12;

/// The exhibits to play, spread evenly over the alphabet.
fn some_exhibits() -> Vec<String> {
    let mut all: Vec<String> = std::fs::read_dir(root().join("exhibits"))
        .expect("there are exhibits")
        .map(|entry| entry.expect("they can be listed").path().display().to_string())
        .filter(|path| path.ends_with(".toml"))
        .collect();
    all.sort();
    let asked = std::env::var("HABEMUS_EXHIBITS").unwrap_or_default();
    let count =
        if asked == "all" { all.len() } else { asked.parse().unwrap_or(EXHIBITS).clamp(1, all.len()) };
    (0..count).map(|index| all[index * all.len() / count].clone()).collect()
}

/// How many messages of each kind the simulator counts, if neither chance nor time makes a difference to it:
/// a machine that has much else to do delivers some messages very late.
fn certain_messages(file: &str) -> Option<serde_json::Value> {
    let scenario = habemus_scenario::read(file).expect("exhibits can be read").scenario;
    if scenario.expect.quiet != Some(true) {
        return None;
    }
    let counts = (0..40).map(|seed| {
        let mut other = Scenario { seed: scenario.seed + seed, ..scenario.clone() };
        if seed % 2 == 1 {
            let late = if seed % 4 == 1 { "0ms..30ms" } else { "exponential 40ms" };
            other.network.latency = late.parse().expect("it is a latency");
            // Some algorithms never come to rest where messages are later than their timers.
            other.event_limit = 20_000;
        }
        let report = habemus_sim::run(&other, false).expect("exhibits can be run");
        serde_json::to_value(&report.statistics.by_kind).expect("counts are plain")
    });
    let counts: Vec<serde_json::Value> = counts.collect();
    counts.windows(2).all(|two| two[0] == two[1]).then(|| counts[0].clone())
}

/// What is wrong with an exhibit on real nodes, if anything.
fn play(file: &str, slower: Option<&str>) -> Result<(), String> {
    let mut arguments = vec!["cluster", file, "--json"];
    arguments.extend(slower.map(|slower| ["--slower", slower]).into_iter().flatten());
    let output = habemus(&arguments, "");
    match output.status.code() {
        // Some exhibits end at a limit of their own, in the simulator as well.
        Some(0 | 3) => {}
        Some(2) if text(&output).contains("depends on its seed") => return Ok(()),
        _ => return Err(text(&output)),
    }
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).map_err(|why| why.to_string())?;
    let (certain, real) = (certain_messages(file), &report["statistics"]["by_kind"]);
    match certain {
        Some(certain) if certain != *real => Err(format!("simulated {certain}, real {real}")),
        _ => Ok(()),
    }
}

/// The same file that ran in the simulator runs on real nodes, with its expectations; and where chance makes
/// no difference, exactly as many messages are sent as in the simulator.
#[test]
fn exhibits_are_on_real_nodes_what_they_are_in_the_simulator() {
    for file in some_exhibits() {
        // The machine may have had something else to do at the wrong moment: the slower it is played, the
        // less a moment matters.
        let mut told = Vec::new();
        while let Some(slower) = [None, None, Some("20"), Some("60")].get(told.len())
            && let Err(why) = play(&file, *slower)
        {
            told.push(why);
        }
        assert!(told.len() < 4, "{file}: {}", told.join("\nand again, slower: "));
    }
}

#[test]
fn what_came_about_by_luck_is_not_expected_of_real_nodes() {
    let file = "exhibits/s4-itai-rodeh.toml";
    let output = habemus(&["cluster", file], "");
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    assert!(text(&output).contains("--unjudged"), "{}", text(&output));
    let output = habemus(&["cluster", file, "--unjudged"], "");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
}

#[test]
fn an_expectation_that_fails_on_real_nodes_fails_the_command() {
    let scenario =
        "algorithm = \"chang-roberts\"\nprocesses = 3\nscript = [\"0ms elect 1\"]\n[expect]\nleader = 1\n";
    let output = habemus(&["cluster", &file("wrong-on-nodes.toml", scenario)], "");
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    assert!(text(&output).contains("expected all live processes to follow 1"), "{}", text(&output));
}

#[test]
fn nodes_with_certificates_elect_and_leave_their_data_where_it_was_asked_for() {
    let directory = scratch("certified nodes");
    let _ = std::fs::remove_dir_all(&directory);
    let data = directory.to_str().expect("a plain path");
    let arguments = ["cluster", "--algorithm", "majority", "-n", "3", "--tls", "--data", data];
    let output = habemus(&arguments, "wait leader\n");
    // Who led when all knew it may have been succeeded when the console closed: then the end is open.
    assert!(matches!(output.status.code(), Some(0 | 3)), "{}", text(&output));
    assert!(text(&output).contains("leads, and every live node knows it"), "{}", text(&output));
    assert!(directory.join("certs/node-2.pem").is_file() && directory.join("node-2/@main.stable").is_file());
    let output =
        habemus(&["certs", "--ids", "7", "--out", directory.join("certs").to_str().unwrap_or_default()], "");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert!(directory.join("certs/node-7.key").is_file());
}

#[test]
fn a_node_that_cannot_be_says_why() {
    let output = habemus(&["node", "--id", "1", "--algorithm", "bully", "--data", "x"], "");
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output).contains("--listen is missing"), "{}", text(&output));
    let output = habemus(&["cluster", "--algorithm", "bulli"], "");
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output).contains("did you mean 'bully'?"), "{}", text(&output));
}

/// Whether the operating system still runs a process.
fn runs(pid: &str) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // What is left of one that nobody has asked for is not running.
    !status.is_empty() && !status.contains(") Z ")
}

#[test]
fn a_cluster_that_is_killed_leaves_neither_nodes_that_stand_still_nor_files() {
    ["KILL", "TERM"].into_iter().for_each(assert_nothing_is_left_after);
    // Under nohup nobody minds that the terminal goes, and neither does a cluster.
    if !ignores_hangups() {
        assert_nothing_is_left_after("HUP");
    }
}

/// Whether this process, and so whatever it starts, was told to ignore that its terminal goes.
fn ignores_hangups() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").expect("the system knows");
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 1)
}

fn assert_nothing_is_left_after(signal: &str) {
    let folder = scratch(&format!("cluster-{signal}"));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder can be made");
    let mut command = command(&["cluster", "--processes", "2", "--algorithm", "bully"]);
    command.env("TMPDIR", &folder).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut cluster = command.spawn().expect("it can be started");
    let mut words = cluster.stdin.take().expect("it is piped");
    words.write_all(b"pause 1\nstatus\n").expect("it reads");
    let answers = BufReader::new(cluster.stdout.take().expect("it is piped"));
    let mut lines = answers.lines().map(|line| line.expect("it is text"));
    lines.find(|line| line.contains("paused")).expect("1 stands still");
    let children = format!("/proc/{0}/task/{0}/children", cluster.id());
    let children = std::fs::read_to_string(children).expect("the system knows");
    let nodes: Vec<&str> = children.split_whitespace().collect();
    assert!(nodes.len() >= 2 && std::fs::read_dir(&folder).expect("it is there").count() == 1, "{nodes:?}");
    let sent = Command::new("kill").args([&format!("-{signal}"), &cluster.id().to_string()]).status();
    assert!(sent.expect("it can be sent").success());
    cluster.wait().expect("it ends");
    let deadline = Instant::now() + Duration::from_secs(60);
    let is_clean = || {
        let is_empty = std::fs::read_dir(&folder).expect("it is there").next().is_none();
        is_empty && !nodes.iter().any(|pid| runs(pid))
    };
    while !is_clean() {
        assert!(Instant::now() < deadline, "{signal}: something is left");
        std::thread::sleep(Duration::from_millis(10));
    }
}
