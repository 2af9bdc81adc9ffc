//! The bundled coverage plugin: probes where JaCoCo puts them, numbered as JaCoCo numbers them.
//!
//! The placement itself is `coverage::flow`, which the reports use too, so what
//! is recorded and what is analysed agree by construction. This crate asks the
//! host for the code of a class, and for hits where the flow places them: two
//! questions for most classes.
//!
//! As the plugin `coverage-lines` it sets a probe where each line begins instead, which
//! tells lines that ended with an exception from those that were not reached; as the plugin
//! `coverage-counts` it counts there how often each line begins.

use std::cell::RefCell;

use classhook_sdk::prelude::*;
use coverage::flow::{Flow, FlowMethod, Placement, Unplaced};

/// Which probes are set; whatever else is given is refused by name.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Only where lines begin, as the plugin `coverage-lines`.
    #[serde(default)]
    lines: bool,
    /// Only counters where lines begin, as the plugin `coverage-counts`.
    #[serde(default)]
    counts: bool,
}

/// Sets probes in every method that has code.
pub struct Coverage {
    /// Where lines begin, instead of where JaCoCo puts them.
    lines: bool,
    /// Whether these are counters.
    counts: bool,
    /// Buffers only: what is in them never outlives a class.
    scratch: RefCell<Scratch>,
}

#[derive(Default)]
struct Scratch {
    flow: Flow,
    /// Of all probes of a class.
    places: Vec<Place>,
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
        let Scratch { flow, places } = &mut *self.scratch.borrow_mut();
        places.clear();
        class.each_raw_code(|code| {
            let method = FlowMethod {
                code: code.bytes(),
                lines: code.line_rows(),
                handlers: code.handler_rows(),
            };
            match flow.place(&method) {
                Ok(_) if self.lines => {
                    places.extend(flow.line_starts().map(|bci| code.place(At::Before(bci))));
                }
                Ok(placements) => places.extend(placements.iter().map(|at| code.place(place(*at)))),
                Err(Unplaced::Subroutine(_)) if self.lines => {} // the other plugin reports it
                Err(Unplaced::Subroutine(subroutine)) => {
                    let entry = class.sites(&[code.place(At::Entry)])?;
                    let text = format!("not measured: {subroutine}");
                    entry.into_iter().for_each(|site| plan.note(site, &text));
                }
                Err(unplaced) => {
                    // The host refuses with the name of the method.
                    class.sites(&[code.place(At::Before(0))])?;
                    return Err(unplaced.to_string().into());
                }
            }
            Ok(())
        })?;
        if places.is_empty() {
            return Ok(());
        }
        if self.counts {
            plan.count(&class.sites(places)?, b"")?;
        } else {
            plan.hit_places(places, b"")?;
        }
        Ok(())
    }
}

fn place(placement: Placement) -> At {
    match placement {
        Placement::Before(bci) => At::Before(bci),
        Placement::FallThrough(bci) => At::FallThrough(bci),
        Placement::Jump { source, target } => At::Jump(source, target),
    }
}

classhook_sdk::export!(Coverage);
