//! The functions of [`app`] as a WebAssembly module, for JavaScript.
//!
//! A call has three steps. JavaScript asks for room ([`reserve`]) for a request and for each recording, and writes them there;
//! [`answer`] works; and the reply stands where it says, [`reply_length`] bytes long. The request is a JSON object, the reply one
//! on a line and behind it the bytes of the answer. The module imports its memory, whose maximum is JavaScript's to choose, and
//! functions: `stop` is asked whether to stop, `panicked` is called on a panic, after which the instance is not to be called again, and
//! `random` seeds hash tables.

use std::cell::RefCell;
use std::ptr::null_mut;

mod call;

/// What JavaScript wrote, and what it reads.
struct Room {
    written: [Vec<u8>; 3],
    reply: Vec<u8>,
}

thread_local! {
    static ROOM: RefCell<Room> = const { RefCell::new(Room { written: [const { Vec::new() }; 3], reply: Vec::new() }) };
}

#[link(wasm_import_module = "concord")]
#[expect(unsafe_code, reason = "JavaScript provides them, and keeps to the lengths that it is given")]
unsafe extern "C" {
    /// Called before each MiB of a recording is read: anything but 0 ends the call with the code `interrupted`.
    safe fn stop() -> u32;
    /// Called with the place and length of what a panic says, before the instance ends.
    safe fn panicked(text: *const u8, length: usize);
    /// Fills `length` bytes with random ones.
    safe fn random(bytes: *mut u8, length: usize);
}

/// Room for `length` bytes: for the request in slot 0, for recordings in 1 and 2. Null where there is not enough memory.
#[unsafe(no_mangle)]
#[expect(unsafe_code, reason = "JavaScript finds the function by this name")]
pub extern "C" fn reserve(slot: usize, length: usize) -> *mut u8 {
    ROOM.with_borrow_mut(|room| {
        let Some(bytes) = room.written.get_mut(slot) else { return null_mut() };
        *bytes = Vec::new();
        if bytes.try_reserve_exact(length).is_err() {
            return null_mut();
        }
        bytes.resize(length, 0);
        bytes.as_mut_ptr()
    })
}

/// Answers the request, and returns where the reply stands until the next call.
#[unsafe(no_mangle)]
#[expect(unsafe_code, reason = "JavaScript finds the function by this name")]
pub extern "C" fn answer() -> *const u8 {
    std::panic::set_hook(Box::new(|panic| {
        let text = panic.to_string();
        panicked(text.as_ptr(), text.len());
    }));
    let [request, a, b] = ROOM.with_borrow_mut(|room| {
        room.reply = Vec::new();
        std::mem::take(&mut room.written)
    });
    let reply = call::reply(&request, &a, &b, &|| stop() != 0);
    ROOM.with_borrow_mut(|room| {
        room.reply = reply;
        room.reply.as_ptr()
    })
}

/// How long the reply is, in bytes.
#[unsafe(no_mangle)]
#[expect(unsafe_code, reason = "JavaScript finds the function by this name")]
pub extern "C" fn reply_length() -> usize {
    ROOM.with_borrow(|room| room.reply.len())
}

/// Random bytes for `getrandom`, which its configuration sends here.
#[unsafe(no_mangle)]
#[expect(unsafe_code, reason = "the crate getrandom finds the function by this name")]
extern "Rust" fn __getrandom_v03_custom(bytes: *mut u8, length: usize) -> Result<(), getrandom::Error> {
    random(bytes, length);
    Ok(())
}
