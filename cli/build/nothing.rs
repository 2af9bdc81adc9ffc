//! An empty plugin for `classhook plugin bench`, which measures the minimum cost of any plugin.

use std::path::Path;

use anyhow::Result;
use wit_bindgen_core::wit_parser::Resolve;
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};

/// Imported functions: each drops a handle that was lent for the call.
const DROPS: [(&str, &str); 2] = [
    (
        "classhook:plugin/class-file@0.1.0",
        "[resource-drop]class-view",
    ),
    ("classhook:plugin/plans@0.1.0", "[resource-drop]plan"),
];
/// Exports: a memory, and functions by the numbers that follow those of the imports.
const EXPORTS: [(&str, u8, u8); 4] = [
    ("memory", 2, 0),
    ("classhook:plugin/transformer@0.1.0#configure", 0, 2),
    ("classhook:plugin/transformer@0.1.0#transform", 0, 3),
    ("cabi_realloc", 0, 4),
];
/// `(i32)`, `(i32, i32) -> i32` and `(i32, i32, i32, i32) -> i32`.
const TYPES: &[u8] =
    b"\x03\x60\x01\x7f\x00\x60\x02\x7f\x7f\x01\x7f\x60\x04\x7f\x7f\x7f\x7f\x01\x7f";
/// Address 16 holds zeros, which mean success and an empty list. A text fits from address 65,536
/// on.
const CODE: &[u8] = b"\x03\
    \x04\x00\x41\x10\x0b\
    \x0c\x00\x20\x00\x10\x00\x20\x01\x10\x01\x41\x10\x0b\
    \x06\x00\x41\x80\x80\x04\x0b";

/// Returns the component.
pub fn component(wit: &Path, world: &str) -> Result<Vec<u8>> {
    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_path(wit)?;
    let world = resolve.select_world(&[package], Some(world))?;
    let mut module = module();
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8)?;
    let encoded = ComponentEncoder::default()
        .validate(true)
        .module(&module)
        .and_then(|mut encoder| encoder.encode())?;
    Ok(encoded)
}

fn module() -> Vec<u8> {
    let mut imports = vec![DROPS.len() as u8];
    for (interface, function) in DROPS {
        text(interface, &mut imports);
        text(function, &mut imports);
        imports.extend([0, 0]);
    }
    let mut exports = vec![EXPORTS.len() as u8];
    for (name, kind, number) in EXPORTS {
        text(name, &mut exports);
        exports.extend([kind, number]);
    }
    let mut module = b"\0asm\x01\0\0\0".to_vec();
    let sections: [(u8, &[u8]); 6] = [
        (1, TYPES),
        (2, &imports),
        (3, &[3, 1, 1, 2]),
        (5, &[1, 0, 32]),
        (7, &exports),
        (10, CODE),
    ];
    for (id, content) in sections {
        module.push(id);
        number(content.len(), &mut module);
        module.extend(content);
    }
    module
}

fn text(text: &str, out: &mut Vec<u8>) {
    number(text.len(), out);
    out.extend(text.as_bytes());
}

/// Appends a number as LEB128.
fn number(mut value: usize, out: &mut Vec<u8>) {
    while value > 0x7f {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}
