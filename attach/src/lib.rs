//! HotSpot's attach protocol in Rust, without Java, `jcmd` or a JDK.
//!
//! The crate lists the JVMs of this machine ([`jvms`]), connects to a JVM ([`Attachment`]), and sends the commands of
//! the protocol (`load`, `properties`, `jcmd`). It does not depend on Classhook's agent or its options.
//!
//! ```no_run
//! let jvm = attach::Attachment::open(4711)?;
//! jvm.load(std::path::Path::new("/opt/classhook/lib/libclasshook.so"), "output=/tmp/hook")?;
//! # Ok::<(), attach::AttachError>(())
//! ```
//!
//! | module | holds |
//! |---|---|
//! | [`process`] | a process as `/proc` describes it |
//! | [`protocol`] | the bytes on the socket |
//! | [`attachment`] | the handshake and the commands |
//! | [`placed`] | files for a process in a container |
//! | [`perfdata`] | versions and main classes of JVMs |

pub mod attachment;
pub mod error;
pub mod list;
pub mod perfdata;
pub mod placed;
pub mod process;
pub mod protocol;
mod rights;

pub use attachment::{Attachment, Pending, Report};
pub use error::AttachError;
pub use list::{Jvm, jvms};
pub use placed::PlacedFile;
pub use process::Process;
