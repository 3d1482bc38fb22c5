//! What is wrong in the notes.

use habemus::analysis::LogProbability;
use habemus::analysis::quorum::ForgetfulQuorum;
use habemus_check::guarantees::Case;
use habemus_check::{Setting, Start, Timers};

use super::{Erratum, Evidence};

/// Every erratum, in the order of the notes' subjects.
pub(crate) const ERRATA: &[Erratum] = &[
    Erratum {
        name: "capture-async",
        title: "The asynchronous capture elects two leaders",
        notes: "S2, A_Elect_Leader_C",
        says: "p_owner_id = nil; […] if (level, p_owner_id) < (level_j, id_j) then […] Envie ack para n_j",
        wrong: "A candidate starts without an owner, so whoever asks captures it, and what it sent before still counts. \
                Two candidates that ask each other both answer ack, and both count the answer: two leaders, already \
                with two processes.",
        cure: "A candidate owns itself from the beginning; an ack counts only for one that is still a candidate; a \
               captured candidate sets its owner; a process without an owner gives itself at once; the first capture is \
               noted, too. With these five corrections every interleaving elects exactly one leader.",
        evidence: &[Evidence::Refuted {
            literal: &Case {
                algorithm: "capture-async",
                name: "as printed",
                ids: &[1, 2],
                options: &[("variant", "as-printed")],
                flags: " --start all",
                change: as_usual,
            },
            property: "uniqueness",
            corrected: &Case {
                algorithm: "capture-async",
                name: "corrected",
                ids: &[1, 2, 3],
                options: &[],
                flags: " --start any",
                change: any_start,
            },
        }],
    },
    Erratum {
        name: "yo-yo-pruning",
        title: "Yo-Yo never ends",
        notes: "S4, Algoritmo do YoYo",
        says: "Quando p receber S ou N em todas as suas arestas de saída: se recebeu apenas S, executa fase 2 novamente",
        wrong: "The last source cannot tell that it is alone. It hears only YES, sends its identifier down again, and so \
                on for ever: nobody is ever elected.",
        cure: "Pruning (Santoro): a sink with a single in-edge leaves, and of several in-edges that brought the same all \
               but one are struck out. A source without edges is the leader.",
        evidence: &[Evidence::Refuted {
            literal: &Case {
                algorithm: "yo-yo",
                name: "as printed",
                ids: &[1, 2, 3],
                options: &[("variant", "as-printed")],
                flags: " --start all",
                change: as_usual,
            },
            property: "termination",
            corrected: &Case {
                algorithm: "yo-yo",
                name: "corrected",
                ids: &[1, 2, 3],
                options: &[],
                flags: " --start any",
                change: any_start,
            },
        }],
    },
    Erratum {
        name: "yo-yo-some-yes",
        title: "In Yo-Yo one YES outvotes a NO",
        notes: "S4, Algoritmo do YoYo",
        says: "Se recebeu algum S, envia S para vizinhos de onde recebeu m",
        wrong: "No property is broken: the lowest still wins. But a source that a NO should have felled can remain one \
                for a further iteration, so the election takes more iterations and more messages.",
        cure: "An internal process answers YES only if it heard nothing but YES.",
        evidence: &[Evidence::Measured {
            about: "The smallest network that shows the difference",
            scenario: include_str!("../../../../exhibits/s4-yo-yo-some-yes.toml"),
            literal: "some-yes",
        }],
    },
    Erratum {
        name: "franklin",
        title: "Franklin's election hangs, and its losers cost a round each",
        notes: "S4, Algoritmo de Franklin",
        says: "Quando p recebe e e d […] Se max(q, r) > p: Ativo ← 0; envia mensagem −p à direita e à esquerda",
        wrong: "A process acts when it has heard both sides, so next to a lone initiator everybody waits for ever. Who turns \
                passive sends −p, which the next active process takes for a neighbour that it beats, and plays another \
                round. And nobody but the winner learns the result. (That the inputs are called e, d and then q, r is a \
                slip of the pen.)",
        cure: "A sleeping process wakes on its first message; nothing is sent on turning passive; the winner announces \
               itself.",
        evidence: &[
            Evidence::Refuted {
                literal: &Case {
                    algorithm: "franklin",
                    name: "as printed",
                    ids: &[1, 2, 3],
                    options: &[("variant", "as-printed")],
                    flags: " --start any",
                    change: any_start,
                },
                property: "E2",
                corrected: &Case {
                    algorithm: "franklin",
                    name: "corrected",
                    ids: &[1, 2, 3],
                    options: &[],
                    flags: " --start any",
                    change: any_start,
                },
            },
            Evidence::Measured {
                about: "What −p costs, with seven processes that all start",
                scenario: include_str!("../../../../exhibits/s4-franklin-as-printed.toml"),
                literal: "as-printed",
            },
        ],
    },
    Erratum {
        name: "bully",
        title: "The bully that said OK does nothing",
        notes: "S4, Algoritmo do Brigão",
        says: "Quando p recebe (ELEICAO, q), q < p: envia (OK, q)",
        wrong: "The receiver of ELEICAO only answers; no rule makes it run itself. Whoever got the OK has stopped its timer \
                and waits, and no rule makes it start over, not even if the one that answered dies. The election hangs \
                after three steps.",
        cure: "Who answers OK starts an election of its own, and who got OK starts over if no COORD comes.",
        evidence: &[Evidence::Refuted {
            literal: &Case {
                algorithm: "bully",
                name: "as printed",
                ids: &[1, 2, 3],
                options: &[("variant", "as-printed")],
                flags: " --start any",
                change: any_start,
            },
            property: "E2",
            corrected: &Case {
                algorithm: "bully",
                name: "corrected",
                ids: &[1, 2, 3],
                options: &[],
                flags: " --start all --crashes 1",
                change: |setting| setting.budget.crashes = 1,
            },
        }],
    },
    Erratum {
        name: "chang-roberts",
        title: "Nobody but the winner of Chang–Roberts learns the result",
        notes: "S4, Algoritmo de Chang e Robert",
        says: "Se p = q: p se declara líder (\"os outros não necessariamente ficam sabendo disso\", says the exercise)",
        wrong: "The election ends with one leader that no other process knows of. Besides, only those that start compete: \
                a better process that is asleep throws the message away, and nobody wins.",
        cure: "S1's ELECTED round tells everybody, and a process takes part as soon as it hears of the election.",
        evidence: &[Evidence::Refuted {
            literal: &Case {
                algorithm: "chang-roberts",
                name: "as printed",
                ids: &[1, 2, 3],
                options: &[("variant", "as-printed")],
                flags: " --start all",
                change: as_usual,
            },
            property: "E2",
            corrected: &Case {
                algorithm: "chang-roberts",
                name: "corrected",
                ids: &[1, 2, 3],
                options: &[],
                flags: " --start any",
                change: any_start,
            },
        }],
    },
    Erratum {
        name: "omega",
        title: "By the letter of the slides nobody ever leads",
        notes: "S3, O Algoritmo Eleição de Líder",
        says: "Líder ← 0; // o processo 0 (zero) é o líder inicial […] NovoLíder ← Selecciona(Candidatos)",
        wrong: "Process 0 may not exist. The set of candidates can be empty, and nothing can be selected from it. Heartbeats \
                go to the others, so nobody is its own candidate: of two processes each follows the other, for ever.",
        cure: "A process is always its own candidate, and before the first interval is over there is no leader.",
        evidence: &[Evidence::Refuted {
            literal: &Case {
                algorithm: "omega",
                name: "as printed",
                ids: &[1, 2],
                options: &[("variant", "as-printed")],
                flags: " --start all --timers messages-first",
                change: |setting| setting.timers = Timers::MessagesFirst,
            },
            property: "termination",
            corrected: &Case {
                algorithm: "omega",
                name: "corrected",
                ids: &[1, 2],
                options: &[],
                flags: " --start all --timers messages-first",
                change: |setting| setting.timers = Timers::MessagesFirst,
            },
        }],
    },
    Erratum {
        name: "quorum",
        title: "The sum for P_v answers another question than the text asks",
        notes: "S4, Quórum",
        says: "qual a probabilidade P_v de que os k processos na interseção sejam reiniciados […] \
               P_v = Σ_{k=2m−n}^{n} C(m,k) P^k (1−P)^{m−k}",
        wrong: "C(m,k) is 0 beyond m, so the sum ends at m and not at n. And it is the probability that some 2m−n of the m \
                coordinators forget, which is what lets a participant in that asks everybody; that a given intersection of \
                2m−n forgets has the probability P^(2m−n). Nothing is wrong with the conclusion: both are far below 10⁻⁴⁰.",
        cure: "Both figures are given, and a third one for a quorum drawn at random; trials by chance agree with them.",
        evidence: &[Evidence::Computed {
            command: "habemus quorum --coordinators 32 --quorum 24 --failure 1e-4",
            rows: forgetful,
        }],
    },
];

/// Everybody starts, and nothing else is special.
fn as_usual(_: &mut Setting) {}

fn any_start(setting: &mut Setting) {
    setting.start = Start::EveryChoice;
}

/// S4's example: n = 32, m = 24, P = 10⁻⁴.
fn forgetful() -> Vec<(String, String)> {
    let quorum = ForgetfulQuorum::new(32, 24, LogProbability::new(1e-4).unwrap_or(LogProbability::ZERO));
    let Ok(quorum) = quorum else { return Vec::new() };
    vec![
        ("S4's P_v: somebody who asks everybody gets in".to_owned(), quorum.by_asking_all().to_string()),
        ("a given intersection of 16 forgets: P^(2m−n)".to_owned(), quorum.by_asking_worst().to_string()),
        ("a quorum drawn at random gets in".to_owned(), quorum.by_asking_random().to_string()),
    ]
}
