//! TLS at the doors, with real certificates.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, SystemTime};

use habemus_client::{Client, Credentials};
use rcgen::{
    CertificateParams, CertificateRevocationListParams, DnType, Issuer, KeyIdMethod, KeyPair,
    RevokedCertParams, SerialNumber,
};

use crate::support::{Directory, Running, fails, installed};

/// Makes certificates as an operator does.
fn certs(out: &Path, arguments: &[&str]) {
    let made = Command::new(env!("CARGO_BIN_EXE_habemusctl"))
        .args(["certs", "--out", out.to_str().expect("it is a text"), "--hosts", "127.0.0.1"])
        .args(arguments)
        .stdout(Stdio::null())
        .status();
    assert!(made.expect("habemusctl was built").success());
}

fn text(path: impl AsRef<Path>) -> String {
    path.as_ref().to_str().expect("it is a text").to_owned()
}

/// The options of a member that shows `server.pem`, and wants clients to show something, too.
fn mutual(certs: &Path) -> Vec<String> {
    let file = |name: &str| text(certs.join(name));
    let (cert, key, ca) = (file("server.pem"), file("server.key"), file("ca.pem"));
    ["--cert-file", &cert, "--key-file", &key, "--trusted-ca-file", &ca, "--client-cert-auth"]
        .map(str::to_owned)
        .into()
}

fn start(data: &Path, options: &[String]) -> Running {
    Running::start(data, &options.iter().map(String::as_str).collect::<Vec<_>>())
}

/// What etcdctl says at the end, with these files.
fn etcdctl(member: &Running, certs: &Path, user: Option<&str>, authority: &Path) -> String {
    let url = format!("https://{}", member.address());
    let authority = text(authority.join("ca.pem"));
    let mut arguments = vec!["--endpoints".to_owned(), url, "--cacert".to_owned(), authority];
    if let Some(user) = user {
        let (cert, key) = (certs.join(format!("{user}.pem")), certs.join(format!("{user}.key")));
        arguments.extend(["--cert".to_owned(), text(cert), "--key".to_owned(), text(key)]);
    }
    let more = ["--command-timeout=3s", "--dial-timeout=1s", "put", "a", "1"].map(str::to_owned);
    let output = Command::new("etcdctl")
        .env("ETCDCTL_API", "3")
        .args(arguments)
        .args(more)
        .stdin(Stdio::null())
        .output()
        .expect("etcdctl was there a moment ago");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// The authority in `certs`, to sign with.
fn issuer(certs: &Path) -> Issuer<'static, KeyPair> {
    let key = std::fs::read_to_string(certs.join("ca.key")).expect("it was written");
    let mut authority = CertificateParams::new(Vec::new()).expect("there is nothing in it");
    authority.distinguished_name.push(DnType::CommonName, "habemus authority");
    Issuer::new(authority, KeyPair::from_pem(&key).expect("it is a key"))
}

/// A certificate of the authority in `certs` that was valid an hour ago, and is not any more.
fn expired(certs: &Path) {
    let pair = KeyPair::generate().expect("there is chance");
    let mut params = CertificateParams::new(Vec::new()).expect("there is nothing in it");
    let hours = |count: u64| SystemTime::now() - Duration::from_secs(3600 * count);
    (params.not_before, params.not_after) = (hours(3).into(), hours(1).into());
    let made = params.signed_by(&pair, &issuer(certs)).expect("it can be signed");
    std::fs::write(certs.join("late.pem"), made.pem()).expect("it is ours");
    std::fs::write(certs.join("late.key"), pair.serialize_pem()).expect("it is ours");
}

/// A list on which the certificates of these users stand.
fn revoke(certs: &Path, users: &[&str]) {
    let (now, later) = (SystemTime::now(), SystemTime::now() + Duration::from_secs(3600));
    let revoked = users.iter().map(|user| {
        let pem = std::fs::read(certs.join(format!("{user}.pem"))).expect("it was written");
        let (_, pem) = x509_parser::pem::parse_x509_pem(&pem).expect("it is a certificate");
        let serial = pem.parse_x509().expect("it is a certificate").raw_serial().to_vec();
        let (serial_number, revocation_time) = (SerialNumber::from(serial), now.into());
        RevokedCertParams { serial_number, revocation_time, reason_code: None, invalidity_date: None }
    });
    let list = CertificateRevocationListParams {
        this_update: now.into(),
        next_update: later.into(),
        crl_number: SerialNumber::from(1),
        issuing_distribution_point: None,
        revoked_certs: revoked.collect(),
        key_identifier_method: KeyIdMethod::Sha256,
    };
    let list = list.signed_by(&issuer(certs)).expect("it can be signed").pem().expect("it can be written");
    std::fs::write(certs.join("revoked.new"), list).expect("it is ours");
    std::fs::rename(certs.join("revoked.new"), certs.join("revoked.pem")).expect("it is ours");
}

#[test]
fn a_certificate_that_was_taken_back_is_refused_from_then_on() {
    if !installed("etcdctl", "etcd-client") {
        return;
    }
    let directory = Directory::new();
    let own = directory.join("own");
    certs(&own, &["--users", "alice,bob"]);
    revoke(&own, &[]);
    let list = ["--client-crl-file".to_owned(), text(own.join("revoked.pem"))];
    let member = start(&directory.join("data"), &[&mutual(&own)[..], &list].concat());
    assert_eq!(etcdctl(&member, &own, Some("alice"), &own), "OK");
    revoke(&own, &["alice"]);
    assert_eq!(etcdctl(&member, &own, Some("alice"), &own), "", "hers was taken back");
    assert_eq!(etcdctl(&member, &own, Some("bob"), &own), "OK", "his was not");
}

#[test]
fn only_whoever_shows_a_certificate_of_the_authority_that_is_valid_is_let_in() {
    if !installed("etcdctl", "etcd-client") {
        return;
    }
    let directory = Directory::new();
    let (own, foreign) = (directory.join("own"), directory.join("foreign"));
    certs(&own, &["--users", "alice"]);
    certs(&foreign, &["--users", "alice"]);
    expired(&own);
    let member = start(&directory.join("data"), &mutual(&own));
    assert_eq!(etcdctl(&member, &own, Some("alice"), &own), "OK");
    assert_eq!(etcdctl(&member, &own, None, &own), "", "it shows nothing");
    assert_eq!(etcdctl(&member, &foreign, Some("alice"), &own), "", "another authority signed it");
    assert_eq!(etcdctl(&member, &own, Some("late"), &own), "", "it has expired");
    assert_eq!(etcdctl(&member, &own, Some("alice"), &foreign), "", "the member is not whom it trusts");
    assert!(
        !member.etcdctl(&["--command-timeout=1s", "put", "a", "1"]).contains("OK"),
        "it is no plain talk"
    );
}

#[tokio::test]
async fn certificates_are_replaced_while_clients_work() {
    let directory = Directory::new();
    let (now, next) = (directory.join("now"), directory.join("next"));
    certs(&now, &["--users", "alice"]);
    certs(&next, &["--users", "alice"]);
    let member = start(&directory.join("data"), &mutual(&now));
    let client = |certs: &Path| {
        let read = |name: &str| std::fs::read(certs.join(name)).expect("it was written");
        let credentials =
            Credentials::default().trusting(read("ca.pem")).showing(read("alice.pem"), read("alice.key"));
        Client::connect_as([member.address()], &credentials).expect("they are certificates")
    };
    // What is open goes on; whoever connects anew sees the new ones.
    let (before, after) = (client(&now), client(&next));
    let (working, worked) = (Arc::new(AtomicBool::new(true)), Arc::new(AtomicU32::new(0)));
    let load = {
        let (before, working, worked) = (before.clone(), Arc::clone(&working), Arc::clone(&worked));
        tokio::spawn(async move {
            while working.load(Ordering::Relaxed) {
                before.leader("nobody").await.expect("it was let in before");
                worked.fetch_add(1, Ordering::Relaxed);
            }
        })
    };
    assert!(
        tokio::time::timeout(Duration::from_millis(300), after.status()).await.is_ok_and(|it| it.is_err())
    );
    // A half of a pair is no good, and changes nothing.
    std::fs::rename(next.join("server.pem"), now.join("server.pem")).expect("it is ours");
    member.signal("HUP");
    member.says("those of before count on");
    client(&now).status().await.expect("the old ones count on");
    for name in ["server.key", "ca.pem"] {
        std::fs::copy(next.join(name), now.join(name)).expect("it is ours");
    }
    after.status().await.expect("the new ones count now");
    let seen = worked.load(Ordering::Relaxed);
    while worked.load(Ordering::Relaxed) < seen + 10 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    working.store(false, Ordering::Relaxed);
    load.await.expect("nobody was disturbed");
}

#[test]
fn a_key_that_others_can_read_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let directory = Directory::new();
    let own = directory.join("own");
    certs(&own, &[]);
    std::fs::set_permissions(own.join("server.key"), std::fs::Permissions::from_mode(0o640)).expect("ours");
    let data = text(directory.join("data"));
    let options = mutual(&own);
    let mut arguments = vec!["--listen", "127.0.0.1:0", "--data", &data];
    arguments.extend(options.iter().map(String::as_str));
    let ended = fails(&arguments);
    assert_eq!(ended.code, Some(1));
    assert!(ended.said.contains("chmod 600"), "{}", ended.said);
}

#[tokio::test]
async fn members_keep_strangers_out() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let directory = Directory::new();
    let (own, foreign) = (directory.join("own"), directory.join("foreign"));
    certs(&own, &[]);
    certs(&foreign, &[]);
    let addresses = crate::cluster::free_addresses(3);
    let names = ["a", "b", "c"].iter().zip(&addresses).map(|(name, address)| format!("{name}={address}"));
    let cluster = names.collect::<Vec<_>>().join(",");
    let options = |name: &str, certs: &Path| -> Vec<String> {
        let file = |name: &str| text(certs.join(name));
        let (cert, key, ca) = (file("server.pem"), file("server.key"), file("ca.pem"));
        let peer = ["--peer-cert-file", &cert, "--peer-key-file", &key, "--peer-trusted-ca-file", &ca];
        ["--name", name, "--cluster", &cluster].into_iter().chain(peer).map(str::to_owned).collect()
    };
    let first = start(&directory.join("a"), &options("a", &own));
    let stranger = start(&directory.join("c"), &options("c", &foreign));
    // Whoever speaks without TLS is not answered.
    let mut plain = tokio::net::TcpStream::connect(&addresses[0]).await.expect("it listens");
    plain.write_all(&[0, 0, 0, 1, 0]).await.expect("it is open");
    let mut answer = Vec::new();
    plain.shutdown().await.expect("it is open");
    let _ = plain.read_to_end(&mut answer).await;
    assert!(answer.len() < 16, "at most it is told that this is no TLS: {answer:?}");
    let client = Client::connect([stranger.address()]).expect("it is an address");
    assert_eq!(
        client.status().await.expect("it answers for itself").leader,
        0,
        "nobody takes it for a member"
    );
    let second = start(&directory.join("b"), &options("b", &own));
    let client = Client::connect([first.address(), second.address()]).expect("they are addresses");
    client.leader("nobody").await.expect("two of three are a majority");
    let client = Client::connect([stranger.address()]).expect("it is an address");
    assert_eq!(client.status().await.expect("it answers for itself").leader, 0, "the stranger stays outside");
}
