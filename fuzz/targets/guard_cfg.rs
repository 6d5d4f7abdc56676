//! The guard on configurations of the TLA+ checker.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    assay_fuzz::guard_file("specs/A.cfg", bytes);
});
