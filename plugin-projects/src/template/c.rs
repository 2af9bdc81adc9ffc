//! A project in C.

use super::files::Template;
use crate::sdk;

macro_rules! template {
    ($path:literal) => {
        include_bytes!(concat!("../../templates/c/", $path))
    };
}

pub const C: Template = Template {
    sdk: sdk::C,
    texts: &[
        ("README.md", template!("README.md")),
        ("src/plugin.c", template!("src/plugin.c")),
        (
            "tests/Counter.explained",
            template!("tests/Counter.explained"),
        ),
    ],
    reserved: &[],
};
