//! `StackMapTable` (JVMS 4.7.4): the one place where its frames are read and
//! written, and followed from the first.

mod codec;
mod state;

pub(crate) use codec::{Deltas, FrameKind, StackMapReader, VerificationType, item};
pub(crate) use state::{FollowedType, FrameContext, FrameState, bad_frame, parameter_name};
