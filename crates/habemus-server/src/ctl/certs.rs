//! `certs`: an authority, a certificate for the members, and one for each user.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use clap::Args;
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};

use crate::codes::{self, Failed};

/// Make certificates for members and clients.
#[derive(Args)]
#[command(after_help = "Examples:
  habemusctl certs --hosts 127.0.0.1,localhost --users root,alice --out certs
  habemusd --cert-file certs/server.pem --key-file certs/server.key \\
      --trusted-ca-file certs/ca.pem --client-cert-auth
  habemusctl status --endpoints 127.0.0.1:2379 --cacert certs/ca.pem \\
      --cert certs/alice.pem --key certs/alice.key

An authority that is in the directory already signs the new ones; otherwise one
is made. Whoever has its key, ca.key, can make certificates for everybody: keep
it away from the members. Members' certificates are good for clients
(--cert-file) and among members (--peer-cert-file); for a cluster whose clients
have certificates use two authorities, or a client could pass for a member.")]
pub(crate) struct Certs {
    /// Names and addresses at which members are reached; one certificate, server.pem, is for all of them
    #[arg(long, value_delimiter = ',', value_name = "HOST,…")]
    hosts: Vec<String>,
    /// Users who get a certificate each; the name is what authentication takes for the user
    #[arg(long, value_delimiter = ',', value_name = "NAME,…")]
    users: Vec<String>,
    /// How many days they are valid
    #[arg(long, default_value_t = 365, value_name = "NUMBER")]
    days: u32,
    /// Where they are written
    #[arg(long, default_value = "certs", value_name = "DIRECTORY")]
    out: PathBuf,
    /// Replace what is there, but for the authority
    #[arg(long)]
    force: bool,
}

/// Clocks may differ by so much.
const CLOCKS_DIFFER: Duration = Duration::from_secs(60 * 60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

fn failed(why: &dyn ToString) -> Failed {
    Failed { code: codes::UNREACHABLE, why: why.to_string() }
}

impl Certs {
    pub(crate) fn execute(&self) -> Result<u8, Failed> {
        if self.hosts.is_empty() && self.users.is_empty() {
            return Err(failed(&"for whom? Give --hosts for members, --users for clients, or both"));
        }
        if let Some(bad) =
            self.users.iter().find(|user| !is_file_name(user) || *user == "ca" || *user == "server")
        {
            return Err(failed(&format!(
                "a user cannot be called `{bad}` here, for its files are: choose another"
            )));
        }
        std::fs::create_dir_all(&self.out)
            .map_err(|error| failed(&format!("{}: {error}", self.out.display())))?;
        let server = (!self.hosts.is_empty()).then_some("server");
        let names: Vec<&str> = server.into_iter().chain(self.users.iter().map(String::as_str)).collect();
        let taken = names.iter().flat_map(|name| [self.file(name, "pem"), self.file(name, "key")]);
        if let Some(path) = taken.filter(|_| !self.force).find(|path| path.exists()) {
            return Err(failed(&format!(
                "{} is there already: choose another --out, or say --force to replace it",
                path.display()
            )));
        }
        let issuer = self.authority()?;
        for name in names {
            let hosts = if Some(name) == server { self.hosts.clone() } else { Vec::new() };
            self.issue(name, hosts, &issuer)?;
        }
        println!("{}", self.out.display());
        Ok(0)
    }

    fn file(&self, name: &str, kind: &str) -> PathBuf {
        self.out.join(format!("{name}.{kind}"))
    }

    /// The authority that is there, or a new one.
    fn authority(&self) -> Result<Issuer<'static, KeyPair>, Failed> {
        let (certificate, key) = (self.file("ca", "pem"), self.file("ca", "key"));
        let mut params = CertificateParams::new(Vec::new()).map_err(|error| failed(&error))?;
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        params.distinguished_name.push(DnType::CommonName, "habemus authority");
        if !certificate.exists() && !key.exists() {
            let pair = KeyPair::generate().map_err(|error| failed(&error))?;
            let now = SystemTime::now();
            (params.not_before, params.not_after) =
                ((now - CLOCKS_DIFFER).into(), (now + DAY * 3650.max(self.days)).into());
            let made = params.self_signed(&pair).map_err(|error| failed(&error))?;
            write(&key, &pair.serialize_pem(), 0o600)?;
            write(&certificate, &made.pem(), 0o644)?;
        }
        let text = std::fs::read_to_string(&key).map_err(|error| {
            failed(&format!("{}: {error}. Without the authority's key nothing can be signed", key.display()))
        })?;
        // It is always called the same, so its key is all that is needed to sign.
        Ok(Issuer::new(params, KeyPair::from_pem(&text).map_err(|error| failed(&error))?))
    }

    fn issue(&self, name: &str, hosts: Vec<String>, issuer: &Issuer<'_, KeyPair>) -> Result<(), Failed> {
        let pair = KeyPair::generate().map_err(|error| failed(&error))?;
        let mut usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        if !hosts.is_empty() {
            usages.push(ExtendedKeyUsagePurpose::ServerAuth);
        }
        let mut params = CertificateParams::new(hosts).map_err(|error| failed(&error))?;
        let now = SystemTime::now();
        (params.not_before, params.not_after) =
            ((now - CLOCKS_DIFFER).into(), (now + DAY * self.days).into());
        params.distinguished_name.push(DnType::CommonName, name);
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = usages;
        let made = params.signed_by(&pair, issuer).map_err(|error| failed(&error))?;
        write(&self.file(name, "key"), &pair.serialize_pem(), 0o600)?;
        write(&self.file(name, "pem"), &made.pem(), 0o644)
    }
}

fn is_file_name(name: &str) -> bool {
    !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\0'])
}

/// Writes a file beside the present one, and puts it in its place: whoever reads it finds one or the other.
fn write(path: &Path, text: &str, mode: u32) -> Result<(), Failed> {
    let new = path.with_added_extension("new");
    let write = || {
        if new.exists() {
            std::fs::remove_file(&new)?;
        }
        // A key must never be readable by others, not even for a moment.
        let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(&new)?;
        file.write_all(text.as_bytes())?;
        std::fs::rename(&new, path)
    };
    write().map_err(|error| failed(&format!("{}: {error}", path.display())))
}
