//! HotSpot's attach protocol, spoken from Rust: no Java, no `jcmd`, no JDK needed.
//!
//! What it is: a list of the JVMs of this machine ([`jvms`]), a connection to one of them
//! ([`Attachment`]), and the commands the protocol has (`load`, `properties`, `jcmd`).
//! What it deliberately is not: it knows nothing of Classhook's agent or of its options.
//!
//! ```no_run
//! let jvm = attach::Attachment::open(4711)?;
//! jvm.load(std::path::Path::new("/opt/classhook/lib/libclasshook.so"), "output=/tmp/hook")?;
//! # Ok::<(), attach::AttachError>(())
//! ```
//!
//! Where to start reading: [`process`] (what `/proc` says), [`protocol`] (bytes on the socket),
//! [`attachment`] (the handshake), [`placed`] (files for a process in a container), [`perfdata`] (names and versions of JVMs).

pub mod attachment;
pub mod error;
pub mod list;
pub mod perfdata;
pub mod placed;
pub mod process;
pub mod protocol;
mod rights;

pub use attachment::Attachment;
pub use error::AttachError;
pub use list::{Jvm, jvms};
pub use placed::PlacedFile;
pub use process::Process;
