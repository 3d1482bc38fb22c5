//! What each command says by its exit code: the help and docs/verdicts.md have it from here.

use clap::Command;

/// What 0, 1, 2 and 3 mean, by command; where nothing is said, the command never ends so.
const EXIT_CODES: &[(&str, [&str; 4])] = &[
    ("list", ["shown", "", "bad input", ""]),
    ("exercise", ["shown, or solved", "not solved", "bad input", ""]),
    ("run", ["as expected", "not as expected", "bad input", "open: cut off too early, or interrupted"]),
    ("compare", ["both as expected", "one is not", "bad input", "open: cut off too early, or interrupted"]),
    ("sweep", ["all as expected", "some not", "bad input", "none failed, some are open; or interrupted"]),
    ("check", ["every checked property holds", "one is violated", "bad input", "incomplete, or interrupted"]),
    (
        "guarantees",
        [
            "every promise holds or is open, and all is as recorded",
            "a promise is broken inside its model, or something is not as recorded",
            "bad input",
            "interrupted",
        ],
    ),
    (
        "mutants",
        ["every mutant is caught, explained or given up", "some survive", "bad input", "interrupted"],
    ),
    ("errata", ["shown", "", "bad input", "interrupted"]),
    ("cost", ["theory holds", "a measured figure contradicts it", "bad input", "interrupted"]),
    ("detectors", ["measured", "", "bad input", "interrupted"]),
    ("timeout", ["found", "", "bad input", ""]),
    (
        "quorum",
        ["it holds", "target missed, or the samples contradict the formula", "bad input", "interrupted"],
    ),
    ("node", ["stopped as told", "could not go on", "bad input", ""]),
    ("cluster", ["as expected", "not as expected", "bad input", "open: cut off too early, or interrupted"]),
    ("certs", ["written", "", "bad input", ""]),
    ("demo", ["all is as it must be", "something is not", "bad input", "interrupted"]),
    ("lab", ["stopped as told", "could not go on", "bad input", ""]),
    ("serve", ["stopped as told", "could not go on", "bad input", ""]),
    ("lock", ["the program's own code; 123 to 127 see docs/service.md", "", "bad input", ""]),
    ("elect", ["the program's own code; 123 to 127 see docs/service.md", "", "bad input", ""]),
    ("semaphore", ["the program's own code; 123 to 127 see docs/service.md", "", "bad input", ""]),
    ("member", ["done; 125 not", "", "bad input", ""]),
    ("move-leader", ["done; 125 not", "", "bad input", ""]),
    ("backup", ["written; 125 the service does not answer", "the file cannot be written", "bad input", ""]),
    ("restore", ["made", "not made", "bad input", ""]),
    ("bench", ["measured; 125 the service does not answer", "", "bad input", ""]),
    ("locks", ["shown", "", "bad input", ""]),
    ("leader", ["somebody leads", "nobody leads", "bad input", ""]),
    ("status", ["every member answers", "some do not", "bad input", ""]),
    ("draw", ["drawn", "", "bad input", ""]),
    ("man", ["printed", "", "bad input", ""]),
    ("completions", ["printed", "", "bad input", ""]),
];

/// Tells the help of every command what its exit codes mean.
pub(crate) fn explain(mut command: Command) -> Command {
    for (name, meanings) in EXIT_CODES {
        // Nodes are there only if they were asked for.
        if command.find_subcommand(name).is_none() {
            continue;
        }
        command = command.mut_subcommand(name, |command| {
            let before = command.get_after_help().map(|help| format!("{help}\n\n")).unwrap_or_default();
            let said = meanings.iter().enumerate().filter(|(_, meaning)| !meaning.is_empty());
            let lines: Vec<String> = said.map(|(code, meaning)| format!("  {code}  {meaning}")).collect();
            command.after_help(format!("{before}Exit codes:\n{}", lines.join("\n")))
        });
    }
    command
}
