//! What `--check` shows: the file that says the same as all that was given.

use std::fmt::Display;
use std::path::Path;

use toml::{Table, Value};

use crate::config::{Config, Origin};
use crate::tls::Wants;

/// A configuration as the file that says the same.
pub(crate) fn file(config: &Config) -> String {
    let mut table = Table::new();
    let mut say = |name: &str, value: Value| drop(table.insert(name.to_owned(), value));
    if let Some(name) = &config.name {
        say("name", text(name));
    }
    say("data", path(&config.data));
    say("listen", text(config.listen));
    match &config.origin {
        Origin::Alone => {}
        Origin::First(names) => {
            let members = names.iter().map(|(name, peer)| text(format!("{name}={peer}")));
            say("cluster", Value::Array(members.collect()));
        }
        Origin::Added { members, peer } => {
            say("join", Value::Array(members.iter().map(text).collect()));
            say("peer", text(peer));
        }
    }
    let addresses = [("listen-peer", config.listen_peer), ("advertise", config.advertise)];
    for (name, address) in addresses.into_iter().filter_map(|(name, address)| Some((name, address?))) {
        say(name, text(address));
    }
    let (quota, limits) = (&config.quota, &config.limits);
    say("quota", number(quota.bytes));
    say("history", number(quota.history));
    if let Some(age) = quota.age {
        say("history-seconds", number(age.as_secs()));
    }
    say("max-connections", number(limits.connections));
    say("max-rate", number(limits.rate));
    say("greeting-seconds", number(limits.greeting.as_secs()));
    for (name, file) in files(config) {
        say(name, path(file));
    }
    if config.tls.as_ref().is_some_and(|files| files.wants == Wants::Certificate) {
        say("client-cert-auth", Value::Boolean(true));
    }
    if config.is_insecure_beyond_loopback {
        say("insecure-beyond-loopback", Value::Boolean(true));
    }
    table.to_string()
}

fn files(config: &Config) -> impl Iterator<Item = (&'static str, &Path)> {
    let clients = config.tls.iter().flat_map(|files| {
        let certificate = [("cert-file", &files.certificate), ("key-file", &files.key)];
        let authority = files.authority.as_ref().map(|file| ("trusted-ca-file", file));
        let revoked = files.revoked.as_ref().map(|file| ("client-crl-file", file));
        certificate.into_iter().chain(authority).chain(revoked)
    });
    let members = config.peer_tls.iter().flat_map(|files| {
        let certificate = [("peer-cert-file", &files.certificate), ("peer-key-file", &files.key)];
        certificate.into_iter().chain(files.authority.as_ref().map(|file| ("peer-trusted-ca-file", file)))
    });
    clients.chain(members).map(|(name, file)| (name, file.as_path()))
}

fn text(what: impl Display) -> Value {
    Value::String(what.to_string())
}

fn path(path: &Path) -> Value {
    text(path.display())
}

fn number(number: impl TryInto<i64>) -> Value {
    Value::Integer(number.try_into().unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::config::Arguments;

    fn config(arguments: &[&str]) -> Config {
        let arguments = ["habemusd"].iter().chain(arguments);
        Config::new(Arguments::try_parse_from(arguments).expect("options are known")).expect("it makes sense")
    }

    #[test]
    fn what_is_shown_is_a_file_that_says_the_same() {
        let peer = ["--peer-cert-file", "d", "--peer-key-file", "e", "--peer-trusted-ca-file", "f"];
        let clients = ["--cert-file", "a", "--key-file", "b", "--trusted-ca-file", "c", "--client-cert-auth"];
        let first = ["--name", "a", "--cluster", "a=127.0.0.1:1,b=db1:2", "--listen-peer", "127.0.0.1:9"];
        let added = ["--name", "d", "--peer", "127.0.0.1:3", "--join", "127.0.0.1:1,127.0.0.1:2"];
        let open = ["--listen", "0.0.0.0:1", "--advertise", "192.0.2.7:1", "--insecure-beyond-loopback"];
        let numbers = ["--quota", "5", "--history", "6", "--history-seconds", "7", "--max-rate", "8"];
        let path = std::env::temp_dir().join(format!("habemus-settled-{}.toml", std::process::id()));
        for given in [
            Vec::new(),
            [&peer[..], &clients, &first].concat(),
            [&added[..], &open, &numbers, &["--client-crl-file", "g"], &clients].concat(),
        ] {
            let given = config(&given);
            std::fs::write(&path, file(&given)).expect("it is ours");
            assert_eq!(config(&["--config", path.to_str().expect("it is a text")]), given);
        }
        std::fs::remove_file(&path).expect("it is ours");
    }
}
