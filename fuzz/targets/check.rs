//! The checker, on small histories of every model.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    assay_fuzz::check_and_verify(bytes);
});
