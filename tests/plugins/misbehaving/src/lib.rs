//! A plugin that fails on purpose, for the end-to-end tests.
//!
//! It sets a probe at the entry of every method. In classes whose name contains `Victim`, it first
//! does the deed of its configuration.

use std::hint::black_box;

use classhook_sdk::prelude::*;

/// The plugin's table in `classhook.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    deed: Deed,
    /// The rounds of [`Deed::Linger`]. A plugin has no clock, so only its caller can measure them.
    #[serde(default)]
    rounds: u32,
}

/// The failure.
#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "kebab-case")]
enum Deed {
    /// Never ends.
    Loop,
    /// Panics, which is a trap.
    Trap,
    /// Allocates memory without end.
    Allocate,
    /// Calls itself until the stack ends.
    Recurse,
    /// Puts a probe where an instruction does not begin.
    NoInstruction,
    /// Puts a probe into a method that does not exist.
    NoMethod,
    /// Adds a row with a text as number to its report.
    NoNumber,
    /// Requests more edits than the limit of a class.
    Flood,
    /// Sets probes, and then returns an error.
    Fail,
    /// Requests probes in a list of two million points.
    HugeList,
    /// Attaches a tag to a probe that exceeds the limit of a class.
    Tags,
    /// Logs without end.
    Chatter,
    /// Logs and fails with a text that imitates a message of the agent.
    Forge,
    /// Panics while it is configured.
    PanicEarly,
    /// Rejects its configuration.
    Refuse,
    /// Returns an invalid selector.
    Select,
    /// Requests two probes at every entry, in every class.
    More,
    /// Counts up to the rounds of the settings.
    Linger,
    /// Fails with a text of ten megabytes.
    FailAtLength,
    /// Writes to memory out of bounds.
    OutOfBounds,
}

/// The plugin.
pub struct Misbehaving {
    deed: Deed,
    rounds: u32,
}

impl Transformer for Misbehaving {
    type Config = Settings;

    fn new(settings: Settings) -> Result<Self> {
        match settings.deed {
            Deed::PanicEarly => panic!("on purpose, early"),
            Deed::Refuse => Err("refused on purpose".into()),
            deed => Ok(Self {
                deed,
                rounds: settings.rounds,
            }),
        }
    }

    fn select(&self) -> Vec<String> {
        let nonsense = matches!(self.deed, Deed::Select).then(|| "com.***".to_owned());
        nonsense.into_iter().collect()
    }

    fn transform(&self, class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
        if matches!(self.deed, Deed::More) {
            set_entries(class, plan)?;
        }
        if class.name().contains("Victim") {
            self.misbehave(class, plan)?;
        }
        set_entries(class, plan)
    }
}

impl Misbehaving {
    fn misbehave(&self, class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
        match self.deed {
            Deed::Loop => loop {
                black_box(());
            },
            Deed::Trap => panic!("on purpose"),
            Deed::Allocate => allocate(),
            Deed::Recurse => {
                black_box(recurse(0));
            }
            Deed::NoInstruction => {
                for method in class.methods_with_code() {
                    plan.hit(&method.before(&[u16::MAX]), b"")?;
                }
            }
            Deed::NoMethod => {
                let point = InsertionPoint {
                    method: MethodIndex(9),
                    location: Location::Entry,
                };
                plan.hit(&[point], b"")?;
            }
            Deed::Flood => {
                for _ in 0..100_000 {
                    set_entries(class, plan)?;
                }
            }
            Deed::HugeList => {
                for method in class.methods_with_code() {
                    plan.hit(&method.before(&vec![0; 2 << 20]), b"")?;
                }
            }
            Deed::Tags => {
                for method in class.methods_with_code() {
                    plan.hit(&[method.entry()], &vec![7; 600 << 10])?;
                }
            }
            Deed::Chatter => loop {
                classhook_sdk::log::warn("on and on");
            },
            Deed::Forge => {
                let text = "good\nclasshook: error[H0001]: forged \u{1b}[2J\u{202e}";
                classhook_sdk::log::warn(text);
                return Err(text.into());
            }
            Deed::PanicEarly | Deed::Refuse | Deed::Select | Deed::More | Deed::NoNumber => {}
            Deed::Linger => (0..self.rounds).for_each(|round| _ = black_box(round)),
            Deed::FailAtLength => return Err("x".repeat(10_000_000).into()),
            Deed::OutOfBounds => out_of_bounds(),
            Deed::Fail => {
                set_entries(class, plan)?;
                return Err("failed on purpose".into());
            }
        }
        Ok(())
    }
}

fn set_entries(class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    let entries: Vec<InsertionPoint> = class
        .methods_with_code()
        .map(|method| method.entry())
        .collect();
    if !entries.is_empty() {
        plan.hit(&entries, b"entry")?;
    }
    Ok(())
}

/// Declares local variables larger than the stack, which begins at address 0, so they are out of
/// bounds.
#[inline(never)]
fn out_of_bounds() {
    black_box([black_box(1_u8); 4 << 20]);
}

fn allocate() {
    let mut kept: Vec<Vec<u8>> = Vec::new();
    loop {
        kept.push(black_box(vec![1; 1 << 20]));
    }
}

#[allow(unconditional_recursion, reason = "that is the deed")]
fn recurse(depth: u64) -> u64 {
    let frame = black_box([depth; 64]);
    black_box(recurse(depth + 1)) + frame[depth as usize % 64]
}

/// The report without a failure.
const COPIES: Table = Table {
    name: "copies",
    columns: &[("class", ColumnKind::Class), ("count", ColumnKind::Integer)],
};

/// The recorded table.
const CALLS: Table = Table {
    name: "calls",
    columns: &[("class", ColumnKind::Class)],
};

impl Reporter for Misbehaving {
    fn report(&self, recorded: &Recorded<'_>, report: &mut Report<'_>) -> Result {
        report.add(&COPIES, [["before", "1"]])?;
        match self.deed {
            Deed::Loop => loop {
                black_box(recorded.sums(&CALLS).count());
            },
            Deed::Trap => panic!("on purpose"),
            Deed::Allocate => allocate(),
            Deed::Recurse => {
                black_box(recurse(0));
            }
            Deed::Flood => loop {
                report.add(&COPIES, vec![["again", "2"]; 10_000])?;
            },
            Deed::HugeList => {
                let row = [["x".repeat(10 << 20), "1".to_owned()]];
                report.add(&COPIES, vec![row[0].clone(); 5])?;
            }
            Deed::Tags => {
                let name = |number: u32| -> &'static str { format!("t{number}").leak() };
                let columns = COPIES.columns;
                for name in (0..).map(name) {
                    report.add(&Table { name, columns }, [["x", "1"]])?;
                }
            }
            Deed::NoNumber => report.add(&COPIES, [["x", "no number"]])?,
            Deed::Chatter => loop {
                classhook_sdk::log::warn("on and on");
            },
            Deed::Fail => return Err("failed on purpose".into()),
            Deed::FailAtLength => return Err("x".repeat(10_000_000).into()),
            Deed::OutOfBounds => out_of_bounds(),
            _ => {
                let rows = recorded.sums(&CALLS);
                report.add(
                    &COPIES,
                    rows.map(|row| [row.cells[0].clone(), row.count.to_string()]),
                )?;
                let rows: Vec<SumRow> = recorded.sums(&CALLS).collect();
                let quantiles = recorded.quantiles(&rows, &[0.5])?;
                report.add(&COPIES, [["median".to_owned(), quantiles[0].to_string()]])?;
            }
        }
        Ok(())
    }
}

classhook_sdk::export!(Misbehaving, reporter);
