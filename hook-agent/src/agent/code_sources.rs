//! Where a class came from.

use crate::ffi::refs::{FieldId, Local, LocalRef};
use host::{CodeLocation, code_location};
use std::collections::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError};

/// Most paths whose links are remembered.
const MOST: usize = 4_096;

/// The fields that say where a class came from.
#[derive(Debug, Default)]
pub(crate) struct CodeSources {
    fields: OnceLock<Fields>,
    /// Paths without symbolic links, by those that were resolved.
    resolved: Mutex<HashMap<String, Option<String>>>,
}

#[derive(Debug)]
struct Fields {
    /// `ProtectionDomain.codesource`.
    code_source: Option<FieldId>,
    /// `CodeSource.location`.
    location: Option<FieldId>,
    /// `URL.protocol`.
    protocol: Option<FieldId>,
    /// `URL.path`.
    path: Option<FieldId>,
}

/// Where a class came from, as far as it was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FoundLocation {
    /// From nowhere that is known.
    None,
    /// From somewhere.
    Unread,
    /// From this folder or archive; its path without symbolic links, if it goes through some.
    At(String, Option<String>),
}

impl FoundLocation {
    /// The same for selectors.
    pub fn for_selectors(&self) -> CodeLocation<'_> {
        match self {
            Self::None => CodeLocation::None,
            Self::Unread => CodeLocation::Unread,
            Self::At(path, None) => CodeLocation::At(path),
            Self::At(through, Some(to)) => CodeLocation::Linked { through, to },
        }
    }
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
            protocol: field(c"java/net/URL", c"protocol", c"Ljava/lang/String;"),
            path: field(c"java/net/URL", c"path", c"Ljava/lang/String;"),
        });
    }

    /// Where a class with this protection domain came from; the path only if it is `asked` for. Reads two fields, or
    /// four; no code of the JVM's or of the application's runs.
    pub fn find(
        &self,
        local: Local<'_>,
        domain: Option<&LocalRef<'_>>,
        asked: bool,
    ) -> FoundLocation {
        let (Some(domain), Some(fields)) = (domain, self.fields.get()) else {
            return FoundLocation::None;
        };
        // A JVM without these fields: a protection domain is then the best sign there is.
        let (Some(code_source), Some(location)) = (fields.code_source, fields.location) else {
            return FoundLocation::Unread;
        };
        let url = local
            .object_field(domain, code_source)
            .and_then(|source| local.object_field(&source, location));
        match url {
            None => FoundLocation::None,
            Some(_) if !asked => FoundLocation::Unread,
            Some(url) => match fields.path_of(local, &url) {
                None => FoundLocation::Unread,
                Some(path) => {
                    let resolved = self.resolved(&path);
                    FoundLocation::At(path, resolved)
                }
            },
        }
    }

    /// Returns a path without symbolic links, if it goes through some. The file system is asked once for each path.
    fn resolved(&self, path: &str) -> Option<String> {
        let mut known = self.resolved.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known.get(path) {
            return found.clone();
        }
        let found = code_location::resolved(path);
        if known.len() < MOST {
            known.insert(path.to_owned(), found.clone());
        }
        found
    }
}

impl Fields {
    fn path_of(&self, local: Local<'_>, url: &LocalRef<'_>) -> Option<String> {
        let text = |field| local.string(&local.object_field(url, field?)?);
        let (protocol, path) = (text(self.protocol)?, text(self.path)?);
        Some(code_location::path(&format!("{protocol}:{path}")))
    }
}
