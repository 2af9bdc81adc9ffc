//! The plan of the coverage plugin, made without the plugin.

use coverage::flow::{Flow, FlowMethod, Placement, Unplaced};
use rewriter::{Bci, ClassFile, Code, EditPlan, InsertionPoint, Location, PlanBuilder};

use super::plans;

/// Returns JaCoCo's probes, in every method with code and without subroutines.
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

fn place(flow: &mut Flow, code: &Code<'_, '_>) -> Result<Vec<Placement>, Unplaced> {
    let lines: Vec<_> = code.line_rows().flatten().copied().collect();
    let placed = flow.place(&FlowMethod {
        code: code.bytes(),
        lines: &lines,
        handlers: code.exception_rows(),
    });
    match placed {
        Ok(placements) => Ok(placements.to_vec()),
        Err(Unplaced::Subroutine(_)) => Ok(Vec::new()),
        Err(unplaced) => Err(unplaced),
    }
}
