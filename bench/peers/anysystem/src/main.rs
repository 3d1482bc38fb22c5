//! The token ring in anysystem: one process on each node, over its network of 1 to 10 ms.
//!
//! Used as its documentation says: processes that implement its trait, added to nodes, exchange messages; a
//! local message puts the token on its way; the system is stepped. No log file is written and no logger is
//! installed, so its events are not printed. It keeps them all in memory, which cannot be turned off.

use anysystem::{Context, Message, Process, System};
use cpu_time::ProcessTime;

/// Passes the token on, as it came.
#[derive(Clone)]
struct Passer {
    successor: String,
}

impl Process for Passer {
    fn on_message(&mut self, token: Message, _from: String, cx: &mut Context) -> Result<(), String> {
        cx.send(token, self.successor.clone());
        Ok(())
    }

    fn on_local_message(&mut self, token: Message, cx: &mut Context) -> Result<(), String> {
        cx.send(token, self.successor.clone());
        Ok(())
    }

    fn on_timer(&mut self, _timer: String, _cx: &mut Context) -> Result<(), String> {
        Ok(())
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1).map_while(|argument| argument.parse::<u64>().ok());
    let (Some(processes), Some(hops)) = (arguments.next(), arguments.next()) else {
        eprintln!("usage: peer-anysystem PROCESSES HOPS");
        std::process::exit(2);
    };
    let mut system = System::new(1);
    system.network().set_delays(0.001, 0.010);
    for process in 0..processes {
        let (node, name) = (format!("node{process}"), format!("p{process}"));
        let successor = format!("p{}", (process + 1) % processes);
        system.add_node(&node);
        system.add_process(&name, Box::new(Passer { successor }), &node);
    }
    let begin = ProcessTime::now();
    system.send_local_message("p0", Message::new("TOKEN", ""));
    assert!(system.steps(hops), "the token never stops");
    let time = begin.elapsed();
    let received: u64 =
        (0..processes).map(|process| system.received_message_count(&format!("p{process}"))).sum();
    assert_eq!(received, hops);
    println!("{received} {} 0", time.as_nanos());
}
