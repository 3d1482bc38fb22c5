//! The record of decisions: numbered without holes, dated, and reached by links that lead somewhere.

use crate::tree::{assert_none, files, root};

#[test]
fn decisions_are_numbered_without_holes_and_dated() {
    let mut wrong = Vec::new();
    for (index, file) in files("docs/decisions", ".md").iter().enumerate() {
        let number = index + 1;
        let name = file.path.trim_start_matches("docs/decisions/");
        let mut lines = file.text.lines();
        let (title, empty, date) = (lines.next(), lines.next(), lines.next());
        if !name.starts_with(&format!("{number:04}-")) {
            wrong.push(format!("{name} should be number {number}"));
        }
        if !title.is_some_and(|title| title.starts_with(&format!("# {number}. "))) {
            wrong.push(format!("{name} should begin with `# {number}. ` and its title"));
        }
        let date = date.and_then(|line| line.strip_prefix("*Decided on ")?.strip_suffix(".*"));
        let is_date = |date: &str| {
            let parts: Vec<&str> = date.split('-').collect();
            let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
            lengths == [4, 2, 2] && parts.iter().all(|part| part.bytes().all(|byte| byte.is_ascii_digit()))
        };
        if empty != Some("") || !date.is_some_and(is_date) {
            wrong.push(format!("{name} should have a line `*Decided on YYYY-MM-DD.*` under its title"));
        }
    }
    assert_none(&wrong);
}

#[test]
fn every_link_between_pages_and_files_leads_somewhere() {
    let mut wrong = Vec::new();
    for file in files("", ".md") {
        let folder = root().join(&file.path).parent().expect("a file is in a folder").to_owned();
        for (number, line) in file.lines() {
            for target in line.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
                let target = target.split('#').next().unwrap_or_default();
                let is_ours = !target.is_empty() && !target.contains("://") && !target.contains(' ');
                if is_ours && !folder.join(target).exists() {
                    wrong.push(format!("{}:{number}: there is no {target}", file.path));
                }
            }
        }
    }
    assert_none(&wrong);
}
