//! Every mutant is caught, by a model in which the algorithm itself is not.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

use habemus::catalogue::{self, ENTRIES, Entry, VariantKind};
use habemus_check::CheckVerdict;
use habemus_check::guarantees::PROBLEMS;
use habemus_check::mutants::{ELSEWHERE, Explanation, Fate, Planted, Subject, explanations, planted};

/// The mutants among the variants of an algorithm.
fn mutants(entry: &Entry) -> Vec<&'static str> {
    let mutants = entry.variants().iter().filter(|variant| variant.kind == VariantKind::Mutant);
    mutants.map(|variant| variant.name).collect()
}

#[test]
fn every_mutant_is_caught_where_the_algorithm_itself_is_not() {
    let mut caught = BTreeSet::from(ELSEWHERE);
    for Planted { mutant, property, model } in planted() {
        let algorithm = model.algorithm;
        let model = model.property(property);
        let broken = model.clone().option("variant", mutant).check().expect("the model makes sense");
        let line = broken.property(property).expect("it was asked for");
        assert_eq!(line.verdict, CheckVerdict::Violated, "{} {mutant} {property}", model.algorithm);
        assert!(line.counterexample.is_some() && line.explanation.is_some(), "{mutant}");
        // The algorithm itself is not to blame, as far as a test has time to see.
        let sound = model.with(|setting| setting.max_states = Some(20_000)).check();
        let sound = sound.expect("the model makes sense");
        assert!(sound.holds(), "{sound:#?}");
        caught.insert((algorithm, mutant));
    }
    for entry in ENTRIES.iter().filter(|entry| PROBLEMS.contains(&entry.problem)) {
        for mutant in mutants(entry) {
            assert!(caught.contains(&(entry.name, mutant)), "nothing catches {} {mutant}", entry.name);
        }
    }
}

/// The generated mutants that are tried here: every so many of these algorithms, each in models of so many
/// states. The command `habemus mutants` tries all of them in larger ones.
const SAMPLE: [(&str, usize); 10] = [
    ("all-to-all", 3),
    ("chang-roberts", 6),
    ("capture-sync", 6),
    ("token-ring", 9),
    ("coordinator", 12),
    ("ricart-agrawala", 5),
    ("suzuki-kasami", 7),
    ("raymond", 7),
    ("flood-set", 5),
    ("paxos", 15),
];
const STATES: u64 = 600;

#[test]
fn a_sample_of_broken_rules_is_noticed_as_it_is_on_record() {
    let mut text = String::new();
    for (name, every) in SAMPLE {
        let entry = catalogue::entry(name).expect("it is in the catalogue");
        let subject = Subject::new(entry, STATES);
        for mutant in subject.mutants().iter().step_by(every) {
            let fate = match subject.try_mutant(mutant) {
                Fate::Caught { by, .. } => format!("caught by {by}"),
                Fate::Same => "never differs".to_owned(),
                Fate::Tolerated => "only repeats".to_owned(),
                Fate::Harmless => "harmless in every run".to_owned(),
                Fate::Survived | Fate::Undecided => "not noticed in so few states".to_owned(),
                Fate::Elsewhere => unreachable!("it was generated"),
            };
            let _ = writeln!(text, "{name} | {mutant} | {fate}");
        }
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/check/mutants.txt");
    if std::env::var_os("HABEMUS_REWRITE").is_some() {
        std::fs::write(path, &text).expect("the file can be written");
    }
    let kept = std::fs::read_to_string(path).expect("the file is kept");
    let lines = || kept.lines().zip(text.lines());
    let different: Vec<_> = lines().filter(|(kept, now)| kept != now).collect();
    assert!(kept == text, "HABEMUS_REWRITE=1 renews the file; what differs: {different:#?}");
}

/// The text of all files in a directory and below.
fn sources(directory: &Path) -> String {
    let mut text = String::new();
    for file in std::fs::read_dir(directory).expect("the directory is kept") {
        let path = file.expect("it can be read").path();
        if path.is_dir() {
            text += &sources(&path);
        } else {
            text += &std::fs::read_to_string(&path).expect("it is text");
        }
    }
    text
}

#[test]
fn explanations_are_of_mutants_of_algorithms_that_are_there() {
    let sources = sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../habemus/src"));
    let mut seen = BTreeSet::new();
    for Explanation { algorithm, mutant, reason } in explanations() {
        assert!(catalogue::entry(algorithm).is_ok(), "{algorithm} | {mutant}");
        assert!(!reason.is_empty() && mutant.starts_with("at "), "{algorithm} | {mutant}");
        assert!(seen.insert((algorithm, mutant)), "{algorithm} | {mutant} is explained twice");
        // What a unit test sees is a reason only for as long as there is the test.
        for test in reason.split('`').skip(1).step_by(2) {
            assert!(sources.contains(&format!("fn {test}() {{")), "{algorithm} | {mutant}: where is {test}?");
        }
    }
    // The list of files is written by hand.
    let files = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/survivors"));
    for file in files.expect("the directory is kept") {
        let path = file.expect("it can be read").path();
        let algorithm = path.file_stem().and_then(|name| name.to_str()).expect("it is ASCII");
        let is_empty = std::fs::read_to_string(&path).expect("it can be read").is_empty();
        let is_known = seen.iter().any(|(known, _)| *known == algorithm);
        assert!(is_empty || is_known, "nothing is read of {}", path.display());
    }
}
