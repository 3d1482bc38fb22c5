//! The table that is printed: what was required, what was measured, and whether that is met.

/// A bound on a figure.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Required {
    AtLeast(f64),
    AtMost(f64),
}

/// Prints row by row, as the measurements come in, and remembers whether every requirement is met.
#[derive(Debug)]
pub(crate) struct Table {
    /// Whether figures are held against what is required of them; a quick look only shows them.
    judging: bool,
    missed: usize,
    /// What could not be measured at all.
    failed: usize,
}

impl Table {
    /// A table with nothing below its head.
    pub(crate) fn new(title: &str, judging: bool) -> Self {
        println!("{title}\n");
        println!("{:<49}{:>9}{:>11}{:>10}", "", "required", "measured", "verdict");
        Table { judging, missed: 0, failed: 0 }
    }

    /// Begins a section.
    pub(crate) fn section(&self, title: &str) {
        println!("{title}");
    }

    /// A figure that nobody requires anything of.
    pub(crate) fn inform(&self, what: &str, measured: &str) {
        println!("  {what:<47}{:>9}{measured:>11}", "");
    }

    /// A figure and its requirement.
    pub(crate) fn judge(&mut self, what: &str, required: Required, measured: f64) {
        let (bound, met) = match required {
            Required::AtLeast(bound) => (format!("≥ {}", figure(bound)), measured >= bound),
            Required::AtMost(bound) => (format!("≤ {}", figure(bound)), measured <= bound),
        };
        let verdict = match (self.judging, met) {
            (false, _) => "",
            (true, true) => "met",
            (true, false) => {
                self.missed += 1;
                "MISSED"
            }
        };
        println!("  {what:<47}{bound:>9}{:>11}{verdict:>10}", figure(measured));
    }

    /// What could not be measured does not meet its requirement.
    pub(crate) fn fail(&mut self, what: &str, why: &str) {
        self.failed += 1;
        println!("  {what:<47}{:>9}{:>11}{:>10}", "", "none", "FAILED");
        println!("    {}", why.lines().next().unwrap_or_default());
    }

    /// Ends the table; says whether everything was measured and, if that is judged, every requirement is met.
    pub(crate) fn end(self) -> bool {
        match (self.failed, self.missed) {
            (0, 0) if self.judging => println!("\nEvery requirement is met."),
            (0, 0) => println!("\nNothing was judged: one round of small systems says little of speed."),
            (0, missed) => println!("\n{missed} of the requirements are missed."),
            (failed, missed) => println!("\n{failed} could not be measured, {missed} more are missed."),
        }
        self.failed + self.missed == 0
    }
}

/// Three digits or so, whatever the size.
pub(crate) fn figure(number: f64) -> String {
    match number {
        _ if number >= 1e6 => format!("{:.1} M", number / 1e6),
        _ if number >= 1e4 => format!("{:.0} k", number / 1e3),
        _ if number >= 100.0 => format!("{number:.0}"),
        _ if number >= 10.0 => format!("{number:.1}"),
        _ => format!("{number:.2}"),
    }
}
