//! Applies the class edits of a plan.

use crate::class::ClassFile;
use crate::edits::{ClassEdit, NewMethod, StructureError};
use crate::plan::EditPlan;
use crate::pool::PoolWriter;
use crate::schema;
use crate::structure::body::{Signature, assemble};
use crate::structure::duplicates::check_duplicates;
use crate::structure::index_bounds::check_index_bounds;
use crate::structure::members::extend;
use crate::structure::names::Names;
use crate::structure::rename_class::rename;
use crate::structure::rename_plan::renamed_plan;
use crate::structure::rules::validate;
use jvms::descriptor::MethodDescriptor;
use jvms::modified_utf8;

/// A class with its new structure.
#[derive(Debug)]
pub(crate) struct NewStructure {
    pub(crate) bytes: Vec<u8>,
    /// The rest of the plan, in the names of the new class.
    pub(crate) plan: EditPlan,
}

/// Applies the class edits of `plan`.
pub(crate) fn apply_class_edits(
    class: &ClassFile<'_>,
    plan: &EditPlan,
) -> Result<NewStructure, StructureError> {
    let edits = plan.class_edits();
    let extended = extended(class, edits)?;
    let names = Names::of(edits);
    let bytes = if names.is_empty() {
        extended
    } else {
        let renamed = rename(&ClassFile::read(&extended)?, &names)?.0;
        check_duplicates(&ClassFile::read(&renamed)?)?;
        renamed
    };
    Ok(rest(plan, &names, bytes))
}

/// Checks that the JVM would accept this edit in a loaded class.
pub(crate) fn allowed(class: &ClassFile<'_>, edit: &ClassEdit) -> Result<(), StructureError> {
    let mut plan = EditPlan::new();
    plan.edit_class(edit.clone())
        .map_err(|_| StructureError::TooMany { what: "edits" })?;
    let structured = apply_class_edits(class, &plan)?;
    let broken = schema::compare(class, &ClassFile::read(&structured.bytes)?);
    match broken.into_iter().next() {
        Some(first) => Err(StructureError::Loaded(first)),
        None => Ok(()),
    }
}

/// Checks that a new body fits its method.
pub(crate) fn fits(class: &ClassFile<'_>, edit: &ClassEdit) -> Result<(), StructureError> {
    let mut pool = PoolWriter::default();
    pool.begin(class.pool().count());
    match edit {
        ClassEdit::AddMethod(NewMethod {
            flags,
            name,
            descriptor,
            body: Some(code),
        }) => {
            let (name, descriptor) = (
                modified_utf8::encode(name),
                modified_utf8::encode(descriptor),
            );
            if MethodDescriptor::checked(&descriptor).is_err() {
                return Ok(()); // refused by name
            }
            let signature = Signature {
                flags: *flags,
                name: &name,
                descriptor: &descriptor,
            };
            assemble(class, &signature, code, &mut pool).map(drop)
        }
        ClassEdit::ReplaceBody { method, body } => {
            let found = class.method(*method);
            let Some(found) = found.filter(|found| found.has_code()) else {
                return Ok(()); // refused by its index
            };
            let signature = Signature {
                flags: found.access_flags(),
                name: found.name().as_bytes(),
                descriptor: found.descriptor().as_bytes(),
            };
            assemble(class, &signature, body, &mut pool).map(drop)
        }
        _ => Ok(()),
    }
}

pub(crate) fn extended(
    class: &ClassFile<'_>,
    edits: &[ClassEdit],
) -> Result<Vec<u8>, StructureError> {
    validate(class, edits)?;
    check_index_bounds(class)?;
    let renames = |edit: &ClassEdit| {
        matches!(
            edit,
            ClassEdit::RenameMember { .. } | ClassEdit::RenameType { .. }
        )
    };
    if edits.iter().all(renames) {
        return Ok(class.bytes().to_vec());
    }
    extend(class, edits)
}

/// Returns the class with the rest of the plan: its edits of code.
pub(crate) fn rest(plan: &EditPlan, names: &Names, bytes: Vec<u8>) -> NewStructure {
    let plan = if names.is_empty() {
        plan.map(Clone::clone, Clone::clone)
    } else {
        renamed_plan(plan, names)
    };
    NewStructure { bytes, plan }
}
