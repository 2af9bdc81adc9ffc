//! What concerns the whole process: its end under `on-error=strict`, and whether a debugger is in it.

/// Whether the JVM's debugging agent is loaded: a retransformation clears breakpoints.
pub(crate) fn is_debugged() -> bool {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    maps.lines().any(|line| line.ends_with("/libjdwp.so"))
}

/// Ends the process at once with `status`, after what C code has buffered is written.
pub(crate) fn exit_now(status: i32) -> ! {
    // SAFETY: fflush(NULL) flushes every C stream; it is called outside any stream's lock of ours.
    unsafe { libc::fflush(std::ptr::null_mut()) };
    // SAFETY: _exit ends the process and touches no memory of it.
    unsafe { libc::_exit(status) }
}
