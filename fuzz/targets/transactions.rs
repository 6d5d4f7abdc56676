//! Transactions of both styles: read, checked under every assumption, told and verified.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    assay_fuzz::check_transactions(bytes);
});
