//! The demo as a newcomer runs it: real members, real clients, real signals.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

/// The directory in which this build's programs are.
fn programs() -> PathBuf {
    Path::new(env!("CARGO_BIN_EXE_habemus-demo")).parent().expect("it is in a directory").to_owned()
}

/// The demo runs programs of other crates, which need not be there if this one is tested alone.
fn build() {
    let directory = programs();
    if directory.join("habemusd").exists() && directory.join("habemus").exists() {
        return;
    }
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--quiet", "-p", "habemus-server", "-p", "habemus-cli"]);
    assert!(
        cargo.status().is_ok_and(|status| status.success()),
        "the members and the simulator do not compile"
    );
}

fn demo(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_habemus-demo"));
    command.args(arguments).env_remove("HABEMUS_ENDPOINTS").stdin(Stdio::null());
    command.output().expect("it was built")
}

/// Processes of a story that go on after it: members and clients carry a member's address in their command
/// line.
fn left_behind(said: &str) -> Vec<String> {
    let ports = said.lines().find_map(|line| line.split_once("127.0.0.1, ports "));
    let (_, ports) = ports.expect("it says where the members are");
    let words = format!("127.0.0.1:{}", ports.split(',').next().unwrap_or_default());
    let directory = programs().display().to_string();
    let processes = std::fs::read_dir("/proc").expect("there is a list of processes").flatten();
    let lines = processes.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok());
    let lines = lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " "));
    lines.filter(|line| line.starts_with(&directory) && line.contains(&words)).collect()
}

#[test]
fn the_story_comes_to_its_end_every_step_in_a_line_and_leaves_nothing_behind() {
    build();
    let output = demo(&[]);
    let (said, complained) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}\n{complained}");
    let steps = [
        "members",
        "election",
        "clients",
        "leadership",
        "the lock",
        "kill -9",
        "fail-over",
        "back again",
        "kill -STOP",
        "moves on",
        "kill -CONT",
        "refused",
        "again",
        "simulator",
    ];
    let mut rest = said.lines();
    for step in steps {
        assert!(rest.any(|line| line.contains(step)), "{step} is missing, or comes too early, in\n{said}");
    }
    for verdict in ["✓ fencing", "✓ nothing is lost", "✓ one-leader-per-term", "✗ EM1", "✗ fencing"]
    {
        assert!(said.contains(verdict), "{verdict} is missing in\n{said}");
    }
    let too_long: Vec<&str> = said.lines().filter(|line| line.chars().count() > 80).collect();
    assert_eq!(too_long, [""; 0], "a terminal has eighty columns");
    assert_eq!(left_behind(&said), [""; 0]);
}

#[test]
fn a_wrong_option_is_bad_input() {
    let output = demo(&["--kep"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--keep"));
}

#[test]
fn whoever_looks_at_no_token_loses_a_write_and_the_verdicts_and_the_exit_code_say_so() {
    build();
    let output = demo(&["--careless"]);
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("accepted") && said.contains("✗ nothing is lost"), "{said}");
}

/// Waits until nobody of a story is left.
fn until_nobody_is_left(said: &str) {
    let mut left = left_behind(said);
    for _ in 0..1000 {
        if left.is_empty() {
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
        left = left_behind(said);
    }
    panic!("{left:?} go on");
}

/// Starts the demo, and reads it up to this word.
fn started(until: &str) -> (Child, BufReader<ChildStdout>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_habemus-demo"));
    command
        .env_remove("HABEMUS_ENDPOINTS")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().expect("it was built");
    let mut reader = BufReader::new(child.stdout.take().expect("it is a pipe"));
    let mut said = String::new();
    while !said.contains(until) {
        assert_ne!(reader.read_line(&mut said).expect("it is text"), 0, "{until} was never said:\n{said}");
    }
    (child, reader, said)
}

#[test]
fn nobody_outlives_a_demo_that_is_killed() {
    build();
    let (mut child, _reader, said) = started("kill -STOP");
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    until_nobody_is_left(&said);
    let own = std::env::temp_dir().join(format!("habemus-demo-{}", child.id()));
    std::fs::remove_dir_all(&own).expect("a process that is killed cannot remove its directory");
}

#[test]
fn a_terminal_that_is_closed_is_an_interrupt() {
    build();
    let (mut child, reader, said) = started("fail-over");
    drop((reader, child.stderr.take()));
    kill_process(Pid::from_child(&child), Signal::HUP).expect("it runs");
    assert_eq!(child.wait().expect("it ends").code(), Some(3), "nobody is there to read why");
    assert_eq!(left_behind(&said), [""; 0]);
}

#[test]
fn a_program_that_is_missing_is_named_at_once() {
    let empty = Path::new(env!("CARGO_TARGET_TMPDIR")).join("alone");
    std::fs::create_dir_all(&empty).expect("a directory can be made");
    let alone = empty.join("habemus-demo");
    std::fs::copy(env!("CARGO_BIN_EXE_habemus-demo"), &alone).expect("it can be copied");
    let output = Command::new(&alone).env("PATH", &empty).output().expect("it was copied");
    let complained = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{complained}");
    assert!(complained.contains("cannot run habemusd: there is none"), "{complained}");
}

/// The demo with `--keep` and what it has said up to this word; the rest goes on being read.
fn kept(page: &Path, until: &str) -> (Child, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_habemus-demo"));
    command.args(["--keep", "--no-browser"]).env("HABEMUS_LAB", page).stdin(Stdio::null());
    let mut child = command.stdout(Stdio::piped()).spawn().expect("it was built");
    let mut lines = BufReader::new(child.stdout.take().expect("it is a pipe")).lines();
    let mut said = String::new();
    while !said.contains(until) {
        let line = lines.next().and_then(Result::ok);
        said += &line.unwrap_or_else(|| panic!("{until} was never said:\n{said}"));
        said.push('\n');
    }
    std::thread::spawn(move || lines.for_each(drop));
    (child, said)
}

#[test]
fn what_is_kept_runs_on_with_the_lab_open_until_it_is_told_to_end() {
    build();
    let page = std::env::temp_dir().join(format!("habemus-demo-page-{}", std::process::id()));
    std::fs::create_dir_all(&page).expect("a directory can be made");
    std::fs::write(page.join("index.html"), "<p>the lab").expect("a file can be written");
    let (mut child, said) = kept(&page, "--follow");
    let address = said.lines().find_map(|line| line.strip_prefix("The lab: http://"));
    let (host, exhibit) = address.and_then(|rest| rest.split_once("/#")).expect("the lab is open");
    assert_eq!(exhibit, "e=s4-timeout-hurts");
    let mut stream = TcpStream::connect(host).expect("it listens");
    write!(stream, "GET / HTTP/1.1\r\nHost: {host}\r\n\r\n").expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    assert!(answer.ends_with("<p>the lab"), "{answer}");
    // The members answer still.
    let endpoints = said.lines().find_map(|line| line.trim().strip_prefix("export HABEMUS_ENDPOINTS="));
    let endpoints = endpoints.expect("it says where they are");
    let mut status = Command::new(programs().join("habemusctl"));
    let status = status.args(["status", "--endpoints", endpoints]).output().expect("it was built");
    assert!(status.status.success(), "{status:?}");
    let pid = Pid::from_child(&child);
    kill_process(pid, Signal::TERM).expect("it runs");
    assert_eq!(child.wait().expect("it ends").code(), Some(0), "that was its end, and all verdicts hold");
    assert_eq!(left_behind(&said), [""; 0]);
    let own = std::env::temp_dir().join(format!("habemus-demo-{}", pid.as_raw_nonzero()));
    assert!(!own.exists(), "{}", own.display());
    std::fs::remove_dir_all(&page).expect("it was made");
}
