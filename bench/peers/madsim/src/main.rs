//! The token ring in madsim: one node for each process, over its network of 1 to 10 ms, which is its default.
//!
//! Used as its documentation says: nodes with addresses of their own, whose tasks talk over its sockets. They
//! are TCP streams: they keep the order, as the links of habemus do here, and they are about half as fast
//! again as its datagrams, which wait at random before each sending and each receiving. No subscriber is
//! installed, so nothing is logged.

use std::net::{IpAddr, SocketAddr};

use cpu_time::ProcessTime;
use madsim::net::{TcpListener, TcpStream};
use madsim::runtime::{NodeHandle, Runtime};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// The two links of one process.
struct Links {
    from_predecessor: TcpStream,
    to_successor: TcpStream,
}

fn main() {
    let mut arguments = std::env::args().skip(1).map_while(|argument| argument.parse::<u64>().ok());
    let (Some(processes), Some(hops)) = (arguments.next(), arguments.next()) else {
        eprintln!("usage: peer-madsim PROCESSES HOPS");
        std::process::exit(2);
    };
    let runtime = Runtime::new();
    let node = |process| runtime.create_node().name(format!("p{process}")).ip(address(process).ip()).build();
    let nodes: Vec<NodeHandle> = (0..processes).map(node).collect();
    let ring = runtime.block_on(connect(&nodes));
    // Time is taken outside of the runtime, which simulates the clocks inside.
    let begin = ProcessTime::now();
    let received = runtime.block_on(pass(&nodes, ring, hops / processes));
    let time = begin.elapsed();
    assert_eq!(received, hops / processes * processes);
    println!("{received} {} 0", time.as_nanos());
}

fn address(process: u64) -> SocketAddr {
    let [.., high, low] = process.to_be_bytes();
    SocketAddr::new(IpAddr::from([10, 0, high, low]), 1)
}

/// Connects every process with its successor.
async fn connect(nodes: &[NodeHandle]) -> Vec<Links> {
    let addresses: Vec<SocketAddr> = (0..nodes.len() as u64).map(address).collect();
    let bind = |(node, address): (&NodeHandle, &SocketAddr)| node.spawn(TcpListener::bind(*address));
    let binding: Vec<_> = nodes.iter().zip(&addresses).map(bind).collect();
    let mut listeners = Vec::new();
    for listener in binding {
        listeners.push(listener.await.expect("a node runs").expect("its address is its own"));
    }
    let accept = |(node, listener): (&NodeHandle, TcpListener)| {
        node.spawn(async move { listener.accept().await.map(|(stream, _)| stream) })
    };
    let accepting: Vec<_> = nodes.iter().zip(listeners).map(accept).collect();
    let successors = addresses.iter().cycle().skip(1);
    let call = |(node, successor): (&NodeHandle, &SocketAddr)| node.spawn(TcpStream::connect(*successor));
    let calling: Vec<_> = nodes.iter().zip(successors).map(call).collect();
    let mut ring = Vec::new();
    for (accepted, called) in accepting.into_iter().zip(calling) {
        let from_predecessor = accepted.await.expect("a node runs").expect("its predecessor calls");
        let to_successor = called.await.expect("a node runs").expect("its successor listens");
        ring.push(Links { from_predecessor, to_successor });
    }
    ring
}

/// Has the token go round so many times; gives how often it was received.
async fn pass(nodes: &[NodeHandle], ring: Vec<Links>, rounds: u64) -> u64 {
    let task = |(index, (node, mut links)): (usize, (&NodeHandle, Links))| {
        node.spawn(async move {
            let mut token = [0; 8];
            if index == 0 {
                links.send(&token).await;
            }
            for _ in 0..rounds {
                links.from_predecessor.read_exact(&mut token).await.expect("the predecessor lives");
                links.send(&token).await;
            }
            rounds
        })
    };
    let tasks: Vec<_> = nodes.iter().zip(ring).enumerate().map(task).collect();
    let mut received = 0;
    for task in tasks {
        received += task.await.expect("a node runs");
    }
    received
}

impl Links {
    /// Passes the token on. At the very end the successor is no longer there to take it.
    async fn send(&mut self, token: &[u8]) {
        if self.to_successor.write_all(token).await.is_ok() {
            let _ = self.to_successor.flush().await;
        }
    }
}
