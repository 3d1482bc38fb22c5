//! Mutual TLS between nodes: each shows a certificate that the cluster's authority signed and that names its
//! identifier.

use std::fmt;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use tokio::net::TcpStream;
use tokio_rustls::rustls::client::verify_server_name;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio_rustls::rustls::server::{ParsedCertificate, WebPkiClientVerifier};
use tokio_rustls::rustls::{ClientConfig, RootCertStore, ServerConfig};
use tokio_rustls::{TlsAcceptor, TlsConnector, client, server};
use tracing::{info, warn};

use crate::transport::Named;

/// The files that a node needs for TLS; `habemus certs` makes them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate of the cluster's authority.
    pub authority: PathBuf,
    /// The node's certificate.
    pub certificate: PathBuf,
    /// The node's private key.
    pub key: PathBuf,
}

/// Why TLS cannot be set up.
#[derive(Debug, thiserror::Error)]
#[error("TLS: {what} {}: {why}", path.display())]
pub struct TlsError {
    what: &'static str,
    path: PathBuf,
    why: String,
}

/// The name of node `id` in certificates.
pub fn certificate_name(id: u64) -> String {
    format!("node-{id}.habemus.internal")
}

/// Both ends of connections with TLS. The files are read again when they have changed, so certificates are
/// renewed without stopping the node: what connects from then on shows and sees the new ones.
pub(crate) struct Tls {
    files: TlsFiles,
    id: u64,
    now: Mutex<Read>,
}

/// What was read, and of which files.
struct Read {
    stamps: Stamps,
    ends: Arc<Ends>,
}

/// When each file was changed, how long it is, and which it is; all must differ for a change to be missed.
type Stamps = [Option<(SystemTime, u64, u64)>; 3];

/// What both ends of a connection need.
struct Ends {
    connector: TlsConnector,
    acceptor: TlsAcceptor,
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tls")
    }
}

impl Tls {
    /// Reads the files; the certificate must name node `id`.
    pub(crate) fn new(files: &TlsFiles, id: u64) -> Result<Self, TlsError> {
        // First the stamps: what changes while the files are read is read again.
        let (stamps, ends) = (stamps(files), Arc::new(Ends::read(files, id)?));
        Ok(Tls { files: files.clone(), id, now: Mutex::new(Read { stamps, ends }) })
    }

    /// What the files say now. If they cannot be used, because they are being replaced or because of a
    /// mistake, what they said before counts on.
    fn ends(&self) -> Arc<Ends> {
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        let found = stamps(&self.files);
        if found != now.stamps {
            now.stamps = found;
            match Ends::read(&self.files, self.id) {
                Ok(ends) => {
                    info!("read the changed certificates");
                    now.ends = Arc::new(ends);
                }
                Err(why) => warn!(%why, "the changed certificates are no good; those of before count on"),
            }
        }
        Arc::clone(&now.ends)
    }

    /// Makes sure that node `id` is at the other end.
    pub(crate) async fn connect(
        &self,
        id: u64,
        stream: TcpStream,
    ) -> io::Result<client::TlsStream<TcpStream>> {
        let name = ServerName::try_from(certificate_name(id)).map_err(io::Error::other)?;
        self.ends().connector.connect(name, stream).await
    }

    /// Lets in whoever has a certificate of the authority, and says whom it names.
    pub(crate) async fn accept(
        &self,
        stream: TcpStream,
    ) -> io::Result<(server::TlsStream<TcpStream>, Named)> {
        let stream = self.ends().acceptor.accept(stream).await?;
        let certificates = stream.get_ref().1.peer_certificates();
        let shown = certificates.and_then(|chain| chain.first()).map(|first| first.clone().into_owned());
        let named = move |id: u64| shown.as_ref().is_some_and(|certificate| names(certificate, id));
        Ok((stream, Box::new(named)))
    }
}

fn stamps(files: &TlsFiles) -> Stamps {
    [&files.authority, &files.certificate, &files.key].map(|path| {
        let found = std::fs::metadata(path).ok()?;
        Some((found.modified().ok()?, found.len(), found.ino()))
    })
}

impl Ends {
    fn read(files: &TlsFiles, id: u64) -> Result<Self, TlsError> {
        let mut roots = RootCertStore::empty();
        for certificate in certificates(&files.authority)? {
            let added = roots.add(certificate);
            added.map_err(wrong("the authority's certificate is no good:", &files.authority))?;
        }
        let chain = certificates(&files.certificate)?;
        if !chain.first().is_some_and(|certificate| names(certificate, id)) {
            let mine = format!("it does not name this node; its name must be {}", certificate_name(id));
            return Err(wrong("the certificate is not this node's:", &files.certificate)(mine));
        }
        if habemus_signatures::is_open_to_others(&files.key) {
            let why = "it can be read or changed by others; chmod 600 mends that".to_owned();
            return Err(wrong("the key is no secret:", &files.key)(why));
        }
        let key =
            PrivateKeyDer::from_pem_file(&files.key).map_err(wrong("cannot read the key", &files.key))?;
        let (roots, provider) = (Arc::new(roots), Arc::new(default_provider()));
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::clone(&roots), Arc::clone(&provider))
            .build()
            .map_err(wrong("the authority's certificate is no good:", &files.authority))?;
        let misfit = || wrong("certificate and key do not fit:", &files.key);
        let server = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(misfit())?
            .with_client_cert_verifier(verifier)
            .with_single_cert(chain.clone(), key.clone_key())
            .map_err(misfit())?;
        let client = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(misfit())?
            .with_root_certificates(roots)
            .with_client_auth_cert(chain, key)
            .map_err(misfit())?;
        Ok(Ends {
            connector: TlsConnector::from(Arc::new(client)),
            acceptor: TlsAcceptor::from(Arc::new(server)),
        })
    }
}

/// Whether a certificate names node `id`.
fn names(certificate: &CertificateDer<'_>, id: u64) -> bool {
    let (Ok(parsed), Ok(name)) =
        (ParsedCertificate::try_from(certificate), ServerName::try_from(certificate_name(id)))
    else {
        return false;
    };
    verify_server_name(&parsed, &name).is_ok()
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    CertificateDer::pem_file_iter(path)
        .and_then(Iterator::collect)
        .map_err(wrong("cannot read the certificate", path))
}

fn wrong<E: fmt::Display>(what: &'static str, path: &Path) -> impl FnOnce(E) -> TlsError {
    let path = path.to_owned();
    move |why| TlsError { what, path, why: why.to_string() }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use tokio::net::TcpListener;

    use super::*;
    use crate::certs::{Existing, make, node_files};
    use crate::scratch::Scratch;

    /// Whether `dialler`, node 1, gets through to `listener`, node 2.
    async fn meet(dialler: &Tls, listener: &Tls) -> bool {
        let socket = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = socket.local_addr().unwrap();
        let accept = async { listener.accept(socket.accept().await.unwrap().0).await };
        let connect = async { dialler.connect(2, TcpStream::connect(address).await.unwrap()).await };
        let (accepted, connected) = tokio::join!(accept, connect);
        connected.is_ok() && accepted.is_ok_and(|(_, named)| named(1))
    }

    #[tokio::test]
    async fn certificates_are_read_again_when_they_have_changed_and_bad_ones_change_nothing() {
        let (old, scratch, new) = (Scratch::new(), Scratch::new(), Scratch::new());
        let copy = |from: &Scratch, to: &Scratch| {
            for entry in std::fs::read_dir(from.path()).unwrap() {
                let entry = entry.unwrap();
                // As an administrator does it: a new file in the place of the old one.
                let beside = to.path().join("beside");
                std::fs::copy(entry.path(), &beside).unwrap();
                std::fs::rename(beside, to.path().join(entry.file_name())).unwrap();
            }
        };
        make(old.path(), &[1, 2], Existing::Refuse).unwrap();
        make(new.path(), &[1, 2], Existing::Refuse).unwrap();
        copy(&old, &scratch);
        let tls = |scratch: &Scratch, id| Tls::new(&node_files(scratch.path(), id), id).unwrap();
        let (one, two, former) = (tls(&scratch, 1), tls(&scratch, 2), tls(&old, 1));
        assert!(meet(&one, &two).await && meet(&former, &two).await);
        copy(&new, &scratch);
        assert!(meet(&one, &two).await, "both have read the new ones");
        assert!(!meet(&former, &two).await, "the old authority counts no longer");
        std::fs::write(node_files(scratch.path(), 2).certificate, "no certificate").unwrap();
        assert!(meet(&one, &two).await, "what was good before counts on");
    }

    #[test]
    fn a_key_that_others_can_read_or_change_is_refused_with_what_mends_it() {
        let scratch = Scratch::new();
        make(scratch.path(), &[1], Existing::Refuse).unwrap();
        let files = node_files(scratch.path(), 1);
        for mode in [0o644, 0o604, 0o660, 0o602] {
            std::fs::set_permissions(&files.key, std::fs::Permissions::from_mode(mode)).unwrap();
            let refused = Tls::new(&files, 1).unwrap_err().to_string();
            assert!(refused.contains("chmod 600"), "{mode:o}: {refused}");
        }
        for mode in [0o400, 0o640] {
            std::fs::set_permissions(&files.key, std::fs::Permissions::from_mode(mode)).unwrap();
            assert!(Tls::new(&files, 1).is_ok(), "{mode:o}: a group may be meant to read it");
        }
    }
}
