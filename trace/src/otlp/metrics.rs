//! Sums as metrics: those of [`crate::prometheus`], with names that become its names when they are scraped.

use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::number_data_point::Value;
use opentelemetry_proto::tonic::metrics::v1::{
    AggregationTemporality, Gauge, Histogram, HistogramDataPoint, Metric, NumberDataPoint,
    ResourceMetrics, ScopeMetrics, Sum,
};
use probes::events::{Aggregate, Trace};

use super::attributes::{nanos, scope, text};
use super::resource::Service;
use crate::losses::losses;
use crate::names::printable;
use crate::prometheus::POWERS;
use crate::summary::{Order, Row, Summary};

/// Maximum number of methods in one request, so that none exceeds the limit of receivers (4 MiB).
const METHODS: usize = 2_000;

/// A metric with one number for each method.
struct Family {
    name: &'static str,
    description: &'static str,
    unit: &'static str,
    /// The value; `None` if the method has none.
    value: fn(&Row) -> Option<Value>,
}

const FAMILIES: [Family; 3] = [
    Family {
        name: "classhook.calls",
        description: "Completed calls; entries of methods in count mode.",
        unit: "{call}",
        value: |row| Some(whole(row.calls)),
    },
    Family {
        name: "classhook.call.errors",
        description: "Calls that ended by an exception.",
        unit: "{call}",
        value: |row| Some(whole(row.sums.as_ref()?.errors)),
    },
    Family {
        name: "classhook.call.self",
        description: "Time in the method, without traced callees.",
        unit: "s",
        value: |row| Some(Value::AsDouble(seconds(row.sums.as_ref()?.own))),
    },
];

/// Start and end of the sums, in nanoseconds since 1970.
#[derive(Clone, Copy)]
struct Times {
    begun: u64,
    now: u64,
}

/// Returns the requests with all sums of a JVM since `since_ms`, the start of the trace or its last reset.
#[must_use]
pub fn metrics(
    service: &Service,
    trace: &Trace,
    since_ms: u64,
) -> Vec<ExportMetricsServiceRequest> {
    let mut summary = Summary::of(std::slice::from_ref(trace), Order::Calls);
    summary.rows.sort_by(|one, other| {
        let key = |row: &Row| (row.class.clone(), row.name.clone(), row.descriptor.clone());
        key(one).cmp(&key(other))
    });
    let times = Times {
        begun: nanos(since_ms),
        now: nanos(trace.meta.dump_ms.max(since_ms)),
    };
    let request = |metrics| {
        let of_jvm = ResourceMetrics {
            resource: Some(service.instance(&trace.meta)),
            scope_metrics: vec![ScopeMetrics {
                scope: Some(scope()),
                metrics,
                ..ScopeMetrics::default()
            }],
            ..ResourceMetrics::default()
        };
        ExportMetricsServiceRequest {
            resource_metrics: vec![of_jvm],
        }
    };
    let chunks = summary.rows.chunks(METHODS);
    let mut requests: Vec<_> = chunks.map(|rows| request(of_rows(rows, times))).collect();
    requests.push(request(loss_metrics(&summary, times)));
    requests
}

fn of_rows(rows: &[Row], times: Times) -> Vec<Metric> {
    let mut metrics: Vec<Metric> = FAMILIES
        .iter()
        .map(|family| family.metric(rows, times))
        .collect();
    let points = rows.iter().filter_map(|row| {
        let sums = row.sums.as_ref()?;
        Some(histogram(sums, labels(row), times))
    });
    metrics.push(Metric {
        name: "classhook.call.duration".to_owned(),
        description: "Durations of calls; in the sum recursive calls count once.".to_owned(),
        unit: "s".to_owned(),
        data: Some(Data::Histogram(Histogram {
            data_points: points.collect(),
            aggregation_temporality: AggregationTemporality::Cumulative.into(),
        })),
        ..Metric::default()
    });
    metrics.retain(has_points);
    metrics
}

fn has_points(metric: &Metric) -> bool {
    match &metric.data {
        Some(Data::Sum(sum)) => !sum.data_points.is_empty(),
        Some(Data::Histogram(histogram)) => !histogram.data_points.is_empty(),
        _ => true,
    }
}

impl Family {
    fn metric(&self, rows: &[Row], times: Times) -> Metric {
        let points = rows
            .iter()
            .filter_map(|row| Some(point((self.value)(row)?, labels(row), times)));
        counter(self.name, self.description, self.unit, points.collect())
    }
}

fn counter(name: &str, description: &str, unit: &str, data_points: Vec<NumberDataPoint>) -> Metric {
    Metric {
        name: name.to_owned(),
        description: description.to_owned(),
        unit: unit.to_owned(),
        data: Some(Data::Sum(Sum {
            data_points,
            aggregation_temporality: AggregationTemporality::Cumulative.into(),
            is_monotonic: true,
        })),
        ..Metric::default()
    }
}

fn point(value: Value, attributes: Vec<KeyValue>, times: Times) -> NumberDataPoint {
    NumberDataPoint {
        attributes,
        start_time_unix_nano: times.begun,
        time_unix_nano: times.now,
        value: Some(value),
        ..NumberDataPoint::default()
    }
}

fn histogram(sums: &Aggregate, attributes: Vec<KeyValue>, times: Times) -> HistogramDataPoint {
    let ends = POWERS.map(|power| 1_u64 << power);
    let mut below = 0;
    let mut bucket_counts: Vec<u64> = (ends.iter())
        .map(|end| {
            let before = std::mem::replace(&mut below, sums.histogram.below(*end));
            below - before
        })
        .collect();
    let count = sums.histogram.calls();
    bucket_counts.push(count - below);
    HistogramDataPoint {
        attributes,
        start_time_unix_nano: times.begun,
        time_unix_nano: times.now,
        count,
        sum: Some(seconds(sums.total)),
        bucket_counts,
        explicit_bounds: ends.iter().map(|end| seconds(end - 1)).collect(),
        min: (count > 0).then(|| seconds(sums.min)),
        max: (count > 0).then(|| seconds(sums.max)),
        ..HistogramDataPoint::default()
    }
}

/// Returns the metrics of lost and unwritten data.
fn loss_metrics(summary: &Summary, times: Times) -> Vec<Metric> {
    let lost = losses(&summary.lost).into_iter().map(|loss| {
        let reason = vec![text("classhook.reason", loss.reason)];
        point(whole(loss.number), reason, times)
    });
    let description = "Lost calls and values, by reason.";
    let lost = counter("classhook.lost", description, "{call}", lost.collect());
    let is_incomplete = u64::from(!summary.incomplete.is_empty());
    let incomplete = Metric {
        name: "classhook.incomplete".to_owned(),
        description: "1 if data could not be written, else 0.".to_owned(),
        data: Some(Data::Gauge(Gauge {
            data_points: vec![point(whole(is_incomplete), Vec::new(), times)],
        })),
        ..Metric::default()
    };
    vec![lost, incomplete]
}

fn labels(row: &Row) -> Vec<KeyValue> {
    let function = format!("{}.{}", row.class, printable(&row.name.method));
    vec![
        text("code.function.name", function),
        text("classhook.descriptor", &row.descriptor),
    ]
}

fn whole(number: u64) -> Value {
    Value::AsInt(i64::try_from(number).unwrap_or(i64::MAX))
}

fn seconds(nanos: u64) -> f64 {
    nanos as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;
    use probes::events::{SpanInfo, bucket_of};

    fn trace() -> Trace {
        let mut trace = Trace::default();
        (trace.meta.start_ms, trace.meta.dump_ms) = (1_000, 3_000);
        for (id, method) in [(1, "f"), (2, "g")] {
            let span = SpanInfo {
                id,
                class: "a/B".to_owned(),
                method: method.to_owned(),
                descriptor: "()V".to_owned(),
                ..SpanInfo::default()
            };
            trace.spans.insert(id, span);
        }
        let mut sums = Aggregate {
            count: 3,
            errors: 1,
            total: 1_500_000_000,
            own: 500_000_000,
            min: 100,
            max: 1_000_000_000,
            ..Aggregate::default()
        };
        for nanos in [100, 2_000, 1_000_000_000] {
            sums.histogram.add(bucket_of(nanos), 1);
        }
        trace.aggregates.insert(1, sums);
        trace.counts.insert(2, 9);
        trace.lost.full = 4;
        trace
    }

    /// Returns name and values of each metric.
    fn values(metrics: &[Metric]) -> Vec<(String, Vec<Value>)> {
        let of =
            |points: &[NumberDataPoint]| points.iter().filter_map(|point| point.value).collect();
        let values = metrics.iter().map(|metric| {
            let values = match metric.data.as_ref().unwrap() {
                Data::Sum(sum) => of(&sum.data_points),
                Data::Gauge(gauge) => of(&gauge.data_points),
                _ => Vec::new(),
            };
            (metric.name.clone(), values)
        });
        values.collect()
    }

    #[test]
    fn sums_become_cumulative_metrics_of_each_method() {
        let requests = metrics(&Service::default(), &trace(), 1_000);
        let [methods, missing] = &requests[..] else {
            panic!("two requests");
        };
        let metrics = &methods.resource_metrics[0].scope_metrics[0].metrics;
        let expected = [
            ("classhook.calls", vec![Value::AsInt(3), Value::AsInt(9)]),
            ("classhook.call.errors", vec![Value::AsInt(1)]),
            ("classhook.call.self", vec![Value::AsDouble(0.5)]),
            ("classhook.call.duration", vec![]),
        ];
        assert_eq!(
            values(metrics),
            expected.map(|(name, values)| (name.to_owned(), values))
        );
        let Some(Data::Histogram(histogram)) = &metrics[3].data else {
            panic!("a histogram");
        };
        let point = &histogram.data_points[0];
        assert_eq!(point.bucket_counts.len(), point.explicit_bounds.len() + 1);
        assert_eq!(point.bucket_counts.iter().sum::<u64>(), 3);
        assert_eq!((point.bucket_counts[0], point.bucket_counts[1]), (1, 1));
        assert_eq!(
            (point.count, point.sum, point.max),
            (3, Some(1.5), Some(1.0))
        );
        assert_eq!(
            (point.start_time_unix_nano, point.time_unix_nano),
            (1_000_000_000, 3_000_000_000)
        );
        let missing = values(&missing.resource_metrics[0].scope_metrics[0].metrics);
        assert_eq!(missing[0].1[0], Value::AsInt(4));
        assert_eq!(
            missing[1],
            ("classhook.incomplete".to_owned(), vec![Value::AsInt(0)])
        );
    }

    #[test]
    fn many_methods_are_sent_in_several_requests() {
        let mut trace = trace();
        for id in 10..2_500 {
            let span = SpanInfo {
                id,
                class: "a/B".to_owned(),
                method: format!("m{id}"),
                ..SpanInfo::default()
            };
            trace.spans.insert(id, span);
            trace.counts.insert(id, 1);
        }
        assert_eq!(metrics(&Service::default(), &trace, 0).len(), 3);
    }
}
