//! The work that a comparison may take. What a peer lists is compared, and a peer may be hostile.

/// Bytes that may be looked at in any case,
const LEAST: u64 = 4 << 20;

/// and for each byte that is to be compared.
const FACTOR: u64 = 32;

/// What may still be done, counted in bytes that are looked at. It grows as what is compared does, not as its square.
#[derive(Debug)]
pub struct Budget {
    all: u64,
    left: u64,
    spent: bool,
}

impl Budget {
    /// For comparing this many bytes.
    pub fn new(bytes: usize) -> Self {
        let all = LEAST + FACTOR * bytes as u64;
        Self { all, left: all, spent: false }
    }

    /// Takes work out of it; whether there was enough left.
    pub(crate) fn take(&mut self, work: usize) -> bool {
        match self.left.checked_sub(work as u64) {
            Some(left) if !self.spent => self.left = left,
            _ => self.spent = true,
        }
        !self.spent
    }

    /// Whether something was left undone.
    pub fn is_spent(&self) -> bool {
        self.spent
    }

    /// What was done.
    pub fn done(&self) -> u64 {
        self.all - self.left
    }
}
