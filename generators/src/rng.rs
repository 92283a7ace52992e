//! Numbers that look random and are the same on every machine: splitmix64.
//!
//! Takes no clock, no address and no hash order, so that a seed and a version are all it takes to make the same bytes
//! again.

/// A source of choices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rng(u64);

impl Rng {
    /// The choices of this seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Choices of their own for one named part, so that a part that throws more often moves no other.
    pub fn fork(&self, name: &str) -> Self {
        // FNV-1a: any fixed mixing of the name does.
        let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
        });
        let mut rng = Self(self.0 ^ hash);
        rng.next_u64();
        rng
    }

    /// The next 64 bits (Steele, Lea and Flood, "Fast splittable pseudorandom number generators").
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Any byte.
    pub fn byte(&mut self) -> u8 {
        self.next_u64().to_le_bytes()[7]
    }

    /// A number below `end`; 0 where there is none. The bias at these sizes is far below one in a billion.
    pub fn below(&mut self, end: usize) -> usize {
        let attempt = self.next_u64() >> 32;
        usize::try_from((attempt * end as u64) >> 32).unwrap_or_default()
    }

    /// Whether a chance of one in `of` comes up.
    pub fn one_in(&mut self, of: usize) -> bool {
        self.below(of) == 0
    }

    /// One of them; none of none.
    pub fn pick<'t, T>(&mut self, of: &'t [T]) -> Option<&'t T> {
        of.get(self.below(of.len()))
    }

    /// Puts them into another order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Rng;

    #[test]
    fn the_numbers_are_those_of_the_published_generator() {
        // From the reference implementation (Vigna, splitmix64.c) with the seed 1234567.
        let mut rng = Rng::new(1_234_567);
        let attempt = [rng.next_u64(), rng.next_u64(), rng.next_u64()];
        assert_eq!(
            attempt,
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
    }

    #[test]
    fn every_side_comes_up_about_as_often() {
        let mut rng = Rng::new(7);
        let mut counts = [0_u32; 6];
        for _ in 0..6000 {
            counts[rng.below(6)] += 1;
        }
        assert!(counts.iter().all(|count| (850..1150).contains(count)), "{counts:?}");
        assert_eq!(Rng::new(1).below(0), 0);
    }

    #[test]
    fn forks_part_by_name_and_not_by_what_was_thrown_elsewhere() {
        let rng = Rng::new(3);
        let (mut a, mut b, mut again) = (rng.fork("a"), rng.fork("b"), rng.fork("a"));
        b.next_u64();
        assert_ne!(rng.fork("a").next_u64(), rng.fork("b").next_u64());
        assert_eq!(a.next_u64(), again.next_u64());
    }
}
