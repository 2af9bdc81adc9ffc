//! A plugin that observes events, on a thread of the agent.

use super::answers::Answers;
use super::cpu_sampler::SampleSink;
use super::events::event_kind;
use super::inbox::{EventSink, Inbox};
use super::jvm_description;
use super::methods::{Methods, place};
use super::subscriber_file::SubscriberFile;
use crate::agent::Agent;
use crate::agent::subscribers::{Event, EventData, Freed, Subscriber};
use crate::ffi::jvm::Jvm;
use crate::ffi::jvm_events::VmEvent;
use crate::ffi::jvmti::{MethodId, StackFrame};
use crate::messages::{self, Code};
use crate::names::class_name;
use host::Observer;
use host::observer::FailedCall;
use jvm_events::batch::{Event as BatchEvent, MOST_EVENTS, Names, WORDS};
use jvm_events::recorded::Collection;
use jvm_events::request::Request;
use jvm_events::stacks::Frame;
use jvm_events::tables::{PluginTables, VERSION};
use jvm_events::{EventDetails, EventKind, EventSubscription};
use std::time::{Duration, Instant};

/// Rest of a plugin after a call, as a multiple of the CPU time of the call: a plugin may use a fifth of a core.
const REST: u32 = 4;
/// The same for answers, during which the program may be paused: they take at most a fiftieth of the time.
const REST_AFTER_ANSWERS: u32 = 49;
/// Longest time after the end in which remaining events are delivered.
const LAST: Duration = Duration::from_secs(2);

/// Interval of calls without events, for a plugin that may send requests.
const TICK: Duration = Duration::from_secs(1);

/// Largest number of samples that are queued while a plugin rests.
const MOST_SAMPLES: usize = 4 * MOST_EVENTS;

/// A plugin, and the events that it gets next.
pub(super) struct PluginDelivery {
    agent: &'static Agent,
    observer: Observer,
    subscriptions: Vec<EventSubscription>,
    names: Names,
    methods: Methods,
    /// Encoded events to deliver.
    waiting: Vec<u64>,
    /// Number of lost events that were not reported to the plugin.
    lost: u64,
    /// The earliest time of the next call.
    rested: Instant,
    /// The plugin's requests, and the time that answers took since the last rest.
    asked: Vec<Request>,
    answering: Duration,
    /// The time of the next call without events; `None` if the plugin cannot send requests.
    tick: Option<Instant>,
    /// True if the plugin got events after its last tables.
    any_news: bool,
    inbox: Inbox,
    tables: PluginTables,
    file: SubscriberFile,
}

impl PluginDelivery {
    pub fn new(
        agent: &'static Agent,
        observer: Observer,
        subscriber: &Subscriber,
        file: SubscriberFile,
    ) -> Self {
        let tables = PluginTables {
            version: VERSION,
            jvm: jvm_description::jvm_of(agent),
            start_ms: jvm_description::now_ms(),
            plugin: observer.plugin().to_owned(),
            ..PluginTables::default()
        };
        let now = Instant::now();
        Self {
            agent,
            asked: Vec::new(),
            answering: Duration::ZERO,
            tick: observer.makes_requests().then_some(now),
            observer,
            subscriptions: subscriber.subscriptions.clone(),
            names: Names::default(),
            methods: Methods::default(),
            waiting: Vec::new(),
            lost: 0,
            rested: now,
            any_news: false,
            inbox: Inbox::new(agent),
            tables,
            file,
        }
    }

    /// Checks whether the plugin gets no more events.
    pub fn is_retired(&self) -> bool {
        self.tables.retired
    }

    /// Reads queued events and delivers them, unless the plugin rests.
    pub fn read(&mut self, jvm: Jvm<'_>, subscriber: &Subscriber) {
        if Instant::now() < self.rested || self.is_retired() {
            return;
        }
        self.answer(jvm, subscriber);
        self.take(jvm, subscriber);
        self.queue_freed(subscriber);
        let now = Instant::now();
        match self.waiting.is_empty() && self.tick.is_some_and(|tick| tick <= now) {
            true => self.call(&[]),
            false => self.hand_over(),
        }
    }

    /// Answers the requests. The answers are events, which are delivered next.
    fn answer(&mut self, jvm: Jvm<'_>, subscriber: &Subscriber) {
        if self.asked.is_empty() {
            return;
        }
        let begun = Instant::now();
        self.renew();
        for request in std::mem::take(&mut self.asked) {
            let mut answers = Answers {
                agent: self.agent,
                subscriber,
                monitors: 0,
                names: &mut self.names,
                methods: &mut self.methods,
                nanos: self.inbox.elapsed(),
            };
            match answers.to(jvm, &request) {
                Ok(events) => events.into_iter().for_each(|event| self.queue(event)),
                Err(cause) => self.unanswered(&request, cause),
            }
        }
        self.answering += begun.elapsed();
    }

    fn unanswered(&mut self, request: &Request, cause: String) {
        let plugin = self.observer.plugin();
        let name = request.name();
        if self.tables.cause.as_ref() != Some(&cause) {
            messages::warning(
                Code::Observer,
                format_args!("plugin `{plugin}` requested {name} and gets no answer: {cause}"),
            );
        }
        self.tables.cause = Some(cause);
    }

    /// Begins a new generation of names, if no queued event uses a name of this one.
    fn renew(&mut self) {
        if self.waiting.is_empty() {
            self.names.renew();
        }
    }

    /// Delivers remaining events for a limited time at the end, and writes the tables.
    pub fn finish(&mut self, jvm: Jvm<'_>, subscriber: &Subscriber) -> Result<(), String> {
        // A plugin that is called for the first time now may send requests like any other. While the JVM ends, the heap
        // is not used.
        if !subscriber.is_dying() && !self.is_retired() {
            if self.tick.is_some_and(|tick| tick <= Instant::now()) {
                self.call(&[]);
            }
            self.answer(jvm, subscriber);
        }
        self.queue_freed(subscriber);
        let until = Instant::now() + LAST;
        while self.take(jvm, subscriber) && !self.is_retired() && Instant::now() < until {
            self.hand_over();
        }
        let left = subscriber.take(usize::MAX);
        let waiting = self.waiting.len() / WORDS;
        self.lost += left.lost + (left.events.len() + waiting) as u64;
        self.waiting.clear();
        if !self.is_retired() {
            if self.lost > 0 {
                self.call(&[]);
            }
            self.make_tables(true);
        }
        self.tables.lost += std::mem::take(&mut self.lost);
        self.tables.complete = true;
        self.file.write(&self.tables)
    }

    /// Requests the plugin's tables, if it got events since the last time, and writes them.
    pub fn write(&mut self) {
        if !self.any_news || self.is_retired() || Instant::now() < self.rested {
            return;
        }
        self.make_tables(false);
        // A failure is reported at the end, if it persists.
        let _ = self.file.write(&self.tables);
    }

    fn make_tables(&mut self, is_end: bool) {
        let (time, made) = self.observer.on_results(&mut self.names, is_end);
        self.rest(time);
        self.note_requests();
        self.any_news = false;
        match made {
            Err(failed) => self.failed(failed, "it returned no tables"),
            Ok(made) => self.tables.made = made,
        }
    }

    /// Takes events out of the inbox. Returns true if there are events to deliver.
    fn take(&mut self, jvm: Jvm<'_>, subscriber: &Subscriber) -> bool {
        self.renew();
        let mut inbox = self.inbox;
        inbox.read(jvm, subscriber, MOST_EVENTS, self);
        self.inbox = inbox;
        !self.waiting.is_empty()
    }

    fn hand_over(&mut self) {
        let mut waiting = std::mem::take(&mut self.waiting);
        for batch in waiting.chunks(MOST_EVENTS * WORDS) {
            match self.is_retired() {
                true => self.lost += (batch.len() / WORDS) as u64,
                false => self.call(batch),
            }
        }
        waiting.clear();
        self.waiting = waiting;
    }

    fn call(&mut self, batch: &[u64]) {
        let events = (batch.len() / WORDS) as u64;
        let lost = std::mem::take(&mut self.lost);
        let (time, outcome) = self.observer.on_events(&mut self.names, batch, lost);
        self.rest(time);
        self.note_requests();
        self.any_news = true;
        match outcome {
            Ok(()) => {
                self.tables.events += events;
                self.tables.lost += lost;
            }
            Err(failed) => {
                self.lost += lost + events;
                self.failed(failed, &format!("it lost {events} events"));
            }
        }
    }

    /// Takes over the requests of the last call.
    fn note_requests(&mut self) {
        let (asked, refused) = self.observer.take_requests();
        self.asked.extend(asked);
        self.tables.refused += refused;
    }

    /// Makes the plugin rest in proportion to this time and to that of the answers.
    fn rest(&mut self, time: Duration) {
        let now = Instant::now();
        let answering = std::mem::take(&mut self.answering);
        let rested = now + time * REST + answering * REST_AFTER_ANSWERS;
        self.rested = self.rested.max(rested);
        self.tick = self.tick.map(|_| now + TICK);
    }

    fn failed(&mut self, failed: FailedCall, consequence: &str) {
        let FailedCall { failure, retired } = failed;
        let plugin = self.observer.plugin();
        let what = match retired {
            true => "and gets no more events",
            false => consequence,
        };
        // Each cause is reported once, and the retirement always.
        if retired || self.tables.cause.as_ref() != Some(&failure.cause) {
            messages::warning(
                Code::Observer,
                format_args!(
                    "plugin `{plugin}` failed with events of the JVM ({}: {}), {what}",
                    failure.code, failure.cause
                ),
            );
        }
        if retired {
            self.agent.results.failures.agent_failed();
        }
        self.tables.cause = Some(failure.cause);
        self.tables.retired |= retired;
    }

    fn subscription(&self, kind: EventKind) -> Option<&EventSubscription> {
        self.subscriptions
            .iter()
            .find(|subscription| subscription.kind == kind)
    }

    fn queue(&mut self, event: BatchEvent) {
        self.waiting.extend(event.words());
    }

    /// Adds events for the objects freed since the last call, by class.
    fn queue_freed(&mut self, subscriber: &Subscriber) {
        for (class, count) in subscriber.freed().map(Freed::take).unwrap_or_default() {
            let freed = EventDetails::Freed { count };
            let event = BatchEvent {
                class: self.names.text(&class_name(&class)),
                ..BatchEvent::new(freed, self.inbox.elapsed())
            };
            self.queue(event);
        }
    }

    fn sample(&mut self, thread: &str, stack: u32, nanos: u64) {
        if self.waiting.len() >= MOST_SAMPLES * WORDS {
            self.lost += 1; // the plugin rests
            return;
        }
        let sample = EventDetails::Sample { cpu: nanos };
        let event = BatchEvent {
            thread: self.names.text(thread),
            stack,
            ..BatchEvent::new(sample, self.inbox.elapsed())
        };
        self.queue(event);
    }

    fn stack(&mut self, jvm: Jvm<'_>, frames: &[StackFrame]) -> u32 {
        let methods = &mut self.methods;
        let places: Vec<(u64, i64)> = frames.iter().map(place).collect();
        self.names.stack(&places, |wanted| {
            let frame = frames.iter().find(|frame| place(frame) == wanted);
            frame.map_or_else(Frame::default, |frame| methods.frame(jvm, *frame))
        })
    }

    /// The number of a method, if the plugin observes its class.
    fn method(&mut self, jvm: Jvm<'_>, event_kind: EventKind, method: MethodId) -> Option<u32> {
        let frame = self.methods.frame(
            jvm,
            StackFrame {
                method,
                location: 0,
            },
        );
        let wanted = self.subscription(event_kind)?.takes_class(&frame.class);
        wanted.then(|| self.names.method(&frame))
    }

    /// The id of a method that handles an exception, and the line; zeros if there is no handler.
    fn handler(&mut self, jvm: Jvm<'_>, place: Option<StackFrame>) -> (u32, u32) {
        let frame = place.map(|place| self.methods.frame(jvm, place));
        let numbers = frame.map(|frame| {
            let line = frame.line.max(0).cast_unsigned();
            (self.names.method(&frame), line)
        });
        numbers.unwrap_or_default()
    }

    /// The fields of an event, with the id of its method or text. Returns `None` if the plugin does not observe it.
    fn encode(&mut self, jvm: Jvm<'_>, data: EventData) -> Option<(EventDetails, [u32; 2])> {
        let kind = event_kind(&data);
        let mut ids = [0; 2];
        let details = match data {
            EventData::SampledObjectAlloc { size: bytes, .. } => {
                let interval = self.subscription(kind)?.bytes;
                let stands_for = bytes as f64 / jvm_events::recorder::share(interval, bytes);
                let stands_for = stands_for.round() as u64;
                EventDetails::Allocation { bytes, stands_for }
            }
            EventData::Exception { caught } => {
                let line;
                (ids[0], line) = self.handler(jvm, caught);
                EventDetails::Exception { line }
            }
            EventData::ExceptionCatch { at } => {
                let line;
                (ids[0], line) = self.handler(jvm, at);
                EventDetails::Caught { line }
            }
            EventData::MonitorEntered(nanos, _) => EventDetails::Entered { nanos },
            EventData::MonitorWaited(nanos) => EventDetails::Waited { nanos },
            EventData::Unparked { .. } => return None, // of recordings only
            EventData::ThreadStart { is_virtual } => EventDetails::ThreadStarted { is_virtual },
            EventData::ThreadEnd { is_virtual } => EventDetails::ThreadEnded { is_virtual },
            EventData::ClassPrepare => EventDetails::ClassPrepared,
            EventData::NativeMethodBind { method } => {
                ids[0] = self.method(jvm, kind, method)?;
                EventDetails::NativeBound
            }
            EventData::Vm(VmEvent::CompiledMethodLoad { method, bytes }) => {
                ids[0] = self.method(jvm, kind, method)?;
                EventDetails::CodeMade { bytes }
            }
            EventData::Vm(VmEvent::CompiledMethodUnload { method }) => {
                ids[0] = self.method(jvm, kind, method)?;
                EventDetails::CodeGone
            }
            EventData::Vm(VmEvent::DynamicCodeGenerated { name, bytes }) => {
                ids[1] = self.names.text(&name);
                EventDetails::StubGenerated { bytes }
            }
            EventData::Vm(VmEvent::ResourceExhausted { flags, text }) => {
                ids[1] = self.names.text(&text);
                EventDetails::Exhausted { flags }
            }
            EventData::Vm(VmEvent::ClassUnload { .. }) => EventDetails::ClassUnloaded,
            EventData::Vm(VmEvent::DataDumpRequest) => EventDetails::DumpAsked,
        };
        Some((details, ids))
    }
}

impl SampleSink for PluginDelivery {
    fn wants(&self, thread: &str) -> bool {
        let subscription = self.subscription(EventKind::Samples);
        subscription.is_some_and(|subscription| subscription.takes_thread(thread))
    }

    fn turn(&mut self, _: u64) {}

    fn seen(&mut self, jvm: Jvm<'_>, thread: &str, frames: &[StackFrame], nanos: u64) {
        let Some(subscription) = self
            .subscriptions
            .iter()
            .find(|subscription| subscription.kind == EventKind::Samples)
        else {
            return;
        };
        let methods = &mut self.methods;
        let mut classes = frames.iter().map(|frame| methods.frame(jvm, *frame).class);
        if subscription.takes_all_classes() || classes.any(|class| subscription.takes_class(&class))
        {
            let stack = self.stack(jvm, frames);
            self.sample(thread, stack, nanos);
        }
    }

    fn unseen(&mut self, thread: &str, nanos: u64) {
        let subscription = self.subscription(EventKind::Samples);
        if subscription.is_some_and(EventSubscription::takes_all_classes) {
            self.sample(thread, 0, nanos);
        }
    }
}

impl EventSink for PluginDelivery {
    fn event(&mut self, jvm: Jvm<'_>, event: Event) {
        let class = match (&event.data, event.class.is_empty()) {
            (EventData::Vm(VmEvent::ClassUnload { class }), _) => self.names.text(class),
            (_, true) => 0,
            (_, false) => self.names.text(&class_name(&event.class)),
        };
        let Some((details, ids)) = self.encode(jvm, event.data) else {
            return;
        };
        let event = BatchEvent {
            details,
            thread: self.names.text(&event.thread),
            nanos: self.inbox.since_begin(event.at),
            class,
            stack: self.stack(jvm, &event.frames),
            ids,
        };
        self.queue(event);
    }

    fn collections(&mut self, collections: Vec<Collection>, after: Option<(u64, u64)>) {
        let at_least = self
            .subscription(EventKind::Collections)
            .map_or(0, |subscription| subscription.at_least);
        let last = collections.len().saturating_sub(1);
        for (index, collection) in collections.into_iter().enumerate() {
            if collection.duration_ns < at_least {
                continue;
            }
            let used = after.filter(|_| index == last).map_or(0, |(used, _)| used);
            let nanos = collection.duration_ns;
            let details = EventDetails::Collection { nanos, used };
            self.queue(BatchEvent::new(details, collection.start_ns));
        }
    }

    fn lost(&mut self, events: u64, _: u64) {
        self.lost += events;
    }
}
