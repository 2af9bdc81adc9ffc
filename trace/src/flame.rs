//! Flame graphs: an interactive SVG with search and zoom.

use std::io::{self, Write};

use inferno::flamegraph::{self, Options};

use crate::stacks::Stacks;

/// The narrowest drawn frame is one part in this number of the whole graph.
const NARROWEST: u64 = 10_000;
/// Maximum length of all stacks of a graph, in bytes. Beyond it, wider frames are left out, too.
const MAX_BYTES: u64 = 24 << 20;

/// The texts of a flame graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Labels<'a> {
    /// First line.
    pub title: &'a str,
    /// Second line.
    pub subtitle: &'a str,
    /// The unit of the widths.
    pub unit: &'a str,
    /// Draws differences: colours show increase and decrease.
    pub is_difference: bool,
}

impl<'a> Labels<'a> {
    /// Returns the labels of traced calls; widths are nanoseconds.
    #[must_use]
    pub fn of_calls(title: &'a str) -> Self {
        Self {
            title,
            subtitle: "Time in traced methods, all threads together",
            unit: "ns",
            is_difference: false,
        }
    }
}

/// Writes a flame graph.
///
/// # Errors
/// `out` cannot be written, or there are no stacks.
pub fn write(
    stacks: &Stacks,
    labels: Labels<'_>,
    out: &mut (impl Write + ?Sized),
) -> io::Result<()> {
    let totals = stacks.totals();
    let (lines, left_out) = drawn(stacks, &totals, labels.is_difference)?;
    let mut subtitle = labels.subtitle.to_owned();
    if labels.is_difference {
        subtitle.push_str(", red for an increase, blue for a decrease");
    }
    if let Some(share) = left_out {
        subtitle.push_str(&format!("; frames below {share:.2} % are left out"));
    }
    if let Some(left_out) = stacks.left_out() {
        subtitle.push_str(&format!("; {left_out}"));
    }
    let mut options = Options::default();
    labels.title.clone_into(&mut options.title);
    options.subtitle = Some(subtitle);
    labels.unit.clone_into(&mut options.count_name);
    options.deterministic = true;
    flamegraph::from_lines(&mut options, lines.lines(), out).map_err(io::Error::other)
}

/// Returns the drawn stacks as lines, and the minimum share of a frame in percent. The share is `None` if only frames
/// are missing that no graph draws.
fn drawn(
    stacks: &Stacks,
    totals: &[[u64; 2]],
    is_difference: bool,
) -> io::Result<(String, Option<f64>)> {
    let whole = stacks.whole(totals);
    let mut parts = NARROWEST;
    loop {
        let least = (whole / parts).max(1);
        let mut lines = Lines {
            is_difference,
            least,
            ..Lines::default()
        };
        stacks.each(totals, least, &mut |path, own| {
            lines.take(path, own);
            Ok(())
        })?;
        if lines.bytes <= MAX_BYTES || parts == 1 {
            let share = 100.0 / parts as f64;
            return Ok((lines.text, (parts < NARROWEST).then_some(share)));
        }
        parts /= 2;
    }
}

/// Collects lines of stacks up to a limit.
#[derive(Debug, Default)]
struct Lines {
    is_difference: bool,
    least: u64,
    text: String,
    /// Total length of all paths in bytes, with or without a line.
    bytes: u64,
    /// Numbers too low for a separate line. The next line gets them, which belongs to a caller. So a frame is wider
    /// by less than the narrowest one.
    carried: [u64; 2],
}

impl Lines {
    fn take(&mut self, path: &str, own: [u64; 2]) {
        for (carried, own) in self.carried.iter_mut().zip(own) {
            *carried = carried.saturating_add(own);
        }
        if self.carried.iter().all(|carried| *carried < self.least) {
            return;
        }
        let [before, after] = std::mem::take(&mut self.carried);
        self.bytes += path.len() as u64;
        if self.bytes > MAX_BYTES {
            return;
        }
        self.text.push_str(path);
        let numbers = match self.is_difference {
            true => format!(" {before} {after}\n"),
            false => format!(" {after}\n"),
        };
        self.text.push_str(&numbers);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stacks::{Shape, Side};

    /// Creates a chain of frames with long names, a microsecond each.
    fn chain(depth: usize) -> Stacks {
        let mut stacks = Stacks::new(Shape {
            depth,
            ..Shape::default()
        });
        let mut node = None;
        for frame in 0..depth {
            let name = stacks.name(&format!("com.acme.some.package.Class{frame}.method"));
            let below = stacks.below(node, name, frame + 1);
            stacks.add(below, Side::After, 1_000);
            node = Some(below);
        }
        stacks
    }

    #[test]
    fn graph_of_deep_stacks_keeps_its_width_and_mentions_missing_frames() {
        let stacks = chain(8_000);
        let (lines, share) = drawn(&stacks, &stacks.totals(), false).unwrap();
        assert!(lines.len() < 2 * MAX_BYTES as usize, "{}", lines.len());
        let numbers = lines.lines().filter_map(|line| line.rsplit(' ').next());
        let sum: u64 = numbers
            .filter_map(|number| number.parse::<u64>().ok())
            .sum();
        assert_eq!(sum, 8_000_000);
        assert!(share.is_some_and(|share| share > 0.01), "{share:?}");
        let mut svg = Vec::new();
        write(&stacks, Labels::of_calls("deep"), &mut svg).unwrap();
        let svg = String::from_utf8(svg).unwrap();
        assert!(svg.contains("are left out"));
    }

    #[test]
    fn differences_have_colours_and_both_numbers() {
        let mut stacks = chain(2);
        let name = stacks.name("com.acme.some.package.Class0.method");
        let outer = stacks.below(None, name, 1);
        stacks.add(outer, Side::Before, 5_000);
        let labels = Labels {
            is_difference: true,
            ..Labels::of_calls("two runs")
        };
        let mut svg = Vec::new();
        write(&stacks, labels, &mut svg).unwrap();
        let svg = String::from_utf8(svg).unwrap();
        assert!(svg.contains("red for an increase"), "{svg}");
        let (lines, _) = drawn(&stacks, &stacks.totals(), true).unwrap();
        assert!(
            lines.starts_with("com.acme.some.package.Class0.method 5000 1000\n"),
            "{lines}"
        );
    }
}
