//! Components of core modules.

use std::fs;
use std::path::Path;

use wit_component::ComponentEncoder;

/// Wraps a core module as a component. Its sections `component-type`, as wit-bindgen leaves them, hold its interface.
/// An equal file stays as it is.
///
/// # Errors
/// If a file cannot be read or written, or the module imports or exports items that its interface lacks.
pub fn wrap_file(module: &Path, component: &Path) -> Result<(), String> {
    let unusable = |file: &Path, error| format!("{}: {error}", file.display());
    let bytes = fs::read(module).map_err(|error| unusable(module, error))?;
    let wrapped = wrap(&bytes)?;
    if fs::read(component).is_ok_and(|there| there == wrapped) {
        return Ok(());
    }
    fs::write(component, wrapped).map_err(|error| unusable(component, error))
}

fn wrap(module: &[u8]) -> Result<Vec<u8>, String> {
    let encoded = ComponentEncoder::default()
        .validate(true)
        .module(module)
        .and_then(|mut encoder| encoder.encode());
    encoded.map_err(|error| format!("{error:#}"))
}
