//! Assembles the code of a plugin and counts its bytes.

use edits::Instruction;
use rewriter::Snippet;

use crate::limits::OPERATION_BYTES;
use crate::refusal::RefusedRequest;

/// Code with the bytes that it counts for.
#[derive(Debug, Clone, Default)]
pub(crate) struct CountedSnippet {
    pub(crate) snippet: Snippet,
    pub(crate) bytes: usize,
}

/// Returns the bytes that code counts for: each instruction with its text.
#[must_use]
pub fn code_bytes(code: &[Instruction]) -> usize {
    let bytes = |instruction: &Instruction| OPERATION_BYTES + instruction.text();
    code.iter().map(bytes).sum()
}

impl CountedSnippet {
    /// Assembles code.
    pub(crate) fn of(code: &[Instruction]) -> Result<Self, RefusedRequest> {
        let snippet = Snippet::assemble(code);
        let snippet = snippet.map_err(|error| RefusedRequest::unsuitable(None, &error))?;
        Ok(Self {
            snippet,
            bytes: code_bytes(code),
        })
    }
}
