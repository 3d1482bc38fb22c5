//! The description that is kept for people says what the server says.

use habemus_api::{ErrorCode, ROUTES, openapi};

#[test]
fn the_description_in_the_docs_is_the_one_that_is_served() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/openapi.json");
    let now = format!("{:#}\n", openapi());
    if std::env::var_os("HABEMUS_REWRITE").is_some() {
        std::fs::write(path, &now).expect("the docs can be written");
    }
    let kept = std::fs::read_to_string(path).unwrap_or_default();
    assert!(kept == now, "docs/openapi.json is out of date: HABEMUS_REWRITE=1 cargo test -p habemus-api");
}

#[test]
fn every_route_has_a_summary_and_messages_that_exist() {
    let described = openapi();
    for route in ROUTES {
        let method = format!("{:?}", route.method).to_lowercase();
        let operation = &described["paths"][route.path][&method];
        assert!(operation["summary"].as_str().is_some_and(|told| !told.is_empty()), "{}", route.call);
        assert!(described["components"]["schemas"][route.response].is_object(), "{}", route.response);
    }
}

#[test]
fn words_of_errors_are_distinct() {
    for code in ErrorCode::ALL {
        assert_eq!(ErrorCode::of_word(code.word()), Some(*code));
    }
}

/// The errors as a table.
fn errors() -> String {
    let mut table = "| word | HTTP | gRPC | means |\n|---|---|---|---|\n".to_owned();
    for code in ErrorCode::ALL {
        let (word, http, grpc) = (code.word(), code.http(), format!("{:?}", code.grpc()));
        table += &format!("| `{word}` | {http} | {grpc} | {} |\n", code.meaning());
    }
    table
}

#[test]
fn the_page_lists_all_errors_and_all_calls() {
    const BEGIN: &str = "<!-- The errors, as the program has them; HABEMUS_REWRITE=1 renews this. -->\n";
    const END: &str = "<!-- The end of the errors. -->\n";
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/api.md");
    let page = std::fs::read_to_string(path).expect("there is a page");
    let (before, rest) = page.split_once(BEGIN).expect("the page has a place for the errors");
    let (_, after) = rest.split_once(END).expect("the place has an end");
    let now = format!("{before}{BEGIN}{}{END}{after}", errors());
    if std::env::var_os("HABEMUS_REWRITE").is_some() {
        std::fs::write(path, &now).expect("the docs can be written");
    } else {
        assert!(page == now, "docs/api.md is out of date: HABEMUS_REWRITE=1 cargo test -p habemus-api");
    }
    for route in ROUTES {
        let method = format!("{:?}", route.method).to_uppercase();
        let line = format!("| `{method} {}` | {} |", route.path, route.call);
        assert!(now.contains(&line), "docs/api.md lacks {line}");
    }
}
