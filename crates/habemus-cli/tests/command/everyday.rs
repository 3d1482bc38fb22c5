//! The commands of every day: list, run, sweep, cost, draw, check.

use std::path::Path;

use crate::support::{compare, file, habemus, scratch};

fn succeeds(arguments: &[&str]) -> String {
    let output = habemus(arguments);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {errors}");
    String::from_utf8(output.stdout).expect("the output is text")
}

/// Runs what is bad input, and gives what it says.
fn refuses(arguments: &[&str]) -> String {
    let output = habemus(arguments);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {errors}");
    assert!(!errors.contains("panicked"), "{errors}");
    errors
}

#[test]
fn the_catalogue_has_every_algorithm_and_fits_eighty_columns() {
    let list = succeeds(&["list"]);
    let long = succeeds(&["list", "--long"]);
    let lines = list.lines().filter(|line| line.starts_with("  ")).count();
    assert_eq!(lines, habemus::catalogue::ENTRIES.len(), "one line each: {list}");
    for entry in habemus::catalogue::ENTRIES {
        assert!(list.contains(entry.name) && long.contains(entry.name));
        let page = succeeds(&["list", entry.name]);
        for text in [&list, &long, &page] {
            assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        }
        for option in entry.all_options() {
            assert!(page.contains(option.name), "{} does not show {}", entry.name, option.name);
        }
    }
    let json: serde_json::Value = serde_json::from_str(&succeeds(&["list", "--json"])).expect("it is JSON");
    assert_eq!(json.as_array().map(Vec::len), Some(habemus::catalogue::ENTRIES.len()));
}

#[test]
fn every_property_and_every_notes_are_explained_by_their_name() {
    for property in habemus::property::EXPLANATIONS {
        let text = succeeds(&["list", property.name]);
        assert!(text.contains(property.title) && text.contains("Broken if:"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }
    assert!(succeeds(&["list", "em1"]).contains("máximo um processo por vez"));
    assert_eq!(succeeds(&["list", "agreement"]).matches("Broken if:").count(), 2, "two problems have it");
    assert!(succeeds(&["list", "S1"]).contains("Rodrigo Campiolo"));
    assert!(refuses(&["list", "EM4"]).contains("did you mean the property `EM1`?"));
}

#[test]
fn whoever_asks_for_nothing_is_told_what_to_try() {
    let text = succeeds(&[]);
    assert_eq!(text.lines().count(), 12, "{text}");
    for line in text.lines().filter(|line| line.starts_with("  habemus ")) {
        let command = line.split_whitespace().nth(1).expect("a command follows");
        assert!(succeeds(&["help"]).contains(&format!("\n  {command} ")), "{command} is no command");
    }
    let help = succeeds(&["help"]);
    assert!(help.lines().all(|line| line.chars().count() <= 80), "{help}");
}

#[test]
fn every_exercise_is_shown_in_both_languages_and_its_solution_solves_it() {
    let list = succeeds(&["exercise"]);
    for name in habemus_course::names() {
        assert!(list.contains(name), "{list}");
        let solution = file(&format!("exercise-{name}.toml"), &succeeds(&["exercise", name, "--solution"]));
        assert!(succeeds(&["exercise", name, &solution]).starts_with("solved:"), "{name}");
        let begin = file(&format!("begin-{name}.toml"), &succeeds(&["exercise", name, "--begin"]));
        let code = habemus(&["exercise", name, &begin]).status.code();
        // Where questions are to be answered, nothing is to be changed.
        let asks = habemus_course::exercise(name).is_ok_and(|exercise| !exercise.predict.is_empty());
        assert!(code == Some(1) || (asks && code == Some(0)), "{name} is no exercise if its start solves it");
        for language in ["en", "pt"] {
            let text = succeeds(&["exercise", name, "--language", language]);
            assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        }
        assert!(!succeeds(&["exercise", name, "--hint", "1"]).is_empty());
    }
    assert!(succeeds(&["exercise", "two-leaders", "--language", "pt"]).contains("Objetivo:"));
    let asked = habemus_course::exercise("follow-the-ring").expect("it is there").predict;
    let answers = |add: usize| {
        let right = asked.iter().map(|question| (question.answer + 1 + add).to_string());
        right.collect::<Vec<_>>().join(",")
    };
    succeeds(&["exercise", "follow-the-ring", "--answers", &answers(0)]);
    let wrong = habemus(&["exercise", "follow-the-ring", "--answers", &answers(1)]);
    assert_eq!(wrong.status.code(), Some(1));
    assert!(refuses(&["exercise", "two-leaders", "--hint", "99"]).contains("there are"));
}

#[test]
fn a_manual_page_is_written_for_every_command() {
    let folder = scratch("man").to_string_lossy().into_owned();
    succeeds(&["man", "--out", &folder]);
    let page = std::fs::read_to_string(format!("{folder}/habemus-run.1")).expect("it was written");
    assert!(page.contains(".TH habemus-run 1"), "{page}");
    assert!(succeeds(&["man"]).contains(".TH habemus 1"));
}

#[test]
fn every_algorithm_runs_with_nothing_but_its_name_and_keeps_its_promises() {
    for entry in habemus::catalogue::ENTRIES {
        let text = succeeds(&["run", entry.name]);
        assert!(text.contains("every promise was kept"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }
}

#[test]
fn expectations_decide_the_exit_code() {
    succeeds(&["run", "exhibits/s1-chang-roberts.toml"]);
    let wrong = file(
        "wrong.toml",
        "algorithm = \"bully\"\nprocesses = 3\nscript = [\"0ms elect 1\"]\n[expect]\nleader = 2\n",
    );
    let output = habemus(&["run", &wrong]);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("expected all live processes to follow 2, but they follow 3"), "{text}");
}

#[test]
fn a_promise_broken_is_a_failure_without_any_expectation() {
    let output = habemus(&["run", "coordinator", "-n", "4", "-o", "timeout=10ms", "--hold", "50ms"]);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("EM1 is promised, but violated"), "{text}");
}

#[test]
fn what_is_broken_outside_the_model_is_a_fact_and_no_failure() {
    let generals = ["run", "byzantine-generals", "-o", "traitors=3", "-o", "lies=attack,retreat,silence"];
    let output = habemus(&[&generals[..], &["-n", "3", "--start", "1"]].concat());
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("outside its model: n = 3") && !text.contains("is promised"), "{text}");
    assert_eq!(output.status.code(), Some(0), "{text}");
    let output = habemus(&["run", "chang-roberts", "-n", "4", "--crash", "4@1ms"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("(outside its model: crashes)"), "{text}");
    assert_eq!(output.status.code(), Some(0), "{text}");
}

#[test]
fn nothing_is_not_everything() {
    assert_eq!(habemus(&["sweep", "bully", "--seeds", "0"]).status.code(), Some(2));
    let text = succeeds(&["sweep", "chang-roberts", "--seeds", "3"]);
    assert!(text.contains("one-leader-per-term  does not apply"), "{text}");
    let text = succeeds(&["run", "coordinator", "-n", "3"]);
    assert!(text.contains("– fencing              does not apply: nobody was given a token"), "{text}");
}

#[test]
fn a_check_names_the_promises_that_it_did_not_cover() {
    let text = succeeds(&["check", "ricart-agrawala", "-n", "2"]);
    let verdict = "ok: proved for 2 processes, but for EM3 and bounded-waiting: --clocks covers";
    assert!(text.replace('\n', " ").contains(verdict), "{text}");
    assert!(succeeds(&["check", "ricart-agrawala", "-n", "2", "--clocks"]).contains("ok: proved for 2"));
}

#[test]
fn a_run_that_is_cut_off_is_incomplete() {
    let output = habemus(&["run", "chang-roberts", "--event-limit", "3"]);
    assert_eq!(output.status.code(), Some(3));
}

#[test]
fn the_report_is_also_json_and_the_seed_repeats_it() {
    let report = |seed: &str| -> serde_json::Value {
        let text = succeeds(&["run", "chang-roberts", "--ids", "3,17,24", "--seed", seed, "--json"]);
        serde_json::from_str(&text).expect("it is JSON")
    };
    let first = report("7");
    assert_eq!(first["leader"], 24);
    assert_eq!(first["properties"][0]["verdict"], "holds");
    assert_eq!(first["fingerprint"], report("7")["fingerprint"]);
    assert_ne!(first["fingerprint"], report("8")["fingerprint"]);
}

#[test]
fn a_trace_can_be_written_and_drawn_in_every_way() {
    let trace = scratch("bully.jsonl").to_string_lossy().into_owned();
    succeeds(&["run", "bully", "--crash", "5@20ms", "--trace", &trace]);
    for (format, sign) in
        [("text", "──▶"), ("mermaid", "sequenceDiagram"), ("svg", "<svg"), ("shiviz", "(?<host>")]
    {
        let picture = succeeds(&["draw", &trace, "--format", format]);
        assert!(picture.contains(sign), "{format}: {picture}");
    }
    let out = scratch("bully.svg").to_string_lossy().into_owned();
    succeeds(&["draw", &trace, "--format", "svg", "--out", &out]);
    assert!(std::fs::read_to_string(out).expect("it was written").ends_with("</svg>\n"));
    let error = refuses(&["draw", "README.md"]);
    assert!(error.contains("line 1 of the trace is not a valid header"), "{error}");
}

#[test]
fn the_picture_of_the_readme_is_what_the_command_draws() {
    let drawn = succeeds(&["run", "exhibits/s4-timeout-hurts.toml", "--draw", "svg"]);
    compare(&drawn, "docs/images/timeout-hurts.svg");
}

#[test]
fn a_sweep_shrinks_what_fails_and_says_how_to_replay_it() {
    let out = scratch("failing.toml").to_string_lossy().into_owned();
    let output = habemus(&[
        "sweep",
        "majority",
        "--processes",
        "4",
        "--partition-rate",
        "2/s",
        "-o",
        "variant=mutant-half-quorum",
        "--seeds",
        "30",
        "--out",
        &out,
    ]);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let replay = text.lines().find_map(|line| line.trim().strip_prefix("Replay: habemus run "));
    let replayed =
        replay.and_then(|words| words.strip_suffix(" --draw text")).map(|word| word.replace('\'', ""));
    assert_eq!(replayed.as_ref(), Some(&out), "{text}");
    assert_eq!(habemus(&["run", &out]).status.code(), Some(1), "the replay fails, too");
    let text = succeeds(&["sweep", "bully", "--crash-rate", "2/s", "--seeds", "20"]);
    assert!(text.contains("all as expected"), "{text}");
}

/// If all were told to stand at once, every run would begin with a split vote.
#[test]
fn who_stands_by_itself_is_not_told_to() {
    let said = |algorithm: &str| succeeds(&["run", algorithm, "--draw", "text"]);
    assert!(said("bully").contains("» elect"));
    let majority = said("majority");
    assert!(majority.contains("leads, and every") && !majority.contains(" elect"), "{majority}");
}

#[test]
fn a_latency_beyond_the_timeouts_is_outside_the_model_and_no_failure() {
    let text = succeeds(&["run", "bully", "-n", "3", "--latency", "60ms"]);
    assert!(text.contains("outside its model: wrong timeouts"), "{text}");
}

#[test]
fn a_kind_of_message_that_cannot_be_counted_is_refused() {
    let text =
        "algorithm = \"bully\"\nprocesses = 3\nscript = [\"0ms elect 1\"]\n[expect.messages]\nOkay = 1\n";
    let error = refuses(&["run", &file("okay.toml", text)]);
    assert!(error.contains("Okay") && error.contains("did you mean `Ok`?"), "{error}");
}

#[test]
fn costs_come_as_table_csv_json_and_plot() {
    let plot = scratch("cost.svg").to_string_lossy().into_owned();
    let table = succeeds(&["cost", "chang-roberts", "-n", "2..8", "--arrangement", "worst", "--plot", &plot]);
    assert!(table.contains("exactly n(n+1)/2 + n"), "{table}");
    assert!(std::fs::read_to_string(plot).expect("it was written").contains("</svg>"));
    let csv = succeeds(&["cost", "coordinator", "-n", "3,5", "--csv", "-"]);
    assert_eq!(csv.lines().count(), 3, "{csv}");
    let json = succeeds(&["cost", "coordinator", "-n", "3,5", "--json"]);
    let points: serde_json::Value = serde_json::from_str(&json).expect("it is JSON");
    assert_eq!(points[1]["mean"], 12.0);
}

#[test]
fn bad_input_is_refused_with_what_to_do() {
    for (arguments, said) in [
        (vec!["run", "buly"], "did you mean 'bully'?"),
        (vec!["run", "nowhere.toml"], "cannot read nowhere.toml"),
        (vec!["run", "bully", "-o", "audiense=all"], "did you mean 'audience'?"),
        (vec!["run", "bully", "-o", "audience=some"], "expected better or all"),
        (vec!["run", "bully", "-o", "audience"], "expected NAME=VALUE"),
        (vec!["run", "bully", "--topology", "ring"], "bully runs on: complete"),
        (vec!["run", "bully", "--topology", "rign"], "there is no topology 'rign'"),
        (vec!["run", "bully", "--detector", "psychic"], "can stand on: oracle"),
        (vec!["run", "coordinator", "--detector", "oracle"], "needs no failure detector"),
        (vec!["run", "bully", "--ids", "1,2,2"], "2"),
        (vec!["run", "bully", "--ids", "one"], "--ids"),
        (vec!["run", "bully", "-n", "0"], "--processes"),
        (vec!["run", "bully", "--crash", "9@20ms"], "9"),
        (vec!["run", "bully", "--crash", "5"], "5@20ms"),
        (vec!["run", "bully", "--latency", "quick"], "--latency"),
        (vec!["run", "bully", "--loss", "200%"], "--loss"),
        (vec!["run", "bully", "--model", "synchronus"], "did you mean synchronous?"),
        (vec!["run", "bully", "--model", "synchronous", "--gst", "1s"], "--gst"),
        (vec!["run", "bully", "--until", "whenever"], "--until"),
        (vec!["run", "bully", "--at", "20ms acquire 1"], "'acquire' is neither a fault nor a command"),
        (vec!["run", "bully", "--draw", "oil"], "text"),
        (vec!["cost", "bully", "-n", "8..2"], "doubling range"),
        (vec!["cost", "bully", "--seeds", "0"], "at least 1"),
        (vec!["frobnicate"], "unrecognized subcommand"),
    ] {
        let error = refuses(&arguments);
        assert!(error.contains(said), "{arguments:?} should say {said:?}, but says: {error}");
    }
}

#[test]
fn errors_in_a_file_point_at_line_and_column() {
    for (name, text, said) in [
        ("a.toml", "algorithm = \"buly\"\nprocesses = 3\n", "a.toml:1:13: unknown algorithm `buly`"),
        ("b.toml", "algorithm = \"bully\"\nprocesses = 3\n[options]\ndelai = \"1ms\"\n", "b.toml:4:1:"),
        ("c.toml", "algorithm = \"bully\"\nprocesses = 3\n[options]\ndelay = \"soon\"\n", "c.toml:4:9:"),
        ("d.toml", "algorithm = \"bully\"\nprocesses = 3\nscript = [\"5ms acquire 1\"]\n", "d.toml:3:16:"),
        ("e.toml", "algorithm = \"bully\"\nprocesses = 3\n[expect]\nholds = [\"EM1\"]\n", "e.toml:4:10:"),
        ("f.toml", "algorithm = \"bully\"\nprocesses = 3\ntopology = \"ring\"\n", "f.toml:3:12:"),
        ("g.toml", "algorithm = \"bully\"\nprocesses = 3\nscript = [\"5ms crash 4\"]\n", "g.toml:3:22:"),
        ("h.toml", "algorithm = \n", "h.toml:1:"),
    ] {
        let error = refuses(&["run", &file(name, text)]);
        assert!(error.contains(said), "expected {said:?} in: {error}");
    }
}

#[test]
fn completions_and_help_are_there() {
    assert!(succeeds(&["completions", "bash"]).contains("habemus"));
    for command in ["list", "run", "sweep", "cost", "draw", "completions"] {
        let help = succeeds(&[command, "--help"]);
        assert!(help.contains("Examples:"), "{command}: {help}");
    }
    assert!(succeeds(&["--version"]).starts_with("habemus "));
}

#[test]
fn a_check_proves_refutes_or_stops_and_the_exit_code_says_which() {
    let proved = succeeds(&["check", "chang-roberts"]);
    assert!(proved.contains("proved for 3 processes") && proved.contains("E1"), "{proved}");
    let trace = scratch("two-leaders.jsonl");
    let path = trace.to_string_lossy().into_owned();
    let refuted = habemus(&["check", "anonymous-ring", "--property", "uniqueness", "--trace", &path]);
    let text = String::from_utf8_lossy(&refuted.stdout).into_owned();
    assert_eq!(refuted.status.code(), Some(1), "{text}");
    assert!(text.contains("VoteForMe") && text.contains("not in every run"), "{text}");
    assert!(succeeds(&["draw", &path]).contains("VoteForMe"), "the counterexample is a trace like any other");
    let cut = habemus(&["check", "chang-roberts", "-n", "5", "--states", "100", "--threads", "1"]);
    assert_eq!(cut.status.code(), Some(3));
    for text in [proved, text] {
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }
}

#[test]
fn a_scenario_can_be_checked_and_its_faults_are_a_budget() {
    let output = habemus(&["check", "exhibits/s4-anonymous-ring-two.toml", "--property", "uniqueness"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1), "{text} {}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn senseless_checks_are_refused() {
    assert!(refuses(&["check", "chang-roberts", "--memory", "much"]).contains("8G"));
    assert!(refuses(&["check", "chang-roberts", "--property", "EM1"]).contains("E2"));
    assert!(refuses(&["check", "chang-roberts", "--crashes", "99"]).contains("99"));
    assert!(refuses(&["check", "chang-roberts", "--threads", "0"]).contains("at least 1"));
    assert!(refuses(&["check", "bully", "--detector", "heartbeat"]).contains("detector"));
    assert!(refuses(&["guarantees", "bulli"]).contains("bully"));
    assert!(refuses(&["mutants", "bulli"]).contains("bully"));
    assert!(refuses(&["check", "chang-roberts", "--spill", "no/such/place"]).contains("is not a directory"));
}

#[test]
fn mutants_are_counted_and_survivors_have_a_name() {
    let output = habemus(&["mutants", "all-to-all", "--states", "100"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("all-to-all") && text.contains(" caught"), "{text}");
    let survive = text.lines().filter(|line| line.contains('✗')).count();
    assert!(text.contains(&format!("{survive} survive without an explanation")), "{text}");
    assert_eq!(output.status.code(), Some(i32::from(survive > 0)), "{text}");
}

#[test]
fn the_record_of_guarantees_can_be_read_and_rechecked() {
    let table = succeeds(&["guarantees", "--recorded"]);
    assert!(table.contains("ricart-agrawala") && table.contains("a lost message"), "{table}");
    let rechecked = succeeds(&["guarantees", "capture-sync"]);
    assert!(rechecked.contains("✓"), "{rechecked}");
}

#[test]
fn a_counterexample_is_kept_repeated_and_scripted() {
    let (trace, scenario) = (scratch("split.jsonl"), scratch("split.toml"));
    let (trace, scenario) = (trace.to_string_lossy(), scenario.to_string_lossy());
    let check = ["check", "bully", "--start", "all", "--partitions", "1", "--property", "uniqueness"];
    let output = habemus(&[&check[..], &["--trace", &trace, "--scenario", &scenario]].concat());
    assert_eq!(output.status.code(), Some(1));
    let found = String::from_utf8_lossy(&output.stdout).into_owned();
    // What is found in so small a system does not hang on which thread was first.
    let retold = scratch("retold.jsonl");
    let read = |path: &Path| std::fs::read_to_string(path).expect("it was written");
    for _ in 0..4 {
        habemus(&[&check[..], &["--trace", &retold.to_string_lossy()]].concat());
        assert_eq!(read(&retold), read(Path::new(&*trace)));
    }
    let output = habemus(&["run", "--replay", &trace, "--draw", "text"]);
    assert_eq!(output.status.code(), Some(1), "it is still violated");
    let repeated = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(repeated.lines().all(|line| line.chars().count() <= 80), "{repeated}");
    let said = "uniqueness violated: 2 considered itself the leader at 57ms, and so did 3";
    assert!(found.contains(said) && repeated.contains(said), "{found}\n{repeated}");
    let simulated = succeeds(&["run", &scenario, "--draw", "text"]);
    assert!(simulated.contains("as expected") && simulated.contains(said), "{simulated}");
    // The repeated run makes the same scenario.
    let again = scratch("again.toml");
    habemus(&["run", "--replay", &trace, "--scenario", &again.to_string_lossy()]);
    assert_eq!(read(&again), read(Path::new(&*scenario)));
    // Somebody else would not behave like this.
    let other = refuses(&["run", "stable", "--replay", &trace]);
    assert!(other.contains("the trace is a run of bully"), "{other}");
    let other = refuses(&["run", "bully", "-o", "variant=as-printed", "--replay", &trace]);
    assert!(other.contains("the trace does not fit: at record"), "{other}");
    let other = refuses(&["run", "bully", "-n", "4", "--replay", &trace]);
    assert!(other.contains("1, 2, 3, 4"), "{other}");
    let nothing = refuses(&["run", "--replay", "Cargo.toml"]);
    assert!(nothing.contains("line 1 of the trace"), "{nothing}");
    refuses(&["run"]);
}

#[test]
fn a_run_without_end_is_repeated_but_not_scripted() {
    let (trace, scenario) = (scratch("endless.jsonl"), scratch("endless.toml"));
    let _ = std::fs::remove_file(&scenario);
    let (trace, name) = (trace.to_string_lossy(), scenario.to_string_lossy());
    let check = ["check", "yo-yo", "-o", "variant=as-printed", "--property", "termination"];
    let output = habemus(&[&check[..], &["--trace", &trace, "--scenario", &name]].concat());
    assert_eq!(output.status.code(), Some(1));
    let errors = String::from_utf8_lossy(&output.stderr).replace('\n', " ");
    assert!(errors.contains("scenario was written") && !scenario.exists(), "{errors}");
    let output = habemus(&["run", "--replay", &trace]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.code() == Some(1) && text.contains("goes round in a cycle"), "{text}");
}

#[test]
fn a_call_for_a_message_that_is_not_there_is_a_failure_of_its_own() {
    let called = file(
        "missed.toml",
        "algorithm = \"bully\"\nprocesses = 3\nscript = [\"1ms deliver 1->2\"]\n[network]\nmodel = \
         \"scripted\"\n",
    );
    let output = habemus(&["run", &called]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.code() == Some(1) && text.contains("no such message"), "{text}");
}

/// S4's listing has no variable that says who takes part: who is told twice stands twice.
#[test]
fn by_the_letter_nobody_remembers_that_it_takes_part_in_chang_and_roberts_election() {
    for (variant, messages) in [("announced", "6: 3 Elected, 3 Election"), ("as-printed", "6\n")] {
        let variant = format!("variant={variant}");
        let twice = ["--start", "none", "--at", "0ms elect 3", "--at", "1ms elect 3"];
        let output =
            habemus(&[&["run", "chang-roberts", "--ids", "3,1,2", "-o", &variant][..], &twice].concat());
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(text.contains(&format!("messages        {messages}")), "{text}");
    }
}

#[test]
fn who_forgets_what_a_command_needs_is_shown_a_call_that_works() {
    for (name, example) in [
        ("run", "habemus run chang-roberts"),
        ("cluster", "habemus cluster bully"),
        ("draw", "habemus draw bully.jsonl"),
        ("compare", "habemus compare bully chang-roberts"),
    ] {
        let output = habemus(&[name]);
        assert_eq!(output.status.code(), Some(2), "{name}");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains(&format!(" help: for example: {example}")), "{said}");
    }
}
