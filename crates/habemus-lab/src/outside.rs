//! Why a property is not promised in some circumstances, and why the lab cannot do something, in Portuguese.

use crate::language::Language;
use crate::portuguese::values;

/// What may go wrong.
const FAULTS: &[(&str, &str)] = &[
    ("reordered messages", "mensagens fora de ordem"),
    ("wrong timeouts", "timeouts errados"),
    ("crashes", "quedas"),
    ("recoveries", "recuperações"),
    ("amnesia", "amnésia"),
    ("lost messages", "mensagens perdidas"),
    ("doubled messages", "mensagens duplicadas"),
    ("false suspicions", "suspeitas falsas"),
    ("partitions", "partições"),
    ("cut links", "enlaces cortados"),
    ("pauses", "pausas"),
    ("drifting clocks", "relógios que derivam"),
    ("late holders", "detentores atrasados"),
    ("traitors", "traidores"),
];

/// Why a promise has an exception.
const REASONS: &[(&str, &str)] = &[
    ("a slow holder is taken for dead", "um detentor lento é tido por morto"),
    ("who is slow to enter is taken for dead", "quem demora a entrar é tido por morto"),
    ("each part has a leader", "cada parte tem um líder"),
    ("each side has the best of its own while it lasts", "enquanto dura, cada lado tem o melhor dos seus"),
    (
        "if every timeout comes too early, nobody need ever have a majority (FLP)",
        "se todo timeout vem cedo demais, talvez ninguém nunca tenha uma maioria (FLP)",
    ),
    ("the log may be what has crashed", "pode ser o log que caiu"),
    (
        "nobody confirms an announcement that does not go round, and each side of a partition has the best \
            of its own",
        "ninguém confirma um anúncio que não dá a volta, e cada lado de uma partição tem o melhor dos seus",
    ),
    (
        "if every ballot comes too late, nobody need ever decide (FLP)",
        "se toda votação chega tarde demais, ninguém precisa decidir (FLP)",
    ),
    (
        "the new token may be far from who has waited longest",
        "a ficha nova pode estar longe de quem espera há mais tempo",
    ),
    (
        "who is late or cut off is not in the queue yet",
        "quem está atrasado ou isolado ainda não está na fila",
    ),
    (
        "who is stopped cannot know that its session is over",
        "quem está parado não pode saber que sua sessão acabou",
    ),
];

/// Circumstances that are outside whatever goes wrong.
const CIRCUMSTANCES: &[(&str, &str)] = &[
    ("{} of {} are down", "{} de {} estão caídos"),
    ("a cut or a pause that lasts to the end", "um corte ou uma pausa que dura até o fim"),
    ("{} traitors where it withstands {}", "{} traidores onde resiste a {}"),
    ("n = {}, and {} traitor takes n ≥ 3m+1 = {}", "n = {}, e {} traidor exige n ≥ 3m+1 = {}"),
    ("n = {}, and {} traitors take n ≥ 3m+1 = {}", "n = {}, e {} traidores exigem n ≥ 3m+1 = {}"),
    ("{} crashes take {} rounds", "{} quedas exigem {} rodadas"),
];

/// Why the link, or what it names, is not there.
const MISSING: &[(&str, &str)] = &[
    ("branch", "ramo"),
    ("check", "verificação"),
    ("diagram", "diagrama"),
    ("example", "exemplo"),
    ("exercise", "exercício"),
    ("experiment", "experimento"),
    ("format", "formato"),
    ("header", "cabeçalho"),
    ("lock", "trava"),
    ("message", "mensagem"),
    ("question", "pergunta"),
    ("side without a process", "lado sem processo"),
    ("trace", "rastro"),
];

fn find(list: &[(&str, &'static str)], english: &str) -> Option<&'static str> {
    list.iter().find(|(other, _)| *other == english).map(|(_, portuguese)| *portuguese)
}

/// What took a run outside the model; `None` if nobody has said it in this language.
pub(crate) fn outside_words(reason: &str, language: Language) -> Option<String> {
    if language == Language::English {
        return Some(reason.to_owned());
    }
    let circumstance = CIRCUMSTANCES.iter().find_map(|(english, portuguese)| {
        let values = if *english == reason { Vec::new() } else { values(reason, english)? };
        let mut pieces = portuguese.split("{}");
        let first = pieces.next().unwrap_or_default().to_owned();
        Some(values.iter().zip(pieces).fold(first, |said, (value, piece)| said + value + piece))
    });
    circumstance.or_else(|| match reason.split_once(", for ") {
        Some((faults, because)) => {
            Some(format!("{}, pois {}", fault_words(faults)?, find(REASONS, because)?))
        }
        None => fault_words(reason),
    })
}

/// "crashes, pauses and partitions".
fn fault_words(faults: &str) -> Option<String> {
    let names: Option<Vec<&str>> =
        faults.split(" and ").flat_map(|part| part.split(", ")).map(|name| find(FAULTS, name)).collect();
    let names = names?;
    let (last, first) = names.split_last()?;
    Some(if first.is_empty() { (*last).to_owned() } else { format!("{} e {last}", first.join(", ")) })
}

/// What is not there.
pub(crate) fn missing_words(what: &str) -> String {
    format!("não há: {}", find(MISSING, what).unwrap_or(what))
}

#[cfg(test)]
mod tests {
    use super::*;
    use habemus::catalogue::ENTRIES;
    use habemus::catalogue::{Fault, Faults};

    fn said(reason: &str) -> Option<String> {
        outside_words(reason, Language::Portuguese)
    }

    #[test]
    fn every_fault_and_every_exception_of_the_catalogue_is_said_in_portuguese() {
        let all = Faults::of(&Fault::ALL);
        assert!(said(&all.to_string()).is_some(), "{all}");
        for entry in ENTRIES {
            for promise in entry.promises.iter().filter(|promise| !promise.because.is_empty()) {
                let reason = format!("pauses, for {}", promise.because);
                assert!(said(&reason).is_some(), "{}: {reason}", entry.name);
            }
        }
    }

    #[test]
    fn circumstances_keep_their_numbers() {
        assert_eq!(said("3 of 5 are down").as_deref(), Some("3 de 5 estão caídos"));
        let traitors = said("n = 3, and 1 traitor takes n ≥ 3m+1 = 4");
        assert_eq!(traitors.as_deref(), Some("n = 3, e 1 traidor exige n ≥ 3m+1 = 4"));
        assert_eq!(said("crashes, pauses and partitions").as_deref(), Some("quedas, pausas e partições"));
        assert_eq!(said("the moon is full"), None);
    }
}
