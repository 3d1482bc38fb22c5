//! What a run comes to when it is cut off, and what the exit codes say of it.

use std::path::Path;

use crate::support::{file, habemus, rewrites, root};

fn code_and_text(arguments: &[&str]) -> (Option<i32>, String) {
    let output = habemus(arguments);
    (output.status.code(), String::from_utf8(output.stdout).expect("the output is text"))
}

/// Before the network settles, leaders come and go; with this seed two lead when the usual limit comes.
const UNSETTLED: &[&str] = &[
    "omega",
    "-n",
    "5",
    "--model",
    "partially-synchronous",
    "--gst",
    "2s",
    "--delta",
    "500ms",
    "--latency",
    "exponential 200ms",
];

#[test]
fn what_a_limit_cut_off_is_open_whether_the_limit_was_written_down_or_not() {
    let run = |more: &[&str]| code_and_text(&[&["run"], UNSETTLED, &["--seed", "11"], more].concat());
    let implicit = run(&[]);
    assert_eq!(implicit, run(&["--time-limit", "12s"]));
    let (code, text) = implicit;
    assert_eq!(code, Some(3), "{text}");
    assert!(text.contains("? agreement            open") && text.contains("open: "), "{text}");
    assert!(!text.contains("ok:") && !text.contains("failed:"), "{text}");
    let (code, text) = run(&["--until", "12s"]);
    assert!(code == Some(3) && text.contains("? agreement            open"), "{text}");
}

#[test]
fn a_sweep_counts_what_was_cut_off_as_open_and_not_as_failed() {
    let (code, text) = code_and_text(&[&["sweep"], UNSETTLED, &["--seeds", "20", "--json"]].concat());
    let report: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
    let (open, agreement) = (&report["sweep"]["open"], &report["sweep"]["properties"]["agreement"]);
    assert_eq!((code, &agreement["violated"], open), (Some(3), &0.into(), &agreement["open"]), "{text}");
    assert!(open.as_u64() > Some(0), "{text}");
    let (code, text) = code_and_text(&[&["sweep"], UNSETTLED, &["--seeds", "20"]].concat());
    assert!(code == Some(3) && text.contains("cut off too early, the first with seed 11"), "{text}");
}

#[test]
fn a_deadline_that_is_missed_is_a_failure_and_one_that_is_met_is_none() {
    let run =
        |within: &str| code_and_text(&[&["run"], UNSETTLED, &["--seed", "11", "--within", within]].concat());
    let (code, text) = run("10s");
    assert!(code == Some(1) && text.contains("agreement did not come to hold within 10s"), "{text}");
    let (code, text) = run("60s");
    assert!(code == Some(0) && text.contains("the deadline had come"), "{text}");
}

#[test]
fn a_limit_that_cuts_nothing_off_leaves_a_run_as_it_is() {
    let (code, text) = code_and_text(&["run", "exhibits/s3-paxos-gst.toml"]);
    assert!(code == Some(0) && text.contains("the time limit was reached"), "{text}");
    assert!(text.ends_with("ok: as expected\n"), "{text}");
}

#[test]
fn an_expectation_that_a_limit_cut_off_is_open() {
    let scenario = |limit: &str| {
        let text = "algorithm = \"chang-roberts\"\nprocesses = 3\nscript = [\"0ms elect all\"]\n";
        file(
            &format!("cut-{limit}.toml"),
            &format!("{text}time-limit = \"{limit}\"\n[expect]\nholds = [\"E2\"]\n"),
        )
    };
    let (code, text) = code_and_text(&["run", &scenario("2ms")]);
    assert!(code == Some(3) && text.contains("E2 could not be told"), "{text}");
    assert_eq!(code_and_text(&["run", &scenario("1s")]).0, Some(0));
}

#[test]
fn real_nodes_that_are_cut_off_leave_open_what_has_not_happened() {
    let nodes = |limit: &str, script: &str| {
        format!("algorithm = \"majority\"\nprocesses = 2\ntime-limit = \"{limit}\"\nscript = [{script}]\n")
    };
    // No timeout is over by then, and perhaps not a single node has begun.
    for limit in ["1ns", "20ms"] {
        let early = file(&format!("cut-nodes-{limit}.toml"), &nodes(limit, ""));
        let (code, text) = code_and_text(&["cluster", &early, "--slower", "1"]);
        assert!(code == Some(3) && text.contains("open: "), "{limit}: {text}");
        assert!(!text.contains('✗') && !text.contains("ok:"), "{limit}: {text}");
    }
    // A cut that lasts is outside the model: nothing is promised, and so nothing is owed.
    let lasting = file("parted-nodes.toml", &nodes("3s", "\"0ms cut 1-2\", \"when 1 leads: crash 2\""));
    let (code, text) = code_and_text(&["cluster", &lasting, "--slower", "1"]);
    assert!(code == Some(0) && text.contains("outside its model"), "{text}");
    assert!(text.contains("note: this never came: when 1 leads: crash 2"), "{text}");
}

#[test]
fn a_line_that_waits_for_a_message_that_there_is_not_is_refused_with_a_suggestion() {
    let refuses = |arguments: &[&str]| {
        let output = habemus(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let line = "when 3 sends Okay: crash 3";
    for command in ["run", "sweep"] {
        let said = refuses(&[command, "bully", "--at", line]);
        assert!(said.contains("'Okay'") && said.contains("did you mean 'Ok'?"), "{said}");
    }
    let waits = file(
        "unknown-kind.toml",
        &format!("algorithm = \"bully\"\nprocesses = 3\nscript = [\"0ms elect 1\", \"{line}\"]\n"),
    );
    for command in ["run", "cluster"] {
        let said = refuses(&[command, &waits]);
        assert!(said.contains("unknown-kind.toml:3:40") && said.contains("did you mean `Ok`?"), "{said}");
    }
}

#[test]
fn a_line_that_waited_in_vain_is_reported() {
    let line = "when 1 receives Ok for the 9th time: crash 1";
    let (code, text) = code_and_text(&["run", "bully", "-n", "3", "--at", line]);
    assert!(code == Some(0) && text.contains(&format!("note: this never came: {line}")), "{text}");
    let (_, text) = code_and_text(&["sweep", "bully", "-n", "3", "--seeds", "3", "--at", line]);
    assert!(text.contains(&format!("this never came in 3 runs: {line}")), "{text}");
    let (_, text) = code_and_text(&["run", "bully", "-n", "3", "--at", "when 1 sends Election: crash 1"]);
    assert!(!text.contains("never came"), "{text}");
}

#[test]
fn every_command_ends_with_the_code_that_its_help_names() {
    let wrong = file("wrong-code.toml", "algorithm = \"bully\"\nprocesses = 3\n[expect]\nleader = 2\n");
    let cases: &[(&[&str], i32)] = &[
        (&["list"], 0),
        (&["list", "buly"], 2),
        (&["list", "em1"], 0),
        (&["list", "EM4"], 2),
        (&["exercise"], 0),
        (&["exercise", "most-messages", &wrong], 1),
        (&["exercise", "most-mesages"], 2),
        (&["run", "bully"], 0),
        (&["run", &wrong], 1),
        (&["run", "buly"], 2),
        (&["run", "bully", "--event-limit", "3"], 3),
        (&["sweep", "bully", "--seeds", "2"], 0),
        (&["sweep", &wrong, "--seeds", "2", "--no-shrink"], 1),
        (&["sweep", "buly"], 2),
        (&["sweep", "bully", "--event-limit", "3", "--seeds", "2"], 3),
        (&["check", "chang-roberts", "-n", "2"], 0),
        (&["check", "anonymous-ring", "-n", "3", "--property", "uniqueness"], 1),
        (&["check", "buly"], 2),
        (&["check", "chang-roberts", "-n", "3", "--depth", "2"], 3),
        (&["guarantees", "--recorded", "bully"], 0),
        (&["guarantees", "buly"], 2),
        (&["cost", "chang-roberts", "-n", "4"], 0),
        (&["cost", "buly"], 2),
        (&["timeout", "-C", "1", "-E", "1", "--delays", "5ms..9ms"], 0),
        (&["timeout", "-C", "1", "-E", "1", "--delays", "soon"], 2),
        (&["quorum", "--coordinators", "7", "--quorum", "4", "--failure", "1%"], 0),
        (&["quorum", "--coordinators", "7", "--quorum", "4", "--failure", "1%", "--target", "1e-12"], 1),
        (&["detectors", "--seeds", "1", "--until", "1s"], 0),
        (&["detectors", "--seeds", "0"], 2),
        (&["draw", "nowhere.jsonl"], 2),
        (&["cluster", "nowhere.toml"], 2),
        (&["node"], 2),
        (&["errata", "buly"], 2),
        (&["man"], 0),
        (&["completions", "bash"], 0),
        (&["completions", "klingon"], 2),
    ];
    for (arguments, expected) in cases {
        let (code, text) = code_and_text(arguments);
        assert_eq!(code, Some(*expected), "{arguments:?}: {text}");
        let named = exit_codes(arguments[0]);
        assert!(!named[*expected as usize].is_empty(), "{arguments:?} ends with {expected}: {named:?}");
    }
}

/// Some commands become programs of another crate, which need not be there if this one is tested alone.
fn build_the_service() {
    let beside = |program| Path::new(env!("CARGO_BIN_EXE_habemus")).with_file_name(program);
    if !beside("habemusd").exists() || !beside("habemusctl").exists() {
        let mut build = std::process::Command::new(env!("CARGO"));
        build.args(["build", "--quiet", "--package", "habemus-server"]).current_dir(root());
        assert!(build.status().is_ok_and(|status| status.success()), "habemus-server does not compile");
    }
}

/// What the help of a command says of 0, 1, 2 and 3; nothing, where it says nothing.
fn exit_codes(command: &str) -> [String; 4] {
    // Of a command that becomes another program --help is that program's.
    let help = code_and_text(&["help", command]).1;
    let (_, lines) = help.split_once("Exit codes:\n").unwrap_or_else(|| panic!("{command} names no codes"));
    let mut named = [const { String::new() }; 4];
    for line in lines.lines().take_while(|line| line.starts_with("  ")) {
        let (code, meaning) = line.trim().split_once("  ").expect("a code and what it means");
        named[code.parse::<usize>().expect("a code is a number")] = meaning.to_owned();
    }
    named
}

#[test]
fn a_command_that_becomes_another_program_has_its_help() {
    build_the_service();
    for (command, option) in [("lock", "--ttl"), ("serve", "--cluster"), ("status", "--endpoints")] {
        let (code, help) = code_and_text(&[command, "--help"]);
        assert!(code == Some(0) && help.contains(option) && help.contains("Examples:"), "{help}");
    }
}

#[test]
fn the_documentation_has_the_exit_codes_of_every_command_in_one_table() {
    build_the_service();
    let help = code_and_text(&["--help"]).1;
    let (commands, _) = help.split_once("\nOptions:\n").expect("the help lists the commands");
    let commands = commands.lines().filter(|line| line.starts_with("  "));
    let names = commands.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help");
    let mut table = "\n| command | 0 | 1 | 2 | 3 |\n|---|---|---|---|---|\n".to_owned();
    for name in names {
        let codes = exit_codes(name).map(|meaning| if meaning.is_empty() { "–".to_owned() } else { meaning });
        table += &format!("| `{name}` | {} |\n", codes.join(" | "));
    }
    let path = root().join("docs/verdicts.md");
    let page = std::fs::read_to_string(&path).expect("the page is there");
    let (begin, end) = ("HABEMUS_REWRITE=1 renews this. -->\n", "<!-- The end of the exit codes. -->");
    let (before, rest) = page.split_once(begin).expect("the page says where the table begins");
    let (_, after) = rest.split_once(end).expect("the page says where the table ends");
    let renewed = format!("{before}{begin}{table}\n{end}{after}");
    if rewrites() {
        std::fs::write(&path, &renewed).expect("the page can be written");
    }
    let page = std::fs::read_to_string(&path).expect("the page is there");
    assert!(page == renewed, "docs/verdicts.md is out of date; rewrite it with HABEMUS_REWRITE=1");
}

#[test]
fn a_figure_that_is_exceeded_makes_cost_fail() {
    let (code, text) = code_and_text(&["cost", "bully", "-n", "4", "--again", "crash"]);
    assert!(code == Some(0) && text.contains("held again after a crash"), "{text}");
    let (code, text) = code_and_text(&["cost", "--all", "-n", "3", "--seeds", "1"]);
    assert!(code == Some(0) && text.contains("held again after a recovery"), "{text}");
    for entry in habemus::catalogue::ENTRIES.iter().filter(|entry| entry.cost_model.is_some()) {
        assert!(text.contains(entry.name), "{} is not measured", entry.name);
    }
    // A network that loses the order makes the paper's exact figure a false one.
    let slow = ["cost", "stable", "-n", "8", "--arrangement", "best", "--latency", "1ms..200ms"];
    let (code, text) = code_and_text(&slow);
    assert!(code == Some(1) && text.contains("failed: theory and runs disagree"), "{text}");
}

#[test]
fn an_election_whose_dead_separate_the_others_promises_no_common_leader() {
    let check = |topology| {
        let faults =
            ["--detector", "oracle", "--crashes", "1", "--timers", "messages-first", "--property", "E1"];
        let what = ["check", "yo-yo", "--processes", "3", "--topology", topology];
        code_and_text(&[&what[..], &faults].concat())
    };
    let (code, text) = check("line");
    assert!(text.contains("not promised here"), "{text}");
    assert_eq!(code, Some(1), "{text}");
    let (code, text) = check("complete");
    assert_eq!(code, Some(0), "{text}");
}
