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

    /// Assembles code to insert, whose local variables exist only while it runs.
    pub(crate) fn inserted(code: &[Instruction]) -> Result<Self, RefusedRequest> {
        let made = Self::of(code)?;
        match made.snippet.unread_store() {
            None => Ok(made),
            Some((at, slot)) => {
                let cause = format!(
                    "operation {at}: it stores to local variable {slot} of the inserted code, which nothing reads"
                );
                Err(RefusedRequest {
                    help: Some(
                        "store_argument assigns a parameter of the method, and pop drops a value",
                    ),
                    ..RefusedRequest::unsuitable(None, &cause)
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use edits::{Local, Operand};
    use jvms::opcode;

    fn local(opcode: u8, index: u16) -> Instruction {
        Instruction {
            opcode: opcode.into(),
            operand: Operand::Local(Local {
                index,
                increment: 0,
            }),
        }
    }

    #[test]
    fn store_that_nothing_reads_is_refused_with_a_remedy() {
        let null = Instruction {
            opcode: opcode::ACONST_NULL.into(),
            operand: Operand::None,
        };
        let store = local(opcode::ASTORE, 0);
        let unread = [null.clone(), store.clone(), local(opcode::ALOAD, 1)];
        let refused = CountedSnippet::inserted(&unread).expect_err("a refusal");
        assert!(
            refused.message.starts_with("operation 1: it stores to"),
            "{}",
            refused.message
        );
        assert!(
            refused
                .help
                .is_some_and(|help| help.contains("store_argument"))
        );
        let read = [null, store, local(opcode::ALOAD, 0)];
        CountedSnippet::inserted(&read).expect("code that reads the variable");
        CountedSnippet::of(&unread).expect("a body, whose variables are the method's");
    }
}
