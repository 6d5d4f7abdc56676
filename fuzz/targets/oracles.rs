//! All oracles on small histories; a certificate that does not hold is a failure.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    assay_fuzz::run_oracles(bytes);
});
