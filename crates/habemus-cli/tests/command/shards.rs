//! Sweeps in parts: several processes play them, one puts them together.

use crate::support::{command, file, habemus, scratch};

fn json(arguments: &[&str]) -> serde_json::Value {
    let output = habemus(arguments);
    let errors = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{arguments:?}: {errors}"))
}

/// Plays the parts of a sweep, each in a process of its own and all at once; gives their files.
fn play(name: &str, sweep: &[&str], of: usize) -> Vec<String> {
    let path = |number: usize| scratch(&format!("{name}-{number}.json")).to_string_lossy().into_owned();
    let start = |number: usize| {
        let (part, file) = (format!("{number}/{of}"), path(number));
        let arguments = [&["sweep"], sweep, &["--shard", &part, "--out", &file]].concat();
        let mut command = command(&arguments);
        command.stdout(std::process::Stdio::null()).spawn().expect("the command can be started")
    };
    let mut children: Vec<std::process::Child> = (1..=of).map(start).collect();
    children.iter_mut().for_each(|child| {
        child.wait().expect("it ends");
    });
    (1..=of).map(path).collect()
}

fn merge<'a>(files: impl IntoIterator<Item = &'a String>, more: &[&str]) -> std::process::Output {
    let files: Vec<&str> = files.into_iter().map(String::as_str).collect();
    habemus(&[&["sweep", "--merge"], files.as_slice(), more].concat())
}

/// What fails under some seeds.
const MUTANT: &[&str] =
    &["majority", "-n", "4", "--partition-rate", "2/s", "-o", "variant=mutant-half-quorum"];

#[test]
fn the_parts_of_a_sweep_add_up_to_the_sweep() {
    let failing = [MUTANT, &["--seeds", "40"]].concat();
    for (name, sweep) in [("one", &failing[..]), ("all", &["coordinator", "--all", "--seeds", "9"])] {
        let files = play(name, sweep, 3);
        let whole = json(&[&["sweep"], sweep, &["--json", "--no-shrink"]].concat());
        let merged = merge(files.iter().rev(), &["--json", "--no-shrink"]);
        let merged: serde_json::Value = serde_json::from_slice(&merged.stdout).expect("it is JSON");
        assert_eq!(merged, whole, "{name}");
    }
}

#[test]
fn what_failed_in_a_part_is_shrunk_when_the_parts_are_put_together() {
    let failing = [MUTANT, &["--seeds", "20"]].concat();
    let files = play("shrunk", &failing, 2);
    let out = scratch("shrunk.toml").to_string_lossy().into_owned();
    let output = merge(&files, &["--out", &out]);
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(habemus(&["run", &out]).status.code(), Some(1));
}

#[test]
fn missing_parts_are_named_and_doubled_and_foreign_ones_refused() {
    let files = play("few", &["bully", "--seeds", "6"], 3);
    let output = merge(&files[..2], &[]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.code() == Some(3) && text.contains("these parts are missing: 3"), "{text}");
    let refuses = |files: &[&String], said: &str| {
        let output = merge(files.iter().copied(), &[]);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && errors.contains(said), "{errors}");
    };
    refuses(&[&files[0], &files[1], &files[0]], "both part 1");
    let others = play("others", &["bully", "--seeds", "6", "-n", "3"], 3);
    refuses(&[&files[0], &others[1]], "they differ in the scenario of bully");
    let more = play("more", &["bully", "--seeds", "7"], 3);
    refuses(&[&files[0], &more[1]], "they differ in the seeds of bully");
    refuses(&[&file("no-part.json", "{}")], "this is no part of a sweep");
    for wrong in ["0/3", "4/3", "3", "a/b", "1/0"] {
        let output = habemus(&["sweep", "bully", "--shard", wrong]);
        assert_eq!(output.status.code(), Some(2), "{wrong}");
    }
}

#[test]
fn a_sweep_of_all_faults_begins_with_the_seed_that_is_named_and_refuses_what_it_decides_itself() {
    for seed in [1, 423] {
        let (file, seed) = (scratch("first-seed.json").to_string_lossy().into_owned(), seed.to_string());
        let sweep =
            ["sweep", "omega", "--all", "--seeds", "2", "--seed", &seed, "--shard", "1/1", "--out", &file];
        assert_eq!(habemus(&sweep).status.code(), Some(0));
        let text = std::fs::read_to_string(&file).expect("it was written");
        let part: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
        assert_eq!(part["cases"][0]["seeds"]["first"].to_string(), seed);
    }
    for flags in [&["-n", "7"][..], &["--crash-rate", "2/s"], &["-o", "wins=lowest"], &["--within", "1s"]] {
        let output = habemus(&[&["sweep", "bully", "--all", "--seeds", "1"], flags].concat());
        assert_eq!(output.status.code(), Some(2), "{flags:?}");
    }
}
