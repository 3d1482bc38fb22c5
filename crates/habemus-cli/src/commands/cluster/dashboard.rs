//! A cluster on one screen: nodes, who leads or holds, links, messages per second, the last events; faults by
//! keys.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use habemus::ProblemKind;
use habemus_node::cluster::Cluster;
use habemus_node::cluster::console::{Console, Reply};
use habemus_node::cluster::standing::{describe, list};
use habemus_node::{Facts, NodeReport, Overview, SupervisorCommand};
use habemus_report::{Ended, Ending};
use ratatui::Frame;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use ratatui::layout::{Constraint, Layout};
use ratatui::style::{Color, Modifier, Style, Stylize};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Cell, Paragraph, Row, Table};
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::converse::Events;
use super::interrupted;
use crate::error::CliError;

/// How often nodes are asked how they are,
const ASK: Duration = Duration::from_millis(500);
/// and the screen is drawn.
const DRAW: Duration = Duration::from_millis(100);
/// So many events are kept.
const KEPT: usize = 200;

/// What is on the screen.
struct View {
    title: String,
    standing: String,
    is_lock: bool,
    nodes: Vec<NodeView>,
    selected: usize,
    events: VecDeque<String>,
}

struct NodeView {
    id: u64,
    life: &'static str,
    says: String,
    links: String,
    suspects: String,
    sent: Option<f64>,
}

/// What is known of the traffic of a node: how much it had sent, when, and how much that is in a second.
#[derive(Clone, Copy)]
struct Rate {
    sent: u64,
    at: Instant,
    per_second: Option<f64>,
}

/// Shows the cluster until somebody has seen enough.
pub(super) async fn run(cluster: &mut Cluster, console: &Console, facts: &Facts) -> Result<Ending, CliError> {
    let (says, mut keys) = mpsc::channel(8);
    let mut terminal = ratatui::try_init()?;
    let _restored = Restored;
    std::thread::spawn(move || {
        while let Ok(event) = event::read() {
            if says.blocking_send(event).is_err() {
                return;
            }
        }
    });
    let mut overviews: BTreeMap<u64, Overview> = BTreeMap::new();
    let mut rates: BTreeMap<u64, Rate> = BTreeMap::new();
    let mut view = View {
        title: format!("{}, {} nodes", facts.algorithm, cluster.ids().len()),
        standing: String::new(),
        is_lock: facts.problem == ProblemKind::MutualExclusion,
        nodes: Vec::new(),
        selected: 0,
        events: VecDeque::new(),
    };
    let mut events = Events::default();
    let (mut next_question, mut next_picture) = (Instant::now(), Instant::now());
    loop {
        let now = Instant::now();
        if next_question <= now {
            cluster.alive().for_each(|id| cluster.tell(id, SupervisorCommand::Status));
            next_question = now + ASK;
        }
        if next_picture <= now {
            view.update(cluster, console, facts, &overviews, &rates);
            terminal.draw(|frame| draw(frame, &view))?;
            next_picture = now + DRAW;
        }
        tokio::select! {
            key = keys.recv() => match key.map(|key| meaning(&key, &view)) {
                Some(Meaning::Nothing) => {}
                Some(Meaning::Select(step)) => view.select(step),
                Some(Meaning::Say(line)) => {
                    let reply = console.obey(cluster, &line).await?;
                    view.note(format!("{:>9.3} s  > {line}", cluster.elapsed().as_secs_f64()));
                    if let Reply::Wrong(text) = reply {
                        view.note(format!("             {text}"));
                    }
                }
                Some(Meaning::Interrupt) => return Ok(interrupted(cluster.elapsed())),
                Some(Meaning::Quit) | None => break,
            },
            report = cluster.attend(next_question.min(next_picture)) => match report? {
                Some((id, NodeReport::Status(overview))) => {
                    note_rate(&mut rates, &overview);
                    overviews.insert(id, overview);
                }
                Some((id, report)) => {
                    if let Some(line) = events.line(id, &report) {
                        view.note(line);
                    }
                }
                None => {}
            }
        }
    }
    let time = cluster.elapsed().as_nanos() as u64;
    Ok(Ending { stop: "the dashboard was closed".to_owned(), ended: Ended::AsAsked, time })
}

/// Gives the terminal back, however it ends.
struct Restored;

impl Drop for Restored {
    fn drop(&mut self) {
        ratatui::restore();
    }
}

fn note_rate(rates: &mut BTreeMap<u64, Rate>, overview: &Overview) {
    let sent = overview.sent.values().sum();
    let now = Instant::now();
    let before = rates.get(&overview.id).filter(|before| before.sent <= sent);
    let per_second = before
        .map(|before| (sent - before.sent) as f64 / now.duration_since(before.at).as_secs_f64().max(0.001));
    rates.insert(overview.id, Rate { sent, at: now, per_second });
}

/// What a key means.
enum Meaning {
    Nothing,
    Select(isize),
    Say(String),
    Interrupt,
    Quit,
}

fn meaning(event: &Event, view: &View) -> Meaning {
    let Event::Key(key) = event else { return Meaning::Nothing };
    if key.kind == KeyEventKind::Release {
        return Meaning::Nothing;
    }
    let Some(node) = view.nodes.get(view.selected) else { return Meaning::Nothing };
    let say = |word: &str| Meaning::Say(format!("{word} {}", node.id));
    match key.code {
        KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => Meaning::Interrupt,
        KeyCode::Char('q') | KeyCode::Esc => Meaning::Quit,
        KeyCode::Up => Meaning::Select(-1),
        KeyCode::Down | KeyCode::Tab => Meaning::Select(1),
        KeyCode::Char('k') => say("kill"),
        KeyCode::Char('r') => say("restart"),
        KeyCode::Char('p') => say(if node.life == "paused" { "resume" } else { "pause" }),
        KeyCode::Char('i') => {
            let others = view.nodes.iter().filter(|other| other.id != node.id);
            let links: Vec<String> = others.map(|other| format!("{}-{}", node.id, other.id)).collect();
            if links.is_empty() {
                Meaning::Nothing
            } else {
                Meaning::Say(format!("cut {}", links.join(", ")))
            }
        }
        KeyCode::Char('h') => Meaning::Say("heal".to_owned()),
        KeyCode::Char('e') if !view.is_lock => say("elect"),
        KeyCode::Char('a') if view.is_lock => say("acquire"),
        KeyCode::Char('x') if view.is_lock => say("release"),
        _ => Meaning::Nothing,
    }
}

impl View {
    fn select(&mut self, step: isize) {
        let last = self.nodes.len().saturating_sub(1);
        self.selected = self.selected.saturating_add_signed(step).min(last);
    }

    fn note(&mut self, line: String) {
        self.events.push_back(line);
        if self.events.len() > KEPT {
            self.events.pop_front();
        }
    }

    fn update(
        &mut self,
        cluster: &Cluster,
        console: &Console,
        facts: &Facts,
        overviews: &BTreeMap<u64, Overview>,
        rates: &BTreeMap<u64, Rate>,
    ) {
        self.standing = match facts.problem {
            ProblemKind::Election => console.standing(cluster).to_string(),
            _ => {
                let is_inside = |id: &u64| cluster.status(*id) == Some(habemus::Status::Inside);
                let inside: Vec<u64> = cluster.ids().iter().copied().filter(is_inside).collect();
                format!("{} inside", list(&inside))
            }
        };
        self.nodes = cluster.ids().iter().map(|id| node_view(cluster, *id, overviews, rates)).collect();
    }
}

fn node_view(
    cluster: &Cluster,
    id: u64,
    overviews: &BTreeMap<u64, Overview>,
    rates: &BTreeMap<u64, Rate>,
) -> NodeView {
    let down = NodeView {
        id,
        life: "down",
        says: String::new(),
        links: String::new(),
        suspects: String::new(),
        sent: None,
    };
    let Some(status) = cluster.status(id) else { return down };
    let overview = overviews.get(&id);
    let term = overview.map(|overview| overview.term).filter(|term| *term > 0);
    let says =
        format!("{}{}", describe(status), term.map(|term| format!(" (term {term})")).unwrap_or_default());
    let paused = cluster.is_paused(id);
    NodeView {
        life: if paused { "paused" } else { "up" },
        says,
        links: overview.map(|overview| list(&overview.connected)).unwrap_or_default(),
        suspects: overview
            .map(|it| if it.suspected.is_empty() { String::new() } else { list(&it.suspected) })
            .unwrap_or_default(),
        sent: rates.get(&id).and_then(|rate| rate.per_second).filter(|_| !paused),
        ..down
    }
}

fn draw(frame: &mut Frame<'_>, view: &View) {
    let nodes = view.nodes.len() as u16 + 3;
    let [head, table, events, keys] = Layout::vertical([
        Constraint::Length(2),
        Constraint::Length(nodes),
        Constraint::Min(3),
        Constraint::Length(2),
    ])
    .areas(frame.area());
    frame.render_widget(
        Paragraph::new(vec![Line::from(view.title.as_str().bold()), Line::from(view.standing.as_str())]),
        head,
    );
    let rows = view.nodes.iter().enumerate().map(|(index, node)| row(node, index == view.selected));
    let widths = [
        Constraint::Length(5),
        Constraint::Length(7),
        Constraint::Length(20),
        Constraint::Fill(2),
        Constraint::Fill(1),
        Constraint::Length(7),
    ];
    let titles = Row::new(["node", "", "says", "links to", "suspects", "msg/s"]).style(Modifier::DIM);
    frame.render_widget(Table::new(rows, widths).header(titles).block(Block::bordered()), table);
    let room = usize::from(events.height.saturating_sub(2));
    let lines = view.events.iter().skip(view.events.len().saturating_sub(room));
    let lines: Vec<Line<'_>> = lines.map(|line| Line::from(line.as_str())).collect();
    frame.render_widget(Paragraph::new(lines).block(Block::bordered().title("events")), events);
    let own = if view.is_lock { "a acquire  x release" } else { "e elect" };
    let keys_text = [
        "↑↓ choose a node".to_owned(),
        format!("k kill  r restart  p pause/resume  i isolate  h heal  {own}  q quit"),
    ];
    frame.render_widget(Paragraph::new(keys_text.map(Line::from).to_vec()).style(Modifier::DIM), keys);
}

fn row(node: &NodeView, selected: bool) -> Row<'_> {
    let color = match (node.life, node.says.as_str()) {
        ("down", _) => Style::new().fg(Color::Red),
        ("paused", _) => Style::new().fg(Color::Yellow),
        (_, says) if says.starts_with("leads") || says.starts_with("inside") => {
            Style::new().fg(Color::Green).bold()
        }
        _ => Style::new(),
    };
    let sent = node.sent.map(|sent| format!("{sent:>6.0}")).unwrap_or_default();
    let sign = if selected { "›" } else { " " };
    let cells = [
        Cell::from(Span::raw(format!("{sign} {}", node.id))),
        Cell::from(node.life),
        Cell::from(node.says.as_str()),
        Cell::from(node.links.as_str()),
        Cell::from(node.suspects.as_str()),
        Cell::from(sent),
    ];
    let row = Row::new(cells).style(color);
    if selected { row.add_modifier(Modifier::REVERSED) } else { row }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;
    use ratatui::crossterm::event::KeyEvent;

    fn view() -> View {
        let node = |id, life, says: &str| NodeView {
            id,
            life,
            says: says.to_owned(),
            links: "1, 2".to_owned(),
            suspects: String::new(),
            sent: Some(40.0),
        };
        View {
            title: "majority, 3 nodes".to_owned(),
            standing: "3 leads, and every live node knows it".to_owned(),
            is_lock: false,
            nodes: vec![
                node(1, "up", "follows 3 (term 2)"),
                node(2, "paused", ""),
                node(3, "up", "leads (term 2)"),
            ],
            selected: 1,
            events: (0..50).map(|number| format!("event {number}")).collect(),
        }
    }

    #[test]
    fn everything_is_on_a_screen_of_eighty_columns() {
        let mut terminal = Terminal::new(TestBackend::new(80, 24)).expect("a screen in memory");
        terminal.draw(|frame| draw(frame, &view())).expect("it can be drawn");
        let shown = terminal.backend().to_string();
        for expected in [
            "majority, 3 nodes",
            "3 leads, and",
            "follows 3 (term 2)",
            "› 2",
            "paused",
            "40",
            "event 49",
            "k kill",
            "q quit",
        ] {
            assert!(shown.contains(expected), "'{expected}' is missing:\n{shown}");
        }
        assert!(!shown.contains("event 0 "), "old events make room:\n{shown}");
    }

    #[test]
    fn keys_are_faults_of_the_chosen_node() {
        let mut view = view();
        let said =
            |view: &View, key: char| match meaning(&Event::Key(KeyEvent::from(KeyCode::Char(key))), view) {
                Meaning::Say(line) => line,
                _ => String::new(),
            };
        let all = |view: &View| ['k', 'r', 'p', 'i', 'h', 'e', 'a'].map(|key| said(view, key));
        assert_eq!(all(&view), ["kill 2", "restart 2", "resume 2", "cut 2-1, 2-3", "heal", "elect 2", ""]);
        view.select(5);
        assert_eq!(said(&view, 'p'), "pause 3");
    }
}
