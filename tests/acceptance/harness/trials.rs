//! Choices that look random, and places where they are tried at the same time.

use std::{
    panic::{self, AssertUnwindSafe},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

/// Numbers that look random and are the same for the same seed.
pub(crate) struct Seeded(u64);

impl Seeded {
    /// From `TENSORFORM_TEST_SEED`, else the usual seed.
    pub(crate) fn new() -> Self {
        let given = std::env::var("TENSORFORM_TEST_SEED").ok();
        Self(
            given
                .and_then(|seed| seed.parse().ok())
                .unwrap_or(20_261_130),
        )
    }

    /// From this seed.
    pub(crate) fn of(seed: u64) -> Self {
        Self(seed)
    }

    /// The seed, as long as no number was asked for.
    pub(crate) fn seed(&self) -> u64 {
        self.0
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let mixed = mixed ^ (mixed >> 31);
        let end = u64::try_from(end.max(1)).expect("a small number");
        usize::try_from(mixed % end).expect("a small number")
    }
}

/// Trials that run at the same time: a trial mostly waits.
const AT_ONCE: usize = 6;

/// Tries each of these, several at once, each worker with a stage of its own; names all that fail.
pub(crate) fn each<T: Sync, S>(
    trials: &[T],
    stage: impl Fn() -> S + Sync,
    one: impl Fn(&mut S, usize, &T) + Sync,
    name: impl Fn(&T) -> String + Sync,
) {
    let next = AtomicUsize::new(0);
    let failed = Mutex::new(Vec::new());
    let work = || {
        let mut own = stage();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(trial) = trials.get(at) else { return };
            if panic::catch_unwind(AssertUnwindSafe(|| one(&mut own, at, trial))).is_err() {
                failed
                    .lock()
                    .expect("no thread panics here")
                    .push(name(trial));
                own = stage();
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..AT_ONCE.min(trials.len()) {
            scope.spawn(work);
        }
    });
    let failed = failed.into_inner().expect("no thread panics here");
    assert!(
        failed.is_empty(),
        "with the seed {}, {} of {}: {failed:#?}",
        Seeded::new().seed(),
        failed.len(),
        trials.len()
    );
}
