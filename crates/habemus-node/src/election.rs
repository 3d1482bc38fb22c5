//! An election, as an application sees it.

use habemus::election::Output;
use tokio::sync::{broadcast, mpsc, oneshot, watch};

use crate::engine::{Ask, Heard};
use crate::node::NodeError;

/// What a node knows of the leadership.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Leadership {
    /// Who leads, as far as this node knows. On an anonymous ring only the leader knows who leads.
    pub leader: Option<u64>,
    /// Whether this node leads.
    pub leading: bool,
    /// The term of the leadership; 0 where the algorithm has none.
    pub term: u64,
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
    if asks.send(Ask::Listen { name: String::new(), to }).await.is_err() {
        return;
    }
    drop(asks);
    while let Some(Heard(bytes)) = outputs.recv().await {
        let Ok(output) = postcard::from_bytes::<Output>(&bytes) else { continue };
        let before = *leadership.borrow();
        let now = match output {
            Output::Leads { term } => Leadership { leader: Some(id), leading: true, term },
            Output::Follows { leader, term } => {
                Leadership { leader: leader.map(|leader| leader.0), leading: false, term }
            }
            Output::Leaderless => Leadership::default(),
        };
        if before.leading && !(now.leading && now.term == before.term) {
            let _ = events.send(ElectionEvent::Lost { term: before.term });
        }
        if now.leading && !(before.leading && now.term == before.term) {
            let _ = events.send(ElectionEvent::Elected { term: now.term });
        }
        leadership.send_replace(now);
    }
    // The node has stopped, and a node that has stopped leads nobody.
    let last = leadership.send_replace(Leadership::default());
    if last.leading {
        let _ = events.send(ElectionEvent::Lost { term: last.term });
    }
}
