//! Figures, their medians, and what they come to beside each other.

use std::collections::BTreeMap;

use crate::cluster::Kind;

/// What is wanted of our figure over etcd's.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Goal {
    /// At least so many times.
    AtLeast(f64),
    /// At most so many times.
    UpTo(f64),
    /// Our own figure is at most this.
    Within(f64),
    /// Our own figure is at least this.
    Reaches(f64),
    /// Nothing is wanted.
    Shown,
}

/// All figures.
#[derive(Default)]
pub(crate) struct Table {
    /// Whether something could not be measured.
    pub(crate) is_incomplete: bool,
    order: Vec<(&'static str, &'static str, Goal)>,
    figures: BTreeMap<(&'static str, &'static str), Vec<f64>>,
}

impl Table {
    /// Adds one figure of one kind; `unit` is what it is in.
    pub(crate) fn add(
        &mut self,
        kind: &Kind,
        what: &'static str,
        unit: &'static str,
        goal: Goal,
        figure: f64,
    ) {
        if !self.order.iter().any(|(known, ..)| *known == what) {
            self.order.push((what, unit, goal));
        }
        self.figures.entry((what, kind.name())).or_default().push(figure);
    }

    /// Adds a row: what ours is of the limit's in another one, at least `times`.
    pub(crate) fn add_beside_limit(&mut self, what: &'static str, label: &'static str, times: f64) {
        if let (Some(ours), Some(limit)) = (self.median(what, "habemus"), self.median(what, "limit")) {
            self.order.push((label, "times", Goal::Reaches(times)));
            self.figures.insert((label, "habemus"), vec![ours / limit]);
        }
    }

    fn median(&self, what: &'static str, kind: &'static str) -> Option<f64> {
        let mut all = self.figures.get(&(what, kind))?.clone();
        all.sort_by(f64::total_cmp);
        all.get(all.len() / 2).copied()
    }

    /// Ours, etcd's, their ratio, and whether the goal is reached, if that can be said.
    fn judge(&self, what: &'static str, goal: Goal) -> (Option<f64>, Option<f64>, Option<f64>, Option<bool>) {
        let (ours, theirs) = (self.median(what, "habemus"), self.median(what, "etcd"));
        let ratio = ours.zip(theirs).map(|(ours, theirs)| ours / theirs);
        let met = match goal {
            Goal::AtLeast(times) => ratio.map(|ratio| ratio >= times),
            Goal::UpTo(times) => ratio.map(|ratio| ratio <= times),
            Goal::Within(bound) => ours.map(|ours| ours <= bound),
            Goal::Reaches(bound) => ours.map(|ours| ours >= bound),
            Goal::Shown => None,
        };
        (ours, theirs, ratio, met)
    }

    pub(crate) fn has_misses(&self) -> bool {
        self.is_incomplete
            || self.order.iter().any(|(what, _, goal)| self.judge(what, *goal).3 == Some(false))
    }

    pub(crate) fn print(&self, judges: bool) {
        println!("| measured | habemus | etcd | ratio | goal | |\n|---|---|---|---|---|---|");
        for (what, unit, goal) in &self.order {
            let (ours, theirs, ratio, met) = self.judge(what, *goal);
            let show = |figure: Option<f64>| {
                figure.map_or("–".to_owned(), |figure| format!("{} {unit}", digits(figure)))
            };
            let ratio = ratio.map_or("–".to_owned(), |ratio| format!("{ratio:.2}"));
            let goal = match goal {
                Goal::AtLeast(times) => format!("≥ {} times", digits(*times)),
                Goal::UpTo(times) => format!("≤ {} times", digits(*times)),
                Goal::Within(bound) => format!("≤ {bound} {unit}"),
                Goal::Reaches(bound) => format!("≥ {bound} {unit}"),
                Goal::Shown => String::new(),
            };
            let verdict = match met {
                Some(true) if judges => "ok",
                Some(false) if judges => "**missed**",
                _ => "",
            };
            println!("| {what} | {} | {} | {ratio} | {goal} | {verdict} |", show(ours), show(theirs));
        }
    }
}

/// Three digits, or all before the point.
fn digits(figure: f64) -> String {
    match figure.abs() {
        100.0.. => format!("{figure:.0}"),
        10.0.. => format!("{figure:.1}"),
        _ => format!("{figure:.2}"),
    }
}
