//! `habemus exercise`: the course's exercises, listed, shown and judged.

use std::fmt::Write;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use habemus_course::{Change, Exercise, ExerciseError, Text};
use habemus_scenario::{nearest, read, to_toml};
use owo_colors::OwoColorize;

use crate::error::CliError;
use crate::show::wrap;
use crate::{Outcome, output};

/// Solve exercises about elections and locks: list them, show one, judge an answer.
#[derive(Args)]
#[command(after_help = "Examples:
  habemus exercise
  habemus exercise two-leaders
  habemus exercise two-leaders --begin > mine.toml
  habemus exercise two-leaders mine.toml
  habemus exercise two-leaders --hint 1
  habemus exercise --language pt

An answer is a scenario file: the exercise's own, changed as it may be.
`habemus run mine.toml --draw text` shows what it does.")]
pub(crate) struct Solve {
    /// Which exercise.
    name: Option<String>,
    /// An answer to be judged.
    answer: Option<PathBuf>,
    /// Print the scenario with which one starts.
    #[arg(long, requires = "name", conflicts_with_all = ["answer", "hint", "solution"])]
    begin: bool,
    /// Show this hint, counted from 1.
    #[arg(long, requires = "name", value_name = "N", conflicts_with_all = ["answer", "solution"])]
    hint: Option<usize>,
    /// Print an answer that solves it.
    #[arg(long, requires = "name", conflicts_with = "answer")]
    solution: bool,
    /// The choices that are right, where an exercise asks questions: 1,3.
    #[arg(long, requires = "name", value_name = "N,…", value_delimiter = ',')]
    #[arg(conflicts_with_all = ["answer", "hint", "solution", "begin"])]
    answers: Vec<usize>,
    /// In which language.
    #[arg(long, default_value = "en")]
    language: Language,
}

/// The languages of the course.
#[derive(Clone, Copy, ValueEnum)]
enum Language {
    /// English.
    En,
    /// Português.
    Pt,
}

impl Language {
    fn of(self, text: &Text) -> &str {
        match self {
            Language::En => &text.en,
            Language::Pt => &text.pt,
        }
    }

    fn choose<'a>(self, english: &'a str, portuguese: &'a str) -> &'a str {
        match self {
            Language::En => english,
            Language::Pt => portuguese,
        }
    }
}

fn find(name: &str) -> Result<Exercise, CliError> {
    habemus_course::exercise(name).map_err(|error| match (&error, nearest(name, habemus_course::names())) {
        (ExerciseError::Unknown { .. }, Some(near)) => {
            CliError::help(error.to_string(), format!("did you mean `{near}`?"))
        }
        (ExerciseError::Unknown { .. }, None) => {
            CliError::help(error.to_string(), "`habemus exercise` lists them")
        }
        _ => CliError::new(error.to_string()),
    })
}

impl Solve {
    pub(crate) fn execute(&self) -> Result<Outcome, CliError> {
        let Some(name) = &self.name else {
            output::print(&self.list()?)?;
            return Ok(Outcome::Holds);
        };
        let exercise = find(name)?;
        if let Some(answer) = &self.answer {
            return self.judge(&exercise, answer);
        }
        if !self.answers.is_empty() {
            return self.judge_answers(&exercise);
        }
        let text = if self.begin {
            to_toml(&exercise.start)
        } else if self.solution {
            to_toml(&exercise.solution)
        } else if let Some(number) = self.hint {
            self.hint(&exercise, number)?
        } else {
            self.show(&exercise)
        };
        output::print(&text)?;
        Ok(Outcome::Holds)
    }

    fn list(&self) -> Result<String, CliError> {
        let mut text = String::new();
        for (number, name) in habemus_course::names().enumerate() {
            let title = self.language.of(&find(name)?.title).to_owned();
            let _ = writeln!(text, "{:>3}  {:<18} {title}", number + 1, name.cyan());
        }
        let more = self.language.choose(
            "\nhabemus exercise NAME shows one; habemus exercise NAME FILE judges an answer.",
            "\nhabemus exercise NOME mostra um; habemus exercise NOME ARQUIVO julga uma resposta.",
        );
        text.push_str(&more.replace("\\\n", "\n"));
        Ok(text)
    }

    fn show(&self, exercise: &Exercise) -> String {
        let language = self.language;
        let mut text = format!("{}\n\n", language.of(&exercise.title).bold());
        text.push_str(&wrap("", language.of(&exercise.text), 80));
        text.push('\n');
        text.push_str(&wrap(language.choose("Goal: ", "Objetivo: "), language.of(&exercise.wanted), 80));
        let mut may: Vec<String> = exercise.change.iter().map(|change| self.change(change)).collect();
        for (word, times) in &exercise.budget {
            may.push(format!("{times} × {word}"));
        }
        if !may.is_empty() {
            text.push_str(&wrap(
                language.choose("You may change: ", "Você pode mudar: "),
                &may.join(", "),
                80,
            ));
        }
        for (number, asked) in exercise.predict.iter().enumerate() {
            let label = language.choose("After event", "Depois do evento");
            let question = format!("{label} {}: {}", asked.after, language.of(&asked.question));
            let _ = write!(text, "\n{}", wrap(&format!("{}. ", number + 1), &question, 80));
            for (choice, words) in asked.choices.iter().enumerate() {
                text.push_str(&wrap(&format!("     {}) ", choice + 1), language.of(words), 80));
            }
        }
        let name = &exercise.name;
        if !exercise.predict.is_empty() {
            let _ = writeln!(text, "\n  habemus exercise {name} --answers 1,…");
        }
        for command in [
            format!("exercise {name} --begin > mine.toml"),
            "run mine.toml --draw text".to_owned(),
            format!("exercise {name} mine.toml"),
        ] {
            let _ = write!(text, "\n  habemus {command}");
        }
        text.push('\n');
        let hints = exercise.hints.len();
        let _ = match language {
            Language::En => writeln!(text, "\n--hint 1 to --hint {hints} help, and --solution tells."),
            Language::Pt => writeln!(text, "\n--hint 1 a --hint {hints} ajudam, e --solution conta."),
        };
        text
    }

    fn change(&self, change: &Change) -> String {
        let (english, portuguese) = match change {
            Change::Algorithm => ("the algorithm and its options", "o algoritmo e suas opções"),
            Change::Ids => ("the order of ids", "a ordem de ids"),
            Change::Seed => ("the seed", "a semente (seed)"),
            Change::Script => ("the script", "o roteiro (script)"),
            Change::Option(name) => {
                return format!("{} {name}", self.language.choose("the option", "a opção"));
            }
        };
        self.language.choose(english, portuguese).to_owned()
    }

    /// Judges answers to questions about what comes next.
    fn judge_answers(&self, exercise: &Exercise) -> Result<Outcome, CliError> {
        let (asked, answers) = (exercise.predict.len(), &self.answers);
        if answers.len() != asked {
            return Err(CliError::new(format!(
                "{asked} questions are asked, and {} answered",
                answers.len()
            )));
        }
        let mut text = String::new();
        let mut right = 0;
        for (number, (question, answer)) in exercise.predict.iter().zip(answers).enumerate() {
            let is_right = *answer == question.answer + 1;
            right += usize::from(is_right);
            let mark = if is_right { "✓" } else { "✗" };
            // Why, only to whoever has found it: the others may try again.
            let words = if is_right { self.language.of(&question.because) } else { "" };
            text.push_str(&wrap(&format!("{mark} {}. ", number + 1), words, 80));
        }
        output::print(&text)?;
        Ok(if right == asked { Outcome::Holds } else { Outcome::Fails })
    }

    fn hint(&self, exercise: &Exercise, number: usize) -> Result<String, CliError> {
        let hint = number.checked_sub(1).and_then(|index| exercise.hints.get(index));
        let hint = hint.ok_or_else(|| {
            CliError::new(format!("there is no hint {number}: there are {}", exercise.hints.len()))
        })?;
        Ok(wrap("", self.language.of(hint), 80))
    }

    fn judge(&self, exercise: &Exercise, answer: &PathBuf) -> Result<Outcome, CliError> {
        let parsed = read(answer)?;
        let judgement =
            exercise.judge(&parsed.scenario).map_err(|error| CliError::from_run(error, Some(&parsed)))?;
        if judgement.is_solved() {
            let solved = self.language.choose("solved: ", "resolvido: ");
            output::print(&wrap(solved, self.language.of(&exercise.wanted), 80))?;
            return Ok(Outcome::Holds);
        }
        let mut text = format!("{}\n", self.language.choose("not solved yet:", "ainda não resolvido:"));
        for objection in &judgement.objections {
            text.push_str(&wrap("  ✗ ", &objection.to_string(), 80));
        }
        output::print(&text)?;
        Ok(Outcome::Fails)
    }
}
