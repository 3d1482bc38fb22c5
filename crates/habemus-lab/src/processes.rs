//! The processes and the links of a moment, and what can be done to them.

use std::collections::{BTreeMap, BTreeSet};

use habemus::{Address, Status};
use habemus_sim::{Links, PendingEvent, PendingKind, ProcessState, Stepper};

use crate::branch::Branch;
use crate::frame::{LinkView, ProcessView, TimerView, show_time};
use crate::language::Language;
use crate::layout::places;
use crate::texts::status_words;

/// Of more links than this none is drawn.
const MAX_DRAWN_LINKS: usize = 4_000;

/// The links of one process.
#[derive(Default)]
struct LinksOf {
    all: Vec<String>,
    cut: Vec<String>,
}

impl LinksOf {
    /// What cuts the process off from everybody, or undoes it.
    fn action(&self, language: Language) -> Option<(String, String)> {
        let (word, links, words) = match (&self.all[..], &self.cut[..]) {
            ([], []) => return None,
            (all, []) => ("cut", all, language.of("Cut off from everybody", "Isolar de todos")),
            (_, cut) => ("heal", cut, language.of("Mend its links", "Refazer seus enlaces")),
        };
        Some((format!("{word} {}", links.join(", ")), words.to_owned()))
    }
}

/// The links of each process, as the script names them; none where there are too many to be drawn.
fn links_of(links: &Links) -> BTreeMap<u64, LinksOf> {
    let mut of: BTreeMap<u64, LinksOf> = BTreeMap::new();
    if links.all.len() > MAX_DRAWN_LINKS {
        return of;
    }
    let cut: BTreeSet<(u64, u64)> = links.cut.iter().copied().collect();
    for &(from, to) in &links.all {
        let text = format!("{from}->{to}");
        for id in [from, to] {
            let own = of.entry(id).or_default();
            own.all.push(text.clone());
            if cut.contains(&(from, to)) {
                own.cut.push(text.clone());
            }
        }
    }
    of
}

pub(crate) fn processes(
    branch: &Branch,
    here: &Stepper,
    states: &[ProcessState],
    pending: &[PendingEvent],
    language: Language,
) -> Vec<ProcessView> {
    let ids = &branch.scenario().ids;
    let address: BTreeMap<u64, usize> = ids.iter().copied().zip(0..).collect();
    let links: Vec<(usize, usize)> = here
        .links()
        .all
        .iter()
        .filter_map(|(from, to)| Some((*address.get(from)?, *address.get(to)?)))
        .collect();
    let links_of = links_of(&here.links());
    let touched: Vec<u64> =
        branch.history().records_of(here.events()).iter().filter_map(|record| record.process).collect();
    let places = places(ids.len(), &links);
    let view = |(at, state): (usize, &ProcessState)| ProcessView {
        id: state.id,
        x: places[at].0,
        y: places[at].1,
        up: state.is_up,
        paused: state.is_paused,
        status: status_name(state.status),
        leader: match state.status {
            Status::Following(leader) => leader.map(|leader| leader.0),
            _ => None,
        },
        words: status_words(state, language),
        touched: here.events() > 0 && touched.contains(&state.id),
        timer: timer_of(state.id, pending, here.now(), language),
        actions: actions_on(here, at, state, links_of.get(&state.id), language),
    };
    states.iter().enumerate().map(view).collect()
}

/// When a timer of some process runs out, and which it is.
fn timer(pending: &PendingEvent) -> Option<(u64, &str)> {
    match (&pending.what, pending.due) {
        (PendingKind::Timer { label, background: false }, Some(due)) => Some((due, label)),
        _ => None,
    }
}

/// The timer of a process that runs out first. Arcs can be compared: a full one is the least of 1, 2, 5, 10,
/// 20, … milliseconds that is as long as the longest of all.
fn timer_of(process: u64, pending: &[PendingEvent], now: u64, language: Language) -> Option<TimerView> {
    let own = pending.iter().filter(|pending| pending.process == process).filter_map(timer);
    let (due, label) = own.min()?;
    let longest = pending.iter().filter_map(timer).map(|(due, _)| due.saturating_sub(now)).max()?;
    let steps = (0..).flat_map(|power| [1, 2, 5].map(|digit| digit * 10_u64.saturating_pow(power)));
    let full = steps.map(|step| step.saturating_mul(1_000_000)).find(|step| *step >= longest)?;
    let left = due.saturating_sub(now);
    let words = match language {
        Language::English => format!("{label} runs out in {}", show_time(left, language)),
        Language::Portuguese => format!("{label} expira em {}", show_time(left, language)),
    };
    Some(TimerView { left: (left as f64 / full as f64 * 1000.0).round() / 1000.0, words })
}

pub(crate) fn status_name(status: Status) -> &'static str {
    match status {
        Status::Idle => "idle",
        Status::Waiting => "waiting",
        Status::Inside => "inside",
        Status::Leading => "leading",
        Status::Following(_) => "following",
        Status::Decided => "decided",
    }
}

/// What can be done to a process.
fn actions_on(
    here: &Stepper,
    at: usize,
    state: &ProcessState,
    links: Option<&LinksOf>,
    language: Language,
) -> Vec<(String, String)> {
    let id = state.id;
    let action = |word: &str, english: &str, portuguese: &str| {
        (format!("{word} {id}"), language.of(english, portuguese).to_owned())
    };
    if !state.is_up {
        let amnesia = language.of("Recover with amnesia", "Recuperar com amnésia");
        return vec![
            action("recover", "Recover", "Recuperar"),
            (format!("recover {id} with amnesia"), amnesia.to_owned()),
        ];
    }
    let mut actions = vec![action("crash", "Crash", "Derrubar")];
    actions.push(match state.is_paused {
        true => action("resume", "Resume", "Continuar"),
        false => action("pause", "Pause", "Pausar"),
    });
    for word in here.commands(Address(at as u32)) {
        match word {
            "elect" => actions.push(action(word, "Start an election", "Iniciar eleição")),
            "acquire" => actions.push(action(word, "Ask to enter", "Pedir para entrar")),
            "release" if state.status == Status::Inside => actions.push(action(word, "Leave", "Sair")),
            _ => {}
        }
    }
    let slow = language.of("Slow down by 50 ms", "Atrasar em 50 ms");
    actions.push((format!("slow {id} by 50ms"), slow.to_owned()));
    let drifts = [
        ("10%", language.of("Clock 10 % fast", "Relógio 10 % adiantado")),
        ("-10%", language.of("Clock 10 % slow", "Relógio 10 % atrasado")),
    ];
    actions.extend(drifts.map(|(by, words)| (format!("drift {id} by {by}"), words.to_owned())));
    actions.extend(links.and_then(|links| links.action(language)));
    actions
}

pub(crate) fn link_views(all: &[(u64, u64)], cut: &[(u64, u64)], language: Language) -> Vec<LinkView> {
    let mut views = Vec::new();
    if all.len() > MAX_DRAWN_LINKS {
        return views;
    }
    let there: BTreeSet<(u64, u64)> = all.iter().copied().collect();
    let cut: BTreeSet<(u64, u64)> = cut.iter().copied().collect();
    for &(from, to) in all {
        let both = there.contains(&(to, from));
        if both && from > to {
            continue;
        }
        let is_cut = cut.contains(&(from, to)) || (both && cut.contains(&(to, from)));
        let sign = if both { "-" } else { "->" };
        let action = match is_cut {
            true => (format!("heal {from}{sign}{to}"), language.of("Mend the link", "Refazer o enlace")),
            false => (format!("cut {from}{sign}{to}"), language.of("Cut the link", "Cortar o enlace")),
        };
        views.push(LinkView { from, to, both, cut: is_cut, action: (action.0, action.1.to_owned()) });
    }
    views
}
