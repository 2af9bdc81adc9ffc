//! The figures of all measurements as one table: ours beside a peer, in one run.
//!
//! The last ones are kept as JSON in `target/bench/figures.json`. `cargo xtask bench table --docs` writes them to
//! docs/performance.json, and generates the table of docs/performance.md from that file alone.

use crate::workspace::{Workspace, write_atomically};
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The cost of one tool: the quartiles of a measurement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    pub tool: String,
    pub low: f64,
    pub median: f64,
    pub high: f64,
}

impl Cost {
    /// The quartiles of values in any order; NaN without values.
    pub fn of(tool: &str, values: impl IntoIterator<Item = f64>) -> Self {
        let mut sorted: Vec<f64> = values.into_iter().collect();
        sorted.sort_by(f64::total_cmp);
        let [low, median, high] = [25, 50, 75].map(|percent| quantile(&sorted, percent));
        Self {
            tool: tool.to_owned(),
            low,
            median,
            high,
        }
    }

    /// The quartiles of times, in milliseconds.
    pub fn of_times(tool: &str, times: impl IntoIterator<Item = Duration>) -> Self {
        Self::of(tool, times.into_iter().map(milliseconds))
    }
}

/// Converts a time to milliseconds.
pub fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}

/// Returns a quantile of times in any order, in milliseconds.
pub fn quantile_of_times(times: &[Duration], percent: u32) -> f64 {
    let mut sorted: Vec<f64> = times.iter().copied().map(milliseconds).collect();
    sorted.sort_by(f64::total_cmp);
    quantile(&sorted, percent)
}

/// One property that was measured for ours and for a peer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// The measurement: `startup` is made by `cargo xtask bench startup`.
    pub bench: String,
    /// Release of the JDK.
    pub jdk: u32,
    /// The property and its unit.
    pub what: String,
    pub unit: String,
    pub ours: Cost,
    pub peer: Cost,
}

impl Figure {
    /// Our cost as a share of the peer's: less is better.
    pub fn ratio(&self) -> f64 {
        self.ours.median / self.peer.median
    }

    fn is_of(&self, other: &Self) -> bool {
        let key = |figure: &Self| {
            let tools = [&figure.ours.tool, &figure.peer.tool].map(Clone::clone);
            let (bench, what) = (figure.bench.clone(), figure.what.clone());
            (bench, figure.jdk, what, tools)
        };
        key(self) == key(other)
    }
}

/// Returns a quantile of sorted values, interpolated between neighbours; NaN without values.
fn quantile(sorted: &[f64], percent: u32) -> f64 {
    let last = f64::from(u32::try_from(sorted.len().saturating_sub(1)).unwrap_or(0));
    let place = last * f64::from(percent) / 100.0;
    let at = |place: f64| sorted.get(place as usize).copied().unwrap_or(f64::NAN);
    let (below, above) = (at(place.floor()), at(place.ceil()));
    below + (above - below) * place.fract()
}

/// Returns the path of the last figures.
fn kept_in(workspace: &Workspace) -> PathBuf {
    workspace.target("bench").join("figures.json")
}

/// Replaces older figures of the same properties, and prints the fresh ones as one table, if there are any.
pub fn keep(workspace: &Workspace, fresh: &[Figure]) -> Result<()> {
    if fresh.is_empty() {
        return Ok(());
    }
    let file = kept_in(workspace);
    let mut figures = if file.is_file() {
        read(&file)?
    } else {
        Vec::new()
    };
    figures.retain(|kept| !fresh.iter().any(|fresh| fresh.is_of(kept)));
    figures.extend_from_slice(fresh);
    write(&file, &figures)?;
    print!("\n{}\nkept in {}\n", table(fresh), file.display());
    Ok(())
}

/// Prints the last figures of each measurement, and writes them to the documents on request.
pub fn show(workspace: &Workspace, to_documents: bool) -> Result<()> {
    let file = kept_in(workspace);
    let figures = read(&file).context("nothing was measured yet: `cargo xtask bench all`")?;
    print!("{}", table(&figures));
    if to_documents {
        write(&workspace.root().join(PUBLISHED), &figures)?;
        let page = workspace.root().join(PAGE);
        let text = std::fs::read_to_string(&page)?;
        let text = with_table(&text, &figures).with_context(|| page.display().to_string())?;
        write_atomically(&page, text.as_bytes())?;
    }
    Ok(())
}

const PUBLISHED: &str = "docs/performance.json";
/// The document with the table.
pub const PAGE: &str = "docs/performance.md";
const BEGIN: &str =
    "<!-- table of docs/performance.json, written by `cargo xtask bench table --docs` -->\n";
const END: &str = "<!-- end of the table -->\n";

/// Checks whether the page's table is the one of the published figures.
pub fn page_is_up_to_date(root: &Path) -> Result<bool> {
    let text = std::fs::read_to_string(root.join(PAGE))?;
    Ok(with_table(&text, &read(&root.join(PUBLISHED))?)? == text)
}

fn with_table(text: &str, figures: &[Figure]) -> Result<String> {
    let parts = text.split_once(BEGIN).and_then(|(before, behind)| {
        let (_, after) = behind.split_once(END)?;
        Some((before, after))
    });
    let (before, after) = parts.with_context(|| format!("expected {BEGIN:?} … {END:?}"))?;
    Ok(format!("{before}{BEGIN}{}{END}{after}", markdown(figures)))
}

fn read(file: &Path) -> Result<Vec<Figure>> {
    let text = std::fs::read_to_string(file)
        .with_context(|| format!("failed to read {}", file.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} holds no figures", file.display()))
}

fn write(file: &Path, figures: &[Figure]) -> Result<()> {
    let mut text = serde_json::to_string_pretty(figures)?;
    text.push('\n');
    write_atomically(file, text.as_bytes())
}

const HEADS: [&str; 5] = ["task", "what", "ours", "peer", "ratio"];

/// Formats the table for a terminal.
fn table(figures: &[Figure]) -> String {
    let rows: Vec<_> = figures.iter().map(cells).collect();
    let mut widths = HEADS.map(|head| head.chars().count());
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut text = String::new();
    for row in std::iter::once(&HEADS.map(str::to_owned)).chain(&rows) {
        let padded = row.iter().zip(widths);
        let line = padded.fold(String::new(), |mut line, (cell, width)| {
            let _ = write!(line, "{cell:<width$}  ");
            line
        });
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

fn markdown(figures: &[Figure]) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let mut text = line(&HEADS.map(str::to_owned));
    text.push_str(&line(&HEADS.map(|_| "---".to_owned())));
    text.extend(figures.iter().map(|figure| line(&cells(figure))));
    text
}

fn cells(figure: &Figure) -> [String; 5] {
    let cost = |cost: &Cost| {
        let [low, median, high] = [cost.low, cost.median, cost.high].map(short);
        format!("{}: {median} {} ({low} to {high})", cost.tool, figure.unit)
    };
    [
        figure.bench.clone(),
        format!("{}, JDK {}", figure.what, figure.jdk),
        cost(&figure.ours),
        cost(&figure.peer),
        format!("{:.3}", figure.ratio()),
    ]
}

/// Formats three digits, or all digits before the point.
fn short(value: f64) -> String {
    let decimals = match value.abs() {
        small if small < 10.0 => 2,
        middle if middle < 100.0 => 1,
        _ => 0,
    };
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(what: &str, ours: &[f64], peer: &[f64]) -> Figure {
        Figure {
            bench: "startup".to_owned(),
            jdk: 17,
            what: what.to_owned(),
            unit: "ms".to_owned(),
            ours: Cost::of("Classhook", ours.iter().copied()),
            peer: Cost::of("JaCoCo", peer.iter().copied()),
        }
    }

    #[test]
    fn quantile_lies_between_neighbours() {
        let sorted = [1.0, 2.0, 3.0, 4.0];
        assert_eq!(quantile(&sorted, 0), 1.0);
        assert_eq!(quantile(&sorted, 50), 2.5);
        assert_eq!(quantile(&sorted, 100), 4.0);
        assert!(quantile(&[], 50).is_nan());
    }

    #[test]
    fn page_shows_the_published_figures_and_keeps_its_text() {
        let old = format!("before\n{BEGIN}old\n{END}after\n");
        let figures = [figure("javac", &[3.0, 1.0, 2.0], &[40.0, 4.0, 400.0])];
        let text = with_table(&old, &figures).expect("both marks");
        assert!(text.starts_with("before\n") && text.ends_with("after\n") && !text.contains("old"));
        let row = "| startup | javac, JDK 17 | Classhook: 2.00 ms (1.50 to 2.50) | JaCoCo: 40.0 ms (22.0 to 220) | 0.050 |\n";
        assert!(text.contains(row), "{text}");
        assert_eq!(with_table(&text, &figures).expect("both marks"), text);
        assert!(with_table("no marks", &figures).is_err());
    }

    #[test]
    fn fresh_figures_replace_older_ones_of_the_same_property() {
        let [old, new, other] = [
            figure("javac", &[1.0], &[2.0]),
            figure("javac", &[3.0], &[2.0]),
            figure("hello", &[1.0], &[2.0]),
        ];
        assert!(new.is_of(&old) && !other.is_of(&old));
    }
}
