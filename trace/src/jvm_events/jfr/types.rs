//! The types of a JFR file: its events, their constants, and the metadata event that describes them to a reader.
//! Names and fields are those of the JDK, without fields of unknown value.

use std::collections::HashMap;

use super::encoding::Bytes;

/// A field: its name, its type, and its form.
struct Field(&'static str, &'static str, Form);

/// The encoding and the unit of a field.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Plain,
    /// The number of a constant.
    Constant,
    /// A number of values, followed by the values.
    Array,
    /// A timestamp in ticks.
    Moment,
    /// A duration in ticks.
    Time,
    /// A size in bytes.
    Bytes,
}

/// A type: its name, its supertype, and its fields.
struct Type(&'static str, &'static str, &'static [Field]);

use Form::{Array, Constant, Moment, Plain, Time};

const EVENT: &str = "jdk.jfr.Event";
const ANNOTATION: &str = "java.lang.annotation.Annotation";
const STRING: &str = "java.lang.String";
const LABEL: &str = "jdk.jfr.Label";
const CATEGORY: &str = "jdk.jfr.Category";
/// Types with a single field, which readers show as its value.
const SIMPLE: [&str; 3] = [SYMBOL, FRAME_TYPE, THREAD_STATE];

pub(super) const THREAD: &str = "java.lang.Thread";
pub(super) const CLASS: &str = "java.lang.Class";
pub(super) const SYMBOL: &str = "jdk.types.Symbol";
pub(super) const METHOD: &str = "jdk.types.Method";
pub(super) const STACK: &str = "jdk.types.StackTrace";
pub(super) const FRAME_TYPE: &str = "jdk.types.FrameType";
pub(super) const THREAD_STATE: &str = "jdk.types.ThreadState";
const FRAME: &str = "jdk.types.StackFrame";

pub(super) const EXECUTION: &str = "jdk.ExecutionSample";
/// Wall-clock samples, beside those of CPU time.
pub(super) const WALL: &str = "classhook.WallClockSample";
pub(super) const ALLOCATION: &str = "jdk.ObjectAllocationSample";
pub(super) const ENTER: &str = "jdk.JavaMonitorEnter";
pub(super) const WAIT: &str = "jdk.JavaMonitorWait";
pub(super) const PARK: &str = "jdk.ThreadPark";
pub(super) const THROW: &str = "jdk.JavaExceptionThrow";
pub(super) const COLLECTION: &str = "jdk.GarbageCollection";
pub(super) const JVM: &str = "jdk.JVMInformation";

const START: Field = Field("startTime", "long", Moment);
const DURATION: Field = Field("duration", "long", Time);
const EVENT_THREAD: Field = Field("eventThread", THREAD, Constant);
const STACK_TRACE: Field = Field("stackTrace", STACK, Constant);
const VALUE: &[Field] = &[Field("value", STRING, Plain)];

/// The fields of a thread sample.
const SAMPLE: &[Field] = &[
    START,
    Field("sampledThread", THREAD, Constant),
    STACK_TRACE,
    Field("state", THREAD_STATE, Constant),
];

const TYPES: &[Type] = &[
    Type("boolean", "", &[]),
    Type("int", "", &[]),
    Type("long", "", &[]),
    Type(STRING, "", &[]),
    Type("jdk.jfr.Timestamp", ANNOTATION, VALUE),
    Type("jdk.jfr.Timespan", ANNOTATION, VALUE),
    Type("jdk.jfr.DataAmount", ANNOTATION, VALUE),
    Type(LABEL, ANNOTATION, VALUE),
    Type(CATEGORY, ANNOTATION, &[Field("value", STRING, Array)]),
    Type(SYMBOL, "", &[Field("string", STRING, Plain)]),
    Type(
        CLASS,
        "",
        &[
            Field("name", SYMBOL, Constant),
            Field("modifiers", "int", Plain),
            Field("hidden", "boolean", Plain),
        ],
    ),
    Type(
        METHOD,
        "",
        &[
            Field("type", CLASS, Constant),
            Field("name", SYMBOL, Constant),
            Field("descriptor", SYMBOL, Constant),
            Field("modifiers", "int", Plain),
            Field("hidden", "boolean", Plain),
        ],
    ),
    Type(FRAME_TYPE, "", &[Field("description", STRING, Plain)]),
    Type(
        FRAME,
        "",
        &[
            Field("method", METHOD, Constant),
            Field("lineNumber", "int", Plain),
            Field("bytecodeIndex", "int", Plain),
            Field("type", FRAME_TYPE, Constant),
        ],
    ),
    Type(
        STACK,
        "",
        &[
            Field("truncated", "boolean", Plain),
            Field("frames", FRAME, Array),
        ],
    ),
    Type(
        THREAD,
        "",
        &[
            Field("osName", STRING, Plain),
            Field("osThreadId", "long", Plain),
            Field("javaName", STRING, Plain),
            Field("javaThreadId", "long", Plain),
        ],
    ),
    Type(THREAD_STATE, "", &[Field("name", STRING, Plain)]),
    Type(EXECUTION, EVENT, SAMPLE),
    Type(WALL, EVENT, SAMPLE),
    Type(
        ALLOCATION,
        EVENT,
        &[
            START,
            EVENT_THREAD,
            STACK_TRACE,
            Field("objectClass", CLASS, Constant),
            Field("weight", "long", Form::Bytes),
        ],
    ),
    Type(ENTER, EVENT, &waits("monitorClass")),
    Type(WAIT, EVENT, &waits("monitorClass")),
    Type(PARK, EVENT, &waits("parkedClass")),
    Type(THROW, EVENT, &waits("thrownClass")),
    Type(
        COLLECTION,
        EVENT,
        &[
            START,
            DURATION,
            Field("gcId", "int", Plain),
            Field("sumOfPauses", "long", Time),
            Field("longestPause", "long", Time),
        ],
    ),
    Type(
        JVM,
        EVENT,
        &[
            START,
            Field("jvmName", STRING, Plain),
            Field("jvmVersion", STRING, Plain),
            Field("jvmArguments", STRING, Plain),
            Field("javaArguments", STRING, Plain),
            Field("pid", "long", Plain),
        ],
    ),
];

/// The fields of an event with a duration and a class.
const fn waits(class: &'static str) -> [Field; 5] {
    [
        START,
        DURATION,
        EVENT_THREAD,
        STACK_TRACE,
        Field(class, CLASS, Constant),
    ]
}

/// Display names of events, and their categories.
const LABELS: &[(&str, &str, &[&str])] = &[
    (EXECUTION, "Method Profiling Sample", PROFILING),
    (WALL, "Wall-Clock Sample", PROFILING),
    (ALLOCATION, "Object Allocation Sample", PROGRAM),
    (ENTER, "Java Monitor Blocked", PROGRAM),
    (WAIT, "Java Monitor Wait", PROGRAM),
    (PARK, "Java Thread Park", PROGRAM),
    (THROW, "Java Exception", PROGRAM),
    (
        COLLECTION,
        "Garbage Collection",
        &["Java Virtual Machine", "GC", "Collector"],
    ),
    (JVM, "JVM Information", &["Java Virtual Machine"]),
];

const PROGRAM: &[&str] = &["Java Application"];
const PROFILING: &[&str] = &["Java Virtual Machine", "Profiling"];

/// The first own type id; lower ones are reserved for JFR's own events.
const FIRST: u64 = 100;

/// Returns the id of a type.
pub(super) fn number(name: &str) -> u64 {
    let place = TYPES.iter().position(|Type(known, ..)| *known == name);
    FIRST + place.unwrap_or(TYPES.len()) as u64
}

/// An element of the tree that describes types.
struct Element {
    name: &'static str,
    attributes: Vec<(String, String)>,
    children: Vec<Element>,
}

impl Element {
    fn new<K: Into<String>>(name: &'static str, attributes: Vec<(K, String)>) -> Self {
        let attributes = attributes.into_iter();
        let attributes = attributes.map(|(key, value)| (key.into(), value));
        Self {
            name,
            attributes: attributes.collect(),
            children: Vec::new(),
        }
    }

    fn with(mut self, children: impl IntoIterator<Item = Self>) -> Self {
        self.children.extend(children);
        self
    }

    /// Writes the element; texts are numbers in a list.
    fn write(&self, out: &mut Bytes, texts: &mut Texts) {
        out.number(texts.number(self.name));
        out.number(self.attributes.len() as u64);
        for (key, value) in &self.attributes {
            out.number(texts.number(key)).number(texts.number(value));
        }
        out.number(self.children.len() as u64);
        for child in &self.children {
            child.write(out, texts);
        }
    }
}

#[derive(Default)]
struct Texts {
    all: Vec<String>,
    known: HashMap<String, u64>,
}

impl Texts {
    fn number(&mut self, text: &str) -> u64 {
        if let Some(known) = self.known.get(text) {
            return *known;
        }
        let new = self.all.len() as u64;
        self.all.push(text.to_owned());
        self.known.insert(text.to_owned(), new);
        new
    }
}

fn described(Type(name, above, fields): &Type) -> Element {
    let mut attributes = vec![
        ("name", (*name).to_owned()),
        ("id", number(name).to_string()),
    ];
    if !above.is_empty() {
        attributes.push(("superType", (*above).to_owned()));
    }
    if SIMPLE.contains(name) {
        attributes.push(("simpleType", "true".to_owned()));
    }
    let label = LABELS.iter().find(|(event, ..)| event == name);
    let annotations = label.into_iter().flat_map(|(_, label, category)| {
        let category = (0..).zip(category.iter());
        let category = category.map(|(at, name)| (format!("value-{at}"), (*name).to_owned()));
        [
            annotation(LABEL, vec![("value".to_owned(), (*label).to_owned())]),
            annotation(CATEGORY, category.collect()),
        ]
    });
    let element = Element::new("class", attributes).with(annotations);
    element.with(fields.iter().map(field))
}

fn annotation(kind: &str, values: Vec<(String, String)>) -> Element {
    let mut attributes = vec![("class".to_owned(), number(kind).to_string())];
    attributes.extend(values);
    Element::new("annotation", attributes)
}

fn field(Field(name, kind, form): &Field) -> Element {
    let mut attributes = vec![
        ("name", (*name).to_owned()),
        ("class", number(kind).to_string()),
    ];
    match form {
        Form::Constant => attributes.push(("constantPool", "true".to_owned())),
        Form::Array => attributes.push(("dimension", "1".to_owned())),
        _ => {}
    }
    let unit = match form {
        Form::Moment => Some(("jdk.jfr.Timestamp", "TICKS")),
        Form::Time => Some(("jdk.jfr.Timespan", "TICKS")),
        Form::Bytes => Some(("jdk.jfr.DataAmount", "BYTES")),
        _ => None,
    };
    let unit = unit.map(|(kind, unit)| {
        let value = ("value".to_owned(), unit.to_owned());
        annotation(kind, vec![value])
    });
    Element::new("field", attributes).with(unit)
}

/// Returns the content of the metadata event, after its type.
pub(super) fn metadata() -> Vec<u8> {
    let types = Element::new::<&str>("metadata", Vec::new()).with(TYPES.iter().map(described));
    let region = vec![
        ("locale", "en_US".to_owned()),
        ("gmtOffset", "0".to_owned()),
    ];
    let root =
        Element::new::<&str>("root", Vec::new()).with([types, Element::new("region", region)]);
    let (mut texts, mut tree) = (Texts::default(), Bytes::default());
    root.write(&mut tree, &mut texts);
    let mut content = Bytes::default();
    // Start and duration, and the number of this description.
    content.number(0).number(0).number(1);
    content.number(texts.all.len() as u64);
    for text in &texts.all {
        content.text(text);
    }
    content.0.append(&mut tree.0);
    content.0
}
