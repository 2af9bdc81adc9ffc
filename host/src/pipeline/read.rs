//! Reads the class that plugins see.

use rewriter::{ClassFile, ReadError};

use crate::class::TransformedClass;
use crate::outcome::ClassRequest;
use crate::plugin_failure::PluginFailure;
use crate::reusable_buffers::ReusableBuffers;

/// Reads the class that plugins see, in the memory of an earlier class.
pub(super) fn read(
    request: &ClassRequest<'_>,
    memory: &mut ReusableBuffers,
) -> Result<TransformedClass, PluginFailure> {
    let original = original(request);
    let source = original.unwrap_or(request.bytes);
    let first_load = !request.retransforming || original.is_some();
    let (loader, retransforming) = (request.loader, request.retransforming);
    let lent = std::mem::take(&mut memory.class);
    TransformedClass::read(source, loader, retransforming, first_load, lent)
        .map_err(|error| PluginFailure::unreadable(&error))
}

/// Reads the class that plugins see: that of the original file, if the JVM's bytes have the same
/// code.
///
/// # Errors
/// If the class file cannot be read.
pub fn shown_class<'a>(request: &ClassRequest<'a>) -> Result<ClassFile<'a>, ReadError> {
    ClassFile::read(original(request).unwrap_or(request.bytes))
}

/// Returns the original file if the JVM's bytes have its code. They differ if another agent changed
/// the code, or the file was replaced. A class that is being loaded comes with the original that it
/// was edited from.
fn original<'a>(request: &ClassRequest<'a>) -> Option<&'a [u8]> {
    let original = request.original?;
    let same = || {
        let (original, bytes) = (ClassFile::read(original)?, ClassFile::read(request.bytes)?);
        Ok::<_, ReadError>(class_versions::has_code_of(&bytes, &original))
    };
    (!request.retransforming || same().unwrap_or(false)).then_some(original)
}
