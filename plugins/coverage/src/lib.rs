//! The bundled coverage plugin: inserts probes at JaCoCo's places with JaCoCo's numbers.
//!
//! `coverage::flow` places the probes, for the reports as well, so recording and analysis agree by
//! construction. This crate requests the code of a class from the host, and hits at the places;
//! most classes need only these two calls.
//!
//! As the plugin `coverage-lines`, it sets a probe at the start of each line instead. Such probes
//! distinguish lines that ended with an exception from lines that were not reached. As the plugin
//! `coverage-counts`, it counts there how often each line is executed.

use std::cell::RefCell;

use classhook_sdk::prelude::*;
use coverage::flow::{Flow, FlowMethod, Placement, Unplaced};

/// The settings; an unknown key is rejected by name.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Sets probes only at line starts, as the plugin `coverage-lines`.
    #[serde(default)]
    lines: bool,
    /// Sets only counters at line starts, as the plugin `coverage-counts`.
    #[serde(default)]
    counts: bool,
}

/// Sets probes in every method that has code.
pub struct Coverage {
    /// Sets probes at line starts, instead of JaCoCo's places.
    lines: bool,
    /// Sets counters instead of hit probes.
    counts: bool,
    /// Reused buffers, whose content belongs to one class.
    scratch: RefCell<Scratch>,
}

#[derive(Default)]
struct Scratch {
    flow: Flow,
    /// The points of all probes of a class.
    points: Vec<InsertionPoint>,
}

impl Transformer for Coverage {
    type Config = Settings;

    fn new(settings: Settings) -> Result<Self> {
        Ok(Self {
            lines: settings.lines || settings.counts,
            counts: settings.counts,
            scratch: RefCell::default(),
        })
    }

    fn transform(&self, class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
        let Scratch { flow, points } = &mut *self.scratch.borrow_mut();
        points.clear();
        class.each_raw_code(|code| {
            let method = FlowMethod {
                code: code.bytes(),
                lines: code.line_rows(),
                handlers: code.handler_rows(),
            };
            match flow.place(&method) {
                Ok(_) if self.lines => {
                    let starts = flow.line_starts().map(|bci| Location::Before(Bci(bci)));
                    points.extend(starts.map(|location| code.point(location)));
                }
                Ok(placements) => {
                    points.extend(placements.iter().map(|at| code.point(location(*at))))
                }
                Err(Unplaced::Subroutine(_)) if self.lines => {} // the other plugin reports it
                Err(Unplaced::Subroutine(subroutine)) => {
                    let text = format!("not measured: {subroutine}");
                    plan.note(code.point(Location::Entry), &text);
                }
                Err(unplaced) => {
                    // The host's error names the method.
                    plan.hit(&[code.point(Location::Before(Bci(0)))], b"")?;
                    return Err(unplaced.to_string().into());
                }
            }
            Ok(())
        })?;
        if points.is_empty() {
            return Ok(());
        }
        if self.counts {
            plan.count(points, b"")?;
        } else {
            plan.hit(points, b"")?;
        }
        Ok(())
    }
}

fn location(placement: Placement) -> Location {
    match placement {
        Placement::Before(bci) => Location::Before(Bci(bci)),
        Placement::FallThrough(bci) => Location::FallThrough(Bci(bci)),
        Placement::Jump { source, target } => Location::Jump {
            source: Bci(source),
            target: Bci(target),
        },
    }
}

classhook_sdk::export!(Coverage);
