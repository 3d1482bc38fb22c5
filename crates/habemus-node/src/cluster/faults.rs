//! What goes wrong in a cluster, and right again: real signals, real restarts, cut links.

use std::io;
use std::time::Duration;

use habemus_scenario::Action;
use habemus_trace::Happening;
use tokio::time::Instant;

use super::member::Member;
use super::{Cluster, ClusterError, START_LIMIT, by_sender};
use crate::control::{NodeReport, SupervisorCommand};

impl Cluster {
    /// Does something to the system.
    ///
    /// # Errors
    /// If a node does not come up again.
    pub async fn perform(&mut self, action: &Action) -> Result<(), ClusterError> {
        match action {
            Action::Command { word, processes } => {
                for id in processes {
                    self.tell(*id, SupervisorCommand::Command { word: word.clone(), name: String::new() });
                }
            }
            Action::Crash(processes) => {
                for id in processes {
                    self.kill(*id).await;
                }
            }
            Action::Recover { processes, amnesia } => {
                for id in processes {
                    self.restart(*id, *amnesia).await?;
                }
            }
            Action::Pause(processes) => processes.iter().for_each(|id| self.pause(*id)),
            Action::Resume(processes) => processes.iter().for_each(|id| self.resume(*id)),
            Action::Slow { processes, by } => {
                for id in processes {
                    self.tell_always(*id, SupervisorCommand::Slow(by.mul_f64(self.blueprint.stretch)));
                }
            }
            Action::Drift { processes, rate } => {
                for id in processes {
                    self.tell_always(*id, SupervisorCommand::Drift(rate / self.blueprint.stretch));
                }
            }
            Action::Cut(links) => self.cut(links),
            Action::Partition(groups) => {
                let group = |id: &u64| groups.iter().position(|group| group.contains(id));
                let ids = self.ids().to_vec();
                let apart = |from: &u64| {
                    let others: Vec<u64> =
                        ids.iter().copied().filter(|to| group(from) != group(to)).collect();
                    others.into_iter().map(|to| (*from, to)).collect::<Vec<_>>()
                };
                let links: Vec<(u64, u64)> = ids.iter().flat_map(apart).collect();
                self.cut(&links);
            }
            Action::Heal(links) => self.heal(links),
            Action::Loss(probability) => self.tell_all(SupervisorCommand::Loss(*probability)),
            Action::Suspect { by, suspect } => self.tell(*by, SupervisorCommand::Suspect(*suspect)),
            Action::Restore { by, restored } => self.tell(*by, SupervisorCommand::Restore(*restored)),
            // Real messages and timers wait for nobody: such scripts are refused before they come here.
            Action::Message { .. } | Action::Fire { .. } => {}
        }
        Ok(())
    }

    /// Kills a node with SIGKILL.
    pub async fn kill(&mut self, id: u64) {
        let Some(member) = self.members.get_mut(&id) else { return };
        let was_alive = member.is_alive();
        member.kill().await;
        // One that is dead from the beginning has not lived, but its death is news.
        if was_alive || member.life == 0 {
            member.life = member.life.max(1);
            self.write_down(Some(id), Happening::Crash);
            self.foretell_all(id, &SupervisorCommand::Suspect(id));
        }
    }

    /// Starts a node again, from what its disk holds, or without it.
    ///
    /// # Errors
    /// If it does not come up.
    pub async fn restart(&mut self, id: u64, amnesia: bool) -> Result<(), ClusterError> {
        if self.members.get(&id).is_none_or(Member::is_alive) {
            return Ok(());
        }
        if !self.members[&id].is_there() {
            self.spawn_again(id, amnesia)?;
        }
        let deadline = Instant::now() + START_LIMIT;
        while self.members[&id].address.is_none() {
            if Instant::now() > deadline {
                return Err(ClusterError::Slow(START_LIMIT));
            }
            if let Some(reached @ (_, NodeReport::Reached(_))) = self.attend_anew(deadline).await? {
                self.postponed.push_back(reached);
            }
        }
        let was_ahead = self.members.get_mut(&id).is_some_and(|it| std::mem::take(&mut it.ahead));
        if self.begun {
            if !was_ahead {
                let at = self.elapsed().as_nanos() as u64;
                self.tell(id, SupervisorCommand::Begin { zero: self.zero.1, at });
            }
            if self.blueprint.oracle.is_some() {
                let down: Vec<u64> =
                    self.ids().iter().copied().filter(|other| !self.members[other].is_alive()).collect();
                for other in down {
                    self.foretell(id, SupervisorCommand::Suspect(other));
                }
            }
            self.foretell_all(id, &SupervisorCommand::Restore(id));
        }
        Ok(())
    }

    /// Starts a node that is down ahead of the time at which it is to come back, so that it is not late.
    /// [`restart`](Cluster::restart) must follow at that time.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn restart_ahead(&mut self, id: u64, amnesia: bool, at: Duration) -> Result<(), ClusterError> {
        if self.members.get(&id).is_none_or(|it| it.is_there() || it.life == 0) || !self.begun {
            return Ok(());
        }
        self.spawn_again(id, amnesia)?;
        if let Some(member) = self.members.get_mut(&id) {
            member.ahead = true;
        }
        let at = at.mul_f64(self.blueprint.stretch).as_nanos() as u64;
        self.tell(id, SupervisorCommand::Begin { zero: self.zero.1, at });
        Ok(())
    }

    fn spawn_again(&mut self, id: u64, amnesia: bool) -> Result<(), ClusterError> {
        if amnesia {
            let stable = self.blueprint.directory.join(format!("node-{id}")).join("@main.stable");
            if let Err(why) = std::fs::remove_file(&stable)
                && why.kind() != io::ErrorKind::NotFound
            {
                return Err(ClusterError::Io { path: stable, why });
            }
        }
        self.spawn(id)
    }

    /// The oracle tells everybody else, after its delay.
    pub(super) fn foretell_all(&mut self, about: u64, command: &SupervisorCommand) {
        let others: Vec<u64> = self.alive().filter(|other| *other != about).collect();
        for other in others {
            self.foretell(other, command.clone());
        }
    }

    pub(super) fn foretell(&mut self, to: u64, command: SupervisorCommand) {
        let Some(delay) = self.blueprint.oracle else { return };
        let due = Instant::now().max(self.zero.0) + delay.mul_f64(self.blueprint.stretch);
        self.next_foretold += 1;
        self.foretold.insert((due, self.next_foretold), (to, self.members[&to].life, command));
    }

    /// Stops a node with SIGSTOP.
    pub fn pause(&mut self, id: u64) {
        if self.members.get_mut(&id).is_some_and(|member| member.signal(rustix::process::Signal::STOP)) {
            self.write_down(Some(id), Happening::Pause);
        }
    }

    /// Lets a stopped node go on.
    pub fn resume(&mut self, id: u64) {
        if self.members.get_mut(&id).is_some_and(|member| member.signal(rustix::process::Signal::CONT)) {
            self.write_down(Some(id), Happening::Resume);
        }
    }

    /// Asks a node to stop in good order, and waits until it has.
    pub async fn terminate(&mut self, id: u64) {
        let Some(member) = self.members.get_mut(&id) else { return };
        member.signal(rustix::process::Signal::TERM);
        member.ended().await;
        // The node has written its end down itself.
        self.foretell_all(id, &SupervisorCommand::Suspect(id));
    }

    /// Cuts links, each from the first to the second.
    pub fn cut(&mut self, links: &[(u64, u64)]) {
        let new: Vec<(u64, u64)> = links.iter().copied().filter(|link| !self.cut.contains(link)).collect();
        for (from, to) in by_sender(&new) {
            self.tell(from, SupervisorCommand::Cut { to, loses: self.cuts_lose });
        }
        self.cut.extend(&new);
        self.write_down(None, Happening::Cut { links: new });
    }

    /// Heals links; none named: all.
    pub fn heal(&mut self, links: &[(u64, u64)]) {
        let healed: Vec<(u64, u64)> = match links {
            [] => self.cut.clone(),
            links => self.cut.iter().copied().filter(|link| links.contains(link)).collect(),
        };
        for (from, to) in by_sender(&healed) {
            self.tell(from, SupervisorCommand::Heal { to });
        }
        self.cut.retain(|link| !healed.contains(link));
        self.write_down(None, Happening::Heal { links: healed });
    }
}
