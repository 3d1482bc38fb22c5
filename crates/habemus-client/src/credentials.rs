//! What a client shows at the door: certificates, and the token that it was given for its password.

use std::sync::{Arc, PoisonError, RwLock};

use habemus_etcd::etcdserverpb::AuthenticateRequest;
use habemus_etcd::etcdserverpb::auth_client::AuthClient;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::service::Interceptor;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint, Identity};
use tonic::{Code, Request, Status};

use crate::error::ClientError;

/// What a client shows, and what it wants to be shown. By default: nothing.
#[derive(Clone, Default)]
pub struct Credentials {
    authority: Option<Vec<u8>>,
    identity: Option<(Vec<u8>, Vec<u8>)>,
    user: Option<(String, String)>,
}

impl std::fmt::Debug for Credentials {
    /// Keys and passwords are not for logs.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let user = self.user.as_ref().map(|(name, _)| name);
        f.debug_struct("Credentials").field("user", &user).finish_non_exhaustive()
    }
}

impl Credentials {
    /// Trusts a server whose certificate one of these authorities signed (PEM). Connections have TLS then.
    #[must_use]
    pub fn trusting(self, authorities: impl Into<Vec<u8>>) -> Credentials {
        Credentials { authority: Some(authorities.into()), ..self }
    }

    /// Shows this certificate, and has its key (PEM).
    #[must_use]
    pub fn showing(self, certificate: impl Into<Vec<u8>>, key: impl Into<Vec<u8>>) -> Credentials {
        Credentials { identity: Some((certificate.into(), key.into())), ..self }
    }

    /// Is this user, and knows its password.
    #[must_use]
    pub fn being(self, user: impl Into<String>, password: impl Into<String>) -> Credentials {
        Credentials { user: Some((user.into(), password.into())), ..self }
    }

    /// The way to this address, with TLS or without.
    pub(crate) fn endpoint(&self, address: &str) -> Result<Endpoint, ClientError> {
        let wrong = || ClientError::Address(address.to_owned());
        let has_tls = self.authority.is_some() || self.identity.is_some();
        let url = match address.split_once("://") {
            None => format!("{}://{address}", if has_tls { "https" } else { "http" }),
            // What would be sent in the clear although certificates are given was not meant like that.
            Some(("http", _)) if has_tls => return Err(ClientError::Clear(address.to_owned())),
            Some(_) => address.to_owned(),
        };
        let endpoint = Endpoint::from_shared(url.clone()).map_err(|_| wrong())?;
        if !url.starts_with("https://") {
            return Ok(endpoint);
        }
        let Some(authority) = &self.authority else {
            return Err(ClientError::NoAuthority(address.to_owned()));
        };
        let mut tls = ClientTlsConfig::new().ca_certificate(Certificate::from_pem(authority));
        if let Some((certificate, key)) = &self.identity {
            tls = tls.identity(Identity::from_pem(certificate, key));
        }
        endpoint.tls_config(tls).map_err(|error| ClientError::Certificates(error.to_string()))
    }
}

/// Adds the token to every request, once there is one.
#[derive(Clone, Debug, Default)]
pub struct Badge {
    user: Option<Arc<(String, String)>>,
    token: Arc<RwLock<Option<MetadataValue<Ascii>>>>,
}

impl Badge {
    pub(crate) fn new(credentials: &Credentials) -> Badge {
        Badge { user: credentials.user.clone().map(Arc::new), ..Badge::default() }
    }

    fn token(&self) -> Option<MetadataValue<Ascii>> {
        self.token.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, token: Option<MetadataValue<Ascii>>) {
        *self.token.write().unwrap_or_else(PoisonError::into_inner) = token;
    }

    /// Gets a token for the password, if there is none yet.
    pub(crate) async fn get(&self, channel: Channel) -> Result<(), ClientError> {
        let Some(user) = self.user.as_ref().filter(|_| self.token().is_none()) else { return Ok(()) };
        let request = AuthenticateRequest { name: user.0.clone(), password: user.1.clone() };
        match AuthClient::new(channel).authenticate(request).await {
            Ok(answer) => {
                let token = answer.into_inner().token.parse();
                self.set(Some(token.map_err(|_| ClientError::Nonsense("a token that is no text"))?));
                Ok(())
            }
            // Nobody need say who it is.
            Err(status) if status.message() == "etcdserver: authentication is not enabled" => Ok(()),
            Err(status) => Err(status.into()),
        }
    }

    /// Whether it may help to get another token: this one has expired.
    pub(crate) fn is_refused(&self, error: &ClientError) -> bool {
        let expired = matches!(error, ClientError::Refused(status)
            if status.code() == Code::Unauthenticated
                || status.message() == "etcdserver: user name is empty"
                || status.message() == "etcdserver: revision of auth store is old");
        if expired && self.user.is_some() {
            self.set(None);
        }
        expired && self.user.is_some()
    }
}

impl Interceptor for Badge {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        if let Some(token) = self.token() {
            request.metadata_mut().insert("token", token);
        }
        Ok(request)
    }
}
