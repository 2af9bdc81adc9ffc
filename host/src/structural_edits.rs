//! Edits that a class gets at load time and keeps: wrappers of native methods ([`crate::natives`]),
//! and the members, supertypes, annotations and names that plugins request.
//!
//! The JVM reverts none of them (JVM TI, `RetransformClasses`). So the hook that cannot retransform
//! applies them, and every later transformation of the class begins with them.

use std::borrow::Cow;

use jvms::access_flags::ACC_NATIVE;
use rewriter::{
    CheckScratch, ClassEdit, ClassFile, EditPlan, Method, PrefixedNative, ProbeStorage, Scratch,
};

use crate::natives::{self, PREFIX};
use crate::requests::PlannedClass;
use crate::storage::{HELPER, HITS_FIELD};

/// The structural edits of one class.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StructuralEdits {
    /// Wrapped native methods, as name and descriptor.
    pub(crate) natives: Vec<String>,
    /// The edits in the order of application.
    pub(crate) class_edits: Vec<ClassEdit>,
}

impl StructuralEdits {
    /// Creates edits that only wrap native methods, by name and descriptor.
    pub(crate) fn of_natives(natives: Vec<String>) -> Self {
        Self {
            natives,
            class_edits: Vec::new(),
        }
    }

    /// Creates the edits that plugins request for a class, with these wrapped native methods, and
    /// applies them. Returns `None` if plugins request none, or they do not fit.
    pub(crate) fn of(planned: &PlannedClass, natives: Vec<String>) -> Option<(Self, Vec<u8>)> {
        let class_edits: Vec<ClassEdit> = planned.structural_edits().cloned().collect();
        if class_edits.is_empty() {
            return None;
        }
        let edits = Self {
            natives,
            class_edits,
        };
        let bytes = edits.apply(planned.class.class())?;
        Some((edits, bytes))
    }

    /// Returns whether there are no edits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.natives.is_empty() && self.class_edits.is_empty()
    }

    /// The wrapped native methods, as name and descriptor.
    #[must_use]
    pub fn natives(&self) -> &[String] {
        &self.natives
    }

    /// Returns whether plugins changed the structure of the class.
    #[must_use]
    pub fn change_the_class(&self) -> bool {
        !self.class_edits.is_empty()
    }

    /// Applies the edits to a class file. Returns `None` if they do not fit.
    pub(crate) fn apply(&self, class: &ClassFile<'_>) -> Option<Vec<u8>> {
        let mut plan = EditPlan::new();
        for method in class.methods().filter(natives::is_native) {
            if self.natives.contains(&natives::heading(&method)) {
                let prefixed = PrefixedNative {
                    method: method.index(),
                    prefix: PREFIX.to_owned(),
                };
                plan.edit_class(ClassEdit::PrefixNative(prefixed)).ok()?;
            }
        }
        for edit in &self.class_edits {
            plan.edit_class(edit.clone()).ok()?;
        }
        if plan.is_empty() {
            return None;
        }
        // The plan has no probes that need storage.
        let storage = ProbeStorage::SharedArray {
            owner: HELPER,
            field: HITS_FIELD,
        };
        let (mut out, mut scratch) = (Vec::new(), Scratch::default());
        let report = rewriter::splice(class, &plan, &storage, &mut scratch, &mut out).ok()?;
        rewriter::check_splice(class, &plan, &storage, &out, &mut CheckScratch::default()).ok()?;
        let whole = report.skipped.is_empty() && report.refused.is_none();
        whole.then_some(out)
    }
}

/// Prefixes the native methods of a replacement class file that are prefixed in `present`, the
/// class that the JVM has.
#[must_use]
pub fn with_prefixed_natives<'b>(bytes: &'b [u8], present: &[u8]) -> Cow<'b, [u8]> {
    let names = ClassFile::read(present).map_or_else(|_| Vec::new(), |class| prefixed_in(&class));
    if names.is_empty() {
        return Cow::Borrowed(bytes);
    }
    let prefixed = ClassFile::read(bytes).ok();
    let prefixed = prefixed.and_then(|class| StructuralEdits::of_natives(names).apply(&class));
    prefixed.map_or(Cow::Borrowed(bytes), Cow::Owned)
}

/// Returns the prefixed native methods of a class, as name and descriptor.
fn prefixed_in(class: &ClassFile<'_>) -> Vec<String> {
    let native = |method: &Method<'_, '_>| method.access_flags() & ACC_NATIVE != 0;
    let names = class
        .methods()
        .filter(native)
        .map(|method| natives::heading(&method));
    names
        .filter_map(|name| name.strip_prefix(PREFIX).map(str::to_owned))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use jvms::access_flags::{ACC_PUBLIC, ACC_STATIC};
    use rewriter::NewField;

    const NATIVES: &[u8] = include_bytes!("../tests/fixtures/Natives.class");

    fn field(name: &str) -> ClassEdit {
        ClassEdit::AddField(NewField {
            flags: ACC_PUBLIC | ACC_STATIC,
            name: name.to_owned(),
            descriptor: "I".to_owned(),
            value: None,
        })
    }

    fn apply(edits: &StructuralEdits, bytes: &[u8]) -> Option<Vec<u8>> {
        edits.apply(&ClassFile::read(bytes).expect("a class"))
    }

    fn prefix(bytes: &[u8], names: &[String]) -> Option<Vec<u8>> {
        apply(&StructuralEdits::of_natives(names.to_vec()), bytes)
    }

    #[test]
    fn a_prefixed_native_method_has_code_under_its_name_and_is_native_under_the_prefix() {
        let names = ["twice(I)I".to_owned(), "absent()V".to_owned()];
        let prefixed = prefix(NATIVES, &names).expect("prefixed");
        let class = ClassFile::read(&prefixed).expect("a class");
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
        assert_eq!(prefix(&prefixed, &names), None);
        assert_eq!(prefixed_in(&class), ["twice(I)I"]);
        assert_eq!(with_prefixed_natives(NATIVES, &prefixed), prefixed);
        assert_eq!(with_prefixed_natives(NATIVES, NATIVES), NATIVES);
    }

    #[test]
    fn structural_edits_are_applied_whole_or_not_at_all() {
        let mut edits = StructuralEdits::of_natives(vec!["twice(I)I".to_owned()]);
        edits.class_edits.push(field("added"));
        let applied = apply(&edits, NATIVES).expect("applied");
        let class = ClassFile::read(&applied).expect("a class");
        assert!(class.fields().any(|found| found.name() == "added"));
        let methods: Vec<_> = class.methods().map(|found| found.name()).collect();
        assert!(methods.iter().any(|name| *name == "$$classhook$$_twice"));
        edits.class_edits.push(field("added"));
        assert_eq!(apply(&edits, NATIVES), None);
        assert_eq!(apply(&StructuralEdits::default(), NATIVES), None);
        assert_eq!(
            with_prefixed_natives(b"no class", &applied),
            &b"no class"[..]
        );
    }
}
