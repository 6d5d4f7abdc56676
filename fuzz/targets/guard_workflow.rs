//! The guard on workflows in YAML.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    assay_fuzz::guard_file(".github/workflows/ci.yml", bytes);
});
