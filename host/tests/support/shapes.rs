//! A class to transform, as if from the application's loader.

use host::{ClassRequest, CodeSource, Loader};
use probes::ProbeTable;

pub const SHAPES: &[u8] = include_bytes!("../fixtures/Shapes.class");

pub fn request(bytes: &[u8]) -> ClassRequest<'_> {
    ClassRequest {
        name: b"Shapes",
        loader: &Loader::App,
        location: CodeSource::Unread,
        bytes,
        original: None,
        retransforming: false,
    }
}

/// A table with space for the probes of two arrays.
pub fn table() -> ProbeTable {
    let table = ProbeTable::new();
    table.set_arrays(2);
    table
}
