//! Makes Rust of the interface's description, and notes what the description says of each message and call,
//! for those who read it as OpenAPI.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value, json};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let described = protox::compile(["habemus.proto"], ["proto"])?;
    let mut configured = tonic_prost_build::configure()
        .message_attribute(".", "#[derive(serde::Serialize, serde::Deserialize)]")
        .message_attribute(".", "#[serde(default, deny_unknown_fields)]");
    let mut schemas = Map::new();
    let mut calls = Map::new();
    for file in described.file.iter().filter(|file| file.package() == "habemus.v1") {
        let locations = file.source_code_info.iter().flat_map(|info| &info.location);
        let comments: BTreeMap<&[i32], String> = locations
            .map(|location| (location.path.as_slice(), one_line(location.leading_comments())))
            .collect();
        let comment = |path: &[i32]| comments.get(path).cloned().unwrap_or_default();
        for (number, message) in (0..).zip(&file.message_type) {
            let mut properties = Map::new();
            let mut always = Vec::new();
            for (field_number, field) in (0..).zip(&message.field) {
                let mut schema = match field.r#type {
                    Some(4) => json!({"type": "integer", "format": "int64", "minimum": 0}),
                    Some(13) => json!({"type": "integer", "format": "int32", "minimum": 0}),
                    Some(8) => json!({"type": "boolean"}),
                    Some(9) => json!({"type": "string"}),
                    Some(11) => {
                        let name = field.type_name().trim_start_matches(".habemus.v1.");
                        json!({"$ref": format!("#/components/schemas/{name}")})
                    }
                    other => return Err(format!("{}: what is type {other:?} in JSON?", field.name()).into()),
                };
                if field.label == Some(3) {
                    schema = json!({"type": "array", "items": schema});
                }
                schema["description"] = comment(&[4, number, 2, field_number]).into();
                if field.proto3_optional() {
                    let path = format!("habemus.v1.{}.{}", message.name(), field.name());
                    let skip = "#[serde(skip_serializing_if = \"Option::is_none\")]";
                    configured = configured.field_attribute(path, skip);
                } else {
                    always.push(field.name());
                }
                properties.insert(field.name().to_owned(), schema);
            }
            let mut schema = json!({"type": "object", "properties": properties});
            schema["x-always"] = json!(always);
            let told = comment(&[4, number]);
            if !told.is_empty() {
                schema["description"] = told.into();
            }
            schemas.insert(message.name().to_owned(), schema);
        }
        for (number, service) in (0..).zip(&file.service) {
            for (method_number, method) in (0..).zip(&service.method) {
                let told: Value = comment(&[6, number, 2, method_number]).into();
                calls.insert(format!("{}.{}", service.name(), method.name()), told);
            }
        }
    }
    configured.compile_fds(described)?;
    let noted = json!({"schemas": schemas, "calls": calls});
    let directory = std::env::var("OUT_DIR")?;
    std::fs::write(Path::new(&directory).join("described.json"), noted.to_string())?;
    println!("cargo:rerun-if-changed=proto");
    Ok(())
}

fn one_line(comment: &str) -> String {
    comment.split_whitespace().collect::<Vec<_>>().join(" ")
}
