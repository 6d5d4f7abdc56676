//! Plans: any text is read, checked, shown and printed again without a panic.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    assay_fuzz::read_plan(bytes);
});
