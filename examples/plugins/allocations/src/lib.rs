//! Counts what is allocated by the site that does it: objects by their class, and arrays.

use classhook_sdk::opcode::{ANEWARRAY, INVOKESPECIAL, MULTIANEWARRAY, NEW, NEWARRAY};
use classhook_sdk::prelude::*;

/// What is allocated, and where.
const ALLOCATED: Table = Table {
    name: "allocated",
    columns: &[
        ("what", Kind::Class),
        ("method", Kind::Method),
        ("line", Kind::Line),
    ],
};

/// Element types in the order of `newarray`'s operand, which begins with 4 (JVMS table 6.5.newarray-A).
const PRIMITIVES: [&str; 8] = [
    "boolean", "char", "float", "double", "byte", "short", "int", "long",
];

/// Counts at the instructions that allocate.
pub struct Allocations;

impl Transformer for Allocations {
    type Config = NoSettings;

    fn new(_: NoSettings) -> Result<Self> {
        Ok(Self)
    }

    fn transform(&self, class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
        for method in class.methods().filter(Method::has_code) {
            for (bci, what) in allocations(&method)? {
                let line = method.line_at(bci).to_string();
                let row = plan.row(&ALLOCATED, &[&what, &method.full_name(), &line])?;
                plan.count(&method.before(&[bci])?, &row)?;
            }
        }
        Ok(())
    }
}

/// Where something is allocated, and what. An object's class is that of the constructor which is called for it; a
/// constructor that nothing waits for is that of the superclass, or another one of the same class.
fn allocations(method: &Method<'_>) -> Result<Vec<(u16, String)>> {
    let mut found = Vec::new();
    let mut waiting = Vec::new();
    for instruction in method.instructions()? {
        let Instruction { bci, operand, .. } = instruction;
        match instruction.opcode {
            NEW => waiting.push(bci),
            INVOKESPECIAL => {
                let called = u16::try_from(operand).ok();
                let called = called.and_then(|index| method.member(index));
                if let Some(called) = called.filter(|it| it.name == "<init>")
                    && let Some(bci) = waiting.pop()
                {
                    found.push((bci, called.owner.replace('/', ".")));
                }
            }
            NEWARRAY => {
                let kind = usize::try_from(operand - 4).ok();
                let kind = kind.and_then(|index| PRIMITIVES.get(index));
                found.push((bci, format!("{}[]", kind.unwrap_or(&"?"))));
            }
            ANEWARRAY | MULTIANEWARRAY => found.push((bci, "array of references".to_owned())),
            _ => {}
        }
    }
    Ok(found)
}

classhook_sdk::export!(Allocations);
