//! Constants that events refer to by numbers: threads, stacks, classes, methods, texts.

use std::collections::HashMap;

use jvm_events::Recorded;
use jvm_events::stacks::{Frame, NATIVE};

use super::encoding::Bytes;
use super::types::{self, CLASS, FRAME_TYPE, METHOD, STACK, SYMBOL, THREAD, THREAD_STATE};

/// The constants of one type by key, each with number and bytes. Number 0 stands for none.
#[derive(Debug)]
struct Pool {
    /// The last number before the first constant.
    before: u64,
    numbers: HashMap<String, u64>,
    constants: Vec<Vec<u8>>,
}

impl Pool {
    fn new(before: u64) -> Self {
        Self {
            before,
            numbers: HashMap::new(),
            constants: Vec::new(),
        }
    }

    fn number(&mut self, key: &str, constant: impl FnOnce() -> Bytes) -> u64 {
        if let Some(known) = self.numbers.get(key) {
            return *known;
        }
        self.constants.push(constant().0);
        let new = self.before + self.constants.len() as u64;
        self.numbers.insert(key.to_owned(), new);
        new
    }
}

/// The constants of one recording.
pub(super) struct Constants<'r> {
    recorded: &'r Recorded,
    symbols: Pool,
    classes: Pool,
    methods: Pool,
    frame_types: Pool,
    states: Pool,
    threads: Pool,
    stacks: Pool,
}

impl<'r> Constants<'r> {
    /// Continues the numbers of the previous chunks: the JDK's reader identifies constants by number across chunks.
    pub fn new(recorded: &'r Recorded, before: u64) -> Self {
        Self {
            recorded,
            symbols: Pool::new(before),
            classes: Pool::new(before),
            methods: Pool::new(before),
            frame_types: Pool::new(before),
            states: Pool::new(before),
            threads: Pool::new(before),
            stacks: Pool::new(before),
        }
    }

    fn symbol(&mut self, text: &str) -> u64 {
        self.symbols.number(text, || {
            let mut bytes = Bytes::default();
            bytes.text(text);
            bytes
        })
    }

    /// Returns a class by its internal name, or the descriptor of an array.
    fn class_named(&mut self, name: &str) -> u64 {
        let symbol = self.symbol(name);
        self.classes.number(name, || {
            let mut bytes = Bytes::default();
            bytes.number(symbol).int(0).boolean(false);
            bytes
        })
    }

    /// Returns a class of the recording.
    pub fn class(&mut self, place: u32) -> u64 {
        let name = internal_name(self.recorded.class(place));
        self.class_named(&name)
    }

    fn method(&mut self, frame: &Frame) -> u64 {
        let is_there = !frame.class.is_empty();
        let [class, name, descriptor] = match is_there {
            true => [&*frame.class, &*frame.method, &*frame.descriptor],
            false => ["unloaded", "unloaded", "()V"],
        };
        let key = format!("{class}.{name}{descriptor}");
        let class = self.class_named(class);
        let (name, descriptor) = (self.symbol(name), self.symbol(descriptor));
        self.methods.number(&key, || {
            let mut bytes = Bytes::default();
            bytes.number(class).number(name).number(descriptor);
            bytes.int(0).boolean(false);
            bytes
        })
    }

    /// Returns a thread of the recording. Readers distinguish threads by these numbers, so each has a unique one.
    pub fn thread(&mut self, place: u32) -> u64 {
        let name = self.recorded.thread(place);
        let number = self.threads.before + u64::from(place) + 1;
        self.threads.number(&place.to_string(), || {
            let mut bytes = Bytes::default();
            bytes.text(name).number(number).text(name).number(number);
            bytes
        })
    }

    /// Returns the state of a thread, in JFR's terms.
    pub fn state(&mut self, name: &str) -> u64 {
        self.states.number(name, || {
            let mut bytes = Bytes::default();
            bytes.text(name);
            bytes
        })
    }

    /// Returns a stack of the recording; 0 without one.
    pub fn stack(&mut self, node: Option<u32>) -> u64 {
        let Some(node) = node else { return 0 };
        let key = node.to_string();
        if let Some(known) = self.stacks.numbers.get(&key) {
            return *known;
        }
        let recorded = self.recorded;
        let frames: Vec<&Frame> = recorded.stacks.path(Some(node)).collect();
        let mut bytes = Bytes::default();
        bytes.boolean(false).number(frames.len() as u64);
        for frame in frames {
            let is_native = frame.line == NATIVE;
            let kind = if is_native { self.native() } else { 0 };
            bytes.number(self.method(frame));
            bytes.int(frame.line.max(-1)).int(-1).number(kind);
        }
        self.stacks.number(&key, || bytes)
    }

    /// Returns the frame type of native methods. For other methods it is unknown whether they are compiled.
    fn native(&mut self) -> u64 {
        self.frame_types.number("Native", || {
            let mut bytes = Bytes::default();
            bytes.text("Native");
            bytes
        })
    }

    fn pools(&self) -> [(&'static str, &Pool); 7] {
        [
            (SYMBOL, &self.symbols),
            (CLASS, &self.classes),
            (METHOD, &self.methods),
            (FRAME_TYPE, &self.frame_types),
            (THREAD_STATE, &self.states),
            (THREAD, &self.threads),
            (STACK, &self.stacks),
        ]
    }

    /// Returns the largest number of a constant so far.
    pub fn last(&self) -> u64 {
        let pools = self.pools().into_iter();
        let last = pools.map(|(_, pool)| pool.before + pool.constants.len() as u64);
        last.max().unwrap_or(0)
    }

    /// Returns the content of the checkpoint event, after its type.
    pub fn checkpoint(&self) -> Vec<u8> {
        let pools = self.pools();
        let pools = pools.iter().filter(|(_, pool)| !pool.constants.is_empty());
        let mut content = Bytes::default();
        // Start and duration, no previous checkpoint, and the kind.
        content.number(0).number(0).number(0).boolean(false);
        content.number(pools.clone().count() as u64);
        for (name, pool) in pools {
            content.number(types::number(name));
            content.number(pool.constants.len() as u64);
            for (number, constant) in (pool.before + 1..).zip(&pool.constants) {
                content.number(number);
                content.0.extend_from_slice(constant);
            }
        }
        content.0
    }
}

/// Returns the internal name of a class from its binary name, or the descriptor of an array (JVMS 4.3.2).
fn internal_name(name: &str) -> String {
    let element = name.trim_end_matches("[]");
    let dimensions = (name.len() - element.len()) / 2;
    let internal = element.replace('.', "/");
    if dimensions == 0 {
        return internal;
    }
    let descriptor = match element {
        "boolean" => "Z".to_owned(),
        "byte" => "B".to_owned(),
        "char" => "C".to_owned(),
        "short" => "S".to_owned(),
        "int" => "I".to_owned(),
        "long" => "J".to_owned(),
        "float" => "F".to_owned(),
        "double" => "D".to_owned(),
        _ => format!("L{internal};"),
    };
    "[".repeat(dimensions) + &descriptor
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_are_named_by_their_descriptors() {
        for (name, internal) in [
            ("com.acme.Store$Item", "com/acme/Store$Item"),
            ("long[][]", "[[J"),
            ("java.lang.String[]", "[Ljava/lang/String;"),
            ("", ""),
        ] {
            assert_eq!(internal_name(name), internal);
        }
    }
}
