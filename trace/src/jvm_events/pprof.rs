//! The format of `pprof` (profile.proto of github.com/google/pprof), which many viewers read. The caller compresses
//! it.

use std::collections::HashMap;

use jvm_events::Recorded;
use jvm_events::stacks::Frame;
use jvm_events::thread_state::ThreadState;

use super::names::method;

/// A protocol buffer under construction.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push((number & 0x7F) as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    /// Appends a field with a number.
    fn number(&mut self, field: u64, number: u64) {
        self.varint(field << 3);
        self.varint(number);
    }

    /// Appends a field with bytes: a text, a message, packed numbers.
    fn bytes(&mut self, field: u64, bytes: &[u8]) {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    fn packed(&mut self, field: u64, numbers: impl IntoIterator<Item = u64>) {
        let mut packed = Self::default();
        numbers.into_iter().for_each(|number| packed.varint(number));
        self.bytes(field, &packed.0);
    }
}

/// Name and unit of each value of a sample.
const KINDS: [(&str, &str); 11] = [
    ("samples", "count"),
    ("cpu", "nanoseconds"),
    ("alloc_objects", "count"),
    ("alloc_space", "bytes"),
    ("inuse_objects", "count"),
    ("inuse_space", "bytes"),
    ("contentions", "count"),
    ("delay", "nanoseconds"),
    ("wall_samples", "count"),
    ("wall", "nanoseconds"),
    ("jni_references", "count"),
];

/// Values in the order of [`KINDS`].
type Values = [u64; KINDS.len()];

/// A row with its values.
struct Sample {
    thread: u32,
    node: Option<u32>,
    /// The state of the thread, for wall-clock samples.
    state: Option<ThreadState>,
    values: Values,
}

impl Sample {
    /// Creates a sample with these values from an index of [`KINDS`] on, and 0 elsewhere.
    fn new<const N: usize>(
        (thread, node): (u32, Option<u32>),
        first: usize,
        given: [u64; N],
    ) -> Self {
        Self {
            thread,
            node,
            state: None,
            values: values(first, given),
        }
    }
}

/// Returns these values from an index of [`KINDS`] on, and 0 elsewhere.
fn values<const N: usize>(first: usize, given: [u64; N]) -> Values {
    let mut values = [0; KINDS.len()];
    values[first..first + N].copy_from_slice(&given);
    values
}

#[derive(Default)]
struct Builder {
    profile: Message,
    texts: Vec<String>,
    known_texts: HashMap<String, u64>,
    functions: HashMap<(String, String), u64>,
    locations: HashMap<(u64, i32), u64>,
}

impl Builder {
    fn text(&mut self, text: &str) -> u64 {
        if let Some(known) = self.known_texts.get(text) {
            return *known;
        }
        let new = self.texts.len() as u64;
        self.texts.push(text.to_owned());
        self.known_texts.insert(text.to_owned(), new);
        new
    }

    fn value_type(&mut self, (name, unit): (&str, &str)) -> Message {
        let mut message = Message::default();
        message.number(1, self.text(name));
        message.number(2, self.text(unit));
        message
    }

    fn location(&mut self, frame: &Frame) -> u64 {
        self.place((method(frame), frame.file.clone()), frame.line)
    }

    /// Returns the location of an item other than a method.
    fn function(&mut self, name: &str) -> u64 {
        self.place((name.to_owned(), String::new()), 0)
    }

    /// Returns the location of a function by its name and file, at a line.
    fn place(&mut self, key: (String, String), line_number: i32) -> u64 {
        let new = self.functions.len() as u64 + 1;
        let function = *self.functions.entry(key.clone()).or_insert(new);
        if function == new {
            let mut message = Message::default();
            message.number(1, new);
            let name = self.text(&key.0);
            message.number(2, name);
            message.number(3, name);
            message.number(4, self.text(&key.1));
            self.profile.bytes(5, &message.0);
        }
        let new = self.locations.len() as u64 + 1;
        let location = *self.locations.entry((function, line_number)).or_insert(new);
        if location == new {
            let mut line = Message::default();
            line.number(1, function);
            line.number(2, u64::try_from(line_number).unwrap_or(0));
            let mut message = Message::default();
            message.number(1, new);
            message.bytes(4, &line.0);
            self.profile.bytes(4, &message.0);
        }
        location
    }

    /// Adds a sample with the values of the kept kinds, and the thread as a label.
    fn sample(&mut self, recorded: &Recorded, sample: &Sample, values: &[u64]) {
        let frames: Vec<u64> = (recorded.stacks.path(sample.node))
            .map(|frame| self.location(frame))
            .collect();
        let state = sample.state.map(|state| ("state", state.title()));
        let labels = [("thread", recorded.thread(sample.thread))];
        self.labelled(labels.into_iter().chain(state), frames, values);
    }

    fn labelled<'l>(
        &mut self,
        labels: impl IntoIterator<Item = (&'l str, &'l str)>,
        frames: Vec<u64>,
        values: &[u64],
    ) {
        let mut message = Message::default();
        message.packed(1, frames);
        message.packed(2, values.iter().copied());
        for (key, value) in labels {
            let mut label = Message::default();
            label.number(1, self.text(key));
            label.number(2, self.text(value));
            message.bytes(3, &label.0);
        }
        self.profile.bytes(2, &message.0);
    }
}

/// Returns the profile of all JVMs together; the format has no exceptions and collections.
#[must_use]
pub fn bytes(all: &[Recorded]) -> Vec<u8> {
    let mut builder = Builder::default();
    builder.text(""); // the first text is empty
    let kept = kept(all);
    let types: Vec<Message> = (kept.iter())
        .map(|kind| builder.value_type(KINDS[*kind]))
        .collect();
    for kind in types {
        builder.profile.bytes(1, &kind.0);
    }
    for recorded in all {
        for sample in samples(recorded) {
            let values: Vec<u64> = kept.iter().map(|kind| sample.values[*kind]).collect();
            builder.sample(recorded, &sample, &values);
        }
    }
    for recorded in all {
        for row in &recorded.system {
            let values = values(0, [0, row.cpu_ns]);
            let values: Vec<u64> = kept.iter().map(|kind| values[*kind]).collect();
            let frames = vec![builder.function(row.work.title())];
            let labels = [("thread", recorded.thread(row.thread))];
            builder.labelled(labels, frames, &values);
        }
    }
    if let Some(first) = all.first() {
        builder
            .profile
            .number(9, first.start_ms.saturating_mul(1_000_000));
        builder.profile.number(10, first.duration_ns);
    }
    if let Some(interval) = all.iter().find_map(|recorded| recorded.subscription.cpu) {
        let kind = builder.value_type(("cpu", "nanoseconds"));
        builder.profile.bytes(11, &kind.0);
        let nanos = u64::try_from(interval.as_nanos()).unwrap_or(u64::MAX);
        builder.profile.number(12, nanos);
    }
    // The default is the second value of the first kind: CPU time, bytes, delay.
    if let Some(kind) = kept.get(1) {
        let name = builder.text(KINDS[*kind].0);
        builder.profile.number(14, name);
    }
    let texts = std::mem::take(&mut builder.texts);
    for text in texts {
        builder.profile.bytes(6, text.as_bytes());
    }
    builder.profile.0
}

/// Returns the indices of the subscribed kinds.
fn kept(all: &[Recorded]) -> Vec<usize> {
    let any = |test: fn(&Recorded) -> bool| all.iter().any(test);
    let groups = [
        (any(|one| one.subscription.cpu.is_some()), 0..2),
        (any(|one| one.subscription.allocations.is_some()), 2..4),
        (any(|one| one.subscription.live), 4..6),
        (any(|one| one.subscription.monitors), 6..8),
        (any(|one| one.subscription.wall.is_some()), 8..10),
        (any(|one| one.subscription.references), 10..11),
    ];
    let groups = groups.into_iter().filter(|(is_on, _)| *is_on);
    groups.flat_map(|(_, kinds)| kinds).collect()
}

fn samples(recorded: &Recorded) -> impl Iterator<Item = Sample> {
    let cpu = recorded.cpu.iter();
    let cpu = cpu.map(|row| Sample::new((row.thread, row.node), 0, [row.samples, row.cpu_ns]));
    let allocations = recorded.allocations.iter().map(|row| {
        let sums = [row.objects, row.bytes, row.live_objects, row.live_bytes];
        let sums = sums.map(|sum| sum.round() as u64);
        Sample::new((row.thread, row.node), 2, sums)
    });
    let contended = recorded.contended.iter();
    let contended =
        contended.map(|row| Sample::new((row.thread, row.node), 6, [row.count, row.total_ns]));
    let wall = recorded.wall.iter().map(|row| Sample {
        state: Some(row.state),
        ..Sample::new((row.thread, row.node), 8, [row.samples, row.nanos])
    });
    let references = recorded.references.iter();
    let references = references.map(|row| Sample::new((row.thread, row.node), 10, [row.open]));
    let all = cpu.chain(allocations).chain(contended);
    all.chain(wall).chain(references)
}
