//! What the command says depends on what it is asked, not on who asks from where.

use crate::support::{command, file, habemus, root};

/// A file with an error, in a folder whose path is long, has spaces, and is not ASCII.
fn far_away() -> String {
    let folder = "a folder with spaces/año/".repeat(6);
    file(&format!("{folder}far.toml"), "algorithm = \"buly\"\nprocesses = 3\n")
}

/// Without colours.
fn plain(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let mut parts = text.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |plain, part| plain + part.split_once('m').map_or(part, |(_, rest)| rest))
}

#[test]
fn terminal_language_and_home_change_nothing_that_another_program_reads() {
    let far = far_away();
    let asked = [
        vec!["list"],
        vec!["list", "bully"],
        vec!["run", "bully"],
        vec!["run", "bully", "--draw", "text"],
        vec!["run", "buly"],
        vec!["run", &far],
        vec!["guarantees", "--recorded"],
    ];
    let surroundings = [
        vec![("TERM", "dumb"), ("LANG", "C"), ("COLUMNS", "20"), ("NO_COLOR", "1")],
        vec![("TERM", "linux"), ("LC_ALL", "tr_TR.UTF-8"), ("COLUMNS", "500"), ("HOME", "/nonexistent")],
        vec![("TERM", "xterm-256color"), ("CLICOLOR_FORCE", "1"), ("FORCE_COLOR", "1"), ("NO_GRAPHICS", "1")],
    ];
    for arguments in asked {
        let bare = habemus(&arguments);
        for variables in &surroundings {
            let odd =
                command(&arguments).envs(variables.iter().copied()).output().expect("it can be started");
            assert_eq!(plain(&odd.stdout), plain(&bare.stdout), "{arguments:?} with {variables:?}");
            assert_eq!(plain(&odd.stderr), plain(&bare.stderr), "{arguments:?} with {variables:?}");
            assert_eq!(odd.status, bare.status);
        }
    }
}

#[test]
fn nothing_is_coloured_unless_somebody_insists() {
    let coloured = |variables: &[(&str, &str)]| {
        let output = command(&["run", "buly"]).envs(variables.iter().copied()).output();
        output.expect("it can be started").stderr.contains(&0x1b)
    };
    assert!(!coloured(&[]));
    assert!(!coloured(&[("TERM", "xterm-256color")]));
    assert!(coloured(&[("CLICOLOR_FORCE", "1")]));
}

#[test]
fn the_path_of_a_wrong_file_is_never_broken() {
    let far = far_away();
    let output = habemus(&["run", &far]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains(&format!("{far}:1:13: unknown algorithm `buly`")), "{errors}");
}

/// Whoever is root and says `--trace /dev/null` still has a `/dev/null` afterwards.
#[test]
fn what_is_no_file_is_written_to_and_not_replaced() {
    use std::os::unix::fs::FileTypeExt;
    let pipe = file("pipes/beside", "").replace("beside", "here");
    // One of an earlier run may still be there.
    drop(std::fs::remove_file(&pipe));
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().expect("there is mkfifo").success());
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || std::fs::read_to_string(pipe)
    });
    let ran = habemus(&["run", "bully", "--trace", &pipe]);
    assert!(ran.status.success(), "{}", plain(&ran.stderr));
    assert!(std::fs::symlink_metadata(&pipe).expect("it is there").file_type().is_fifo());
    let trace = reader.join().expect("it reads").expect("it is text");
    assert!(trace.lines().count() > 10, "{trace}");
}

#[test]
fn the_first_call_builds_with_nodes_only_for_commands_that_need_them() {
    let script = std::fs::read_to_string(root().join("habemus")).expect("the script is there");
    let line = script.lines().find(|line| line.trim_start().starts_with("node |")).expect("it lists them");
    let (names, _) = line.trim().split_once(')').expect("it is a case");
    let listed: Vec<&str> = names.split(" | ").filter(|name| !name.starts_with('-')).collect();
    let help = plain(&habemus(&["--help"]).stdout);
    for name in &listed {
        let shown = help.lines().any(|line| line.split_whitespace().next() == Some(name));
        assert!(shown, "there is no command {name}");
    }
    for name in ["node", "cluster", "certs", "completions", "man", "help"] {
        assert!(listed.contains(&name), "{name} needs what nodes need, or tells of it");
    }
}
