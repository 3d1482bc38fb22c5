//! Errata for a terminal, and as a page of the documentation.

use std::fmt::Write;

use habemus_check::CheckHandle;
use owo_colors::OwoColorize;

use super::evidence::{Exhibit, exhibits};
use super::{ERRATA, Erratum};
use crate::error::CliError;
use crate::show::wrap;

const WIDTH: usize = 80;
/// The page is wrapped as its neighbours are.
const PAGE: usize = 110;

/// One erratum for a terminal.
pub(crate) fn section(erratum: &Erratum, handle: &CheckHandle) -> Result<String, CliError> {
    let mut text = format!("{} · {}\n\n", erratum.title.cyan().bold(), erratum.notes);
    text.push_str(&wrap("says   ", erratum.says, WIDTH));
    text.push_str(&wrap("wrong  ", erratum.wrong, WIDTH));
    text.push_str(&wrap("cure   ", erratum.cure, WIDTH));
    for evidence in erratum.evidence {
        for exhibit in exhibits(evidence, handle)? {
            text.push('\n');
            match exhibit {
                Exhibit::Found { command, verdict, picture } => {
                    text.push_str(&wrap("$ ", &command, WIDTH));
                    if let Some(picture) = picture {
                        let _ = write!(text, "\n{picture}\n");
                    }
                    text.push_str(&wrap("", &verdict, WIDTH));
                }
                Exhibit::Counted { about, rows } => {
                    text.push_str(&wrap("", &format!("{about}:"), WIDTH));
                    for [kind, printed, corrected] in rows {
                        let _ = writeln!(text, "  {kind:<20} {printed:>12} {corrected:>12}");
                    }
                }
                Exhibit::Figures { command, rows, .. } => {
                    text.push_str(&wrap("$ ", &command, WIDTH));
                    for (what, figure) in rows {
                        let _ = writeln!(text, "  {what:<50} {figure:>12}");
                    }
                }
            }
        }
    }
    Ok(text)
}

/// All of them as a page in Markdown.
pub(crate) fn page(handle: &CheckHandle) -> Result<String, CliError> {
    let mut page = "# Errata of the lecture notes\n\n".to_owned();
    page.push_str(&wrap(
        "",
        "Where the notes' own listings are wrong or silent. Each literal version is kept as a variant beside \
            the \
         corrected one, and what is said here is shown each time that this page is made: by the model \
         checker with a \
         shortest run, or, where nothing is violated, by what was measured. `habemus errata` shows one of \
         them, \
         `habemus errata --page` makes this page, and a test compares the two. [Properties](properties.md) \
         says what E1 or \
         EM1 means, and who wrote the notes.",
        PAGE,
    ));
    for erratum in ERRATA {
        let _ = write!(
            page,
            "\n## {}\n\n{}, `habemus errata {}`:\n\n",
            erratum.title, erratum.notes, erratum.name
        );
        for line in wrap("", erratum.says, PAGE - 2).lines() {
            let _ = writeln!(page, "> {line}");
        }
        let _ = write!(page, "\n{}\n{}", wrap("", erratum.wrong, PAGE), wrap("", erratum.cure, PAGE));
        for evidence in erratum.evidence {
            for exhibit in exhibits(evidence, handle)? {
                page.push('\n');
                page.push_str(&in_markdown(exhibit));
            }
        }
    }
    Ok(page)
}

fn in_markdown(exhibit: Exhibit) -> String {
    match exhibit {
        Exhibit::Found { command, verdict, picture: Some(picture) } => {
            format!("`{command}`\n\n```\n{}\n```\n\n{}", picture.trim_end(), wrap("", &verdict, PAGE))
        }
        Exhibit::Found { command, verdict, picture: None } => {
            wrap("", &format!("{verdict} (`{command}`)"), PAGE)
        }
        Exhibit::Counted { about, rows } => {
            let mut text = format!("{about}:\n\n");
            for (index, [kind, printed, corrected]) in rows.into_iter().enumerate() {
                let _ = writeln!(text, "| {kind} | {printed} | {corrected} |");
                if index == 0 {
                    text.push_str("|---|---:|---:|\n");
                }
            }
            text
        }
        Exhibit::Figures { command, unit, rows } => {
            let mut text = format!("`{command}`\n\n| | {unit} |\n|---|---:|\n");
            for (what, figure) in rows {
                let _ = writeln!(text, "| {what} | {figure} |");
            }
            text
        }
    }
}
