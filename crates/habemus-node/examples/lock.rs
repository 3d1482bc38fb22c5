//! Two applications that share a resource: `cargo run -p habemus-node --example lock`.
//!
//! The coordinator gives fencing tokens; the resource refuses a write whose token is older than one it has
//! seen.

use habemus_node::{Node, Settings};

/// What the lock protects.
#[derive(Default)]
struct Resource {
    newest: u64,
}

impl Resource {
    fn write(&mut self, token: u64) -> bool {
        let accepted = token >= self.newest;
        self.newest = self.newest.max(token);
        accepted
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut nodes = Vec::new();
    for id in 1..=3 {
        let mut settings = Settings::new("coordinator", id, [1, 2, 3]);
        settings.options.insert("fencing".to_owned(), "true".to_owned());
        nodes.push(Node::start(settings).await?);
    }
    for one in &nodes {
        for other in &nodes {
            one.introduce(other.id(), other.address());
        }
    }

    let mut resource = Resource::default();
    for _ in 0..2 {
        for node in &nodes[1..] {
            let guard = node.locks()?.acquire("orders").await?;
            let token = guard.token();
            println!("node {} writes with token {token}: {}", node.id(), resource.write(token));
            // Dropping the guard gives the lock back.
        }
    }
    Ok(())
}
