//! The guard on Java.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    assay_fuzz::guard_file("src/ATest.java", bytes);
});
