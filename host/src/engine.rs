//! The wasmtime engine that runs plugins, and the clock that limits their calls.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use wasmtime::Engine;

use crate::stack::quiet_panics;
use errors::{Error, codes};

/// Interval between two increments of the epoch while a plugin runs.
const TICK: Duration = Duration::from_millis(10);
/// Number of ticks without a call after which the clock stops.
const IDLE_TICKS: u32 = 100;

/// Creates an engine with the settings that all plugins are compiled with.
pub fn new() -> wasmtime::Result<Engine> {
    Engine::new(&plugin_code::settings())
}

/// Starts the engine that runs plugins, and its clock.
pub fn start() -> Result<(Engine, Ticker), Error> {
    quiet_panics();
    let engine = new().map_err(|error| broken(&format_args!("{error:#}")))?;
    let ticker = Ticker::new(&engine);
    Ok((engine, ticker))
}

/// The error for an engine or clock that cannot be started.
pub fn broken(error: &dyn std::fmt::Display) -> Error {
    let message = format!("the plugin engine cannot be started: {error}");
    Error::mistake(codes::H0305, message)
}

/// Advances the epoch of an engine while calls run.
///
/// The first call starts its thread, which parks a second after the last call.
#[derive(Debug)]
pub struct Ticker(Arc<Shared>);

struct Shared {
    engine: Engine,
    /// Number of running calls.
    active: AtomicUsize,
    awake: AtomicBool,
    started: AtomicBool,
    /// Set when the clock is dropped.
    stop: Mutex<bool>,
    wake: Condvar,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ticker")
            .field("active", &self.active)
            .field("awake", &self.awake)
            .finish_non_exhaustive()
    }
}

/// A running call.
pub struct RunningCall<'a>(&'a Shared);

impl Drop for RunningCall<'_> {
    fn drop(&mut self) {
        self.0.active.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Ticker {
    /// Creates the clock of an engine; the thread starts later.
    pub fn new(engine: &Engine) -> Self {
        Self(Arc::new(Shared {
            engine: engine.clone(),
            active: AtomicUsize::new(0),
            awake: AtomicBool::new(true),
            started: AtomicBool::new(false),
            stop: Mutex::new(false),
            wake: Condvar::new(),
        }))
    }

    /// Runs the clock until the result is dropped.
    ///
    /// # Errors
    /// If the thread cannot be started.
    pub fn run(&self) -> std::io::Result<RunningCall<'_>> {
        let running = RunningCall(&self.0);
        self.0.active.fetch_add(1, Ordering::SeqCst);
        if !self.0.started.swap(true, Ordering::SeqCst) {
            let shared = Arc::clone(&self.0);
            let thread = std::thread::Builder::new()
                .name("classhook-ticker".to_owned())
                .stack_size(64 << 10);
            if let Err(error) = thread.spawn(move || shared.tick()) {
                self.0.started.store(false, Ordering::SeqCst);
                return Err(error);
            }
        }
        if !self.0.awake.load(Ordering::SeqCst) {
            let _stop = self.0.stop.lock().unwrap_or_else(PoisonError::into_inner);
            self.0.wake.notify_all();
        }
        Ok(running)
    }

    /// Returns whether the clock is ticking.
    #[cfg(test)]
    pub fn is_awake(&self) -> bool {
        self.0.started.load(Ordering::SeqCst) && self.0.awake.load(Ordering::SeqCst)
    }
}

impl Shared {
    /// Ticks until `stop` is set.
    fn tick(&self) {
        let mut idle = 0;
        loop {
            std::thread::sleep(TICK);
            self.engine.increment_epoch();
            idle = if self.active.load(Ordering::SeqCst) == 0 {
                idle + 1
            } else {
                0
            };
            if idle > IDLE_TICKS {
                idle = 0;
                if self.park() {
                    return;
                }
            }
        }
    }

    /// Waits for the next call. Returns `true` if the clock was dropped.
    fn park(&self) -> bool {
        let mut stop = self.stop.lock().unwrap_or_else(PoisonError::into_inner);
        self.awake.store(false, Ordering::SeqCst);
        while self.active.load(Ordering::SeqCst) == 0 && !*stop {
            stop = self.wake.wait(stop).unwrap_or_else(PoisonError::into_inner);
        }
        self.awake.store(true, Ordering::SeqCst);
        *stop
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        *self.0.stop.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.0.wake.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_stops_when_nothing_runs_and_starts_again() {
        let engine = new().unwrap();
        let ticker = Ticker::new(&engine);
        assert!(!ticker.is_awake(), "no thread before the first call");
        drop(ticker.run().unwrap());
        while ticker.is_awake() {
            std::thread::yield_now();
        }
        let running = ticker.run().unwrap();
        while !ticker.is_awake() {
            std::thread::yield_now();
        }
        drop(running);
    }
}
