//! The log lines of Porcupine's etcd test data.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    assay_fuzz::read_and_use(bytes, Some(assay_history::Format::PorcupineLog));
});
