//! Sends spans and metrics to OpenTelemetry while a trace is followed. The JVM is not involved.
//!
//! | item | is |
//! |---|---|
//! | [`OtlpOptions`] | the receiver and the names, as options and environment give them |
//! | [`Target`] | the checked receivers |
//! | [`Export`] | the calls of each JVM, and the sending thread |
//! | [`Delivery`] | the accepted and the lost data, by cause |
//!
//! The messages follow the standard (`opentelemetry-proto`). Its SDK is not used: it counts by
//! itself, accepts no sums and histograms that the agent has counted, and does not report rejected
//! data.
//!
//! Options that cannot be used, and lost data, are coded [`errors::Error`]s.
//!
//! ```
//! use otlp::{OtlpOptions, Protocol};
//!
//! let options = OtlpOptions {
//!     otlp: Some("http://localhost:4317".to_owned()),
//!     otlp_service: Some("shop".to_owned()),
//!     ..OtlpOptions::default()
//! };
//! let target = options.target()?.expect("a receiver is named");
//! assert_eq!(target.service_of("java -jar other.jar"), "shop");
//! assert_eq!(target.traces.protocol, Protocol::Grpc);
//!
//! let wrong = OtlpOptions { otlp: Some("ftp://localhost".to_owned()), ..options };
//! assert_eq!(wrong.target().unwrap_err().exit(), 2);
//! # Ok::<(), errors::Error>(())
//! ```
#![forbid(unsafe_code)]

mod client;
mod delivery;
mod encryption;
mod endpoint;
mod name_template;
mod sender;

use std::hash::{BuildHasher, RandomState};
use std::thread;
use std::time::Duration;

pub use delivery::Delivery;
pub use endpoint::{OtlpOptions, Protocol, Target};
use errors::{Error, Warning};
pub use name_template::NameTemplate;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use probes::events::{Call, TaskStep, Trace};
use prost::Message;
use sender::Sender;
use trace::otlp::{Service, Spans, metrics};
use trace::rolling::Rolling;
use trace::settling::SettlingJvms;
use trace::trees::{PlacedCall, Trees};

/// Spans in one request.
const BATCH: usize = 512;
/// Length limit of a request, in bytes. Longer ones are split; receivers take 4 MiB.
const LONGEST: usize = 2 << 20;
/// Pause before the queue is checked for room again.
const ROOM: Duration = Duration::from_millis(5);

/// Sends the traced calls.
#[derive(Debug)]
pub struct Export {
    target: Target,
    sender: Sender,
    jvms: SettlingJvms<JvmExport>,
    lost_tasks: u64,
}

#[derive(Debug)]
struct JvmExport {
    service: Service,
    trees: Trees,
    spans: Spans,
    /// Start of the sums, in milliseconds since 1970.
    since_ms: u64,
}

impl JvmExport {
    fn new(target: &Target) -> Self {
        let lot = || u128::from(RandomState::new().hash_one(0));
        Self {
            service: Service::default(),
            trees: Trees::default(),
            spans: Spans::new(lot() << 64 | lot(), target.span_name.clone()),
            since_ms: 0,
        }
    }
}

impl Export {
    /// Starts the sending thread. It passes the first failure of a receiver to `warn` at once.
    ///
    /// # Errors
    /// If no thread can be started (`H0661`).
    pub fn start(target: Target, warn: fn(Warning)) -> Result<Self, Error> {
        Ok(Self {
            sender: Sender::start(&target, warn)?,
            target,
            jvms: SettlingJvms::default(),
            lost_tasks: 0,
        })
    }

    /// Handles the start of a JVM's recording, which names its program.
    pub fn begin(&mut self, number: usize, trace: &Trace) {
        let service = Service {
            name: self.target.service_of(&trace.meta.command),
            attributes: self.target.attributes.clone(),
        };
        let jvm = self.jvm(number);
        jvm.service = service;
        jvm.since_ms = trace.meta.start_ms;
    }

    /// Adds a call that ended or was seen open. `is_virtual` is true for a virtual thread.
    pub fn call(&mut self, number: usize, call: &Call, is_virtual: bool) {
        self.jvm(number).trees.take(call, is_virtual);
    }

    /// Adds a step of a task.
    pub fn step(&mut self, number: usize, step: &TaskStep) {
        self.jvm(number).trees.step(step);
    }

    /// Handles a reset of a JVM's recording.
    pub fn reset(&mut self, number: usize, trace: &Trace) {
        let jvm = self.jvm(number);
        jvm.trees.reset();
        jvm.since_ms = trace.meta.dump_ms.max(trace.meta.start_ms);
    }

    /// Returns a traced JVM; `number` is its index.
    fn jvm(&mut self, number: usize) -> &mut JvmExport {
        self.jvms.calls_of(number, || JvmExport::new(&self.target))
    }

    /// Sends the calls whose callers are known. The caller repeats this.
    pub fn turn<'r>(&mut self, all: impl Iterator<Item = &'r mut Rolling>) {
        for (jvm, trace, settled) in self.jvms.turn(all) {
            jvm.trees.settle(settled);
            let dropped = jvm.trees.take_dropped();
            self.sender.left_out(dropped);
            send(&self.sender, jvm, trace);
        }
    }

    /// Sends all sums so far.
    pub fn metrics<'r>(&self, all: impl Iterator<Item = &'r mut Rolling>) {
        for (number, (jvm, rolling)) in self.jvms.iter().zip(all).enumerate() {
            let requests = metrics(&jvm.service, rolling.trace(), jvm.since_ms);
            self.sender.metrics(number, requests);
        }
    }

    /// Sends the rest after the last call. Returns the delivery, and the number of tasks that were not followed.
    #[must_use]
    pub fn end<'r>(mut self, all: impl Iterator<Item = &'r mut Rolling>) -> (Delivery, u64) {
        self.sender.begin_to_end();
        for (jvm, rolling) in self.jvms.iter_mut().zip(all) {
            jvm.trees.finish();
            let dropped = jvm.trees.take_dropped();
            self.sender.left_out(dropped);
            while jvm.trees.placed() > 0 && !self.sender.is_over() {
                if !send(&self.sender, jvm, rolling.trace()) {
                    thread::sleep(ROOM);
                }
            }
            self.sender.late(jvm.trees.placed() as u64);
            self.lost_tasks += jvm.trees.take_lost_tasks();
        }
        (self.sender.finish(), self.lost_tasks)
    }
}

/// Queues placed calls, up to the free room. Returns false if the queue is full.
fn send(sender: &Sender, jvm: &mut JvmExport, trace: &Trace) -> bool {
    let room = sender.room();
    let calls = jvm.trees.take_placed(room);
    for calls in calls.chunks(BATCH) {
        let request = |calls: &[PlacedCall]| jvm.spans.request(&jvm.service, trace, calls);
        parted(calls, &request, &mut |count, request| {
            sender.spans(count, request)
        });
    }
    room > 0
}

/// Splits requests that are too long, and passes them on.
fn parted(
    calls: &[PlacedCall],
    request: &impl Fn(&[PlacedCall]) -> ExportTraceServiceRequest,
    take: &mut impl FnMut(u64, ExportTraceServiceRequest),
) {
    let whole = request(calls);
    if calls.len() < 2 || whole.encoded_len() <= LONGEST {
        return take(calls.len() as u64, whole);
    }
    let (first, second) = calls.split_at(calls.len() / 2);
    parted(first, request, take);
    parted(second, request, take);
}
