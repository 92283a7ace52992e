#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| runner::fuzzing::run("case_file", bytes));
