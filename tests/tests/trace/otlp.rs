//! Spans and metrics over OTLP, as a receiver gets them.

use super::spans::classes;
use crate::support::encrypted::{self, Identity};
use crate::support::receiver::{Behaviour, Received, Receiver};
use crate::support::traced::{Line, Program, java, logged, trace_of};
use e2e_tests::java::{Java, Run};
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::patience::await_that;
use e2e_tests::servant::Servant;
use e2e_tests::{scratch, workspace};
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::{Metric, number_data_point};
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use probes::events::{BoundaryKind, Trace};
use rustix::process::{Pid, Signal, kill_process};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// Both kinds of receivers.
const KINDS: [fn(Behaviour) -> Receiver; 2] = [Receiver::http, Receiver::grpc];

/// Their names for `--otlp-protocol`.
const NAMES: [&str; 2] = ["http/protobuf", "grpc"];

/// `classhook trace … --otlp …`.
fn tracing(url: &str, protocol: &str, output: &Path) -> Java {
    Java::program(workspace::classhook())
        .arguments(&["trace", "--otlp", url, "--otlp-protocol", protocol])
        .arguments(&["-o".as_ref(), output.as_os_str()])
}

/// Returns a program with 1,000 calls of `Spans.step` in 100 ms.
fn steady(url: &str, protocol: &str, output: &Path, more: &[&str]) -> Java {
    let java = jdks::newest().tool("java");
    tracing(url, protocol, output)
        .arguments(&["--methods", "Spans.step"])
        .arguments(more)
        .argument("--")
        .argument(java)
        .argument("-cp")
        .argument(classes())
        .arguments(&["Spans", "steady", "1", "10", "100"])
}

fn spans(received: &Received) -> Vec<Span> {
    let of_jvms = received
        .traces
        .iter()
        .flat_map(|request| &request.resource_spans);
    let scopes = of_jvms.flat_map(|of_jvm| &of_jvm.scope_spans);
    scopes.flat_map(|scope| scope.spans.clone()).collect()
}

/// Returns the last metrics, without those of missing data.
fn metrics(received: &Received) -> Vec<Metric> {
    let of_jvms = received
        .metrics
        .iter()
        .flat_map(|request| &request.resource_metrics);
    let scopes = of_jvms.flat_map(|of_jvm| &of_jvm.scope_metrics);
    let has_calls = |metrics: &&Vec<Metric>| metrics[0].name == "classhook.calls";
    let mut all = scopes.map(|scope| &scope.metrics).filter(has_calls);
    all.next_back().expect("metrics").clone()
}

fn text(attributes: &[KeyValue], key: &str) -> Option<String> {
    let found = attributes.iter().find(|attribute| attribute.key == key)?;
    match found.value.as_ref()?.value.as_ref()? {
        Value::StringValue(text) => Some(text.clone()),
        Value::IntValue(number) => Some(number.to_string()),
        other => Some(format!("{other:?}")),
    }
}

fn number(attributes: &[KeyValue], key: &str) -> i64 {
    text(attributes, key).expect(key).parse().expect("a number")
}

/// Returns the value of each method in a metric, by the method's simple name.
fn by_method(metrics: &[Metric], name: &str) -> BTreeMap<String, i64> {
    let metric = metrics
        .iter()
        .find(|metric| metric.name == name)
        .expect(name);
    let Some(Data::Sum(sum)) = &metric.data else {
        panic!("{name} is no sum");
    };
    assert!(
        sum.is_monotonic && sum.aggregation_temporality == 2,
        "cumulative"
    );
    let values = sum.data_points.iter().map(|point| {
        let Some(number_data_point::Value::AsInt(value)) = point.value else {
            panic!("{name} is no whole number");
        };
        assert!(point.start_time_unix_nano <= point.time_unix_nano);
        (method(&point.attributes), value)
    });
    values.filter(|(_, value)| *value > 0).collect()
}

/// Returns `m3` of `Traced.m3`.
fn method(attributes: &[KeyValue]) -> String {
    let name = text(attributes, "code.function.name").expect("a name");
    name.rsplit('.').next().unwrap_or_default().to_owned()
}

/// A call in the program's own log, by its number.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Logged {
    name: String,
    caller: Option<i64>,
    threw: Option<String>,
}

/// Returns the traced calls of a log, without constructors.
fn calls_of_log(threads: &[Vec<Line>]) -> BTreeMap<i64, Logged> {
    let mut calls = BTreeMap::new();
    for lines in threads {
        let mut open: Vec<i64> = Vec::new();
        for line in lines.iter().filter(|line| line.name.starts_with('m')) {
            if line.kind == 'E' {
                let call = Logged {
                    name: line.name.clone(),
                    caller: open.last().copied(),
                    threw: None,
                };
                calls.insert(line.call, call);
                open.push(line.call);
                continue;
            }
            assert_eq!(open.pop(), Some(line.call));
            let threw = (line.kind == 'F').then(|| line.what.replace('/', "."));
            calls.get_mut(&line.call).expect("it was entered").threw = threw;
        }
    }
    calls
}

/// Returns the same from spans.
fn calls_of_spans(spans: &[Span]) -> BTreeMap<i64, Logged> {
    let call = |span: &Span| number(&span.attributes, "classhook.argument.0");
    let by_id: HashMap<&[u8], &Span> = spans.iter().map(|span| (&*span.span_id, span)).collect();
    assert_eq!(by_id.len(), spans.len(), "ids differ");
    let logged = |span: &Span| {
        let caller = by_id.get(&*span.parent_span_id);
        assert_eq!(
            caller.is_none(),
            span.parent_span_id.is_empty(),
            "every parent is there"
        );
        if let Some(caller) = caller {
            assert_eq!(caller.trace_id, span.trace_id);
            assert!(caller.start_time_unix_nano < span.start_time_unix_nano);
            assert!(span.end_time_unix_nano < caller.end_time_unix_nano);
        }
        let status = span.status.as_ref();
        assert!(status.is_none_or(|status| status.code() == StatusCode::Error));
        let threw = text(&span.attributes, "error.type");
        let event = span
            .events
            .iter()
            .find_map(|event| text(&event.attributes, "exception.type"));
        assert_eq!((status.is_some(), &event), (threw.is_some(), &threw));
        Logged {
            name: method(&span.attributes),
            caller: caller.map(|caller| call(caller)),
            threw,
        }
    };
    spans
        .iter()
        .map(|span| (call(span), logged(span)))
        .collect()
}

/// Returns the number of calls of each method.
fn counted<'c>(calls: impl Iterator<Item = &'c Logged>) -> BTreeMap<String, i64> {
    let mut counts = BTreeMap::new();
    for call in calls {
        *counts.entry(call.name.clone()).or_default() += 1;
    }
    counts
}

/// Runs a generated program, traced from start to end.
fn traced_program(jdk: &Jdk, receiver: &Receiver, protocol: &str, folder: &Path) -> (Run, Program) {
    let program = Program::compile(jdk, 5, folder);
    let java = jdk.tool("java");
    let run = tracing(&receiver.url, protocol, &folder.join("out"))
        .arguments(&["--methods", "Traced.m?", "--methods", "Traced.m1?"])
        .arguments(&["--capture", "arguments,thrown", "--"])
        .argument(java)
        .argument("-cp")
        .argument(&program.classes)
        .argument("Traced")
        .argument(&program.log)
        .arguments(&["3", "0", "30"])
        .run();
    (run, program)
}

#[test]
fn spans_and_metrics_equal_the_log_of_the_program() {
    for jdk in jdks::main_two() {
        for (kind, protocol) in KINDS.into_iter().zip(NAMES) {
            let folder = scratch();
            let receiver = kind(Behaviour::Takes);
            let began = SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .expect("after 1970");
            let (run, program) = traced_program(&jdk, &receiver, protocol, folder.path());
            run.assert_success().assert_stderr(&receiver.url);
            let received = receiver.received();
            let (spans, log) = (spans(&received), calls_of_log(&logged(&program.log)));
            assert!(log.len() > 1_000, "{} calls", log.len());
            assert_eq!(calls_of_spans(&spans), log, "{protocol} on {jdk}");
            let begins = spans
                .iter()
                .map(|span| u128::from(span.start_time_unix_nano));
            let now = SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .expect("after 1970");
            assert!(began.as_nanos() < begins.clone().min().expect("a span"));
            assert!(begins.max().expect("a span") < now.as_nanos());
            let of_jvm = &received.traces[0].resource_spans[0];
            let resource = &of_jvm.resource.as_ref().expect("a resource").attributes;
            assert_eq!(text(resource, "service.name").as_deref(), Some("Traced"));
            let metrics = metrics(&received);
            assert_eq!(
                by_method(&metrics, "classhook.calls"),
                counted(log.values())
            );
            let thrown = log.values().filter(|call| call.threw.is_some());
            assert_eq!(
                by_method(&metrics, "classhook.call.errors"),
                counted(thrown)
            );
            assert_eq!(histograms(&metrics), counted(log.values()));
        }
    }
}

/// Returns the calls in the histogram of each method.
fn histograms(metrics: &[Metric]) -> BTreeMap<String, i64> {
    let histogram = metrics
        .iter()
        .find(|metric| metric.name == "classhook.call.duration");
    let Some(Data::Histogram(histogram)) = histogram.and_then(|metric| metric.data.as_ref()) else {
        panic!("no histogram");
    };
    let points = histogram.data_points.iter().map(|point| {
        assert_eq!(point.bucket_counts.iter().sum::<u64>(), point.count);
        (
            method(&point.attributes),
            i64::try_from(point.count).expect("few"),
        )
    });
    points.filter(|(_, count)| *count > 0).collect()
}

/// Thread, begin and end in nanoseconds since the start of the trace, and the caller's begin.
type Placed = (i64, u64, u64, Option<u64>);

fn placed_in_file(trace: &Trace) -> BTreeSet<Placed> {
    let mut placed = BTreeSet::new();
    for thread in trace.threads.keys() {
        let mut open: Vec<u64> = Vec::new();
        for event in trace.events(*thread) {
            if event.kind == BoundaryKind::Enter {
                open.truncate(event.depth);
                let call = event.call;
                let thread = i64::try_from(*thread).expect("a small number");
                placed.insert((thread, call.start, call.end, open.last().copied()));
                open.push(call.start);
            }
        }
    }
    placed
}

fn placed_in_spans(spans: &[Span], begun: u64) -> BTreeSet<Placed> {
    let begins: HashMap<&[u8], u64> = (spans.iter())
        .map(|span| (&*span.span_id, span.start_time_unix_nano - begun))
        .collect();
    let placed = spans.iter().map(|span| {
        let thread = number(&span.attributes, "thread.id");
        let start = span.start_time_unix_nano - begun;
        let end = span.end_time_unix_nano - begun;
        (
            thread,
            start,
            end,
            begins.get(&*span.parent_span_id).copied(),
        )
    });
    placed.collect()
}

#[test]
fn spans_of_a_running_jvm_arrive_during_the_trace_and_each_call_once() {
    for ((jdk, kind), protocol) in jdks::main_two().into_iter().zip(KINDS).zip(NAMES) {
        let folder = scratch();
        let compiled = Program::compile(&jdk, 3, folder.path());
        let program = java(&jdk, &compiled)
            .main("Traced")
            .argument(&compiled.log)
            .arguments(&["2", "0", "0"]);
        let mut running = Servant::of(&program);
        let output = folder.path().join("out");
        let receiver = kind(Behaviour::Takes);
        let child = tracing(&receiver.url, protocol, &output)
            .arguments(&[&running.pid().to_string(), "--methods", "Traced.m?"])
            .spawn();
        await_that("two hundred spans", || {
            spans(&receiver.received()).len() >= 200
        });
        assert!(running.ask("1").starts_with("marked"));
        kill_process(Pid::from_child(&child), Signal::INT).expect("it runs");
        let ended = child.wait_with_output().expect("an end");
        assert!(
            ended.status.success(),
            "{}",
            String::from_utf8_lossy(&ended.stderr)
        );
        let trace = trace_of(&output);
        let spans = spans(&receiver.received());
        let begun = trace.meta.start_ms * 1_000_000;
        assert_eq!(spans.len(), trace.calls.len(), "each once on {jdk}");
        assert!(
            placed_in_spans(&spans, begun) == placed_in_file(&trace),
            "on {jdk}"
        );
        assert_eq!(running.end().code, Some(0));
    }
}

/// Asserts that the program ended well, and that all its spans are reported missing.
#[track_caller]
fn assert_missing(run: &Run, cause: &str) {
    run.assert_exit(3)
        .assert_stderr("error[H0662]")
        .assert_stderr("did not accept 1000 of 1000 spans")
        .assert_stderr(cause);
    assert!(run.stdout.contains("Spans.step"), "{}", run.report());
}

#[test]
fn missing_receiver_is_reported_and_all_files_are_written() {
    let unused = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", unused.local_addr().expect("its port"));
    drop(unused);
    for protocol in NAMES {
        let folder = scratch();
        let lines = folder.path().join("lines");
        let more = ["--json-lines", &lines.to_string_lossy()];
        let run = steady(&url, protocol, &folder.path().join("out"), &more).run();
        assert_missing(&run, "spans: cannot connect");
        let lines = std::fs::read_to_string(&lines).expect("the file");
        assert_eq!(lines.matches(r#""event":"return""#).count(), 1_000);
    }
}

#[test]
fn failure_is_reported_while_the_program_runs() {
    let folder = scratch();
    let receiver = Receiver::http(Behaviour::Refuses(400));
    let java = jdks::newest().tool("java");
    let run = tracing(&receiver.url, "http/protobuf", folder.path())
        .arguments(&["--methods", "Spans.step", "--interval", "1s", "--"])
        .argument(java)
        .argument("-cp")
        .argument(classes())
        .arguments(&["Spans", "steady", "1", "10", "2500"])
        .run();
    run.assert_exit(3).assert_stderr("warning[H0662]");
    assert_eq!(
        run.stderr.matches("warning[").count(),
        1,
        "{}",
        run.report()
    );
}

#[test]
fn receiver_that_never_answers_is_waited_for_no_longer_than_seconds() {
    let wait = |(kind, protocol): (fn(Behaviour) -> Receiver, &str)| {
        let folder = scratch();
        let receiver = kind(Behaviour::Waits);
        let run = steady(&receiver.url, protocol, folder.path(), &[])
            .variable("OTEL_EXPORTER_OTLP_TIMEOUT", "2000")
            .run();
        assert_missing(&run, "not accepted within 10s after the end");
    };
    // Ten seconds each of nothing but waiting.
    std::thread::scope(|scope| {
        for case in KINDS.into_iter().zip(NAMES) {
            scope.spawn(move || wait(case));
        }
    });
}

#[test]
fn refusals_are_counted_with_the_receivers_words() {
    for (status, causes) in [
        (
            400,
            [
                "HTTP 400 Bad Request: there is no room",
                "gRPC INVALID_ARGUMENT: there is no room",
            ],
        ),
        (
            500,
            [
                "HTTP 500 Internal Server Error: there is no room",
                "gRPC INTERNAL: there is no room",
            ],
        ),
    ] {
        for ((kind, protocol), cause) in KINDS.into_iter().zip(NAMES).zip(causes) {
            let folder = scratch();
            let receiver = kind(Behaviour::Refuses(status));
            let run = steady(&receiver.url, protocol, folder.path(), &[]).run();
            assert_missing(&run, cause);
        }
    }
}

#[test]
fn spans_that_a_receiver_rejects_are_counted() {
    for (kind, protocol) in KINDS.into_iter().zip(NAMES) {
        let folder = scratch();
        let receiver = kind(Behaviour::Rejects);
        let run = steady(&receiver.url, protocol, folder.path(), &[]).run();
        let requests = receiver.received().traces.len();
        run.assert_exit(3)
            .assert_stderr(&format!("did not accept {requests} of 1000 spans"))
            .assert_stderr(&format!("{requests} spans: rejected: one is too old"))
            .assert_stderr("data points: rejected: one is too new");
    }
}

#[test]
fn receiver_that_has_no_time_gets_everything_later() {
    for (kind, protocol) in KINDS.into_iter().zip(NAMES) {
        let folder = scratch();
        let receiver = kind(Behaviour::Later(3));
        let run = steady(&receiver.url, protocol, folder.path(), &[]).run();
        run.assert_success();
        assert_eq!(spans(&receiver.received()).len(), 1_000);
    }
}

/// With `--aggregate` there are no single calls; the environment contains the other settings.
#[test]
fn environment_variables_name_receiver_and_protocol() {
    let folder = scratch();
    let receiver = Receiver::grpc(Behaviour::Takes);
    let java = jdks::newest().tool("java");
    let run = Java::program(workspace::classhook())
        .variable("OTEL_EXPORTER_OTLP_ENDPOINT", &receiver.url)
        .variable("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
        .variable("OTEL_EXPORTER_OTLP_HEADERS", "x-key=se%20cret")
        .variable("OTEL_SERVICE_NAME", "shop")
        .arguments(&["trace", "--aggregate", "--methods", "Spans.step", "-o"])
        .argument(folder.path())
        .arguments(&["--otlp", "--"])
        .argument(java)
        .argument("-cp")
        .argument(classes())
        .arguments(&["Spans", "steady", "1", "10", "100"])
        .run();
    run.assert_success();
    let received = receiver.received();
    assert_eq!(
        (received.headers["x-key"].as_str(), received.traces.len()),
        ("se cret", 0)
    );
    let of_jvm = &received.metrics[0].resource_metrics[0];
    let resource = &of_jvm.resource.as_ref().expect("a resource").attributes;
    assert_eq!(text(resource, "service.name").as_deref(), Some("shop"));
    let calls = by_method(&metrics(&received), "classhook.calls");
    assert_eq!(calls, BTreeMap::from([("step".to_owned(), 1_000)]));
}

/// The command checks the receiver's certificate, and the receiver the command's on request.
#[test]
fn spans_go_encrypted_to_a_receiver_that_is_trusted() {
    let java = jdks::newest().tool("java");
    let (host, own) = (Identity::of("localhost"), Identity::of("client"));
    for (kind, protocol) in KINDS.into_iter().zip(NAMES) {
        for client in [None, Some(&own)] {
            let folder = scratch();
            let (authority, _) = host.files(folder.path(), "host");
            let (certificate, key) = own.files(folder.path(), "client");
            let receiver = kind(Behaviour::Takes);
            let url = encrypted::in_front_of(&receiver.url, &host, client);
            let sent = |variables: &[(&str, &Path)]| {
                let command = Java::program(workspace::classhook());
                let with = |command: Java, (name, value): &(&str, &Path)| {
                    command.variable(&format!("OTEL_EXPORTER_OTLP_{name}"), value)
                };
                variables
                    .iter()
                    .fold(command, with)
                    .variable("SSL_CERT_FILE", &certificate)
                    .arguments(&["trace", "--methods", "Spans.step", "--otlp", &url])
                    .arguments(&[
                        "--otlp-protocol",
                        protocol,
                        "--otlp-header",
                        "x-key=se cret",
                    ])
                    .arguments(&["--otlp-span-name", "step {arg[0]} of {class}", "-o"])
                    .argument(folder.path())
                    .argument("--")
                    .argument(&java)
                    .argument("-cp")
                    .argument(classes())
                    .arguments(&["Spans", "steady", "1", "10", "100"])
                    .run()
            };
            let identity = [("CLIENT_CERTIFICATE", &*certificate), ("CLIENT_KEY", &*key)];
            let trusted = [("CERTIFICATE", &*authority)];
            let run = sent(&[&trusted[..], &identity].concat());
            run.assert_success();
            let received = receiver.received();
            assert_eq!(received.headers["x-key"], "se cret");
            let spans = spans(&received);
            assert_eq!(spans.len(), 1_000, "{protocol}");
            let named = spans.iter().filter(|span| {
                let number = span.name.strip_prefix("step ");
                let number = number.and_then(|rest| rest.strip_suffix(" of Spans"));
                let shown = text(&span.attributes, "classhook.shown.arg[0]");
                number.is_some() && shown.as_deref().is_none_or(|shown| Some(shown) == number)
            });
            assert_eq!(named.count(), 1_000, "{:?}", spans[0]);
            drop(received);

            let untrusted = sent(&identity);
            assert_missing(&untrusted, "invalid peer certificate");
            if client.is_some() {
                assert_missing(&sent(&trusted), "CertificateRequired");
            }
        }
    }
}

#[test]
fn invalid_receivers_are_refused_before_the_program_starts() {
    for (words, expected) in [
        (
            ["--otlp", "ftp://collector:4318"],
            "a URL such as http://localhost:4318",
        ),
        (
            ["--otlp", "collector:4318"],
            "a URL such as http://localhost:4318",
        ),
    ] {
        let run = Java::program(workspace::classhook())
            .arguments(&[&["trace"], &words[..], &["--", "/no/such/program"]].concat())
            .run();
        run.assert_exit(2)
            .assert_stderr("error[H0661]")
            .assert_stderr(expected);
    }
}
