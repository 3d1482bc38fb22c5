//! Mutual TLS between nodes: each shows a certificate that the cluster's authority signed and that names its
//! identifier.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::net::TcpStream;
use tokio_rustls::rustls::client::verify_server_name;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio_rustls::rustls::server::{ParsedCertificate, WebPkiClientVerifier};
use tokio_rustls::rustls::{ClientConfig, RootCertStore, ServerConfig};
use tokio_rustls::{TlsAcceptor, TlsConnector, client, server};

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

/// Both ends of a connection with TLS.
pub(crate) struct Tls {
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
        Ok(Tls {
            connector: TlsConnector::from(Arc::new(client)),
            acceptor: TlsAcceptor::from(Arc::new(server)),
        })
    }

    /// Makes sure that node `id` is at the other end.
    pub(crate) async fn connect(
        &self,
        id: u64,
        stream: TcpStream,
    ) -> io::Result<client::TlsStream<TcpStream>> {
        let name = ServerName::try_from(certificate_name(id)).map_err(io::Error::other)?;
        self.connector.connect(name, stream).await
    }

    /// Lets in whoever has a certificate of the authority, and says whom it names.
    pub(crate) async fn accept(
        &self,
        stream: TcpStream,
    ) -> io::Result<(server::TlsStream<TcpStream>, Named)> {
        let stream = self.acceptor.accept(stream).await?;
        let certificates = stream.get_ref().1.peer_certificates();
        let shown = certificates.and_then(|chain| chain.first()).map(|first| first.clone().into_owned());
        let named = move |id: u64| shown.as_ref().is_some_and(|certificate| names(certificate, id));
        Ok((stream, Box::new(named)))
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
