//! Who a request comes from: by a token that was given for a password, or by a certificate.
//!
//! A token says whose it is, by which password, and until when, and is sealed with a secret that all members
//! of the cluster have and nobody else: any member believes what another has given, and none remembers it.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::http::HeaderMap;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use habemus_store::{Acting, Author};
use ring::hmac;
use serde::{Deserialize, Serialize};

use crate::door::Shown;
use crate::engine::View;
use crate::handle::{Freshness, Handle};

/// How long a token is good, by the members' clocks; etcd's are good for as long.
pub(crate) const VALIDITY: Duration = Duration::from_secs(300);

/// No token is longer.
const MAX_LENGTH: usize = 4096;

/// What a token says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Claim {
    name: String,
    since: u64,
    /// In seconds since 1970.
    until: u64,
}

fn now() -> Duration {
    // Before 1970 nothing has expired.
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// Makes a token for a user whose password was set at `since`.
pub(crate) fn make(secret: &[u8], name: &str, since: u64, validity: Duration) -> String {
    let claim = Claim { name: name.to_owned(), since, until: (now() + validity).as_secs() };
    let claim = postcard::to_extend(&claim, Vec::new()).expect("memory takes whatever is written");
    let seal = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret), &claim);
    format!("{}.{}", URL_SAFE_NO_PAD.encode(claim), URL_SAFE_NO_PAD.encode(seal))
}

/// Whom a token speaks of, if it is sealed and has not expired.
fn read(key: &hmac::Key, token: &str) -> Option<Acting> {
    let (claim, seal) = token.split_once('.').filter(|_| token.len() <= MAX_LENGTH)?;
    let (claim, seal) = (URL_SAFE_NO_PAD.decode(claim).ok()?, URL_SAFE_NO_PAD.decode(seal).ok()?);
    hmac::verify(key, &claim, &seal).ok()?;
    let Claim { name, since, until } = postcard::from_bytes(&claim).ok()?;
    (now().as_secs() < until).then(|| Acting { name, since: Some(since), shown: Vec::new() })
}

/// Finds out who requests come from.
#[derive(Clone)]
pub(crate) struct Tokens {
    handle: Handle,
    /// The cluster has one secret for ever.
    key: Arc<OnceLock<hmac::Key>>,
}

impl Tokens {
    pub(crate) fn new(handle: Handle) -> Tokens {
        Tokens { handle, key: Arc::default() }
    }

    /// Who a request comes from; `None` if it does not say.
    pub(crate) async fn author(&self, headers: &HeaderMap, shown: &Shown) -> Option<Author> {
        // gRPC's clients say `token`, those of the gateway `authorization`.
        let token = headers.get("token").or_else(|| headers.get("authorization"));
        let Some(token) = token else {
            return shown.0.as_deref().map(|name| Author::User(Acting::named(name)));
        };
        let token = token.to_str().unwrap_or_default();
        let acting = self.key().await.and_then(|key| read(key, token));
        Some(acting.map_or(Author::Stranger, Author::User))
    }

    async fn key(&self) -> Option<&hmac::Key> {
        if self.key.get().is_none() {
            let look = |view: &View<'_>| view.store.auth().secret().to_vec();
            let secret = self.handle.look(Freshness::Local, look).await.unwrap_or_default();
            if !secret.is_empty() {
                // Somebody else may have been faster, with the same.
                drop(self.key.set(hmac::Key::new(hmac::HMAC_SHA256, &secret)));
            }
        }
        self.key.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_tokens_that_are_sealed_and_have_not_expired_are_believed() {
        let key = |secret: &[u8]| hmac::Key::new(hmac::HMAC_SHA256, secret);
        let token = make(b"secret", "alice", 7, VALIDITY);
        let acting = Acting { name: "alice".to_owned(), since: Some(7), shown: Vec::new() };
        assert_eq!(read(&key(b"secret"), &token), Some(acting));
        assert_eq!(read(&key(b"other"), &token), None);
        assert_eq!(read(&key(b"secret"), &make(b"secret", "alice", 7, Duration::ZERO)), None);
        let (claim, seal) = token.split_once('.').expect("it has two parts");
        let other = make(b"secret", "bob", 7, VALIDITY);
        let forged = format!("{}.{seal}", other.split_once('.').expect("it has two parts").0);
        for wrong in [&forged, claim, seal, "", ".", "a.b", &format!("{token}A")] {
            assert_eq!(read(&key(b"secret"), wrong), None, "{wrong}");
        }
    }
}
