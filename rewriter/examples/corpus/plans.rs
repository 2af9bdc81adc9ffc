//! Plans that edit a class everywhere, one for each kind of edit. The corpus tests use them, too.

use jvms::opcode;
use rewriter::{
    ClassFile, Code, EditPlan, InsertionPoint, Instruction, Location, PlanBuilder, PlanError,
    ProbeStorage,
};

#[allow(dead_code, reason = "snippets take turns here")]
#[path = "../../tests/suite/busy.rs"]
pub mod busy;
#[path = "../../tests/suite/edited.rs"]
mod edited;

/// Returns the kinds of edits: probes at one kind of location; snippets at entry, exits, unwinding and loops; all of
/// these together; and the changed instructions and structure of `edited`.
pub fn kinds() -> impl Iterator<Item = &'static str> {
    const INSERTIONS: [&str; 8] = [
        "entry", "exits", "unwind", "loops", "lines", "edges", "snippets", "all",
    ];
    INSERTIONS.into_iter().chain(edited::KINDS)
}

pub const STORAGE: ProbeStorage<'static> = ProbeStorage::SharedArray {
    owner: "java/lang/$Classhook",
    field: "hits",
};

/// Probe numbers restart here, so that the largest class fits.
pub const PROBES: u32 = 32_000;

/// Snippets alternate between these features, because all of them together make methods too long.
const FEATURES: [u32; 6] = [
    busy::CONSTANTS,
    busy::LOOP,
    busy::ARGUMENTS,
    busy::OBJECTS,
    busy::STACK,
    busy::LEAVE,
];

/// Returns a plan with every edit of this kind that fits into the class.
pub fn plan(class: &ClassFile<'_>, kind: &str) -> Result<EditPlan, PlanError> {
    if edited::KINDS.contains(&kind) {
        return edited::plan(class, kind);
    }
    let mut plan = PlanBuilder::new(class);
    let (mut probe, mut made) = (0, 0);
    for method in class.methods() {
        let Ok(Some(code)) = method.code() else {
            continue;
        };
        let at = |place| InsertionPoint {
            method: method.index(),
            location: place,
        };
        let wants = |name: &str| kind == name || kind == "all";
        for place in places(&code, wants) {
            plan.hit(at(place), probe)?;
            probe = (probe + 1) % PROBES;
        }
        let with_snippet = |name: &str| {
            ["snippets", "all"].contains(&kind)
                && ["entry", "exits", "unwind", "loops"].contains(&name)
        };
        for place in places(&code, with_snippet) {
            busy::insert(&mut plan, class, at(place), FEATURES[made % FEATURES.len()]);
            made += 1;
        }
    }
    Ok(plan.finish())
}

/// Returns the locations of probes in one method, in code order.
fn places(code: &Code<'_, '_>, wants: impl Fn(&str) -> bool) -> Vec<Location> {
    let mut places = Vec::new();
    if wants("entry") {
        places.push(Location::Entry);
    }
    if wants("unwind") {
        places.push(Location::Unwind);
    }
    if wants("loops") {
        places.extend(code.loop_heads().into_iter().map(Location::Before));
    }
    let mut lines: Vec<u16> = code.lines().map(|line| line.bci.0).collect();
    lines.sort_unstable();
    lines.dedup();
    let end = code.bytes().len() as u32;
    for instruction in code.instructions().map_while(Result::ok) {
        let bci = instruction.bci;
        if wants("lines") && lines.binary_search(&bci.0).is_ok() {
            places.push(Location::Before(bci));
        }
        let leaves = opcode::is_return(instruction.opcode) || instruction.opcode == opcode::ATHROW;
        if wants("exits") && leaves {
            places.push(Location::Before(bci));
        }
        if wants("edges") {
            edges(&instruction, end, &mut places);
        }
    }
    places
}

fn edges(instruction: &Instruction<'_>, end: u32, places: &mut Vec<Location>) {
    let source = instruction.bci;
    if matches!(instruction.opcode, opcode::JSR | opcode::JSR_W) {
        return;
    }
    if let Some(target) = instruction.branch_target() {
        places.push(Location::Jump { source, target });
    }
    if let Some(switch) = instruction.switch() {
        let mut targets: Vec<_> = switch.targets().collect();
        targets.sort_unstable();
        targets.dedup();
        places.extend(
            targets
                .into_iter()
                .map(|target| Location::Jump { source, target }),
        );
    }
    if opcode::falls_through(instruction.opcode) && instruction.next() < end {
        places.push(Location::FallThrough(source));
    }
}
