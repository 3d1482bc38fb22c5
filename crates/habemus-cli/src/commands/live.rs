//! Real nodes in the lab: the page, what the nodes record as it happens, and the console's words from the
//! page.
//!
//! It listens on the loopback only, and whoever asks for records or says something must know a token, which
//! is drawn at random and stands in the link. Nothing else on the machine can guess it, and no other page can
//! read it.

use std::fmt::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use habemus_node::cluster::Cluster;
use habemus_page::{POLICY, Page};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;

use crate::error::CliError;

/// The records of the last moment may still change places: a node's file is read a little later than it is
/// written.
const HORIZON: Duration = Duration::from_millis(300);
/// No line of a request is longer, nor are there more of them, nor is more said at once.
const MAX_LINE: u64 = 8192;
const MAX_LINES: usize = 100;
const MAX_SAID: u64 = 4096;

/// Something that was said on the page, and where the reply goes.
pub(crate) struct Utterance {
    pub(crate) line: String,
    pub(crate) reply: oneshot::Sender<String>,
}

/// The lines of a trace that are to be shown; if an earlier one changes, all are shown again.
#[derive(Clone, Default)]
struct Lines {
    /// Counts how often they began anew.
    edition: u64,
    lines: Vec<String>,
}

/// What is served.
struct Served {
    token: String,
    host: String,
    page: Page,
    lines: Mutex<Lines>,
    changed: watch::Sender<u64>,
    said: mpsc::Sender<Utterance>,
}

/// Real nodes in the lab.
pub(crate) struct Live {
    served: Arc<Served>,
    pub(crate) said: mpsc::Receiver<Utterance>,
    next: Instant,
}

impl Live {
    /// Serves the page; gives the link to it.
    pub(crate) async fn start(page: Page) -> Result<(Live, String), CliError> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let host = listener.local_addr()?.to_string();
        let token = token()?;
        let (says, said) = mpsc::channel(8);
        let served = Arc::new(Served {
            token: token.clone(),
            host: host.clone(),
            page,
            lines: Mutex::default(),
            changed: watch::Sender::new(0),
            said: says,
        });
        let serving = Arc::clone(&served);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let served = Arc::clone(&serving);
                // A visitor who leaves early is nobody's concern.
                tokio::spawn(async move { served.answer(stream).await.ok() });
            }
        });
        Ok((Live { served, said, next: Instant::now() }, format!("http://{host}/#live={token}")))
    }

    /// Shows what has been recorded since. The longer that takes, the less often it is done.
    pub(crate) fn show(&mut self, cluster: &Cluster) {
        let now = Instant::now();
        if now < self.next {
            return;
        }
        // A node may not have written anything yet.
        if let Ok(mut trace) = cluster.trace(None) {
            let horizon = cluster.elapsed().saturating_sub(HORIZON).as_nanos() as u64;
            trace.records.retain(|record| record.at <= horizon);
            let header = serde_json::to_string(&trace.header);
            let records = trace.records.iter().map(serde_json::to_string);
            let lines: Result<Vec<String>, _> = std::iter::once(header).chain(records).collect();
            self.served.publish(lines.unwrap_or_default());
        }
        self.next = now + Duration::from_millis(150).max(now.elapsed() * 20);
    }
}

/// A token that nobody guesses.
fn token() -> Result<String, CliError> {
    use std::io::Read;
    let mut bytes = [0; 16];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    }))
}

impl Served {
    fn publish(&self, lines: Vec<String>) {
        let mut shown = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if !lines.starts_with(&shown.lines) {
            shown.edition += 1;
        }
        shown.lines = lines;
        drop(shown);
        self.changed.send_modify(|count| *count += 1);
    }

    async fn answer(&self, mut stream: TcpStream) -> std::io::Result<()> {
        let (reader, mut writer) = stream.split();
        let mut reader = BufReader::new(reader);
        let mut first = String::new();
        (&mut reader).take(MAX_LINE).read_line(&mut first).await?;
        let (mut host, mut length) = (String::new(), 0);
        for _ in 0..MAX_LINES {
            let mut line = String::new();
            (&mut reader).take(MAX_LINE).read_line(&mut line).await?;
            let Some((name, value)) = line.split_once(':') else { break };
            match name.to_ascii_lowercase().as_str() {
                "host" => value.trim().clone_into(&mut host),
                "content-length" => length = value.trim().parse().unwrap_or(0),
                _ => {}
            }
        }
        let mut words = first.split(' ');
        let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let may = query.strip_prefix("token=") == Some(self.token.as_str());
        // A page elsewhere that was made to resolve to this machine must not read this one.
        if host != self.host {
            return refuse(&mut writer, "404 Not Found").await;
        }
        match (method, path) {
            ("GET", "/live") if may => self.stream(&mut writer).await,
            ("POST", "/tell") if may => {
                let mut said = Vec::new();
                reader.take(MAX_SAID.min(length)).read_to_end(&mut said).await?;
                let (reply, replied) = oneshot::channel();
                let line = String::from_utf8_lossy(&said).into_owned();
                let told = self.said.send(Utterance { line, reply }).await.is_ok();
                let text = if told { replied.await.unwrap_or_default() } else { String::new() };
                let head =
                    "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n";
                writer
                    .write_all(format!("{head}Content-Length: {}\r\n\r\n{text}", text.len()).as_bytes())
                    .await
            }
            ("GET", "/live") | ("POST", "/tell") => refuse(&mut writer, "403 Forbidden").await,
            ("GET", path) => self.file(path, &mut writer).await,
            _ => refuse(&mut writer, "405 Method Not Allowed").await,
        }
    }

    /// Records as they come, each an event; where an earlier one has changed, all of them after a word that
    /// says so.
    async fn stream(&self, writer: &mut (impl AsyncWriteExt + Unpin)) -> std::io::Result<()> {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: \
            no-store\r\nConnection: close\r\n\r\n";
        writer.write_all(head.as_bytes()).await?;
        let mut changed = self.changed.subscribe();
        let (mut edition, mut sent) = (0, 0);
        loop {
            let shown = self.lines.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let mut text = String::new();
            if shown.edition != edition {
                (edition, sent) = (shown.edition, 0);
                text += "event: anew\ndata: {}\n\n";
            }
            for line in shown.lines.iter().skip(sent) {
                let _ = write!(text, "data: {line}\n\n");
            }
            sent = shown.lines.len();
            writer.write_all(text.as_bytes()).await?;
            if changed.changed().await.is_err() {
                return Ok(());
            }
        }
    }

    /// A file of the page.
    async fn file(&self, path: &str, writer: &mut (impl AsyncWriteExt + Unpin)) -> std::io::Result<()> {
        let Some((kind, body)) = self.page.file(path) else {
            return refuse(writer, "404 Not Found").await;
        };
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nCache-Control: no-cache\r\n\
             Content-Security-Policy: {POLICY}\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: \
             no-referrer\r\n\
             Connection: close\r\n\r\n",
            body.len()
        );
        writer.write_all(head.as_bytes()).await?;
        writer.write_all(body).await
    }
}

async fn refuse(writer: &mut (impl AsyncWriteExt + Unpin), status: &str) -> std::io::Result<()> {
    writer
        .write_all(format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").as_bytes())
        .await
}
