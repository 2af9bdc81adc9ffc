//! The code sources of classes.

use crate::ffi::refs::{FieldId, Local, LocalRef};
use host::{CodeSource, code_source};
use std::collections::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError};

/// Largest number of cached paths.
const MOST: usize = 4_096;

/// The fields from which the location of a class is read.
#[derive(Debug, Default)]
pub(crate) struct CodeSources {
    fields: OnceLock<Fields>,
    /// Cache of resolved paths: the path without symbolic links, or `None` if it has no links.
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

/// The location of a class, as far as it was requested.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FoundLocation {
    /// The class has no location.
    None,
    /// The class has a location, which was not read.
    Unread,
    /// This folder or archive, and its path without symbolic links if it contains some.
    At(String, Option<String>),
}

impl FoundLocation {
    /// The location for selectors.
    pub fn for_selectors(&self) -> CodeSource<'_> {
        match self {
            Self::None => CodeSource::None,
            Self::Unread => CodeSource::Unread,
            Self::At(path, None) => CodeSource::At(path),
            Self::At(through, Some(to)) => CodeSource::Linked { through, to },
        }
    }
}

impl CodeSources {
    /// Looks up the fields. Before, no class has a location.
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

    /// The location of a class with this protection domain; its path is read only if `asked`.
    ///
    /// It reads two fields, or four. No code of the JDK or of the application runs.
    pub fn find(
        &self,
        local: Local<'_>,
        domain: Option<&LocalRef<'_>>,
        asked: bool,
    ) -> FoundLocation {
        let (Some(domain), Some(fields)) = (domain, self.fields.get()) else {
            return FoundLocation::None;
        };
        // A JVM without these fields: the existence of a protection domain is the best evidence of a location.
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

    /// Returns a path without symbolic links, if it contains some. The file system is read once for each path.
    fn resolved(&self, path: &str) -> Option<String> {
        let mut known = self.resolved.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known.get(path) {
            return found.clone();
        }
        let found = code_source::resolved(path);
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
        Some(code_source::path(&format!("{protocol}:{path}")))
    }
}
