//! Generated from `wit/plugin.wit`: the imports and exports of plugins that observe the JVM.
#![allow(missing_docs, unsafe_code, clippy::all, reason = "generated code")]

wit_bindgen::generate!({
    path: "wit/plugin.wit",
    world: "observer-plugin",
    additional_derives: [PartialEq],
    pub_export_macro: true,
    export_macro_name: "export_observer_plugin",
    default_bindings_module: "classhook_sdk::observing",
    with: { "classhook:plugin/types@0.1.0": edits::wit },
});
