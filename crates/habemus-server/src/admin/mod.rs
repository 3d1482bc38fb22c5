//! The admin page: locks, queues, elections, sessions and members as they are, and each fail-over as a
//! diagram of what the members themselves have recorded.
//!
//! The page asks the member that serves it, and that one asks the others by the way on which members hear
//! each other. What is shown is this member's own copy, so that there is something to see when nobody leads.

pub(crate) mod chronicle;
mod incident;
mod state;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderValue, Response, StatusCode, header};
use axum::routing::get;
use habemus_store::Author;

use crate::door;
use crate::v1::Refusal;

pub(crate) use state::{Account, Admin};

/// Nothing of the page comes from elsewhere, and nothing goes there.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src \
    data:; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

fn file(kind: &'static str, body: impl Into<Body>) -> Response<Body> {
    let mut response = Response::new(body.into());
    for (name, value) in [
        (header::CONTENT_TYPE, kind),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
    ] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

/// What there is to see, for whoever may: of locks, elections and sessions only those that have `find` in
/// their names.
async fn state(admin: Admin, find: String, request: Request) -> Response<Body> {
    // A page elsewhere whose name was made to point here is one with this page to a browser, which then names
    // no origin.
    if !admin.has_tls && !door::is_address(&request) {
        let why = Refusal::invalid(
            "ask for this page by an address, or by localhost: names can be made to point here",
        );
        return Response::from(why);
    }
    let author = request.extensions().get::<Author>().cloned();
    match admin.state(author, find).await {
        // It is made of texts and numbers, which can always be written.
        Ok(state) => file("application/json", serde_json::to_string(&state).unwrap_or_default()),
        Err(refusal) => Response::from(refusal),
    }
}

/// The page, and what it asks for.
pub(crate) fn pages(admin: Admin) -> Router {
    Router::new()
        .route("/admin", get(async || file("text/html; charset=utf-8", include_str!("page.html"))))
        .route("/admin/page.css", get(async || file("text/css; charset=utf-8", include_str!("page.css"))))
        .route(
            "/admin/page.js",
            get(async || file("text/javascript; charset=utf-8", include_str!("page.js"))),
        )
        .route(
            "/admin/texts.js",
            get(async || file("text/javascript; charset=utf-8", include_str!("texts.js"))),
        )
        .route("/admin/", get(async || to_page()))
        .route("/admin/state", get(async |State(admin), request| state(admin, String::new(), request).await))
        .route(
            "/admin/state/{find}",
            get(async |State(admin), Path(find), request| state(admin, find, request).await),
        )
        .with_state(admin)
}

fn to_page() -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::PERMANENT_REDIRECT;
    response.headers_mut().insert(header::LOCATION, HeaderValue::from_static("/admin"));
    response
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    const TEXTS: &str = include_str!("texts.js");
    const SCRIPT: &str = include_str!("page.js");

    /// What is said under each name in a language.
    fn texts(language: &str) -> Vec<(&'static str, &'static str)> {
        let begin = TEXTS.find(&format!("  {language}: {{")).expect("it is there");
        let lines = TEXTS[begin..].lines().skip(1).take_while(|line| *line != "  },");
        let pairs = lines.map(|line| line.trim().split_once(": ").expect("a name and what is said"));
        pairs.map(|(name, text)| (name, text.trim_matches([',', '"']))).collect()
    }

    #[test]
    fn the_page_says_the_same_things_in_both_languages_and_nothing_that_is_not_shown() {
        let (english, portuguese) = (texts("en"), texts("pt"));
        let names = |texts: &[(&'static str, _)]| texts.iter().map(|(name, _)| *name).collect::<Vec<_>>();
        assert_eq!(names(&english), names(&portuguese));
        for ((name, one), (_, other)) in english.iter().zip(&portuguese) {
            let holes = |text: &str| {
                text.split('{')
                    .skip(1)
                    .map(|it| it.split('}').next().unwrap_or_default().to_owned())
                    .collect::<BTreeSet<_>>()
            };
            assert_eq!(holes(one), holes(other), "{name}");
            let is_shown = name.starts_with("row_")
                || SCRIPT.contains(&format!("\"{name}\""))
                || SCRIPT.contains(&format!(" {name}:"));
            assert!(is_shown, "nobody says {name}");
        }
    }
}
