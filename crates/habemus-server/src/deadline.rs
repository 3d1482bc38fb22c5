//! How long a client waits for an answer, by its own word: the header `grpc-timeout`, which every client of
//! gRPC sends that has a deadline. After that nobody listens, so nothing goes on: a waiter leaves its queue,
//! a watch ends.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body as AnyBody;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::Response;
use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use tokio::time::{Instant, Sleep, sleep_until, timeout_at};
use tonic::Status;

use crate::gateway;

/// What says how long.
const HEADER: &str = "grpc-timeout";

/// In which language an answer is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    Grpc,
    Json,
}

impl Language {
    /// The answer to a request that is not served.
    pub(crate) fn refuse(self, http: StatusCode, why: &Status) -> Response {
        match self {
            Language::Grpc => why.clone().into_http(),
            Language::Json => gateway::refusal(http, why),
        }
    }
}

/// How long the client waits, if it has said so.
pub(crate) fn asked(headers: &HeaderMap) -> Result<Option<Duration>, Status> {
    let Some(value) = headers.get(HEADER) else { return Ok(None) };
    let why = "malformed grpc-timeout: give up to eight digits and one of H, M, S, m, u, n";
    value.to_str().ok().and_then(parse).map(Some).ok_or_else(|| Status::invalid_argument(why))
}

fn parse(text: &str) -> Option<Duration> {
    let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let is_number = (1..=8).contains(&digits.len()) && digits.bytes().all(|digit| digit.is_ascii_digit());
    let count: u64 = is_number.then(|| digits.parse().ok())??;
    Some(match unit {
        "H" => Duration::from_secs(count * 3600),
        "M" => Duration::from_secs(count * 60),
        "S" => Duration::from_secs(count),
        "m" => Duration::from_millis(count),
        "u" => Duration::from_micros(count),
        "n" => Duration::from_nanos(count),
        _ => return None,
    })
}

fn late() -> Status {
    Status::deadline_exceeded("context deadline exceeded")
}

/// Waits for an answer, and for all that comes with it, no longer than the client does.
pub(crate) async fn keep<E>(
    time: Duration,
    language: Language,
    answer: impl Future<Output = Result<Response, E>>,
) -> Result<Response, E> {
    let deadline = Instant::now() + time;
    match timeout_at(deadline, answer).await {
        Err(_) => Ok(language.refuse(StatusCode::GATEWAY_TIMEOUT, &late())),
        Ok(answer) => Ok(answer?.map(|body| {
            AnyBody::new(Bounded { body: Some(body), language, late: Box::pin(sleep_until(deadline)) })
        })),
    }
}

/// What comes with an answer until the deadline.
struct Bounded {
    /// `None` when it is over.
    body: Option<AnyBody>,
    language: Language,
    late: Pin<Box<Sleep>>,
}

impl Body for Bounded {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let Some(body) = &mut self.body else { return Poll::Ready(None) };
        if let Poll::Ready(frame) = Pin::new(body).poll_frame(context) {
            return Poll::Ready(frame);
        }
        if self.late.as_mut().poll(context).is_pending() {
            return Poll::Pending;
        }
        // Whatever makes it goes, too.
        self.body = None;
        Poll::Ready((self.language == Language::Grpc).then(|| Ok(Frame::trailers(trailers(&late())))))
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map(Body::size_hint).unwrap_or_default()
    }
}

/// How an answer of gRPC ends that has begun well.
fn trailers(status: &Status) -> HeaderMap {
    let mut trailers = HeaderMap::new();
    trailers.insert("grpc-status", HeaderValue::from(status.code() as i32));
    if let Ok(text) = HeaderValue::from_str(status.message()) {
        trailers.insert("grpc-message", text);
    }
    trailers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timeout_is_read_as_grpc_writes_it() {
        let good = [
            ("1H", Duration::from_secs(3600)),
            ("2M", Duration::from_secs(120)),
            ("99999999S", Duration::from_secs(99_999_999)),
            ("300m", Duration::from_millis(300)),
            ("5u", Duration::from_micros(5)),
            ("0n", Duration::ZERO),
        ];
        for (text, time) in good {
            assert_eq!(parse(text), Some(time), "{text}");
        }
        for text in ["", "S", "1", "123456789S", "1.5S", "-1S", "+1S", "1s", "1 S", "1ä"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
