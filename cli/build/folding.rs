//! Folds functions with identical code, if the linker supports it. The command is 2 % smaller then.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

/// The linker's option, passed by the compiler.
const FOLD: &str = "-Wl,--icf=all";

/// Passes the option if the linker supports it: the linker of Rust's own toolchains does, GNU's
/// does not.
pub fn ask_for_it(out: &Path) -> io::Result<()> {
    println!("cargo::rerun-if-env-changed=RUSTC_LINKER");
    if linker_knows(out)? {
        println!("cargo::rustc-link-arg-bins={FOLD}");
    }
    Ok(())
}

/// Checks the option by linking an empty program.
fn linker_knows(out: &Path) -> io::Result<bool> {
    let source = out.join("nothing.rs");
    std::fs::write(&source, "fn main() {}\n")?;
    let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    if let Some(linker) = std::env::var_os("RUSTC_LINKER") {
        let mut chosen = std::ffi::OsString::from("linker=");
        chosen.push(linker);
        rustc.arg("-C").arg(chosen);
    }
    let status = rustc
        .args(["--edition", "2024", "-C", &format!("link-arg={FOLD}"), "-o"])
        .arg(out.join("nothing"))
        .arg(&source)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()?;
    Ok(status.success())
}
