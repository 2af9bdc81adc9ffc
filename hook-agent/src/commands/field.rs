//! `field`: an instance field in loaded classes of a name, and in their subclasses.

use super::context::Context;
use super::refusals::out_of_memory;
use crate::ffi::jvm::Jvm;
use crate::ffi::refs::LocalRef;
use crate::loaded_classes::{self, LoadedClass};
use crate::names::decode;
use control::Refusal;
use control::message::Field;
use jvms::access_flags::{ACC_ABSTRACT, ACC_STATIC, ACC_SYNTHETIC};

/// Finds an instance field in objects of these classes.
pub(super) fn field(context: Context<'_>, class: &str, name: &str) -> Result<Field, Refusal> {
    let internal = class.replace('.', "/");
    let found = context.jvm.with_frame(loaded_classes::CAPACITY, |jvm| {
        let all: Vec<LoadedClass<'_>> =
            loaded_classes::list(&context.agent.classes.loaders, jvm).collect();
        let is_named = |class: &&LoadedClass<'_>| decode(&class.name) == internal;
        let named: Vec<&LoadedClass<'_>> = all.iter().filter(is_named).collect();
        let mut field = Field {
            classes: named.len(),
            is_abstract: named.iter().any(|class| is_abstract(jvm, &class.class)),
            ..Field::default()
        };
        for class in &named {
            fields(jvm, &class.class, &mut |name, _| {
                field.fields.insert(name.to_owned());
            });
        }
        let is_below = |class: &&LoadedClass<'_>| {
            let is_above = |it: &&LoadedClass<'_>| jvm.local.is_assignable(&class.class, &it.class);
            named.iter().any(is_above)
        };
        for class in all.iter().filter(is_below) {
            fields(jvm, &class.class, &mut |found, descriptor| {
                if found == name {
                    field.types.insert(descriptor.to_owned());
                }
            });
        }
        field
    });
    found.ok_or_else(out_of_memory)
}

fn is_abstract(jvm: Jvm<'_>, class: &LocalRef<'_>) -> bool {
    let flags = jvm.jvmti.class_access_flags(class).unwrap_or(0);
    flags & i32::from(ACC_ABSTRACT) != 0
}

/// Passes names and descriptors of the instance fields of a class and of its superclasses to `give`.
fn fields(jvm: Jvm<'_>, class: &LocalRef<'_>, give: &mut dyn FnMut(&str, &str)) {
    let left_out = i32::from(ACC_STATIC) | i32::from(ACC_SYNTHETIC);
    let mut declared = |class: &LocalRef<'_>| {
        for id in jvm.jvmti.class_fields(class).unwrap_or_default() {
            let flags = jvm.jvmti.field_access_flags(class, id).unwrap_or(left_out);
            if let (0, Ok((name, descriptor))) = (flags & left_out, jvm.jvmti.field_name(class, id))
            {
                give(&decode(&name), &decode(&descriptor));
            }
        }
    };
    declared(class);
    let mut above = jvm.local.superclass(class);
    while let Some(class) = above {
        declared(&class);
        above = jvm.local.superclass(&class);
    }
}
