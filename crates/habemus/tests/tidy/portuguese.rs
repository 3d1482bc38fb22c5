//! What the catalogue says of models and promises, in Portuguese, for the pages in the notes' language.

use habemus::catalogue::{Entry, Fault, Faults};

use crate::promises::{grouped, names};

/// The clauses of a model, and why a promise has an exception.
const CLAUSES: &[(&str, &str)] = &[
    ("asynchronous", "assíncrono"),
    ("synchronous", "síncrono"),
    ("synchronous enough for its timeouts", "síncrono o bastante para seus timeouts"),
    ("partially synchronous (GST)", "parcialmente síncrono (GST)"),
    ("reliable links", "enlaces confiáveis"),
    ("reliable links, in any order", "enlaces confiáveis, em qualquer ordem"),
    ("reliable FIFO links", "enlaces FIFO confiáveis"),
    ("no crashes", "sem quedas"),
    ("crashes for good", "quedas definitivas"),
    ("crashes for good of at most 1", "quedas definitivas de no máximo 1"),
    ("crashes and recoveries with stable storage", "quedas e recuperações com memória estável"),
    (
        "crashes and recoveries with stable storage of less than half",
        "quedas e recuperações com memória estável de menos da metade",
    ),
    ("a detector that is right", "um detector que está certo"),
    ("a detector that is right in the end", "um detector que no fim está certo"),
    (
        "a detector that is right, or leases on an election by majority",
        "um detector que está certo, ou prazos sobre uma eleição por maioria",
    ),
    ("as the election needs", "o que a eleição precisa"),
    (
        "at least one process is told to elect before the first pulse",
        "pede-se uma eleição a ao menos um processo antes do primeiro pulso",
    ),
    ("at most m of n ≥ 3m+1 are traitors", "no máximo m de n ≥ 3m+1 são traidores"),
    ("at most m traitors", "no máximo m traidores"),
    ("the sender of a message is known", "sabe-se quem enviou uma mensagem"),
    ("signatures that nobody can forge", "assinaturas que ninguém pode forjar"),
    ("leases rely on the drift of clocks alone", "os prazos só dependem do desvio dos relógios"),
    ("losses cost certainty", "perdas custam certeza"),
    ("the winner does not crash", "o vencedor não cai"),
    ("one-way ring without identifiers", "anel de mão única sem identificadores"),
    (
        "one-way ring of known size without identifiers",
        "anel de mão única, de tamanho conhecido, sem identificadores",
    ),
    ("termination with probability 1", "terminação com probabilidade 1"),
    ("each side has the best of its own while it lasts", "enquanto dura, cada lado tem o melhor dos seus"),
    (
        "if every ballot comes too late, nobody need ever decide (FLP)",
        "se toda cédula chega tarde demais, talvez ninguém nunca decida (FLP)",
    ),
    (
        "if every timeout comes too early, nobody need ever have a majority (FLP)",
        "se todo timeout vem cedo demais, talvez ninguém nunca tenha uma maioria (FLP)",
    ),
    (
        "clocks that differ by at most a tenth each way",
        "relógios que diferem no máximo um décimo para cada lado",
    ),
    (
        "who is stopped cannot know that its session is over",
        "quem está parado não pode saber que a sua sessão acabou",
    ),
    ("the log may be what has crashed", "pode ser o log que caiu"),
    (
        "who is late or cut off is not in the queue yet",
        "quem está atrasado ou isolado ainda não está na fila",
    ),
    (
        "the new token may be far from who has waited longest",
        "o novo token pode estar longe de quem esperou mais",
    ),
];

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
    ("drifting clocks", "relógios que se desviam"),
    ("late holders", "detentores atrasados"),
    ("traitors", "traidores"),
];

fn translated(known: &[(&str, &str)], text: &str) -> Option<String> {
    known.iter().find(|(english, _)| *english == text).map(|(_, portuguese)| (*portuguese).to_owned())
}

/// Faults one after the other: "crashes, recoveries and amnesia".
fn faults(text: &str) -> Option<String> {
    let (first, last) = text.rsplit_once(" and ").map_or((None, text), |(first, last)| (Some(first), last));
    let last = translated(FAULTS, last)?;
    let Some(first) = first else { return Some(last) };
    let first: Option<Vec<String>> = first.split(", ").map(|fault| translated(FAULTS, fault)).collect();
    Some(format!("{} e {last}", first?.join(", ")))
}

fn clause(text: &str) -> String {
    translated(CLAUSES, text).or_else(|| faults(text)).unwrap_or_else(|| {
        panic!("the pages have no Portuguese for “{text}”: add it to crates/habemus/tests/tidy/portuguese.rs")
    })
}

/// The promises of an algorithm, as its page in Portuguese has them. The names of properties are those that
/// the command takes.
pub(crate) fn promises(entry: &'static Entry) -> String {
    let groups = grouped(entry);
    let model: Vec<String> = entry.model.to_string().split("; ").map(clause).collect();
    let mut text = format!(
        "- **Modelo**: {}.\n- **[Prometido](../../properties.md)**: {}.\n",
        model.join("; "),
        names(&groups[0])
    );
    for group in &groups[1..] {
        let (except, because) = (clause(&group[0].except.to_string()), clause(group[0].because));
        text.push_str(&format!("- **Prometido, mas não sob {except}**: {}; {because}.\n", names(group)));
    }
    let outside = Faults::of(&Fault::ALL).without(entry.model.faults());
    text.push_str(&format!("- **Fora do modelo**: {}.\n", clause(&outside.to_string())));
    text
}
