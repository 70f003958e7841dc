#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| perfpipe_ingest::fuzz::summaries(data));
