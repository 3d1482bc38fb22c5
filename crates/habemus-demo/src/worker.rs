//! One client, as its author might have written it in a hurry: it asks for the lock, reads, thinks, writes,
//! and never asks whether it still holds the lock. Its token is all that protects others from it.

use std::net::SocketAddr;
use std::time::Duration;

use habemus_client::{Client, ClientError, Session, Wait};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};

use crate::Failed;

/// For how long a client may be silent before others are let in.
pub(crate) const TTL: Duration = Duration::from_secs(2);

/// How often it writes while it is inside, and how long it thinks each time.
const WRITES: u32 = 3;
const THINKS: Duration = Duration::from_millis(60);

/// Works until whoever started it is gone.
pub(crate) async fn work(name: &str, resource: SocketAddr, members: &[String]) -> Result<(), Failed> {
    let client = Client::connect(members).map_err(|error| Failed::missing(error.to_string()))?;
    let told = tokio::select! {
        told = compete(name, resource, &client) => told,
        told = stand(name, resource, &client) => told,
    };
    // The story is over: nobody is there to hear how.
    drop(told);
    Ok(())
}

/// A line to the resource, and what it answers.
struct Line {
    read: Lines<BufReader<OwnedReadHalf>>,
    write: OwnedWriteHalf,
}

impl Line {
    async fn open(name: &str, resource: SocketAddr) -> std::io::Result<Line> {
        let (read, write) = TcpStream::connect(resource).await?.into_split();
        let mut line = Line { read: BufReader::new(read).lines(), write };
        line.write.write_all(format!("{name}\n").as_bytes()).await?;
        Ok(line)
    }

    async fn say(&mut self, text: &str) -> std::io::Result<String> {
        self.write.write_all(format!("{text}\n").as_bytes()).await?;
        self.read.next_line().await?.ok_or_else(|| std::io::ErrorKind::UnexpectedEof.into())
    }
}

/// Opens a session, however long it takes.
async fn session(client: &Client) -> Session {
    loop {
        match client.session(TTL).await {
            Ok(session) => return session,
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
}

/// Enters, writes and leaves, again and again.
async fn compete(name: &str, resource: SocketAddr, client: &Client) -> std::io::Result<()> {
    let mut line = Line::open(name, resource).await?;
    loop {
        let session = session(client).await;
        while inside(&mut line, &session).await?.is_ok() {}
    }
}

/// Enters once; the inner result is an error if the session is no use any more.
async fn inside(line: &mut Line, session: &Session) -> std::io::Result<Result<(), ClientError>> {
    let guard = match session.lock("orders", Wait::Always).await {
        Ok(guard) => guard,
        Err(error) => return Ok(Err(error)),
    };
    let token = guard.token();
    line.say(&format!("inside {token}")).await?;
    let mut refused = false;
    for _ in 0..WRITES {
        let counter: u64 = line.say("read").await?.parse().unwrap_or_default();
        tokio::time::sleep(THINKS).await;
        refused |= line.say(&format!("write {token} {}", counter + 1)).await?.starts_with("refused");
        if refused {
            break;
        }
    }
    // Said before it is done, so that nobody is seen inside before.
    line.say("left").await?;
    let released = guard.release().await;
    Ok(if refused { Err(ClientError::SessionLost) } else { released })
}

/// Stands for election, again after every loss.
async fn stand(name: &str, resource: SocketAddr, client: &Client) -> std::io::Result<()> {
    let mut line = Line::open(name, resource).await?;
    loop {
        let session = session(client).await;
        if let Ok(guard) = session.campaign("scheduler", name.to_owned(), Wait::Always).await {
            line.say(&format!("leads {}", guard.token())).await?;
            guard.lost().await;
        }
    }
}
