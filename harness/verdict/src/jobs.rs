//! Work on many items by a few threads.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Does `work` for every item, on `jobs` threads at once (at least one, at most one for each item), each with a stack of
/// `stack_size` bytes, or the system's usual one where that is 0. What came of the items is in their order.
///
/// A panic of `work` is passed on.
///
/// # Errors
/// Where a thread cannot be started. The items that no thread has begun by then are left.
pub fn map_in_order<I: Sync, T: Send>(
    items: &[I],
    jobs: usize,
    stack_size: usize,
    work: impl Fn(&I) -> T + Sync,
) -> io::Result<Vec<T>> {
    let (next, stopped) = (AtomicUsize::new(0), AtomicBool::new(false));
    let done: Mutex<Vec<(usize, T)>> = Mutex::new(Vec::with_capacity(items.len()));
    let run = || {
        while !stopped.load(Ordering::Relaxed) {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(index) else { return };
            let result = work(item);
            done.lock().unwrap_or_else(PoisonError::into_inner).push((index, result));
        }
    };
    thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, items.len().max(1)) {
            let builder = thread::Builder::new();
            let builder = if stack_size > 0 { builder.stack_size(stack_size) } else { builder };
            if let Err(error) = builder.spawn_scoped(scope, run) {
                stopped.store(true, Ordering::Relaxed);
                return Err(error);
            }
        }
        Ok(())
    })?;
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_unstable_by_key(|(index, _)| *index);
    Ok(done.into_iter().map(|(_, result)| result).collect())
}

#[cfg(test)]
mod tests {
    use super::map_in_order;
    use std::sync::Barrier;
    use std::thread;
    use std::time::Duration;

    #[test]
    fn results_are_in_the_order_of_the_items() {
        let items: Vec<u64> = (0..50).collect();
        for jobs in [0, 1, 4, 100] {
            let slow_first = |item: &u64| {
                thread::sleep(Duration::from_millis(if *item == 0 { 20 } else { 0 }));
                item * 2
            };
            let doubled = map_in_order(&items, jobs, 0, slow_first).unwrap();
            assert_eq!(doubled, items.iter().map(|item| item * 2).collect::<Vec<_>>(), "{jobs}");
        }
        assert_eq!(map_in_order(&[0_u8; 0], 3, 0, |item| *item).unwrap(), [0_u8; 0]);
    }

    #[test]
    fn so_many_jobs_run_at_once() {
        let barrier = Barrier::new(3);
        let leaders = map_in_order(&[(); 6], 3, 1 << 20, |()| barrier.wait().is_leader()).unwrap();
        assert_eq!(leaders.into_iter().filter(|leader| *leader).count(), 2);
    }

    #[test]
    fn a_stack_can_be_large() {
        fn depth(left: usize) -> usize {
            let room = [left; 1024];
            if left == 0 { 0 } else { std::hint::black_box(room)[0].min(1) + depth(left - 1) }
        }
        assert_eq!(map_in_order(&[1_000], 1, 64 << 20, |left| depth(*left)).unwrap(), [1_000]);
    }
}
