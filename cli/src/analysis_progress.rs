//! The progress bar of an analysis.

use coverage_analysis::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// The bar is shown from this many classes on.
const MANY: u64 = 500;

/// A bar that stays hidden until it has many classes, and unless standard error is a terminal.
#[derive(Debug)]
pub struct AnalysisBar(ProgressBar);

impl Default for AnalysisBar {
    fn default() -> Self {
        let style =
            ProgressStyle::with_template("analysing {bar:30} {pos}/{len} classes {wide_msg}");
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::hidden());
        Self(bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar())))
    }
}

impl Progress for AnalysisBar {
    fn expect(&self, more: usize) {
        self.0.inc_length(more as u64);
        if self.0.is_hidden() && self.0.length() >= Some(MANY) {
            self.0.set_draw_target(ProgressDrawTarget::stderr());
        }
    }

    fn begin(&self, place: &str) {
        self.0.set_message(escape::line(place).into_owned());
    }

    fn advance(&self) {
        self.0.inc(1);
    }

    fn finish(&self) {
        self.0.finish_and_clear();
    }
}
