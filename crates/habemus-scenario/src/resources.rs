//! Locks with names: each is an instance of the algorithm of its own, over the same processes.
//!
//! Instances share processes, links and faults, and nothing else: what one lock does cannot be told from what
//! it would do alone. So a scenario with several names is one run for each of them.

use std::collections::BTreeSet;

use crate::scenario::{Action, Cue, Scenario};

/// The commands that take a name: `acquire orders by 3`.
const COMMANDS: [&str; 3] = ["acquire", "share", "release"];

/// Whether something can be the name of a lock: 1 to 64 letters, digits, hyphens and underscores.
pub fn is_name(name: &str) -> bool {
    let fine = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    (1..=64).contains(&name.len()) && name.bytes().all(fine)
}

/// The command and the name in `acquire orders`; a lock without a name has the empty one.
pub fn command_and_name(phrase: &str) -> (&str, &str) {
    match phrase.split_once(' ') {
        Some((command, name)) if COMMANDS.contains(&command) => (command, name.trim()),
        _ => (phrase, ""),
    }
}

impl Scenario {
    /// The names of all locks that clients or the script want: the empty one for the lock without a name.
    pub fn locks(&self) -> BTreeSet<String> {
        let mut locks: BTreeSet<String> = self.resources.iter().cloned().collect();
        let phrases = self.script.iter().filter_map(|cue| match &cue.action {
            Action::Command { word, .. } => Some(command_and_name(word).1.to_owned()),
            _ => None,
        });
        locks.extend(phrases);
        if locks.is_empty() {
            locks.insert(String::new());
        }
        locks
    }

    /// What the lock of this name sees of the scenario. It has draws of its own.
    pub fn about(&self, lock: &str) -> Scenario {
        let concerns = |cue: &Cue| match &cue.action {
            Action::Command { word, processes } => {
                let (command, name) = command_and_name(word);
                let action = Action::Command { word: command.to_owned(), processes: processes.clone() };
                (name == lock).then(|| Cue { action, ..cue.clone() })
            }
            _ => Some(cue.clone()),
        };
        let mut own = self.clone();
        own.script = self.script.iter().filter_map(concerns).collect();
        own.resources = Vec::new();
        if !self.resources.is_empty() && !self.resources.iter().any(|name| name == lock) {
            // Clients work on the resources that are listed; this one is only in the script.
            own.workload.iter_mut().for_each(|workload| workload.entries = 0);
        }
        own.seed = lock.bytes().fold(self.seed, |seed, byte| {
            (seed ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3).rotate_left(23)
        });
        own
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;

    fn scenario() -> Scenario {
        let text = r#"
            algorithm = "coordinator"
            processes = 3
            resources = ["orders", "stock"]
            script = ["1ms acquire stock by 2", "2ms acquire till by 1", "3ms crash 3"]
            [workload]
            entries = 4
        "#;
        parse("test.toml", text).unwrap_or_else(|errors| panic!("{errors}")).scenario
    }

    #[test]
    fn locks_are_those_of_the_clients_and_of_the_script() {
        assert_eq!(Vec::from_iter(scenario().locks()), ["orders", "stock", "till"]);
        assert_eq!(Vec::from_iter(Scenario::default().locks()), [""]);
    }

    #[test]
    fn each_lock_sees_its_own_commands_and_all_faults() {
        let words = |lock: &str| {
            let script = scenario().about(lock).script;
            script.iter().map(|cue| crate::script::show_action(&cue.action, &[1, 2, 3])).collect::<Vec<_>>()
        };
        assert_eq!(words("orders"), ["crash 3"]);
        assert_eq!(words("stock"), ["acquire 2", "crash 3"]);
        assert_eq!(words("till"), ["acquire 1", "crash 3"]);
    }

    #[test]
    fn clients_work_on_the_resources_that_are_listed() {
        let entries = |lock: &str| scenario().about(lock).workload.map(|workload| workload.entries);
        assert_eq!((entries("stock"), entries("till")), (Some(4), Some(0)));
    }

    #[test]
    fn each_lock_has_draws_of_its_own_and_the_lock_without_a_name_those_of_the_scenario() {
        let seed = |lock: &str| scenario().about(lock).seed;
        assert_eq!(seed(""), scenario().seed);
        assert!(seed("orders") != seed("stock") && seed("orders") != seed(""));
    }

    #[test]
    fn a_value_is_no_name() {
        assert_eq!(command_and_name("propose attack"), ("propose attack", ""));
        assert_eq!(command_and_name("acquire orders"), ("acquire", "orders"));
    }

    #[test]
    fn names_are_short_and_plain() {
        assert!(is_name("orders-2_b"));
        for bad in ["", "two words", "é", "a/b", &"x".repeat(65)] {
            assert!(!is_name(bad), "{bad}");
        }
    }
}
