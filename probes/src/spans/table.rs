//! Assigns numbers and modes to spans.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use conditions::Program;

use super::limits::{MAX_PLUGIN_BYTES, MAX_PROGRAMS, MAX_SPANS};
use super::method_name::MethodName;
use super::rates::Rates;
use super::sessions::SpanInCode;
use super::watches::{ValueState, Watches};
use crate::events::{AbsentValue, SpanInfo, SpanMode};

/// The mode value that the running code reads for a span of mode [`SpanMode::Events`] with a program.
pub(crate) const WATCHED: u8 = SpanMode::Events as u8 + 1;

/// Assigns numbers and modes to spans. All methods are thread-safe.
///
/// The same (class, loader, method, descriptor, plugin, number) always gets the same number, so a retransformation
/// finds it.
#[derive(Debug, Default)]
pub struct SpanTable {
    session: u8,
    modes: OnceLock<Box<[AtomicU8]>>,
    watches: Watches,
    rates: Rates,
    /// Set while the running code cannot call spans.
    held: AtomicBool,
    /// Set if a class was refused its spans meanwhile.
    postponed: AtomicBool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    spans: Vec<SpanInfo>,
    by_key: HashMap<Key, u32>,
    /// Spans that are new or changed their mode since the last call of [`SpanTable::take_changed`].
    changed: Vec<u32>,
    /// By span number: `true` if the span was requested since the trace began.
    current: Vec<bool>,
    /// The bytes of the texts that each plugin chose for its spans.
    plugin_bytes: HashMap<String, usize>,
}

impl State {
    /// Counts the texts that a plugin chose for a span, and no longer the `earlier` bytes of its last request. Returns
    /// false and leaves the count, if one plugin may not have as many.
    fn count_texts(&mut self, span: &SpanInfo, earlier: usize) -> bool {
        let bytes = span.plugin_bytes();
        if bytes == earlier {
            return true;
        }
        let total = self.plugin_bytes.entry(span.plugin.clone()).or_default();
        let new = total.saturating_sub(earlier) + bytes;
        let fits = new <= MAX_PLUGIN_BYTES;
        if fits {
            *total = new;
        }
        fits
    }
}

type Key = (String, String, String, String, String, u32, SpanKind);

/// The kind of item that a number identifies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum SpanKind {
    Span,
    Count,
    Event,
}

/// The reason why a span gets no number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TooManySpans {
    /// The JVM has [`MAX_SPANS`] spans already.
    #[error("this JVM has the maximum of {MAX_SPANS} spans; select fewer methods")]
    Spans,
    /// The JVM had [`MAX_PROGRAMS`] different conditions already.
    #[error(
        "this JVM has had the maximum of {MAX_PROGRAMS} different conditions; use one of them, or none"
    )]
    Conditions,
    /// The plugin's rows and names of values take [`MAX_PLUGIN_BYTES`] already.
    #[error(
        "the rows and names of values of this plugin take the maximum of {} MiB in this JVM; use shorter texts, or fewer places",
        MAX_PLUGIN_BYTES >> 20
    )]
    Texts,
}

impl SpanTable {
    /// Creates the table of one session.
    #[must_use]
    pub fn of_session(session: u8) -> Self {
        Self {
            session,
            ..Self::default()
        }
    }

    /// Returns the number of a span of this session in instrumented code.
    #[must_use]
    pub fn in_code(&self, span: u32) -> u32 {
        SpanInCode::new(self.session, span).0
    }

    /// Stops or resumes the registration of spans. Classes get none while the running code cannot call spans.
    pub fn hold(&self, held: bool) {
        self.held.store(held, Ordering::Release);
    }

    /// Checks whether a class may have spans now. If not, it should be processed again later.
    pub fn is_open(&self) -> bool {
        let held = self.is_held();
        if held {
            self.postponed.store(true, Ordering::Release);
        }
        !held
    }

    /// Checks whether registration is stopped.
    #[must_use]
    pub fn is_held(&self) -> bool {
        self.held.load(Ordering::Acquire)
    }

    /// Checks whether a class was left without its spans since the last call.
    pub fn take_postponed(&self) -> bool {
        self.postponed.swap(false, Ordering::AcqRel)
    }

    /// Registers a span, or returns its existing number, and sets its mode. `span.id` is ignored.
    ///
    /// # Errors
    /// When there are too many.
    pub fn register(&self, span: &SpanInfo) -> Result<u32, TooManySpans> {
        self.register_watched(span, None, 0)
    }

    /// Registers a span with a program; its method has `parameters` parameters.
    ///
    /// # Errors
    /// When there are too many.
    pub fn register_watched(
        &self,
        span: &SpanInfo,
        program: Option<&Arc<Program>>,
        parameters: u8,
    ) -> Result<u32, TooManySpans> {
        let mut state = self.state();
        let key = key(span);
        let id = match state.by_key.get(&key).copied() {
            Some(id) => {
                let known = state.spans.get(id as usize);
                let earlier = known.map_or(0, SpanInfo::plugin_bytes);
                if !state.count_texts(span, earlier) {
                    return Err(TooManySpans::Texts);
                }
                id
            }
            None => {
                let id = u32::try_from(state.spans.len()).unwrap_or(MAX_SPANS);
                if id >= MAX_SPANS {
                    return Err(TooManySpans::Spans);
                }
                if !state.count_texts(span, 0) {
                    return Err(TooManySpans::Texts);
                }
                state.by_key.insert(key, id);
                state.spans.push(SpanInfo {
                    id,
                    mode: SpanMode::Off,
                    ..span.clone()
                });
                id
            }
        };
        let length = state.spans.len();
        state.current.resize(length, false);
        if let Some(current) = state.current.get_mut(id as usize)
            && !std::mem::replace(current, true)
        {
            state.changed.push(id);
        }
        if !self.watches.set(id, &span.plugin, program, parameters) {
            return Err(TooManySpans::Conditions);
        }
        if let Some(known) = state.spans.get_mut(id as usize)
            && (known.when != span.when
                || known.shown != span.shown
                || known.row != span.row
                || known.event != span.event
                || known.parameters != span.parameters)
        {
            known.parameters.clone_from(&span.parameters);
            (known.when, known.shown) = (span.when.clone(), span.shown.clone());
            known.row.clone_from(&span.row);
            known.event.clone_from(&span.event);
            state.changed.push(id);
        }
        if let Some(event) = &span.event {
            self.rates.set(id, event.per_second);
        }
        self.switch(&mut state, id, span.mode);
        Ok(id)
    }

    /// Sets the mode of every span that `wanted` selects, and returns the number of changes. A span in count mode
    /// keeps it, and others cannot be switched to it: that takes different code.
    pub fn set_mode(&self, mode: SpanMode, mut wanted: impl FnMut(&SpanInfo) -> bool) -> usize {
        let mut state = self.state();
        let picked: Vec<u32> = state
            .spans
            .iter()
            .filter(|span| span.mode != mode && span.mode != SpanMode::Count)
            .filter(|span| mode != SpanMode::Count && wanted(span))
            .map(|span| span.id)
            .collect();
        for id in &picked {
            self.switch(&mut state, *id, mode);
        }
        picked.len()
    }

    /// Returns the method of a span.
    #[must_use]
    pub fn method(&self, span: u32) -> Option<MethodName> {
        let state = self.state();
        let found = state.spans.get(span as usize)?;
        Some(MethodName {
            class: found.class.clone(),
            name: found.method.clone(),
            descriptor: found.descriptor.clone(),
        })
    }

    /// Returns every span.
    #[must_use]
    pub fn all(&self) -> Vec<SpanInfo> {
        self.state().spans.clone()
    }

    /// Checks whether no span was requested since the trace began.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        !self.state().current.contains(&true)
    }

    /// Returns, by span number, whether the span was requested since the trace began. Others belong to earlier
    /// traces.
    #[must_use]
    pub fn current(&self) -> Vec<bool> {
        self.state().current.clone()
    }

    /// Adds to the spans which of their values calls had. `name` returns the name of a number.
    pub fn note_values(&self, name: &impl Fn(u32) -> Arc<str>) {
        if !self.watches.take_noted() {
            return;
        }
        let mut state = self.state();
        let State { spans, changed, .. } = &mut *state;
        for span in spans {
            let Some((watched, _)) = self.watches.of(span.id) else {
                continue;
            };
            let (mut found, mut absent) = (Vec::new(), Vec::new());
            for (number, known) in watched.known_values() {
                match known {
                    ValueState::Found => found.push(number),
                    ValueState::Absent(class, field, fields) => absent.push(AbsentValue {
                        number,
                        class: name(class).to_string(),
                        field: name(field).to_string(),
                        fields: name(fields)
                            .split_terminator(',')
                            .map(str::to_owned)
                            .collect(),
                    }),
                }
            }
            if span.found != found || span.absent != absent {
                (span.found, span.absent) = (found, absent);
                changed.push(span.id);
            }
        }
    }

    /// Returns the spans that are new or changed their mode since the last call.
    #[must_use]
    pub fn take_changed(&self) -> Vec<SpanInfo> {
        let mut state = self.state();
        let mut changed = std::mem::take(&mut state.changed);
        changed.sort_unstable();
        changed.dedup();
        let is_current = |id: &&u32| state.current.get(**id as usize) == Some(&true);
        let spans = changed
            .iter()
            .filter(is_current)
            .filter_map(|id| state.spans.get(*id as usize));
        spans.cloned().collect()
    }

    /// Starts another trace, which holds the spans requested from now on.
    pub fn begin_again(&self) {
        let mut state = self.state();
        state.changed.clear();
        state.current.fill(false);
    }

    /// Resets the limits of this plugin, or of all plugins: total and per-second numbers of stored calls and events.
    pub fn reset_limits(&self, plugin: Option<&str>) {
        self.watches.begin_again(plugin);
        let state = self.state();
        let spans = state.spans.iter().filter(|span| span.event.is_some());
        let meant = |span: &&SpanInfo| plugin.is_none_or(|plugin| plugin == span.plugin);
        spans
            .filter(meant)
            .for_each(|span| self.rates.forget(span.id));
    }

    /// Returns the modes by number, as [`SpanMode`] `as u8` or `WATCHED`; the running code reads them.
    pub fn modes(&self) -> &[AtomicU8] {
        self.modes
            .get_or_init(|| (0..MAX_SPANS).map(|_| AtomicU8::new(0)).collect())
    }

    fn switch(&self, state: &mut State, id: u32, mode: SpanMode) {
        let Some(span) = state.spans.get_mut(id as usize) else {
            return;
        };
        if span.mode != mode {
            span.mode = mode;
            state.changed.push(id);
        }
        let is_watched = mode == SpanMode::Events && self.watches.of(id).is_some();
        if let Some(current) = self.modes().get(id as usize) {
            let read = if is_watched { WATCHED } else { mode as u8 };
            current.store(read, Ordering::Relaxed);
        }
    }

    /// Returns the conditions and shown values of spans; the running code reads them.
    pub(crate) fn watches(&self) -> &Watches {
        &self.watches
    }

    /// Returns the limits of events per second; the running code reads them.
    pub(crate) fn rates(&self) -> &Rates {
        &self.rates
    }

    /// Locks the state. A panic of another holder cannot leave it in a harmful state.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn key(span: &SpanInfo) -> Key {
    let kind = match span.event {
        Some(_) => SpanKind::Event,
        None if span.mode == SpanMode::Count => SpanKind::Count,
        None => SpanKind::Span,
    };
    (
        span.class.clone(),
        span.loader.clone(),
        span.method.clone(),
        span.descriptor.clone(),
        span.plugin.clone(),
        span.number,
        kind,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::TableRow;

    fn span(method: &str, mode: SpanMode) -> SpanInfo {
        SpanInfo {
            class: "a/A".to_owned(),
            method: method.to_owned(),
            mode,
            ..SpanInfo::default()
        }
    }

    #[test]
    fn same_method_keeps_its_number_and_takes_the_new_mode() {
        let table = SpanTable::default();
        let first = table.register(&span("f", SpanMode::Aggregate)).unwrap();
        let other = table.register(&span("g", SpanMode::Events)).unwrap();
        assert_ne!(first, other);
        assert_eq!(table.take_changed().len(), 2);
        assert_eq!(table.register(&span("f", SpanMode::Events)), Ok(first));
        assert_eq!(
            table.modes()[first as usize].load(Ordering::Relaxed),
            SpanMode::Events as u8
        );
        assert_eq!(table.take_changed().len(), 1);
    }

    #[test]
    fn texts_of_one_plugin_are_limited_over_all_its_places() {
        let table = SpanTable::default();
        let place = |number, plugin: &str, cell: usize| SpanInfo {
            number,
            plugin: plugin.to_owned(),
            row: Some(TableRow {
                cells: vec!["\u{1b}".repeat(cell)],
                ..TableRow::default()
            }),
            ..span("f", SpanMode::Count)
        };
        let half = MAX_PLUGIN_BYTES / 12 - 100; // six bytes each in JSON
        let first = table.register(&place(0, "p", half)).unwrap();
        table.register(&place(1, "p", half)).unwrap();
        let full = table.register(&place(2, "p", 1_000));
        assert_eq!(full, Err(TooManySpans::Texts));
        table.register(&place(2, "other", 1_000)).unwrap();
        let longer = table.register(&place(0, "p", half + 1_000));
        assert_eq!(longer, Err(TooManySpans::Texts));
        assert_eq!(table.register(&place(0, "p", half)), Ok(first), "as before");
        table.register(&place(0, "p", 10)).unwrap();
        table.register(&place(2, "p", 1_000)).unwrap();
        assert_eq!(table.all().len(), 4);
    }

    #[test]
    fn span_and_counter_of_a_method_are_distinct() {
        let table = SpanTable::default();
        let span_of_all = table.register(&span("f", SpanMode::Aggregate)).unwrap();
        let counter = table.register(&span("f", SpanMode::Count)).unwrap();
        assert_ne!(span_of_all, counter);
        assert_eq!(table.register(&span("f", SpanMode::Off)), Ok(span_of_all));
    }

    #[test]
    fn next_trace_has_only_spans_requested_again() {
        let table = SpanTable::default();
        table.register(&span("f", SpanMode::Count)).unwrap();
        let again = table.register(&span("g", SpanMode::Events)).unwrap();
        table.begin_again();
        assert!(table.is_empty() && table.take_changed().is_empty());
        table.set_mode(SpanMode::Off, |_| true);
        assert!(table.take_changed().is_empty());
        assert_eq!(table.register(&span("g", SpanMode::Events)), Ok(again));
        let changed: Vec<_> = table.take_changed().iter().map(|span| span.id).collect();
        assert_eq!((changed, table.current()), (vec![again], vec![false, true]));
    }

    #[test]
    fn modes_are_switched_by_properties_of_spans() {
        let table = SpanTable::default();
        table.register(&span("f", SpanMode::Aggregate)).unwrap();
        table.register(&span("g", SpanMode::Aggregate)).unwrap();
        table.register(&span("h", SpanMode::Count)).unwrap();
        assert_eq!(table.set_mode(SpanMode::Off, |span| span.method != "g"), 1);
        let modes: Vec<_> = table.all().iter().map(|span| span.mode).collect();
        assert_eq!(modes, [SpanMode::Off, SpanMode::Aggregate, SpanMode::Count]);
        assert_eq!(table.set_mode(SpanMode::Count, |_| true), 0);
    }

    #[test]
    fn class_without_its_spans_is_remembered() {
        let table = SpanTable::default();
        assert!(table.is_open() && !table.take_postponed());
        table.hold(true);
        assert!(!table.is_open());
        table.hold(false);
        assert!(table.is_open() && table.take_postponed() && !table.take_postponed());
    }
}
