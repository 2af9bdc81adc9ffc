//! The class edits of a plan, applied: members first, then names.
//!
//! What comes out is a class of its own, into which the plan's other edits are
//! spliced. Its methods keep their indices; those that are added stand behind
//! them, in the order of the plan.

mod anchored;
mod annotations;
mod body;
mod members;
mod names;
mod rename;
mod undo;

pub(crate) use names::{Names, Role};

use crate::check::SelfCheckError;
use crate::class::ClassFile;
use crate::edits::{ClassEdit, NativeWrapper, NewMethod, Refusal, validate};
use crate::index::{Bci, MethodIndex};
use crate::plan::{EditPlan, Place, Site};
use crate::schema;
use crate::shape::body::{Signature, assemble};
use crate::snippet::is_method;
use crate::splice::PoolWriter;
use crate::utf8;

/// A class with its new structure.
#[derive(Debug)]
pub(crate) struct Shaped {
    pub(crate) bytes: Vec<u8>,
    /// What is left of the plan, in the names of the new class.
    pub(crate) plan: EditPlan,
}

/// Applies the class edits of `plan`.
pub(crate) fn shape(class: &ClassFile<'_>, plan: &EditPlan) -> Result<Shaped, Refusal> {
    let edits = plan.class_edits();
    let extended = extended(class, edits)?;
    let names = Names::of(edits);
    let bytes = if names.is_empty() {
        extended
    } else {
        rename::rename(&ClassFile::read(&extended)?, &names)?.0
    };
    rest(class, plan, &names, bytes)
}

/// The same, with every step taken back and compared with what was before.
pub(crate) fn checked(class: &ClassFile<'_>, plan: &EditPlan) -> Result<Shaped, SelfCheckError> {
    let edits = plan.class_edits();
    let refused = SelfCheckError::ClassRefused;
    let bytes = extended(class, edits).map_err(refused)?;
    let extended = ClassFile::read(&bytes)?;
    undo::members(class, &extended, edits)?;
    let names = Names::of(edits);
    if names.is_empty() {
        let bytes = bytes.clone();
        return rest(class, plan, &names, bytes).map_err(refused);
    }
    let (bytes, places) = rename::rename(&extended, &names).map_err(refused)?;
    undo::names(&extended, &ClassFile::read(&bytes)?, &names, &places)?;
    rest(class, plan, &names, bytes).map_err(refused)
}

/// Asks whether the JVM would take the class with this edit in the place of the
/// one that is loaded.
pub(crate) fn allowed(class: &ClassFile<'_>, edit: &ClassEdit) -> Result<(), Refusal> {
    let mut plan = EditPlan::new();
    plan.edit_class(edit.clone())
        .map_err(|_| Refusal::TooMany { what: "edits" })?;
    let shaped = shape(class, &plan)?;
    let broken = schema::compare(class, &ClassFile::read(&shaped.bytes)?);
    match broken.into_iter().next() {
        Some(first) => Err(Refusal::Loaded(first)),
        None => Ok(()),
    }
}

/// Asks whether a new body fits its method.
pub(crate) fn fits(class: &ClassFile<'_>, edit: &ClassEdit) -> Result<(), Refusal> {
    let mut pool = PoolWriter::default();
    pool.begin(class.pool().count());
    match edit {
        ClassEdit::AddMethod(NewMethod {
            flags,
            name,
            descriptor,
            body: Some(code),
        }) => {
            let (name, descriptor) = (utf8::encode(name), utf8::encode(descriptor));
            if !is_method(&descriptor) {
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

fn extended(class: &ClassFile<'_>, edits: &[ClassEdit]) -> Result<Vec<u8>, Refusal> {
    validate(class, edits)?;
    anchored::anchored(class)?;
    let renames = |edit: &ClassEdit| {
        matches!(
            edit,
            ClassEdit::RenameMember { .. } | ClassEdit::RenameType { .. }
        )
    };
    if edits.iter().all(renames) {
        return Ok(class.bytes().to_vec());
    }
    members::extend(class, edits)
}

/// What is left of the plan: its other edits, and those of native wrappers.
fn rest(
    class: &ClassFile<'_>,
    plan: &EditPlan,
    names: &Names,
    bytes: Vec<u8>,
) -> Result<Shaped, Refusal> {
    let mut plan = plan.clone();
    let mut added = class.records().len();
    for edit in plan.take_class_edits() {
        match edit {
            ClassEdit::AddMethod(_) => added = added.saturating_add(1),
            ClassEdit::WrapNative(wrapper) => {
                let index =
                    u16::try_from(added).map_err(|_| Refusal::TooMany { what: "methods" })?;
                wrapper_edits(class, wrapper, MethodIndex(index), &mut plan)?;
                added = added.saturating_add(1);
            }
            _ => {}
        }
    }
    let plan = if names.is_empty() {
        plan
    } else {
        plan.renamed(names)
    };
    Ok(Shaped { bytes, plan })
}

/// The snippets of a native's wrapper, at their places in the added method.
fn wrapper_edits(
    class: &ClassFile<'_>,
    wrapper: NativeWrapper,
    method: MethodIndex,
    plan: &mut EditPlan,
) -> Result<(), Refusal> {
    let native = class.method(wrapper.method);
    let native = native.ok_or_else(|| Refusal::no_method(class, wrapper.method))?;
    let returns = body::call(native.is_static(), native.descriptor().as_bytes(), 0).1;
    let parts = [
        (Place::Entry, wrapper.entry),
        (Place::Before(Bci(returns)), wrapper.exit),
        (Place::Unwind, wrapper.unwind),
    ];
    for (place, snippet) in parts {
        if let Some(snippet) = snippet {
            let inserted = plan.insert(Site { method, place }, snippet);
            inserted.map_err(|_| Refusal::TooMany { what: "edits" })?;
        }
    }
    Ok(())
}

/// A text of the pool.
fn pool_text(pool: &mut PoolWriter, text: &str) -> Result<u16, Refusal> {
    let bytes = utf8::encode(text);
    if bytes.len() > usize::from(u16::MAX) {
        let length = bytes.len() as u64;
        return Err(Refusal::NameTooLong { length });
    }
    pool.text(&bytes).ok_or(Refusal::PoolFull)
}
