//! Members that AspectJ's compiler and weaver generate.
//!
//! Advice and inter-type declarations are source code. Code that finds aspects, forwards calls or describes join
//! points is not.

use jvms::opcode;

use super::context::FilterContext;
use super::output::FilterOutput;
use crate::class::{ClassDescription, MethodDescription, Operand};

/// Name prefixes of methods without source code.
const GENERATED: [&str; 17] = [
    "ajc$preClinit",
    "ajc$postClinit",
    "ajc$pointcut$$",
    "ajc$interMethodDispatch",
    "ajc$interFieldGetDispatch",
    "ajc$interFieldSetDispatch",
    "ajc$get$",
    "ajc$set$",
    "ajc$privFieldGet",
    "ajc$privFieldSet",
    "ajc$privMethod",
    "ajc$inlineAccess",
    "ajc$superDispatch$",
    "ajc$localAspectOf",
    "ajc$perObjectBind",
    "ajc$perTypeWithin",
    "ajc$createAspectInstance",
];

pub(super) fn apply(context: &FilterContext<'_>, output: &mut FilterOutput) {
    let method = context.method;
    let is_closure = context.is_super("org/aspectj/runtime/internal/AroundClosure");
    ignore_searches(context, output);
    if is_closure || is_generated(method.name) || finds_aspect(context) || is_woven(context) {
        context.ignore_all(output);
    } else if method.name == "<clinit>" {
        ignore_beginning(context, output);
    }
}

fn is_generated(name: &str) -> bool {
    let is_proceed = name.starts_with("ajc$around$") && name.ends_with("proceed");
    let is_of_object = name.starts_with("ajc$")
        && (name.ends_with("$perObjectGet") || name.ends_with("$perObjectSet"));
    is_proceed || is_of_object || GENERATED.iter().any(|begin| name.starts_with(begin))
}

/// Checks whether a method only calls advice around its code, which is in a separate method.
fn is_woven(context: &FilterContext<'_>) -> bool {
    let is_body = |operand: &Operand<'_>| match operand {
        Operand::Member(called) => {
            let rest = called.name.strip_prefix(context.method.name);
            called.owner == context.class.name
                && rest.is_some_and(|rest| rest.starts_with("_aroundBody"))
        }
        _ => false,
    };
    let has_no_line = context.code.lines.iter().all(|line| line.number == NO_LINE);
    has_no_line
        && context
            .code
            .instructions
            .iter()
            .any(|at| is_body(&at.operand))
}

/// Line number of members without a line.
const NO_LINE: u16 = 1;

/// Checks for `aspectOf` and `hasAspect` of an aspect.
fn finds_aspect(context: &FilterContext<'_>) -> bool {
    matches!(context.method.name, "aspectOf" | "hasAspect") && is_aspect(context.class)
}

fn is_aspect(class: &ClassDescription<'_>) -> bool {
    let names = ["aspectOf", "hasAspect"];
    let mut methods = class.methods.iter();
    let has_both = names
        .iter()
        .all(|name| class.methods.iter().any(|method| method.name == *name));
    let reads_instance = |operand: &Operand<'_>| match operand {
        Operand::Member(member) => member.name.starts_with("ajc$"),
        Operand::Type(name) => *name == "org/aspectj/lang/NoAspectBoundException",
        _ => false,
    };
    has_both
        && methods.any(|method| {
            let code = method.code.iter().flat_map(|code| code.instructions);
            method.name == "aspectOf" && code.map(|at| &at.operand).any(reads_instance)
        })
}

/// Leaves out the tests for an aspect, which the weaver puts before advice.
fn ignore_searches(context: &FilterContext<'_>, output: &mut FilterOutput) {
    let nodes = context.nodes;
    for (at, _) in nodes.iter() {
        let is_search = nodes
            .member(at)
            .is_some_and(|called| called.name == "hasAspect");
        let next = nodes.next_instruction(at).filter(|_| is_search);
        if let Some(jump) = next.filter(|next| nodes.opcode(*next) == Some(opcode::IFEQ)) {
            output.ignore(nodes, at, jump);
        }
    }
}

/// Checks whether a synthetic method contains source code: the body of a woven method, or of advice.
pub(crate) fn holds_source(method: &MethodDescription<'_>) -> bool {
    method.name.contains("_aroundBody")
}

/// Leaves out the calls that create the aspect and describe the join points, and the handler of the first.
fn ignore_beginning(context: &FilterContext<'_>, output: &mut FilterOutput) {
    let nodes = context.nodes;
    let mut is_found = false;
    for (at, _) in nodes.iter() {
        let Some(member) = nodes.member(at) else {
            continue;
        };
        is_found |= member.name.starts_with("ajc$");
        match member.name {
            "ajc$preClinit" => output.ignore(nodes, at, at),
            "ajc$postClinit" => {
                let next = nodes.next_instruction(at);
                let goto = next.filter(|next| nodes.opcode(*next) == Some(opcode::GOTO));
                output.ignore(nodes, at, goto.unwrap_or(at));
            }
            "ajc$initFailureCause" => {
                let load = nodes.previous_instruction(at);
                let store = load.and_then(|load| nodes.previous_instruction(load));
                output.ignore(nodes, store.or(load).unwrap_or(at), at);
            }
            _ => {}
        }
    }
    let code = context.code.instructions.iter().enumerate();
    let mut rest = code.filter(|(index, _)| !output.is_ignored(*index));
    if is_found && rest.all(|(_, at)| at.opcode == opcode::RETURN) {
        context.ignore_all(output);
    }
}

/// Lists the classes whose advice the method may copy.
pub(crate) fn advice_of<'a>(method: &MethodDescription<'a>) -> Vec<&'a str> {
    let is_copy = method.name.ends_with("$advice") && method.name.contains("_aroundBody");
    let parameters = method.descriptor.split_once(')').filter(|_| is_copy);
    let parameters = parameters.map_or("", |(parameters, _)| parameters);
    let names = parameters
        .split(';')
        .filter_map(|parameter| parameter.split_once('L'));
    names.map(|(_, name)| name).collect()
}

/// Checks whether a class has around advice.
pub(crate) fn has_advice<'n>(mut methods: impl Iterator<Item = &'n str>) -> bool {
    methods.any(|name| name.starts_with("ajc$around$"))
}
