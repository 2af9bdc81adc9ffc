//! The bundled coverage plugin: probes where JaCoCo puts them, numbered as JaCoCo numbers them.
//!
//! The placement itself is `coverage::flow`, which the reports use too, so what
//! is recorded and what is analysed agree by construction. This crate asks the
//! host for a method's flow, places, and turns placements into sites: about
//! seven questions per method, one request for probes per class.

use std::cell::RefCell;

use classhook_sdk::prelude::*;
use coverage::flow::{Flow, FlowHandler, FlowInstruction, FlowLine, FlowMethod, Placement};

const TABLESWITCH: u8 = 0xaa;
const LOOKUPSWITCH: u8 = 0xab;

/// The plugin takes no configuration; whatever is given is refused by name.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {}

/// Sets JaCoCo's probes in every method that has code.
pub struct Coverage {
    /// Buffers only: what is in them never outlives a method.
    scratch: RefCell<Scratch>,
}

#[derive(Default)]
struct Scratch {
    flow: Flow,
    instructions: Vec<FlowInstruction>,
    switch_targets: Vec<u16>,
    switch_lengths: Vec<u32>,
    lines: Vec<FlowLine>,
    handlers: Vec<FlowHandler>,
}

impl Transformer for Coverage {
    type Config = Settings;

    fn new(_: Settings) -> Result<Self> {
        Ok(Self {
            scratch: RefCell::default(),
        })
    }

    fn transform(&self, class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
        let scratch = &mut *self.scratch.borrow_mut();
        let mut sites = Vec::new();
        for method in class.methods_with_code() {
            scratch.read(&method)?;
            match scratch.place() {
                Ok(placements) => append_sites(&method, placements, &mut sites)?,
                Err(subroutine) => {
                    plan.note(method.entry(), &format!("not measured: {subroutine}"))
                }
            }
        }
        if !sites.is_empty() {
            plan.hit(&sites, b"")?;
        }
        Ok(())
    }
}

impl Scratch {
    /// Asks for the flow of one method.
    fn read(&mut self, method: &MethodView<'_>) -> Result {
        self.instructions.clear();
        self.switch_targets.clear();
        self.switch_lengths.clear();
        for Instruction {
            bci,
            opcode,
            operand,
        } in method.instructions()?
        {
            self.instructions.push(FlowInstruction {
                bci,
                opcode,
                target: operand as u16,
            });
            if matches!(opcode, TABLESWITCH | LOOKUPSWITCH) {
                let targets = method.switch_targets(bci);
                self.switch_lengths.push(targets.len() as u32);
                self.switch_targets.extend(targets);
            }
        }
        self.lines.clear();
        self.lines
            .extend(method.lines().iter().map(|line| FlowLine {
                bci: line.bci,
                number: line.number,
            }));
        self.handlers.clear();
        self.handlers
            .extend(method.handlers().iter().map(|row| FlowHandler {
                start: row.start,
                target: row.target,
            }));
        Ok(())
    }

    fn place(&mut self) -> std::result::Result<&[Placement], coverage::flow::Subroutine> {
        self.flow.place(&FlowMethod {
            instructions: &self.instructions,
            switch_targets: &self.switch_targets,
            switch_lengths: &self.switch_lengths,
            lines: &self.lines,
            handlers: &self.handlers,
        })
    }
}

/// Asks for all sites of a kind at once and appends them in the order of the placements.
fn append_sites(
    method: &MethodView<'_>,
    placements: &[Placement],
    sites: &mut Vec<Site>,
) -> Result {
    let (mut before, mut fall_throughs, mut jumps) = (Vec::new(), Vec::new(), Vec::new());
    for placement in placements {
        match *placement {
            Placement::Before(bci) => before.push(bci),
            Placement::FallThrough(bci) => fall_throughs.push(bci),
            Placement::Jump { source, target } => jumps.push(Jump { source, target }),
        }
    }
    let mut before = ask(&before, |at| method.before(at))?;
    let mut fall_throughs = ask(&fall_throughs, |at| method.fall_throughs(at))?;
    let mut jumps = ask(&jumps, |at| method.jumps(at))?;
    for placement in placements {
        let next = match placement {
            Placement::Before(_) => before.next(),
            Placement::FallThrough(_) => fall_throughs.next(),
            Placement::Jump { .. } => jumps.next(),
        };
        sites.extend(next);
    }
    Ok(())
}

/// The sites for a list of places; an empty list costs no question.
fn ask<T>(
    at: &[T],
    question: impl FnOnce(&[T]) -> std::result::Result<Vec<Site>, Failure>,
) -> Result<std::vec::IntoIter<Site>> {
    let sites = if at.is_empty() {
        Vec::new()
    } else {
        question(at)?
    };
    Ok(sites.into_iter())
}

classhook_sdk::export!(Coverage);
