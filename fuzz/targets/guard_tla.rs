//! The guard on TLA+ modules.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    assay_fuzz::guard_file("specs/A.tla", bytes);
});
