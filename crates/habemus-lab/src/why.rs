//! Why a process waits: whom it has asked, who has not answered, and what is in the way.
//!
//! Nothing here knows an algorithm. Whoever waits has sent something since it began to wait; what became of
//! that, and of whatever came back, is in the records.

use habemus::Status;
use habemus_sim::{PendingEvent, PendingKind, ProcessState, Stepper};
use habemus_trace::{Dropped, Happening, Record};
use serde::Serialize;

use crate::branch::Branch;
use crate::frame::show_time;
use crate::language::Language;

/// A sentence about why a process waits, and whom it names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Reason {
    /// The sentence.
    pub text: String,
    /// The process that it names.
    pub process: Option<u64>,
}

/// No more reasons than this are given.
const MAX_REASONS: usize = 12;

/// What was passed on is not followed any farther.
const MAX_HOPS: usize = 1_000;

/// Why a process is where it is, in sentences.
pub fn reasons(branch: &Branch, here: &Stepper, process: u64, language: Language) -> Vec<Reason> {
    let records = &branch.history().records()[..branch.history().records_after(here.events())];
    let states = here.processes();
    let Some(own) = states.iter().find(|state| state.id == process) else { return Vec::new() };
    let mut view =
        View { records, pending: here.pending(), states: &states, process, language, now: here.now() };
    view.explain(*own)
}

struct View<'a> {
    records: &'a [Record],
    pending: Vec<PendingEvent>,
    states: &'a [ProcessState],
    process: u64,
    language: Language,
    now: u64,
}

/// What became of a message.
enum Became {
    OnItsWay,
    /// It has arrived, but its process is paused.
    Unread,
    Lost(Dropped),
    /// It arrived, as the record of this number tells.
    Arrived(usize),
}

/// A message that somebody sent because of another.
struct PassedOn {
    from: u64,
    to: u64,
    message: u64,
    label: String,
    place: usize,
}

/// Why a message did not arrive, in both languages.
fn reason_of_loss(from: u64, to: u64, why: Dropped) -> (String, String) {
    match why {
        Dropped::Cut => {
            (format!("the link {from}→{to} is cut"), format!("o enlace {from}→{to} está cortado"))
        }
        Dropped::Down => (format!("{to} was down"), format!("{to} tinha caído")),
        Dropped::Loss => ("the network lost it".to_owned(), "a rede a perdeu".to_owned()),
    }
}

impl View<'_> {
    fn explain(&mut self, own: ProcessState) -> Vec<Reason> {
        let id = self.process;
        let mut reasons = Vec::new();
        if !own.is_up {
            let text = self.language.of(
                format!("{id} is down: it does nothing until it recovers."),
                format!("{id} caiu: não faz nada até recuperar."),
            );
            return vec![Reason { text, process: None }];
        }
        if own.is_paused {
            let waiting =
                self.pending.iter().filter(|pending| pending.process == id && pending.due.is_none());
            let count = waiting.count();
            let text = self.language.of(
                format!("{id} is paused: {count} events wait for it."),
                format!("{id} está pausado: {count} eventos esperam por ele."),
            );
            reasons.push(Reason { text, process: None });
        }
        match own.status {
            Status::Waiting => self.waits_to_enter(&mut reasons),
            Status::Inside => self.holds(&mut reasons),
            Status::Idle => self.waits_for_an_answer(0, &mut reasons),
            Status::Leading => self.say(
                &mut reasons,
                format!("{id} leads and waits for nobody."),
                format!("{id} lidera e não espera por ninguém."),
                None,
            ),
            Status::Following(Some(leader)) => self.say(
                &mut reasons,
                format!("{id} follows {leader} and waits for nobody."),
                format!("{id} segue {leader} e não espera por ninguém."),
                Some(leader.0),
            ),
            Status::Following(None) => self.say(
                &mut reasons,
                format!("{id} knows that somebody leads and waits for nobody."),
                format!("{id} sabe que alguém lidera e não espera por ninguém."),
                None,
            ),
            Status::Decided => self.say(
                &mut reasons,
                format!("{id} has decided and waits for nobody."),
                format!("{id} decidiu e não espera por ninguém."),
                None,
            ),
        }
        self.timers(&mut reasons);
        reasons.truncate(MAX_REASONS);
        reasons
    }

    fn say(&self, reasons: &mut Vec<Reason>, english: String, portuguese: String, process: Option<u64>) {
        reasons.push(Reason { text: self.language.of(english, portuguese), process });
    }

    fn state(&self, id: u64) -> Option<&ProcessState> {
        self.states.iter().find(|state| state.id == id)
    }

    fn waits_to_enter(&self, reasons: &mut Vec<Reason>) {
        let id = self.process;
        for state in self.states.iter().filter(|state| state.status == Status::Inside && state.is_up) {
            let holder = state.id;
            let (paused, pausado) = if state.is_paused { (", and paused", ", e pausado") } else { ("", "") };
            self.say(
                reasons,
                format!("{holder} is in the critical section{paused}."),
                format!("{holder} está na seção crítica{pausado}."),
                Some(holder),
            );
        }
        let asked = self.records.iter().rposition(|record| {
            record.process == Some(id)
                && matches!(&record.what, Happening::Command { status: Some(Status::Waiting), .. })
        });
        self.waits_for_an_answer(asked.unwrap_or(0), reasons);
    }

    /// What became of all that was sent since the record of this number, the last to each process.
    fn waits_for_an_answer(&self, since: usize, reasons: &mut Vec<Reason>) {
        let id = self.process;
        let mut last: Vec<(u64, u64, String, usize)> = Vec::new();
        for (place, record) in self.records.iter().enumerate().skip(since) {
            if let (Happening::Send { message, to, label, background: false, .. }, true) =
                (&record.what, record.process == Some(id))
            {
                last.retain(|(other, ..)| other != to);
                last.push((*to, *message, label.to_string(), place));
            }
        }
        let before = reasons.len();
        for (to, message, label, place) in last {
            self.became(to, message, &label, place, reasons);
        }
        if reasons.len() == before {
            let coming = self.pending.iter().filter(|pending| pending.process == id);
            let mut coming = coming.filter_map(|pending| match &pending.what {
                PendingKind::Message { from, label, background: false, .. } => Some((*from, label.clone())),
                _ => None,
            });
            match coming.next() {
                Some((from, label)) => self.say(
                    reasons,
                    format!("{label} from {from} is on its way to {id}."),
                    format!("{label} de {from} está a caminho de {id}."),
                    Some(from),
                ),
                None => self.say(
                    reasons,
                    format!("{id} waits for a message or a command; nothing is on its way to it."),
                    format!("{id} espera uma mensagem ou um comando; nada está a caminho dele."),
                    None,
                ),
            }
        }
    }

    fn became(&self, to: u64, message: u64, label: &str, sent: usize, reasons: &mut Vec<Reason>) {
        let id = self.process;
        match self.fate(id, message, sent) {
            Became::OnItsWay => self.say(
                reasons,
                format!("{label} to {to} is still on its way."),
                format!("{label} para {to} ainda está a caminho."),
                Some(to),
            ),
            Became::Unread => self.say(
                reasons,
                format!("{to} is paused and has not read {label}."),
                format!("{to} está pausado e não leu {label}."),
                Some(to),
            ),
            Became::Lost(why) => self.lost(id, to, label, why, reasons),
            Became::Arrived(arrived) => self.answer(to, label, arrived, reasons),
        }
    }

    fn lost(&self, from: u64, to: u64, label: &str, why: Dropped, reasons: &mut Vec<Reason>) {
        let (english, portuguese) = reason_of_loss(from, to, why);
        self.say(
            reasons,
            format!("{label} from {from} to {to} never arrived: {english}."),
            format!("{label} de {from} para {to} nunca chegou: {portuguese}."),
            Some(to),
        );
    }

    /// What the receiver did: whether it has sent anything back since.
    fn answer(&self, to: u64, label: &str, arrived: usize, reasons: &mut Vec<Reason>) {
        let id = self.process;
        let back =
            self.records.iter().enumerate().skip(arrived).find_map(|(place, record)| match &record.what {
                Happening::Send { message, to: back, label, .. }
                    if record.process == Some(to) && *back == id =>
                {
                    Some((*message, label.to_string(), place))
                }
                _ => None,
            });
        let Some((message, answer, place)) = back else {
            return match self.passed_on(to, arrived) {
                Some(on) => self.goes_on(to, label, on, reasons),
                None => self.owes(to, label, reasons),
            };
        };
        match self.fate(to, message, place) {
            Became::OnItsWay => self.say(
                reasons,
                format!("{to} has answered {label}: {answer} is on its way."),
                format!("{to} respondeu a {label}: {answer} está a caminho."),
                Some(to),
            ),
            Became::Lost(why) => self.lost(to, id, &answer, why, reasons),
            Became::Unread | Became::Arrived(_) => {}
        }
    }

    /// The one message that a process has sent on when it received one, if it has sent just one.
    fn passed_on(&self, process: u64, arrived: usize) -> Option<PassedOn> {
        let done = self.records.iter().enumerate().skip(arrived + 1).take_while(|(_, record)| {
            let came_of_it = matches!(
                record.what,
                Happening::Send { .. } | Happening::Output { .. } | Happening::State { .. }
            );
            came_of_it && record.process == Some(process)
        });
        let mut sent = done.filter_map(|(place, record)| match &record.what {
            Happening::Send { message, to, label, background: false, .. } => {
                Some(PassedOn { from: process, to: *to, message: *message, label: label.to_string(), place })
            }
            _ => None,
        });
        sent.next().filter(|_| sent.next().is_none())
    }

    /// What was sent has been passed on, perhaps by many: where it is by now.
    fn goes_on(&self, to: u64, label: &str, mut on: PassedOn, reasons: &mut Vec<Reason>) {
        let mut fate = self.fate(on.from, on.message, on.place);
        for _ in 0..MAX_HOPS {
            let Became::Arrived(arrived) = fate else { break };
            let Some(next) = self.passed_on(on.to, arrived) else { break };
            fate = self.fate(next.from, next.message, next.place);
            on = next;
        }
        let PassedOn { from, to: last, label: now, .. } = on;
        let (english, portuguese) = match fate {
            Became::OnItsWay => (
                format!("{now} is on its way from {from} to {last}"),
                format!("{now} está a caminho de {from} para {last}"),
            ),
            Became::Unread => (
                format!("{last} is paused and has not read {now}"),
                format!("{last} está pausado e não leu {now}"),
            ),
            Became::Lost(why) => {
                let (english, portuguese) = reason_of_loss(from, last, why);
                (
                    format!("{now} from {from} to {last} never arrived: {english}"),
                    format!("{now} de {from} para {last} nunca chegou: {portuguese}"),
                )
            }
            Became::Arrived(_) => {
                (format!("{now} came to {last} in the end"), format!("{now} chegou por fim a {last}"))
            }
        };
        self.say(
            reasons,
            format!("{to} has passed {label} on: {english}."),
            format!("{to} passou {label} adiante: {portuguese}."),
            Some(last),
        );
    }

    /// The receiver has what was sent, and has sent nothing back.
    fn owes(&self, to: u64, label: &str, reasons: &mut Vec<Reason>) {
        let Some(state) = self.state(to) else { return };
        let (english, portuguese) = match state.status {
            _ if !state.is_up => ("it is down", "caiu"),
            Status::Inside if state.is_paused => {
                ("it is in the critical section, and paused", "está na seção crítica, e pausado")
            }
            _ if state.is_paused => ("it is paused", "está pausado"),
            Status::Inside => (
                "it is in the critical section and defers its answer",
                "está na seção crítica e adia a resposta",
            ),
            Status::Waiting => ("it waits itself and defers its answer", "também espera e adia a resposta"),
            _ => ("it need not, or not yet", "não precisa, ou ainda não"),
        };
        self.say(
            reasons,
            format!("{to} has {label} and has not answered: {english}."),
            format!("{to} tem {label} e não respondeu: {portuguese}."),
            Some(to),
        );
    }

    /// Whoever is inside keeps others waiting.
    fn holds(&self, reasons: &mut Vec<Reason>) {
        let id = self.process;
        let waiting = self.states.iter().filter(|state| state.status == Status::Waiting && state.is_up);
        let waiting: Vec<String> = waiting.map(|state| state.id.to_string()).collect();
        self.say(
            reasons,
            format!("{id} is in the critical section."),
            format!("{id} está na seção crítica."),
            None,
        );
        if !waiting.is_empty() {
            let list = waiting.join(", ");
            self.say(
                reasons,
                format!("Deferred until {id} leaves: {list}."),
                format!("Adiados até {id} sair: {list}."),
                None,
            );
        }
    }

    fn timers(&self, reasons: &mut Vec<Reason>) {
        let id = self.process;
        for pending in self.pending.iter().filter(|pending| pending.process == id) {
            if let (PendingKind::Timer { label, background: false }, Some(due)) = (&pending.what, pending.due)
            {
                let left = show_time(due.saturating_sub(self.now), self.language);
                self.say(
                    reasons,
                    format!("If nothing comes before, its timer {label} runs out in {left}."),
                    format!("Se nada vier antes, seu temporizador {label} expira em {left}."),
                    None,
                );
            }
        }
    }

    fn fate(&self, from: u64, message: u64, sent: usize) -> Became {
        for (place, record) in self.records.iter().enumerate().skip(sent) {
            match &record.what {
                Happening::Deliver { message: other, from: sender, .. }
                    if (*other, *sender) == (message, from) =>
                {
                    return Became::Arrived(place);
                }
                Happening::Drop { message: other, from: sender, why }
                    if (*other, *sender) == (message, from) =>
                {
                    return Became::Lost(*why);
                }
                _ => {}
            }
        }
        let unread = self.pending.iter().any(|pending| {
            matches!(pending.what, PendingKind::Message { number, nth: 0, .. } if number == message)
        });
        if unread { Became::Unread } else { Became::OnItsWay }
    }
}
