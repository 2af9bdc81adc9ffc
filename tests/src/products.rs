//! Requirements of the agent's library and the command: small, and without the compiler of plugins.

/// Most bytes of the agent's library.
pub const MAX_AGENT: usize = 12_000_000;
/// Most bytes of the command.
pub const MAX_COMMAND: usize = 45_000_000;

/// A crate of the compiler; its source paths are in the messages of its panics.
const COMPILER: &[u8] = b"/cranelift-codegen-";

/// Returns the fault of an agent or a command of at most `most` bytes, if any.
pub fn fault(product: &[u8], most: usize) -> Option<String> {
    let found = product.len();
    if product.windows(COMPILER.len()).any(|part| part == COMPILER) {
        let built = "build it without: `cargo build --release -p cli -p hook-agent`";
        return Some(format!("it holds the compiler of plugins; {built}"));
    }
    (found > most).then(|| format!("expected at most {most} bytes, found {found}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn product_with_a_compiler_and_one_that_is_too_large_are_found() {
        let with_compiler = b"\0/src/cranelift-codegen-0.1/src/lib.rs\0";
        assert!(fault(with_compiler, MAX_AGENT).is_some_and(|fault| fault.contains("compiler")));
        let large = fault(&vec![0; MAX_AGENT + 1], MAX_AGENT);
        assert!(large.is_some_and(|fault| fault.contains("12000001")));
        assert_eq!(fault(&vec![0; MAX_AGENT], MAX_AGENT), None);
    }
}
