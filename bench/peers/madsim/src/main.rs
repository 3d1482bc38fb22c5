use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use madsim::net::{Endpoint, TcpListener, TcpStream};
use madsim::runtime::Runtime;

fn address(process: u64) -> SocketAddr {
    let [.., high, low] = (process + 1).to_be_bytes();
    SocketAddr::new(IpAddr::from([10, 0, high, low]), 1)
}
fn main() {
    println!("{}", address(3));
    let a: Vec<String> = std::env::args().collect();
    let (n, hops): (u64, u64) = (a[1].parse().unwrap(), a[2].parse().unwrap());
    let runtime = Runtime::new();
    let rounds = hops / n;
    let nodes: Vec<_> = (0..n).map(|p| runtime.create_node().name(format!("p{p}")).ip(address(p).ip()).build()).collect();
    let received = Arc::new(AtomicU64::new(0));
    let begin = std::cell::Cell::new(None);
    runtime.block_on(async {
        let mut eps = vec![];
        for p in 0..n {
            eps.push(nodes[p as usize].spawn(async move { Endpoint::bind(address(p)).await.unwrap() }));
        }
        let mut endpoints = vec![];
        for e in eps { endpoints.push(e.await.unwrap()); }
        begin.set(Some(std::time::Instant::now()));
        let mut tasks = vec![];
        for (p, ep) in (0..n).zip(endpoints) {
            let received = received.clone();
            tasks.push(nodes[p as usize].spawn(async move {
                let mut buffer = [0; 8];
                let next = address((p + 1) % n);
                if p == 0 { ep.send_to(next, 1, &buffer).await.unwrap(); }
                for _ in 0..rounds {
                    let (len, _) = ep.recv_from(1, &mut buffer).await.unwrap();
                    received.fetch_add(1, Ordering::Relaxed);
                    ep.send_to(next, 1, &buffer[..len]).await.unwrap();
                }
            }));
        }
        for t in tasks { t.await.unwrap(); }
    });
    println!("{} {:?} real", received.load(Ordering::Relaxed), begin.get().unwrap().elapsed());
}
