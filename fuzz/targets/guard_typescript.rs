//! The guard on TypeScript.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    assay_fuzz::guard_file("src/a.test.ts", bytes);
});
