//! What concerns the whole process: its end under `on-error=strict`, whether a debugger is in it, and memory that it
//! gets back.

use std::sync::atomic::AtomicU64;

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

/// Gives the pages of these words back to the system, but for those that they share with others at both ends. The words
/// are 0 afterwards, or as they were.
pub(crate) fn give_back_pages(words: &[AtomicU64]) {
    // SAFETY: sysconf reads a constant.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    let Some(page) = usize::try_from(page).ok().filter(|page| *page > 0) else {
        return;
    };
    let bytes = words.as_ptr_range();
    let begin = (bytes.start as usize).next_multiple_of(page);
    let end = bytes.end as usize / page * page;
    if let Some(length) = end.checked_sub(begin).filter(|length| *length > 0) {
        // SAFETY: the pages lie within the words, which are private memory and may change at any time, being atomic;
        // where the system refuses, they stay as they are.
        unsafe { libc::madvise(begin as *mut libc::c_void, length, libc::MADV_DONTNEED) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering;

    #[test]
    fn whole_pages_are_given_back_and_what_shares_a_page_stays() {
        let words: Vec<AtomicU64> = (0..4 << 10).map(|_| AtomicU64::new(7)).collect();
        let given = &words[1..words.len() - 1];
        give_back_pages(given);
        let of = |value: u64| {
            words
                .iter()
                .filter(move |word| word.load(Ordering::Relaxed) == value)
        };
        assert!(of(0).count() >= 6 * 512, "six pages at least");
        assert_eq!(of(0).count() + of(7).count(), words.len());
        for word in [&words[0], &words[words.len() - 1]] {
            assert_eq!(word.load(Ordering::Relaxed), 7);
        }
        words[2_000].store(1, Ordering::Relaxed);
        assert_eq!(words[2_000].load(Ordering::Relaxed), 1);
    }
}
