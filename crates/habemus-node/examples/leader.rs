//! An application that does something only while it leads: `cargo run -p habemus-node --example leader`.
//!
//! Three nodes live in this one program, to make the example complete. In real life each is a program of its
//! own, with a data directory and the addresses of the others in its settings.

use habemus_node::{ElectionEvent, Node, Settings};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut nodes = Vec::new();
    for id in 1..=3 {
        nodes.push(Node::start(Settings::new("majority", id, [1, 2, 3])).await?);
    }
    for one in &nodes {
        for other in &nodes {
            one.introduce(other.id(), other.address());
        }
    }

    // Who leads? The watch always holds the latest answer.
    let mut leadership = nodes[0].election()?.leader();
    let first = leadership.wait_for(|now| now.leader().is_some()).await?.leader().unwrap_or_default();
    println!("node {first} leads");

    // The leader goes; one of the others hears that it is elected.
    let (leader, others): (Vec<Node>, Vec<Node>) = nodes.into_iter().partition(|node| node.id() == first);
    let elections = others.iter().map(Node::election).collect::<Result<Vec<_>, _>>()?;
    let mut events: Vec<_> = elections.iter().map(habemus_node::ElectionHandle::events).collect();
    for node in leader {
        node.stop().await?;
    }
    let (left, right) = events.split_at_mut(1);
    let event = tokio::select! {
        event = left[0].recv() => event?,
        event = right[0].recv() => event?,
    };
    match event {
        ElectionEvent::Elected { term } => println!("another is elected, in term {term}"),
        ElectionEvent::Lost { term } => println!("term {term} is over"),
    }
    Ok(())
}
