//! Serves the page on this machine: a handful of files, to whoever asks on the loopback.

use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use signal_hook::consts::{SIGINT, SIGTERM};

use crate::page::Page;

/// Nothing of the page comes from elsewhere, and nothing goes there.
pub const POLICY: &str = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' \
    'unsafe-inline'; \
                      img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors \
                      'none'";

/// Whoever says nothing for so long is left alone.
const PATIENCE: Duration = Duration::from_secs(10);
/// A request has at most so many lines.
const MAX_LINES: usize = 100;

/// Where the page is if nobody says: links that commands print lead there. As letters on a telephone it is
/// HABE.
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

/// From now on Ctrl-C and a supervisor's SIGTERM end this program at once, and that is no failure: there is
/// nothing to be put away.
pub fn end_when_told() {
    let always = Arc::new(AtomicBool::new(true));
    for signal in [SIGINT, SIGTERM] {
        // If there is no signal to be had, the program ends as it always does.
        let _ = signal_hook::flag::register_conditional_shutdown(signal, 0, Arc::clone(&always));
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
    // A page elsewhere that was made to resolve to this machine must not read this one.
    let known = [format!("127.0.0.1:{port}"), format!("localhost:{port}")].contains(&host);
    let found = page.file(path).filter(|_| known);
    let (status, kind, body) = match (method, found) {
        ("GET" | "HEAD", Some((kind, body))) => ("200 OK", kind, body),
        ("GET" | "HEAD", None) => ("404 Not Found", "text/plain", &b"not found\n"[..]),
        _ => ("405 Method Not Allowed", "text/plain", &b"only GET\n"[..]),
    };
    let mut stream = stream;
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nCache-Control: no-cache\r\n\
         Content-Security-Policy: {POLICY}\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: \
         no-referrer\r\n\
         Connection: close\r\n\r\n",
        body.len()
    )?;
    if method == "HEAD" { Ok(()) } else { stream.write_all(body) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    fn ask(port: u16, request: &str) -> String {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).expect("it listens");
        stream.write_all(request.as_bytes()).expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        answer
    }

    #[test]
    fn the_files_are_served_to_this_machine_under_its_own_name_only() {
        let files = [("index.html", "<p>lab"), ("main.js", "run()")];
        let page = Page(files.map(|(name, text)| (name.to_owned(), text.as_bytes().to_vec())).into());
        let (listener, port) = listen(0).expect("a port is free");
        std::thread::spawn(move || serve(page, &listener, port));
        let get = |path: &str, host: &str| ask(port, &format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n"));
        let own = format!("127.0.0.1:{port}");
        let answer = get("/", &own);
        assert!(answer.starts_with("HTTP/1.1 200 OK") && answer.ends_with("<p>lab"), "{answer}");
        assert!(answer.contains("Content-Type: text/html") && answer.contains(POLICY), "{answer}");
        assert!(get("/main.js?1", &own).contains("Content-Type: text/javascript"));
        for (path, host) in [("/", "elsewhere.example"), ("/../Cargo.toml", &own), ("/none", &own)] {
            assert!(get(path, host).starts_with("HTTP/1.1 404"), "{path} for {host}");
        }
        assert!(ask(port, "POST / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 405"));
    }

    #[test]
    fn a_page_that_was_written_is_read_again_and_none_is_made_up() {
        let directory = std::env::temp_dir().join(format!("habemus-page-{}", std::process::id()));
        assert!(Page::read(&directory).is_err_and(|error| error.contains("there is no page")));
        let page = Page([("index.html".to_owned(), b"<p>lab".to_vec())].into());
        page.write(&directory).expect("it can be written");
        assert_eq!(Page::find(Some(&directory)), Ok(Some(page)));
        std::fs::remove_dir_all(&directory).expect("it was made");
    }
}
