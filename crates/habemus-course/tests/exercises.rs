//! Every exercise can be solved, is not solved at its start, and cannot be solved by cheating.

use habemus_course::{Exercise, Objection, exercise, names};
use habemus_scenario::{Action, Cue, Occasion};

fn all() -> Vec<Exercise> {
    names().map(|name| exercise(name).unwrap_or_else(|error| panic!("{error}"))).collect()
}

#[test]
fn every_exercise_is_solved_by_its_solution_and_only_those_to_look_at_by_their_start() {
    for exercise in all() {
        let name = &exercise.name;
        let judged = exercise.judge(&exercise.solution).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(judged.objections, [], "{name}");
        let start = exercise.judge(&exercise.start).unwrap_or_else(|error| panic!("{name}: {error}"));
        // Where there is nothing to do, there is something to predict.
        let is_to_look_at = exercise.change.is_empty() && exercise.budget.is_empty();
        assert_eq!(start.is_solved(), is_to_look_at, "{name}");
        assert!(!is_to_look_at || !exercise.predict.is_empty(), "{name}");
    }
}

#[test]
fn every_text_is_there_in_both_languages_and_they_differ() {
    for exercise in all() {
        let mut texts = vec![&exercise.title, &exercise.text, &exercise.wanted];
        texts.extend(&exercise.hints);
        texts.extend(exercise.predict.iter().flat_map(|question| [&question.question, &question.because]));
        for text in texts {
            assert!(!text.en.trim().is_empty() && !text.pt.trim().is_empty(), "{}", exercise.name);
            assert_ne!(text.en, text.pt, "{}", exercise.name);
        }
        assert!(!exercise.hints.is_empty(), "{}", exercise.name);
    }
}

/// Changes something that must stay.
type Cheat = fn(&mut habemus_scenario::Scenario);

#[test]
fn what_an_exercise_does_not_allow_is_objected_to() {
    let exercise = exercise("two-leaders").expect("it is there");
    let cheats: [(&str, Cheat); 4] = [
        ("the network", |answer| answer.network.loss = 0.5),
        ("the seed", |answer| answer.seed = 77),
        ("the algorithm", |answer| answer.algorithm = "chang-roberts".to_owned()),
        ("the processes", |answer| answer.ids.reverse()),
    ];
    for (what, cheat) in cheats {
        let mut answer = exercise.solution.clone();
        cheat(&mut answer);
        let judged = exercise.judge(&answer).expect("it makes sense");
        assert!(judged.objections.contains(&Objection::Changed { what: what.to_owned() }), "{what}");
    }
    let mut answer = exercise.solution.clone();
    answer.script.push(Cue { occasion: Occasion::After(3), action: Action::Crash(vec![2]) });
    let judged = exercise.judge(&answer).expect("it makes sense");
    let excess = Objection::Budget { word: "crash".to_owned(), used: 1, allowed: 0 };
    assert!(judged.objections.contains(&excess), "{:?}", judged.objections);
}

#[test]
fn what_is_missing_or_wrong_is_said() {
    assert!(exercise("dance").is_err_and(|error| error.to_string().contains("dance")));
    let file = |change: &str, goal: &str| {
        format!(
            "title = {{ en = 'a', pt = 'b' }}\ntext = {{ en = 'a', pt = 'b' }}\nwanted = {{ en = 'a', pt = \
                'b' }}\n\
             change = ['{change}']\nstart = '''\nalgorithm = \"bully\"\nprocesses = 3\n'''\ngoal = \
             '''{goal}'''\n\
             solution = '''\nalgorithm = \"bully\"\nprocesses = 3\n'''\n"
        )
    };
    assert!(Exercise::parse("x", &file("seed", "leader = 3")).is_ok());
    for (change, goal, word) in
        [("weather", "leader = 3", "weather"), ("seed", "leader = 9", "9"), ("seed", "", "no goal")]
    {
        let error = Exercise::parse("x", &file(change, goal)).expect_err("it is wrong").to_string();
        assert!(error.contains(word), "{error}");
    }
}
