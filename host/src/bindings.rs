//! Generated from `sdk/wit/plugin.wit`; [`crate::imports`] implements the host's side.
#![allow(missing_docs, clippy::all, reason = "generated code")]

/// The bindings of plugins that observe the JVM.
pub mod observer {
    wasmtime::component::bindgen!({
        path: "../sdk/wit/plugin.wit",
        world: "observer-plugin",
        imports: { default: trappable },
        with: { "classhook:plugin/types": crate::bindings::classhook::plugin::types },
    });
}

wasmtime::component::bindgen!({
    path: "../sdk/wit/plugin.wit",
    world: "transform-plugin",
    imports: { default: trappable },
    with: {
        "classhook:plugin/class-file.class-view": crate::handles::ClassHandle,
        "classhook:plugin/class-file.method-view": crate::handles::MethodHandle,
        "classhook:plugin/plans.plan": crate::handles::PlanHandle,
    },
});
