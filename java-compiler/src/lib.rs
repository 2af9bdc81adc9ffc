//! Compiles Java sources for a running JVM, with its own `javac`, as its classes were compiled.
//!
//! | module | holds |
//! |---|---|
//! | [`javac`] | the compiler of a running JVM, and its result |
//! | [`compile_path`] | the class path, with nested jars unpacked |
//! | [`program_compiler`] | sources that belong to no loaded class |
//! | [`compiler_options`] | the release and the debug options of existing class files |
//!
//! Each fails with a coded [`errors::Error`]; that of a failed compilation holds javac's messages.
//!
//! ```
//! use java_compiler::compile_path::CompilePath;
//!
//! let folder = tempfile::tempdir()?;
//! let places = [folder.path().to_owned()];
//! let path = CompilePath::new(places, [])?;
//! assert_eq!(path.to_class_path(), folder.path().as_os_str());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

pub mod compile_path;
pub mod compiler_options;
pub mod javac;
pub mod program_compiler;
