//! The process as a whole: its end with `on-error=strict`, its memory, its user, the time, and the CPU time of a
//! thread.

use probes::spans::heap_words;
use std::os::unix::fs::MetadataExt;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

/// The CPU time of the calling thread, user and system.
pub(crate) fn thread_cpu_time() -> Duration {
    let mut used = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the clock exists on every Linux, and `used` receives its answer.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut used) };
    let nanoseconds = u32::try_from(used.tv_nsec).unwrap_or(0);
    Duration::new(u64::try_from(used.tv_sec).unwrap_or(0), nanoseconds)
}

/// Ends the process at once with `status`, after the buffers of C streams are written.
pub(crate) fn exit_now(status: i32) -> ! {
    // SAFETY: fflush(NULL) flushes every C stream; the agent holds no lock of a stream.
    unsafe { libc::fflush(std::ptr::null_mut()) };
    // SAFETY: _exit ends the process and touches no memory of it.
    unsafe { libc::_exit(status) }
}

/// Allocates this many words, all 0, on separate pages. They stay for the lifetime of the process. If the system has no
/// more pages, they come from the heap.
pub(crate) fn pages(length: usize) -> &'static [AtomicU64] {
    let bytes = length * size_of::<AtomicU64>();
    let (access, kind) = (
        libc::PROT_READ | libc::PROT_WRITE,
        libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
    );
    // SAFETY: a new mapping at an address of the system's choice touches no other memory.
    let mapped = unsafe { libc::mmap(std::ptr::null_mut(), bytes, access, kind, -1, 0) };
    if mapped == libc::MAP_FAILED {
        return heap_words(length);
    }
    // SAFETY: the mapping has `bytes` bytes, which are 0 and aligned to a page. It is never unmapped, and has no other
    // user. Any bits are a valid AtomicU64.
    unsafe { std::slice::from_raw_parts(mapped.cast(), length) }
}

/// Returns the pages of these words to the system, except for pages that contain other words too. The words are 0
/// afterwards, or unchanged.
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
        // SAFETY: the pages are within the words, which are private memory and, being atomic, may change at any time.
        // If the system refuses, they stay unchanged.
        unsafe { libc::madvise(begin as *mut libc::c_void, length, libc::MADV_DONTNEED) };
    }
}

/// Returns the freed memory that glibc keeps in the pools of all threads to the system. Other C libraries lack the
/// function and keep little, so it is looked up in the process.
pub(crate) fn give_back_free_memory() {
    // SAFETY: the name is a C string, and the lookup runs no code.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"malloc_trim".as_ptr()) };
    if found.is_null() {
        return;
    }
    // SAFETY: the function of this name is glibc's, which has this type (`man 3 malloc_trim`).
    let malloc_trim: unsafe extern "C" fn(usize) -> i32 = unsafe { std::mem::transmute(found) };
    // SAFETY: any thread may call it at any time; it takes the locks of the pools one after another.
    unsafe { malloc_trim(0) };
}

/// The name of the user of this process; the number if the system has no name for it, as in a container.
pub(crate) fn user() -> String {
    probes::user_name(std::fs::metadata("/proc/self").map_or(0, |of| of.uid()))
}

/// Milliseconds since 1970.
pub(crate) fn now_ms() -> u64 {
    let elapsed = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap_or_default();
    u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering;

    #[test]
    fn whole_pages_are_returned_and_shared_pages_stay() {
        let words = pages(4 << 10);
        let of = |value: u64| {
            let words = words.iter();
            words
                .filter(move |word| word.load(Ordering::Relaxed) == value)
                .count()
        };
        assert_eq!(of(0), words.len());
        words
            .iter()
            .for_each(|word| word.store(7, Ordering::Relaxed));
        give_back_pages(&words[1..words.len() - 1]);
        assert_eq!(of(0), 6 * 512, "all pages but those at both ends");
        assert_eq!(of(7), 2 * 512);
        words[2_000].store(1, Ordering::Relaxed);
        assert_eq!(words[2_000].load(Ordering::Relaxed), 1);
        give_back_pages(words);
        assert_eq!(of(0), words.len());
    }
}
