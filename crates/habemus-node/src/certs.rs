//! Certificates for development: an authority, and a certificate per node.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};

use crate::tls::{TlsFiles, certificate_name};

/// Why certificates cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum CertsError {
    /// A file cannot be read or written.
    #[error("{}: {why}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// What the system says.
        why: io::Error,
    },
    /// The keys for signing cannot be made.
    #[error(transparent)]
    Keys(#[from] habemus_signatures::KeysError),
    /// The library refuses.
    #[error("cannot make a certificate: {0}")]
    Certificate(#[from] rcgen::Error),
}

/// The files of the authority in a directory.
pub fn authority_files(directory: &Path) -> (PathBuf, PathBuf) {
    (directory.join("authority.pem"), directory.join("authority.key"))
}

/// The files of node `id` in a directory.
pub fn node_files(directory: &Path, id: u64) -> TlsFiles {
    TlsFiles {
        authority: authority_files(directory).0,
        certificate: directory.join(format!("node-{id}.pem")),
        key: directory.join(format!("node-{id}.key")),
    }
}

/// Makes certificates for these nodes, and keys for algorithms that sign. An authority that is in the
/// directory already signs them; otherwise one is made.
///
/// # Errors
/// If the files cannot be written, or the authority's cannot be read.
pub fn make(directory: &Path, ids: &[u64]) -> Result<(), CertsError> {
    fs::create_dir_all(directory).map_err(at(directory))?;
    let (certificate, key) = authority_files(directory);
    if !key.exists() {
        let pair = KeyPair::generate()?;
        let authority = authority_params()?.self_signed(&pair)?;
        write(&certificate, &authority.pem(), 0o644)?;
        write(&key, &pair.serialize_pem(), 0o600)?;
    }
    let read = |path: &Path| fs::read_to_string(path).map_err(at(path));
    // The authority is always called the same, so its key is all that is needed to sign.
    let issuer = Issuer::new(authority_params()?, KeyPair::from_pem(&read(&key)?)?);
    for id in ids {
        let pair = KeyPair::generate()?;
        let mut params = CertificateParams::new(vec![certificate_name(*id)])?;
        params.distinguished_name.push(DnType::CommonName, format!("habemus node {id}"));
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages =
            vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
        let signed = params.signed_by(&pair, &issuer)?;
        let files = node_files(directory, *id);
        write(&files.certificate, &signed.pem(), 0o644)?;
        write(&files.key, &pair.serialize_pem(), 0o600)?;
    }
    habemus_signatures::Ed25519::make_files(directory, ids)?;
    Ok(())
}

fn authority_params() -> Result<CertificateParams, CertsError> {
    let mut params = CertificateParams::new(Vec::new())?;
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    params.distinguished_name.push(DnType::CommonName, "habemus development authority");
    Ok(params)
}

fn write(path: &Path, text: &str, mode: u32) -> Result<(), CertsError> {
    // A key must never be readable by others, not even for a moment: the old file goes first.
    let _ = fs::remove_file(path);
    let file = OpenOptions::new().write(true).create_new(true).mode(mode).open(path);
    file.and_then(|mut file| file.write_all(text.as_bytes())).map_err(at(path))
}

fn at(path: &Path) -> impl FnOnce(io::Error) -> CertsError {
    let path = path.to_owned();
    move |why| CertsError::File { path, why }
}
