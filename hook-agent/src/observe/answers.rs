//! What plugins asked the JVM, as events.

use super::environment;
use super::frames::{Methods, place};
use super::identity::is_ours;
use crate::ffi::jvm::Jvm;
use crate::ffi::vm::Vm;
use crate::loaded;
use crate::names::class_name;
use observations::batch::{Event, Kind, Names};
use observations::request::Request;
use observations::stacks::Frame;

/// Turns answers into events, whose numbers `names` then knows.
pub(super) struct Answers<'a> {
    pub names: &'a mut Names,
    pub methods: &'a mut Methods,
    /// Nanoseconds since the plugin began to observe.
    pub nanos: u64,
}

impl Answers<'_> {
    /// The events of an answer, of which the last says how many came before it.
    ///
    /// # Errors
    /// What the JVM refuses.
    pub fn to(&mut self, jvm: Jvm<'_>, request: Request) -> Result<Vec<Event>, String> {
        let jvmti = environment::answering(Vm::of(jvm.local), jvm.live)?;
        let jvm = Jvm::new(jvmti, jvm.live, jvm.local);
        let answered = jvm.with_frame(loaded::CAPACITY, |jvm| match request {
            Request::Threads { frames } => self.threads(jvm, frames),
            Request::CpuTimes => self.cpu_times(jvm),
            Request::Histogram { live, most } => self.histogram(jvm, live, most),
            Request::Properties => self.properties(jvm),
        });
        jvmti.dispose();
        let mut events = answered.ok_or("the JVM has no memory for references")??;
        let kind = match request {
            Request::Threads { .. } => Kind::Thread,
            Request::CpuTimes => Kind::CpuTime,
            Request::Histogram { .. } => Kind::Objects,
            Request::Properties => Kind::Property,
        };
        let end = self.event(Kind::Answered, [kind as u64, events.len() as u64]);
        events.push(end);
        Ok(events)
    }

    fn event(&self, kind: Kind, values: [u64; 2]) -> Event {
        Event {
            kind,
            thread: 0,
            nanos: self.nanos,
            class: 0,
            stack: 0,
            values,
        }
    }

    fn threads(&mut self, jvm: Jvm<'_>, frames: u32) -> Result<Vec<Event>, String> {
        let Jvm { jvmti, live, local } = jvm;
        let stacks = jvmti.all_stacks(live, local, frames as usize);
        let stacks = stacks.map_err(|error| format!("the JVM tells no stacks: {error}"))?;
        let mut events = Vec::new();
        for (thread, state, frames) in &stacks {
            let name = jvmti.thread_name(live, local, thread).unwrap_or_default();
            if is_ours(&name) {
                continue;
            }
            let methods = &mut *self.methods;
            let places: Vec<(u64, i64)> = frames.iter().map(place).collect();
            let stack = self.names.stack(&places, |wanted| {
                let frame = frames.iter().find(|frame| place(frame) == wanted);
                frame.map_or_else(Frame::default, |frame| methods.frame(jvm, *frame))
            });
            events.push(Event {
                thread: self.names.text(&name),
                stack,
                ..self.event(Kind::Thread, [u64::from(*state), 0])
            });
        }
        Ok(events)
    }

    fn cpu_times(&mut self, jvm: Jvm<'_>) -> Result<Vec<Event>, String> {
        let Jvm { jvmti, live, local } = jvm;
        let threads = jvmti.all_threads(live, local);
        let threads = threads.map_err(|error| format!("the JVM lists no threads: {error}"))?;
        let mut events = Vec::new();
        for thread in &threads {
            let name = jvmti.thread_name(live, local, thread).unwrap_or_default();
            // One that has ended meanwhile has no time.
            let Ok(nanos) = jvmti.thread_cpu_time(live, thread) else {
                continue;
            };
            if !is_ours(&name) {
                events.push(Event {
                    thread: self.names.text(&name),
                    ..self.event(Kind::CpuTime, [nanos, 0])
                });
            }
        }
        Ok(events)
    }

    fn histogram(&mut self, jvm: Jvm<'_>, is_live: bool, most: u32) -> Result<Vec<Event>, String> {
        let Jvm { jvmti, live, local } = jvm;
        let classes = jvmti.loaded_classes(live, local).and_then(|classes| {
            for (class, tag) in classes.iter().zip(1..) {
                jvmti.set_tag(live, class, tag)?;
            }
            if is_live {
                jvmti.collect_garbage(live)?;
            }
            let counts = jvmti.count_by_class(live, classes.len())?;
            Ok(classes.into_iter().zip(counts).collect::<Vec<_>>())
        });
        let refused = |error| format!("the JVM does not count its objects: {error}");
        let mut classes = classes.map_err(refused)?;
        classes.retain(|(_, (count, _))| *count > 0);
        classes.sort_by_key(|(_, (_, bytes))| std::cmp::Reverse(*bytes));
        classes.truncate(most as usize);
        let mut events = Vec::new();
        for (class, (count, bytes)) in &classes {
            let signature = jvmti.class_signature(class).unwrap_or_default();
            events.push(Event {
                class: self.names.text(&class_name(&signature)),
                ..self.event(Kind::Objects, [*count, *bytes])
            });
        }
        Ok(events)
    }

    fn properties(&mut self, jvm: Jvm<'_>) -> Result<Vec<Event>, String> {
        let properties = jvm.jvmti.system_properties(jvm.live);
        let refused = |error| format!("the JVM tells no properties: {error}");
        let properties = properties.map_err(refused)?.into_iter();
        let event = |(name, value): (String, String)| {
            let texts = [name, value].map(|text| u64::from(self.names.text(&text)));
            self.event(Kind::Property, texts)
        };
        Ok(properties.map(event).collect())
    }
}
