//! Reads events, and adds them up.

use super::frames::Methods;
use crate::agent::Agent;
use crate::agent::observation::{Event, Kind, Running};
use crate::ffi::jvm::Jvm;
use crate::ffi::jvmti::StackFrame;
use crate::ffi::live;
use crate::names::decode;
use jvms::descriptor::FieldType;
use jvms::names::binary;
use observations::Recorded;
use observations::recorded::{Collection, Jvm as ObservedJvm};
use observations::recorder::{Origin, Recorder};
use std::time::{SystemTime, UNIX_EPOCH};

/// The thread of an event that has no name, as most virtual threads.
const UNNAMED: &str = "(threads without a name)";

/// What is recorded.
pub(super) struct Reader {
    agent: &'static Agent,
    pub recorder: Recorder,
    methods: Methods,
    /// When the recording began, in the time of collections.
    begun: u64,
    /// How many collections were read.
    collections: usize,
    /// The rows of sampled objects by their tags, which count from 1.
    objects: Vec<Option<u32>>,
}

impl Reader {
    pub fn new(agent: &'static Agent, running: &Running) -> Self {
        let elapsed = SystemTime::now().duration_since(UNIX_EPOCH);
        let start = elapsed.unwrap_or_default().as_millis();
        let start = u64::try_from(start).unwrap_or(u64::MAX);
        let meta = &agent.meta;
        let jvm = ObservedJvm {
            pid: meta.pid,
            version: meta.jvm.clone(),
            command: meta.command.clone(),
            run: meta.run.clone(),
        };
        Self {
            agent,
            recorder: Recorder::new(jvm, running.subscription.clone(), start),
            methods: Methods::default(),
            begun: agent.observation.collections.now(),
            collections: agent.observation.collections.ended(),
            objects: Vec::new(),
        }
    }

    /// What was recorded so far.
    pub fn recorded(&mut self, complete: bool) -> &Recorded {
        let now = self.agent.observation.collections.now();
        self.recorder.recorded(now - self.begun, complete)
    }

    /// Adds what came since the last time.
    pub fn read(&mut self, jvm: Jvm<'_>, running: &Running) {
        let queue = running.take();
        self.recorder.lose(queue.lost, queue.untracked);
        for event in &queue.events {
            // References to classes of frames end with it.
            jvm.with_frame(16, |jvm| self.add(jvm, event));
        }
        if running.subscription.collections {
            self.read_collections(jvm);
        }
    }

    fn add(&mut self, jvm: Jvm<'_>, event: &Event) {
        let origin = Origin {
            thread: self.thread(&event.thread),
            class: self.recorder.class(&class_name(&event.class)),
            node: self.node(jvm, &event.frames),
        };
        match &event.kind {
            Kind::Allocated { size, tag } => {
                let row = self.recorder.allocation(origin, *size);
                if let Some(at) = tag.and_then(|tag| usize::try_from(tag).ok()) {
                    self.objects.resize(self.objects.len().max(at + 1), None);
                    self.objects[at] = row;
                }
            }
            Kind::Threw { caught } => {
                let caught = caught.map(|frame| self.frame(jvm, frame));
                self.recorder.exception(origin, caught);
            }
            Kind::Entered(nanos) => self.recorder.contended(origin, *nanos),
            Kind::Waited(nanos) => self.recorder.waited(origin, *nanos),
        }
    }

    /// The number of a thread.
    pub fn thread(&mut self, name: &str) -> u32 {
        let name = if name.is_empty() { UNNAMED } else { name };
        self.recorder.thread(name)
    }

    /// The node of a stack.
    pub fn node(&mut self, jvm: Jvm<'_>, frames: &[StackFrame]) -> Option<u32> {
        let methods = &mut self.methods;
        let places: Vec<(u64, i64)> = frames.iter().map(place).collect();
        self.recorder.stack(&places, |wanted| {
            let frame = frames.iter().find(|frame| place(frame) == wanted);
            frame.map_or_else(Default::default, |frame| methods.frame(jvm, *frame))
        })
    }

    fn frame(&mut self, jvm: Jvm<'_>, frame: StackFrame) -> u32 {
        let methods = &mut self.methods;
        self.recorder
            .frame(place(&frame), || methods.frame(jvm, frame))
    }

    fn read_collections(&mut self, jvm: Jvm<'_>) {
        let (times, lost) = self.agent.observation.collections.since(self.collections);
        self.collections += times.len() + lost;
        self.recorder.lose(lost as u64, 0);
        if times.is_empty() {
            return;
        }
        for (start, end) in times {
            self.recorder.collection(Collection {
                start_ns: start.saturating_sub(self.begun),
                duration_ns: end.saturating_sub(start),
                ..Collection::default()
            });
        }
        if let Ok((used, heap)) = live::heap(jvm) {
            self.recorder.heap_after(used, heap);
        }
    }

    /// Says which of the sampled objects are alive, if that is asked for.
    pub fn count_live(&mut self, jvm: Jvm<'_>, running: &Running) {
        if !running.subscription.live {
            return;
        }
        let jvmti = running.jvmti;
        // Collectors that work beside the program (ZGC) have stopped when the JVM ends, and would be waited for for ever.
        let objects = match running.is_dying() {
            true => jvmti.reachable_tagged_objects(jvm.live),
            false => jvmti
                .collect_garbage(jvm.live)
                .and_then(|()| jvmti.tagged_objects(jvm.live)),
        };
        let Ok(objects) = objects else {
            return self.recorder.lose(0, self.objects.len() as u64);
        };
        for (tag, size) in objects {
            let row = usize::try_from(tag).ok();
            let row = row.and_then(|at| self.objects.get(at).copied().flatten());
            if let Some(row) = row {
                self.recorder.live(row, size);
            }
        }
    }
}

/// What distinguishes a frame from all others.
fn place(frame: &StackFrame) -> (u64, i64) {
    (frame.method.number(), frame.location)
}

/// `byte[]`, `com.acme.Store` of a signature.
fn class_name(signature: &[u8]) -> String {
    match FieldType::parse(signature) {
        Ok(found) => found.to_java(binary),
        // A hidden class: `Lcom/acme/Main$$Lambda.0x0001;`
        Err(_) => binary(
            decode(signature)
                .trim_start_matches('L')
                .trim_end_matches(';'),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_named_as_in_java() {
        for (signature, expected) in [
            ("[B", "byte[]"),
            ("Lcom/acme/Store$Item;", "com.acme.Store$Item"),
            ("[[Ljava/lang/String;", "java.lang.String[][]"),
            ("La/B$$Lambda.0x01;", "a.B$$Lambda.0x01"),
        ] {
            assert_eq!(class_name(signature.as_bytes()), expected);
        }
    }
}
