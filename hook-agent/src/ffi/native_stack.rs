//! The stack of a native thread.

use super::vm_flags::VmFlag;
use std::ptr::null_mut;
use std::sync::LazyLock;

/// Pages that HotSpot keeps free at the end of the stack (`StackShadowPages`), if the JVM does not export the flag.
const SHADOW_PAGES: usize = 20;
/// Largest number of guard pages at the end of the stack.
const GUARD_PAGES: usize = 4;
/// Bytes above these pages in which the frames of a call may grow while it runs.
const MARGIN: usize = 64 << 10;

/// Number of pages at the end of each stack that Java code does not use.
static KEPT_PAGES: LazyLock<usize> = LazyLock::new(|| {
    let shadow = VmFlag::find(c"StackShadowPages").map(VmFlag::number);
    shadow.unwrap_or(0).clamp(SHADOW_PAGES, 1_000) + GUARD_PAGES
});

/// The stack pointer.
#[inline(always)]
pub(crate) fn pointer() -> u64 {
    let pointer: u64;
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a register is read.
    unsafe {
        std::arch::asm!("mov {}, rsp", out(reg) pointer, options(nomem, nostack, preserves_flags));
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: a register is read.
    unsafe {
        std::arch::asm!("mov {}, sp", out(reg) pointer, options(nomem, nostack, preserves_flags));
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        let here = 0_u8;
        pointer = (&raw const here).addr() as u64;
    }
    pointer
}

/// The stack pointer of this thread below which a call of Java code may overflow the stack; 0 if it is unknown.
pub(crate) fn scarce_below() -> u64 {
    let Some(end) = end() else { return 0 };
    // SAFETY: sysconf reads a constant.
    let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4 << 10);
    (end + *KEPT_PAGES * page + MARGIN) as u64
}

/// The lowest address of this thread's stack.
fn end() -> Option<usize> {
    // SAFETY: the attributes are plain data, which the function below fills.
    let mut attributes: libc::pthread_attr_t = unsafe { std::mem::zeroed() };
    // SAFETY: it reads the attributes of the calling thread into `attributes`.
    let status = unsafe { libc::pthread_getattr_np(libc::pthread_self(), &raw mut attributes) };
    if status != 0 {
        return None;
    }
    let (mut address, mut size) = (null_mut(), 0);
    // SAFETY: the attributes are initialised, and both outputs point to local variables.
    let status = unsafe {
        libc::pthread_attr_getstack(&raw const attributes, &raw mut address, &raw mut size)
    };
    // SAFETY: the attributes are initialised, and are not used again.
    unsafe { libc::pthread_attr_destroy(&raw mut attributes) };
    (status == 0).then_some(address.addr())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stack_pointer_is_above_the_end_of_the_stack() {
        let thread = std::thread::Builder::new().stack_size(1 << 20);
        let found = thread.spawn(|| (end(), pointer(), scarce_below()));
        let (end, pointer, scarce) = found.expect("a thread").join().expect("no panic");
        let end = end.expect("known") as u64;
        assert!(end < scarce && scarce < pointer, "{end} {scarce} {pointer}");
        // The C library adds the thread-local variables to the requested size.
        assert!(pointer - end < 2 << 20, "{end} {pointer}");
    }
}
