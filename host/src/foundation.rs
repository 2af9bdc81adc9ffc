//! What a class is given while it is loaded and keeps from then on, whatever becomes of the plugins: methods in front of
//! native ones ([`crate::natives`]), and the members, supertypes, annotations and names that plugins ask for.
//!
//! The JVM takes none of it back (JVM TI, Retransform Classes). So it is laid before everything else, and every later
//! transformation of the class begins with it.

use std::borrow::Cow;

use rewriter::{ClassEdit, ClassFile, EditPlan, Method, NativeWrapper, ProbeStorage, Scratch};

use crate::natives::{self, PREFIX};
use crate::storage::{HELPER, HITS_FIELD};

/// What one class keeps.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Foundation {
    /// Native methods with a method in front, as name and descriptor.
    pub(crate) natives: Vec<String>,
    /// In the order in which they are made.
    pub(crate) structure: Vec<ClassEdit>,
}

impl Foundation {
    /// Of native methods alone, by name and descriptor.
    pub(crate) fn of_natives(natives: Vec<String>) -> Self {
        Self {
            natives,
            structure: Vec::new(),
        }
    }

    /// Whether there is nothing to be kept.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.natives.is_empty() && self.structure.is_empty()
    }

    /// The native methods with a method in front, as name and descriptor.
    #[must_use]
    pub fn natives(&self) -> &[String] {
        &self.natives
    }

    /// Whether plugins changed what the class is.
    #[must_use]
    pub fn has_structure(&self) -> bool {
        !self.structure.is_empty()
    }

    /// The class file with it; none if it does not suit this class file.
    pub(crate) fn lay(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let class = ClassFile::read(bytes).ok()?;
        let mut plan = EditPlan::new();
        for method in class.methods().filter(natives::is_native) {
            if self.natives.contains(&natives::heading(&method)) {
                let wrapper = NativeWrapper {
                    method: method.index(),
                    prefix: PREFIX.to_owned(),
                    entry: None,
                    exit: None,
                    unwind: None,
                };
                plan.edit_class(ClassEdit::WrapNative(wrapper)).ok()?;
            }
        }
        for edit in &self.structure {
            plan.edit_class(edit.clone()).ok()?;
        }
        if plan.is_empty() {
            return None;
        }
        let plan = plan.checked(&class).ok()?;
        // No probe of the plan is stored anywhere.
        let storage = ProbeStorage::SharedArray {
            owner: HELPER,
            field: HITS_FIELD,
            base: 0,
        };
        let (mut out, mut scratch) = (Vec::new(), Scratch::default());
        let report = rewriter::splice(&class, &plan, &storage, &mut scratch, &mut out).ok()?;
        rewriter::check_splice(&class, &plan, &storage, &out, &mut scratch).ok()?;
        let whole = report.skipped.is_empty() && report.refused.is_none();
        whole.then_some(out)
    }
}

/// A class file that is to stand in for a class, with the native methods wrapped that `present`, the class as the JVM
/// has it, has wrapped.
#[must_use]
pub fn as_wrapped<'b>(bytes: &'b [u8], present: &[u8]) -> Cow<'b, [u8]> {
    let names = ClassFile::read(present).map_or_else(|_| Vec::new(), |class| wrapped_in(&class));
    let wrapped = Foundation::of_natives(names).lay(bytes);
    wrapped.map_or(Cow::Borrowed(bytes), Cow::Owned)
}

/// The wrapped native methods of a class, as name and descriptor.
fn wrapped_in(class: &ClassFile<'_>) -> Vec<String> {
    let native = |method: &Method<'_, '_>| method.access_flags() & natives::ACC_NATIVE != 0;
    let names = class
        .methods()
        .filter(native)
        .map(|method| natives::heading(&method));
    names
        .filter_map(|name| name.strip_prefix(PREFIX).map(str::to_owned))
        .collect()
}

/// What of a plan cannot be undone: everything it does to the class but new bodies of methods.
pub(crate) fn structure_of(plan: &EditPlan) -> impl Iterator<Item = &ClassEdit> {
    let edits = plan.class_edits().iter();
    edits.filter(|edit| !matches!(edit, ClassEdit::ReplaceBody { .. }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rewriter::NewField;

    const NATIVES: &[u8] = include_bytes!("../tests/fixtures/Natives.class");

    fn field(name: &str) -> ClassEdit {
        ClassEdit::AddField(NewField {
            flags: 0x0009,
            name: name.to_owned(),
            descriptor: "I".to_owned(),
            value: None,
        })
    }

    fn wrap(bytes: &[u8], names: &[String]) -> Option<Vec<u8>> {
        Foundation::of_natives(names.to_vec()).lay(bytes)
    }

    #[test]
    fn a_wrapped_class_has_the_native_method_under_its_prefix_and_code_under_its_name() {
        let names = ["twice(I)I".to_owned(), "absent()V".to_owned()];
        let wrapped = wrap(NATIVES, &names).expect("wrapped");
        let class = ClassFile::read(&wrapped).expect("a class");
        let find = |name: &[u8]| {
            let mut methods = class.methods();
            methods
                .find(|method| method.name().as_bytes() == name)
                .expect("there")
        };
        assert!(find(b"twice").has_code() && !natives::is_native(&find(b"twice")));
        let native = find(b"$$classhook$$_twice");
        assert!(!native.has_code() && !natives::is_native(&native));
        assert!(natives::is_native(&find(b"plus")));
        assert_eq!(wrap(&wrapped, &names), None);
        assert_eq!(wrapped_in(&class), ["twice(I)I"]);
        assert_eq!(as_wrapped(NATIVES, &wrapped), wrapped);
        assert_eq!(as_wrapped(NATIVES, NATIVES), NATIVES);
        assert_eq!(wrap(b"no class", &names), None);
    }

    #[test]
    fn a_foundation_is_laid_whole_or_not_at_all() {
        let mut foundation = Foundation::of_natives(vec!["twice(I)I".to_owned()]);
        foundation.structure.push(field("added"));
        let laid = foundation.lay(NATIVES).expect("laid");
        let class = ClassFile::read(&laid).expect("a class");
        assert!(class.fields().any(|found| found.name() == "added"));
        let methods: Vec<_> = class.methods().map(|found| found.name()).collect();
        assert!(methods.iter().any(|name| *name == "$$classhook$$_twice"));
        foundation.structure.push(field("added"));
        assert_eq!(foundation.lay(NATIVES), None);
        assert_eq!(Foundation::default().lay(NATIVES), None);
        assert_eq!(foundation.lay(b"no class"), None);
    }
}
