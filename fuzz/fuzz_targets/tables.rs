#![no_main]

// Panics of the parquet crate are caught by the store. libFuzzer's hook would end the program before that; without
// it, a panic that is not caught still does.
libfuzzer_sys::fuzz_target!(
    init: std::panic::set_hook(Box::new(|_| {})),
    |data: &[u8]| perfpipe_ingest::fuzz::tables(data)
);
