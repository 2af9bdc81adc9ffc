//! A place of its own for each native thread, found without a call.
//!
//! A `thread_local!` of a shared library is asked for at the dynamic linker each time (the general dynamic model of
//! ELF TLS), which is a good part of what an event costs. Here the offset is known once the library is loaded (initial
//! exec); the C library keeps room for such variables of libraries that are loaded later.

use probes::spans::Place;

#[cfg(target_arch = "x86_64")]
std::arch::global_asm!(
    ".pushsection .tbss.classhook_place,\"awT\",@nobits",
    ".balign 16",
    ".globl classhook_place",
    ".hidden classhook_place",
    ".type classhook_place,@object",
    ".size classhook_place,16",
    "classhook_place:",
    ".zero 16",
    ".popsection",
);

/// The place is as large as what the assembler makes room for, and empty while all its bytes are zero.
#[cfg(target_arch = "x86_64")]
const _: () = assert!(size_of::<Place>() == 16 && align_of::<Place>() <= 16);

/// Runs `body` with the place of this thread.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn with<R>(body: impl FnOnce(&Place) -> R) -> R {
    let place: *const Place;
    // SAFETY: the System V ABI has the thread's own address at fs:0, and the offset of its variable in the table.
    unsafe {
        std::arch::asm!(
            "mov {place}, qword ptr fs:[0]",
            "add {place}, qword ptr [rip + classhook_place@GOTTPOFF]",
            place = out(reg) place,
            options(nostack, pure, readonly),
        );
    }
    // SAFETY: this thread's own memory, zero at first, which is `None` (two references, the first of them null), and
    // written through `Place` alone; it lives as long as the thread.
    body(unsafe { &*place })
}

#[cfg(not(target_arch = "x86_64"))]
thread_local! {
    static PLACE: Place = const { Place::new(None) };
}

/// Runs `body` with the place of this thread.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn with<R>(body: impl FnOnce(&Place) -> R) -> R {
    PLACE.with(body)
}

/// Makes the place empty again.
pub(crate) fn clear() {
    with(|place| place.set(None));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_empty_at_first_and_each_thread_has_its_own() {
        let address = || with(|place| (std::ptr::from_ref(place) as usize, place.get().is_none()));
        let (mine, empty) = address();
        assert!(empty && address() == (mine, true));
        let (other, empty) = std::thread::spawn(address).join().expect("a thread");
        assert!(empty && other != mine);
        clear();
    }
}
