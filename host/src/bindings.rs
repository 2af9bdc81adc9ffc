//! Generated from `wit/plugin.wit`; the host's side is in [`crate::views`], [`crate::recorder`], [`crate::rewrite`] and [`crate::structure`].
#![allow(missing_docs, clippy::all, reason = "generated code")]

wasmtime::component::bindgen!({
    path: "../wit/plugin.wit",
    world: "transform-plugin",
    imports: { default: trappable },
    with: {
        "classhook:plugin/class-file.class-view": crate::job::ClassHandle,
        "classhook:plugin/class-file.method-view": crate::job::MethodHandle,
        "classhook:plugin/probes.plan": crate::job::PlanHandle,
        "classhook:plugin/probes.capture": rewriter::span::Capture,
        "classhook:plugin/rewrite.snippet": crate::rewrite::Code,
        "classhook:plugin/structure.annotation": crate::structure::Marked,
    },
});
