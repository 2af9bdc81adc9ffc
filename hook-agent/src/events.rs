//! The entry points from the JVM: each hands over to the module that handles it.

use crate::agent::Agent;
use crate::agent::test_runs::Test;
use crate::ffi::class_file_load::ClassFileLoad;
use crate::ffi::entry::export_entry_points;
use crate::ffi::handlers::Handlers;
use crate::ffi::jvm::Jvm;
use crate::ffi::jvm_events::{GlobalRefHandle, ThreadEvent, VmEvent};
use crate::ffi::jvmti::Jvmti;
use crate::ffi::live;
use crate::ffi::phases::{Live, OnLoad};
use crate::ffi::reader::Reader;
use crate::ffi::refs::{Local, LocalRef};
use crate::ffi::stack;
use crate::ffi::vm::Vm;
use crate::names::internal_name;
use crate::spans::runtime;
use crate::{
    class_hook, current, live_phase, shutdown, startup, structural_edits, subscribers, test_runs,
};
use conditions::Step;
use jni_sys::jint;
use probes::spans::{JvmValue, MethodName, NewThread, Runtime};
use std::collections::HashMap;

/// The handlers of this library: those of the installed agent, if any.
struct Events;

export_entry_points!(&crate::events::Events);

impl Handlers for Events {
    fn on_load(&self, vm: Vm, phase: OnLoad, options: &[u8]) -> jint {
        startup::on_load(vm, phase, options)
    }

    fn on_attach(&self, vm: Vm, live: Live, local: Local<'_>, options: &[u8]) -> jint {
        startup::on_attach(vm, live, local, options)
    }

    fn on_unload(&self) {
        with_agent(shutdown::unload);
    }

    fn vm_init(&self, jvm: Jvm<'_>) {
        with_agent(|agent| live_phase::vm_init(agent, jvm));
    }

    fn vm_death(&self, jvm: Jvm<'_>) {
        with_agent(|agent| shutdown::vm_death(agent, jvm));
    }

    fn class_file_load_hook(&self, load: &ClassFileLoad<'_>) {
        with_agent(|agent| {
            if !agent.run.is_running() {
                return;
            }
            if load.jvmti == agent.jvmti {
                class_hook::class_file_load_hook(agent, load);
            } else {
                structural_edits::class_file_load_hook(agent, load);
            }
        });
    }

    fn class_prepare(&self, jvmti: Jvmti, class: &LocalRef<'_>) {
        with_agent(|agent| {
            let Ok(signature) = jvmti.class_signature(class) else {
                return;
            };
            if internal_name(&signature).is_some_and(|name| agent.change.unprepared.prepared(name))
            {
                agent.threads.upkeep.wake();
            }
        });
    }

    fn thread_event(&self, jvm: Jvm<'_>, thread: &LocalRef<'_>, event: ThreadEvent<'_>) {
        with_agent(|agent| subscribers::thread_event(agent, jvm, thread, event));
    }

    fn vm_event(&self, jvmti: Jvmti, event: VmEvent) {
        with_agent(|agent| subscribers::vm_event(agent, jvmti, event));
    }

    fn object_freed(&self, jvmti: Jvmti, tag: i64) {
        with_agent(|agent| subscribers::object_freed(agent, jvmti, tag));
    }

    fn collection(&self, begins: bool) {
        with_agent(|agent| agent.subscribers.collections.note(begins));
    }

    fn reference_created(
        &self,
        live: Live,
        local: Local<'_>,
        object: &LocalRef<'_>,
        handle: GlobalRefHandle,
    ) {
        with_agent(|agent| subscribers::created(agent, live, local, object, handle));
    }

    fn reference_deleted(&self, handle: GlobalRefHandle) {
        with_agent(|agent| subscribers::deleted(agent, handle));
    }

    fn data_dump_request(&self) {
        with_agent(|agent| {
            agent.threads.signal.flush();
        });
    }

    fn first_span(&self, live: Live, local: Local<'_>, session: usize) -> Option<NewThread> {
        let agent = current::get()?;
        let session = u8::try_from(session).ok()?;
        agent.results.sessions.record(session);
        runtime::join(agent.jvm(live, local), session)
    }

    fn class_number(&self, local: Local<'_>, object: &LocalRef<'_>) -> Option<u32> {
        runtime::class_number(current::get()?.jvmti, local, object)
    }

    fn captured<'t>(
        &self,
        local: Local<'_>,
        object: &LocalRef<'_>,
        text: &'t mut [u16],
    ) -> Option<JvmValue<'t>> {
        runtime::captured(current::get()?.jvmti, local, object, text)
    }

    fn awaits_continuations(&self, session: usize) -> bool {
        let runtime = u8::try_from(session).ok().and_then(runtime::get);
        runtime.is_some_and(Runtime::awaits_continuations)
    }

    fn continuations<'a>(&self, local: Local<'a>) -> Option<Reader<'a>> {
        runtime::reader(current::get()?.jvmti, local)
    }

    fn captured_at<'t>(
        &self,
        local: Local<'_>,
        object: &LocalRef<'_>,
        steps: &[Step],
        text: &'t mut [u16],
    ) -> Option<JvmValue<'t>> {
        runtime::captured_at(current::get()?.jvmti, local, object, steps, text)
    }

    fn opened<'t>(
        &self,
        local: Local<'_>,
        object: &LocalRef<'_>,
        steps: &[Step],
        limits: (u8, usize),
        bytes: &'t mut [u8],
    ) -> Option<JvmValue<'t>> {
        runtime::opened(current::get()?.jvmti, local, object, steps, limits, bytes)
    }

    fn test_begins(&self, live: Live, local: Local<'_>, texts: [Option<&LocalRef<'_>>; 3]) {
        with_agent(|agent| {
            let jvm = agent.jvm(live, local);
            let [id, parent, name] = texts.map(|text| live::text(jvm, text?).ok());
            if let (true, Some(id), Some(name)) = (agent.run.is_running(), id, name) {
                test_runs::begin(agent, jvm, Test { id, parent, name });
            }
        });
    }

    fn test_ends(&self, live: Live, local: Local<'_>, id: &LocalRef<'_>) {
        with_agent(|agent| {
            let jvm = agent.jvm(live, local);
            if let (true, Ok(id)) = (agent.run.is_running(), live::text(jvm, id)) {
                test_runs::end(agent, jvm, &id);
            }
        });
    }

    fn unwound(&self, local: Local<'_>) -> u64 {
        runtime::unwound(local)
    }

    fn running(&self, live: Live, local: Local<'_>) -> Option<HashMap<MethodName, u64>> {
        stack::running(current::get()?.jvm(live, local))
    }

    fn frames(&self, live: Live, local: Local<'_>, frames: &mut [u64]) -> usize {
        current::get().map_or(0, |agent| runtime::frames(agent.jvm(live, local), frames))
    }
}

fn with_agent(body: impl FnOnce(&'static Agent)) {
    if let Some(agent) = current::get() {
        body(agent);
    }
}
