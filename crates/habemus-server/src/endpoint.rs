//! Where a member is reached: an address, or the name of a host, and a port.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use tokio_rustls::rustls::pki_types::{DnsName, ServerName};

/// Where a member is reached. A name is looked up whenever somebody connects, so a host may move.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct Endpoint {
    host: Host,
    port: u16,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Host {
    Address(IpAddr),
    Name(DnsName<'static>),
}

/// It is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("neither an address like 127.0.0.1:2380 nor a name like db1.example.org:2380")]
pub(crate) struct NoEndpoint;

impl Endpoint {
    /// Whether nobody on another machine can reach it.
    pub(crate) fn is_loopback(&self) -> bool {
        match &self.host {
            Host::Address(address) => address.is_loopback(),
            Host::Name(name) => name.as_ref() == "localhost",
        }
    }

    /// What must be in the certificate of whoever is there.
    pub(crate) fn server_name(&self) -> ServerName<'static> {
        match &self.host {
            Host::Address(address) => ServerName::IpAddress((*address).into()),
            Host::Name(name) => ServerName::DnsName(name.clone()),
        }
    }
}

impl From<SocketAddr> for Endpoint {
    fn from(address: SocketAddr) -> Endpoint {
        Endpoint { host: Host::Address(address.ip()), port: address.port() }
    }
}

impl FromStr for Endpoint {
    type Err = NoEndpoint;

    fn from_str(text: &str) -> Result<Endpoint, NoEndpoint> {
        if let Ok(address) = text.parse::<SocketAddr>() {
            return Ok(address.into());
        }
        let (host, port) = text.rsplit_once(':').ok_or(NoEndpoint)?;
        let port = port.parse().ok().filter(|port| *port > 0).ok_or(NoEndpoint)?;
        // Numbers and dots are an address that was mistyped.
        if host.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
            return Err(NoEndpoint);
        }
        let name = DnsName::try_from(host.to_ascii_lowercase()).map_err(|_| NoEndpoint)?;
        Ok(Endpoint { host: Host::Name(name), port })
    }
}

impl TryFrom<String> for Endpoint {
    type Error = NoEndpoint;

    fn try_from(text: String) -> Result<Endpoint, NoEndpoint> {
        text.parse()
    }
}

impl From<Endpoint> for String {
    fn from(endpoint: Endpoint) -> String {
        endpoint.to_string()
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.host {
            Host::Address(address) => SocketAddr::new(*address, self.port).fmt(f),
            Host::Name(name) => write!(f, "{}:{}", name.as_ref(), self.port),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_names_are_shown_as_they_are_read() {
        for text in ["127.0.0.1:2380", "[::1]:2380", "localhost:1", "db-1.example.org:65535", "node_1:2380"] {
            let endpoint: Endpoint = text.parse().expect(text);
            assert_eq!(endpoint.to_string(), text);
        }
        let upper: Endpoint = "DB1:2380".parse().expect("names are the same in capitals");
        assert_eq!(upper.to_string(), "db1:2380");
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let bad =
            ["", "db1", "db1:", ":2380", "db1:0", "db1:70000", "10.0.0:2380", "a b:1", "-a:1", "http://a:1"];
        for text in bad {
            assert_eq!(text.parse::<Endpoint>(), Err(NoEndpoint), "{text}");
        }
    }

    #[test]
    fn only_the_machine_itself_is_loopback() {
        let is_loopback = |text: &str| text.parse::<Endpoint>().expect(text).is_loopback();
        assert!(is_loopback("127.0.0.2:1") && is_loopback("[::1]:1") && is_loopback("localhost:1"));
        assert!(!is_loopback("10.0.0.1:1") && !is_loopback("localhost.example.org:1"));
    }
}
