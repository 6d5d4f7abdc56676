//! No format given: recognised by the first bytes, gzip and zstd included.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    assay_fuzz::read_and_use(bytes, None);
});
