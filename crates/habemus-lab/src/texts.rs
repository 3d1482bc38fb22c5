//! The words of the page, in both languages.

use std::collections::BTreeMap;

use habemus::{ProblemKind, Status};
use habemus_sim::{ProcessState, Refusal, Stop};

use crate::language::Language;

/// What stands on the page, by key: English, then Portuguese.
const WORDS: &[(&str, &str, &str)] = &[
    ("lab", "lab", "laboratório"),
    ("exhibit", "Example", "Exemplo"),
    ("algorithm", "Algorithm", "Algoritmo"),
    ("own", "your own", "seu próprio"),
    ("processes", "Processes", "Processos"),
    ("seed", "Seed", "Semente"),
    ("new", "Start", "Começar"),
    ("share", "Copy link", "Copiar link"),
    ("copied", "The link is in the clipboard.", "O link está na área de transferência."),
    ("theme", "Light or dark", "Claro ou escuro"),
    ("language", "Português", "English"),
    ("help", "Help", "Ajuda"),
    ("network", "Network", "Rede"),
    ("diagram", "What happened", "O que aconteceu"),
    ("panels", "Details", "Detalhes"),
    ("begin", "To the beginning", "Ao início"),
    ("back", "One event back", "Um evento atrás"),
    ("forward", "One event on", "Um evento adiante"),
    ("play", "Play", "Reproduzir"),
    ("stop", "Stop", "Parar"),
    ("end", "To the end", "Ao fim"),
    ("speed", "Speed", "Velocidade"),
    ("position", "Event", "Evento"),
    ("of", "of", "de"),
    ("known", "known so far", "conhecidos até agora"),
    ("properties", "What must hold", "O que deve valer"),
    ("holds", "holds", "vale"),
    ("violated", "broken", "violada"),
    ("open", "open", "em aberto"),
    ("does-not-apply", "does not apply", "não se aplica"),
    ("promised", "promised", "prometida"),
    ("unpromised", "not promised", "não prometida"),
    ("jump", "Show it", "Mostrar"),
    ("cost", "Messages", "Mensagens"),
    ("theory", "Theory", "Teoria"),
    ("process", "Process", "Processo"),
    (
        "select",
        "Select a process to see its variables and why it waits.",
        "Escolha um processo para ver suas variáveis e por que espera.",
    ),
    ("variables", "Variables", "Variáveis"),
    ("stable", "Stable storage", "Armazenamento estável"),
    ("why", "Why is it where it is?", "Por que está assim?"),
    ("next", "What may come next", "O que pode vir a seguir"),
    ("nothing", "Nothing is on its way.", "Nada está a caminho."),
    ("now", "Now", "Agora"),
    ("branches", "Branches", "Ramos"),
    ("trunk", "as the scenario has it", "como no cenário"),
    ("differs", "first differs at event", "difere primeiro no evento"),
    ("difference", "first difference", "primeira diferença"),
    ("here", "here", "aqui"),
    ("there", "there", "lá"),
    ("topology", "Topology", "Topologia"),
    ("by-events", "Events a second", "Eventos por segundo"),
    ("by-time", "Times its own time", "Vezes o seu tempo"),
    ("partition", "Partition", "Particionar"),
    (
        "draw",
        "Click a process to look into it and to do something to it. A stroke across the network parts it.",
        "Clique em um processo para ver o que há nele e fazer algo com ele. Um risco na rede a divide.",
    ),
    ("do", "Act on", "Agir sobre"),
    ("lock", "Lock", "Trava"),
    ("welcome", "New here?", "Primeira vez aqui?"),
    (
        "welcome-words",
        "Here a ring elects a leader. Play it, or go through it event by event; click a process, a link or a \
            message to \
         break something. Or begin with an exercise:",
        "Aqui um anel elege um líder. Reproduza, ou percorra evento por evento; clique em um processo, um \
            enlace ou uma \
         mensagem para quebrar algo. Ou comece com um exercício:",
    ),
    ("welcome-play", "Play it", "Reproduzir"),
    ("heal", "Mend all links", "Refazer todos os enlaces"),
    ("background", "Background traffic", "Tráfego de fundo"),
    ("files", "Files", "Arquivos"),
    ("scenario", "Scenario", "Cenário"),
    ("trace", "Trace", "Rastro"),
    ("open-file", "Open a scenario", "Abrir um cenário"),
    ("fingerprint", "Fingerprint", "Impressão digital"),
    ("cancel", "Close", "Fechar"),
    (
        "crashed",
        "The engine stopped; the experiment is back where it was.",
        "O motor parou; o experimento voltou para onde estava.",
    ),
    ("loading", "Loading the engine …", "Carregando o motor …"),
    ("keys", "Keys", "Teclas"),
    ("key-space", "Space: play and stop", "Espaço: reproduzir e parar"),
    (
        "key-arrows",
        "← →: one event back or on, with Shift ten",
        "← →: um evento atrás ou adiante, com Shift dez",
    ),
    ("key-home", "Home, End: to the beginning, to the end", "Home, End: ao início, ao fim"),
    ("key-digits", "1–9: select a process", "1–9: escolher um processo"),
    (
        "key-crash",
        "c: crash or recover the selected process",
        "c: derrubar ou recuperar o processo escolhido",
    ),
    ("key-pause", "p: pause it or let it go on", "p: pausá-lo ou deixá-lo continuar"),
    ("key-events", "j, k: its next or last event", "j, k: seu próximo evento ou o anterior"),
    ("key-share", "s: copy a link to this moment", "s: copiar um link para este momento"),
    ("key-menu", "Enter: what can be done to it", "Enter: o que se pode fazer com ele"),
    ("by-hand", "by hand", "à mão"),
    ("down", "down", "caído"),
    ("paused", "paused", "pausado"),
    ("splitter", "Share of the network", "Parte da rede"),
    ("filters", "Filter", "Filtrar"),
    ("axis-order", "By order", "Por ordem"),
    ("axis-time", "By time", "Por tempo"),
    ("axis", "Down the page", "Para baixo na página"),
    ("kinds", "Messages", "Mensagens"),
    ("all", "All", "Todos"),
    ("search", "Search", "Buscar"),
    ("search-hint", "A word of an event, or a process", "Uma palavra de um evento, ou um processo"),
    ("silence", "of silence", "de silêncio"),
    ("zoom-in", "Larger", "Maior"),
    ("zoom-out", "Smaller", "Menor"),
    (
        "drag",
        "Drag an arrow's head to deliver its message earlier or later.",
        "Arraste a ponta de uma seta para entregar a mensagem antes ou depois.",
    ),
    ("key-cut", "x: cut it off, or mend its links", "x: isolá-lo, ou refazer seus enlaces"),
    ("key-fork", "f: begin another branch here", "f: começar outro ramo aqui"),
    ("key-why", "w: why is it where it is?", "w: por que está assim?"),
    ("key-search", "/: search", "/: buscar"),
    ("recorded", "A recording: nothing can be done to it.", "Uma gravação: nada se pode fazer com ela."),
    ("cycle", "From here on it can go round for ever.", "Daqui em diante pode repetir-se para sempre."),
    ("live", "Live", "Ao vivo"),
    ("live-over", "The nodes have ended.", "Os nós terminaram."),
    ("console", "Say to the nodes", "Dizer aos nós"),
    ("send", "Send", "Enviar"),
    ("edit", "Edit", "Editar"),
    ("edit-scenario", "The scenario", "O cenário"),
    ("apply", "Start with it", "Começar com ele"),
    ("check", "Check every run", "Verificar todas as execuções"),
    (
        "check-hint",
        "Every order of events, every choice, and as many faults as allowed.",
        "Toda ordem de eventos, toda escolha, e tantas falhas quantas permitidas.",
    ),
    ("check-begin", "Check", "Verificar"),
    ("check-cancel", "Cancel", "Cancelar"),
    ("check-states", "states", "estados"),
    ("check-limit", "At most", "No máximo"),
    ("check-properties", "Properties", "Propriedades"),
    ("check-promised", "those promised", "as prometidas"),
    ("check-all", "all", "todas"),
    ("check-loading", "Loading the checker …", "Carregando o verificador …"),
    ("check-open", "Open this run", "Abrir esta execução"),
    ("check-cycle", "goes round for ever", "repete-se para sempre"),
    ("check-steps", "steps", "passos"),
    ("check-stopped", "Cancelled.", "Cancelado."),
    ("faults", "Faults, at most", "Falhas, no máximo"),
    ("fault-crashes", "crashes", "quedas"),
    ("fault-recoveries", "recoveries", "recuperações"),
    ("fault-amnesia", "with amnesia", "com amnésia"),
    ("fault-losses", "losses", "perdas"),
    ("fault-duplications", "duplications", "duplicações"),
    ("fault-suspicions", "false suspicions", "suspeitas falsas"),
    ("fault-partitions", "partitions", "partições"),
    ("fault-wrong-timeouts", "wrong timeouts", "timeouts errados"),
    ("not-found", "not found so far", "não encontrada até aqui"),
    ("not-covered", "not covered", "não coberta"),
    ("course", "Exercises", "Exercícios"),
    ("exercise", "Exercise", "Exercício"),
    ("goal", "Goal", "Objetivo"),
    ("budget", "You may", "Você pode"),
    ("change", "You may change", "Você pode mudar"),
    ("hint", "A hint", "Uma dica"),
    ("solved", "Solved!", "Resolvido!"),
    ("not-yet", "Not yet", "Ainda não"),
    ("predict", "What will come?", "O que virá?"),
    ("right", "Right.", "Certo."),
    ("wrong", "No.", "Não."),
    ("leave", "Leave the exercise", "Sair do exercício"),
    ("teacher", "A link for a class", "Um link para a turma"),
    (
        "teacher-hint",
        "Whoever follows it does not see what is ticked.",
        "Quem o segue não vê o que está marcado.",
    ),
    ("made-by-hand", "by hand", "à mão"),
    ("picture", "Picture", "Figura"),
    ("messages-on-their-way", "Messages on their way", "Mensagens a caminho"),
];

/// What stands on the page, by key.
pub fn words(language: Language) -> BTreeMap<&'static str, &'static str> {
    WORDS.iter().map(|(key, english, portuguese)| (*key, language.of(*english, *portuguese))).collect()
}

/// What properties are called in Portuguese; those with a sign for a name keep it.
const PROPERTIES: &[(&str, &str)] = &[
    ("termination", "terminação"),
    ("uniqueness", "unicidade"),
    ("agreement", "acordo"),
    ("one-leader-per-term", "um líder por mandato"),
    ("eventual-accuracy", "acurácia no fim"),
    ("stability", "estabilidade"),
    ("no-deadlock", "sem impasse"),
    ("no-starvation", "sem inanição"),
    ("bounded-waiting", "espera limitada"),
    ("fencing", "isolamento"),
    ("integrity", "integridade"),
    ("validity", "validade"),
];

/// What a property is called.
pub(crate) fn property_words(name: &str, language: Language) -> &str {
    match language {
        Language::English => name,
        Language::Portuguese => {
            PROPERTIES.iter().find(|(other, _)| *other == name).map_or(name, |(_, portuguese)| portuguese)
        }
    }
}

/// What a problem is called.
pub(crate) fn problem_words(problem: ProblemKind, language: Language) -> &'static str {
    match problem {
        ProblemKind::Election => language.of("election", "eleição"),
        ProblemKind::MutualExclusion => language.of("mutual exclusion", "exclusão mútua"),
        ProblemKind::Agreement => language.of("agreement", "acordo"),
        ProblemKind::FailureDetection => language.of("failure detection", "detecção de falhas"),
    }
}

/// What a process is, in words.
pub(crate) fn status_words(state: &ProcessState, language: Language) -> String {
    if !state.is_up {
        return language.of("down", "caído").to_owned();
    }
    let words = match state.status {
        Status::Idle => language.of("idle", "ocioso").to_owned(),
        Status::Waiting => language.of("waits to enter", "espera para entrar").to_owned(),
        Status::Inside => language.of("inside", "dentro").to_owned(),
        Status::Leading => language.of("leads", "lidera").to_owned(),
        Status::Following(Some(leader)) => format!("{} {leader}", language.of("follows", "segue")),
        Status::Following(None) => language.of("follows", "segue").to_owned(),
        Status::Decided => language.of("has decided", "decidiu").to_owned(),
    };
    if state.is_paused { format!("{words}, {}", language.of("paused", "pausado")) } else { words }
}

/// Why nothing more comes by itself, in words.
pub(crate) fn stop_words(stop: Option<Stop>, language: Language) -> &'static str {
    match stop {
        Some(Stop::Quiet) => language.of("nothing more can happen", "nada mais pode acontecer"),
        Some(Stop::Agreed) => {
            language.of("all live processes agree on the leader", "todos os vivos concordam sobre o líder")
        }
        Some(Stop::Time) => language.of("the time asked for has come", "chegou o tempo pedido"),
        Some(Stop::Events) => {
            language.of("the number of events asked for is reached", "chegou-se ao número de eventos pedido")
        }
        Some(Stop::TimeLimit) => language.of("the time limit is reached", "chegou-se ao limite de tempo"),
        Some(Stop::EventLimit | Stop::Interrupted) | None => {
            language.of("so many events are followed and no more", "não se seguem mais eventos que estes")
        }
    }
}

/// Why something cannot happen now, in words.
pub(crate) fn refusal_words(refusal: Refusal, language: Language) -> String {
    match (language, refusal) {
        (Language::English, refusal) => refusal.to_string(),
        (_, Refusal::NoMessage) => "não há tal mensagem a caminho".to_owned(),
        (_, Refusal::NoTimer) => "não há tal temporizador".to_owned(),
        (_, Refusal::Order) => "o enlace mantém a ordem, e outra mensagem foi enviada antes desta".to_owned(),
        (_, Refusal::Paused) => "o processo está pausado e nada recebe".to_owned(),
        (_, Refusal::Pulse) => {
            "a rede é síncrona, e isto pertence a um momento posterior do pulso".to_owned()
        }
        (_, Refusal::Bound) => "a rede promete um limite de atraso, que isto violaria".to_owned(),
        (_, Refusal::Clocks) => {
            "a rede já é pontual, e com ela os relógios: nenhum temporizador expira cedo demais".to_owned()
        }
        (_, Refusal::Scripted) => "numa rede com roteiro nada chega por si que se pudesse atrasar".to_owned(),
        (_, Refusal::Itself) => "vem por si, quando chegar sua hora".to_owned(),
    }
}

/// What properties demand, in Portuguese.
const DEMANDS: &[(&str, &str)] = &[
    (
        "If a commander is loyal and stays up, every loyal process obeys his order.",
        "Se um comandante é leal e não cai, todo processo leal obedece à sua ordem.",
    ),
    (
        "No loyal process decides twice; after a crash it may repeat what it had decided.",
        "Nenhum processo leal decide duas vezes; depois de uma falha pode repetir o que decidira.",
    ),
    (
        "If a process that stays up has proposed, in the end every live loyal process has decided.",
        "Se um processo que não cai propôs, no fim todo processo leal vivo decidiu.",
    ),
    (
        "All loyal processes that are up obey the same order.",
        "Todos os processos leais de pé obedecem à mesma ordem.",
    ),
    ("What a loyal process decides, somebody has proposed.", "O que um processo leal decide, alguém propôs."),
    (
        "No two loyal processes decide differently.",
        "Não há dois processos leais que decidam de modo diferente.",
    ),
    (
        "A process knows no leader, or its leader is the best live process.",
        "Um processo não conhece líder, ou seu líder é o melhor processo vivo.",
    ),
    (
        "In the end every live process has a live process as its leader.",
        "No fim todo processo vivo tem um processo vivo como líder.",
    ),
    ("In the end every live process knows a leader.", "No fim todo processo vivo conhece um líder."),
    (
        "Once a leader is elected, another process becomes leader only if that one has failed.",
        "Eleito um líder, outro só se torna líder se aquele falhou.",
    ),
    (
        "Never do two live processes consider themselves the leader at the same time.",
        "Nunca dois processos vivos se consideram líder ao mesmo tempo.",
    ),
    ("No two processes ever lead the same term.", "Não há dois processos que liderem o mesmo mandato."),
    (
        "In the end one live process leads, and all other live processes know it as their leader.",
        "No fim um processo vivo lidera, e todos os outros vivos o conhecem como líder.",
    ),
    (
        "Some process considers itself the leader at some time.",
        "Algum processo se considera líder em algum momento.",
    ),
    (
        "While a request waits, each other process that knows of it enters at most once.",
        "Enquanto um pedido espera, cada outro processo que o conhece entra no máximo uma vez.",
    ),
    (
        "If one request to enter happened before another, they enter in that order.",
        "Se um pedido de entrada aconteceu antes de outro, entram nessa ordem.",
    ),
    (
        "Every request to enter or to leave succeeds in the end.",
        "Todo pedido de entrar ou sair acaba atendido.",
    ),
    (
        "No write of an older holder is accepted after a newer one has written, and the newest token is \
            given once.",
        "Nenhuma escrita de um detentor antigo é aceita depois que um mais novo escreveu, e a ficha mais \
            nova é dada uma só vez.",
    ),
    ("If somebody wants to enter, somebody does.", "Se alguém quer entrar, alguém entra."),
    ("Whoever wants to enter does in the end.", "Quem quer entrar acaba entrando."),
    (
        "At most one process at a time is in the critical section.",
        "No máximo um processo de cada vez está na seção crítica.",
    ),
];

/// What a property demands; in English where nobody has said it in Portuguese.
pub(crate) fn demand_words(demand: &str, language: Language) -> &str {
    match language {
        Language::English => demand,
        Language::Portuguese => portuguese_demand(demand).unwrap_or(demand),
    }
}

fn portuguese_demand(demand: &str) -> Option<&'static str> {
    DEMANDS.iter().find(|(english, _)| *english == demand).map(|(_, portuguese)| *portuguese)
}

#[cfg(test)]
mod tests {
    use super::*;
    use habemus::Problem;
    use habemus::property::{Monitor, Population};

    #[test]
    fn every_word_has_its_key_once() {
        assert_eq!(words(Language::English).len(), WORDS.len());
    }

    fn assert_translated<Q: Problem>() {
        let population = Population {
            ids: vec![habemus::Id(1), habemus::Id(2)],
            preference: Some(vec![1, 2]),
            permits: 1,
            is_sure_to_start: false,
        };
        for monitor in Q::monitors(&population) {
            assert!(portuguese_demand(monitor.demand()).is_some(), "{}", monitor.demand());
        }
    }

    #[test]
    fn what_every_property_demands_is_said_in_portuguese() {
        assert_translated::<habemus::election::Election>();
        assert_translated::<habemus::mutex::Mutex>();
        assert_translated::<habemus::agreement::Agreement>();
    }
}
