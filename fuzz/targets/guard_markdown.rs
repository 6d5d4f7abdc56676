//! The guard on requirements in Markdown.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    assay_fuzz::guard_file("requirements/prd.md", bytes);
});
