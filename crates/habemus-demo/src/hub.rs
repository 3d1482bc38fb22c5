//! The resource that the lock protects: a counter that remembers the highest token it was shown. Clients
//! reach it over a connection, line by line; whatever they do is seen here in one order, and judged.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use habemus::mutex::Token;
use habemus::property::Resource;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

use crate::Failed;
use crate::judge::Judge;

/// What a client did, in the order in which it was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// It is inside.
    Inside { client: usize, token: u64 },
    /// It has read the counter and thinks about what to write.
    Read { client: usize },
    /// Its write was accepted.
    Wrote { client: usize },
    /// Its write was refused, for this token had been seen.
    Refused { client: usize, token: u64, highest: u64 },
    /// It has left.
    Left { client: usize },
    /// It leads the election.
    Leads { client: usize, term: u64 },
}

/// Whether the resource looks at tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Care {
    Fenced,
    Careless,
}

/// What the resource knows.
pub(crate) struct State {
    pub(crate) judge: Judge,
    care: Care,
    resource: Resource,
    highest: u64,
    counter: u64,
    /// How many writes were accepted, and how many of them were about an older value than the last one.
    pub(crate) accepted: u64,
    pub(crate) lost: u64,
    /// How often each client was inside.
    pub(crate) entries: Vec<u64>,
}

impl State {
    pub(crate) fn new(judge: Judge, care: Care, clients: usize) -> State {
        let entries = vec![0; clients];
        State {
            judge,
            care,
            resource: Resource::default(),
            highest: 0,
            counter: 0,
            accepted: 0,
            lost: 0,
            entries,
        }
    }

    /// What the counter stands at.
    pub(crate) fn counter(&self) -> u64 {
        self.counter
    }

    /// How many writes were refused.
    pub(crate) fn refused(&self) -> u64 {
        self.resource.refused()
    }

    /// Answers one line of a client, and says what happened.
    fn answer(&mut self, client: usize, line: &str) -> Option<(String, Event)> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |index: usize| words.get(index).and_then(|word| word.parse::<u64>().ok());
        let ok = || "ok".to_owned();
        match *words.first()? {
            "inside" => {
                let token = number(1)?;
                self.entries[client] += 1;
                self.judge.entered(client, token);
                Some((ok(), Event::Inside { client, token }))
            }
            "read" => Some((self.counter.to_string(), Event::Read { client })),
            "write" => Some(self.write(client, number(1)?, number(2)?)),
            "left" => {
                self.judge.left(client);
                Some((ok(), Event::Left { client }))
            }
            "leads" => {
                let term = number(1)?;
                self.judge.client_leads(client, term);
                Some((ok(), Event::Leads { client, term }))
            }
            _ => None,
        }
    }

    fn write(&mut self, client: usize, token: u64, value: u64) -> (String, Event) {
        if self.care == Care::Fenced && !self.resource.write(Some(Token(token))) {
            let highest = self.highest;
            return (format!("refused {highest}"), Event::Refused { client, token, highest });
        }
        self.highest = self.highest.max(token);
        self.accepted += 1;
        if value != self.counter + 1 {
            self.lost += 1;
        }
        self.counter = value;
        ("ok".to_owned(), Event::Wrote { client })
    }
}

/// The resource, shared between its connections and the one who tells the story.
#[derive(Clone)]
pub(crate) struct Hub(Arc<Mutex<State>>);

impl Hub {
    pub(crate) fn new(state: State) -> Hub {
        Hub(Arc::new(Mutex::new(state)))
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Serves clients on a port that is free.
    pub(crate) async fn serve(
        &self,
    ) -> Result<(std::net::SocketAddr, mpsc::UnboundedReceiver<Event>), Failed> {
        let cannot =
            |error: std::io::Error| Failed::missing(format!("no port of 127.0.0.1 is free: {error}"));
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.map_err(cannot)?;
        let address = listener.local_addr().map_err(cannot)?;
        let (tell, events) = mpsc::unbounded_channel();
        let hub = self.clone();
        tokio::spawn(async move {
            while let Ok((connection, _)) = listener.accept().await {
                tokio::spawn(hub.clone().converse(connection, tell.clone()));
            }
        });
        Ok((address, events))
    }

    /// The first line says which client it is.
    async fn converse(self, connection: TcpStream, tell: mpsc::UnboundedSender<Event>) -> Option<()> {
        let (read, mut write) = connection.into_split();
        let mut lines = BufReader::new(read).lines();
        let client: usize = lines.next_line().await.ok()??.parse().ok()?;
        while let Some(line) = lines.next_line().await.ok()? {
            // Told in the order in which it was judged.
            let answer = {
                let mut state = self.state();
                let (answer, event) = state.answer(client, &line)?;
                tell.send(event).ok()?;
                answer
            };
            write.write_all(format!("{answer}\n").as_bytes()).await.ok()?;
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use habemus::property::Verdict;

    fn play(lines: &[(usize, &str)]) -> (State, Vec<String>) {
        play_with(Care::Fenced, lines)
    }

    fn play_with(care: Care, lines: &[(usize, &str)]) -> (State, Vec<String>) {
        let mut state = State::new(Judge::new(2, 1), care, 2);
        let answers = lines.iter().map(|(client, line)| state.answer(*client, line).expect("it is known").0);
        let answers = answers.collect();
        (state, answers)
    }

    #[test]
    fn a_late_write_with_an_older_token_is_refused_and_nothing_is_lost() {
        let (state, answers) = play(&[
            (0, "inside 5"),
            (0, "read"),
            (1, "inside 7"),
            (1, "read"),
            (1, "write 7 1"),
            (0, "write 5 1"),
            (0, "left"),
            (1, "left"),
        ]);
        assert_eq!(answers, ["ok", "0", "ok", "0", "ok", "refused 7", "ok", "ok"]);
        assert_eq!((state.accepted, state.lost, state.refused(), state.counter()), (1, 0, 1, 1));
        assert!(matches!(state.judge.one_inside().verdict, Verdict::Violated(_)));
        assert_eq!(state.judge.fencing().verdict, Verdict::Holds);
    }

    #[test]
    fn where_nobody_looks_at_tokens_the_late_write_is_a_loss() {
        let lines =
            [(0, "inside 5"), (0, "read"), (1, "inside 7"), (1, "read"), (1, "write 7 1"), (0, "write 5 1")];
        let (state, answers) = play_with(Care::Careless, &lines);
        assert_eq!(answers[5], "ok");
        assert_eq!((state.accepted, state.lost, state.refused(), state.counter()), (2, 1, 0, 1));
    }

    #[test]
    fn a_write_about_an_older_value_counts_as_a_loss() {
        // The same token for both: the resource cannot tell them apart.
        let lines =
            [(0, "inside 5"), (0, "read"), (1, "inside 5"), (1, "read"), (1, "write 5 1"), (0, "write 5 1")];
        let (state, _) = play(&lines);
        assert_eq!((state.accepted, state.lost), (2, 1));
        assert!(matches!(state.judge.fencing().verdict, Verdict::Violated(_)));
    }

    #[test]
    fn two_leaders_of_one_term_are_noticed() {
        let (state, _) = play(&[(0, "leads 3"), (1, "leads 4")]);
        assert_eq!(state.judge.one_leader().verdict, Verdict::Holds);
        let (state, _) = play(&[(0, "leads 3"), (1, "leads 3")]);
        assert!(matches!(state.judge.one_leader().verdict, Verdict::Violated(_)));
    }
}
