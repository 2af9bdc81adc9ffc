//! Generated from `wit/plugin.wit`.
#![allow(missing_docs, unsafe_code, clippy::all, reason = "generated code")]

wit_bindgen::generate!({
    path: "wit/plugin.wit",
    world: "transform-plugin",
    pub_export_macro: true,
    export_macro_name: "export_transform_plugin",
    additional_derives: [PartialEq],
    default_bindings_module: "classhook_sdk::bindings",
    with: { "classhook:plugin/types@0.1.0": edits::wit },
});
