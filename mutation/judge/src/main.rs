//! Whether small models notice that a rule of an algorithm is broken: it is compiled with the mutants in the
//! sources.
//!
//! Its arguments are the states after which a model is left, an algorithm, and the numbers of mutants. For
//! each it prints what became of it, and goes on to the next.

use std::io::Write;

use habemus::catalogue;
use habemus_check::mutants::{Fate, Subject};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [states, algorithm, numbers @ ..] = &arguments[..] else {
        return Err("usage: habemus-judge STATES ALGORITHM NUMBER...".into());
    };
    habemus::mutant::wake(0);
    let subject = Subject::new(catalogue::entry(algorithm)?, states.parse()?);
    for number in numbers {
        habemus::mutant::wake(number.parse()?);
        let fate = match subject.try_itself() {
            Fate::Caught { model, by, .. } => format!("caught\t{model}: {by}"),
            _ => "not caught\t".to_owned(),
        };
        println!("{number}\t{fate}");
        std::io::stdout().flush()?;
    }
    Ok(())
}
