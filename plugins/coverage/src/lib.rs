//! The bundled coverage plugin: probes where JaCoCo puts them, numbered as JaCoCo numbers them.
//!
//! The placement itself is `coverage::flow`, which the reports use too, so what
//! is recorded and what is analysed agree by construction. This crate asks the
//! host for the code of a class, places, and turns placements into sites: three
//! questions for most classes.

use std::cell::RefCell;

use classhook_sdk::opcode::is_switch;
use classhook_sdk::prelude::*;
use coverage::flow::{Flow, FlowHandler, FlowInstruction, FlowLine, FlowMethod, Placement};

/// The plugin takes no configuration; whatever is given is refused by name.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {}

/// Sets JaCoCo's probes in every method that has code.
pub struct Coverage {
    /// Buffers only: what is in them never outlives a class.
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
    /// Of all probes of a class.
    places: Vec<Place>,
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
        let mut places = std::mem::take(&mut scratch.places);
        places.clear();
        class.each_code(|code| {
            scratch.read(code);
            match scratch.place() {
                Ok(placements) => places.extend(placements.iter().map(|at| code.place(place(*at)))),
                Err(subroutine) => {
                    let entry = class.sites(&[code.place(At::Entry)])?;
                    let text = format!("not measured: {subroutine}");
                    entry.into_iter().for_each(|site| plan.note(site, &text));
                }
            }
            Ok(())
        })?;
        if !places.is_empty() {
            plan.hit(&class.sites(&places)?, b"")?;
        }
        scratch.places = places;
        Ok(())
    }
}

impl Scratch {
    /// Takes up what the flow analysis has to know of a method.
    fn read(&mut self, code: &CodeView<'_>) {
        self.instructions.clear();
        self.switch_lengths.clear();
        for Instruction {
            bci,
            opcode,
            operand,
        } in code.instructions()
        {
            self.instructions.push(FlowInstruction {
                bci,
                opcode,
                target: operand as u16,
            });
            if is_switch(opcode) {
                self.switch_lengths.push(operand as u32);
            }
        }
        self.switch_targets.clear();
        self.switch_targets.extend(code.switch_targets());
        self.lines.clear();
        self.lines.extend(code.lines().map(|line| FlowLine {
            bci: line.bci,
            number: line.number,
        }));
        self.handlers.clear();
        self.handlers
            .extend(code.handlers().map(|handler| FlowHandler {
                start: handler.start,
                target: handler.target,
            }));
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

fn place(placement: Placement) -> At {
    match placement {
        Placement::Before(bci) => At::Before(bci),
        Placement::FallThrough(bci) => At::FallThrough(bci),
        Placement::Jump { source, target } => At::Jump(source, target),
    }
}

classhook_sdk::export!(Coverage);
