//! Counts delivered and lost spans and metrics.

use std::collections::BTreeMap;

use errors::{Error, codes};
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;

/// Maximum number of causes in a report; the rest is counted together.
const CAUSES: usize = 5;
/// Maximum number of causes that are stored.
const KEPT: usize = 64;
/// Label for further causes.
const OTHERS: &str = "other causes";

/// Counts of delivered and lost data.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Delivery {
    /// The receiver's address.
    pub receiver: String,
    /// Accepted spans.
    spans: u64,
    /// Lost spans, by cause.
    missing: BTreeMap<String, u64>,
    /// The newest metrics of each JVM: a later request contains the data of an earlier one.
    metrics: BTreeMap<usize, Points>,
    /// Unsent metrics, by cause.
    unsent: BTreeMap<String, u64>,
    /// The receiver's message beside a full success.
    words: String,
}

/// Data points.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Points {
    taken: u64,
    missing: BTreeMap<String, u64>,
}

/// Counts the data points of a request.
#[must_use]
pub fn points(request: &ExportMetricsServiceRequest) -> u64 {
    let scopes = request
        .resource_metrics
        .iter()
        .flat_map(|of_jvm| &of_jvm.scope_metrics);
    let metrics = scopes.flat_map(|scope| &scope.metrics);
    let points = metrics.map(|metric| match &metric.data {
        Some(Data::Sum(sum)) => sum.data_points.len(),
        Some(Data::Gauge(gauge)) => gauge.data_points.len(),
        Some(Data::Histogram(histogram)) => histogram.data_points.len(),
        _ => 0,
    });
    points.sum::<usize>() as u64
}

impl Delivery {
    /// Adds lost spans.
    pub fn add_missing(&mut self, cause: &str, count: u64) {
        add(&mut self.missing, cause, count);
    }

    /// Adds unsent metrics.
    pub fn add_missing_points(&mut self, cause: &str, count: u64) {
        add(&mut self.unsent, cause, count);
    }

    /// Adds an accepted request, with the number of rejected spans and the receiver's message.
    pub fn spans_taken(&mut self, count: u64, (rejected, words): &(u64, String)) {
        let rejected = (*rejected).min(count);
        self.spans += count - rejected;
        self.add_missing(&rejected_because(words), rejected);
        self.keep_message(rejected, words);
    }

    /// Starts a new count for newer metrics of a JVM.
    pub fn metrics_begin(&mut self, jvm: usize) {
        self.metrics.insert(jvm, Points::default());
    }

    /// As [`Delivery::spans_taken`].
    pub fn metrics_taken(&mut self, jvm: usize, count: u64, (rejected, words): &(u64, String)) {
        let rejected = (*rejected).min(count);
        let points = self.metrics.entry(jvm).or_default();
        points.taken += count - rejected;
        add(&mut points.missing, &rejected_because(words), rejected);
        self.keep_message(rejected, words);
    }

    /// Adds a lost request with metrics.
    pub fn metrics_failed(&mut self, jvm: usize, count: u64, cause: &str) {
        let points = self.metrics.entry(jvm).or_default();
        add(&mut points.missing, cause, count);
    }

    fn keep_message(&mut self, rejected: u64, words: &str) {
        if rejected == 0 && self.words.is_empty() {
            words.clone_into(&mut self.words);
        }
    }

    /// Returns the counts as a line, and the receiver's message as another, if any.
    pub fn lines(&self) -> impl Iterator<Item = String> {
        let receiver = &self.receiver;
        let sent = format!(
            "sent {} spans and {} data points of metrics to {receiver}",
            self.spans,
            self.points()
        );
        let words = (!self.words.is_empty()).then(|| format!("{receiver} says: {}", self.words));
        std::iter::once(sent).chain(words)
    }

    /// Returns the number of accepted data points.
    fn points(&self) -> u64 {
        self.metrics.values().map(|points| points.taken).sum()
    }

    /// Fails if data was lost.
    ///
    /// # Errors
    /// `H0662`.
    pub fn check(&self) -> Result<(), Error> {
        let (points, receiver) = (self.points(), &self.receiver);
        let of_metrics = self.metrics.values().flat_map(|points| &points.missing);
        let mut missing_points = self.unsent.clone();
        of_metrics.for_each(|(cause, count)| add(&mut missing_points, cause, *count));
        let [spans, lost] =
            [&self.missing, &missing_points].map(|causes| causes.values().sum::<u64>());
        if spans + lost == 0 {
            return Ok(());
        }
        let message = format!(
            "{receiver} did not accept {spans} of {} spans and {lost} of {} data points",
            spans + self.spans,
            lost + points
        );
        let problem = Error::partial(codes::H0662, message);
        let problem = with_causes(problem, "spans", &self.missing);
        let problem = with_causes(problem, "data points", &missing_points);
        Err(problem.with(
            "help",
            "check the URL, --otlp-protocol and the receiver's log; all other outputs are complete",
        ))
    }
}

fn rejected_because(words: &str) -> String {
    match words.is_empty() {
        true => "rejected without a message".to_owned(),
        false => format!("rejected: {words}"),
    }
}

fn add(causes: &mut BTreeMap<String, u64>, cause: &str, count: u64) {
    if count == 0 {
        return;
    }
    let is_kept = causes.len() < KEPT || causes.contains_key(cause);
    let cause = if is_kept { cause } else { OTHERS };
    *causes.entry(cause.to_owned()).or_default() += count;
}

/// Adds the causes to a problem, the most frequent first.
fn with_causes(problem: Error, what: &str, causes: &BTreeMap<String, u64>) -> Error {
    let mut sorted: Vec<(&String, &u64)> = causes.iter().collect();
    sorted.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    let rest = sorted.split_off(sorted.len().min(CAUSES));
    let found = sorted
        .into_iter()
        .map(|(cause, count)| format!("{count} {what}: {cause}"));
    let rest: u64 = rest.into_iter().map(|(_, count)| *count).sum();
    let rest = (rest > 0).then(|| format!("{rest} {what}: {OTHERS}"));
    found
        .chain(rest)
        .fold(problem, |problem, found| problem.with("found", found))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken() -> (u64, String) {
        (0, String::new())
    }

    #[test]
    fn lost_data_is_counted_by_cause() {
        let mut delivery = Delivery {
            receiver: "http://a:1".to_owned(),
            ..Delivery::default()
        };
        delivery.spans_taken(10, &taken());
        delivery.spans_taken(10, &(3, "too old".to_owned()));
        delivery.add_missing("refused", 5);
        delivery.add_missing("refused", 2);
        delivery.add_missing("none", 0);
        let text = delivery.check().unwrap_err().to_string();
        assert!(
            text.contains("did not accept 10 of 27 spans and 0 of 0 data points"),
            "{text}"
        );
        assert!(
            text.contains("7 spans: refused") && text.contains("3 spans: rejected: too old"),
            "{text}"
        );
    }

    #[test]
    fn later_metrics_replace_lost_ones() {
        let mut delivery = Delivery::default();
        delivery.metrics_begin(0);
        delivery.metrics_failed(0, 4, "refused");
        assert_eq!(delivery.check().unwrap_err().exit(), 3);
        delivery.metrics_begin(0);
        delivery.metrics_taken(0, 4, &taken());
        assert_eq!(delivery.check(), Ok(()));
    }

    #[test]
    fn many_causes_are_summarised() {
        let mut delivery = Delivery::default();
        (1..9).for_each(|number| delivery.add_missing(&format!("cause {number}"), number));
        let text = delivery.check().unwrap_err().to_string();
        assert!(
            text.contains("8 spans: cause 8") && text.contains("6 spans: other causes"),
            "{text}"
        );
    }
}
