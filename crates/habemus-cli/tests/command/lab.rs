//! Links to the lab.

use habemus_scenario::link::unpack;

use crate::support::{habemus, scratch};

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
