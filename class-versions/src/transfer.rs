//! Transfers a plan from one form of a class to another.

use thiserror::Error;

use jvms::opcode;
use rewriter::{ClassFile, Code, Edit, EditPlan, InsertionPoint, Method, MethodIndex, ReadError};

/// The reason why the edits of a method were not transferred.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TransferReason {
    /// The other class has no method of this name and descriptor.
    #[error("the class from the JVM has no method of this name and descriptor")]
    NoSuchMethod,
    /// Its code differs.
    #[error("the code from the JVM differs at bci {bci}")]
    CodeDiffers {
        /// The first instruction that differs.
        bci: u32,
    },
    /// One of the two is malformed.
    #[error("the method cannot be read: {0}")]
    Unreadable(#[from] ReadError),
}

/// Transfers a plan made for `from` (the bytes of the loader's resource) to `to`. These are bytes that the JVM
/// reconstituted for a retransformation; their pool and method order may differ.
///
/// Methods match by name and descriptor, and their code is compared instruction by instruction: bci, opcode, branch
/// targets, locals and immediates; pool indices may differ. The edits of a method that does not match are dropped, and
/// the result lists the method by its index in `from`. Class edits need only the same name and descriptor.
#[must_use]
pub fn transfer(
    plan: &EditPlan,
    from: &ClassFile<'_>,
    to: &ClassFile<'_>,
) -> (EditPlan, Vec<(MethodIndex, TransferReason)>) {
    let mut carried = plan.without_edits();
    let mut refused: Vec<(MethodIndex, TransferReason)> = Vec::new();
    for edit in plan.class_edits() {
        let edit = match edit.method() {
            None => edit.clone(),
            Some(method) => match namesake(method, from, to) {
                Ok(other) => edit.clone().moved(other.index()),
                Err(reason) => {
                    refused.push((method, reason));
                    continue;
                }
            },
        };
        // The source plan was within the limit.
        let _ = carried.edit_class(edit);
    }
    for (method, code) in plan.exits() {
        if let Ok(other) = namesake(method, from, to) {
            // The source plan was within the limit.
            let _ = carried.exit(other.index(), code.clone());
        }
    }
    let mut matches: Vec<Option<Result<MethodIndex, TransferReason>>> = Vec::new();
    for (index, edit) in plan.edits().iter().enumerate() {
        carried.begin_layer(plan.layer(index));
        let method = edit.point.method;
        let slot = usize::from(method);
        if matches.len() <= slot {
            matches.resize(slot + 1, None);
        }
        let Some(known) = matches.get_mut(slot) else {
            continue;
        };
        let first = known.is_none();
        match *known.get_or_insert_with(|| counterpart(method, from, to)) {
            Ok(method) => {
                let point = InsertionPoint {
                    method,
                    location: edit.point.location,
                };
                // The source plan was within the limit.
                let _ = carried.push(Edit {
                    point,
                    action: edit.action,
                });
            }
            Err(reason) if first => refused.push((method, reason)),
            Err(_) => {}
        }
    }
    (carried, refused)
}

/// Checks whether `to` has every method of `from` with the same code, compared as in [`transfer`]. Then `to` is the
/// same class, reconstituted by the JVM. Another agent, or another version of the class, would make it different.
#[must_use]
pub fn has_code_of(to: &ClassFile<'_>, from: &ClassFile<'_>) -> bool {
    from.methods().all(|method| match method.code() {
        Ok(None) => true,
        _ => counterpart(method.index(), from, to).is_ok(),
    })
}

/// Returns the method of `to` with the same name and descriptor.
fn namesake<'c, 'a>(
    index: MethodIndex,
    from: &ClassFile<'_>,
    to: &'c ClassFile<'a>,
) -> Result<Method<'c, 'a>, TransferReason> {
    let method = from.method(index).ok_or(TransferReason::NoSuchMethod)?;
    let same = |other: &Method<'_, '_>| {
        other.name() == method.name() && other.descriptor() == method.descriptor()
    };
    let at_same_index = to.method(index).filter(same);
    let other = at_same_index.or_else(|| to.methods().find(same));
    other.ok_or(TransferReason::NoSuchMethod)
}

/// Returns the method of `to` with the same name, descriptor and code.
fn counterpart(
    index: MethodIndex,
    from: &ClassFile<'_>,
    to: &ClassFile<'_>,
) -> Result<MethodIndex, TransferReason> {
    let method = from.method(index).ok_or(TransferReason::NoSuchMethod)?;
    let other = namesake(index, from, to)?;
    match (method.code()?, other.code()?) {
        (Some(code), Some(others)) => compare(&code, &others).map(|()| other.index()),
        _ => Err(TransferReason::CodeDiffers { bci: 0 }),
    }
}

fn compare(code: &Code<'_, '_>, other: &Code<'_, '_>) -> Result<(), TransferReason> {
    let (mut left, mut right) = (code.instructions(), other.instructions());
    loop {
        let (a, b) = match (left.next().transpose()?, right.next().transpose()?) {
            (Some(a), Some(b)) => (a, b),
            (None, None) => return Ok(()),
            (a, b) => {
                let bci = a.or(b).map_or(0, |found| u32::from(found.bci.0));
                return Err(TransferReason::CodeDiffers { bci });
            }
        };
        let same = if a.pool_index().is_some() {
            a.immediate() == b.immediate()
        } else {
            a.bytes() == b.bytes() || opcode::is_switch(a.opcode) && a.switch() == b.switch()
        };
        if a.bci != b.bci || a.opcode != b.opcode || a.length() != b.length() || !same {
            return Err(TransferReason::CodeDiffers {
                bci: u32::from(a.bci.0),
            });
        }
    }
}
