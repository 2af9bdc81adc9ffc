//! Generated from `wit/plugin.wit`: the exports of plugins that compute tables.
#![allow(missing_docs, unsafe_code, clippy::all, reason = "generated code")]

wit_bindgen::generate!({
    path: "wit/plugin.wit",
    world: "report-plugin",
    pub_export_macro: true,
    export_macro_name: "export_report_plugin",
    default_bindings_module: "classhook_sdk::reporting",
});
