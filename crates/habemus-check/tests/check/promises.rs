//! What is promised is kept in small models as well, of which there are many more than rows.

use habemus::catalogue::ENTRIES;
use habemus_check::guarantees::PROBLEMS;
use habemus_check::mutants::rehearse;

/// The states after which a model is left: what is wrong shows soon, mostly.
const STATES: u64 = 400;

/// What is refuted all the same: the algorithm, and what the models are called. With a `hello-timeout` Yo-Yo
/// trusts a timer, and its contract does not say so yet.
const KNOWN: [(&str, &str); 1] = [("yo-yo", "hello-timeout")];

#[test]
fn no_small_model_refutes_a_promise() {
    let (mut models, mut broken) = (0, Vec::new());
    for entry in ENTRIES.iter().filter(|entry| PROBLEMS.contains(&entry.problem)) {
        let rehearsal = rehearse(entry, STATES);
        let is_new = |model: &str| {
            let is_it = |(algorithm, part): &(&str, &str)| *algorithm == entry.name && model.contains(part);
            !KNOWN.iter().any(is_it)
        };
        let new = rehearsal.broken.into_iter().filter(|promise| is_new(&promise.model));
        broken.extend(new.map(|promise| (entry.name, promise)));
        models += rehearsal.models;
    }
    assert!(broken.is_empty(), "mend the algorithm, or narrow the promise: {broken:#?}");
    assert!(models > 1_000, "only {models} models");
}
