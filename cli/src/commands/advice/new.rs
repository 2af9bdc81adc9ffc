//! `classhook advice new`: writes a first source with advice.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use clap::Args;
use errors::{Error, codes};
use standard_streams::show::{path, show};

const AFTER_HELP: &str = "\
The advice prints each call that takes longer than a setting. Change its pattern, com.acme.**, to your own classes.

Example:
  classhook advice new SlowCalls";

/// Writes a first source with advice.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct New {
    /// Create this class in the file NAME.java
    #[arg(value_name = "NAME")]
    pub name: String,
}

impl New {
    /// Writes the source, unless the file exists.
    ///
    /// # Errors
    /// If the name is none of a Java class (`H0742`), or the file exists or cannot be written (`H0620`).
    pub fn run(&self) -> Result<u8, Error> {
        let name = &self.name;
        let mut letters = name.chars();
        let begins = letters
            .next()
            .is_some_and(|c| c.is_alphabetic() || c == '_');
        if !begins || !letters.all(|c| c.is_alphanumeric() || c == '_') {
            return Err(Error::mistake(
                codes::H0742,
                format!("`{name}` is no name of a Java class"),
            )
            .with("expected", "a name such as SlowCalls"));
        }
        let file = Path::new(name).with_extension("java");
        let written =
            File::create_new(&file).and_then(|mut out| out.write_all(source(name).as_bytes()));
        written.map_err(|error| Error::unwritable(&file, &error))?;
        let shown = path(&file);
        show(&format!(
            "wrote {shown}\nnext: classhook advice check {shown} --classes CLASSES\n"
        ))?;
        Ok(0)
    }
}

fn source(name: &str) -> String {
    format!(
        "import io.github.classhook.advice.*;

/** Prints each call that takes longer than {{@code millis}}. */
@Advice(\"com.acme.**\")
final class {name} {{
    @Setting static int millis = 100;

    @OnEntry
    static long start() {{
        return System.nanoTime();
    }}

    @OnExit
    static void end(@FromEntry long start, @Method String method, @AllArguments Object[] arguments, @Thrown Throwable thrown) {{
        long took = (System.nanoTime() - start) / 1_000_000;
        if (took >= millis) {{
            System.err.println(method + java.util.Arrays.toString(arguments) + \" took \" + took + \" ms, thrown: \" + thrown);
        }}
    }}
}}
"
    )
}
