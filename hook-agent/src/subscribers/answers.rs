//! Answers to plugins' requests to the JVM, as events.

use super::environment;
use super::identity::{is_agent_thread, monitor_signature};
use super::methods::{Methods, place};
use super::paths::paths;
use crate::agent::Agent;
use crate::agent::subscribers::Subscriber;
use crate::ffi::error::JvmtiError;
use crate::ffi::jvm::Jvm;
use crate::ffi::jvmti::{HeapReference, ReferenceFilter, StackFrame};
use crate::ffi::refs::LocalRef;
use crate::ffi::vm::Vm;
use crate::loaded_classes;
use crate::names::class_name;
use jvm_events::EventDetails;
use jvm_events::batch::{Event, Names};
use jvm_events::request::Request;
use jvm_events::stacks::Frame;

/// `JVMTI_THREAD_STATE_IN_OBJECT_WAIT`.
const IN_OBJECT_WAIT: u32 = 0x100;

/// Largest number of instances of a class whose monitors are examined.
const MOST_INSTANCES: i64 = 1_000;
/// The tag of the class of these instances.
const OF_CLASS: i64 = 1 << 32;

/// Converts answers to events, and adds their strings and stacks to `names`.
pub(super) struct Answers<'a> {
    pub agent: &'a Agent,
    pub subscriber: &'a Subscriber,
    /// Number of monitors with a number in this answer.
    pub monitors: i64,
    pub names: &'a mut Names,
    pub methods: &'a mut Methods,
    /// Nanoseconds since the plugin began to observe.
    pub nanos: u64,
}

impl Answers<'_> {
    /// The events of an answer. The last contains the number of the others.
    ///
    /// # Errors
    ///
    /// The function that the JVM refuses.
    pub fn to(&mut self, jvm: Jvm<'_>, request: &Request) -> Result<Vec<Event>, String> {
        let jvmti = environment::answering(Vm::of(jvm.local), jvm.live)?;
        let jvm = Jvm::new(jvmti, jvm.live, jvm.local);
        let answered = jvm.with_frame(loaded_classes::CAPACITY, |jvm| match request {
            Request::Threads { frames } => self.threads(jvm, *frames),
            Request::CpuTimes => self.cpu_times(jvm),
            Request::Histogram { live, most } => self.histogram(jvm, *live, *most),
            Request::Properties => self.properties(jvm),
            Request::Stack { thread, frames } => self.stack(jvm, thread, *frames),
            Request::Monitors => self.monitors(jvm),
            Request::MonitorUsage { class } => self.monitor_usage(jvm, class),
            Request::Paths { class } => self.paths(jvm, class),
        });
        jvmti.dispose();
        let mut events = answered.ok_or("the JVM has no memory for references")??;
        // The type of the events comes from one event; its fields are not read.
        let of = match request {
            Request::Threads { .. } | Request::Stack { .. } => EventDetails::Thread { state: 0 },
            Request::CpuTimes => EventDetails::CpuTime { nanos: 0 },
            Request::Histogram { .. } => EventDetails::Objects { count: 0, bytes: 0 },
            Request::Properties => EventDetails::Property,
            Request::Monitors | Request::MonitorUsage { .. } => EventDetails::Owns {
                monitor: 0,
                entered: 0,
            },
            Request::Paths { .. } => EventDetails::Held { instances: 0 },
        };
        let of = of.number();
        let end = EventDetails::Answered {
            of,
            events: events.len() as u64,
        };
        events.push(self.event(end));
        Ok(events)
    }

    fn event(&self, details: EventDetails) -> Event {
        Event::new(details, self.nanos)
    }

    fn threads(&mut self, jvm: Jvm<'_>, frames: u32) -> Result<Vec<Event>, String> {
        let Jvm { jvmti, live, local } = jvm;
        let stacks = jvmti.all_stacks(live, local, frames as usize);
        let stacks = stacks.map_err(|error| format!("the JVM returns no stacks: {error}"))?;
        let mut events = Vec::new();
        for (thread, state, frames) in &stacks {
            let name = jvmti.thread_name(live, local, thread).unwrap_or_default();
            if is_agent_thread(&name) {
                continue;
            }
            events.push(self.thread(jvm, &name, *state, frames));
        }
        Ok(events)
    }

    /// A thread with its stack, at one moment.
    fn thread(&mut self, jvm: Jvm<'_>, name: &str, state: u32, frames: &[StackFrame]) -> Event {
        let methods = &mut *self.methods;
        let places: Vec<(u64, i64)> = frames.iter().map(place).collect();
        let stack = self.names.stack(&places, |wanted| {
            let frame = frames.iter().find(|frame| place(frame) == wanted);
            frame.map_or_else(Frame::default, |frame| methods.frame(jvm, *frame))
        });
        Event {
            thread: self.names.text(name),
            stack,
            ..self.event(EventDetails::Thread { state })
        }
    }

    fn stack(&mut self, jvm: Jvm<'_>, thread: &str, most: u32) -> Result<Vec<Event>, String> {
        let Jvm { jvmti, live, local } = jvm;
        let mut events = Vec::new();
        for one in &all_threads(jvm)? {
            let name = jvmti.thread_name(live, local, one).unwrap_or_default();
            // A thread that has ended has no stack.
            if name == thread
                && let Ok(state) = jvmti.thread_state(live, one)
                && let Ok(frames) = jvmti.stack(live, Some(one), most as usize)
            {
                events.push(self.thread(jvm, &name, state, &frames));
            }
        }
        Ok(events)
    }

    /// Monitors that threads own or wait for, numbered within this answer. The plugin's own environment can read their
    /// owners, but uses tags for other purposes, so another environment numbers them.
    fn monitors(&mut self, jvm: Jvm<'_>) -> Result<Vec<Event>, String> {
        let Jvm { live, local, .. } = jvm;
        let jvmti = self.subscriber.jvmti;
        let refused = |error| {
            format!("owners of monitors require an agent from the start of the JVM: {error}")
        };
        let mut events = Vec::new();
        for thread in &all_threads(jvm)? {
            let name = jvmti.thread_name(live, local, thread).unwrap_or_default();
            if is_agent_thread(&name) {
                continue;
            }
            let owned = match jvmti.owned_monitors(live, local, thread) {
                Err(JvmtiError::THREAD_NOT_ALIVE) => continue,
                owned => owned.map_err(refused)?,
            };
            for object in &owned {
                let users = jvmti.monitor_users(live, local, object).ok();
                let owner = users.and_then(|users| users.owner);
                let entered = owner.map_or(0, |(_, entered)| u64::from(entered));
                let owns = |monitor| EventDetails::Owns { monitor, entered };
                events.extend(self.monitor(jvm, owns, &name, object));
            }
            let contended = jvmti.contended_monitor(live, local, thread);
            let state = jvmti.thread_state(live, thread).unwrap_or(0);
            if let Some(object) = contended.ok().flatten() {
                let waits = |monitor| match state & IN_OBJECT_WAIT {
                    0 => EventDetails::WaitsToEnter { monitor },
                    _ => EventDetails::WaitsFor { monitor },
                };
                events.extend(self.monitor(jvm, waits, &name, &object));
            }
        }
        Ok(events)
    }

    fn monitor(
        &mut self,
        jvm: Jvm<'_>,
        details: impl FnOnce(u64) -> EventDetails,
        thread: &str,
        object: &LocalRef<'_>,
    ) -> Option<Event> {
        let number = match jvm.jvmti.tag(jvm.live, object).ok()? {
            0 => {
                self.monitors += 1;
                jvm.jvmti.set_tag(jvm.live, object, self.monitors).ok()?;
                self.monitors
            }
            known => known,
        };
        let signature = monitor_signature(jvm, object)?;
        Some(Event {
            thread: self.names.text(thread),
            class: self.names.text(&class_name(&signature)),
            ..self.event(details(number.cast_unsigned()))
        })
    }

    /// The users of the monitors of a class's instances, numbered within this answer.
    fn monitor_usage(&mut self, jvm: Jvm<'_>, class: &str) -> Result<Vec<Event>, String> {
        let Jvm { live, local, .. } = jvm;
        let jvmti = self.subscriber.jvmti;
        let name = self.names.text(class);
        let mut events = Vec::new();
        for (number, object) in instances(jvm, class)? {
            let refused = |error| format!("the JVM does not return the users of monitors: {error}");
            let users = jvmti.monitor_users(live, local, &object).map_err(refused)?;
            let monitor = number.cast_unsigned();
            let mut tell = |details, thread: &LocalRef<'_>| {
                let thread = jvmti.thread_name(live, local, thread).unwrap_or_default();
                events.push(Event {
                    thread: self.names.text(&thread),
                    class: name,
                    ..self.event(details)
                });
            };
            if let Some((owner, entered)) = &users.owner {
                let entered = u64::from(*entered);
                tell(EventDetails::Owns { monitor, entered }, owner);
            }
            let is_notified = |thread: &&LocalRef<'_>| {
                let notified = users.notify_waiters.iter();
                !{ notified }.any(|one| local.is_same_object(one, thread))
            };
            for thread in users.waiters.iter().filter(is_notified) {
                tell(EventDetails::WaitsToEnter { monitor }, thread);
            }
            for thread in &users.notify_waiters {
                tell(EventDetails::WaitsFor { monitor }, thread);
            }
        }
        Ok(events)
    }

    fn paths(&mut self, jvm: Jvm<'_>, class: &str) -> Result<Vec<Event>, String> {
        let found = paths(self.agent, jvm, class, None)?;
        let class = self.names.text(class);
        let paths = found.paths.iter().map(|path| {
            let steps = self.names.text(&path.steps.join("\n"));
            let instances = path.instances;
            Event {
                class,
                ids: [0, steps],
                ..self.event(EventDetails::Held { instances })
            }
        });
        Ok(paths.collect())
    }

    fn cpu_times(&mut self, jvm: Jvm<'_>) -> Result<Vec<Event>, String> {
        let Jvm { jvmti, live, local } = jvm;
        let mut events = Vec::new();
        for thread in &all_threads(jvm)? {
            let name = jvmti.thread_name(live, local, thread).unwrap_or_default();
            // A thread that has ended has no CPU time.
            let Ok(nanos) = jvmti.thread_cpu_time(live, thread) else {
                continue;
            };
            if !is_agent_thread(&name) {
                events.push(Event {
                    thread: self.names.text(&name),
                    ..self.event(EventDetails::CpuTime { nanos })
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
        for (class, (count, bytes)) in classes {
            let signature = jvmti.class_signature(&class).unwrap_or_default();
            events.push(Event {
                class: self.names.text(&class_name(&signature)),
                ..self.event(EventDetails::Objects { count, bytes })
            });
        }
        Ok(events)
    }

    fn properties(&mut self, jvm: Jvm<'_>) -> Result<Vec<Event>, String> {
        let properties = jvm.jvmti.system_properties(jvm.live);
        let refused = |error| format!("the JVM returns no properties: {error}");
        let properties = properties.map_err(refused)?.into_iter();
        let event = |(name, value): (String, String)| Event {
            ids: [name, value].map(|text| self.names.text(&text)),
            ..self.event(EventDetails::Property)
        };
        Ok(properties.map(event).collect())
    }
}

/// The reachable instances of a class, numbered from 1.
fn instances<'a>(jvm: Jvm<'a>, class: &str) -> Result<Vec<(i64, LocalRef<'a>)>, String> {
    let Jvm { jvmti, live, local } = jvm;
    let refused = |error| format!("the JVM does not follow references: {error}");
    let mut is_there = false;
    for found in jvmti.loaded_classes(live, local).map_err(refused)? {
        let signature = jvmti.class_signature(&found).unwrap_or_default();
        if class_name(&signature) == class {
            jvmti.set_tag(live, &found, OF_CLASS).map_err(refused)?;
            is_there = true;
        }
    }
    if !is_there {
        return Err(format!("no class `{class}` is loaded"));
    }
    let (mut last, mut more) = (0, false);
    let visit = &mut |reference: &mut HeapReference| {
        if reference.class_tag != OF_CLASS || reference.tag != 0 {
            return;
        }
        more |= last == MOST_INSTANCES;
        if last < MOST_INSTANCES {
            last += 1;
            reference.tag = last;
        }
    };
    jvmti
        .follow_references(live, ReferenceFilter::OfTaggedClasses, visit)
        .map_err(refused)?;
    if more {
        return Err(format!(
            "expected at most {MOST_INSTANCES} instances of `{class}`, found more"
        ));
    }
    let tags: Vec<i64> = (1..=last).collect();
    let mut found = jvmti
        .objects_with_tags(live, local, &tags)
        .map_err(refused)?;
    found.sort_by_key(|(number, _)| *number);
    Ok(found)
}

fn all_threads<'a>(jvm: Jvm<'a>) -> Result<Vec<LocalRef<'a>>, String> {
    let threads = jvm.jvmti.all_threads(jvm.live, jvm.local);
    threads.map_err(|error| format!("the JVM lists no threads: {error}"))
}
