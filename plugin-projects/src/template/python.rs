//! A project in Python.

use super::files::Template;
use crate::sdk;

macro_rules! template {
    ($path:literal) => {
        include_bytes!(concat!("../../templates/python/", $path))
    };
}

pub const PYTHON: Template = Template {
    sdk: sdk::PYTHON,
    texts: &[
        ("README.md", template!("README.md")),
        ("plugin.py", template!("plugin.py")),
        (
            "tests/Counter.explained",
            template!("tests/Counter.explained"),
        ),
        ("world.wit", template!("world.wit")),
    ],
    reserved: &[],
};
