//! Limits of the two files that users get.

/// Most bytes of the agent's library.
pub const MAX_AGENT: usize = 12_000_000;
/// Most bytes of the command.
pub const MAX_COMMAND: usize = 45_000_000;

/// A crate of the compiler; the messages of its panics hold the paths of its sources.
const COMPILER: &[u8] = b"/cranelift-codegen-";

/// Returns the fault of an agent's library that holds the compiler of plugins, or is too large.
pub fn fault_of_agent(library: &[u8]) -> Option<String> {
    if library.windows(COMPILER.len()).any(|part| part == COMPILER) {
        let build = "build it alone: `cargo build --release -p hook-agent`";
        return Some(format!("it holds the compiler of plugins; {build}"));
    }
    too_large(library, MAX_AGENT)
}

/// Returns the fault of a command that is too large.
pub fn fault_of_command(command: &[u8]) -> Option<String> {
    too_large(command, MAX_COMMAND)
}

fn too_large(product: &[u8], most: usize) -> Option<String> {
    let found = product.len();
    (found > most).then(|| format!("expected at most {most} bytes, found {found}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agent_with_a_compiler_and_products_that_are_too_large_are_found() {
        let with_compiler = b"\0/src/cranelift-codegen-0.1/src/lib.rs\0";
        assert!(fault_of_agent(with_compiler).is_some_and(|fault| fault.contains("compiler")));
        assert_eq!(fault_of_command(with_compiler), None);
        let large = fault_of_agent(&vec![0; MAX_AGENT + 1]);
        assert!(large.is_some_and(|fault| fault.contains("12000001")));
        assert_eq!(fault_of_agent(&vec![0; MAX_AGENT]), None);
        assert!(fault_of_command(&vec![0; MAX_COMMAND + 1]).is_some());
    }
}
