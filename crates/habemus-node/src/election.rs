//! An election, as an application sees it.

use habemus::election::Output;
use tokio::sync::{broadcast, mpsc, oneshot, watch};

use crate::engine::{Ask, Heard};
use crate::lease::Lease;
use crate::node::NodeError;

/// What a node knows of the leadership. It is safe to keep: once the node's own leadership is over it says
/// so, even if the node is stuck.
#[derive(Clone, Debug, Default)]
pub struct Leadership {
    leader: Option<u64>,
    term: u64,
    /// For how long the node itself leads, if it said that it does.
    lease: Option<Lease>,
}

impl Leadership {
    /// Who leads, as far as this node knows. On an anonymous ring only the leader knows who leads.
    pub fn leader(&self) -> Option<u64> {
        self.leader.filter(|_| self.lease.as_ref().is_none_or(Lease::is_valid))
    }

    /// Whether this node leads, at this moment. Where the algorithm has leases (the majority election), never
    /// after its lease.
    pub fn is_leading(&self) -> bool {
        self.lease.as_ref().is_some_and(Lease::is_valid)
    }

    /// The term of the leadership; 0 where the algorithm has none.
    pub fn term(&self) -> u64 {
        self.term
    }

    /// For how long this node leads, if it does. Elections without leases have no bound: a node that is
    /// stopped or cut off may believe that it leads while another does.
    pub fn lease(&self) -> Option<&Lease> {
        self.lease.as_ref()
    }
}

/// What happens to a node's own leadership.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElectionEvent {
    /// This node leads from now on.
    Elected {
        /// In this term; 0 where the algorithm has none.
        term: u64,
    },
    /// This node leads no longer.
    Lost {
        /// The term that is over for it.
        term: u64,
    },
}

/// An election that a node takes part in.
#[derive(Debug)]
pub struct ElectionHandle {
    asks: mpsc::Sender<Ask>,
    leadership: watch::Receiver<Leadership>,
    events: broadcast::Sender<ElectionEvent>,
}

/// So many events wait for a slow listener; older ones are lost to it, and it is told how many.
const EVENTS: usize = 256;

impl ElectionHandle {
    pub(crate) fn new(id: u64, asks: mpsc::Sender<Ask>) -> Self {
        let (leadership, seen) = watch::channel(Leadership::default());
        let (events, _) = broadcast::channel(EVENTS);
        tokio::spawn(follow(id, asks.clone(), leadership, events.clone()));
        ElectionHandle { asks, leadership: seen, events }
    }

    /// Who leads, as a value that changes. It is closed when the node stops.
    pub fn leader(&self) -> watch::Receiver<Leadership> {
        self.leadership.clone()
    }

    /// When this node is elected and when it loses its leadership, from now on.
    pub fn events(&self) -> broadcast::Receiver<ElectionEvent> {
        self.events.subscribe()
    }

    /// Starts an election, because the application believes that there is no leader.
    ///
    /// # Errors
    /// If the node has stopped.
    pub async fn elect(&self) -> Result<(), NodeError> {
        let (done, result) = oneshot::channel();
        let command = Ask::Command { name: String::new(), word: "elect", done };
        self.asks.send(command).await.map_err(|_| NodeError::Stopped)?;
        let _ = result.await.map_err(|_| NodeError::Stopped)?;
        Ok(())
    }
}

/// Turns what the process says into what applications ask.
async fn follow(
    id: u64,
    asks: mpsc::Sender<Ask>,
    leadership: watch::Sender<Leadership>,
    events: broadcast::Sender<ElectionEvent>,
) {
    let (to, mut outputs) = mpsc::unbounded_channel();
    let (done, _) = oneshot::channel();
    if asks.send(Ask::Listen { name: String::new(), to, done }).await.is_err() {
        return;
    }
    drop(asks);
    // The term in which the application believes that this node leads.
    let mut led: Option<u64> = None;
    loop {
        let lease = leadership.borrow().lease.clone();
        let ran_out = async {
            match (&lease, led) {
                (Some(lease), Some(_)) => lease.run_out().await,
                _ => std::future::pending().await,
            }
        };
        let heard = tokio::select! {
            // What the node says is newer than what it said.
            biased;
            heard = outputs.recv() => heard,
            () = ran_out => {
                if let Some(term) = led.take() {
                    let _ = events.send(ElectionEvent::Lost { term });
                }
                leadership.send_replace(Leadership::default());
                continue;
            }
        };
        let Some(Heard { output, lease: renewed }) = heard else { break };
        let Ok(output) = postcard::from_bytes::<Output>(&output) else { continue };
        let now = match output {
            Output::Leads { term } => Leadership { leader: Some(id), term, lease: Some(renewed) },
            Output::Follows { leader, term } => {
                Leadership { leader: leader.map(|leader| leader.0), term, lease: None }
            }
            Output::Leaderless => Leadership::default(),
        };
        let leads = now.lease.as_ref().map(|_| now.term);
        // The same term under a new lease: the old one had run out in the meantime.
        if let Some(term) = led.take() {
            let _ = events.send(ElectionEvent::Lost { term });
        }
        leadership.send_replace(now);
        if let Some(term) = leads {
            let _ = events.send(ElectionEvent::Elected { term });
        }
        led = leads;
    }
    // The node has stopped, and a node that has stopped leads nobody.
    leadership.send_replace(Leadership::default());
    if let Some(term) = led {
        let _ = events.send(ElectionEvent::Lost { term });
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::clock::BootInstant;

    #[tokio::test]
    async fn the_end_of_a_lease_is_told_although_the_node_says_nothing() {
        let (asks, mut asked) = mpsc::channel(4);
        let handle = ElectionHandle::new(7, asks);
        let (mut leader, mut events) = (handle.leader(), handle.events());
        let Some(Ask::Listen { to, .. }) = asked.recv().await else { panic!("it listens") };
        let lease = Lease::until(Some(BootInstant::now() + Duration::from_millis(50)));
        let output = postcard::to_allocvec(&Output::Leads { term: 3 }).unwrap();
        to.send(Heard { output, lease }).unwrap();
        let kept = leader.wait_for(|now| now.leader == Some(7)).await.unwrap().clone();
        assert_eq!(events.recv().await, Ok(ElectionEvent::Elected { term: 3 }));
        assert_eq!(events.recv().await, Ok(ElectionEvent::Lost { term: 3 }));
        assert!(!kept.is_leading() && kept.leader().is_none());
        assert!(leader.borrow_and_update().leader().is_none());
    }
}
