//! `habemus cluster`, `node` and `certs`: real processes from the command line.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn habemus(arguments: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_habemus"))
        .args(arguments)
        .current_dir(root())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("habemus can be run");
    let mut stdin = child.stdin.take().expect("it is piped");
    // A command that reads nothing may have ended already.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    child.wait_with_output().expect("it ends")
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// The report of a run, as JSON.
fn report(arguments: &[&str]) -> serde_json::Value {
    let output = habemus(arguments, "");
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", text(&output));
    serde_json::from_slice(&output.stdout).expect("a report in JSON")
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

#[test]
fn locks_are_acquired_by_name_from_the_console() {
    let script = "acquire 1\nacquire orders by 2\nwait 700ms\nstatus\nrelease orders by 2\nrelease 1\n";
    let output = habemus(&["cluster", "--algorithm", "lamport", "--processes", "3"], script);
    let said = text(&output);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("orders: inside"), "{said}");
}

#[test]
fn what_makes_no_sense_on_the_console_is_said_and_fails() {
    let output = habemus(&["cluster", "--algorithm", "majority", "-n", "1"], "kill 9\nabdicate 1\n");
    let said = text(&output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("there is no process 9") && said.contains("there is no 'abdicate' here"), "{said}");
}

/// The same file in the simulator and on real nodes: where the run is deterministic, the same messages are sent.
#[test]
fn real_nodes_send_as_many_messages_as_simulated_ones() {
    for file in [
        "exhibits/s1-chang-roberts.toml",
        "exhibits/s4-chang-roberts-worst.toml",
        "exhibits/s0-bully-best-case.toml",
        "exhibits/s0-ring.toml",
        "exhibits/s1-ricart-agrawala.toml",
        "exhibits/s2-capture-sync-8.toml",
        "exhibits/s4-coordinator.toml",
    ] {
        let simulated = report(&["run", file, "--json"]);
        let real = report(&["cluster", file, "--slower", "8", "--json"]);
        let (simulated, real) = (&simulated["statistics"], &real["statistics"]);
        assert_eq!(simulated["by_kind"], real["by_kind"], "{file}");
        assert_eq!(simulated["entries"], real["entries"], "{file}");
    }
}

/// Occasions, crashes at the very moment, pauses: what the simulator does with a trigger, a real node does.
#[test]
fn a_script_that_waits_for_occasions_is_played_on_real_nodes() {
    // Two are inside for a single millisecond of the script: a loaded machine needs room for it.
    for (file, slower) in
        [("exhibits/s0-ring-winner-fails.toml", "10"), ("exhibits/s4-timeout-hurts.toml", "60")]
    {
        let output = habemus(&["cluster", file, "--slower", slower], "");
        assert_eq!(output.status.code(), Some(0), "{file}: {}", text(&output));
    }
}

#[test]
fn an_expectation_that_fails_on_real_nodes_fails_the_command() {
    let path = std::env::temp_dir().join(format!("habemus-wrong-{}.toml", std::process::id()));
    let scenario =
        "algorithm = \"chang-roberts\"\nprocesses = 3\nscript = [\"0ms elect 1\"]\n[expect]\nleader = 1\n";
    std::fs::write(&path, scenario).expect("a scenario can be written");
    let output = habemus(&["cluster", path.to_str().expect("a plain path")], "");
    let _ = std::fs::remove_file(&path);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    assert!(text(&output).contains("expected all live processes to follow 1"), "{}", text(&output));
}

#[test]
fn nodes_with_certificates_elect_and_leave_their_data_where_it_was_asked_for() {
    let directory = std::env::temp_dir().join(format!("habemus-data-{}", std::process::id()));
    let data = directory.to_str().expect("a plain path");
    let arguments = ["cluster", "--algorithm", "majority", "-n", "3", "--tls", "--data", data];
    let output = habemus(&arguments, "wait leader\n");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert!(directory.join("certs/node-2.pem").is_file() && directory.join("node-2/@main.stable").is_file());
    let output =
        habemus(&["certs", "--ids", "7", "--out", directory.join("certs").to_str().unwrap_or_default()], "");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert!(directory.join("certs/node-7.key").is_file());
    let _ = std::fs::remove_dir_all(&directory);
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
