//! What the agent's library must be: small, and without the compiler of plugins.

/// Most bytes of the library.
pub const MAX_BYTES: usize = 12 << 20;

/// A crate of the compiler; the paths of its sources are in the messages of its panics.
const COMPILER: &[u8] = b"/cranelift-codegen-";

/// What is wrong with the library, if anything.
pub fn fault(library: &[u8]) -> Option<String> {
    let built = "build the agent by itself: `cargo build --release -p hook-agent`";
    if library.windows(COMPILER.len()).any(|part| part == COMPILER) {
        return Some(format!("the agent holds the compiler of plugins; {built}"));
    }
    let found = library.len();
    (found > MAX_BYTES)
        .then(|| format!("the agent has {found} bytes, expected at most {MAX_BYTES}; {built}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn library_with_a_compiler_and_one_that_is_too_large_are_found() {
        let with_compiler = b"\0/src/cranelift-codegen-0.1/src/lib.rs\0";
        assert!(fault(with_compiler).is_some_and(|fault| fault.contains("compiler")));
        assert!(fault(&vec![0; MAX_BYTES + 1]).is_some_and(|fault| fault.contains("12582913")));
        assert_eq!(fault(&vec![0; MAX_BYTES]), None);
    }
}
