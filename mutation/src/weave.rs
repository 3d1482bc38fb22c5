//! A source in which every mutant is present, and at most one of them awake.

use std::ops::Range;

use crate::sites::{Form, Site};

/// A mutant: where it is, and what it does.
#[derive(Clone, Debug)]
pub struct Mutant {
    /// Counted from 1.
    pub number: u32,
    pub file: String,
    pub line: usize,
    pub function: String,
    pub before: String,
    pub after: String,
    /// Of how many alike in the function it is which.
    pub occurrence: usize,
}

impl Mutant {
    /// What names it as long as its function is not rewritten: no number of a line.
    pub fn key(&self) -> String {
        let squeeze = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let occurrence =
            if self.occurrence == 0 { String::new() } else { format!(" #{}", self.occurrence + 1) };
        let after = if self.after.is_empty() { "(nothing)".to_owned() } else { squeeze(&self.after) };
        format!("{} | {} | {} => {after}{occurrence}", self.file, self.function, squeeze(&self.before))
    }
}

/// A woven source, and where in it each mutant is.
pub struct Woven {
    pub text: String,
    /// Where the text of a mutant is, and its number.
    pub places: Vec<(Range<usize>, u32)>,
}

/// Gives numbers to the mutants of a file.
pub fn number(file: &str, text: &str, sites: &[Site], first: u32) -> Vec<Mutant> {
    let mut mutants: Vec<Mutant> = Vec::new();
    for site in sites {
        for after in &site.alternatives {
            let before = text[site.range.clone()].to_owned();
            let alike = |other: &&Mutant| {
                (&other.function, &other.before, &other.after) == (&site.function, &before, after)
            };
            mutants.push(Mutant {
                number: first + mutants.len() as u32,
                file: file.to_owned(),
                line: text[..site.range.start].matches('\n').count() + 1,
                function: site.function.clone(),
                occurrence: mutants.iter().filter(alike).count(),
                before,
                after: after.clone(),
            });
        }
    }
    mutants
}

/// Weaves the mutants of a file into it, but for those that do not compile.
pub fn weave(text: &str, sites: &[Site], first: u32, left_out: &[u32]) -> Woven {
    let mut number = first;
    let mut numbered: Vec<(&Site, Vec<(u32, &str)>)> = Vec::new();
    for site in sites {
        let mut alternatives = Vec::new();
        for after in &site.alternatives {
            if !left_out.contains(&number) {
                alternatives.push((number, &**after));
            }
            number += 1;
        }
        numbered.push((site, alternatives));
    }
    // The outermost come first, and of those at the same place statements.
    numbered.sort_by_key(|(site, _)| {
        (site.range.start, std::cmp::Reverse(site.range.end), site.form == Form::Expression)
    });
    let mut weaver = Weaver { source: text, woven: Woven { text: String::new(), places: Vec::new() } };
    weaver.region(0..text.len(), &numbered);
    weaver.woven
}

struct Weaver<'a> {
    source: &'a str,
    woven: Woven,
}

impl Weaver<'_> {
    /// A part of the source with the sites in it.
    fn region(&mut self, range: Range<usize>, sites: &[(&Site, Vec<(u32, &str)>)]) {
        let (mut at, mut index) = (range.start, 0);
        while let Some((site, alternatives)) = sites.get(index) {
            let inside = sites[index + 1..].iter().take_while(|(inner, _)| inner.range.end <= site.range.end);
            let inside = inside.count();
            let inner = &sites[index + 1..=index + inside];
            self.plain(at..site.range.start);
            self.site(site, alternatives, inner);
            at = site.range.end;
            index += 1 + inside;
        }
        self.plain(at..range.end);
    }

    fn plain(&mut self, range: Range<usize>) {
        self.woven.text.push_str(&self.source[range]);
    }

    fn site(&mut self, site: &Site, alternatives: &[(u32, &str)], inner: &[(&Site, Vec<(u32, &str)>)]) {
        if alternatives.is_empty() {
            return self.region(site.range.clone(), inner);
        }
        match site.form {
            Form::Statement => {
                let (number, _) = alternatives[0];
                let start = self.woven.text.len();
                self.woven.text.push_str(&format!("if !crate::mutant::is({number}) {{ "));
                self.woven.places.push((start..self.woven.text.len(), number));
                self.region(site.range.clone(), inner);
                self.woven.text.push_str(" }");
            }
            Form::Expression => {
                self.woven.text.push('(');
                for (number, after) in alternatives {
                    let start = self.woven.text.len();
                    self.woven.text.push_str(&format!("if crate::mutant::is({number}) {{ {after} }} else "));
                    self.woven.places.push((start..self.woven.text.len(), *number));
                }
                self.woven.text.push_str("{ ");
                self.region(site.range.clone(), inner);
                self.woven.text.push_str(" })");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sites::sites;

    #[test]
    fn every_mutant_is_woven_in_once_and_what_is_left_out_is_not() {
        let text = "fn f(&mut self, a: u64) { if a < 3 { self.b = a + 1; } }";
        let sites = sites(text).expect("it is Rust");
        let mutants = number("f.rs", text, &sites, 1);
        let woven = weave(text, &sites, 1, &[]);
        for mutant in &mutants {
            let call = format!("mutant::is({})", mutant.number);
            assert_eq!(woven.text.matches(&call).count(), 1, "{call} in {}", woven.text);
        }
        assert!(syn::parse_file(&woven.text).is_ok(), "{}", woven.text);
        let all: Vec<u32> = mutants.iter().map(|mutant| mutant.number).collect();
        assert_eq!(weave(text, &sites, 1, &all).text, text);
    }
}
