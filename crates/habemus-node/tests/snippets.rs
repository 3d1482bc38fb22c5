//! The pieces of program in docs/nodes.md: compiled, run, and word for word the same.

use std::error::Error;
use std::path::PathBuf;
use std::time::Duration;

use habemus_node::{Leadership, Lease, Node, NodeError, Settings};
use tokio::time::timeout;

/// However loaded the machine, this is long enough.
const LONG: Duration = Duration::from_secs(60);

/// A resource that checks tokens.
#[derive(Default)]
struct Storage {
    newest: u64,
    orders: Vec<String>,
}

impl Storage {
    async fn write(&mut self, order: &str, token: u64) -> bool {
        tokio::task::yield_now().await;
        let accepted = token >= self.newest;
        if accepted {
            self.newest = token;
            self.orders.push(order.to_owned());
        }
        accepted
    }
}

/// As they stand on the page.
mod shown {
    use super::*;

    pub(super) async fn start(id: u64, data: PathBuf, first_start: bool) -> Result<Node, NodeError> {
        let mut settings = Settings::new("majority", id, [1, 2, 3]);
        settings.listen = "127.0.0.1:0".to_owned(); // where the other nodes reach this one
        settings.data = Some(data); // what it promises must survive a crash
        settings.first_start = first_start; // true once, and never again
        Node::start(settings).await
    }

    /// Waits until this node leads, and says in which term.
    pub(super) async fn lead(node: &Node) -> Result<u64, Box<dyn Error>> {
        let mut leader = node.election()?.leader(); // a watch: who leads, and in which term
        let leadership = leader.wait_for(Leadership::is_leading).await?.clone();
        // What was kept is right on time, even if the node is stuck.
        if leadership.is_leading() {
            println!("for {:?} at least", leadership.lease().and_then(Lease::remaining));
        }
        Ok(leadership.term())
    }

    /// Writes with a lock in hand, and stops if it is taken away.
    pub(super) async fn write(node: &Node, storage: &mut Storage) -> Result<bool, Box<dyn Error>> {
        let mut guard = node.locks()?.acquire("orders").await?; // one holder among all nodes and all tasks
        let token = guard.token(); // the storage refuses older ones
        let written = tokio::select! {
            () = guard.lost() => false, // the lease is over: somebody else may be inside
            accepted = storage.write("order 7", token) => accepted,
        };
        drop(guard); // released
        Ok(written)
    }
}

#[test]
fn the_page_shows_what_is_compiled_here() {
    let page = include_str!("../../../docs/nodes.md");
    let unindented = |text: &str| text.lines().map(str::trim).collect::<Vec<_>>().join("\n");
    let here = unindented(include_str!("snippets.rs")).replace("pub(super) async fn", "async fn");
    let pieces: Vec<&str> =
        page.split("```rust\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(pieces.len() >= 3, "the page has lost its pieces of program");
    for piece in pieces {
        assert!(here.contains(&unindented(piece)), "not compiled in tests/snippets.rs:\n{piece}");
    }
}

#[tokio::test]
async fn what_the_page_shows_works() {
    let data = std::env::temp_dir().join(format!("habemus-snippets-{}", std::process::id()));
    let mut nodes = Vec::new();
    for id in 1..=3 {
        nodes.push(shown::start(id, data.join(id.to_string()), true).await.expect("it starts"));
    }
    for one in &nodes {
        nodes.iter().for_each(|other| one.introduce(other.id(), other.address()));
    }
    let elected = async {
        tokio::select! {
            term = shown::lead(&nodes[0]) => term,
            term = shown::lead(&nodes[1]) => term,
            term = shown::lead(&nodes[2]) => term,
        }
    };
    let term = timeout(LONG, elected).await.expect("somebody is elected").expect("the nodes live");
    assert!(term > 0);
    let mut storage = Storage::default();
    for node in &nodes {
        let written = timeout(LONG, shown::write(node, &mut storage)).await.expect("everybody gets in");
        // On a machine that stands still for too long the lock may be lost, and then nothing is written.
        assert!(written.expect("the node lives") || storage.newest > 0 || storage.orders.is_empty());
    }
    let _ = std::fs::remove_dir_all(&data);
}
