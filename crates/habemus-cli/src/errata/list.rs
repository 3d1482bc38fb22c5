//! What is wrong in the notes.

use habemus::analysis::LogProbability;
use habemus::analysis::quorum::ForgetfulQuorum;
use habemus_check::guarantees::Case;
use habemus_check::{Setting, Start, Timers};
use habemus_report::Statistics;

use super::{Erratum, Evidence};
use crate::show::grouped;

/// Every erratum, in the order of the notes' subjects.
pub(crate) const ERRATA: &[Erratum] = &[
    Erratum {
        name: "capture-async",
        title: "The asynchronous capture elects two leaders",
        notes: "S2, A_Elect_Leader_C",
        says: "p_owner_id = nil; […] if (level, p_owner_id) < (level_j, id_j) then […] Envie ack para n_j",
        wrong: "A candidate starts without an owner, so whoever asks captures it, and what it sent before \
            still counts. \
                Two candidates that ask each other both answer ack, and both count the answer: two leaders, \
                already \
                with two processes.",
        cure: "A candidate owns itself from the beginning; an ack counts only for one that is still a \
            candidate; a \
               captured candidate sets its owner; a process without an owner gives itself at once; the first \
               capture is \
               noted, too. With these five corrections every interleaving elects exactly one leader.",
        evidence: &[Evidence::Refuted {
            literal: &Case {
                algorithm: "capture-async",
                name: "as printed",
                ids: &[1, 2],
                detector: None,
                options: &[("variant", "as-printed")],
                flags: " --start all",
                change: as_usual,
            },
            property: "uniqueness",
            corrected: &Case {
                algorithm: "capture-async",
                name: "corrected",
                ids: &[1, 2, 3],
                detector: None,
                options: &[],
                flags: " --start any",
                change: any_start,
            },
        }],
    },
    Erratum {
        name: "capture-async-cost",
        title: "The bound on captures is not proved, and not for one candidate",
        notes: "S2, Corolário 5.4",
        says: "envolve no máximo 2n⌊log n⌋ + n tentativas de capturas por candidato […] o número total de \
            capturas do algoritmo \
               é n + Σ_{k=1}^{⌈log n⌉} ⌊n/2^k − 1⌋ · 2^k ≤ n + Σ_{k=1}^{⌊log n⌋} (n/2^{k−1} · 2^k)",
        wrong: "The proof counts the captures of all candidates, and not of one. Its first sum has ⌊n/2^k − \
            1⌋ for Theorem 5.3's \
                ⌊n/(2^k − 1)⌋, and ends at ⌈log n⌉ where the second ends at ⌊log n⌋: the inequality as \
                printed \
                does not follow. And the theorem counts the candidates of one moment, the sum those of the \
                whole run: who \
                has given up leaves its processes to whoever comes next, so many candidates can reach a \
                level one after the \
                other. With 110 processes 46 capture the same 31 and are refused by one that has as many: \
                1,504 attempts, \
                where 1,430 are allowed (test a_run_can_have_more_attempts_than_corollary_5_4_allows).",
        cure: "One that has given up would have to refuse, as before, whoever is weaker than it was. Then no \
            process is owned by \
               two candidates at the moments at which they reach a level, the theorem holds for the whole \
               run, and so does the \
               bound, for all candidates together. The listing is left as it is here: with neighbours in a \
               fixed order \
               no run that was measured has come near the bound.",
        evidence: &[Evidence::Computed {
            command: "habemus run exhibits/s2-capture-async-16.toml",
            unit: "attempts",
            rows: captures,
        }],
    },
    Erratum {
        name: "capture-sync-cost",
        title: "The bound on synchronous captures is printed as a negative number",
        notes: "S2, Corolário 5.2",
        says: "o número total de capturas é no máximo n + Σ_{k=1}^{⌈log n⌉−1} ⌊n/2^{k−1}⌋ · 2^k ≤ n + \
            2n(⌈log n⌉ − 1) \
               = 2n(⌈log n⌉ − n)",
        wrong: "The last line has the n inside the brackets: it is below 0 for every n > 2.",
        cure: "n + 2n(⌈log n⌉ − 1) = 2n⌈log n⌉ − n, as the corollary itself says.",
        evidence: &[Evidence::Computed {
            command: "habemus run exhibits/s2-capture-sync-16.toml",
            unit: "captures",
            rows: synchronous_captures,
        }],
    },
    Erratum {
        name: "yo-yo-pruning",
        title: "Yo-Yo never ends",
        notes: "S4, Algoritmo do YoYo",
        says: "Quando p receber S ou N em todas as suas arestas de saída: se recebeu apenas S, executa fase \
            2 novamente",
        wrong: "The last source cannot tell that it is alone. It hears only YES, sends its identifier down \
            again, and so \
                on for ever: nobody is ever elected.",
        cure: "Pruning (Santoro): a sink with a single in-edge leaves, and of several in-edges that brought \
            the same all \
               but one are struck out. A source without edges is the leader.",
        evidence: &[Evidence::Refuted {
            literal: &Case {
                algorithm: "yo-yo",
                name: "as printed",
                ids: &[1, 2, 3],
                detector: None,
                options: &[("variant", "as-printed")],
                flags: " --start all",
                change: as_usual,
            },
            property: "termination",
            corrected: &Case {
                algorithm: "yo-yo",
                name: "corrected",
                ids: &[1, 2, 3],
                detector: None,
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
        wrong: "No property is broken: the lowest still wins. But a source that a NO should have felled can \
            remain one \
                for a further iteration, so the election takes more iterations and more messages.",
        cure: "An internal process answers YES only if it heard nothing but YES.",
        evidence: &[Evidence::Measured {
            about: "The smallest network that shows the difference",
            scenario: include_str!("exhibits/s4-yo-yo-some-yes.toml"),
            literal: "some-yes",
        }],
    },
    Erratum {
        name: "franklin",
        title: "Franklin's election hangs, and its losers cost a round each",
        notes: "S4, Algoritmo de Franklin",
        says: "Quando p recebe e e d […] Se max(q, r) > p: Ativo ← 0; envia mensagem −p à direita e à \
            esquerda",
        wrong: "A process acts when it has heard both sides, so next to a lone initiator everybody waits for \
            ever. Who turns \
                passive sends −p, which the next active process takes for a neighbour that it beats, and \
                plays another \
                round. And nobody but the winner learns the result. (That the inputs are called e, d and \
                then q, r is a \
                slip of the pen.)",
        cure: "A sleeping process wakes on its first message; nothing is sent on turning passive; the winner \
            announces \
               itself.",
        evidence: &[
            Evidence::Refuted {
                literal: &Case {
                    algorithm: "franklin",
                    name: "as printed",
                    ids: &[1, 2, 3],
                    detector: None,
                    options: &[("variant", "as-printed")],
                    flags: " --start any",
                    change: any_start,
                },
                property: "E2",
                corrected: &Case {
                    algorithm: "franklin",
                    name: "corrected",
                    ids: &[1, 2, 3],
                    detector: None,
                    options: &[],
                    flags: " --start any",
                    change: any_start,
                },
            },
            Evidence::Measured {
                about: "What −p costs, with seven processes that all start",
                scenario: include_str!("exhibits/s4-franklin-as-printed.toml"),
                literal: "as-printed",
            },
        ],
    },
    Erratum {
        name: "franklin-cost",
        title: "Franklin's cost argument proves nothing",
        notes: "S4, Algoritmo de Franklin",
        says: "Na primeira fase, cada processo ativo leva a 4 mensagens […] Na segunda fase, cada processo \
            ativo leva a 8 \
               mensagens […] Logo, temos 8n × n/2, O(n)",
        wrong: "8n × n/2 is 4n², and not O(n). An active process causes 2 messages in the first phase, one \
            to each side, and \
                passive ones pass them on: whoever is active, each link carries one message each way in each \
                phase.",
        cure: "So a phase costs 2n messages at most, there are ⌊log₂ n⌋ + 1 of them, and n announce the \
            winner. The conclusion, \
               O(n log n), is right.",
        evidence: &[Evidence::Computed {
            command: "habemus run franklin --processes 64",
            unit: "messages",
            rows: franklin_cost,
        }],
    },
    Erratum {
        name: "ring-2",
        title: "Anel 2 tells nobody",
        notes: "S4, Algoritmo do Anel 2",
        says: "Se p ∈ l: escolhe menor id em l como líder",
        wrong: "The list ends at the process that finds itself on it, and no rule says who leads to anybody \
            else. With one \
                initiator the others never learn that there is a leader, and the leader does not know that \
                it leads.",
        cure: "S0's COORDINATOR goes round the ring, or to all.",
        evidence: &[Evidence::Refuted {
            literal: &Case {
                algorithm: "collecting-ring",
                name: "as printed",
                ids: &[1, 2, 3],
                detector: None,
                options: &[("wins", "lowest"), ("announce", "nobody")],
                flags: " --start any",
                change: any_start,
            },
            property: "E2",
            corrected: &Case {
                algorithm: "collecting-ring",
                name: "corrected",
                ids: &[1, 2, 3],
                detector: None,
                options: &[("wins", "lowest")],
                flags: " --start any",
                change: any_start,
            },
        }],
    },
    Erratum {
        name: "yo-yo-cut",
        title: "Yo-Yo with a cut link elects nobody, and not two",
        notes: "S4, Algoritmo do YoYo",
        says: "Suponha que o canal de comunicação entre os processos 2 e 10 pare de funcionar. […] neste \
            caso levará a duas \
               eleições concorrentes acontecerem e, consequentemente, a dois líderes sendo eleitos",
        wrong: "By the listing 2 and 10 wait for an answer on the link between them, for ever, and both \
            parts wait with them.",
        cure: "Two leaders come only if each part takes the silence for a broken link and goes on without it \
               (`hello-timeout`, exhibit s4-yo-yo-cut).",
        evidence: &[Evidence::Played {
            file: "exhibits/s4-yo-yo-cut-waits.toml",
            scenario: include_str!("exhibits/s4-yo-yo-cut-waits.toml"),
        }],
    },
    Erratum {
        name: "coordinator",
        title: "A late release frees what somebody else holds",
        notes: "S4, Coordenador",
        says: "Ao receber uma liberação, marca o recurso como livre",
        wrong: "Rule 3 does not ask whose release it is. With the timeout of the next section, the release \
            of a holder that \
                was slow comes when another one is inside, and lets a third in.",
        cure: "A release names the grant that it ends, and one that ends nothing is ignored. That the slow \
            holder and the \
               next are inside together is the timeout's fault, and remains.",
        evidence: &[Evidence::Played {
            file: "exhibits/s4-late-release.toml",
            scenario: include_str!("exhibits/s4-late-release.toml"),
        }],
    },
    Erratum {
        name: "bully",
        title: "The bully that said OK does nothing",
        notes: "S4, Algoritmo do Brigão",
        says: "Quando p recebe (ELEICAO, q), q < p: envia (OK, q)",
        wrong: "The receiver of ELEICAO only answers; no rule makes it run itself. Whoever got the OK has \
            stopped its timer \
                and waits, and no rule makes it start over, not even if the one that answered dies. The \
                election hangs \
                after three steps.",
        cure: "Who answers OK starts an election of its own, and who got OK starts over if no COORD comes.",
        evidence: &[Evidence::Refuted {
            literal: &Case {
                algorithm: "bully",
                name: "as printed",
                ids: &[1, 2, 3],
                detector: None,
                options: &[("variant", "as-printed")],
                flags: " --start any",
                change: any_start,
            },
            property: "E2",
            corrected: &Case {
                algorithm: "bully",
                name: "corrected",
                ids: &[1, 2, 3],
                detector: None,
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
        says: "Se p = q: p se declara líder (\"os outros não necessariamente ficam sabendo disso\", says the \
            exercise)",
        wrong: "The election ends with one leader that no other process knows of. Besides, only those that \
            start compete: \
                a better process that is asleep throws the message away, and nobody wins.",
        cure: "S1's ELECTED round tells everybody, and a process takes part as soon as it hears of the \
            election.",
        evidence: &[Evidence::Refuted {
            literal: &Case {
                algorithm: "chang-roberts",
                name: "as printed",
                ids: &[1, 2, 3],
                detector: None,
                options: &[("variant", "as-printed")],
                flags: " --start all",
                change: as_usual,
            },
            property: "E2",
            corrected: &Case {
                algorithm: "chang-roberts",
                name: "corrected",
                ids: &[1, 2, 3],
                detector: None,
                options: &[],
                flags: " --start any",
                change: any_start,
            },
        }],
    },
    Erratum {
        name: "omega",
        title: "By the letter of the slides everybody chooses once and never again",
        notes: "S3, O Algoritmo Eleição de Líder",
        says: "Upon IntervaloHeartbeats: NovoLíder ← Selecciona(Candidatos); […] send(heartbeat, \
            encarnação); Candidatos ← Φ;",
        wrong: "The timer is started by Init and by Recovery, and not when it has run out: after the first \
            interval nothing \
                happens any more, and who follows a leader that crashes follows it for ever. Besides, the \
                first leader is \
                process 0, which may not exist, and a heartbeat of an earlier incarnation that arrives late \
                counts again.",
        cure: "The timer is started again at the end of each interval, before the first one is over there is \
            no leader, and \
               of several incarnations the latest counts.",
        evidence: &[Evidence::Refuted {
            literal: &Case {
                algorithm: "omega",
                name: "as printed",
                ids: &[1, 2],
                detector: None,
                options: &[("variant", "as-printed")],
                flags: " --start all --timers messages-first --crashes 1",
                change: calm_with_a_crash,
            },
            property: "agreement",
            corrected: &Case {
                algorithm: "omega",
                name: "corrected",
                ids: &[1, 2],
                detector: None,
                options: &[],
                flags: " --start all --timers messages-first --crashes 1",
                change: calm_with_a_crash,
            },
        }],
    },
    Erratum {
        name: "quorum",
        title: "The sum for P_v answers another question than the text asks",
        notes: "S4, Quórum",
        says: "qual a probabilidade P_v de que os k processos na interseção sejam reiniciados […] \
               P_v = Σ_{k=2m−n}^{n} C(m,k) P^k (1−P)^{m−k}",
        wrong: "C(m,k) is 0 beyond m, so the sum ends at m and not at n. And it is the probability that some \
            2m−n of the m \
                coordinators forget, which is what lets a participant in that asks everybody; that a given \
                intersection of \
                2m−n forgets has the probability P^(2m−n). Before that, what is said of exactly one \
                coordinator and of k of them lacks \
                the factors n and C(n,k): it is true of one who is named, and of k who are. Nothing is wrong \
                with the conclusion: \
                both are far below 10⁻⁴⁰.",
        cure: "Both figures are given, and a third one for a quorum drawn at random; trials by chance agree \
            with them.",
        evidence: &[Evidence::Computed {
            command: "habemus quorum --coordinators 32 --quorum 24 --failure 1e-4",
            unit: "probability",
            rows: forgetful,
        }],
    },
];

/// Everybody starts, and nothing else is special.
fn as_usual(_: &mut Setting) {}

/// Timers run out when nothing is under way, and one process crashes.
fn calm_with_a_crash(setting: &mut Setting) {
    setting.timers = Timers::MessagesFirst;
    setting.budget.crashes = 1;
}

fn any_start(setting: &mut Setting) {
    setting.start = Start::EveryChoice;
}

/// 64 processes: S4's figure for the second phase alone, what theory allows for all of them, and a run.
fn franklin_cost() -> Vec<(String, String)> {
    let text = "algorithm = \"franklin\"\nprocesses = 64\nscript = [\"0ms elect all\"]";
    let sent = sent(text, |statistics| statistics.messages);
    vec![
        ("S4, the second phase: 8n × n/2".to_owned(), grouped(8 * 64 * 32)),
        ("at most in all phases: 2n(⌊log₂ n⌋ + 1) + n".to_owned(), grouped(2 * 64 * 7 + 64)),
        ("sent in a run, identifiers in ascending order".to_owned(), sent),
    ]
}

/// S2's runs with 16 candidates.
fn captures() -> Vec<(String, String)> {
    let sent = sent(include_str!("exhibits/s2-capture-async-16.toml"), |statistics| {
        statistics.by_kind.get("Capture").copied().unwrap_or(0)
    });
    vec![
        ("the bound: 2n⌊log₂ n⌋ + n attempts".to_owned(), grouped(2 * 16 * 4 + 16)),
        ("Capture messages in all, of 16 candidates".to_owned(), sent),
    ]
}

/// S2's Corolário 5.2 for sixteen candidates.
fn synchronous_captures() -> Vec<(String, String)> {
    let sent = sent(include_str!("exhibits/s2-capture-sync-16.toml"), |statistics| {
        statistics.by_kind.get("Capture").copied().unwrap_or(0)
    });
    vec![
        ("as the proof ends: 2n(⌈log₂ n⌉ − n)".to_owned(), format!("−{}", grouped(2 * 16 * 12))),
        ("the bound: 2n⌈log₂ n⌉ − n".to_owned(), grouped(2 * 16 * 4 - 16)),
        ("Capture messages in all, of 16 candidates".to_owned(), sent),
    ]
}

/// A figure of a run.
fn sent(scenario: &str, figure: impl Fn(&Statistics) -> u64) -> String {
    let loaded = habemus_scenario::parse("scenario", scenario).ok();
    let report = loaded.and_then(|loaded| habemus_sim::run(&loaded.scenario, false).ok());
    report.map_or_else(String::new, |report| grouped(figure(&report.statistics)))
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
