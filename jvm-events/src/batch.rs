//! Events in the form that plugins receive: numbers that refer to names.

use crate::recorder::RawFrame;
use crate::stacks::{Frame, Node};
use jvm_event_table::EventDetails;
use std::collections::HashMap;

/// Maximum number of events in one batch.
pub const MOST_EVENTS: usize = 4096;
/// Number of `u64` words per event.
pub const WORDS: usize = 5;
/// Number of names, methods, frames or nodes of stacks that ends a generation.
const MANY: usize = 1 << 17;

/// An event, whose ids refer to [`Names`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// The type of the event, with its fields.
    pub details: EventDetails,
    /// The id of the thread's name, or 0.
    pub thread: u32,
    /// Nanoseconds since the start of the recording.
    pub nanos: u64,
    /// The id of the class name, or 0.
    pub class: u32,
    /// The id of the stack, or 0.
    pub stack: u32,
    /// The ids in place of the values that are ids ([`EventDetails::ids`]), or 0.
    pub ids: [u32; 2],
}

impl Event {
    /// Creates an event without ids.
    #[must_use]
    pub fn new(details: EventDetails, nanos: u64) -> Self {
        Self {
            details,
            thread: 0,
            nanos,
            class: 0,
            stack: 0,
            ids: [0; 2],
        }
    }

    /// Packs the event into the words of the WIT interface.
    #[must_use]
    pub fn words(&self) -> [u64; WORDS] {
        let pair = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        let [first, second] = self.details.values();
        let ids = self.ids.map(u64::from);
        [
            pair(u32::from(self.details.number()), self.thread),
            self.nanos,
            pair(self.class, self.stack),
            first | ids[0],
            second | ids[1],
        ]
    }
}

/// A method.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Method {
    /// The internal name of the class; empty if the class has been unloaded.
    pub class: String,
    /// Its name.
    pub name: String,
    /// Its descriptor.
    pub descriptor: String,
    /// The source file, or an empty text if the class has no `SourceFile` attribute.
    pub file: String,
}

/// Values by id. Ids count from 1 and are never reused. Ids of earlier generations are not found.
#[derive(Debug)]
struct Table<T> {
    first: u32,
    values: Vec<T>,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self {
            first: 1,
            values: Vec::new(),
        }
    }
}

impl<T> Table<T> {
    fn add(&mut self, value: T) -> u32 {
        self.values.push(value);
        self.first + (self.values.len() - 1) as u32 // far fewer than 2³² fit in memory
    }

    fn get(&self, id: u32) -> Option<&T> {
        self.values.get(id.checked_sub(self.first)? as usize)
    }

    fn end(&mut self) {
        self.first = self.first.wrapping_add(self.values.len() as u32).max(1);
        self.values.clear();
    }
}

/// The names, methods and stacks of one generation, to which the numbers of events refer.
#[derive(Debug, Default)]
pub struct Names {
    /// The number of this generation.
    pub generation: u32,
    texts: Table<String>,
    by_text: HashMap<String, u32>,
    methods: Table<Method>,
    by_method: HashMap<Method, u32>,
    /// Frames: the id of the method in the lower half, the line in the upper half.
    places: Vec<u64>,
    by_place: HashMap<RawFrame, u32>,
    nodes: Table<Node>,
    by_node: HashMap<Node, u32>,
}

impl Names {
    /// Returns the id of a text, or 0 for an empty text.
    pub fn text(&mut self, text: &str) -> u32 {
        if text.is_empty() {
            return 0;
        }
        if let Some(known) = self.by_text.get(text) {
            return *known;
        }
        let id = self.texts.add(text.to_owned());
        self.by_text.insert(text.to_owned(), id);
        id
    }

    /// Returns the id of a frame's method.
    pub fn method(&mut self, frame: &Frame) -> u32 {
        let method = Method {
            class: frame.class.clone(),
            name: frame.method.clone(),
            descriptor: frame.descriptor.clone(),
            file: frame.file.clone(),
        };
        if let Some(known) = self.by_method.get(&method) {
            return *known;
        }
        let id = self.methods.add(method.clone());
        self.by_method.insert(method, id);
        id
    }

    /// Returns the id of a stack, or 0 for an empty stack. The innermost frame comes first. Calls
    /// `resolve` once for each new frame.
    pub fn stack(
        &mut self,
        places: &[RawFrame],
        mut resolve: impl FnMut(RawFrame) -> Frame,
    ) -> u32 {
        let mut caller = None;
        for place in places.iter().rev() {
            let frame = match self.by_place.get(place) {
                Some(known) => *known,
                None => {
                    let frame = resolve(*place);
                    let method = self.method(&frame);
                    let line = u64::from(frame.line.cast_unsigned());
                    self.places.push(u64::from(method) | line << 32);
                    let added = (self.places.len() - 1) as u32;
                    self.by_place.insert(*place, added);
                    added
                }
            };
            let node = Node { caller, frame };
            let known = self.by_node.get(&node).copied();
            caller = Some(known.unwrap_or_else(|| {
                let added = self.nodes.add(node);
                self.by_node.insert(node, added);
                added
            }));
        }
        caller.unwrap_or(0)
    }

    /// Finds a text by its id.
    #[must_use]
    pub fn find_text(&self, id: u32) -> Option<&str> {
        self.texts.get(id).map(String::as_str)
    }

    /// Finds a method by its id.
    #[must_use]
    pub fn find_method(&self, id: u32) -> Option<&Method> {
        self.methods.get(id)
    }

    /// Returns the frames of a stack, the innermost first. Each has the id of its method in the
    /// lower half and its line in the upper half. The result is empty if the stack belongs to
    /// another generation.
    #[must_use]
    pub fn find_frames(&self, stack: u32) -> Vec<u64> {
        let mut frames = Vec::new();
        let mut next = Some(stack);
        while let Some(node) = next.and_then(|id| self.nodes.get(id)) {
            frames.extend(self.places.get(node.frame as usize));
            next = node.caller;
        }
        frames
    }

    /// Begins a new generation if this one has reached its size limit.
    pub fn renew(&mut self) {
        let sizes = [
            self.texts.values.len(),
            self.methods.values.len(),
            self.places.len(),
            self.nodes.values.len(),
        ];
        if sizes.into_iter().all(|size| size < MANY) {
            return;
        }
        self.generation = self.generation.wrapping_add(1);
        self.texts.end();
        self.methods.end();
        self.nodes.end();
        self.places.clear();
        self.by_text.clear();
        self.by_method.clear();
        self.by_place.clear();
        self.by_node.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(place: RawFrame) -> Frame {
        Frame {
            class: "a/B".to_owned(),
            method: format!("m{}", place.0),
            line: i32::try_from(place.1).unwrap(),
            ..Frame::default()
        }
    }

    #[test]
    fn numbers_resolve_to_names_and_stacks() {
        let mut names = Names::default();
        let main = names.text("main");
        assert_eq!((names.text("main"), names.text("")), (main, 0));
        let outer = names.stack(&[(2, 20)], frame);
        let stack = names.stack(&[(1, -2), (2, 20)], frame);
        assert_eq!(names.stack(&[(1, -2), (2, 20)], |_| panic!()), stack);
        assert_eq!(names.stack(&[], frame), 0);
        let frames = names.find_frames(stack);
        let frames_of_stack = frames.iter().map(|frame| {
            let method = names.find_method(*frame as u32).unwrap();
            (method.name.as_str(), (frame >> 32) as u32 as i32)
        });
        assert_eq!(
            frames_of_stack.collect::<Vec<_>>(),
            [("m1", -2), ("m2", 20)]
        );
        assert_eq!(names.find_frames(outer).len(), 1);
        let event = Event {
            details: EventDetails::Exception { line: 2 },
            thread: main,
            nanos: 7,
            class: 9,
            stack,
            ids: [1, 0],
        };
        let wide = u64::from(stack) << 32 | 9;
        assert_eq!(event.words(), [5 | u64::from(main) << 32, 7, wide, 1, 2]);
    }

    #[test]
    fn ids_of_an_ended_generation_are_not_found() {
        let mut names = Names::default();
        let early = (names.text("early"), names.stack(&[(1, 1)], frame));
        names.renew();
        assert_eq!(names.find_text(early.0), Some("early"));
        for number in 0..MANY {
            names.text(&number.to_string());
        }
        names.renew();
        assert_eq!(names.generation, 1);
        let late = (names.text("late"), names.stack(&[(9, 9)], frame));
        assert_eq!(names.find_text(early.0), None);
        assert!(names.find_frames(early.1).is_empty());
        assert_eq!(names.find_text(late.0), Some("late"));
        let frames = names.find_frames(late.1);
        assert_eq!(names.find_method(frames[0] as u32).unwrap().name, "m9");
        assert_eq!((names.find_text(0), names.find_method(0)), (None, None));
    }
}
