//! Prints the byte that chooses each format in the fuzz targets `reader` and `convert`: in octal, with the format's name and
//! the name of its files, a format a line. `scripts/fuzz.sh` lays out a corpus by it.

#![expect(clippy::print_stdout, reason = "this is what it is for")]

fn main() {
    for (byte, format) in formats::FORMATS.iter().enumerate() {
        println!("{byte:03o} {} {}", format.name, format.file);
    }
}
