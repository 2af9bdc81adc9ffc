//! `StackMapTable` (JVMS 4.7.4): reads, writes and expands frames. All of the crate uses this module.

mod codec;
mod state;

pub(crate) use codec::Deltas;
pub use codec::{FrameKind, StackMapReader, UnsetFieldList, VerificationType, item};
pub(crate) use state::{FollowedType, Frame, FrameContext, FrameState, bad_frame, parameter_name};
