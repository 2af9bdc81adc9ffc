//! No agent, JaCoCo and Classhook in turn: the cost of each, printed as ratios to no agent.

use crate::bench::figures::{Cost, Figure};

/// The agent of the JVM.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Variant {
    None,
    Jacoco,
    Classhook,
}

/// All variants, with their names in tables.
pub const VARIANTS: [(Variant, &str); 3] = [
    (Variant::None, "no agent"),
    (Variant::Jacoco, "JaCoCo 0.8.15"),
    (Variant::Classhook, "Classhook"),
];

/// A value for each run, by variant, in the order of [`VARIANTS`].
pub type Runs<T> = [Vec<T>; VARIANTS.len()];

/// A column of the table: its title, its unit, and its value in a run, if the run has one.
pub type Column<T> = (&'static str, &'static str, fn(&T) -> Option<f64>);

/// The subject of a comparison, and its JDK.
pub struct Subject<'a> {
    /// The measurement, as in [`Figure::bench`].
    pub bench: &'a str,
    pub title: &'a str,
    /// Release of the JDK.
    pub jdk: u32,
}

impl Subject<'_> {
    /// Prints a table of medians, quartiles and ratios to no agent. Returns the figures of ours beside JaCoCo.
    pub fn compare<T>(&self, columns: &[Column<T>], runs: &Runs<T>) -> Vec<Figure> {
        println!("\n{} on JDK {}", self.title, self.jdk);
        let figures = columns.iter().filter_map(|column| {
            let costs = costs(column, runs);
            print_column(column, &costs);
            self.figure(column, costs)
        });
        figures.collect()
    }

    fn figure<T>(&self, (column, unit, _): &Column<T>, costs: [Cost; 3]) -> Option<Figure> {
        let [_, peer, ours] = costs;
        let is_measured = peer.median.is_finite();
        is_measured.then(|| Figure {
            bench: self.bench.to_owned(),
            jdk: self.jdk,
            what: format!("{}: {column}", self.title),
            unit: (*unit).to_owned(),
            ours,
            peer,
        })
    }
}

fn costs<T>((_, _, value): &Column<T>, [none, jacoco, ours]: &Runs<T>) -> [Cost; 3] {
    let [of_none, of_jacoco, of_ours] = VARIANTS;
    let runs = [(of_none, none), (of_jacoco, jacoco), (of_ours, ours)];
    runs.map(|((_, tool), runs)| Cost::of(tool, runs.iter().filter_map(value)))
}

fn print_column<T>((column, unit, _): &Column<T>, costs: &[Cost; 3]) {
    let [none, ..] = costs;
    let what = format!("{column}, {unit}");
    for cost in costs.iter().filter(|cost| cost.median.is_finite()) {
        let ratio = match cost.median / none.median {
            ratio if ratio.is_finite() => format!("{ratio:.3}"),
            _ => String::new(),
        };
        let quartiles = format!("{:.2} to {:.2}", cost.low, cost.high);
        println!(
            "{what:<36}{:<16}{:>9.2}{quartiles:>20}{ratio:>8}",
            cost.tool, cost.median
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn column_without_values_makes_no_figure() {
        let subject = Subject {
            bench: "coverage",
            title: "a program",
            jdk: 17,
        };
        let columns: [Column<f64>; 2] = [
            ("CPU time", "s", |run| Some(*run)),
            ("CPU time of the report", "s", |_| None),
        ];
        let runs = [vec![1.0, 3.0, 2.0], vec![6.0], vec![4.0, 5.0]];
        let figures = subject.compare(&columns, &runs);
        let [figure] = figures.as_slice() else {
            panic!("one figure, found {figures:?}");
        };
        assert_eq!(figure.what, "a program: CPU time");
        assert_eq!((figure.ours.median, figure.peer.median), (4.5, 6.0));
    }
}
