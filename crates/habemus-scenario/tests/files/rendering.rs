//! What people see when a file is wrong.

use habemus_scenario::parse;
use miette::{Diagnostic, GraphicalReportHandler, GraphicalTheme};

use crate::documentation;

fn rendered(diagnostic: &dyn Diagnostic) -> String {
    let mut text = String::new();
    GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor())
        .with_width(80)
        .render_report(&mut text, diagnostic)
        .expect("writing to a string does not fail");
    text
}

#[test]
fn one_error_shows_its_line_as_in_the_documentation() {
    let example = documentation::blocks().into_iter().find(|block| block.contains("2 enters"));
    let wrong = example.expect("the page has this example").replace("2 enters", "2 entres");
    let errors = parse("slow-holder.toml", &wrong).expect_err("nobody entres");
    let page = documentation::page();
    let shown = page.split("```text\n").nth(1).and_then(|rest| rest.split("```").next());
    assert_eq!(Some(rendered(&errors).as_str()), shown);
}

#[test]
fn several_errors_are_shown_one_after_the_other() {
    let file = "algorithm = \"bully\"\nids = [3, 17, 3]\nseed = 7\n\n[network]\ngst = \"1s\"\n";
    let errors = parse("bully.toml", file).expect_err("two things are wrong");
    let expected = "  × bully.toml:2:15: the identifier 3 is there twice (and 1 more error)
   ╭─[bully.toml:2:15]
 1 │ algorithm = \"bully\"
 2 │ ids = [3, 17, 3]
   ·        ┬      ─
   ·        ╰── the first time
 3 │ seed = 7
   ╰────

Error: \n  × bully.toml:6:1: `gst` means nothing in an asynchronous network
   ╭─[bully.toml:6:1]
 5 │ [network]
 6 │ gst = \"1s\"
   · ───
   ╰────
  help: it belongs to `model = \"partially-synchronous\"`
";
    assert_eq!(rendered(&errors).trim_end(), expected.trim_end());
}
