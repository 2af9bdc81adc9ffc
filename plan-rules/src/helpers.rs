//! Limits on the helper classes of one class.

use crate::limits::{MAX_HELPER_BYTES, MAX_HELPERS};
use crate::refusal::RefusedRequest;
use crate::request::PlanRequest;

/// Returns the bytes of the requested helper classes.
pub fn helper_bytes(request: &PlanRequest) -> usize {
    let bytes = request.helpers.iter().map(|helper| helper.bytes.len());
    bytes.sum()
}

/// Checks that further helper classes fit into the limits.
pub fn expect_room_for_helpers(
    request: &PlanRequest,
    files: &[Vec<u8>],
) -> Result<(), RefusedRequest> {
    let count = request.helpers.len() + files.len();
    let bytes = helper_bytes(request) + files.iter().map(Vec::len).sum::<usize>();
    let message = if count > MAX_HELPERS {
        format!("expected at most {MAX_HELPERS} helper classes for one class, found {count}")
    } else if bytes > MAX_HELPER_BYTES {
        format!(
            "expected at most {MAX_HELPER_BYTES} bytes of helper classes for one class, found {bytes}"
        )
    } else {
        return Ok(());
    };
    Err(RefusedRequest::limit(message, None))
}
