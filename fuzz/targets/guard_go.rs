//! The guard on Go.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    assay_fuzz::guard_file("a/a_test.go", bytes);
});
