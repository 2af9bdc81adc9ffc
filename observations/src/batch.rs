//! Events as a plugin gets them: numbers that lead to names.

use crate::recorder::Place;
use crate::stacks::{Frame, Node};
use std::collections::HashMap;

/// Most events of one batch.
pub const MOST_EVENTS: usize = 4096;
/// Numbers of an event.
pub const WORDS: usize = 5;
/// So many names, methods, places or nodes of stacks end a generation.
const MANY: usize = 1 << 17;

/// What an event is, by its number in `wit/plugin.wit`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u16)]
pub enum Kind {
    /// A thread used CPU time.
    Sample = 1,
    /// An object was allocated.
    Allocation = 2,
    /// A monitor was entered.
    Entered = 3,
    /// `Object.wait` has ended.
    Waited = 4,
    /// Something was thrown.
    Exception = 5,
    /// A garbage collection.
    Collection = 6,
    /// A thread has started.
    ThreadStarted = 7,
    /// A thread ends.
    ThreadEnded = 8,
    /// A class is prepared.
    ClassPrepared = 9,
    /// Machine code of a method is there.
    CodeMade = 10,
    /// It is gone.
    CodeGone = 11,
    /// A native method is bound.
    NativeBound = 12,
    /// The JVM has no memory or thread to give.
    Exhausted = 13,
    /// Objects of a class are gone.
    Freed = 14,
    /// An exception is caught.
    Caught = 15,
    /// Somebody asks to write what there is.
    DumpAsked = 16,
    /// A class is unloaded.
    ClassUnloaded = 17,
    /// A thread, as it was at an instant: of an answer, as are the following.
    Thread = 20,
    /// The CPU time of a thread.
    CpuTime = 21,
    /// The objects of a class.
    Objects = 22,
    /// A property of the system.
    Property = 23,
    /// The end of an answer.
    Answered = 24,
    /// A thread owns a monitor.
    Owns = 25,
    /// It waits to enter one.
    Enters = 26,
    /// It waits in `Object.wait` for one.
    Waits = 27,
    /// What holds instances of a class.
    Held = 28,
}

/// An event, by the ids of [`Names`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// What it is.
    pub kind: Kind,
    /// The name of its thread, or 0.
    pub thread: u32,
    /// Nanoseconds since the begin.
    pub nanos: u64,
    /// The name of its class, or 0.
    pub class: u32,
    /// Its stack, or 0.
    pub stack: u32,
    /// Its numbers.
    pub values: [u64; 2],
}

impl Event {
    /// As the plugin gets it.
    #[must_use]
    pub fn words(&self) -> [u64; WORDS] {
        let pair = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        let [first, second] = self.values;
        [
            pair(self.kind as u32, self.thread),
            self.nanos,
            pair(self.class, self.stack),
            first,
            second,
        ]
    }
}

/// A method.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Method {
    /// Its class, by its internal name; empty where it has been unloaded.
    pub class: String,
    /// Its name.
    pub name: String,
    /// Its descriptor.
    pub descriptor: String,
    /// The source file, if the class says.
    pub file: String,
}

/// Values by their ids. These count from 1 and are never given twice: what is not of this generation is not found.
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

/// What the numbers of events lead to, of one generation.
#[derive(Debug, Default)]
pub struct Names {
    /// Counts the generations.
    pub generation: u32,
    texts: Table<String>,
    by_text: HashMap<String, u32>,
    methods: Table<Method>,
    by_method: HashMap<Method, u32>,
    /// Frames: the method, and the line.
    places: Vec<u64>,
    by_place: HashMap<Place, u32>,
    nodes: Table<Node>,
    by_node: HashMap<Node, u32>,
}

impl Names {
    /// The id of a text; 0 for none.
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

    /// The id of the method of a frame.
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

    /// The id of a stack, whose innermost place comes first; 0 for none. `resolve` is asked once for each place.
    pub fn stack(&mut self, places: &[Place], mut resolve: impl FnMut(Place) -> Frame) -> u32 {
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

    /// A text by its id.
    #[must_use]
    pub fn find_text(&self, id: u32) -> Option<&str> {
        self.texts.get(id).map(String::as_str)
    }

    /// A method by its id.
    #[must_use]
    pub fn find_method(&self, id: u32) -> Option<&Method> {
        self.methods.get(id)
    }

    /// The frames of a stack, the innermost first: ids of methods, and lines in the upper half; empty if it is not of
    /// this generation.
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

    /// Ends the generation if it holds many things.
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

    fn frame(place: Place) -> Frame {
        Frame {
            class: "a/B".to_owned(),
            method: format!("m{}", place.0),
            line: i32::try_from(place.1).unwrap(),
            ..Frame::default()
        }
    }

    #[test]
    fn numbers_lead_to_names_and_stacks() {
        let mut names = Names::default();
        let main = names.text("main");
        assert_eq!((names.text("main"), names.text("")), (main, 0));
        let outer = names.stack(&[(2, 20)], frame);
        let stack = names.stack(&[(1, -2), (2, 20)], frame);
        assert_eq!(names.stack(&[(1, -2), (2, 20)], |_| panic!()), stack);
        assert_eq!(names.stack(&[], frame), 0);
        let frames = names.find_frames(stack);
        let told = frames.iter().map(|frame| {
            let method = names.find_method(*frame as u32).unwrap();
            (method.name.as_str(), (frame >> 32) as u32 as i32)
        });
        assert_eq!(told.collect::<Vec<_>>(), [("m1", -2), ("m2", 20)]);
        assert_eq!(names.find_frames(outer).len(), 1);
        let event = Event {
            kind: Kind::Entered,
            thread: main,
            nanos: 7,
            class: 9,
            stack,
            values: [1, 2],
        };
        let wide = u64::from(stack) << 32 | 9;
        assert_eq!(event.words(), [3 | u64::from(main) << 32, 7, wide, 1, 2]);
    }

    #[test]
    fn ids_of_a_generation_that_has_ended_lead_nowhere() {
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
