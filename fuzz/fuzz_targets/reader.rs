#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| generators::fuzzing::run("reader", bytes));
