//! TLS at the doors: for clients, and between members. Files are read again when they have changed.

use std::fmt::Display;
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use tokio::net::TcpStream;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{
    CertificateDer, CertificateRevocationListDer, PrivateKeyDer, ServerName,
};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::version::TLS13;
use tokio_rustls::rustls::{ClientConfig, RootCertStore, ServerConfig};
use tokio_rustls::{TlsAcceptor, TlsConnector, client, server};

/// Who must show a certificate that the authority signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wants {
    /// Nobody; but one that is shown must be good, if there is an authority to say so.
    Nothing,
    /// Whoever connects.
    Certificate,
}

/// The files of one door.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TlsFiles {
    /// What this side shows.
    pub(crate) certificate: PathBuf,
    /// The key that goes with it.
    pub(crate) key: PathBuf,
    /// Who signs what the other side shows.
    pub(crate) authority: Option<PathBuf>,
    /// What the authority has taken back.
    pub(crate) revoked: Option<PathBuf>,
    pub(crate) wants: Wants,
}

/// One door's TLS. Whoever connects after the files were replaced shows and sees the new ones.
pub(crate) struct Tls {
    files: TlsFiles,
    protocols: Vec<Vec<u8>>,
    now: Mutex<Read>,
}

/// What was read, and of which files.
struct Read {
    stamps: Stamps,
    ends: Arc<Ends>,
}

/// When each file was changed, how long it is, and which it is; all must be the same for a change to be
/// missed.
type Stamps = Vec<Option<(SystemTime, u64, u64)>>;

/// What both ends of a connection need.
struct Ends {
    acceptor: TlsAcceptor,
    connector: TlsConnector,
}

impl Tls {
    /// TLS for clients, who speak HTTP.
    pub(crate) fn for_clients(files: &TlsFiles) -> Result<Tls, String> {
        Tls::new(files, vec![b"h2".to_vec(), b"http/1.1".to_vec()])
    }

    /// TLS for members, who speak a language of their own.
    pub(crate) fn for_members(files: &TlsFiles) -> Result<Tls, String> {
        Tls::new(files, Vec::new())
    }

    fn new(files: &TlsFiles, protocols: Vec<Vec<u8>>) -> Result<Tls, String> {
        // First the stamps: what changes while the files are read is read again.
        let (stamps, ends) = (stamps(files), Arc::new(Ends::read(files, &protocols)?));
        Ok(Tls { files: files.clone(), protocols, now: Mutex::new(Read { stamps, ends }) })
    }

    /// Reads the files again, even if they seem to be the same.
    pub(crate) fn reread(&self) {
        self.now.lock().unwrap_or_else(PoisonError::into_inner).stamps.clear();
        drop(self.ends());
    }

    /// What the files say now. If they cannot be used, because they are being replaced or because of a
    /// mistake, what they said before counts on.
    fn ends(&self) -> Arc<Ends> {
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        let found = stamps(&self.files);
        if found != now.stamps {
            now.stamps = found;
            match Ends::read(&self.files, &self.protocols) {
                Ok(ends) => {
                    tracing::info!(certificate = %self.files.certificate.display(), "read the certificates \
                        again");
                    now.ends = Arc::new(ends);
                }
                Err(why) => {
                    tracing::warn!(why, "the changed certificates are no good; those of before count on");
                }
            }
        }
        Arc::clone(&now.ends)
    }

    pub(crate) async fn accept(&self, stream: TcpStream) -> io::Result<server::TlsStream<TcpStream>> {
        let acceptor = self.ends().acceptor.clone();
        acceptor.accept(stream).await
    }

    /// Makes sure that whoever is at the other end may call itself by this name or address.
    pub(crate) async fn connect(
        &self,
        name: ServerName<'static>,
        stream: TcpStream,
    ) -> io::Result<client::TlsStream<TcpStream>> {
        let connector = self.ends().connector.clone();
        connector.connect(name, stream).await
    }
}

fn stamps(files: &TlsFiles) -> Stamps {
    let all = [Some(&files.certificate), Some(&files.key), files.authority.as_ref(), files.revoked.as_ref()];
    let stamp = |path: &PathBuf| {
        let found = std::fs::metadata(path).ok()?;
        Some((found.modified().ok()?, found.len(), found.ino()))
    };
    all.into_iter().flatten().map(stamp).collect()
}

impl Ends {
    fn read(files: &TlsFiles, protocols: &[Vec<u8>]) -> Result<Ends, String> {
        let TlsFiles { certificate, key, authority, revoked, wants } = files;
        let mut roots = RootCertStore::empty();
        for trusted in authority.as_deref().map_or(Ok(Vec::new()), certificates)? {
            roots.add(trusted).map_err(wrong("no certificate of an authority", authority.as_deref()))?;
        }
        let chain = certificates(certificate)?;
        check_secrecy(key)?;
        let secret = PrivateKeyDer::from_pem_file(key).map_err(wrong("no private key in PEM", Some(key)))?;
        let (roots, provider) = (Arc::new(roots), Arc::new(default_provider()));
        let old = "TLS 1.3 cannot be had";
        let server = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(&[&TLS13])
            .map_err(wrong(old, None))?;
        let server = if authority.is_none() {
            server.with_no_client_auth()
        } else {
            let lists = revoked.as_deref().map_or(Ok(Vec::new()), revocations)?;
            let roots = Arc::clone(&roots);
            let verifier = WebPkiClientVerifier::builder_with_provider(roots, Arc::clone(&provider))
                .with_crls(lists)
                .allow_unknown_revocation_status();
            let verifier = match wants {
                Wants::Nothing => verifier.allow_unauthenticated(),
                Wants::Certificate => verifier,
            };
            let verifier = verifier.build().map_err(wrong("no authority to trust", authority.as_deref()))?;
            server.with_client_cert_verifier(verifier)
        };
        let misfit = || wrong("the key does not fit the certificate", Some(key));
        let mut server = server.with_single_cert(chain.clone(), secret.clone_key()).map_err(misfit())?;
        server.alpn_protocols = protocols.to_vec();
        let client = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&TLS13])
            .map_err(wrong(old, None))?
            .with_root_certificates(roots)
            .with_client_auth_cert(chain, secret)
            .map_err(misfit())?;
        Ok(Ends {
            acceptor: TlsAcceptor::from(Arc::new(server)),
            connector: TlsConnector::from(Arc::new(client)),
        })
    }
}

/// A key that others can read is no secret.
fn check_secrecy(path: &Path) -> Result<(), String> {
    let found = std::fs::metadata(path).map_err(wrong("cannot be read", Some(path)))?;
    if found.permissions().mode() & 0o077 == 0 {
        return Ok(());
    }
    let path = path.display();
    Err(format!("TLS: {path}: others can read or change this key; `chmod 600 {path}` mends that"))
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let found: Vec<_> = CertificateDer::pem_file_iter(path)
        .and_then(Iterator::collect)
        .map_err(wrong("no certificates in PEM", Some(path)))?;
    if found.is_empty() {
        return Err(wrong("no certificates in PEM", Some(path))("there is none in it"));
    }
    Ok(found)
}

fn revocations(path: &Path) -> Result<Vec<CertificateRevocationListDer<'static>>, String> {
    CertificateRevocationListDer::pem_file_iter(path)
        .and_then(Iterator::collect)
        .map_err(wrong("no list of revoked certificates in PEM", Some(path)))
}

fn wrong<E: Display>(what: &'static str, path: Option<&Path>) -> impl FnOnce(E) -> String {
    let path = path.map(|path| format!("{}: ", path.display())).unwrap_or_default();
    move |why| format!("TLS: {path}{what}: {why}")
}

/// What a certificate calls whom it belongs to: etcd takes that for the name of a user.
pub(crate) fn common_name(certificate: &CertificateDer<'_>) -> Option<String> {
    let (_, certificate) = x509_parser::parse_x509_certificate(certificate).ok()?;
    let name = certificate.subject().iter_common_name().next()?.as_str().ok()?;
    (!name.is_empty()).then(|| name.to_owned())
}
