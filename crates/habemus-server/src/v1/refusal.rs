//! Why a call is refused, by gRPC and by HTTP.

use axum::body::Body;
use axum::http::{HeaderValue, Response, StatusCode, header};
use habemus_api::ErrorCode;
use habemus_replica::Unanswered;
use habemus_store::StoreError;
use tonic::Status;
use tonic::metadata::MetadataValue;

use crate::status::Refused;

/// Why a call is refused, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) code: ErrorCode,
    pub(crate) message: String,
}

impl Refusal {
    pub(crate) fn new(code: ErrorCode) -> Refusal {
        Refusal { code, message: code.meaning().to_owned() }
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Refusal {
        Refusal { code: ErrorCode::InvalidArgument, message: message.into() }
    }

    /// A command and its answer have the same kind, or there is a bug.
    pub(crate) fn mismatch() -> Refusal {
        Refusal::new(ErrorCode::Internal)
    }
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Refusal {
        let code = match error {
            StoreError::SessionNotFound(_) => ErrorCode::SessionNotFound,
            StoreError::NotOwner => ErrorCode::NotOwner,
            StoreError::Auth(_) => ErrorCode::PermissionDenied,
            StoreError::Busy => ErrorCode::Held,
            StoreError::OtherMode(_) => ErrorCode::OtherMode,
            _ => ErrorCode::InvalidArgument,
        };
        Refusal { code, message: error.to_string() }
    }
}

impl From<Refused> for Refusal {
    fn from(refused: Refused) -> Refusal {
        Refusal::new(match refused {
            Refused::Store(error) => return error.into(),
            Refused::Unanswered(Unanswered::NoLeader) => ErrorCode::NoLeader,
            Refused::Unanswered(Unanswered::Unknown) => ErrorCode::Unknown,
            Refused::Unanswered(Unanswered::Overloaded) => ErrorCode::Overloaded,
            Refused::Unanswered(Unanswered::Unchangeable) => ErrorCode::Internal,
            Refused::NoSpace => ErrorCode::NoSpace,
            Refused::Stopping | Refused::Removed => ErrorCode::Stopping,
        })
    }
}

impl From<Refusal> for Status {
    fn from(refusal: Refusal) -> Status {
        let mut status = Status::new(refusal.code.grpc(), refusal.message);
        status.metadata_mut().insert("habemus-error", MetadataValue::from_static(refusal.code.word()));
        status
    }
}

impl From<Refusal> for Response<Body> {
    fn from(refusal: Refusal) -> Response<Body> {
        let text = serde_json::json!({"error": refusal.code.word(), "message": refusal.message});
        let mut response = Response::new(Body::from(format!("{text}\n")));
        *response.status_mut() =
            StatusCode::from_u16(refusal.code.http()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let kind = HeaderValue::from_static("application/json");
        response.headers_mut().insert(header::CONTENT_TYPE, kind);
        response
    }
}
