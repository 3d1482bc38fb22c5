//! Where each call is found by plain HTTP.

/// How a route is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// It only looks.
    Get,
    /// It does something; what, the body says.
    Post,
    /// It ends what the path names.
    Delete,
}

/// How a route answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// By one message.
    Once,
    /// By one message in each line, for as long as anybody reads.
    Lines,
}

/// Where one call is found by plain HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// How it is asked.
    pub method: Method,
    /// Where it is. What is in braces belongs to the request's message, and is not in the body.
    pub path: &'static str,
    /// Which call it is: `Service.Method`.
    pub call: &'static str,
    /// The message of the request.
    pub request: &'static str,
    /// The message of the answer.
    pub response: &'static str,
    /// How it answers.
    pub reply: Reply,
}

const fn route(
    method: Method,
    path: &'static str,
    call: &'static str,
    request: &'static str,
    response: &'static str,
) -> Route {
    Route { method, path, call, request, response, reply: Reply::Once }
}

const fn lines(path: &'static str, call: &'static str, response: &'static str) -> Route {
    Route { method: Method::Get, path, call, request: "NamedLock", response, reply: Reply::Lines }
}

/// All routes.
pub const ROUTES: &[Route] = &[
    route(Method::Post, "/v1/sessions", "Sessions.Open", "OpenSession", "Session"),
    route(Method::Get, "/v1/sessions", "Sessions.List", "Nothing", "SessionList"),
    route(Method::Get, "/v1/sessions/{session}", "Sessions.Get", "NamedSession", "Session"),
    route(Method::Delete, "/v1/sessions/{session}", "Sessions.End", "NamedSession", "Done"),
    route(Method::Post, "/v1/sessions/{session}/renew", "Sessions.Renew", "NamedSession", "Session"),
    route(Method::Get, "/v1/locks", "Locks.List", "Nothing", "QueueList"),
    route(Method::Get, "/v1/locks/{name}", "Locks.Get", "NamedLock", "Queue"),
    route(Method::Post, "/v1/locks/{name}/acquire", "Locks.Acquire", "Acquire", "Grant"),
    route(Method::Post, "/v1/locks/{name}/release", "Locks.Release", "Release", "Done"),
    route(Method::Post, "/v1/locks/{name}/write", "Locks.Write", "GuardedWrite", "Done"),
    lines("/v1/locks/{name}/events", "Locks.Watch", "LockEvent"),
    route(Method::Get, "/v1/elections/{name}", "Elections.Get", "NamedLock", "Office"),
    route(Method::Post, "/v1/elections/{name}/campaign", "Elections.Campaign", "Campaign", "Leadership"),
    route(Method::Post, "/v1/elections/{name}/proclaim", "Elections.Proclaim", "Proclaim", "Leadership"),
    route(Method::Post, "/v1/elections/{name}/resign", "Elections.Resign", "Release", "Done"),
    lines("/v1/elections/{name}/events", "Elections.Observe", "Office"),
];
