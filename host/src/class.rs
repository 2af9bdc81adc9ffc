//! The class under transformation, and one call of a plugin's `transform` for it.

use std::cell::OnceCell;

use jvms::modified_utf8::Utf8;
use plan_rules::{CheckedClass, PlanRequest, Transformation};
use rewriter::{ClassFile, MethodIndex, ReadError};
use sha2::{Digest, Sha256};

use crate::outcome::Loader;
use crate::selector::SelectableClass;
use crate::stored_plans::ClassKey;

/// A class under transformation, parsed once and handed from plugin to plugin.
pub struct TransformedClass {
    class: CheckedClass,
    origin: Origin,
    key: OnceCell<ClassKey>,
}

/// What is known of a class beside its bytes.
#[derive(Debug, Clone)]
pub struct Origin {
    /// The defining loader.
    pub loader: Loader,
    /// CRC-64 of the bytes.
    fingerprint: u64,
    /// Whether the bytes are those of the first load, and so the CRC-64 JaCoCo's class id.
    first_load: bool,
}

impl Origin {
    /// JaCoCo's class id, where the bytes are those of the first load.
    pub fn class_id(&self) -> Option<u64> {
        self.first_load.then_some(self.fingerprint)
    }
}

impl TransformedClass {
    /// Reads the structure of a class file; `first_load` says that these are the bytes of the first load.
    pub fn read(
        bytes: &[u8],
        loader: &Loader,
        retransforming: bool,
        first_load: bool,
    ) -> Result<Self, ReadError> {
        Ok(Self {
            class: CheckedClass::read(bytes, retransforming)?,
            origin: Origin {
                loader: loader.clone(),
                fingerprint: rewriter::fingerprint(bytes),
                first_load,
            },
            key: OnceCell::new(),
        })
    }

    /// CRC-64 of the bytes.
    pub fn fingerprint(&self) -> u64 {
        self.origin.fingerprint
    }

    /// The defining loader.
    pub fn loader(&self) -> &Loader {
        &self.origin.loader
    }

    /// Stands for everything that a plugin can learn of the class.
    pub(crate) fn key(&self) -> ClassKey {
        *self.key.get_or_init(|| {
            let loader = self.origin.loader.as_str();
            let flags = [self.class.is_retransforming(), self.origin.first_load];
            let digest = Sha256::new()
                .chain_update(flags.map(u8::from))
                .chain_update((loader.len() as u64).to_le_bytes())
                .chain_update(loader)
                .chain_update(self.class().bytes());
            ClassKey(digest.finalize().into())
        })
    }

    /// The view of the class.
    pub fn class(&self) -> &ClassFile<'_> {
        self.class.class()
    }

    /// Name and descriptor of a method, for display.
    pub fn method_name(&self, index: MethodIndex) -> Option<String> {
        self.class.method_name(index)
    }
}

/// One call of a plugin's `transform`.
pub struct Call {
    /// What the plugin asked for so far.
    pub transformation: Transformation,
    /// What else is known of the class.
    pub origin: Origin,
    key: OnceCell<ClassKey>,
}

impl Call {
    /// Nothing asked for yet; of the classes of an instance it has this number.
    pub fn new(class: TransformedClass, number: u32) -> Self {
        Self {
            transformation: Transformation::new(class.class, number),
            origin: class.origin,
            key: class.key,
        }
    }

    /// The class, and what the plugin asked for.
    pub fn finish(self) -> (TransformedClass, PlanRequest) {
        let Self {
            transformation,
            origin,
            key,
        } = self;
        let (class, request) = transformation.finish();
        (TransformedClass { class, origin, key }, request)
    }
}

impl SelectableClass for ClassFile<'_> {
    fn any_annotation(&self, test: &mut dyn FnMut(&[u8]) -> bool) -> bool {
        let name = |descriptor: Utf8<'_>| {
            let bytes = descriptor.as_bytes();
            test(
                bytes
                    .strip_prefix(b"L")
                    .and_then(|bytes| bytes.strip_suffix(b";"))
                    .unwrap_or(bytes),
            )
        };
        self.annotations().any(name)
    }

    fn any_supertype(&self, test: &mut dyn FnMut(&[u8]) -> bool) -> bool {
        self.super_class()
            .into_iter()
            .chain(self.interfaces())
            .any(|name| test(name.as_bytes()))
    }
}
