//! A network between client and member that can be cut.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A network between client and member.
pub(crate) struct Proxy {
    address: String,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    is_silent: AtomicBool,
    is_over: AtomicBool,
    connections: Mutex<Vec<TcpStream>>,
}

impl Proxy {
    pub(crate) fn to(member: &str) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").expect("there are free ports");
        let address = listener.local_addr().expect("it listens").to_string();
        let state = Arc::new(State::default());
        let (member, shared) = (member.to_owned(), Arc::clone(&state));
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                if shared.is_over.load(Ordering::SeqCst) {
                    return;
                }
                let Ok(server) = TcpStream::connect(&member) else { continue };
                join(&client, &server, &shared);
                join(&server, &client, &shared);
                shared.connections.lock().expect("nobody panics").extend([client, server]);
            }
        });
        Proxy { address, state }
    }

    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Breaks all connections; new ones can be made.
    pub(crate) fn break_all(&self) {
        for connection in self.state.connections.lock().expect("nobody panics").drain(..) {
            // It may have ended already.
            drop(connection.shutdown(Shutdown::Both));
        }
    }

    /// From now on nothing gets through, and nobody is told so.
    pub(crate) fn silence(&self) {
        self.state.is_silent.store(true, Ordering::SeqCst);
    }

    /// Everything gets through again.
    pub(crate) fn heal(&self) {
        self.state.is_silent.store(false, Ordering::SeqCst);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.state.is_over.store(true, Ordering::SeqCst);
        self.break_all();
        drop(TcpStream::connect(&self.address));
    }
}

fn join(from: &TcpStream, to: &TcpStream, state: &Arc<State>) {
    let clone = |stream: &TcpStream| stream.try_clone().expect("there are enough descriptors");
    let (mut from, mut to, state) = (clone(from), clone(to), Arc::clone(state));
    std::thread::spawn(move || {
        let mut buffer = [0; 1 << 16];
        while let Ok(count @ 1..) = from.read(&mut buffer) {
            while state.is_silent.load(Ordering::SeqCst) && !state.is_over.load(Ordering::SeqCst) {
                std::thread::sleep(Duration::from_millis(5));
            }
            if to.write_all(&buffer[..count]).is_err() {
                break;
            }
        }
        drop(to.shutdown(Shutdown::Both));
    });
}
