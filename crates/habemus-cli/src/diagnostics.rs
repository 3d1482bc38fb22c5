//! How the errors of a scenario file are drawn: the line, and an arrow at the column.

use std::io::IsTerminal;

use miette::{Diagnostic, MietteHandlerOpts, ReportHandler};

/// Decides it for the whole program, once.
pub(crate) fn install() {
    // Only a second call could fail, and would change nothing.
    let _ = miette::set_hook(Box::new(handler));
}

/// A terminal gets lines that fit, but no word is broken: `file:line:column` is what editors and people
/// search for. A file or another program gets every sentence in one line, however long the file's path is,
/// and always the same characters, whatever the environment says of languages and terminals.
fn handler(_: &(dyn Diagnostic + 'static)) -> Box<dyn ReportHandler> {
    let options = MietteHandlerOpts::new().force_graphical(true).unicode(true).break_words(false);
    Box::new(options.wrap_lines(std::io::stderr().is_terminal()).build())
}
