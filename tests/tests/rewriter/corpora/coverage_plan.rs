//! The plan that the coverage plugin makes, without the plugin.

use coverage::flow::{Flow, FlowHandler, FlowInstruction, FlowLine, FlowMethod, Placement};
use rewriter::{Bci, ClassFile, Code, EditPlan, InsertionPoint, Location, PlanBuilder};

use super::plans;

/// JaCoCo's probes, in every method that has code and no subroutines.
pub fn plan(class: &ClassFile<'_>) -> Result<EditPlan, String> {
    let mut builder = PlanBuilder::new(class);
    let (mut flow, mut probe) = (Flow::new(), 0);
    for method in class.methods() {
        let Some(code) = method.code().map_err(|error| error.to_string())? else {
            continue;
        };
        let placements = place(&mut flow, &code).map_err(|error| error.to_string())?;
        for placement in placements {
            let place = match placement {
                Placement::FallThrough(bci) => Location::FallThrough(Bci(bci)),
                Placement::Before(bci) => Location::Before(Bci(bci)),
                Placement::Jump { source, target } => Location::Jump {
                    source: Bci(source),
                    target: Bci(target),
                },
            };
            let site = InsertionPoint {
                method: method.index(),
                location: place,
            };
            builder
                .hit(site, probe)
                .map_err(|error| error.to_string())?;
            probe = (probe + 1) % plans::PROBES;
        }
    }
    Ok(builder.finish())
}

fn place(
    flow: &mut Flow,
    code: &Code<'_, '_>,
) -> Result<Vec<Placement>, Box<dyn std::error::Error>> {
    let (mut instructions, mut switch_targets, mut switch_lengths) =
        (Vec::new(), Vec::new(), Vec::new());
    for instruction in code.instructions() {
        let instruction = instruction?;
        let target = instruction.branch_target().map_or(0, |target| target.0);
        instructions.push(FlowInstruction {
            bci: instruction.bci.0,
            opcode: instruction.opcode,
            target,
        });
        if let Some(switch) = instruction.switch() {
            let before = switch_targets.len();
            switch_targets.extend(switch.targets().map(|target| target.0));
            switch_lengths.push(u32::try_from(switch_targets.len() - before)?);
        }
    }
    let lines: Vec<FlowLine> = code
        .lines()
        .map(|line| FlowLine {
            bci: line.bci.0,
            number: line.number,
        })
        .collect();
    let handlers: Vec<FlowHandler> = code
        .exception_table()
        .map(|row| FlowHandler {
            start: row.start.0,
            target: row.handler.0,
        })
        .collect();
    let placed = flow.place(&FlowMethod {
        instructions: &instructions,
        switch_targets: &switch_targets,
        switch_lengths: &switch_lengths,
        lines: &lines,
        handlers: &handlers,
    });
    Ok(placed.map(<[_]>::to_vec).unwrap_or_default())
}
