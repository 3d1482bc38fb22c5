//! Processes under their names: a trace holds messages as Rust shows them, with addresses such as `@3`, which
//! nobody who looks at a picture can find in it.

use std::borrow::Cow;

use crate::variables::named;
use crate::{Happening, Label, Trace};

/// The trace with identifiers in the place of the addresses in messages and timers.
pub(super) fn with_names(trace: &Trace) -> Cow<'_, Trace> {
    let is_addressed = |what: &Happening| label(what).is_some_and(|label| label.contains('@'));
    if !trace.records.iter().any(|record| is_addressed(&record.what)) {
        return Cow::Borrowed(trace);
    }
    let mut trace = trace.clone();
    let ids = &trace.header.processes;
    for record in trace.records.iter_mut().filter(|record| is_addressed(&record.what)) {
        if let Happening::Send { label, .. }
        | Happening::Deliver { label, .. }
        | Happening::Timer { label, .. } = &mut record.what
        {
            *label = named(label, &|address| ids.get(address).copied()).into();
        }
    }
    Cow::Owned(trace)
}

fn label(what: &Happening) -> Option<&Label> {
    match what {
        Happening::Send { label, .. } | Happening::Deliver { label, .. } | Happening::Timer { label, .. } => {
            Some(label)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::draw::{self, Options};
    use crate::trace::Trace;

    #[test]
    fn no_picture_shows_an_address() {
        let lines = [
            r#"{"format":1,"algorithm":"x","problem":"election","processes":[30,10,20],"topology":"ring"}"#,
            r#"{"at":0,"process":30,"clock":{"30":1},"event":"send","message":1,"to":20,"kind":"Told","label":"Told([@1, @2])"}"#,
            r#"{"at":5,"process":20,"clock":{"30":1,"20":1},"event":"deliver","message":1,"from":30,"kind":"Told","label":"Told([@1, @2])"}"#,
            r#"{"at":9,"process":20,"clock":{"30":1,"20":2},"event":"timer","label":"Patience(@0)"}"#,
        ];
        let trace = Trace::read(lines.join("\n").as_bytes()).expect("it is a trace");
        for picture in [draw::text, draw::mermaid, draw::svg, draw::shiviz] {
            // Mermaid writes brackets as numbers.
            let picture = picture(&trace, &Options::default()).replace("#91;", "[").replace("#93;", "]");
            assert!(picture.contains("Told [10, 20]"), "{picture}");
            let addresses = (0..3).map(|address| format!("@{address}"));
            assert!(addresses.into_iter().all(|address| !picture.contains(&address)), "{picture}");
        }
    }
}
