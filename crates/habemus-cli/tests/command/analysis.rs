//! The commands that calculate: quorums, timeouts, detectors.

use serde_json::Value;

use crate::support::{compare, file, habemus, rewrites, root, scratch};

/// Runs it, and gives the exit code and what it says on standard output, which fits eighty columns.
fn says(arguments: &[&str]) -> (i32, String) {
    let output = habemus(arguments);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!errors.contains("panicked"), "{arguments:?}: {errors}");
    let text = String::from_utf8(output.stdout).expect("the output is text");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(!text.contains('\u{1b}'), "there are colours though this is no terminal");
    (output.status.code().expect("no signal ended it"), text)
}

fn json(arguments: &[&str]) -> Value {
    let output = habemus(&[arguments, &["--json"]].concat());
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{arguments:?}: {error}"))
}

fn refuses(arguments: &[&str], said: &str) {
    let output = habemus(arguments);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {errors}");
    assert!(errors.contains(said), "{arguments:?} should say {said:?}, but says: {errors}");
}

/// S4: n = 32, m = 24, P = 10⁻⁴: "P_v < 10⁻⁴⁰".
#[test]
fn the_quorum_of_the_notes_is_too_safe_to_be_sampled() {
    let (code, text) = says(&["quorum", "--coordinators", "32", "--quorum", "24", "--failure", "1e-4"]);
    assert_eq!(code, 0);
    for said in ["7.35e-59", "1e-64", "6.99e-66", "too rare to be sampled", "None of 1,000,000 samples"] {
        assert!(text.contains(said), "{said} is missing: {text}");
    }
    // All majorities are there, from 17 to 32.
    assert!(
        (17..=32).all(|m: u32| text.lines().any(|line| line.split_whitespace().any(|w| w == m.to_string())))
    );
}

/// S4's run: n = 7, m = 4.
#[test]
fn samples_agree_with_the_formulas_where_there_are_some() {
    let report = json(&["quorum", "-n", "7", "-m", "4", "-p", "1%", "--samples", "200000"]);
    for (figure, expected) in
        [("by_asking_all", 1.0 - 0.99_f64.powi(4)), ("by_asking_worst", 0.01), ("by_asking_random", 1.19e-3)]
    {
        let tried = &report[figure];
        let probability = tried["probability"].as_f64().expect("a number");
        assert!((probability / expected - 1.0).abs() < 0.01, "{figure}: {probability}");
        assert_eq!(tried["verdict"], "agrees");
        assert!(tried["low"].as_f64() < Some(probability) && Some(probability) < tried["high"].as_f64());
    }
    assert_eq!(report["table"].as_array().map(Vec::len), Some(4));
    let again = json(&["quorum", "-n", "7", "-m", "4", "-p", "1%", "--samples", "200000"]);
    assert_eq!(report, again, "the seed decides");
}

#[test]
fn a_target_is_met_by_the_smallest_quorum_or_missed() {
    let report = json(&["quorum", "-n", "32", "-p", "1e-4", "--target", "1e-12"]);
    assert_eq!((&report["quorum"], &report["target"]["by_asking_all"]), (&Value::from(18), &Value::from(18)));
    let (code, text) = says(&["quorum", "-n", "32", "-m", "17", "-p", "1e-4", "--target", "1e-12"]);
    assert_eq!(code, 1);
    assert!(text.contains("a quorum of 17 is too small; take 18"), "{text}");
    let (code, text) = says(&["quorum", "-n", "3", "-p", "0.5", "--target", "1e-12", "--samples", "0"]);
    assert_eq!(code, 1);
    assert!(text.contains("no quorum is large enough"), "{text}");
    assert_eq!(says(&["quorum", "-n", "3", "-p", "0", "--target", "0"]).0, 0);
}

#[test]
fn quorums_of_any_size_and_probability_are_calculated() {
    for failure in ["0", "1", "0.5", "1e-4000", "99.99%"] {
        for (n, m) in [("1", "1"), ("2", "2"), ("3", "2"), ("10000", "5001"), ("10000", "10000")] {
            let (code, _) = says(&["quorum", "-n", n, "-m", m, "-p", failure, "--samples", "2000"]);
            assert_eq!(code, 0, "{n} {m} {failure}");
        }
    }
    let (_, text) = says(&["quorum", "-n", "10000", "-m", "7500", "-p", "1e-4"]);
    assert!(text.contains("1e-20000") && text.contains("majorities are left out"), "{text}");
    let (_, all) = says(&["quorum", "-n", "10000", "-m", "7500", "-p", "1e-4", "--samples", "0", "--all"]);
    assert!(all.lines().count() > 5000);
}

#[test]
fn the_best_timeout_of_a_known_distribution_is_found() {
    let arguments =
        ["timeout", "--mistake-cost", "100", "--waiting-cost", "5", "--delays", "exponential 5ms"];
    let report = json(&arguments);
    let best = report["best"]["timeout"].as_f64().expect("a number");
    // Where e^(−T/µ)/µ = E/C.
    assert!((best - 0.005 * (100.0_f64 / (5.0 * 0.005)).ln()).abs() < 1e-9, "{best}");
    assert!(
        report["rule_of_thumb"]["cost"].as_f64() <= report["best"]["cost"].as_f64().map(|cost| 2.0 * cost)
    );
    let (code, text) = says(&arguments);
    assert!(code == 0 && text.contains("Wait 41.5 ms"), "{text}");
    let per_millisecond = json(&["timeout", "-C", "100", "-E", "0.005/ms", "--delays", "exponential 5ms"]);
    assert!((per_millisecond["best"]["timeout"].as_f64().expect("a number") - best).abs() < 1e-12);
    let (_, text) = says(&["timeout", "-C", "0.001", "-E", "100"]);
    assert!(text.contains("Do not wait at all"), "{text}");
}

#[test]
fn delays_come_from_a_file_a_latency_in_a_file_or_a_trace() {
    let delays = file("delays.txt", "# measured\n1ms\n2ms\n\n3ms # slow\n40ms\nlost\n");
    let report = json(&["timeout", "-C", "1", "-E", "0.1", "--delays", &delays]);
    assert_eq!(report["best"]["timeout"], 0.04);
    assert_eq!((&report["lost"], &report["best"]["late"]), (&Value::from(0.2), &Value::from(0.2)));
    let latency = file("latency.txt", "log-normal 5ms 0.8\n");
    let inside = json(&["timeout", "-C", "1", "-E", "1", "--delays", &latency]);
    let outside = json(&["timeout", "-C", "1", "-E", "1", "--delays", "log-normal 5ms 0.8"]);
    assert_eq!(inside["best"], outside["best"]);
    let trace = scratch("timeout.jsonl").to_string_lossy().into_owned();
    let run = ["run", "bully", "--detector", "heartbeat", "--until", "5s", "--loss", "5%", "--trace", &trace];
    assert_eq!(habemus(&run).status.code(), Some(0));
    let report = json(&["timeout", "-C", "1", "-E", "1", "--trace", &trace, "--kind", "Heartbeat"]);
    // The simulator's messages take 1 ms to 10 ms.
    let best = report["best"]["timeout"].as_f64().expect("a number");
    assert!((0.008..=0.0101).contains(&best), "{best}");
    assert!(report["lost"].as_f64().is_some_and(|lost| (0.02..0.08).contains(&lost)), "{report}");
}

#[test]
fn the_curve_is_a_picture_for_light_and_dark_pages() {
    let out = scratch("timeout.svg").to_string_lossy().into_owned();
    for delays in ["5ms", "1ms..10ms", "exponential 5ms", "log-normal 5ms 10"] {
        for costs in [["100", "5"], ["0", "1"], ["1e15", "1e-9"]] {
            says(&["timeout", "-C", costs[0], "-E", costs[1], "--delays", delays, "--out", &out]);
            let picture = std::fs::read_to_string(&out).expect("it was written");
            assert!(picture.starts_with("<svg") && picture.ends_with("</svg>\n"));
            assert!(picture.contains("prefers-color-scheme:dark"));
            assert!(!picture.contains("NaN") && !picture.contains("inf"), "{delays} {costs:?}");
        }
    }
}

#[test]
fn detectors_are_measured_over_the_same_network() {
    let arguments =
        ["detectors", "--seeds", "5", "--until", "20s", "--loss", "10%", "--latency", "5ms..20ms"];
    let (code, text) = says(&arguments);
    assert_eq!(code, 0);
    let report = json(&arguments);
    let all = report["detectors"].as_array().expect("a list");
    assert_eq!(all.len(), habemus::catalogue::DETECTORS.len());
    for one in all {
        assert!(text.contains(one["detector"].as_str().expect("a name")), "{text}");
        assert_eq!((&one["runs"], &one["detection"]["count"]), (&Value::from(5), &Value::from(20)), "{one}");
    }
    assert_eq!(all[0]["detection"]["mean"], 2e7, "the oracle speaks after 20 ms");
    assert_eq!(all[1]["messages"], all[2]["messages"], "they beat alike");
    let one = json(&[
        "detectors",
        "oracle",
        "--crash",
        "5@1s",
        "--until",
        "2s",
        "--seeds",
        "1",
        "-o",
        "detection-delay=7ms",
    ]);
    assert_eq!(one["detectors"][0]["detection"]["max"], 7_000_000);
}

#[test]
fn bad_input_is_refused_with_what_to_do() {
    for (arguments, said) in [
        (vec!["quorum", "-n", "32", "-m", "16", "-p", "1e-4"], "from 17 to 32"),
        (vec!["quorum", "-n", "32", "-m", "33", "-p", "1e-4"], "from 17 to 32"),
        (vec!["quorum", "-n", "0", "-p", "1e-4"], "from 1 to 10000"),
        (vec!["quorum", "-n", "18446744073709551615", "-p", "1e-4"], "from 1 to 10000"),
        (vec!["quorum", "-n", "3", "-p", "1.5"], "--failure: expected a probability"),
        (vec!["quorum", "-n", "3", "-p", "often"], "--failure: expected a probability"),
        (vec!["quorum", "-n", "3", "-p", "0.1", "--target", "-1"], "-1"),
        (vec!["quorum", "-n", "3"], "--failure"),
        (vec!["timeout", "-C", "1", "-E", "0"], "--waiting-cost"),
        (vec!["timeout", "-C", "nan", "-E", "1"], "--mistake-cost"),
        (vec!["timeout", "-C", "-1", "-E", "1"], "-1"),
        (vec!["timeout", "-C", "1", "-E", "1/fortnight"], "no unit of time"),
        (vec!["timeout", "-C", "1", "-E", "1", "--crashed", "0"], "--crashed"),
        (vec!["timeout", "-C", "1", "-E", "1", "--crashed", "2"], "--crashed"),
        (vec!["timeout", "-C", "1", "-E", "1", "--delays", "nowhere.txt"], "no file 'nowhere.txt'"),
        (vec!["timeout", "-C", "1", "-E", "1", "--delays", "README.md"], "README.md:3:"),
        (vec!["timeout", "-C", "1", "-E", "1", "--trace", "README.md"], "line 1 of the trace"),
        (vec!["timeout", "-C", "1", "-E", "1", "--kind", "Ok"], "--trace"),
        (vec!["detectors", "psychic"], "phi-accrual"),
        (vec!["detectors", "-n", "1"], "from 2 to 200"),
        (vec!["detectors", "-n", "1000"], "from 2 to 200"),
        (vec!["detectors", "--seeds", "0"], "at least 1"),
        (vec!["detectors", "--until", "soon"], "--until"),
        (vec!["detectors", "-o", "phi-treshold=5"], "did you mean 'phi-threshold'?"),
        (vec!["detectors", "-o", "phi-threshold=0"], "from 1 to 100"),
        (vec!["detectors", "--crash", "9@1s"], "9"),
        (vec!["detectors", "--at", "1s elect 1"], "elect"),
        (vec!["detectors", "--loss", "200%"], "--loss"),
    ] {
        refuses(&arguments, said);
    }
    let empty = file("empty.txt", "# nothing\n");
    refuses(&["timeout", "-C", "1", "-E", "1", "--delays", &empty], "no delay in it");
}

#[test]
fn every_command_explains_itself_by_examples() {
    for command in ["quorum", "timeout", "detectors"] {
        let output = habemus(&[command, "--help"]);
        let help = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(help.contains("Examples:") && help.contains("Exit codes:"), "{help}");
    }
}

/// What the documentation shows is what the command says.
#[test]
fn the_tables_of_the_documentation_are_measured() {
    for (page, arguments) in [
        (
            "docs/detectors.md",
            vec!["detectors", "--latency", "log-normal 20ms 0.8", "--loss", "2%", "--seeds", "20"],
        ),
        ("docs/analysis.md", vec!["quorum", "--coordinators", "7", "--quorum", "4", "--failure", "1%"]),
        (
            "docs/analysis.md",
            vec!["timeout", "--mistake-cost", "100", "--waiting-cost", "5", "--delays", "log-normal 4ms 0.8"],
        ),
    ] {
        let (_, said) = says(&arguments);
        let path = root().join(page);
        let text = std::fs::read_to_string(&path).expect("the page is there");
        let quoted: Vec<String> = arguments
            .iter()
            .map(|word| if word.contains(' ') { format!("'{word}'") } else { (*word).to_owned() })
            .collect();
        let block = format!("$ habemus {}\n{said}", quoted.join(" "));
        if rewrites() {
            let begin =
                text.find(&format!("$ habemus {}\n", quoted.join(" "))).expect("the page shows the command");
            let end = begin + text[begin..].find("```").expect("the block ends");
            let rewritten = format!("{}{block}{}", &text[..begin], &text[end..]);
            std::fs::write(&path, rewritten).expect("the page can be written");
        } else {
            assert!(text.contains(&block), "{page} is out of date; rewrite with HABEMUS_REWRITE=1:\n{block}");
        }
    }
}

/// The picture, too.
#[test]
fn the_picture_of_the_documentation_is_what_the_command_draws() {
    let out = scratch("timeout-cost.svg").to_string_lossy().into_owned();
    says(&["timeout", "-C", "100", "-E", "5", "--delays", "log-normal 4ms 0.8", "--out", &out]);
    let drawn = std::fs::read_to_string(out).expect("it was drawn");
    compare(&drawn, "docs/images/timeout-cost.svg");
}

/// On real nodes each sender counts its own messages.
#[test]
fn messages_of_two_senders_with_the_same_number_are_two_delays() {
    let record = |at: u64, process: u64, event: &str, peer: &str| {
        let message = r#""message":0,"kind":"Election","label":"Election""#;
        let ms = at * 1_000_000;
        format!(r#"{{"at":{ms},"process":{process},"clock":{{}},"event":"{event}",{message},{peer}}}"#)
    };
    let header =
        r#"{"format":1,"algorithm":"bully","problem":"election","processes":[1,2],"topology":"complete"}"#;
    let lines = [
        header.to_owned(),
        record(1, 1, "send", r#""to":2"#),
        record(2, 2, "send", r#""to":1"#),
        record(4, 2, "deliver", r#""from":1"#),
        record(11, 1, "deliver", r#""from":2"#),
    ];
    let trace = file("two-senders.jsonl", &(lines.join("\n") + "\n"));
    let (code, text) =
        says(&["timeout", "--mistake-cost", "1", "--waiting-cost", "0.1/ms", "--trace", &trace]);
    assert!(code == 0 && text.contains("Delays: 2 messages"), "{text}");
    assert!(text.contains("Wait 3.0 ms."), "of 3 and 9 ms: {text}");
}
