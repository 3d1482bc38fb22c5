//! The interface as OpenAPI describes one.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::error::ErrorCode;
use crate::routes::{Method, ROUTES, Reply, Route};

/// What the description says of messages and calls.
const DESCRIBED: &str = include_str!(concat!(env!("OUT_DIR"), "/described.json"));

/// What is told when the path names what is not there, or the body has a field too many, stands here, too.
const ABOUT: &str = "Sessions, locks and elections with tokens and deadlines. Names in paths are \
    percent-encoded. Numbers stay \
     below 2^53. A deadline is one of the cluster's clock; how to count it on one's own, docs/api.md says.";

/// The interface as OpenAPI 3.0 describes one.
pub fn openapi() -> Value {
    let described: Value = serde_json::from_str(DESCRIBED).unwrap_or_default();
    let mut paths: BTreeMap<&str, Map<String, Value>> = BTreeMap::new();
    for route in ROUTES {
        let method = match route.method {
            Method::Get => "get",
            Method::Post => "post",
            Method::Delete => "delete",
        };
        paths.entry(route.path).or_default().insert(method.to_owned(), operation(route, &described));
    }
    let mut schemas = described["schemas"].as_object().cloned().unwrap_or_default();
    let requests: Vec<&str> = ROUTES.iter().map(|route| route.request).collect();
    schemas.retain(|name, _| !requests.contains(&name.as_str()));
    for schema in schemas.values_mut() {
        if let Some(always) = schema.as_object_mut().and_then(|schema| schema.remove("x-always")) {
            schema["required"] = always;
        }
    }
    let words: Vec<&str> = ErrorCode::ALL.iter().map(|code| code.word()).collect();
    schemas.insert(
        "Error".to_owned(),
        json!({
            "type": "object",
            "required": ["error", "message"],
            "properties": {
                "error": {"type": "string", "enum": words, "description": "Why, in a word that does not \
                    change."},
                "message": {"type": "string", "description": "Why, for people, and what to do."},
            },
        }),
    );
    json!({
        "openapi": "3.0.3",
        "info": {
            "title": "habemus",
            "version": "v1",
            "description": ABOUT,
            "license": {"name": "MIT OR Apache-2.0"},
        },
        "paths": paths,
        "components": {"schemas": schemas},
    })
}

fn operation(route: &Route, described: &Value) -> Value {
    let in_path: Vec<&str> =
        route.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')).collect();
    let properties = &described["schemas"][route.request]["properties"];
    let parameters: Vec<Value> = in_path
        .iter()
        .map(|name| {
            let description = &properties[*name]["description"];
            json!({"name": name, "in": "path", "required": true, "description": description,
                   "schema": {"type": "string"}})
        })
        .collect();
    let kind = match route.reply {
        Reply::Once => "application/json",
        Reply::Lines => "application/x-ndjson",
    };
    let schema = json!({"$ref": format!("#/components/schemas/{}", route.response)});
    let mut operation = json!({
        "operationId": route.call,
        "summary": described["calls"][route.call],
        "parameters": parameters,
        "responses": responses(kind, &schema),
    });
    let mut rest = properties.as_object().cloned().unwrap_or_default();
    rest.retain(|name, _| !in_path.contains(&name.as_str()));
    if route.method == Method::Post && !rest.is_empty() {
        let body = json!({"type": "object", "properties": rest, "additionalProperties": false});
        operation["requestBody"] =
            json!({"required": true, "content": {"application/json": {"schema": body}}});
    }
    operation
}

fn responses(kind: &str, schema: &Value) -> Value {
    let mut responses = Map::new();
    responses
        .insert("200".to_owned(), json!({"description": "Done.", "content": {kind: {"schema": schema}}}));
    for code in ErrorCode::ALL {
        let told = format!("`{}`: {}.", code.word(), code.meaning());
        let entry = responses.entry(code.http().to_string()).or_insert_with(|| {
            let schema = json!({"$ref": "#/components/schemas/Error"});
            json!({"description": "", "content": {"application/json": {"schema": schema}}})
        });
        let before = entry["description"].as_str().unwrap_or_default();
        entry["description"] = if before.is_empty() { told } else { format!("{before} {told}") }.into();
    }
    Value::Object(responses)
}
