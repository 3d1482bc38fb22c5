//! Serves the page on this machine: a handful of files, to whoever asks on the loopback.

use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use crate::page::Page;

/// Nothing of the page comes from elsewhere, and nothing goes there.
const POLICY: &str = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; \
                      img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Whoever says nothing for so long is left alone.
const PATIENCE: Duration = Duration::from_secs(10);
/// A request has at most so many lines.
const MAX_LINES: usize = 100;

/// Where the page is if nobody says: links that commands print lead there. As letters on a telephone it is HABE.
pub const USUAL_PORT: u16 = 4223;

/// Listens on the loopback where links of commands lead to, or on a free port if that is taken.
///
/// # Errors
/// If there is no free port.
pub fn listen_where_expected() -> Result<(TcpListener, u16), String> {
    listen(USUAL_PORT).or_else(|_| listen(0))
}

/// Listens on the loopback, on a free port if it is 0; gives the port.
///
/// # Errors
/// If the port is taken.
pub fn listen(port: u16) -> Result<(TcpListener, u16), String> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port));
    let listener = listener.map_err(|error| format!("cannot listen on port {port}: {error}"))?;
    let port = listener.local_addr().map_err(|error| error.to_string())?.port();
    Ok((listener, port))
}

/// Serves the page for as long as somebody may ask.
pub fn serve(page: Page, listener: &TcpListener, port: u16) {
    let page = Arc::new(page);
    for stream in listener.incoming().flatten() {
        let page = Arc::clone(&page);
        // A visitor who leaves early is nobody's concern.
        std::thread::spawn(move || answer(&stream, &page, port).ok());
    }
}

/// Shows an address in a browser, if there is one.
pub fn open_browser(address: &str) {
    let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let mut command = Command::new(opener);
    command.arg(address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let _ = command.spawn();
}

fn answer(stream: &TcpStream, page: &Page, port: u16) -> std::io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut lines = BufReader::new(stream).lines();
    let first = lines.next().transpose()?.unwrap_or_default();
    let mut host = String::new();
    for line in lines.take(MAX_LINES) {
        let line = line?;
        if line.is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("host")
        {
            value.trim().clone_into(&mut host);
        }
    }
    let mut words = first.split(' ');
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let name = if path == "/" { "index.html" } else { path.trim_start_matches('/') };
    // A page elsewhere that was made to resolve to this machine must not read this one.
    let known = [format!("127.0.0.1:{port}"), format!("localhost:{port}")].contains(&host);
    let found = page.0.get(name).filter(|_| known);
    let (status, kind, body) = match (method, found) {
        ("GET" | "HEAD", Some(body)) => ("200 OK", kind(name), body.as_slice()),
        ("GET" | "HEAD", None) => ("404 Not Found", "text/plain", &b"not found\n"[..]),
        _ => ("405 Method Not Allowed", "text/plain", &b"only GET\n"[..]),
    };
    let mut stream = stream;
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nCache-Control: no-cache\r\n\
         Content-Security-Policy: {POLICY}\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n\
         Connection: close\r\n\r\n",
        body.len()
    )?;
    if method == "HEAD" { Ok(()) } else { stream.write_all(body) }
}

fn kind(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("json") => "application/json",
        Some("wasm") => "application/wasm",
        _ => "application/octet-stream",
    }
}
