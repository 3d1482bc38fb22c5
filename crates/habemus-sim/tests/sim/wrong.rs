//! Everything that is wrong with a file is said at once, at most one error for each cause.

use habemus_scenario::{ScenarioErrors, parse};
use habemus_sim::{wrong_besides, wrong_with};

use crate::exhibits::exhibits;
use crate::support::play;

/// All that is said of a file, without its name.
fn said(text: &str) -> Vec<String> {
    let lines = |errors: ScenarioErrors| {
        let lines = errors.iter().map(|error| error.to_string().trim_start_matches("f:").to_owned());
        lines.collect()
    };
    match parse("f", text) {
        Err(errors) => lines(wrong_besides(errors)),
        Ok(parsed) => wrong_with(&parsed).map(lines).unwrap_or_default(),
    }
}

#[test]
fn names_that_the_algorithm_does_not_have_are_all_told_at_once() {
    let text = r#"algorithm = "bully"
processes = 5
detector = "orakel"
topology = "rign"
script = ["100ms crash 2", "when 3 sends Okay: crash 3", "300ms elekt 4", "400ms elect 1"]
[options]
answer-timout = "1s"
coordinator-timeout = "banana"
[expect]
messages.Foo = 3
holds = ["E2", "E9"]
violates = ["E8"]
"#;
    let found = said(text);
    let places: Vec<&str> = found.iter().filter_map(|line| line.split(": ").next()).collect();
    let expected = ["3:12", "4:12", "5:42", "5:65", "7:1", "8:23", "10:10", "11:16", "12:13"];
    assert_eq!(places, expected, "{found:#?}");
}

#[test]
fn mistakes_of_form_do_not_hide_mistakes_of_names() {
    let text = r#"algorithm = "bulli"
processes = 5
seed = -1
script = ["20ms crush 2", "soon crash 2", "when 3 sends Okay: crash 3"]
[options]
answer-timout = "1s"
[expect]
leader = 9
holds = [7, "E9"]
"#;
    let found = said(text);
    let expected = [
        "1:13: unknown algorithm `bulli`: did you mean `bully`?",
        "3:8: expected an integer from 0 to 2^64 - 1, such as 7, found the integer -1",
        "4:17: unknown command `crush`: did you mean `crash`?",
        "4:28: expected a time such as `20ms`, or `when`, or `after`, found `soon`",
        "4:57: unknown kind of message `Okay`: did you mean `Ok`?",
        "6:1: unknown option `answer-timout`: did you mean `answer-timeout`?",
        "8:10: there is no process 9: the processes are 1..5",
        "9:10: expected a string, found the integer 7: write \"7\"",
        "9:13: unknown property `E9`",
    ];
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    for (line, expected) in found.iter().zip(expected) {
        assert!(line.starts_with(expected), "{line} is not: {expected}");
    }
}

#[test]
fn a_line_that_is_no_toml_does_not_hide_the_others_and_is_told_once() {
    let text = r#"algorithm = bully
processes = 0
seed = 3
seed = 4
title = "never closed
detector = none
[options]
variant = "odd"
[network]
loss = 2.0
"#;
    let found = said(text);
    let expected = [
        "1:13: expected a value, found `bully`: text must be in quotes",
        "2:13: a scenario needs at least one process, found 0",
        "4:1: the key `seed` is there twice",
        "5:22: expected a closing `\"`, found the end of the line",
        "6:12: expected a value, found `none`: text must be in quotes",
        "10:8: expected a probability such as \"1%\" or 0.01, found the number 2.0: write \"2.0%\"",
    ];
    assert_eq!(found, expected);
}

#[test]
fn what_is_missing_because_of_another_mistake_is_not_a_mistake_of_its_own() {
    // Not what the processes are: neither are five too few for the generals, nor is 9 not among them.
    let found =
        said("algorithm = \"byzantine-generals\"\nprocesses = -1\n[options]\nm = 3\n[expect]\nleader = 9\n");
    assert_eq!(found.len(), 1, "{found:#?}");
    // The model is not said right, so nobody says that another is needed.
    let found = said("algorithm = \"flood-set\"\nprocesses = 4\n[network]\nmodel = \"synchronos\"\n");
    assert_eq!(found.len(), 1, "{found:#?}");
    // Links make a topology of their own, and it is they that the algorithm cannot use.
    let found = said("algorithm = \"bully\"\nprocesses = 4\nlinks = [\"1-2\"]\n");
    assert_eq!(found.len(), 1, "{found:#?}");
    assert!(found[0].starts_with("3:1: the topology 'links' will not do"), "{found:#?}");
    // No algorithm is near: what its options are nobody knows.
    let found = said("algorithm = \"zzzzzzzz\"\nprocesses = 4\n[options]\nm = 3\n");
    assert_eq!(found.len(), 1, "{found:#?}");
}

#[test]
fn nothing_is_wrong_with_any_exhibit() {
    for file in exhibits() {
        let parsed = habemus_scenario::read(&file).unwrap_or_else(|error| panic!("{error}"));
        if let Some(errors) = wrong_with(&parsed) {
            panic!("{errors}");
        }
    }
}

#[test]
fn a_file_in_which_nobody_begins_says_how_to_begin() {
    let report = play(&parse("f", "algorithm = \"bully\"\nprocesses = 3\n").expect("it is right").scenario);
    let remark =
        "nothing happened, for nobody was told to begin: write for example script = [\"0ms elect 1\"]";
    assert_eq!(report.remarks, [remark]);
    let begun = "algorithm = \"bully\"\nprocesses = 3\nscript = [\"0ms elect 1\"]\n";
    assert!(play(&parse("f", begun).expect("it is right").scenario).remarks.is_empty());
}
