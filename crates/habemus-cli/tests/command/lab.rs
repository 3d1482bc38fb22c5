//! Links to the lab.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};

use habemus_scenario::link::unpack;

use crate::support::{command, habemus, scratch};

/// The scenario of the link in a text.
fn linked(text: &[u8], address: &str) -> habemus_scenario::Scenario {
    let text = String::from_utf8_lossy(text).into_owned();
    let link = text.lines().find_map(|line| line.strip_prefix(&format!("{address}#s=")));
    let link = link.unwrap_or_else(|| panic!("no link to {address} in {text}"));
    unpack(link).expect("it is whole")
}

#[test]
fn a_run_prints_a_link_that_leads_to_the_same_run() {
    let output = habemus(&["run", "exhibits/s4-timeout-hurts.toml", "--lab"]);
    let scenario = linked(&output.stdout, "http://127.0.0.1:4223/");
    let report = String::from_utf8_lossy(&output.stdout).into_owned();
    let again = habemus_sim::run(&scenario, false).expect("it makes sense");
    assert!(report.contains(&again.fingerprint), "{report}");
}

#[test]
fn where_another_program_reads_the_output_the_link_stands_beside_it() {
    let address = "https://lab.example/";
    let output = habemus(&["run", "bully", "-n", "3", "--json", &format!("--lab={address}")]);
    assert!(serde_json::from_slice::<serde_json::Value>(&output.stdout).is_ok());
    assert_eq!(linked(&output.stderr, address).algorithm, "bully");
}

#[test]
fn a_counterexample_prints_a_link_and_one_without_end_says_how_else() {
    let output = habemus(&[
        "check",
        "anonymous-ring",
        "-n",
        "2",
        "--property",
        "uniqueness",
        "--threads",
        "1",
        "--lab",
    ]);
    let report = habemus_sim::run(&linked(&output.stdout, "http://127.0.0.1:4223/"), false);
    assert_eq!(report.expect("it makes sense").leaders, [1, 2]);
    let trace = scratch("round.jsonl");
    let trace = trace.to_string_lossy();
    let output = habemus(&[
        "check",
        "yo-yo",
        "-n",
        "3",
        "-o",
        "variant=as-printed",
        "--property",
        "E2",
        "--trace",
        &trace,
        "--lab",
    ]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("goes round in a cycle"), "{output:?}");
}

/// A page that says what it is.
fn page(name: &str) -> String {
    let directory = scratch(name);
    std::fs::create_dir_all(&directory).expect("a directory can be made");
    std::fs::write(directory.join("index.html"), "<p>the lab").expect("a file can be written");
    directory.to_string_lossy().into_owned()
}

#[test]
fn a_page_that_was_installed_is_served_and_written_out_without_building_anything() {
    let page = page("installed-page");
    let mut command = command(&["lab", "--port", "0", "--no-browser"]);
    let mut lab = command.env("HABEMUS_LAB", &page).stdout(Stdio::piped()).spawn().expect("it starts");
    let mut address = String::new();
    BufReader::new(lab.stdout.take().expect("it is a pipe")).read_line(&mut address).expect("it says where");
    let host = address.trim().strip_prefix("http://").and_then(|rest| rest.strip_suffix('/'));
    let host = host.expect("it is an address");
    let mut stream = TcpStream::connect(host).expect("it listens");
    write!(stream, "GET / HTTP/1.1\r\nHost: {host}\r\n\r\n").expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    lab.kill().and_then(|()| lab.wait()).expect("it runs");
    assert!(answer.ends_with("<p>the lab"), "{answer}");

    let site = scratch("site").to_string_lossy().into_owned();
    let output = habemus(&["lab", "--page", &page, "--export", &site]);
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), site);
    assert_eq!(std::fs::read_to_string(Path::new(&site).join("index.html")).ok(), Some("<p>the lab".into()));
}

#[test]
fn where_there_is_no_page_it_says_how_to_get_one() {
    // Alone: beside it there may be what builds one.
    let alone = scratch("alone/habemus");
    let _ = std::fs::remove_file(&alone);
    let program = env!("CARGO_BIN_EXE_habemus");
    std::fs::hard_link(program, &alone)
        .or_else(|_| std::fs::copy(program, &alone).map(drop))
        .expect("a copy");
    for (arguments, says) in [
        (&["lab", "--page", "nowhere"][..], "there is no page in nowhere"),
        (&["lab", "--no-browser"][..], "the lab's page is not installed"),
    ] {
        let output = Command::new(&alone).args(arguments).env_clear().output().expect("it starts");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2));
        assert!(said.contains(says) && said.contains("./habemus lab"), "{said}");
    }
}
