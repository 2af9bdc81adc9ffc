//! Frames that never return and so run former code for ever.

use std::collections::HashSet;

use jvms::opcode;
use rewriter::Method;

/// Checks whether a frame at `bci` can still return or throw an exception by `athrow`. Exceptions of other instructions
/// lead only to handlers. True if the code does not decide it.
#[must_use]
pub fn returns_from(method: &Method<'_, '_>, bci: u16) -> bool {
    let Ok(Some(code)) = method.code() else {
        return true;
    };
    let Ok(instructions) = code.instructions().collect::<Result<Vec<_>, _>>() else {
        return true;
    };
    let at = |bci: u16| instructions.binary_search_by_key(&bci, |found| found.bci.0);
    let Ok(start) = at(bci) else {
        return true;
    };
    let (mut open, mut seen) = (vec![start], HashSet::new());
    while let Some(index) = open.pop() {
        let Some(found) = instructions.get(index).filter(|_| seen.insert(index)) else {
            continue;
        };
        if opcode::is_return(found.opcode)
            || opcode::is_subroutine_call(found.opcode)
            || matches!(found.opcode, opcode::ATHROW | opcode::RET)
        {
            return true;
        }
        let handlers = code
            .exception_table()
            .filter(|row| (row.start.0..row.end).contains(&found.bci.0));
        let targets = found.targets().chain(handlers.map(|row| row.handler));
        open.extend(targets.filter_map(|target| at(target.0).ok()));
        let ends = opcode::is_switch(found.opcode)
            || matches!(found.opcode, opcode::GOTO | opcode::GOTO_W);
        if !ends {
            open.push(index.saturating_add(1));
        }
    }
    false
}
