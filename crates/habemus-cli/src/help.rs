//! What whoever types `habemus` alone reads, and the commands in groups.

use std::fmt::Write;

use clap::Command;

/// What it is and what to try, in twelve lines, for both kinds of people.
pub(crate) const FRONT_PAGE: &str = "\
habemus: leader election and mutual exclusion to watch, to prove, and to rely on

  habemus demo                    the whole story in ten seconds
I want to understand:
  habemus lab                     see algorithms run, and break them by hand
  habemus list                    the algorithms; list EM1 says what EM1 is
  habemus run bully --draw text   watch one; check bully: every run there is
I need one leader:
  habemus serve                   locks and elections, for any language
  habemus lock NAME -- PROGRAM    a program that runs in one place at a time

habemus help shows all commands, and habemus COMMAND --help all about one.
";

/// The commands by what they are for. Those about nodes are there only if they were asked for.
const GROUPS: [(&str, &[&str]); 6] = [
    ("Watch", &["run", "sweep", "draw", "cluster", "node", "certs"]),
    ("Prove", &["check", "guarantees", "errata", "mutants"]),
    ("Run", &["demo", "serve", "lock", "semaphore", "elect", "leader", "locks", "status"]),
    ("Operate", &["member", "move-leader", "backup", "restore", "bench"]),
    ("Lab", &["lab"]),
    ("Learn", &["list", "exercise", "compare", "cost", "quorum", "timeout", "detectors"]),
];

/// Commands about the command itself.
const REST: (&str, &[&str]) = ("Besides", &["completions", "man", "help"]);

/// Shows the commands in groups.
pub(crate) fn grouped(command: Command) -> Command {
    let mut groups = String::new();
    for (title, names) in GROUPS.iter().chain([&REST]) {
        let mut lines = String::new();
        for name in *names {
            let about = match command.find_subcommand(name).and_then(Command::get_about) {
                Some(about) => about.to_string(),
                None if *name == "help" => "Show this, or all about one command".to_owned(),
                None => continue,
            };
            let _ = writeln!(lines, "  {name:<12} {}", about.trim_end_matches('.'));
        }
        if !lines.is_empty() {
            let _ = write!(groups, "{title}:\n{lines}\n");
        }
    }
    command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}Options:\n{{options}}{{after-help}}"
    ))
}

/// The first of the examples in a command's help that calls this command itself.
pub(crate) fn example(command: &Command, name: &str) -> Option<String> {
    let help = command.find_subcommand(name)?.get_after_help()?.to_string();
    let call = format!("habemus {name} ");
    help.lines().map(str::trim).find(|line| line.starts_with(&call)).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::Habemus;

    #[test]
    fn every_command_is_in_one_group() {
        let all: Vec<&str> = GROUPS.iter().chain([&REST]).flat_map(|(_, names)| *names).copied().collect();
        let command = Habemus::command();
        for known in command.get_subcommands().filter(|known| !known.is_hide_set()) {
            let times = all.iter().filter(|name| **name == known.get_name()).count();
            assert_eq!(times, 1, "{}", known.get_name());
        }
    }

    #[test]
    fn the_front_page_has_twelve_lines_of_eighty_columns() {
        assert_eq!(FRONT_PAGE.lines().count(), 12);
        assert!(FRONT_PAGE.lines().all(|line| line.chars().count() <= 80), "{FRONT_PAGE}");
    }
}
