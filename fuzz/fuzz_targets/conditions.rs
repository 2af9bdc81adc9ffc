#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    classhook_fuzz::fuzz_target::conditions(bytes);
});
