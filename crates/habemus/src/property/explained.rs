//! Every property in plain words, with the lecture notes' own sentence where they have one: for readers who
//! meet a label such as EM1 for the first time.

use crate::ProblemKind;

/// Lecture notes that this project follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notes {
    /// How they are named here: S0 to S4.
    pub label: &'static str,
    /// Their title, in Portuguese.
    pub title: &'static str,
    /// The title in English.
    pub translation: &'static str,
    /// Who wrote them and where, as far as they say so themselves.
    pub author: &'static str,
}

/// The five lecture notes.
pub const NOTES: [Notes; 5] = [
    Notes {
        label: "S0",
        title: "Sistemas Distribuídos, Aula 17: Eleição de líder",
        translation: "Distributed systems, lecture 17: leader election",
        author: "the notes name neither author nor university",
    },
    Notes {
        label: "S1",
        title: "Sistemas Distribuídos: Coordenação e Acordo",
        translation: "Distributed systems: coordination and agreement",
        author: "Prof. Rodrigo Campiolo, Universidade Tecnológica Federal do Paraná",
    },
    Notes {
        label: "S2",
        title: "Algoritmos Distribuídos: Eleição de Líder",
        translation: "Distributed algorithms: leader election",
        author: "Professora Lúcia Drummond; the notes do not name the university",
    },
    Notes {
        label: "S3",
        title: "Sistemas Distribuídos: Eleição de Líder no modelo parcialmente síncrono - GST",
        translation: "Distributed systems: leader election in the partially synchronous model (GST)",
        author: "Prof. Elias P. Duarte Jr., Universidade Federal do Paraná (UFPR)",
    },
    Notes {
        label: "S4",
        title: "Coordenação",
        translation: "Coordination, a chapter of an electronic book on distributed systems",
        author: "the notes name neither author nor university",
    },
];

/// A sentence of the notes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quotation {
    /// Of which notes.
    pub notes: &'static str,
    /// As it is written there.
    pub sentence: &'static str,
    /// The same in English.
    pub translation: &'static str,
}

/// A property in plain words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The label by which reports name it.
    pub name: &'static str,
    /// Of which problem. Two problems may have a property of the same name.
    pub problem: ProblemKind,
    /// A few words for it.
    pub title: &'static str,
    /// What it means, and what it does not.
    pub words: &'static str,
    /// What it looks like when it is broken.
    pub broken: &'static str,
    /// Where it comes from.
    pub quotation: Option<Quotation>,
}

/// What properties a name stands for; letters may be small.
pub fn explanations(name: &str) -> impl Iterator<Item = &'static Explanation> {
    EXPLANATIONS.iter().filter(move |explanation| explanation.name.eq_ignore_ascii_case(name))
}

const fn said(notes: &'static str, sentence: &'static str, translation: &'static str) -> Option<Quotation> {
    Some(Quotation { notes, sentence, translation })
}

/// Every property, in the order in which reports have them.
pub const EXPLANATIONS: &[Explanation] = &[
    Explanation {
        name: "E1",
        problem: ProblemKind::Election,
        title: "only the best one leads",
        words: "Whoever knows a leader knows the best process that is alive; best means the highest \
            identifier, \
                or the lowest where the notes say so. Who knows no leader yet breaks nothing.",
        broken: "a process follows one that has crashed, or a worse one while a better one is alive.",
        quotation: said(
            "S1",
            "E1 (segurança): p_i tem elected_i = ⊥ ou elected_i = P onde P é escolhido com o processo não \
             defeituoso com maior identificador.",
            "E1 (safety): p_i has elected_i = ⊥ or elected_i = P, where P is chosen as the non-faulty \
                process \
             with the highest identifier.",
        ),
    },
    Explanation {
        name: "E2",
        problem: ProblemKind::Election,
        title: "everybody gets a leader",
        words: "When all is over, every process that is alive knows some leader. Whether it is the same for \
            all, \
                agreement says; whether it is the right one, E1.",
        broken: "the run ends and somebody still waits for the result.",
        quotation: said(
            "S1",
            "E2 (subsistência): todos os processos p_i participam e configuram elected_i ≠ ⊥",
            "E2 (liveness): all processes p_i take part and set elected_i ≠ ⊥",
        ),
    },
    Explanation {
        name: "termination",
        problem: ProblemKind::Election,
        title: "somebody leads at last",
        words: "At some time some process considers itself the leader. It need not be known to the others.",
        broken: "an election was started, nothing more can happen, and nobody ever led.",
        quotation: said(
            "S4",
            "Terminação: algum processo deve se considerar líder em algum momento.",
            "Termination: some process must consider itself the leader at some time.",
        ),
    },
    Explanation {
        name: "uniqueness",
        problem: ProblemKind::Election,
        title: "never two leaders at once",
        words: "No two live processes consider themselves the leader at the same time. No algorithm can \
            promise \
                that where messages or processes may be slow: one leader per term is what remains.",
        broken: "the brain is split: two processes give orders.",
        quotation: said(
            "S4",
            "Unicidade: somente um processo se considera líder.",
            "Uniqueness: only one process considers itself the leader.",
        ),
    },
    Explanation {
        name: "agreement",
        problem: ProblemKind::Election,
        title: "all follow the same leader",
        words: "In the end one live process leads, and every other live process knows it as its leader.",
        broken: "two groups follow two leaders, or somebody follows a dead one.",
        quotation: said(
            "S4",
            "Acordo: todos os outros processos sabem quem foi eleito líder.",
            "Agreement: all other processes know who was elected leader.",
        ),
    },
    Explanation {
        name: "stability",
        problem: ProblemKind::Election,
        title: "a leader that lives stays",
        words: "Another process becomes leader only if the one before has failed. A better one that comes \
            back \
                must wait.",
        broken: "a leader is replaced though it is alive and well.",
        quotation: said(
            "S4",
            "Dizemos que um algoritmo de eleição de líderes é estável se uma vez que um líder é eleito, uma \
                nova \
             eleição só acontece se o líder falha.",
            "We call an algorithm for leader election stable if, once a leader is elected, a new election \
                takes \
             place only if the leader fails.",
        ),
    },
    Explanation {
        name: "eventual-accuracy",
        problem: ProblemKind::Election,
        title: "in the end nobody follows the dead",
        words: "After some time every live process has a live one as its leader. Before that, anything goes.",
        broken: "things have been calm for long, and somebody still trusts a process that has crashed.",
        quotation: said(
            "S3",
            "Precisão após um tempo: existe um instante de tempo a partir do qual todo processo correto tem \
                como \
             líder um processo correto",
            "Eventual accuracy: there is an instant from which on every correct process has a correct \
                process as \
             its leader",
        ),
    },
    Explanation {
        name: "one-leader-per-term",
        problem: ProblemKind::Election,
        title: "each term has one leader",
        words: "Terms are numbered, and no two processes ever lead the same one. An old leader that does not \
            know \
                yet that it was replaced is told by its number.",
        broken: "two processes led with the same number, and nobody can tell which of them is right.",
        quotation: said(
            "S4",
            "O algoritmo Raft de difusão atômica, que estudaremos adiante, define mandatos e garante, com \
                pesos, \
             que somente um líder existe em cada mandato.",
            "The Raft algorithm for atomic broadcast, which we shall study later, defines terms and \
                guarantees, \
             with weights, that only one leader exists in each term.",
        ),
    },
    Explanation {
        name: "EM1",
        problem: ProblemKind::MutualExclusion,
        title: "at most one inside",
        words: "At most one process at a time is in the critical section, by its own belief. With more \
            permits, at \
                most so many; those that share may be inside together.",
        broken: "two are inside at once, and one may destroy what the other writes.",
        quotation: said(
            "S1",
            "EM1 (segurança): máximo um processo por vez na seção crítica.",
            "EM1 (safety): at most one process at a time in the critical section.",
        ),
    },
    Explanation {
        name: "EM2",
        problem: ProblemKind::MutualExclusion,
        title: "whoever asks is served",
        words: "Every request to enter succeeds in the end, and so does every request to leave.",
        broken: "somebody waits for ever, or cannot get out.",
        quotation: said(
            "S1",
            "EM2 (subsistência): os pedidos para entrar e sair da seção crítica têm sucesso.",
            "EM2 (liveness): requests to enter and to leave the critical section succeed.",
        ),
    },
    Explanation {
        name: "EM3",
        problem: ProblemKind::MutualExclusion,
        title: "first come, first served",
        words: "If one request happened before another, it is granted first. Happened before is Lamport's \
            order: of \
                two requests that could not know of each other, either may be first.",
        broken: "somebody overtakes a request that it could have known of.",
        quotation: said(
            "S1",
            "EM3 (ordenação): se um pedido de entrar na seção crítica aconteceu antes de outro, então a \
                ordem de \
             entrada é garantida nessa ordem.",
            "EM3 (ordering): if one request to enter the critical section happened before another, entry is \
             granted in that order.",
        ),
    },
    Explanation {
        name: "no-deadlock",
        problem: ProblemKind::MutualExclusion,
        title: "somebody gets in",
        words: "If processes want to enter, one of them does; not always the one you care for.",
        broken: "all wait for each other, and nothing can happen any more.",
        quotation: said(
            "S4",
            "ausência de deadlocks - se processos estão tentando acessar o recurso, então algum processo \
                deve \
             conseguir acesso em algum instante, dado que nenhum processo fique na região crítica \
             indefinidamente;",
            "absence of deadlocks: if processes are trying to access the resource, then some process must \
                get \
             access at some instant, given that no process stays in the critical section for ever;",
        ),
    },
    Explanation {
        name: "no-starvation",
        problem: ProblemKind::MutualExclusion,
        title: "everybody gets in",
        words: "Whoever wants to enter does in the end, however many others want to.",
        broken: "others come and go, and one never has its turn.",
        quotation: said(
            "S4",
            "não-inanição - todos os processos interessados conseguem, em algum momento, acessar o recurso;",
            "no starvation: all interested processes manage, at some time, to access the resource;",
        ),
    },
    Explanation {
        name: "bounded-waiting",
        problem: ProblemKind::MutualExclusion,
        title: "nobody is overtaken twice",
        words: "While a request waits, each other process that knows of it enters at most once.",
        broken: "somebody enters twice while another, of whose request it knows, waits.",
        quotation: said(
            "S4",
            "espera limitada - idealmente, o tempo de espera pelo recurso é limitado.",
            "bounded waiting: ideally, the time of waiting for the resource is bounded.",
        ),
    },
    Explanation {
        name: "fencing",
        problem: ProblemKind::MutualExclusion,
        title: "a late write does no harm",
        words: "Each holder has a token, a number that grows with every grant, and shows it to the resource, \
            which \
                refuses numbers smaller than it has seen. So what the lock protects stays whole even if a \
                slow \
                holder does not know that it has lost the lock.",
        broken: "an older holder's write is accepted after a newer holder has written, and an update is \
            lost.",
        quotation: None,
    },
    Explanation {
        name: "agreement",
        problem: ProblemKind::Agreement,
        title: "all decide the same",
        words: "No two loyal processes decide differently, whatever traitors say and whoever crashes.",
        broken: "two loyal processes have decided on different values.",
        quotation: said(
            "S1",
            "O problema está relacionado ao fato de os processos concordarem com um valor, após um ou mais \
                dos \
             processos terem proposto qual deve ser esse valor.",
            "The problem is that the processes agree on a value after one or more of them have proposed what \
             this value should be.",
        ),
    },
    Explanation {
        name: "validity",
        problem: ProblemKind::Agreement,
        title: "nothing is made up",
        words: "What a loyal process decides, somebody has proposed.",
        broken: "all decide on a value that nobody wanted.",
        quotation: None,
    },
    Explanation {
        name: "integrity",
        problem: ProblemKind::Agreement,
        title: "a decision is final",
        words: "No loyal process decides twice. After a crash it may say again what it had decided.",
        broken: "a process changes its mind.",
        quotation: None,
    },
    Explanation {
        name: "termination",
        problem: ProblemKind::Agreement,
        title: "everybody decides at last",
        words: "If a process that stays up has proposed, then in the end every live loyal process has \
            decided.",
        broken: "the run is over and somebody has not decided.",
        quotation: None,
    },
    Explanation {
        name: "IC1",
        problem: ProblemKind::Agreement,
        title: "the loyal obey alike",
        words: "All loyal generals that are up obey the same order, even if the commander is a traitor: the \
            first \
                condition of interactive consistency (Lamport, Shostak and Pease, 1982).",
        broken: "some loyal generals attack and others retreat.",
        quotation: None,
    },
    Explanation {
        name: "IC2",
        problem: ProblemKind::Agreement,
        title: "a loyal commander is obeyed",
        words: "If the commander is loyal and stays up, every loyal general obeys the order that he gave: \
            the second \
                condition of interactive consistency.",
        broken: "a traitor among the generals turns a loyal general against a loyal commander.",
        quotation: None,
    },
];
