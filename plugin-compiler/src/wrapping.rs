//! Components of core modules.

use std::fs;
use std::path::Path;

use wit_component::ComponentEncoder;

/// Makes a component of a core module that holds its interface in sections `component-type` (wit-bindgen leaves them).
/// A file that is equal stays as it is.
///
/// # Errors
/// Those of the files, and if the module imports or exports something else than its interface says.
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
        .and_then(ComponentEncoder::encode);
    encoded.map_err(|error| format!("{error:#}"))
}
