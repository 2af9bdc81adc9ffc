//! A project in JavaScript.

use super::files::Template;
use crate::sdk;

macro_rules! template {
    ($path:literal) => {
        include_bytes!(concat!("../../templates/js/", $path))
    };
}

pub const JS: Template = Template {
    sdk: sdk::JS,
    texts: &[
        ("README.md", template!("README.md")),
        ("package.json", template!("package.json")),
        ("plugin.js", template!("plugin.js")),
        // The plan of the same plugin in Python.
        (
            "tests/Counter.explained",
            include_bytes!("../../templates/python/tests/Counter.explained"),
        ),
        (
            "world.wit",
            include_bytes!("../../templates/python/world.wit"),
        ),
    ],
    reserved: &[],
};
