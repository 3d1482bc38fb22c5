//! What is seen side by side: two algorithms, and the variables of processes beside their events.

use crate::support::{habemus, scratch};

fn output(arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = habemus(arguments);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

/// The two cells of the row with this label.
fn row(table: &str, label: &str) -> (String, String) {
    let line = table.lines().find(|line| line.starts_with(&format!("{label} "))).expect(label);
    let letters: Vec<char> = line.chars().collect();
    let cell = |from: usize, to: usize| {
        let letters = letters.iter().skip(from).take(to - from);
        letters.collect::<String>().trim().to_owned()
    };
    (cell(24, 52), cell(52, 80))
}

#[test]
fn two_algorithms_stand_side_by_side_with_the_figures_of_their_own_runs() {
    let (code, table, _) = output(&["compare", "chang-roberts", "bully", "-n", "8", "--seed", "3"]);
    assert_eq!(code, Some(0), "{table}");
    assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
    let alone = ["chang-roberts", "bully"].map(|algorithm| {
        let (_, report, _) = output(&["run", algorithm, "-n", "8", "--seed", "3", "--json"]);
        serde_json::from_str::<serde_json::Value>(&report).expect("it is JSON")
    });
    let figure = |at: usize, name: &str| alone[at]["statistics"][name].as_u64().expect(name);
    assert_eq!(
        row(&table, "messages"),
        (figure(0, "messages").to_string(), figure(1, "messages").to_string())
    );
    let bits = [0, 1].map(|at| (figure(at, "bytes") * 8).to_string().len());
    assert!(bits.iter().all(|digits| *digits >= 3));
    assert_eq!(row(&table, "leader"), ("8".to_owned(), "8".to_owned()));
    assert_eq!(row(&table, "uniqueness"), ("✓ promised".to_owned(), "✓ not promised".to_owned()));
    let (_, again, _) = output(&["compare", "chang-roberts", "bully", "-n", "8", "--seed", "3"]);
    assert_eq!(table, again, "a seed says everything");
}

#[test]
fn every_pair_of_one_problem_fits_and_pairs_of_two_problems_are_refused() {
    for pair in [["ricart-agrawala", "maekawa"], ["paxos", "flood-set"], ["capture-sync", "yo-yo"]] {
        let (code, table, errors) = output(&["compare", pair[0], pair[1], "-n", "4"]);
        assert_eq!(code, Some(0), "{table}{errors}");
        assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
    }
    let (code, _, errors) = output(&["compare", "bully", "coordinator"]);
    assert_eq!(code, Some(2));
    assert!(errors.contains("bully solves election, and coordinator solves mutual exclusion"), "{errors}");
}

/// Chang–Roberts has two variables, and every event of this run changes what its rules say.
#[test]
fn the_variables_that_a_step_changes_stand_below_it() {
    let trace = scratch("variables.jsonl");
    let path = trace.to_str().expect("the path is text");
    let (code, ..) = output(&["run", "chang-roberts", "--ids", "3,17,24", "--start", "17", "--trace", path]);
    assert_eq!(code, Some(0));
    let (code, text, errors) = output(&["draw", path, "--show", "state"]);
    assert_eq!(code, Some(0), "{errors}");
    let changes: Vec<&str> = text.lines().filter(|line| line.contains('=')).collect();
    assert_eq!(changes.len(), 6, "{text}");
    assert!(changes[..3].iter().all(|line| line.contains("≔ participant = true")), "{text}");
    assert!(changes[3..].iter().all(|line| line.contains("participant = false, elected = 24")), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let (_, plain, _) = output(&["draw", path]);
    assert!(!plain.contains('≔'), "only who asks for it sees it");
    for format in ["svg", "mermaid"] {
        let (code, picture, errors) = output(&["draw", path, "--show", "state", "--format", format]);
        assert_eq!(code, Some(0), "{errors}");
        assert_eq!(picture.matches("elected = 24").count(), 3, "{picture}");
    }
}

/// Ω does everything in the background, others nothing: whatever comes of a step, the picture says what it
/// changed.
#[test]
fn variables_are_shown_for_every_algorithm() {
    for entry in habemus::catalogue::ENTRIES {
        let name = entry.name;
        let trace = scratch(&format!("variables-{name}.jsonl"));
        let path = trace.to_str().expect("the path is text");
        let (code, report, errors) = output(&["run", name, "--trace", path, "--until", "2s"]);
        assert!(matches!(code, Some(0 | 3)), "{name}: {report}{errors}");
        for more in [&[][..], &["--background"]] {
            let (code, text, errors) = output(&[&["draw", path, "--show", "state"], more].concat());
            assert_eq!(code, Some(0), "{name}: {errors}");
            let shown = text.lines().filter(|line| line.contains('≔') && line.contains('=')).count();
            assert!(shown > 0, "{name} shows no variable:\n{text}");
            assert!(text.lines().all(|line| line.chars().count() <= 80), "{name}:\n{text}");
        }
    }
}

/// What cannot be repeated has no variables, and says so.
#[test]
fn a_trace_that_does_not_say_how_its_processes_were_made_has_no_variables() {
    let trace = scratch("no-variables.jsonl");
    let header =
        r#"{"format":1,"algorithm":"bully","problem":"election","processes":[1,2],"topology":"complete"}"#;
    std::fs::write(&trace, format!("{header}\n")).expect("the directory is writable");
    let (code, _, errors) = output(&["draw", trace.to_str().expect("the path is text"), "--show", "state"]);
    assert_eq!(code, Some(2), "{errors}");
    assert!(errors.contains("does not say how its processes were made"), "{errors}");
}
