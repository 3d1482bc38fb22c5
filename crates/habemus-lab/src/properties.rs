//! What must hold, and whether it does.

use habemus_report::{Finding, PropertyLine};

use crate::experiment::Experiment;
use crate::frame::PropertyView;
use crate::language::Language;
use crate::outside::outside_words;
use crate::portuguese::monitor_words;
use crate::texts::{demand_words, property_words};

pub(crate) fn properties(experiment: &Experiment, is_end: bool, language: Language) -> Vec<PropertyView> {
    let (branch, here) = (experiment.branch(), experiment.here());
    let lines = match is_end.then(|| branch.tip().report()) {
        Some(Ok(report)) => report.properties,
        _ => here.properties(),
    };
    let view = |line: PropertyLine| {
        let event =
            branch.history().violations().find(|(_, name)| *name == line.name).map(|(event, _)| event);
        let event = event.filter(|_| line.verdict == Finding::Violated);
        PropertyView {
            demand: demand_words(&line.demand, language).to_owned(),
            explanation: explanation(&line, event, is_end, language),
            verdict: line.verdict,
            promised: line.promised,
            title: property_words(&line.name, language).to_owned(),
            name: line.name,
            event,
        }
    };
    lines.into_iter().map(view).collect()
}

/// What is to be said of a property.
fn explanation(line: &PropertyLine, event: Option<u64>, is_end: bool, language: Language) -> String {
    let why = monitor_words(line.why(), language);
    let mut text = match (line.verdict, why) {
        (Finding::Open, _) if !is_end => language.of("not yet", "ainda não").to_owned(),
        (Finding::Holds, _) => String::new(),
        (_, Some(why)) => why,
        // A sentence that nobody has said in Portuguese.
        (Finding::Violated, None) => match event {
            Some(event) => format!("violada no evento {event}"),
            None => "não se cumpriu até o fim".to_owned(),
        },
        (Finding::Open | Finding::NotFound | Finding::NotCovered, None) => {
            "em aberto no fim da execução".to_owned()
        }
        (Finding::DoesNotApply, None) => "não se aplica a esta execução".to_owned(),
    };
    if let Some(outside) = &line.outside {
        let said = match outside_words(outside, language) {
            Some(outside) => format!("{}: {outside}", language.of("not promised here", "não prometida aqui")),
            None => "não prometida nestas circunstâncias".to_owned(),
        };
        text = if text.is_empty() { said } else { format!("{text}; {said}") };
    }
    text
}
