//! Mutants that were tried.

use std::fmt::Write;

use habemus_check::mutants::Fate;
use owo_colors::OwoColorize;

use super::wrap;
use crate::commands::mutants::Tried;

const WIDTH: usize = 80;

pub(crate) fn mutants(tried: &[Tried]) -> String {
    let mut text = String::new();
    for of_one in tried.chunk_by(|one, other| one.algorithm == other.algorithm) {
        let count = |is_it: &dyn Fn(&Tried) -> bool| of_one.iter().filter(|tried| is_it(tried)).count();
        let caught = count(&|tried| matches!(tried.fate, Fate::Caught { .. }));
        let elsewhere = count(&|tried| tried.fate == Fate::Elsewhere);
        let same = count(&|tried| tried.fate == Fate::Same);
        let tolerated = count(&|tried| tried.fate == Fate::Tolerated);
        let explained = count(&|tried| tried.explanation.is_some());
        let undecided = count(&Tried::is_undecided);
        let unexplained = count(&Tried::is_unexplained);
        let mut counts = vec![format!("{caught} of {} caught", of_one.len())];
        for (count, what) in [
            (elsewhere, "by other tests"),
            (same, "never differ"),
            (tolerated, "only repeat"),
            (explained, "explained"),
            (undecided, "not decided"),
            (unexplained, "survive"),
        ] {
            counts.extend((count > 0).then(|| format!("{count} {what}")));
        }
        let name = &of_one[0].algorithm;
        text.push_str(&wrap(&format!("{name:<24}"), &counts.join(", "), WIDTH));
        for tried in of_one.iter().filter(|tried| tried.is_unexplained()) {
            let how = if tried.fate == Fate::Harmless { " (every run was covered)" } else { "" };
            text.push_str(&wrap("  @ ", &format!("{}{how}", tried.mutant), WIDTH).replacen(
                '@',
                &"✗".red().bold().to_string(),
                1,
            ));
        }
    }
    for tried in tried.iter().filter(|tried| tried.is_undecided()) {
        let said = format!("{}, {}: not noticed, and given up", tried.algorithm, tried.mutant);
        text.push_str(&wrap("? ", &said, WIDTH));
    }
    for tried in tried.iter().filter(|tried| tried.is_explained_in_vain()) {
        let said = format!("{}, {}: it is caught, and explained all the same", tried.algorithm, tried.mutant);
        text.push_str(&wrap("! ", &said, WIDTH));
    }
    let unexplained = tried.iter().filter(|tried| tried.is_unexplained()).count();
    let _ = writeln!(text, "\n{} mutants, {unexplained} survive without an explanation", tried.len());
    text
}
