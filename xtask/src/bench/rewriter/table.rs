//! The output of `cargo xtask bench rewriter`.

use super::peer::{Pass, Side};
use crate::bench::figures::{Cost, Figure};
use crate::jdks::Jdk;
use std::fmt::Write as _;
use std::time::Duration;

/// Formats the subject of the measurement.
pub fn head(jdk: &Jdk, classes: usize, bytes: usize) -> String {
    format!(
        "\n{classes} classes, {:.1} MB: java.base and jdk.compiler of JDK {}, and h2; one thread, CPU time of that thread\n",
        bytes as f64 / 1e6,
        jdk.version
    )
}

/// The passes of one task, by side.
pub struct Passes<'f> {
    pub sides: &'f [Side],
    pub warm: &'f [Vec<Pass>],
    pub cold: &'f [Vec<Pass>],
    pub classes: usize,
    pub bytes: usize,
    pub cold_classes: usize,
}

impl Passes<'_> {
    /// Formats medians, and the factor by which the others are slower than each of ours.
    pub fn table(&self, title: &str) -> String {
        let mut text = format!("\n{title}\n");
        let _ = writeln!(
            text,
            "{:<46}{:>10}{:>8}{:>10}{:>9}{:>13}{:>8}",
            "", "us/class", "MB/s", "cold us", "growth", "allocations", "failed"
        );
        for ((side, warm), cold) in self.sides.iter().zip(self.warm).zip(self.cold) {
            let each = self.warm_of(warm);
            let written = warm.last().map_or(0, |pass| pass.written);
            let growth = written as f64 / self.bytes as f64 - 1.0;
            let allocations = match (side.java_library(), warm.last()) {
                (None, Some(pass)) => {
                    format!("{:.3}", pass.allocations as f64 / self.classes as f64)
                }
                _ => "-".to_owned(),
            };
            let _ = writeln!(
                text,
                "{:<46}{:>10.2}{:>8.0}{:>10.1}{:>8.1}%{:>13}{:>8}",
                side.title(),
                each,
                self.bytes as f64 / (each * self.classes as f64),
                self.cold_of(cold),
                growth * 100.0,
                allocations,
                warm.last().map_or(0, |pass| pass.failed),
            );
        }
        self.ratios(&mut text);
        text
    }

    /// Returns each of ours beside each library, warm and cold.
    pub fn figures(&self, title: &str, jdk: u32) -> Vec<Figure> {
        let sides = || self.sides.iter().enumerate();
        let ours = || sides().filter(|(_, side)| side.java_library().is_none());
        let theirs = sides().filter(|(_, side)| side.java_library().is_some());
        let pairs = theirs.flat_map(|theirs| ours().map(move |ours| (ours, theirs)));
        let kinds = [
            ("warm", self.warm, self.classes),
            ("cold", self.cold, self.cold_classes),
        ];
        let all = pairs.flat_map(|pair| kinds.map(|kind| (pair, kind)));
        let figure =
            |((ours, theirs), (kind, passes, classes)): (_, (&str, &[Vec<Pass>], usize))| {
                let cost = |(place, side): (usize, &Side)| {
                    let times = passes[place].iter().map(|pass| pass.time.as_secs_f64());
                    Cost::of(side.title(), times.map(|time| time * 1e6 / classes as f64))
                };
                Figure {
                    bench: "rewriter".to_owned(),
                    jdk,
                    what: format!("{title}, {kind}: CPU time of a class"),
                    unit: "µs".to_owned(),
                    ours: cost(ours),
                    peer: cost(theirs),
                }
            };
        all.map(figure).collect()
    }

    fn warm_of(&self, passes: &[Pass]) -> f64 {
        median(passes.iter().map(|pass| pass.time)) / self.classes as f64
    }

    fn cold_of(&self, passes: &[Pass]) -> f64 {
        median(passes.iter().map(|pass| pass.time)) / self.cold_classes as f64
    }

    fn ratios(&self, text: &mut String) {
        for (theirs, other) in self.sides.iter().enumerate() {
            if other.java_library().is_none() {
                continue;
            }
            for (ours, side) in self.sides.iter().enumerate() {
                if side.java_library().is_some() {
                    continue;
                }
                let warm = self.warm_of(&self.warm[theirs]) / self.warm_of(&self.warm[ours]);
                let cold = self.cold_of(&self.cold[theirs]) / self.cold_of(&self.cold[ours]);
                let _ = writeln!(
                    text,
                    "{} is {warm:.1} times as fast as {} warm, {cold:.1} times cold",
                    side.title(),
                    other.title()
                );
            }
        }
    }
}

/// CPU time and elapsed time of each pass.
type Times = Vec<(Duration, Duration)>;

/// Formats the speed-up of two threads over one: by the CPU time of each, and by elapsed time.
pub fn threads(rows: &[(&str, Times, Times)]) -> String {
    let mut text = format!(
        "\n{:<46}{:>10}{:>10}\n",
        "two threads, times the speed of one", "CPU time", "wall clock"
    );
    for (title, one, two) in rows {
        let ratio = |time: fn(&(Duration, Duration)) -> Duration| {
            median(one.iter().map(time)) / median(two.iter().map(time))
        };
        let _ = writeln!(
            text,
            "{title:<46}{:>10.2}{:>10.2}",
            ratio(|times| times.0),
            ratio(|times| times.1)
        );
    }
    text
}

/// Returns the median in microseconds.
fn median(times: impl Iterator<Item = Duration>) -> f64 {
    let times: Vec<Duration> = times.collect();
    crate::bench::figures::quantile_of_times(&times, 50) * 1_000.0
}
