//! The metrics, parsed by a strict reader of Prometheus' text format.

use std::collections::{BTreeMap, BTreeSet};

use probes::events::{Aggregate, Lost, SpanInfo, Trace, bucket_of};
use probes::{Incomplete, Meta};
use trace::prometheus;

/// The samples by name and labels.
type Samples = BTreeMap<(String, BTreeMap<String, String>), f64>;

/// Parses the text and checks the format: each family occurs once, after its HELP and TYPE; names, labels and escapes
/// are valid; no sample occurs twice; histogram buckets ascend, and the last one equals the count.
fn read(text: &str) -> Samples {
    assert!(text.ends_with('\n'), "the last line has an end");
    let (mut samples, mut families) = (Samples::new(), BTreeSet::new());
    let (mut family, mut kind) = (String::new(), String::new());
    let mut helped = String::new();
    for line in text.lines() {
        if let Some(help) = line.strip_prefix("# HELP ") {
            helped = help.split_once(' ').expect("a text").0.to_owned();
        } else if let Some(of_type) = line.strip_prefix("# TYPE ") {
            let (name, found) = of_type.split_once(' ').expect("a type");
            assert_eq!(name, helped, "HELP comes before");
            assert!(["counter", "gauge", "histogram"].contains(&found), "{line}");
            assert!(families.insert(name.to_owned()), "{name} comes twice");
            (family, kind) = (name.to_owned(), found.to_owned());
        } else {
            let (name, labels, value) = sample(line);
            let below = name.strip_prefix(&family).expect("the family's name");
            match kind.as_str() {
                "histogram" => assert!(["_bucket", "_sum", "_count"].contains(&below), "{line}"),
                _ => assert_eq!(below, "", "{line}"),
            }
            assert_eq!(kind == "counter", name.ends_with("_total"), "{line}");
            assert!(value >= 0.0 && value.is_finite(), "{line}");
            assert!(
                samples.insert((name, labels), value).is_none(),
                "{line} comes twice"
            );
        }
    }
    families
        .iter()
        .for_each(|family| check_histogram(family, &samples));
    samples
}

/// Parses `name{label="value",…} number`.
fn sample(line: &str) -> (String, BTreeMap<String, String>, f64) {
    let (name, rest) = line.split_once('{').expect("labels");
    assert!(is_name(name, ":"), "{line}");
    let mut labels = BTreeMap::new();
    let mut rest = rest;
    loop {
        let (label, after) = rest.split_once("=\"").expect("a label");
        assert!(is_name(label, "") && !label.starts_with("__"), "{line}");
        let (value, after) = quoted(after);
        assert!(labels.insert(label.to_owned(), value).is_none(), "{line}");
        match after.strip_prefix(',') {
            Some(next) => rest = next,
            None => {
                let value = after.strip_prefix("} ").expect("a value");
                return (name.to_owned(), labels, value.parse().expect("a number"));
            }
        }
    }
}

fn is_name(name: &str, others: &str) -> bool {
    let mut chars = name.chars();
    let first = |char: char| char.is_ascii_alphabetic() || char == '_' || others.contains(char);
    chars.next().is_some_and(first) && chars.all(|char| first(char) || char.is_ascii_digit())
}

/// Returns the quoted text that `text` continues, and the rest.
fn quoted(text: &str) -> (String, &str) {
    let mut value = String::new();
    let mut chars = text.char_indices();
    while let Some((at, char)) = chars.next() {
        match char {
            '"' => return (value, &text[at + 1..]),
            '\\' => value.push(match chars.next().expect("an escape").1 {
                'n' => '\n',
                same @ ('\\' | '"') => same,
                other => panic!("\\{other} is no escape"),
            }),
            other => value.push(other),
        }
    }
    panic!("no end: {text}")
}

fn check_histogram(family: &str, samples: &Samples) {
    let of = |suffix: &str| {
        let name = format!("{family}{suffix}");
        let found = samples.iter().filter(move |((found, _), _)| *found == name);
        found.map(|((_, labels), value)| (labels.clone(), *value))
    };
    let mut buckets: BTreeMap<BTreeMap<String, String>, Vec<(f64, f64)>> = BTreeMap::new();
    for (mut labels, value) in of("_bucket") {
        let le = labels.remove("le").expect("an end");
        let le = le.replace("+Inf", "inf").parse().expect("a number");
        buckets.entry(labels).or_default().push((le, value));
    }
    let counts: BTreeMap<_, _> = of("_count").collect();
    assert_eq!(counts.len(), buckets.len());
    assert_eq!(of("_sum").count(), buckets.len());
    for (labels, mut ends) in buckets {
        ends.sort_by(|one, other| one.0.total_cmp(&other.0));
        assert!(ends.is_sorted_by(|one, next| one.0 < next.0 && one.1 <= next.1));
        let (last, all) = ends.last().expect("a bucket");
        assert!(last.is_infinite() && counts[&labels] == *all);
    }
}

fn sums(durations: &[u64]) -> Aggregate {
    let mut sums = Aggregate::default();
    for nanos in durations {
        let mut one = Aggregate {
            count: 1,
            total: *nanos,
            own: *nanos,
            ..Aggregate::default()
        };
        one.histogram.add(bucket_of(*nanos), 1);
        sums.merge(&one);
    }
    sums.errors = 1;
    sums
}

fn jvm(pid: u32) -> Trace {
    let span = |id, class: &str, method: &str| SpanInfo {
        id,
        class: class.to_owned(),
        method: method.to_owned(),
        descriptor: "([I)V".to_owned(),
        ..SpanInfo::default()
    };
    let spans = [
        span(1, "a/B", "find"),
        span(2, "a/Q\"uo\\te\n", "<init>"),
        span(3, "a/B", "counted"),
        span(4, "a/B", "find"), // of another loader
        span(5, "a/B", "never"),
    ];
    Trace {
        meta: Meta {
            pid,
            ..Meta::default()
        },
        spans: spans.into_iter().map(|span| (span.id, span)).collect(),
        aggregates: BTreeMap::from([
            (1, sums(&[1_023, 1_024, 90_000_000_000])),
            (2, sums(&[5])),
            (4, sums(&[2_000])),
        ]),
        counts: BTreeMap::from([(3, 77)]),
        lost: Lost {
            full: 9,
            ..Lost::default()
        },
        ..Trace::default()
    }
}

fn labels(pid: &str, class: &str, method: &str) -> BTreeMap<String, String> {
    let pairs = [
        ("pid", pid),
        ("class", class),
        ("method", method),
        ("descriptor", "([I)V"),
    ];
    pairs
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into()
}

#[test]
fn metrics_satisfy_a_strict_reader() {
    let mut other = jvm(8);
    other.incomplete = Some(Incomplete::default());
    let mut out = Vec::new();
    prometheus::write(&[jvm(7), other], &mut out).unwrap();
    let samples = read(&String::from_utf8(out).unwrap());
    let value = |name: &str, labels: &BTreeMap<String, String>| {
        samples.get(&(name.to_owned(), labels.clone())).copied()
    };
    let find = labels("7", "a.B", "find");
    assert_eq!(value("classhook_calls_total", &find), Some(4.0));
    assert_eq!(value("classhook_call_errors_total", &find), Some(2.0));
    let seconds = value("classhook_call_seconds_total", &find).unwrap();
    assert!((seconds - 90.000_004_047).abs() < 1e-9, "{seconds}");
    let bucket = |le: &str| {
        let mut labels = find.clone();
        labels.insert("le".to_owned(), le.to_owned());
        value("classhook_call_duration_seconds_bucket", &labels)
    };
    assert_eq!(bucket("0.000001023"), Some(1.0));
    assert_eq!(bucket("0.000004095"), Some(3.0));
    assert_eq!(bucket("68.719476735"), Some(3.0));
    assert_eq!(bucket("+Inf"), Some(4.0));
    let quoted = labels("8", "a.Q\"uo\\te\\n", "<init>");
    assert_eq!(value("classhook_calls_total", &quoted), Some(1.0));
    let counted = labels("8", "a.B", "counted");
    assert_eq!(value("classhook_calls_total", &counted), Some(77.0));
    assert_eq!(value("classhook_call_seconds_total", &counted), None);
    assert_eq!(
        value("classhook_calls_total", &labels("8", "a.B", "never")),
        None
    );
    let lost = ["pid", "reason"].map(String::from).into_iter();
    let lost = lost.zip(["7", "full"].map(String::from)).collect();
    assert_eq!(value("classhook_lost_total", &lost), Some(9.0));
    let pid = |pid: &str| BTreeMap::from([("pid".to_owned(), pid.to_owned())]);
    assert_eq!(value("classhook_incomplete", &pid("7")), Some(0.0));
    assert_eq!(value("classhook_incomplete", &pid("8")), Some(1.0));
}
