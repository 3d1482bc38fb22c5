//! How clients come to the members: in the clear, or with certificates, which can be made anew while
//! everything runs.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use habemus_client::Credentials;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint, Identity};

use crate::Outcome;

/// How clients come to the members.
#[derive(Clone, Default)]
pub(crate) struct Door {
    pub(crate) credentials: Credentials,
    tls: Option<ClientTlsConfig>,
}

impl Door {
    /// With what a client shows, from the directory where that is.
    pub(crate) fn with(directory: &Path) -> Outcome<Door> {
        let read = |name: &str| std::fs::read(directory.join(name));
        let (authority, certificate, key) = (read("ca.pem")?, read("siege.pem")?, read("siege.key")?);
        let tls = ClientTlsConfig::new()
            .ca_certificate(Certificate::from_pem(&authority))
            .identity(Identity::from_pem(&certificate, &key));
        let credentials = Credentials::default().trusting(authority).showing(certificate, key);
        Ok(Door { credentials, tls: Some(tls) })
    }

    /// A connection to an address, which is made when it is first used.
    pub(crate) fn channel(&self, address: &str) -> Outcome<Channel> {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        let mut endpoint = Endpoint::from_shared(format!("{scheme}://{address}"))?;
        if let Some(tls) = &self.tls {
            endpoint = endpoint.tls_config(tls.clone())?;
        }
        Ok(endpoint.tcp_nodelay(true).connect_timeout(Duration::from_millis(500)).connect_lazy())
    }
}

/// Two authorities, one for clients and one for members, and what they signed.
pub(crate) struct Certificates {
    habemusctl: PathBuf,
    directory: PathBuf,
    hosts: String,
}

impl Certificates {
    /// Makes all of them, by the habemusctl beside the program.
    pub(crate) fn make(program: &Path, directory: &Path, hosts: &[String]) -> Outcome<Certificates> {
        let habemusctl = program.with_file_name("habemusctl");
        let (directory, hosts) = (directory.join("certs"), hosts.join(","));
        let made = Certificates { habemusctl, directory, hosts };
        made.renew()?;
        Ok(made)
    }

    /// Makes new ones for members and clients, by the same authorities.
    pub(crate) fn renew(&self) -> Outcome<()> {
        for (who, users) in [("clients", Some("siege")), ("members", None)] {
            let mut command = Command::new(&self.habemusctl);
            command.args(["certs", "--force", "--hosts", &self.hosts]);
            command.args(users.map(|users| format!("--users={users}")));
            command.arg("--out").arg(self.directory.join(who));
            let done = command.output().map_err(|error| format!("{}: {error}", self.habemusctl.display()))?;
            if !done.status.success() {
                return Err(String::from_utf8_lossy(&done.stderr).into_owned().into());
            }
        }
        Ok(())
    }

    fn file(&self, who: &str, name: &str) -> PathBuf {
        self.directory.join(who).join(name)
    }

    /// The options of a member.
    pub(crate) fn options(&self) -> Vec<PathBuf> {
        let files = [
            ("--cert-file", "clients", "server.pem"),
            ("--key-file", "clients", "server.key"),
            ("--trusted-ca-file", "clients", "ca.pem"),
            ("--peer-cert-file", "members", "server.pem"),
            ("--peer-key-file", "members", "server.key"),
            ("--peer-trusted-ca-file", "members", "ca.pem"),
        ];
        let options = files.iter().flat_map(|(option, who, name)| [option.into(), self.file(who, name)]);
        options.chain(["--client-cert-auth".into()]).collect()
    }

    /// Where that is which clients show.
    pub(crate) fn of_clients(&self) -> PathBuf {
        self.directory.join("clients")
    }

    /// What clients show.
    pub(crate) fn door(&self) -> Outcome<Door> {
        Door::with(&self.of_clients())
    }
}
