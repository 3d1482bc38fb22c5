//! Certificates for development: an authority, and a certificate per node.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

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
    /// Something is there already.
    #[error(
        "{} is there already, and nodes may be using it: nothing was changed. Choose another directory, \
         name only nodes that have no files yet, or say --force to replace it",
        path.display()
    )]
    Exists {
        /// The first that is.
        path: PathBuf,
    },
    /// Half of an authority.
    #[error(
        "{} is there, but not {}: a new authority would lock out every node that trusts the old one. Bring \
         the missing file back, or choose another directory",
        found.display(), missing.display()
    )]
    HalfAnAuthority {
        /// The file that is there.
        found: PathBuf,
        /// The one that is not.
        missing: PathBuf,
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

/// What becomes of files that are there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// Nothing is made.
    Refuse,
    /// They are replaced; the authority stays.
    Replace,
}

/// How long the certificate of a node is valid: whoever forgets to renew it is reminded within a year.
const NODE_VALIDITY: Duration = Duration::from_secs(365 * 24 * 60 * 60);
/// How long the authority's is.
const AUTHORITY_VALIDITY: Duration = Duration::from_secs(10 * 365 * 24 * 60 * 60);
/// Clocks may differ by so much.
const CLOCKS_DIFFER: Duration = Duration::from_secs(60 * 60);

/// Makes certificates for these nodes, and keys for algorithms that sign. An authority that is in the
/// directory already signs them; otherwise one is made.
///
/// # Errors
/// If files are there already that are not to be replaced, if they cannot be written, or if the authority's
/// cannot be read.
pub fn make(directory: &Path, ids: &[u64], existing: Existing) -> Result<(), CertsError> {
    fs::create_dir_all(directory).map_err(at(directory))?;
    let (certificate, key) = authority_files(directory);
    if existing == Existing::Refuse
        && let Some(path) = ids.iter().flat_map(|id| files_of(directory, *id)).find(|path| path.exists())
    {
        return Err(CertsError::Exists { path });
    }
    match (certificate.exists(), key.exists()) {
        (true, true) => {}
        (true, false) => return Err(CertsError::HalfAnAuthority { found: certificate, missing: key }),
        (false, true) => return Err(CertsError::HalfAnAuthority { found: key, missing: certificate }),
        (false, false) => {
            let pair = KeyPair::generate()?;
            let authority = authority_params()?.self_signed(&pair)?;
            write(&certificate, &authority.pem(), 0o644)?;
            write(&key, &pair.serialize_pem(), 0o600)?;
        }
    }
    let read = |path: &Path| fs::read_to_string(path).map_err(at(path));
    // The authority is always called the same, so its key is all that is needed to sign.
    let issuer = Issuer::new(authority_params()?, KeyPair::from_pem(&read(&key)?)?);
    for id in ids {
        let pair = KeyPair::generate()?;
        let mut params = CertificateParams::new(vec![certificate_name(*id)])?;
        let now = SystemTime::now();
        (params.not_before, params.not_after) = ((now - CLOCKS_DIFFER).into(), (now + NODE_VALIDITY).into());
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

/// All files of one node, but for the authority's.
fn files_of(directory: &Path, id: u64) -> [PathBuf; 4] {
    let TlsFiles { certificate, key, .. } = node_files(directory, id);
    let (public, secret) =
        (habemus_signatures::public_file(directory, id), habemus_signatures::secret_file(directory, id));
    [certificate, key, public, secret]
}

fn authority_params() -> Result<CertificateParams, CertsError> {
    let mut params = CertificateParams::new(Vec::new())?;
    let now = SystemTime::now();
    (params.not_before, params.not_after) = ((now - CLOCKS_DIFFER).into(), (now + AUTHORITY_VALIDITY).into());
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

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::scratch::Scratch;

    #[test]
    fn keys_are_nobody_elses_business_and_are_never_replaced_silently() {
        let scratch = Scratch::new();
        let directory = scratch.path();
        make(directory, &[1, 2], Existing::Refuse).unwrap();
        let files = [authority_files(directory).1, node_files(directory, 1).key];
        for path in &files {
            assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600, "{}", path.display());
        }
        let before = fs::read(&files[1]).unwrap();
        let refused = make(directory, &[3, 2, 1], Existing::Refuse).unwrap_err();
        assert!(refused.to_string().contains("--force"), "{refused}");
        assert!(!node_files(directory, 3).key.exists(), "nothing was changed");
        assert_eq!(fs::read(&files[1]).unwrap(), before);
        make(directory, &[3], Existing::Refuse).unwrap();
        let authority = fs::read(&files[0]).unwrap();
        make(directory, &[1], Existing::Replace).unwrap();
        assert_ne!(fs::read(&files[1]).unwrap(), before);
        assert_eq!(fs::read(&files[0]).unwrap(), authority, "the authority stays");
    }

    #[test]
    fn half_an_authority_is_not_made_up_for_by_another() {
        let scratch = Scratch::new();
        make(scratch.path(), &[1], Existing::Refuse).unwrap();
        let (certificate, key) = authority_files(scratch.path());
        let trusted = fs::read(&certificate).unwrap();
        fs::remove_file(&key).unwrap();
        let refused = make(scratch.path(), &[2], Existing::Refuse).unwrap_err();
        assert!(matches!(refused, CertsError::HalfAnAuthority { .. }), "{refused}");
        assert_eq!(fs::read(&certificate).unwrap(), trusted);
    }

    /// In DER, validity is two times side by side, each `YYMMDDhhmmssZ`.
    #[test]
    fn certificates_are_valid_from_now_for_a_year_and_not_for_ever() {
        use tokio_rustls::rustls::pki_types::CertificateDer;
        use tokio_rustls::rustls::pki_types::pem::PemObject;

        let scratch = Scratch::new();
        make(scratch.path(), &[1], Existing::Refuse).unwrap();
        let years = |path: &Path| {
            let der = CertificateDer::from_pem_file(path).unwrap();
            let is_time =
                |at: &[u8]| at[0] == 0x17 && at[1] == 13 && at[2..14].iter().all(u8::is_ascii_digit);
            let times = der.windows(15).filter(|at| is_time(at));
            let year = |at: &[u8]| u64::from(at[2] - b'0') * 10 + u64::from(at[3] - b'0');
            times.map(year).collect::<Vec<_>>()
        };
        let node = years(&node_files(scratch.path(), 1).certificate);
        assert!(node.len() == 2 && node[1] - node[0] <= 1, "{node:?}");
        let authority = years(&authority_files(scratch.path()).0);
        assert!(authority.len() == 2 && (9..=10).contains(&(authority[1] - authority[0])), "{authority:?}");
    }
}
