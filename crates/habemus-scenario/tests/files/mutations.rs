//! Whatever is in a file, reading it ends with a scenario or with errors that point into the file.

use crate::dice::Dice;
use habemus_scenario::{Processes, parse, script, to_toml, units};
use miette::{GraphicalReportHandler, GraphicalTheme};

/// Deletes, inserts, repeats and swaps a few pieces of a text.
fn mutated(text: &str, dice: &mut Dice) -> String {
    const PIECES: &[&str] = &[
        "\"",
        "'",
        "\"\"\"",
        "[",
        "]",
        "{",
        "}",
        "=",
        "\n",
        "\r\n",
        ",",
        "..",
        "-",
        "->",
        "|",
        ":",
        "%",
        ".",
        "0",
        "9",
        "18446744073709551615",
        "99999999999999999999",
        "-1",
        "nan",
        "inf",
        "1e400",
        "true",
        "\\",
        "\\u0041",
        "µ",
        "\u{feff}",
        "\0",
        "é",
        "#",
        "all",
        "anyone",
        "when",
        "1979-05-27",
        "0x",
        "_",
        "ms",
        "/s",
        " ",
    ];
    let mut letters: Vec<char> = text.chars().collect();
    for _ in 0..=dice.below(4) {
        let at = dice.below(letters.len() as u64 + 1) as usize;
        let end = (at + 1 + dice.below(6) as usize).min(letters.len());
        match dice.below(4) {
            0 => drop(letters.drain(at..end)),
            1 => drop(letters.splice(at..at, dice.pick(PIECES).chars())),
            2 => {
                let copy: Vec<char> = letters[at..end].to_vec();
                let to = dice.below(letters.len() as u64 + 1) as usize;
                letters.splice(to..to, copy);
            }
            _ => drop(letters.splice(at..end, dice.pick(PIECES).chars())),
        }
    }
    letters.into_iter().collect()
}

#[test]
fn no_file_makes_the_reader_panic() {
    let handler = GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor()).with_width(80);
    let mut dice = Dice::new(4);
    let mut right = 0;
    let blocks = crate::documentation::blocks();
    for round in 0..6000 {
        let file = mutated(dice.pick::<String>(&blocks), &mut dice);
        match parse("f.toml", &file) {
            Ok(parsed) => {
                right += 1;
                let written = to_toml(&parsed.scenario);
                let again = parse("again.toml", &written).map(|again| again.scenario);
                assert_eq!(again.ok().as_ref(), Some(&parsed.scenario), "{file}\n{written}");
            }
            Err(errors) => {
                for error in errors.iter() {
                    let span = error.span();
                    assert!(span.start <= span.end && span.end <= file.len(), "{error}: {span:?}\n{file}");
                    let start = format!("f.toml:{}:{}: ", error.line(), error.column());
                    assert!(error.to_string().starts_with(&start));
                    assert!(error.message().chars().count() < 250, "{error}");
                }
                if round % 20 == 0 {
                    let mut text = String::new();
                    handler.render_report(&mut text, &errors).expect("writing to a string does not fail");
                }
            }
        }
    }
    assert!(right > 100, "some mutations are harmless, else this tests only the first error: {right}");
}

#[test]
fn no_line_of_a_script_makes_the_reader_panic() {
    const LINES: &[&str] = &[
        "20ms crash 5",
        "0ms elect 1..3,5",
        "when 3 sends Ok for the 2nd time: recover 4 with amnesia",
        "1.5s slow 3 by 50ms",
        "2 min drift 3 by -5%",
        "5us cut 1-2, 3->4",
        "5ns partition 1,2 | 3..5",
        "5ms loss 12.5%",
        "when anyone suspects: suspect 5 by 2",
        "7ms restore 5 by 2",
        "8ms deliver 2nd 1->2",
        "9ms fire 2 Retry(3)",
    ];
    let ids = [1, 2, 3, 4, 5];
    let processes = Processes::new(&ids);
    let mut dice = Dice::new(5);
    for _ in 0..20_000 {
        let line = mutated(dice.pick::<&str>(LINES), &mut dice);
        if let Err(error) = script::parse_line(&line, &processes) {
            assert!(line.get(error.span.clone()).is_some(), "{line:?}: {error:?}");
        }
        if let Err(error) = script::parse_flag("crash", &line, &processes) {
            assert!(line.get(error.span.clone()).is_some(), "{line:?}: {error:?}");
        }
        let _ = script::parse_occasion(&line, &processes);
        let _ = units::parse_range(&line);
    }
}
