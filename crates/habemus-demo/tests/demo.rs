//! The demo as a newcomer runs it: real members, real clients, real signals.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

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

/// Processes that were started from this build's directory and carry these words in their command line.
fn left_behind(words: &str) -> Vec<String> {
    let directory = programs().display().to_string();
    let processes = std::fs::read_dir("/proc").expect("there is a list of processes").flatten();
    let lines = processes.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok());
    let lines = lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " "));
    lines.filter(|line| line.starts_with(&directory) && line.contains(words)).collect()
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
    assert_eq!(left_behind("habemus-demo-"), [""; 0]);
    assert_eq!(left_behind("worker"), [""; 0]);
}

#[test]
fn a_wrong_option_is_bad_input() {
    let output = demo(&["--kep"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--keep"));
}
