//! Merges several plans for one class.

use std::collections::HashMap;
use thiserror::Error;

use crate::edits::ClassEdit;
use crate::index::{Bci, MethodIndex};
use crate::plan::edit_plan::{Action, Edit, EditPlan};
use crate::plan::error::PlanError;
use crate::snippet::SnippetId;
use ::edits::{InsertionPoint, Location};

/// One of the plans to merge.
#[derive(Debug, Clone, Copy)]
pub struct PluginPlan<'p> {
    /// The name of its plugin.
    pub by: &'p str,
    /// The plan.
    pub plan: &'p EditPlan,
    /// Offset added to the numbers of its hit probes.
    pub hits: u32,
}

/// The reason why plans cannot be merged.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Conflict {
    /// Two plans want an edit that is possible only once.
    #[error("`{first}` and `{second}` both {what}; switch one of them off for this class")]
    Both {
        /// The plan that comes first.
        first: String,
        /// The other.
        second: String,
        /// The edit.
        what: String,
    },
    /// One plan replaces the code that another one edits.
    #[error(
        "`{replacing}` replaces the body of method {method}, whose code `{editing}` edits; switch one of them off for this class"
    )]
    ReplacedAndEdited {
        /// The method.
        method: MethodIndex,
        /// The plan with the new body.
        replacing: String,
        /// The plan with edits of the old one.
        editing: String,
    },
    /// The plans exceed a limit together.
    #[error("the plans are too long together: {0}")]
    TooLong(PlanError),
}

/// An edit that is possible only once.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Once {
    Member(String),
    Annotation(String),
    Attribute(String),
    Name(String),
    Body(MethodIndex),
    Instruction(MethodIndex, Bci),
}

impl Once {
    fn of(edit: &ClassEdit) -> Option<Self> {
        Some(match edit {
            ClassEdit::AddField(field) => {
                Once::Member(format!("field {}:{}", field.name, field.descriptor))
            }
            ClassEdit::AddMethod(method) => {
                Once::Member(format!("method {}{}", method.name, method.descriptor))
            }
            ClassEdit::AddInterface(_) => return None,
            ClassEdit::AddAnnotation {
                target, annotation, ..
            } => Once::Annotation(format!("{} to {target}", annotation.descriptor)),
            ClassEdit::AddAttribute { target, name, .. } => {
                Once::Attribute(format!("{name} to {target}"))
            }
            ClassEdit::RenameMember { member, .. } => Once::Name(format!(
                "{}.{}:{}",
                member.owner, member.name, member.descriptor
            )),
            ClassEdit::RenameType { from, .. } => Once::Name(format!("type {from}")),
            ClassEdit::PrefixNative(wrapper) => Once::Body(wrapper.method),
            ClassEdit::ReplaceBody { method, .. } => Once::Body(*method),
        })
    }

    fn describe(&self) -> String {
        match self {
            Once::Member(member) => format!("add {member}"),
            Once::Annotation(what) => format!("add annotation {what}"),
            Once::Attribute(what) => format!("add attribute {what}"),
            Once::Name(what) => format!("rename {what}"),
            Once::Body(method) => format!("replace or wrap method {method}"),
            Once::Instruction(method, bci) => {
                format!("change the instruction at bci {bci} of method {method}")
            }
        }
    }
}

/// A merge in progress.
#[derive(Default)]
struct Merge<'p> {
    plan: EditPlan,
    done: HashMap<Once, (&'p str, Option<&'p ClassEdit>)>,
    interfaces: Vec<&'p str>,
}

impl EditPlan {
    /// Merges plans into one with the effects of all, in their order. At one location, the code of an earlier plan runs
    /// first, and its added members precede later ones. Probes get new numbers as each part requests.
    ///
    /// Plans may agree on an added interface and on a new name; each then applies once. One plan may add several
    /// attributes of one name. All other edits that are possible only once conflict, and so do a replaced body and
    /// edits of it.
    ///
    /// # Errors
    /// The first conflict.
    pub fn merge(parts: &[PluginPlan<'_>]) -> Result<EditPlan, Conflict> {
        Self::merge_with(parts, EditPlan::new())
    }

    /// Does the same as [`EditPlan::merge`] with the memory of an earlier plan.
    ///
    /// # Errors
    /// As [`EditPlan::merge`]; the memory is then lost.
    pub fn merge_with(
        parts: &[PluginPlan<'_>],
        mut memory: EditPlan,
    ) -> Result<EditPlan, Conflict> {
        memory.clear();
        let mut merge = Merge {
            plan: memory,
            ..Merge::default()
        };
        for part in parts {
            merge.plan.reserve(part.plan.edits().len());
            merge.class_edits(part)?;
            merge.edits(part)?;
        }
        replaced_and_edited(parts)?;
        Ok(merge.plan)
    }
}

impl<'p> Merge<'p> {
    fn once(
        &mut self,
        once: Once,
        by: &'p str,
        edit: Option<&'p ClassEdit>,
    ) -> Result<bool, Conflict> {
        let words = once.describe();
        let is_attribute = matches!(once, Once::Attribute(_));
        let Some((first, known)) = self.done.insert(once, (by, edit)) else {
            return Ok(true);
        };
        let renames = matches!(
            edit,
            Some(ClassEdit::RenameMember { .. } | ClassEdit::RenameType { .. })
        );
        if renames && known == edit {
            return Ok(false);
        }
        if is_attribute && first == by {
            // A plan may add several attributes of one name. Duplicates of single ones were refused on request.
            return Ok(true);
        }
        Err(Conflict::Both {
            first: first.to_owned(),
            second: by.to_owned(),
            what: words,
        })
    }

    fn class_edits(&mut self, part: &PluginPlan<'p>) -> Result<(), Conflict> {
        for edit in part.plan.class_edits() {
            let wanted = match (Once::of(edit), edit) {
                (Some(once), _) => self.once(once, part.by, Some(edit))?,
                (None, ClassEdit::AddInterface(name)) => {
                    let known = self.interfaces.contains(&name.as_str());
                    self.interfaces.push(name);
                    !known
                }
                (None, _) => true,
            };
            if wanted {
                let added = self.plan.edit_class(edit.clone());
                added.map_err(Conflict::TooLong)?;
            }
        }
        Ok(())
    }

    fn edits(&mut self, part: &PluginPlan<'p>) -> Result<(), Conflict> {
        for edit in part.plan.edits() {
            let InsertionPoint { method, location } = edit.point;
            if let Location::At(bci) = location {
                self.once(Once::Instruction(method, bci), part.by, None)?;
            }
            self.edit(part, *edit).map_err(Conflict::TooLong)?;
        }
        Ok(())
    }

    fn edit(&mut self, part: &PluginPlan<'p>, edit: Edit) -> Result<(), PlanError> {
        let point = edit.point;
        let action = match edit.action {
            Action::Hit(probe) => Action::Hit(probe.saturating_add(part.hits)),
            // The caller knows the storage and adds the code.
            Action::Count(_) => return Ok(()),
            Action::Insert(id) => match part.plan.snippet(id) {
                Some(snippet) => Action::Insert(self.plan.keep(snippet.clone())?),
                // The number belongs to another plan, so splicing will skip the method.
                None => Action::Insert(SnippetId(u32::MAX)),
            },
            Action::Change(id) => {
                return match (part.plan.changed(id), point.location) {
                    (Some(change), Location::At(bci)) => {
                        self.plan.change(point.method, bci, change.clone())
                    }
                    _ => Ok(()),
                };
            }
        };
        self.plan.push(Edit { point, action })
    }
}

/// Checks that no plan edits code that another one replaces.
fn replaced_and_edited(parts: &[PluginPlan<'_>]) -> Result<(), Conflict> {
    for replacing in parts {
        for edit in replacing.plan.class_edits() {
            let ClassEdit::ReplaceBody { method, .. } = edit else {
                continue;
            };
            let edits = |part: &&PluginPlan<'_>| {
                let mut edits = part.plan.edits().iter();
                part.by != replacing.by && edits.any(|edit| edit.point.method == *method)
            };
            if let Some(editing) = parts.iter().find(edits) {
                return Err(Conflict::ReplacedAndEdited {
                    method: *method,
                    replacing: replacing.by.to_owned(),
                    editing: editing.by.to_owned(),
                });
            }
        }
    }
    Ok(())
}
