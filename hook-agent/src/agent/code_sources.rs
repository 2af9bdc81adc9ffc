//! Whether a class came from a known location.

use crate::ffi::refs::{FieldId, Local, LocalRef};
use std::sync::OnceLock;

/// The fields that say where a class came from.
#[derive(Debug, Default)]
pub(crate) struct CodeSources {
    fields: OnceLock<Fields>,
}

#[derive(Debug)]
struct Fields {
    /// `ProtectionDomain.codesource`.
    code_source: Option<FieldId>,
    /// `CodeSource.location`.
    location: Option<FieldId>,
}

impl CodeSources {
    /// Looks up the fields; until then no class has a location.
    pub fn resolve(&self, local: Local<'_>) {
        let field = |class, name, descriptor| {
            let class = local.find_class(class)?;
            local.field_id(&class, name, descriptor)
        };
        let _ = self.fields.set(Fields {
            code_source: field(
                c"java/security/ProtectionDomain",
                c"codesource",
                c"Ljava/security/CodeSource;",
            ),
            location: field(c"java/security/CodeSource", c"location", c"Ljava/net/URL;"),
        });
    }

    /// Whether a class with this protection domain has a location. Reads two fields; no code of the JVM's
    /// or of the application's runs.
    pub fn has_location(&self, local: Local<'_>, domain: Option<&LocalRef<'_>>) -> bool {
        let (Some(domain), Some(fields)) = (domain, self.fields.get()) else {
            return false;
        };
        // A JVM without these fields: a protection domain is then the best sign there is.
        let (Some(code_source), Some(location)) = (fields.code_source, fields.location) else {
            return true;
        };
        local
            .object_field(domain, code_source)
            .and_then(|source| local.object_field(&source, location))
            .is_some()
    }
}
