//! What is wrong with a line of the script.

use habemus_scenario::parse;

use super::{error, errors};

/// The one error of a line of a script, which begins at line 3, column 12.
fn script_error(line: &str) -> String {
    error(&format!("script = [\"{line}\"]"))
}

#[test]
fn the_script_as_a_whole() {
    assert_eq!(
        error("script = \"1ms crash 1\""),
        "f.toml:3:10: expected a list of lines such as [\"20ms crash 5\"], found the string \"1ms crash 1\""
    );
    assert_eq!(
        error("script = [20]"),
        "f.toml:3:11: expected a line such as \"20ms crash 5\", found the integer 20"
    );
    let naming_too_many = "algorithm = \"x\"\nprocesses = 10_000_000\nscript = [\n".to_owned()
        + &"\"0ms elect all\",\n".repeat(7)
        + "]";
    assert_eq!(
        errors(&naming_too_many),
        ["f.toml:9:1: the script names more than 50000000 processes up to here"]
    );
}

#[test]
fn occasions() {
    assert_eq!(script_error(""), "f.toml:3:12: expected a time such as `20ms`, or `when`, or `after`, found \
        nothing");
    assert_eq!(
        script_error("crash 5"),
        "f.toml:3:12: expected a time such as `20ms`, or `when`, or `after`, found `crash`"
    );
    assert_eq!(
        script_error("at 5ms crash 5"),
        "f.toml:3:12: expected a time such as `20ms`, or `when`, or `after`, found `at`"
    );
    assert_eq!(
        script_error("20 crash 5"),
        "f.toml:3:12: expected a duration such as `20ms`, found `20`, which has no unit: write `20ms`"
    );
    assert_eq!(script_error("-5ms crash 5"), "f.toml:3:12: a duration cannot be negative, found `-5ms`");
    assert_eq!(
        script_error("5 sec crash 5"),
        "f.toml:3:12: expected a duration such as `20ms`, found `5`, which has no unit: write `5ms`"
    );
    assert_eq!(
        script_error("20ms: crash 5"),
        "f.toml:3:16: expected an action right after the time, found `:`"
    );
    assert_eq!(
        script_error("when 9 leads: crash 5"),
        "f.toml:3:17: there is no process 9: the processes are 1..5"
    );
    assert_eq!(
        script_error("when leader leads: crash 5"),
        "f.toml:3:17: expected a process such as `3`, or `anyone`, found `leader`"
    );
    assert_eq!(
        script_error("when 3 leeds: crash 5"),
        "f.toml:3:19: unknown event `leeds`: did you mean `leads`?"
    );
    assert_eq!(
        script_error("when 3 explodes: crash 5"),
        "f.toml:3:19: expected something that happens, such as `sends Election` or `leads`, found `explodes`"
    );
    assert_eq!(
        script_error("when 3 sends: crash 5"),
        "f.toml:3:24: expected a kind of message such as `Election`, found `:`"
    );
    assert_eq!(
        script_error("when 3 leads crash 5"),
        "f.toml:3:25: expected a colon and an action, as in `when 3 sends Ok: crash 3`, found `crash`"
    );
    assert_eq!(
        script_error("when 3 leads for the second time: crash 5"),
        "f.toml:3:33: expected which time, such as `1st`, `2nd`, `3rd` or `4th`, found `second`"
    );
    assert_eq!(
        script_error("when 3 leads for the 0th time: crash 5"),
        "f.toml:3:33: expected which time, such as `1st`, `2nd`, `3rd` or `4th`, found `0th`"
    );
    assert_eq!(
        script_error("when 3 leads for 2nd time: crash 5"),
        "f.toml:3:29: expected `the` as in `when 3 sends Ok for the 2nd time: crash 3`, found `2nd`"
    );
}

#[test]
fn actions() {
    let action = |action: &str| script_error(&format!("5ms {action}"));
    assert_eq!(action(""), "f.toml:3:15: expected an action such as `crash 5` or `elect 4`, found nothing");
    assert_eq!(action("5"), "f.toml:3:16: expected an action such as `crash 5` or `elect 4`, found `5`");
    assert_eq!(
        action("crash"),
        "f.toml:3:21: expected processes such as `1,3`, `1..4` or `all`, found nothing"
    );
    assert_eq!(
        action("crash it"),
        "f.toml:3:22: expected processes such as `1,3`, `1..4` or `all`, found `it`"
    );
    assert_eq!(action("crash 1,7"), "f.toml:3:24: there is no process 7: the processes are 1..5");
    assert_eq!(action("crash 1..7"), "f.toml:3:25: there is no process 7: the processes are 1..5");
    assert_eq!(action("crash 1,"), "f.toml:3:24: expected a process after the comma, found nothing");
    assert_eq!(action("crash 1.."), "f.toml:3:25: expected the last process of the range, found nothing");
    assert_eq!(action("crash 1 2"), "f.toml:3:24: expected nothing more after `5ms crash 1`, found `2`");
    assert_eq!(action("crash 1..3,2"), "f.toml:3:27: process 2 is named twice");
    assert_eq!(
        action("recover 1 with care"),
        "f.toml:3:31: expected `amnesia` as in `recover 5 with amnesia`, found `care`"
    );
    assert_eq!(action("slow 3"), "f.toml:3:22: expected `by` as in `slow 3 by 50ms`, found nothing");
    assert_eq!(
        action("slow 3 by 50"),
        "f.toml:3:26: expected a duration such as `20ms`, found `50`, which has no unit: write `50ms`"
    );
    assert_eq!(
        action("drift 3 by -5"),
        "f.toml:3:27: expected a percentage such as `10%` or `-5%`, found `-5`: write `-5%`"
    );
    assert_eq!(action("cut 1-2, 2->1"), "f.toml:3:25: the link from 2 to 1 is named twice");
    assert_eq!(
        action("cut 1"),
        "f.toml:3:21: expected `-` or `->` after 1, as in `1-2` or `1->2`, found nothing"
    );
    assert_eq!(action("heal one"), "f.toml:3:21: expected a link such as `1-2` or `1->2`, found `one`");
    assert_eq!(action("partition 1,2 | 2,3"), "f.toml:3:32: process 2 is named twice");
    assert_eq!(
        action("partition 1,2 |"),
        "f.toml:3:31: expected processes such as `1,3`, `1..4` or `all`, found nothing"
    );
    assert_eq!(action("loss 500%"), "f.toml:3:21: a probability is at most 100%, found `500%`");
    assert_eq!(action("suspect 5 by 5"), "f.toml:3:29: no process suspects itself");
    assert_eq!(action("restore 5 by 5"), "f.toml:3:29: no process suspects itself");
    assert_eq!(
        action("deliver 1-2"),
        "f.toml:3:24: a message goes one way: write for example `deliver 1->2`"
    );
    assert_eq!(action("lose 0th 1->2"), "f.toml:3:21: expected a link such as `1-2` or `1->2`, found `0th`");
    assert_eq!(
        action("fire 2"),
        "f.toml:3:22: expected a timer, as traces show it: `fire 2 NoAnswer`, found nothing"
    );
    assert_eq!(action("slwo 3 by 50ms"), "f.toml:3:16: unknown action `slwo`: did you mean `slow`?");
    assert_eq!(action("hael"), "f.toml:3:16: unknown action `hael`: did you mean `heal`?");
    assert_eq!(action("elect 9"), "f.toml:3:22: there is no process 9: the processes are 1..5");
    assert_eq!(
        action("elect"),
        "f.toml:3:21: expected processes such as `1,3`, `1..4` or `all`, found nothing"
    );
}

#[test]
fn an_error_in_a_string_with_escapes_points_at_the_string() {
    assert_eq!(
        error("script = [\"5ms \\u0063rash 9\"]"),
        "f.toml:3:11: there is no process 9: the processes are 1..5"
    );
    assert_eq!(
        error("script = [\"\"\"\n5ms crash 9\"\"\"]"),
        "f.toml:4:11: there is no process 9: the processes are 1..5"
    );
    assert_eq!(
        error("script = ['5ms crash 9']"),
        "f.toml:3:22: there is no process 9: the processes are 1..5"
    );
}

#[test]
fn an_unknown_command_resembles_a_fault_or_nothing() {
    let file = "algorithm = \"x\"\nprocesses = 2\nscript = [\"1ms crsh 1\", \"1ms juggle 2\"]";
    let parsed = parse("f.toml", file).expect("commands are not known here");
    let unknown = parsed.unknown_commands(&[]);
    let text: Vec<String> = unknown.iter().map(ToString::to_string).collect();
    assert_eq!(
        text,
        ["f.toml:3:16: unknown action `crsh`: did you mean `crash`?", "f.toml:3:30: unknown action `juggle`"]
    );
    assert_eq!(unknown[0].help_text(), Some("the algorithm takes no commands"));
}
