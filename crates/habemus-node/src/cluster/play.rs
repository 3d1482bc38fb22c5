//! Playing a scenario on real nodes: the same file that the simulator plays.

use std::collections::BTreeSet;
use std::time::Duration;

use habemus_scenario::{Action, Cue, Latency, Occasion, Scenario, TimeModel, Trigger, TriggerKind, Until};
use tokio::time::Instant;

use super::{Cluster, ClusterError, clients, moment};
use crate::control::{Moment, Order, Report};

/// How long to wait for the end of a run.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How long a system that never rests is left in peace after the last scripted event.
    pub peace: Duration,
    /// How long a run may take in all.
    pub patience: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { peace: Duration::from_secs(3), patience: Duration::from_secs(120) }
    }
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ending {
    /// Why, in words.
    pub stop: &'static str,
    /// Whether it came to rest by itself.
    pub quiet: bool,
    /// Whether what has not happened by now never will.
    pub over: bool,
    /// Whether it came to the end that was asked for.
    pub complete: bool,
    /// How long it took.
    pub after: Duration,
}

/// A cue that waits for its occasion.
struct Waiting {
    trigger: Trigger,
    left: u32,
    action: Action,
}

/// Those that a scenario has crash at the very beginning: they are never started.
pub fn dead_from_the_beginning(scenario: &Scenario) -> Vec<u64> {
    let at_once = scenario.script.iter().filter(|cue| cue.occasion == Occasion::At(Duration::ZERO));
    let crashes = at_once.filter_map(|cue| match &cue.action {
        Action::Crash(processes) => Some(processes.clone()),
        _ => None,
    });
    crashes.flatten().collect()
}

/// Plays `scenario` on a cluster whose nodes stand by. `perpetual` says that the system never comes to rest.
///
/// # Errors
/// If a node ends by itself or does not come up again.
pub async fn play(
    cluster: &mut Cluster,
    scenario: &Scenario,
    perpetual: bool,
    limits: Limits,
) -> Result<Ending, ClusterError> {
    let stretch = cluster.blueprint.stretch;
    arrange(cluster, scenario);
    let (mut timed, mut waiting) = sort(scenario);
    cluster.begin();
    let mut settled = match scenario.network.model {
        TimeModel::PartiallySynchronous { gst, .. } => Some(cluster.instant(gst)),
        _ => None,
    };
    let last = timed.last().map_or(Duration::ZERO, |(time, _)| *time);
    let patience = cluster.instant(Duration::ZERO) + limits.patience;
    let limit = scenario.time_limit.map(|limit| cluster.instant(limit));
    let peace = cluster.instant(last).max(settled.unwrap_or_else(Instant::now)) + limits.peace;
    let mut rest = Rest::default();
    timed.reverse();
    let (stop, quiet, over, complete) = loop {
        let now = Instant::now();
        if settled.take_if(|settled| *settled <= now).is_some()
            && let TimeModel::PartiallySynchronous { delta, .. } = scenario.network.model
        {
            cluster.order_all(Order::LatencyLimit(delta.mul_f64(stretch)));
        }
        if let Some((_, action)) = timed.pop_if(|(time, _)| cluster.instant(*time) <= now) {
            perform(cluster, &action, &mut waiting).await?;
            continue;
        }
        let script_is_over = timed.is_empty();
        match scenario.until {
            Until::Time(time) if cluster.instant(time) <= now => {
                break ("the time asked for had come", false, false, true);
            }
            Until::Events(events) if cluster.records() >= events => {
                break ("the number of events asked for was reached", false, false, true);
            }
            Until::Agree if script_is_over && cluster.agreed_leader().is_some() => {
                break ("all live processes agreed on the leader", false, false, true);
            }
            _ => {}
        }
        if limit.is_some_and(|limit| limit <= now) || patience <= now {
            break ("the time limit was reached", false, false, false);
        }
        let asks_for_rest = matches!(scenario.until, Until::Quiet | Until::Agree);
        if asks_for_rest && script_is_over {
            if perpetual && peace <= now {
                break ("it was left in peace for long enough", false, true, true);
            }
            if !perpetual && rest.has_come(cluster).await? {
                break ("nothing more could happen", true, true, true);
            }
        }
        let next = timed.last().map(|(time, _)| cluster.instant(*time));
        let soon = now + Duration::from_millis(20);
        let deadline = [next, settled, limit].into_iter().flatten().fold(soon, Instant::min);
        if let Some((id, Report::Reached(reached))) = cluster.attend(deadline).await? {
            occasion(cluster, id, &reached, &mut waiting).await?;
        }
    };
    Ok(Ending { stop, quiet, over, complete, after: cluster.elapsed() })
}

/// Tells every node what the network is to be like, where to stand still, and what its clients do.
fn arrange(cluster: &mut Cluster, scenario: &Scenario) {
    let stretch = cluster.blueprint.stretch;
    let network = &scenario.network;
    if matches!(network.model, TimeModel::Synchronous { .. }) {
        // Messages arrive well within a pulse as it is.
    } else {
        let latency = longer(&network.latency, stretch).to_string();
        cluster.order_all(Order::Latency { to: None, latency });
        for ((from, to), latency) in &network.links {
            let latency = longer(latency, stretch).to_string();
            cluster.order_always(*from, Order::Latency { to: Some(*to), latency });
        }
        cluster.order_all(Order::Fifo(network.fifo));
    }
    if network.loss > 0.0 {
        cluster.order_all(Order::Loss(network.loss));
    }
    if network.duplication > 0.0 {
        cluster.order_all(Order::Duplication(network.duplication));
    }
    for id in cluster.ids().to_vec() {
        let breaks: Vec<Moment> = scenario
            .script
            .iter()
            .filter_map(|cue| match &cue.occasion {
                Occasion::When(trigger) if trigger.process.is_none_or(|process| process == id) => {
                    moment(&trigger.what)
                }
                _ => None,
            })
            .collect();
        if !breaks.is_empty() {
            cluster.order_always(id, Order::Break(breaks));
        }
        if let Some(workload) = &scenario.workload {
            cluster.order(id, clients(workload, id, stretch));
        }
    }
}

fn longer(latency: &Latency, stretch: f64) -> Latency {
    match latency {
        Latency::Constant(time) => Latency::Constant(time.mul_f64(stretch)),
        Latency::Uniform { least, most } => {
            Latency::Uniform { least: least.mul_f64(stretch), most: most.mul_f64(stretch) }
        }
        Latency::Exponential { mean } => Latency::Exponential { mean: mean.mul_f64(stretch) },
        Latency::LogNormal { median, sigma } => {
            Latency::LogNormal { median: median.mul_f64(stretch), sigma: *sigma }
        }
    }
}

/// The script in the order of time, and what waits for an occasion.
fn sort(scenario: &Scenario) -> (Vec<(Duration, Action)>, Vec<Waiting>) {
    let (mut timed, mut waiting) = (Vec::new(), Vec::new());
    for Cue { occasion, action } in &scenario.script {
        match occasion {
            Occasion::At(time) => timed.push((*time, action.clone())),
            Occasion::When(trigger) => waiting.push(Waiting {
                left: trigger.nth.max(1),
                trigger: trigger.clone(),
                action: action.clone(),
            }),
        }
    }
    timed.sort_by_key(|(time, _)| *time);
    (timed, waiting)
}

/// Does something, and what waits for the crashes that this makes.
async fn perform(
    cluster: &mut Cluster,
    action: &Action,
    waiting: &mut Vec<Waiting>,
) -> Result<(), ClusterError> {
    let mut actions = vec![action.clone()];
    while let Some(action) = actions.pop() {
        cluster.perform(&action).await?;
        if let Action::Crash(crashed) = &action {
            for id in crashed {
                actions.extend(due(waiting, *id, |kind| *kind == TriggerKind::Crashes));
            }
        }
    }
    Ok(())
}

/// Takes out what waited for this.
fn due(waiting: &mut Vec<Waiting>, id: u64, fits: impl Fn(&TriggerKind) -> bool) -> Vec<Action> {
    let mut actions = Vec::new();
    waiting.retain_mut(|one| {
        if one.trigger.process.is_some_and(|process| process != id) || !fits(&one.trigger.what) {
            return true;
        }
        one.left -= 1;
        if one.left == 0 {
            actions.push(one.action.clone());
        }
        one.left > 0
    });
    actions
}

/// A node stands still because of something that the script may wait for.
async fn occasion(
    cluster: &mut Cluster,
    id: u64,
    reached: &Moment,
    waiting: &mut Vec<Waiting>,
) -> Result<(), ClusterError> {
    let life = cluster.members[&id].life;
    let mut went = false;
    for action in due(waiting, id, |kind| moment(kind).as_ref() == Some(reached)) {
        // Who is paused finishes its step first, as in the simulator.
        if matches!(&action, Action::Pause(processes) if processes.contains(&id)) && !went {
            went = true;
            cluster.order(id, Order::Go);
            let deadline = Instant::now() + Duration::from_secs(2);
            while let Some(report) = cluster.attend_anew(deadline).await? {
                match report {
                    (who, Report::Went) if who == id => break,
                    (_, Report::Reached(_)) => cluster.postponed.push_back(report),
                    _ => {}
                }
            }
        }
        perform(cluster, &action, waiting).await?;
    }
    if !went && cluster.members[&id].life == life {
        cluster.order(id, Order::Go);
    }
    Ok(())
}

/// Whether nothing can happen any more: nothing has happened for a while, and nobody waits for a timer.
#[derive(Debug, Default)]
struct Rest {
    records: u64,
    looked: Option<Instant>,
    quiet_looks: u32,
}

impl Rest {
    const LOOK_EVERY: Duration = Duration::from_millis(100);
    const QUIET_LOOKS: u32 = 4;

    async fn has_come(&mut self, cluster: &mut Cluster) -> Result<bool, ClusterError> {
        let now = Instant::now();
        if self.looked.is_some_and(|looked| now.duration_since(looked) < Self::LOOK_EVERY) {
            return Ok(false);
        }
        self.looked = Some(now);
        let asked: BTreeSet<u64> = cluster.alive().filter(|id| !cluster.is_paused(*id)).collect();
        let overviews = cluster.overviews(now + Duration::from_secs(2)).await?;
        let idle = overviews.len() == asked.len()
            && overviews.values().all(|overview| overview.started && overview.pending == 0)
            && cluster.foretold.is_empty();
        let silent = std::mem::replace(&mut self.records, cluster.records()) == cluster.records();
        self.quiet_looks = if idle && silent { self.quiet_looks + 1 } else { 0 };
        Ok(self.quiet_looks >= Self::QUIET_LOOKS)
    }
}
