//! Exercises in the lab.

use habemus_lab::{Branch, Language, words};
use serde_json::{Value, json};

use crate::support::Bench;

#[test]
fn two_elections_at_once_solve_the_exercise_and_its_link_says_so_elsewhere() {
    let mut bench = Bench::at_exercise("two-leaders");
    let one = bench.ask(&json!({ "wish": "act", "text": "elect 1" }));
    assert_eq!(one["course"]["solved"], json!(false));
    bench.act("elect 3");
    let link = bench.link();
    assert!(link.starts_with("x=two-leaders&s="), "{link}");
    let mut elsewhere = Bench::new();
    elsewhere.done(&json!({ "wish": "open", "link": link }));
    for bench in [&mut bench, &mut elsewhere] {
        let end = loop {
            let answer = bench.ask(&json!({ "wish": "run-on" }));
            if answer["done"] == json!(true) {
                break answer;
            }
        };
        assert_eq!(end["course"]["solved"], json!(true), "{}", end["course"]);
    }
}

#[test]
fn what_an_exercise_does_not_allow_does_not_solve_it_and_the_page_says_why_in_both_languages() {
    let mut bench = Bench::at_exercise("two-leaders");
    for act in ["elect 1", "elect 3", "crash 5"] {
        bench.act(act);
    }
    let end = bench.ask(&json!({ "wish": "run-on" }));
    assert_eq!(end["course"]["solved"], json!(false));
    assert!(end["course"]["objections"].to_string().contains("crash may not be used"), "{}", end["course"]);
    let said = bench.ask(&json!({ "wish": "speak", "language": "pt" }));
    assert!(said["course"]["objections"].to_string().contains("derrubar um processo"), "{}", said["course"]);
}

#[test]
fn a_question_waits_for_its_answer_and_nobody_gets_past_it() {
    let mut bench = Bench::at_exercise("follow-the-ring");
    let asked = bench.ask(&json!({ "wish": "run-on" }));
    assert_eq!(asked["frame"]["cursor"], json!(1));
    assert_eq!(asked["course"]["question"]["choices"].as_array().map(Vec::len), Some(3));
    assert_eq!(bench.ask(&json!({ "wish": "step", "by": 5 }))["frame"]["cursor"], json!(1));
    let right = bench.ask(&json!({ "wish": "answer", "choice": 1 }));
    assert_eq!(right["course"]["said"][0], json!(true));
    let wrong = {
        bench.step(1);
        bench.ask(&json!({ "wish": "answer", "choice": 2 }))
    };
    assert_eq!(wrong["course"]["said"][0], json!(false));
    bench.ask(&json!({ "wish": "run-on" }));
    assert_eq!(bench.ask(&json!({ "wish": "answer", "choice": 2 }))["course"]["solved"], json!(false));
    let end = bench.ask(&json!({ "wish": "run-on" }));
    assert_eq!(end["course"]["solved"], json!(true), "{}", end["course"]);
}

/// A question whose answer were wrong would teach what is not so.
#[test]
fn what_questions_say_will_come_comes() {
    for name in habemus_course::names() {
        let exercise = habemus_course::exercise(name).expect("it is right");
        let mut branch = Branch::begin(&exercise.start).expect("it makes sense");
        branch.explore(u64::MAX);
        for question in &exercise.predict {
            let event = question.after + 1;
            let said: Vec<String> = habemus_lab::sentences_of(branch.history(), event, Language::English);
            assert!(said.contains(&question.shows), "{name}, after {}: {said:?}", question.after);
        }
    }
}

#[test]
fn hints_come_one_after_the_other() {
    let mut bench = Bench::at_exercise("two-leaders");
    let hints = |answer: &Value| answer["course"]["hints"].as_array().map(Vec::len);
    assert_eq!(hints(&bench.ask(&json!({ "wish": "step", "by": 0 }))), Some(0));
    let seen: Vec<Option<usize>> = (0..4).map(|_| hints(&bench.ask(&json!({ "wish": "hint" })))).collect();
    assert_eq!(seen, [Some(1), Some(2), Some(3), Some(3)]);
}

#[test]
fn a_link_for_a_class_hides_parts_of_the_page() {
    let mut bench = Bench::at_exercise("two-leaders");
    let link = bench.ask(&json!({ "wish": "share", "hide": ["next", "check"] }))["link"].clone();
    assert!(link.as_str().is_some_and(|link| link.ends_with("&hide=next,check")), "{link}");
    let opened = bench.ask(&json!({ "wish": "open", "link": link }));
    assert_eq!(opened["hide"], json!(["next", "check"]));
    // Whoever goes on from there hands the same on.
    let again = bench.ask(&json!({ "wish": "share" }))["link"].clone();
    assert!(again.as_str().is_some_and(|link| link.contains("&hide=next,check")), "{again}");
}

#[test]
fn every_word_of_the_page_is_there_in_both_languages() {
    let (english, portuguese) = (words(Language::English), words(Language::Portuguese));
    let same: Vec<&str> =
        english.iter().filter(|(key, word)| portuguese[*key] == **word).map(|(key, _)| *key).collect();
    assert_eq!(same, Vec::<&str>::new());
}
