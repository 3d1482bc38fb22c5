//! What algorithms, example runs and monitors say in English, in Portuguese.

use crate::language::Language;

/// What the example runs of the notes show.
const TITLES: &[(&str, &str)] = &[
    (
        "S0: 2 and 5 start ring elections at once: the same result, twice the messages",
        "S0: 2 e 5 iniciam eleições em anel ao mesmo tempo: o mesmo resultado, o dobro de mensagens",
    ),
    ("S0: 2 starts a ring election, and 6 is announced", "S0: 2 inicia uma eleição em anel, e 6 é anunciado"),
    ("S0: 4 notices that 7 died, and 6 wins", "S0: 4 percebe que 7 morreu, e 6 vence"),
    (
        "S0: 6 dies after it has put itself on the list; it is elected all the same, and replaced by 5",
        "S0: 6 morre depois de se pôr na lista; é eleito assim mesmo, e substituído por 5",
    ),
    (
        "S0: 6 dies with the list in its hands; 2 waits in vain and starts again, and 5 wins",
        "S0: 6 morre com a lista nas mãos; 2 espera em vão e recomeça, e 5 vence",
    ),
    (
        "S0: all notice at once, but small identifiers wait longer: n messages again",
        "S0: todos percebem ao mesmo tempo, mas identificadores pequenos esperam mais: n mensagens de novo",
    ),
    (
        "S0: the best case, the highest live identifier starts: n messages",
        "S0: o melhor caso, o maior identificador vivo começa: n mensagens",
    ),
    (
        "S0: the worst case, the lowest identifier starts: n(n−1) messages",
        "S0: o pior caso, o menor identificador começa: n(n−1) mensagens",
    ),
    (
        "S1: 17 starts on the ring 3·17·24·1·28·15·9·4, and 28 wins",
        "S1: 17 começa no anel 3·17·24·1·28·15·9·4, e 28 vence",
    ),
    (
        "S1: 3 alters the order, but cannot sign for 1: what it forged is refused",
        "S1: 3 altera a ordem, mas não pode assinar por 1: o que forjou é recusado",
    ),
    (
        "S1: a car park with two places: the third car waits until one leaves",
        "S1: um estacionamento com duas vagas: o terceiro carro espera até um sair",
    ),
    (
        "S1: an acceptor that forgets what it promised lets a second value be decided",
        "S1: um aceitador que esquece o que prometeu deixa decidir um segundo valor",
    ),
    (
        "S1: four processes agree on everybody's value, though 4 tells each something else",
        "S1: quatro processos concordam sobre o valor de cada um, embora 4 diga a cada um outra coisa",
    ),
    (
        "S1: one traitor among four generals: the loyal obey the commander whatever 4 says",
        "S1: um traidor entre quatro generais: os leais obedecem ao comandante, diga 4 o que disser",
    ),
    (
        "S1: p4 is dead, p1 starts, p3 dies during the election, and p2 wins",
        "S1: p4 está morto, p1 começa, p3 morre durante a eleição, e p2 vence",
    ),
    (
        "S1: the commander is the traitor, but four generals pass on what they heard and obey alike",
        "S1: o comandante é o traidor, mas quatro generais repassam o que ouviram e obedecem igual",
    ),
    (
        "S1: the leader dies as it decides; the next finds the value that a majority accepted, and decides \
            the same",
        "S1: o líder morre ao decidir; o próximo encontra o valor que a maioria aceitou, e decide o mesmo",
    ),
    (
        "S1: the same forgery where nobody looks at the signatures: a loyal commander is not obeyed",
        "S1: a mesma falsificação onde ninguém olha as assinaturas: um comandante leal não é obedecido",
    ),
    (
        "S1: the same run with stable storage: 2 remembers what it accepted, and all decide it",
        "S1: a mesma execução com memória estável: 2 lembra o que aceitou, e todos o decidem",
    ),
    (
        "S1: the same two crashes with two rounds only: 3 knows a value that 4 has never heard of",
        "S1: as mesmas duas falhas com só duas rodadas: 3 conhece um valor de que 4 nunca ouviu falar",
    ),
    (
        "S1: those who only look share, and one who wants to be alone is not overtaken",
        "S1: quem só olha compartilha, e quem quer estar só não é ultrapassado",
    ),
    (
        "S1: three generals cannot withstand one traitor: 2 cannot tell whether 1 or 3 lies",
        "S1: três generais não resistem a um traidor: 2 não sabe se 1 ou 3 mente",
    ),
    (
        "S1: three processes that can ask a vote back all enter",
        "S1: três processos que podem pedir um voto de volta entram todos",
    ),
    (
        "S1: three processes vote for themselves and wait for each other",
        "S1: três processos votam em si mesmos e esperam uns pelos outros",
    ),
    (
        "S1: two concurrent requests enter in the order of their timestamps",
        "S1: dois pedidos concorrentes entram na ordem de suas marcas de tempo",
    ),
    (
        "S1: two processes crash in the midst of their broadcasts, and three rounds suffice to agree",
        "S1: dois processos caem no meio de suas difusões, e três rodadas bastam para concordar",
    ),
    (
        "S1: with signatures three generals withstand one traitor: a commander who signed two orders is \
            found out",
        "S1: com assinaturas três generais resistem a um traidor: o comandante que assinou duas ordens é \
            descoberto",
    ),
    (
        "S2: asynchronous capture as it is printed: two candidates capture each other, and both lead",
        "S2: captura assíncrona como está impressa: dois candidatos capturam um ao outro, e ambos lideram",
    ),
    (
        "S2: asynchronous capture, n = 16, all are candidates: levels decide",
        "S2: captura assíncrona, n = 16, todos são candidatos: os níveis decidem",
    ),
    (
        "S2: asynchronous capture, n = 8, all are candidates: levels decide",
        "S2: captura assíncrona, n = 8, todos são candidatos: os níveis decidem",
    ),
    (
        "S2: eight candidates tell everybody in pulse 0, and all know the leader in pulse 1",
        "S2: oito candidatos avisam todos no pulso 0, e todos conhecem o líder no pulso 1",
    ),
    (
        "S2: synchronous capture, n = 16, all are candidates: each set halves them",
        "S2: captura síncrona, n = 16, todos são candidatos: cada conjunto os reduz à metade",
    ),
    (
        "S2: synchronous capture, n = 8, all are candidates: each set halves them",
        "S2: captura síncrona, n = 8, todos são candidatos: cada conjunto os reduz à metade",
    ),
    (
        "S3: a process that keeps crashing and recovering ends without the leadership",
        "S3: um processo que cai e se recupera sem parar termina sem a liderança",
    ),
    (
        "S3: before GST leaders come and go and nobody decides; soon after it everybody has, and the same",
        "S3: antes do GST líderes vêm e vão e ninguém decide; logo depois todos decidiram, e o mesmo",
    ),
    (
        "S3: by the letter of the slides everybody chooses once, and follows a crashed leader for ever",
        "S3: ao pé da letra dos slides cada um escolhe uma vez, e segue para sempre um líder caído",
    ),
    (
        "S3: leader 0 crashes and recovers; its incarnation has risen, and the new leader stays",
        "S3: o líder 0 cai e se recupera; sua encarnação subiu, e o novo líder fica",
    ),
    (
        "S3: several leaders that change before the Global Stabilization Time, and agreement after it",
        "S3: vários líderes que mudam antes do tempo global de estabilização, e acordo depois dele",
    ),
    (
        "S3: the heartbeats of a process that keeps crashing are never received",
        "S3: os batimentos de um processo que cai sem parar nunca são recebidos",
    ),
    (
        "S4: Anel 2 if all start at once: n² messages, and everybody knows",
        "S4: Anel 2 se todos começam juntos: n² mensagens, e todos sabem",
    ),
    (
        "S4: Anel 2 with one initiator: it alone learns who leads, and not even the leader knows",
        "S4: Anel 2 com um iniciador: só ele fica sabendo quem lidera, e nem o líder sabe",
    ),
    (
        "S4: Chang-Roberts as printed: only the winner learns that it has won",
        "S4: Chang-Roberts como impresso: só o vencedor fica sabendo que venceu",
    ),
    (
        "S4: Chang-Roberts at its worst: identifiers fall in the direction of travel",
        "S4: Chang-Roberts no pior caso: identificadores decrescem no sentido do percurso",
    ),
    (
        "S4: Chang-Roberts corrected so that it ends: the winner sends the news round",
        "S4: Chang-Roberts corrigido para terminar: o vencedor espalha a notícia",
    ),
    (
        "S4: Franklin as printed: every loser's -p costs the winner a round, and nobody hears of it",
        "S4: Franklin como impresso: cada -p de um perdedor custa uma rodada ao vencedor, e ninguém fica \
            sabendo",
    ),
    (
        "S4: Franklin with the highest identifier in the middle: its neighbours go, then theirs",
        "S4: Franklin com o maior identificador no meio: saem seus vizinhos, depois os deles",
    ),
    (
        "S4: Yo-Yo by the letter: without pruning it never ends",
        "S4: Yo-Yo ao pé da letra: sem poda nunca termina",
    ),
    (
        "S4: Yo-Yo where one YES outvotes a NO: the lowest still wins, an iteration later",
        "S4: Yo-Yo onde um SIM vence um NÃO: o menor ainda vence, uma iteração depois",
    ),
    (
        "S4: Yo-Yo with the link 2-10 cut, and patience: nobody is elected",
        "S4: Yo-Yo com o enlace 2-10 cortado, e paciência: ninguém é eleito",
    ),
    (
        "S4: Yo-Yo with the link 2-10 cut: two elections, two leaders, a split brain",
        "S4: Yo-Yo com o enlace 2-10 cortado: duas eleições, dois líderes, um cérebro dividido",
    ),
    (
        "S4: Yo-Yo: a network, its orientation, what falls, what rises, and what is struck out",
        "S4: Yo-Yo: uma rede, sua orientação, o que desce, o que sobe, e o que é riscado",
    ),
    ("S4: a coordinator forgets, and two are inside", "S4: um coordenador esquece, e dois estão dentro"),
    (
        "S4: a coordinator that has stored its grants lets nobody else in",
        "S4: um coordenador que guardou suas concessões não deixa mais ninguém entrar",
    ),
    (
        "S4: a holder that stays too long leaves by itself when its lease is over",
        "S4: quem fica tempo demais sai sozinho quando seu prazo termina",
    ),
    (
        "S4: a leader on the smaller side of a cut gives up before the larger side elects another",
        "S4: um líder no lado menor de um corte desiste antes que o lado maior eleja outro",
    ),
    (
        "S4: a paused leader cannot say that its lease is over, but its term has passed",
        "S4: um líder pausado não pode dizer que seu prazo acabou, mas seu mandato passou",
    ),
    ("S4: a timer breaks the deadlock of the quorum", "S4: um temporizador desfaz o impasse do quórum"),
    (
        "S4: every participant has the grant of one coordinator",
        "S4: cada participante tem a concessão de um coordenador",
    ),
    (
        "S4: five processes, seven steps: 5 dies, 2, 3 and 1 stand, 4 wins",
        "S4: cinco processos, sete passos: 5 morre, 2, 3 e 1 candidatam-se, 4 vence",
    ),
    (
        "S4: majority election under the cut that split Yo-Yo's brain: one leader, on the heavier side",
        "S4: eleição por maioria sob o corte que dividiu o Yo-Yo: um líder, no lado mais pesado",
    ),
    (
        "S4: on an anonymous ring one candidate is elected and invested",
        "S4: num anel anônimo um candidato é eleito e empossado",
    ),
    (
        "S4: on an anonymous ring two candidates are both elected",
        "S4: num anel anônimo dois candidatos são ambos eleitos",
    ),
    (
        "S4: process 5 comes and goes under the bully: every return is a change of leader",
        "S4: o processo 5 vai e vem sob o valentão: cada volta é uma troca de líder",
    ),
    (
        "S4: process 5 comes and goes under the stable election: 4 leads, and stays",
        "S4: o processo 5 vai e vem sob a eleição estável: 4 lidera, e fica",
    ),
    (
        "S4: process 5 comes and goes, loses its weight, and regains it in time",
        "S4: o processo 5 vai e vem, perde seu peso, e o recupera com o tempo",
    ),
    (
        "S4: weight by uptime: 5 comes and goes, and leads again when it has run for as long as counts",
        "S4: peso pelo tempo de pé: 5 vai e vem, e volta a liderar quando está de pé há quanto conta",
    ),
    (
        "S4: rule 3 frees the resource on any release: the late one of 2 lets 1 in beside 3",
        "S4: a regra 3 libera o recurso a qualquer saída: a atrasada de 2 deixa 1 entrar junto com 3",
    ),
    (
        "S4: the anonymous ring cured: two candidates draw lots, and one is elected",
        "S4: o anel anônimo curado: dois candidatos sorteiam, e um é eleito",
    ),
    (
        "S4: the coordinator dies, another is elected, and nobody is forgotten",
        "S4: o coordenador morre, outro é eleito, e ninguém é esquecido",
    ),
    ("S4: the holder dies and takes the token along", "S4: o detentor morre e leva a ficha consigo"),
    (
        "S4: the holder dies, and the others issue a new token",
        "S4: o detentor morre, e os outros emitem uma nova ficha",
    ),
    ("S4: the holder dies, and the timeout helps", "S4: o detentor morre, e o timeout ajuda"),
    (
        "S4: the holder dies, and without a timeout the others starve",
        "S4: o detentor morre, e sem timeout os outros esperam para sempre",
    ),
    (
        "S4: the holder is only slow, and the timeout hurts: two inside",
        "S4: o detentor está apenas lento, e o timeout prejudica: dois dentro",
    ),
    (
        "S4: the run that the notes leave out: seven coordinators, a quorum of four, and nobody fails",
        "S4: a execução que as notas omitem: sete coordenadores, um quórum de quatro, e ninguém falha",
    ),
    (
        "S4: the same slow holder, with fencing tokens: nothing is lost",
        "S4: o mesmo detentor lento, com fichas de isolamento: nada se perde",
    ),
    (
        "S4: the holder is stopped beyond its session: the next one gets in, and its token keeps the late \
            write out",
        "S4: o detentor fica parado além da sua sessão: o próximo entra, e a sua ficha barra a escrita \
            atrasada",
    ),
    ("S4: the token goes round, and only 1 and 3 enter", "S4: a ficha circula, e só 1 e 3 entram"),
    ("S4: three participants and the coordinator", "S4: três participantes e o coordenador"),
];

/// What algorithms cost.
const COSTS: &[(&str, &str)] = &[
    (
        "6(n−1) if the leader proposes, and one more of each other that does",
        "6(n−1) se o líder propõe, e mais uma de cada outro que propõe",
    ),
    ("(n−1)² if all are loyal, n−1 with m = 0", "(n−1)² se todos são leais, n−1 com m = 0"),
    (
        "(f+1)·n(n−1) if nobody crashes, 2n(n−1) with news only",
        "(f+1)·n(n−1) se ninguém cai, 2n(n−1) só com novidades",
    ),
    ("n(n−1) per interval, for ever", "n(n−1) por intervalo, para sempre"),
    (
        "n(n−1) if the best is dead and the worst starts, n if the best live one does; else 2n² at most",
        "n(n−1) se o melhor está morto e o pior começa, n se o melhor vivo começa; senão no máximo 2n²",
    ),
    ("at most 8n(1+⌈log₂ n⌉) + n", "no máximo 8n(1+⌈log₂ n⌉) + n"),
    (
        "2n to 3n−1 (one starts); n·Hₙ + n on average, n(n+1)/2 + n at worst (all start)",
        "2n a 3n−1 (um começa); n·Hₙ + n em média, n(n+1)/2 + n no pior caso (todos começam)",
    ),
    ("n−1 for each candidate: n(n−1) if all are", "n−1 por candidato: n(n−1) se todos são"),
    (
        "6(n−1) until a new leader is sure of itself, 4(n−1) without pre-vote; then 2(n−1) per interval",
        "6(n−1) até um novo líder ter certeza de si, 4(n−1) sem pré-voto; depois 2(n−1) por intervalo",
    ),
    ("2n for each process that starts", "2n por processo que começa"),
    (
        "O(m log n): at most 2m·K + n − 1, where F(K) is the last Fibonacci number up to n − 1",
        "O(m log n): no máximo 2m·K + n − 1, onde F(K) é o último número de Fibonacci até n − 1",
    ),
    ("4n at best, 2n⌊log₂ n⌋ + 2n at worst", "4n no melhor caso, 2n⌊log₂ n⌋ + 2n no pior"),
    (
        "2n (one starts); O(n log n) on average (all start)",
        "2n (um começa); O(n log n) em média (todos começam)",
    ),
    (
        "a few messages per process, whatever the size of the group",
        "umas poucas mensagens por processo, seja qual for o tamanho do grupo",
    ),
    ("at most 3n⌈log₂ n⌉ − 1, and 3(n−1) if one starts", "no máximo 3n⌈log₂ n⌉ − 1, e 3(n−1) se um começa"),
    ("5n at best, 2n(⌊log₂ n⌋+1) + n at worst", "5n no melhor caso, 2n(⌊log₂ n⌋+1) + n no pior"),
    (
        "2(n−1) if the best live process starts, (n−1)(3n/2−1) if all do; n + 1 to come back",
        "2(n−1) se o melhor processo vivo começa, (n−1)(3n/2−1) se todos começam; n + 1 para voltar",
    ),
    (
        "at most 6(2n⌊log₂ n⌋ + n) + n − 1, and 3(n−1) if one starts",
        "no máximo 6(2n⌊log₂ n⌋ + n) + n − 1, e 3(n−1) se um começa",
    ),
    ("3 per entry, 4 with acknowledgement", "3 por entrada, 4 com confirmação"),
    ("3 per entry, and 1 or 2 for each renewal", "3 por entrada, e 1 ou 2 por renovação"),
    (
        "at most 2 per entry for each link on the way to the token: O(log n) on a balanced tree",
        "no máximo 2 por entrada para cada enlace no caminho até a ficha: O(log n) numa árvore balanceada",
    ),
    (
        "3 per entry for each coordinator without conflict; unbounded with",
        "3 por entrada por coordenador sem conflito; sem limite com conflito",
    ),
    (
        "3(k−1) per entry without conflict, at most 6(k−1) with; a set has k ≈ 2√n members (grid), √n \
            (plane)",
        "3(k−1) por entrada sem conflito, no máximo 6(k−1) com; um conjunto tem k ≈ 2√n membros (grade), √n \
            (plano)",
    ),
    ("0 or n per entry", "0 ou n por entrada"),
    ("2(n−1) per entry", "2(n−1) por entrada"),
    (
        "1 to n per entry while the token moves; 2n for a lonely entry if it stops",
        "1 a n por entrada enquanto a ficha circula; 2n para uma entrada solitária se ela para",
    ),
    ("3(n−1) per entry", "3(n−1) por entrada"),
    (
        "4 per entry; 2(n−1) and the election for a new coordinator",
        "4 por entrada; 2(n−1) e a eleição para um novo coordenador",
    ),
];

/// What monitors say; `{}` stands for names and times.
const SENTENCES: &[(&str, &str)] = &[
    ("{} considered itself the leader at {}, and so did {}", "{} considerava-se líder aos {}, e {} também"),
    (
        "{} considered itself the leader at {}, though {} is better and has been up since the run began",
        "{} considerava-se líder aos {}, embora {} seja melhor e esteja de pé desde o início",
    ),
    (
        "{} considered itself the leader at {}, which is not one of the processes",
        "{} considerava-se líder aos {}, e não é um dos processos",
    ),
    (
        "{} followed {} at {}, though {} is better and has been up since the run began",
        "{} seguia {} aos {}, embora {} seja melhor e esteja de pé desde o início",
    ),
    (
        "{} followed {} at {}, which is not one of the processes",
        "{} seguia {} aos {}, que não é um dos processos",
    ),
    (
        "{} became leader at {}, though {} had not failed",
        "{} tornou-se líder aos {}, embora {} não tivesse falhado",
    ),
    (
        "{} led term {} at {}, which {} had led before",
        "{} liderou o mandato {} aos {}, que {} já havia liderado",
    ),
    (
        "{} ended with another leader than {}, the best live process",
        "{} terminou com outro líder que {}, o melhor processo vivo",
    ),
    ("{} ended with another leader than {}, which leads", "{} terminou com outro líder que {}, que lidera"),
    (
        "{} ended with a leader that is down or does not lead",
        "{} terminou com um líder que caiu ou não lidera",
    ),
    ("{} ended up as leaders all at once", "{} terminaram todos como líderes"),
    ("{} ended without a leader that is alive", "{} terminou sem um líder vivo"),
    ("{} ended without a leader", "{} terminou sem líder"),
    ("{} ended without a decision", "{} terminou sem decisão"),
    ("{} obeyed no order", "{} não obedeceu a ordem alguma"),
    ("no process ever considered itself the leader", "nenhum processo jamais se considerou líder"),
    ("nobody started an election", "ninguém iniciou uma eleição"),
    ("nobody led a term", "ninguém liderou um mandato"),
    ("nobody was given a token", "ninguém recebeu uma ficha"),
    ("no vector clocks were kept", "não se guardaram relógios vetoriais"),
    ("{} asked in vain to enter", "{} pediu em vão para entrar"),
    ("{} asked in vain to leave", "{} pediu em vão para sair"),
    ("{} asked to enter, and nobody got in", "{} pediu para entrar, e ninguém entrou"),
    ("{} stayed inside without having asked to leave", "{} ficou dentro sem ter pedido para sair"),
    (
        "{} entered at {} for the second time before {}, of whose request it knew",
        "{} entrou aos {} pela segunda vez antes de {}, cujo pedido conhecia",
    ),
    (
        "{} entered at {} before {}, which had asked before it",
        "{} entrou aos {} antes de {}, que pedira antes",
    ),
    (
        "{} entered at {} with token {}, which had been given before",
        "{} entrou aos {} com a ficha {}, que já fora dada",
    ),
    ("{} entered at {} while {} was inside", "{} entrou aos {} enquanto {} estava dentro"),
    ("{} entered at {} while {} were inside", "{} entrou aos {} enquanto {} estavam dentro"),
    (
        "{} wrote at {} over what {} had written, which entered after it",
        "{} escreveu aos {} por cima do que {} escrevera, que entrou depois",
    ),
    ("at {} {} decided {} after it had decided {}", "aos {} {} decidiu {} depois de ter decidido {}"),
    ("at {} {} decided {}, which nobody had proposed", "aos {} {} decidiu {}, que ninguém propusera"),
    ("at {} {} decided {}, but {} decided {}", "aos {} {} decidiu {}, mas {} decidiu {}"),
    ("{} decided {}, but {} decided {}", "{} decidiu {}, mas {} decidiu {}"),
    ("{} ordered {}, but {} decided {}", "{} ordenou {}, mas {} decidiu {}"),
];

fn find<'a>(list: &[(&'a str, &'a str)], english: &'a str, language: Language) -> &'a str {
    match language {
        Language::English => english,
        Language::Portuguese => {
            list.iter().find(|(other, _)| *other == english).map_or(english, |(_, portuguese)| portuguese)
        }
    }
}

/// What an example run shows; whatever else has a title keeps it.
pub(crate) fn title_words(title: &str, language: Language) -> &str {
    find(TITLES, title, language)
}

/// What an algorithm costs.
pub(crate) fn cost_words(cost: &str, language: Language) -> &str {
    find(COSTS, cost, language)
}

/// What a monitor says; `None` if nobody has said it in this language.
pub(crate) fn monitor_words(sentence: &str, language: Language) -> Option<String> {
    if language == Language::English {
        return Some(sentence.to_owned());
    }
    let parts: Option<Vec<String>> = sentence.split("; ").map(portuguese_sentence).collect();
    Some(parts?.join("; "))
}

fn portuguese_sentence(sentence: &str) -> Option<String> {
    if let Some(sentence) = sentence.strip_suffix(", and this can go on for ever") {
        return Some(portuguese_sentence(sentence)? + ", e isto pode durar para sempre");
    }
    SENTENCES.iter().find_map(|(english, portuguese)| {
        let values = values(sentence, english)?;
        let mut pieces = portuguese.split("{}");
        let mut said = pieces.next().unwrap_or_default().to_owned();
        for (value, piece) in values.iter().zip(pieces) {
            said += &value.replace(" and ", " e ").replace(" others", " outros").replace(" other", " outro");
            said += piece;
        }
        Some(said)
    })
}

/// What stands for each `{}` of a pattern in a sentence, if it is one of that pattern.
pub(crate) fn values<'a>(sentence: &'a str, pattern: &str) -> Option<Vec<&'a str>> {
    let mut pieces = pattern.split("{}");
    let mut rest = sentence.strip_prefix(pieces.next()?)?;
    let mut values = Vec::new();
    let pieces: Vec<&str> = pieces.collect();
    for (number, piece) in pieces.iter().enumerate() {
        let is_last = number + 1 == pieces.len();
        let place = if is_last { rest.strip_suffix(piece)?.len() } else { rest.find(piece)? };
        values.push(&rest[..place]);
        rest = &rest[place + piece.len()..];
    }
    // What a pattern does not know must not hide in one of its places.
    let is_plain = values
        .iter()
        .all(|value| !value.is_empty() && !value.contains(", and ") && !value.contains(", but "));
    (rest.is_empty() && is_plain).then_some(values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use habemus::catalogue::ENTRIES;

    #[test]
    fn every_cost_with_a_word_in_it_is_said_in_portuguese() {
        for entry in ENTRIES {
            let words = entry.cost.split(|sign: char| !sign.is_alphabetic()).filter(|word| word.len() > 3);
            if words.count() > 0 {
                assert_ne!(cost_words(entry.cost, Language::Portuguese), entry.cost, "{}", entry.name);
            }
        }
    }

    #[test]
    fn sentences_keep_their_names_and_times() {
        let said = monitor_words("3 entered at 28ms while 1 and 2 were inside", Language::Portuguese);
        assert_eq!(said.as_deref(), Some("3 entrou aos 28ms enquanto 1 e 2 estavam dentro"));
        assert_eq!(monitor_words("the moon is full", Language::Portuguese), None);
        assert_eq!(monitor_words("the moon is full", Language::English).as_deref(), Some("the moon is full"));
    }
}
