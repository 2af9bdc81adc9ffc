//! Requests for helper classes.

use classhook_sdk::edit::Member;
use classhook_sdk::opcode::INVOKESTATIC;
use classhook_sdk::prelude::*;

use crate::methods::{caller, entries};

const TALLY: &[u8] = include_bytes!("../helpers/Tally.class");
const STEP: &[u8] = include_bytes!("../helpers/Tally$Step.class");

/// Passes the result of the method with a call through a method of the helper class.
fn call_of(name: &str, class: &Class<'_>, plan: &mut Plan<'_>, helpers: &[&[u8]]) -> Result {
    let names = plan.helpers(helpers)?;
    let first = names.first().ok_or("it has no name")?;
    let mut code = Snippet::new();
    code.invoke(INVOKESTATIC, Member::of_class(first, name, "(I)I"));
    Ok(plan.insert(&caller(class)?.returns(), &code)?)
}

fn call(class: &Class<'_>, plan: &mut Plan<'_>, helpers: &[&[u8]]) -> Result {
    call_of("add", class, plan, helpers)
}

pub fn tally(class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    call(class, plan, &[TALLY, STEP])?;
    // The same classes again have the same names.
    plan.helpers(&[TALLY, STEP])?;
    Ok(())
}

/// Adds helper classes that no edit needs.
pub fn without_edits(_: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    plan.helpers(&[STEP])?;
    Ok(())
}

pub fn and_structure(class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    plan.add_interface("java/io/Serializable")?;
    tally(class, plan)
}

/// Adds helper classes that are valid, except for a version that no JVM knows.
pub fn of_the_future(class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    let of_version_99 = |bytes: &[u8]| [&bytes[..6], &[0, 99], &bytes[8..]].concat();
    let (tally, step) = (of_version_99(TALLY), of_version_99(STEP));
    call(class, plan, &[&tally, &step])
}

/// Calls a missing method; the JVM would detect this when the call is executed.
pub fn without_the_method(class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    call_of("subtract", class, plan, &[TALLY, STEP])
}

/// Calls a method that is not static.
pub fn with_another_method(class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    call_of("applyAsInt", class, plan, &[TALLY, STEP])
}

/// Leaves out the nested class.
pub fn in_part(class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    call(class, plan, &[TALLY])
}

/// Renames `Step.another`, which `Tally` refers to.
pub fn of_two_versions(class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    let text = b"another";
    let at = STEP.windows(text.len()).position(|found| found == text);
    let mut step = STEP.to_vec();
    if let Some(first) = at.and_then(|at| step.get_mut(at)) {
        *first = b'o';
    }
    call(class, plan, &[TALLY, &step])
}

pub fn that_are_text(_: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    plan.helpers(&[STEP, b"class Step {}"])?;
    Ok(())
}

pub fn too_old(_: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    let old = [&STEP[..6], &[0, 50], &STEP[8..]].concat();
    plan.helpers(&[&old])?;
    Ok(())
}

pub fn twice(_: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    plan.helpers(&[STEP, STEP])?;
    Ok(())
}

/// Adds a class whose superclass may be missing, or may be the class that is being loaded.
pub fn of_another(_: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    let text = b"java/lang/Object";
    let at = STEP.windows(text.len()).position(|found| found == text);
    let mut other = STEP.to_vec();
    if let Some(found) = at.and_then(|at| other.get_mut(at..at + text.len())) {
        found.copy_from_slice(b"Java/lang/Object");
    }
    plan.helpers(&[&other])?;
    Ok(())
}

/// Makes a `getfield` read from a number: its `aload_0` becomes `iconst_0`.
pub fn not_sound(_: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    let mut other = STEP.to_vec();
    // aload_0, dup, getfield
    let at = STEP.windows(3).position(|code| code == [0x2a, 0x59, 0xb4]);
    if let Some(first) = at.and_then(|at| other.get_mut(at)) {
        *first = 0x03;
    }
    plan.helpers(&[&other])?;
    Ok(())
}

pub fn many(_: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    plan.helpers(&[STEP; 65])?;
    Ok(())
}

pub fn large(_: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    plan.helpers(&[&vec![0; (1 << 20) + 1]])?;
    Ok(())
}

/// Adds a probe in every method as well.
pub fn and_hits(class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    plan.hit(&entries(class), b"")?;
    tally(class, plan)
}
