//! Work on many items by a few threads.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

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

/// The most results of a thread that may wait for one that comes before them.
const AHEAD: usize = 4;

/// A thread cannot be started.
#[derive(Debug)]
pub struct NoThread(pub io::Error);

impl From<NoThread> for io::Error {
    fn from(NoThread(error): NoThread) -> Self {
        error
    }
}

/// The most threads, each of which has room for results and a stack.
const MOST_JOBS: usize = 256;

/// As much stack as the first thread of a process usually has.
const STACK: usize = 8 << 20;

/// How long to wait for a result before asking again whether to stop.
const PATIENCE: Duration = Duration::from_millis(50);

/// Does `work` for every item that an iterator comes to, on `jobs` threads at once, of which there are at most 256, and hands what came of each to `take`, on
/// this thread and in the order of the items, as soon as it is there. No more than a few results a thread are held.
///
/// It ends where `take` fails, and where `stop` says so: then what is being worked on is not handed over, and not waited for
/// either. Threads that wait, for an item or in `work`, are left behind. A panic of `work` is passed on.
///
/// # Errors
/// That of `take`, or where a thread cannot be started.
pub fn stream_in_order<I: Send + 'static, T: Send + 'static, E: From<NoThread>>(
    items: impl Iterator<Item = I> + Send + 'static,
    jobs: usize,
    work: impl Fn(I) -> T + Send + Sync + 'static,
    stop: impl Fn() -> bool,
    mut take: impl FnMut(T) -> Result<(), E>,
) -> Result<(), E> {
    let jobs = jobs.clamp(1, MOST_JOBS);
    // For each item a place where its result will be, in order; then the item with its place, for whichever thread comes first.
    let (promise, promised) = sync_channel::<Receiver<thread::Result<T>>>(jobs * AHEAD);
    let (hand, handed) = sync_channel::<(I, SyncSender<thread::Result<T>>)>(jobs * AHEAD);
    let handing = thread::Builder::new().spawn(move || {
        for item in items {
            let (done, result) = sync_channel(1);
            if promise.send(result).is_err() || hand.send((item, done)).is_err() {
                return;
            }
        }
    });
    handing.map_err(NoThread)?;
    let (work, handed) = (Arc::new(work), Arc::new(Mutex::new(handed)));
    for _ in 0..jobs {
        let (work, handed) = (Arc::clone(&work), Arc::clone(&handed));
        let working = thread::Builder::new().stack_size(STACK).spawn(move || {
            let next = || handed.lock().unwrap_or_else(PoisonError::into_inner).recv();
            while let Ok((item, done)) = next() {
                let result = catch_unwind(AssertUnwindSafe(|| work(item)));
                // Nobody waits for it, nor for what was handed out after it, where the stream has ended.
                if done.send(result).is_err() {
                    return;
                }
            }
        });
        working.map_err(NoThread)?;
    }
    while let Some(result) = wait(&promised, &stop) {
        match wait(&result, &stop) {
            Some(Ok(result)) => take(result)?,
            Some(Err(panic)) => resume_unwind(panic),
            None => break,
        }
    }
    Ok(())
}

/// What comes next; none where nothing does, or where it is time to stop.
fn wait<T>(receiver: &Receiver<T>, stop: impl Fn() -> bool) -> Option<T> {
    while !stop() {
        match receiver.recv_timeout(PATIENCE) {
            Ok(next) => return Some(next),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return None,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{AHEAD, map_in_order, stream_in_order};
    use std::io;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Arc, Barrier};
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

    #[test]
    fn a_stream_is_handed_over_in_order_and_few_results_wait() {
        for jobs in [0, 1, 3] {
            let begun = AtomicUsize::new(0);
            let handed = Arc::new(AtomicUsize::new(0));
            let of_worker = Arc::clone(&handed);
            let work = move |item: usize| {
                // Others may be begun, and handed over, between the two.
                let ahead =
                    begun.fetch_add(1, Ordering::SeqCst).saturating_sub(of_worker.load(Ordering::SeqCst));
                // The first one is waited for.
                thread::sleep(Duration::from_millis(if item == 0 { 50 } else { 0 }));
                (item, ahead)
            };
            let mut taken = Vec::new();
            let ran = stream_in_order(
                0..200,
                jobs,
                work,
                || false,
                |(item, ahead)| {
                    handed.fetch_add(1, Ordering::SeqCst);
                    taken.push(item);
                    // One is at hand, and one is with each thread, beside those that wait.
                    assert!(ahead <= (AHEAD + 1) * jobs.max(1) + 1, "{ahead} with {jobs} jobs");
                    Ok::<_, io::Error>(())
                },
            );
            assert!(ran.is_ok());
            assert_eq!(taken, (0..200).collect::<Vec<_>>(), "{jobs}");
        }
    }

    #[test]
    fn a_stream_ends_where_its_taker_fails_or_wants_no_more() {
        let failed = stream_in_order(
            0..,
            2,
            |item| item,
            || false,
            |item: u64| {
                if item < 10 { Ok(()) } else { Err(io::Error::other(item.to_string())) }
            },
        );
        assert_eq!(failed.unwrap_err().to_string(), "10");
        let taken = AtomicUsize::new(0);
        // What never comes is not waited for.
        let (_open, items) = std::sync::mpsc::channel::<u64>();
        let stop = || taken.fetch_add(1, Ordering::SeqCst) > 3;
        stream_in_order(items.into_iter(), 2, |item| item, stop, |_| Ok::<_, io::Error>(())).unwrap();
    }

    #[test]
    #[should_panic(expected = "of the third")]
    fn a_panic_is_passed_on() {
        let work = |item: u64| assert!(item != 3, "of the third");
        let _ran = stream_in_order(0..10, 2, work, || false, |()| Ok::<_, io::Error>(()));
    }
}
