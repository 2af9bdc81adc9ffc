//! Invalid edits, by their names in the configuration.

use classhook_sdk::access_flags::{ACC_PUBLIC, ACC_STATIC};
use classhook_sdk::edit::Member;
use classhook_sdk::edit::{Annotation, EnumConstant, Field, Value, Visibility};
use classhook_sdk::opcode::{ANEWARRAY, GETSTATIC, INVOKESTATIC, INVOKEVIRTUAL, NEW, POP, RETURN};
use classhook_sdk::prelude::*;

use crate::places::{allocations, instructions, program};

/// Makes the edit of this name, if it exists.
pub fn edit(name: &str, class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    let (kind, text) = name.split_once(' ').unwrap_or((name, ""));
    match kind {
        "field" => plan.add_field(&Field::new(ACC_PUBLIC, "wrong", text))?,
        "field-name" => plan.add_field(&Field::new(ACC_PUBLIC, text, "I"))?,
        "method" => {
            let flags = ACC_PUBLIC | ACC_STATIC;
            let mut body = Snippet::new();
            body.op(RETURN, 0);
            plan.add_method(flags, "wrong", text, Some(&body))?;
        }
        "interface" => plan.add_interface(text)?,
        "annotation" => plan.annotate_class(Visibility::Visible, &Annotation::new(text))?,
        "element" => {
            let mut annotation = Annotation::new("LChanged$Marked;");
            annotation.put("text", Value::Class(text.to_owned()));
            plan.annotate_class(Visibility::Visible, &annotation)?;
        }
        "constant" => {
            let state = EnumConstant {
                descriptor: text.to_owned(),
                name: "NEW".to_owned(),
            };
            let mut annotation = Annotation::new("LChanged$Marked;");
            annotation.put("state", Value::Enum(state));
            plan.annotate_class(Visibility::Visible, &annotation)?;
        }
        "hoard" => crate::hoard::hoard(text, class)?,
        "type" => plan.rename_type("Changed", text)?,
        "member" => {
            let secret = Member::of_class("Changed$Target", "secret", "I");
            plan.rename_member(&secret, text)?;
        }
        _ => in_code(kind, text, &method(class)?, plan)?,
    }
    Ok(())
}

fn method<'a>(class: &Class<'a>) -> Result<Method<'a>> {
    let mut methods = class.methods();
    let found = methods.find(|method| method.name() == "thread");
    Ok(found.ok_or("there is no method `thread`")?)
}

/// Makes an invalid edit of code.
fn in_code(kind: &str, text: &str, method: &Method<'_>, plan: &mut Plan<'_>) -> Result {
    let mut code = Snippet::new();
    match kind {
        "class" => {
            code.push_class(text).op(POP, 0);
        }
        "new" => {
            code.with_type(NEW, text).op(POP, 0);
        }
        "array" => {
            code.push_int(1).with_type(ANEWARRAY, text).op(POP, 0);
        }
        "read" => {
            code.field(GETSTATIC, Member::of_class("Changed", "count", text))
                .op(POP, 0);
        }
        "call" => {
            code.invoke(INVOKESTATIC, Member::of_class("Changed", "fixed", text));
        }
        "owner" => {
            code.invoke(INVOKESTATIC, Member::of_class(text, "fixed", "()V"));
        }
        "redirect" => {
            let target = Member::of_class("Changed", "fixed", text);
            let calls = instructions(method, "<init>")?;
            return Ok(plan.redirect_call(&calls, INVOKEVIRTUAL, &target)?);
        }
        "factory" => {
            let target = program("list", text);
            return Ok(plan.redirect_allocation(&allocations(method)?, &target)?);
        }
        "allocate" => return Ok(plan.allocate(&allocations(method)?, text)?),
        "allocate-with-cast" => {
            return Ok(plan.allocate_with_cast(&allocations(method)?, text)?);
        }
        _ => return Err(format!("there is no wrong edit `{kind}`").into()),
    }
    Ok(plan.insert(&[method.entry()], &code)?)
}
