//! The service: compiles one component from a pipe, and answers on another.

use std::io::{self, Read, Write};

use plugin_code::limits::{Limits, MAX_CODE, MAX_COMPONENT, MAX_FUNCTIONS, MAX_LOCALS};
use plugin_code::{Answer, sha256_hex};
use wasmparser::{Parser, Payload};

use crate::compiler::compile;

/// Compiles the component from `input`. `limit` limits this process before the compiler runs.
///
/// # Errors
/// If the input cannot be read, this process cannot be limited, or the answer cannot be written.
pub fn serve(
    input: &mut dyn Read,
    output: &mut dyn Write,
    limit: &dyn Fn(Limits) -> io::Result<()>,
) -> io::Result<()> {
    let mut wasm = Vec::new();
    // The requester reads the same number of bytes. More bytes would give another digest.
    input.take(MAX_COMPONENT).read_to_end(&mut wasm)?;
    limit(Limits::of(wasm.len()))?;
    let (answer, code) = answer(&wasm);
    answer.write(&code, output)
}

fn answer(wasm: &[u8]) -> (Answer, Vec<u8>) {
    if let Some(beyond) = beyond_limit(wasm) {
        return (beyond, Vec::new());
    }
    match compile(wasm) {
        Err(error) => (Answer::Invalid(format!("{error:#}")), Vec::new()),
        Ok(code) if code.len() as u64 > MAX_CODE => (
            too_large("bytes of code", code.len() as u64, MAX_CODE),
            Vec::new(),
        ),
        Ok(code) => {
            let of = sha256_hex(wasm);
            let length = code.len() as u64;
            (Answer::Code { of, length }, code)
        }
    }
}

/// Returns the limit that a component's functions exceed, if any. Unreadable code is left to the compiler's own check.
fn beyond_limit(wasm: &[u8]) -> Option<Answer> {
    let mut functions = 0;
    for payload in Parser::new(0).parse_all(wasm) {
        match payload.ok()? {
            Payload::CodeSectionStart { count, .. } => functions += u64::from(count),
            Payload::CodeSectionEntry(body) => {
                let groups = body.get_locals_reader().ok()?.into_iter();
                let locals: u64 = groups.flatten().map(|(count, _)| u64::from(count)).sum();
                if locals > MAX_LOCALS {
                    return Some(too_large("locals in a function", locals, MAX_LOCALS));
                }
            }
            _ => {}
        }
        if functions > MAX_FUNCTIONS {
            return Some(too_large("functions", functions, MAX_FUNCTIONS));
        }
    }
    None
}

fn too_large(what: &str, found: u64, most: u64) -> Answer {
    Answer::TooLarge(format!("{found} {what}"), format!("at most {most} {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A component with one core module of these bytes.
    fn component(module: &[u8]) -> Vec<u8> {
        let mut wasm = b"\0asm\x0d\0\x01\0\x01".to_vec();
        number(module.len(), &mut wasm);
        wasm.extend(module);
        wasm
    }

    /// LEB128.
    fn number(mut value: usize, out: &mut Vec<u8>) {
        while value > 0x7f {
            out.push(value as u8 | 0x80);
            value >>= 7;
        }
        out.push(value as u8);
    }

    /// A module of `functions` functions with `locals` locals each.
    fn module(functions: usize, locals: usize) -> Vec<u8> {
        let section = |id: u8, body: Vec<u8>, out: &mut Vec<u8>| {
            out.push(id);
            number(body.len(), out);
            out.extend(body);
        };
        let mut out = b"\0asm\x01\0\0\0".to_vec();
        section(1, vec![1, 0x60, 0, 0], &mut out);
        let mut declared = Vec::new();
        number(functions, &mut declared);
        declared.resize(declared.len() + functions, 0);
        section(3, declared, &mut out);
        let mut body = vec![1];
        number(locals, &mut body);
        body.extend([0x7f, 0x0b]);
        let mut bodies = Vec::new();
        number(functions, &mut bodies);
        for _ in 0..functions {
            number(body.len(), &mut bodies);
            bodies.extend(&body);
        }
        section(10, bodies, &mut out);
        out
    }

    fn served(wasm: &[u8]) -> (Answer, usize) {
        let mut output = Vec::new();
        serve(&mut &wasm[..], &mut output, &|_| Ok(())).unwrap();
        let (answer, code) = Answer::read(output).unwrap();
        (answer, code.len())
    }

    #[test]
    fn component_is_compiled_and_named_by_its_digest() {
        let wasm = component(&module(3, 10));
        let (answer, length) = served(&wasm);
        let of = sha256_hex(&wasm);
        assert!(length > 0);
        let length = length as u64;
        assert_eq!(answer, Answer::Code { of, length });
    }

    #[test]
    fn too_many_functions_or_locals_are_counted_before_the_compiler_sees_them() {
        let (answer, _) = served(&component(&module(100_001, 0)));
        assert_eq!(
            answer,
            Answer::TooLarge("100001 functions".into(), "at most 100000 functions".into())
        );
        let (answer, _) = served(&component(&module(1, 10_001)));
        assert!(
            matches!(answer, Answer::TooLarge(found, _) if found == "10001 locals in a function")
        );
    }

    #[test]
    fn invalid_component_is_refused_with_the_compilers_reason() {
        assert!(matches!(served(b"hello").0, Answer::Invalid(_)));
        let cut = component(&module(3, 10));
        assert!(matches!(
            served(&cut[..cut.len() - 4]).0,
            Answer::Invalid(_)
        ));
    }

    #[test]
    fn process_that_cannot_be_limited_compiles_nothing() {
        let mut output = Vec::new();
        let refuse = |_| Err(io::ErrorKind::PermissionDenied.into());
        serve(&mut &component(&module(1, 1))[..], &mut output, &refuse).unwrap_err();
        assert!(output.is_empty());
    }
}
