//! New names in the rest of a plan.

use crate::edits::{CallTarget, Change};
use crate::plan::EditPlan;
use crate::snippet::{EncodedMember, Operation, Snippet, Value};
use crate::structure::names::{Names, Role};

/// Returns a plan without class edits, with its names replaced by new ones.
pub(super) fn renamed_plan(plan: &EditPlan, names: &Names) -> EditPlan {
    plan.map(
        |snippet| renamed_snippet(snippet, names),
        |change| renamed_change(change, names),
    )
}

fn renamed_snippet(snippet: &Snippet, names: &Names) -> Snippet {
    snippet.map(|operation| renamed_operation(operation, names))
}

fn renamed_operation(operation: &Operation, names: &Names) -> Operation {
    let class = |name: &Vec<u8>| {
        let new = names.text(Role::Class, name);
        new.unwrap_or_else(|| name.clone())
    };
    match operation {
        Operation::Invoke(code, member) => Operation::Invoke(*code, renamed_member(member, names)),
        Operation::Field(code, member) => Operation::Field(*code, renamed_member(member, names)),
        Operation::WithType(code, name) => Operation::WithType(*code, class(name)),
        Operation::Push(Value::Class(name)) => Operation::Push(Value::Class(class(name))),
        other => other.clone(),
    }
}

fn renamed_member(member: &EncodedMember, names: &Names) -> EncodedMember {
    let new = |role, old: &Vec<u8>| names.text(role, old).unwrap_or_else(|| old.clone());
    let name = names.member(&member.owner, &member.name, &member.descriptor);
    EncodedMember {
        owner: new(Role::Class, &member.owner),
        name: name.map_or_else(|| member.name.clone(), <[u8]>::to_vec),
        descriptor: new(Role::Signature, &member.descriptor),
        interface: member.interface,
    }
}

fn renamed_change(change: &Change, names: &Names) -> Change {
    match change {
        Change::Call(target) => Change::Call(CallTarget {
            opcode: target.opcode,
            method: names.member_name(&target.method),
        }),
        Change::Field { opcode, field } => Change::Field {
            opcode: *opcode,
            field: names.member_name(field),
        },
        Change::Remove(value) => Change::Remove(value.clone()),
        Change::New { class, cast } => Change::New {
            class: names.string(Role::Class, class),
            cast: *cast,
        },
        Change::Factory(method) => Change::Factory(names.member_name(method)),
        Change::Around(code) => Change::Around(renamed_snippet(code, names)),
    }
}
