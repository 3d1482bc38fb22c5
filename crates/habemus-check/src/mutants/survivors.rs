//! Survivors that need not be caught, and why: in `survivors/`, a file for each algorithm.

/// A mutant that nobody need notice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The algorithm.
    pub algorithm: &'static str,
    /// The mutant, by name.
    pub mutant: &'static str,
    /// Why.
    pub reason: String,
}

/// The files of these algorithms.
macro_rules! survivors {
    ($($algorithm:literal,)+) => {
        [$(($algorithm, include_str!(concat!("../../survivors/", $algorithm, ".txt")))),+]
    };
}

const SURVIVORS: &[(&str, &str)] = &survivors![
    "all-to-all",
    "anonymous-ring",
    "bully",
    "byzantine-generals",
    "capture-async",
    "capture-sync",
    "chang-roberts",
    "collecting-ring",
    "coordinator",
    "dolev-klawe-rodeh",
    "elected-coordinator",
    "flood-set",
    "franklin",
    "hirschberg-sinclair",
    "interactive-consistency",
    "itai-rodeh",
    "lamport",
    "large-group",
    "maekawa",
    "majority",
    "omega",
    "paxos",
    "quorum",
    "raymond",
    "ricart-agrawala",
    "service",
    "signed-generals",
    "stable",
    "suzuki-kasami",
    "token-ring",
    "yo-yo",
];

/// Survivors that need not be caught. In a file, lines with `#` give the reason of all mutants below them.
pub fn explanations() -> Vec<Explanation> {
    let mut explanations = Vec::new();
    for &(algorithm, text) in SURVIVORS {
        let (mut reason, mut is_begun) = (String::new(), false);
        for line in text.lines().filter(|line| !line.is_empty()) {
            match line.strip_prefix("# ") {
                Some(more) if is_begun => reason = format!("{reason} {more}"),
                Some(why) => reason = why.to_owned(),
                None => {
                    let reason = reason.clone();
                    explanations.push(Explanation { algorithm, mutant: line, reason });
                }
            }
            is_begun = line.starts_with('#');
        }
    }
    explanations
}
