//! The thread that sends requests to the receiver, and the bounded queue in front of it.
//!
//! Recording never waits for the receiver. Data that finds no room, is rejected, or is not accepted
//! within a short time after the end is counted with its cause.

use std::collections::{BTreeMap, VecDeque};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use errors::{Error, Warning, codes};
use opentelemetry_proto::tonic::collector::metrics::v1::{
    ExportMetricsServiceRequest, ExportMetricsServiceResponse,
};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use prost::Message;
use tokio::sync::Notify;

use super::client::{Client, Failure, Remedy};
use super::delivery::{Delivery, points};
use super::endpoint::Target;

/// Maximum number of queued spans.
const WAITING: u64 = 1 << 14;
/// Time after the end of the trace at which the queue is abandoned.
const GRACE: Duration = Duration::from_secs(10);
/// The first pause before a repeated request; each pause is twice as long as the one before.
const PAUSE: Duration = Duration::from_millis(250);
/// The longest pause.
const LONGEST: Duration = Duration::from_secs(5);

/// Queue of spans and metrics for the sending thread.
#[derive(Debug)]
pub struct Sender {
    shared: Arc<Shared>,
    /// Signals the end of the thread.
    ended: Receiver<()>,
}

#[derive(Debug)]
struct Shared {
    /// Takes the first failure at once.
    warn: fn(Warning),
    state: Mutex<State>,
    spans_come: Notify,
    metrics_come: Notify,
}

#[derive(Debug, Default)]
struct State {
    /// Queued requests, with the number of their spans.
    spans: VecDeque<(u64, ExportTraceServiceRequest)>,
    /// Spans that are queued or in a running request.
    waiting: u64,
    /// The newest metrics of each JVM, by number.
    metrics: BTreeMap<usize, Vec<ExportMetricsServiceRequest>>,
    /// Data points of metrics in a running request.
    sending: u64,
    /// Time limit, once the trace has ended.
    ends: Option<Instant>,
    /// True once no more data follows.
    is_all: bool,
    /// Cause of the last failure.
    last: Option<String>,
    delivery: Delivery,
}

impl Shared {
    fn new(warn: fn(Warning)) -> Self {
        Self {
            warn,
            state: Mutex::default(),
            spans_come: Notify::default(),
            metrics_come: Notify::default(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sender {
    /// Starts the thread.
    ///
    /// # Errors
    /// If the system has no thread (`H0661`).
    pub fn start(target: &Target, warn: fn(Warning)) -> Result<Self, Error> {
        let failed = |error: std::io::Error| {
            Error::fault(
                codes::H0661,
                "nothing can be sent: no thread can be started",
            )
            .with("found", error.to_string())
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .build()
            .map_err(failed)?;
        let shared = Arc::new(Shared::new(warn));
        shared.state().delivery.receiver = target.traces.receiver();
        let theirs = Arc::clone(&shared);
        let clients = [&target.traces, &target.metrics].map(|to| Client::new(to.clone()));
        let (ends, ended) = mpsc::channel();
        let run = move || {
            let [mut traces, mut metrics] = clients;
            let metrics_shared = Arc::clone(&theirs);
            runtime.block_on(async move {
                let metrics =
                    tokio::spawn(async move { metrics_shared.send_metrics(&mut metrics).await });
                theirs.send_spans(&mut traces).await;
                let _ = metrics.await; // the panic message is printed already
            });
            runtime.shutdown_background(); // does not wait for a running name lookup
            let _ = ends.send(()); // the receiver may have gone
        };
        let builder = thread::Builder::new().name("otlp".to_owned());
        builder.spawn(run).map_err(failed)?;
        Ok(Self { shared, ended })
    }

    /// Returns the number of spans that still fit into the queue.
    #[must_use]
    pub fn room(&self) -> usize {
        let waiting = self.shared.state().waiting;
        usize::try_from(WAITING.saturating_sub(waiting)).unwrap_or(0)
    }

    /// Queues spans. The caller has checked for room.
    pub fn spans(&self, count: u64, request: ExportTraceServiceRequest) {
        let mut state = self.shared.state();
        state.waiting += count;
        state.spans.push_back((count, request));
        drop(state);
        self.shared.spans_come.notify_one();
    }

    /// Counts spans that were dropped before the queue because it was full.
    pub fn left_out(&self, count: u64) {
        let cause = "calls came faster than the receiver accepted them";
        self.shared.state().delivery.add_missing(cause, count);
    }

    /// Counts spans that remained when the time was over.
    pub fn late(&self, count: u64) {
        let mut state = self.shared.state();
        let cause = state.late();
        state.delivery.add_missing(&cause, count);
    }

    /// Queues the metrics of a JVM. They replace its queued ones.
    pub fn metrics(&self, jvm: usize, requests: Vec<ExportMetricsServiceRequest>) {
        self.shared.state().metrics.insert(jvm, requests);
        self.shared.metrics_come.notify_one();
    }

    /// Starts the time limit after the end of the recording.
    pub fn begin_to_end(&self) {
        self.shared.state().ends = Some(Instant::now() + GRACE);
        self.shared.spans_come.notify_one();
        self.shared.metrics_come.notify_one();
    }

    /// Checks whether that time is over.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.shared.left().is_some_and(|left| left.is_zero())
    }

    /// Waits until all data is sent or abandoned, and returns the counts.
    #[must_use]
    pub fn finish(self) -> Delivery {
        self.shared.state().is_all = true;
        self.shared.spans_come.notify_one();
        self.shared.metrics_come.notify_one();
        let left = self.shared.left().unwrap_or(GRACE);
        let _ = self.ended.recv_timeout(left); // the rest is counted below
        let mut state = self.shared.state();
        let state = &mut *state;
        let cause = state.late();
        state.delivery.add_missing(&cause, state.waiting);
        let unsent = state.metrics.values().flatten().map(points).sum::<u64>();
        state
            .delivery
            .add_missing_points(&cause, unsent + state.sending);
        std::mem::take(&mut state.delivery)
    }
}

impl Shared {
    async fn send_spans(&self, client: &mut Client) {
        loop {
            let next = self.state().spans.pop_front();
            let Some((count, request)) = next else {
                if self.state().is_all {
                    return;
                }
                self.spans_come.notified().await;
                continue;
            };
            let outcome = self
                .deliver(client, &request.encode_to_vec(), &self.spans_come)
                .await;
            let mut state = self.state();
            state.waiting -= count;
            match outcome {
                Ok(answer) => state.delivery.spans_taken(count, &answered(&answer)),
                Err(failure) => {
                    state.delivery.add_missing(&failure.cause, count);
                    if state.ends.is_some() && failure.remedy == Remedy::Reconnect {
                        state.give_up_spans(&failure);
                    }
                }
            }
        }
    }

    async fn send_metrics(&self, client: &mut Client) {
        loop {
            let next = self.state().metrics.pop_first();
            let Some((jvm, requests)) = next else {
                if self.state().is_all {
                    return;
                }
                self.metrics_come.notified().await;
                continue;
            };
            self.state().delivery.metrics_begin(jvm);
            for request in requests {
                let count = points(&request);
                self.state().sending = count;
                let outcome = self
                    .deliver(client, &request.encode_to_vec(), &self.metrics_come)
                    .await;
                let mut state = self.state();
                state.sending = 0;
                match outcome {
                    Ok(answer) => {
                        state
                            .delivery
                            .metrics_taken(jvm, count, &metrics_answered(&answer))
                    }
                    Err(failure) => state.delivery.metrics_failed(jvm, count, &failure.cause),
                }
            }
        }
    }

    /// Repeats a request until it is accepted, fails for good, or the time is over.
    async fn deliver(
        &self,
        client: &mut Client,
        message: &[u8],
        come: &Notify,
    ) -> Result<Vec<u8>, Failure> {
        let mut pause = PAUSE;
        loop {
            let failure = match client.send(message).await {
                Ok(answer) => return Ok(answer.to_vec()),
                Err(failure) => failure,
            };
            self.warn(&failure);
            let wanted = match failure.remedy {
                Remedy::Nothing => return Err(failure),
                Remedy::Later(after) => after,
                Remedy::Reconnect => None,
            };
            let left = self.left();
            if left.is_some() && failure.remedy == Remedy::Reconnect {
                return Err(failure); // further attempts are useless
            }
            if left.is_some_and(|left| left.is_zero()) {
                let cause = self.state().late();
                return Err(Failure { cause, ..failure });
            }
            let time = wanted.unwrap_or(pause).min(left.unwrap_or(Duration::MAX));
            pause = (pause * 2).min(LONGEST);
            match left {
                // New data and the end both wake this thread. Only the end shortens the pause.
                None => self.rest(time, come).await,
                Some(_) => tokio::time::sleep(time).await,
            }
        }
    }

    /// Pauses, but not beyond the end.
    async fn rest(&self, time: Duration, come: &Notify) {
        let until = Instant::now() + time;
        while self.state().ends.is_none() && Instant::now() < until {
            let left = until.saturating_duration_since(Instant::now());
            let _ = tokio::time::timeout(left, come.notified()).await; // both results end the pause
        }
    }

    /// Returns the remaining time, once the recording has ended.
    fn left(&self) -> Option<Duration> {
        let ends = self.state().ends?;
        Some(ends.saturating_duration_since(Instant::now()))
    }

    /// Stores a failure, and prints the first at once.
    fn warn(&self, failure: &Failure) {
        let mut state = self.state();
        let is_known = state.last.replace(failure.cause.clone()).is_some();
        if is_known || state.ends.is_some() {
            return;
        }
        let message = format!("{} does not accept the data", state.delivery.receiver);
        let again = match failure.remedy {
            Remedy::Nothing => "the program continues; the last line counts the lost data",
            _ => {
                "the request is repeated; the program continues, and the last line counts the lost data"
            }
        };
        drop(state);
        let warning = Warning::new(codes::H0662, message).with("found", &*failure.cause);
        (self.warn)(warning.with("help", again));
    }
}

impl State {
    /// Returns the cause for data that was still queued.
    fn late(&self) -> String {
        let late = format!("not accepted within {GRACE:?} after the end");
        match &self.last {
            Some(cause) => format!("{late}: {cause}"),
            None => late,
        }
    }

    /// Abandons the queued spans, because the receiver will not answer before the command ends.
    fn give_up_spans(&mut self, failure: &Failure) {
        self.spans.clear();
        self.delivery.add_missing(&failure.cause, self.waiting);
        self.waiting = 0;
    }
}

/// Returns the number of rejected spans, and the receiver's message.
fn answered(answer: &[u8]) -> (u64, String) {
    let answer = ExportTraceServiceResponse::decode(answer).unwrap_or_default();
    let partial = answer.partial_success.unwrap_or_default();
    let rejected = u64::try_from(partial.rejected_spans).unwrap_or(0);
    (rejected, partial.error_message)
}

/// As [`answered`], for data points.
fn metrics_answered(answer: &[u8]) -> (u64, String) {
    let answer = ExportMetricsServiceResponse::decode(answer).unwrap_or_default();
    let partial = answer.partial_success.unwrap_or_default();
    let rejected = u64::try_from(partial.rejected_data_points).unwrap_or(0);
    (rejected, partial.error_message)
}
