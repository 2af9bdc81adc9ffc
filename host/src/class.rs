//! The class under transformation, and one call of a plugin's `transform` for it.

use std::borrow::Cow;
use std::sync::Arc;

use jvms::modified_utf8::Utf8;
use plan_rules::{CheckedClass, ClassMemory, PlanRequest, Transformation};
use rewriter::{ClassFile, MethodIndex, ReadError};

use crate::class_key::{ClassKey, Seed};
use crate::outcome::Loader;
use crate::selector::SelectableClass;

/// A class under transformation, parsed once and passed from plugin to plugin.
pub struct TransformedClass {
    class: CheckedClass,
    origin: Origin,
}

/// Facts about a class that its bytes do not contain.
#[derive(Debug, Clone)]
pub struct Origin {
    /// The defining loader.
    pub loader: Loader,
    /// `true` if the bytes are those of the first load, so that their CRC-64 is JaCoCo's class id.
    first_load: bool,
    /// The original class file, if subroutines were inlined.
    file: Option<Arc<[u8]>>,
}

/// All data about a class that a plugin can see.
pub struct ClassIdentity<'c> {
    /// The class file.
    pub bytes: &'c [u8],
    /// The defining loader.
    pub loader: &'c Loader,
    /// `true` if the class is already loaded.
    pub retransforming: bool,
    /// `true` if the bytes are those of the first load.
    pub first_load: bool,
}

impl ClassIdentity<'_> {
    /// Computes the key of the class for plans stored under this seed.
    pub(crate) fn key(&self, seed: &Seed) -> ClassKey {
        let loader = self.loader.as_str().as_bytes();
        let flags = [self.retransforming, self.first_load].map(u8::from);
        let length = (loader.len() as u64).to_le_bytes();
        ClassKey::of(seed, &[&flags, &length, loader, self.bytes])
    }
}

impl TransformedClass {
    /// Reads the structure of a class file into the memory of an earlier class, and inlines
    /// subroutines. `first_load` means that these are the bytes of the first load.
    pub fn read(
        bytes: &[u8],
        loader: &Loader,
        retransforming: bool,
        first_load: bool,
        memory: ClassMemory,
    ) -> Result<Self, ReadError> {
        let mut origin = Origin {
            loader: loader.clone(),
            first_load,
            file: None,
        };
        let mut class = CheckedClass::read_with(bytes, retransforming, memory)?;
        if let Some(inlined) = subroutines::inline(class.class()) {
            class = CheckedClass::read_with(&inlined, retransforming, class.into_memory())?;
            origin.file = Some(bytes.into());
        }
        Ok(Self { class, origin })
    }

    /// The original class file; [`TransformedClass::class`] has no subroutines.
    pub(crate) fn file(&self) -> &[u8] {
        let file = self.origin.file.as_deref();
        file.unwrap_or_else(|| self.class().bytes())
    }

    /// Converts other bytes of the class to the form that plugins' edits refer to: with inlined
    /// subroutines, if the class had any.
    pub(crate) fn fitting<'b>(&self, bytes: Cow<'b, [u8]>) -> Cow<'b, [u8]> {
        let inlined = || subroutines::inline(&ClassFile::read(&bytes).ok()?);
        match self.origin.file {
            Some(_) => inlined().map_or(bytes, Cow::Owned),
            None => bytes,
        }
    }

    /// Takes the class's memory for the next class.
    pub(crate) fn into_memory(self) -> ClassMemory {
        self.class.into_memory()
    }

    /// Computes the CRC-64 of the original class file, which few classes need.
    pub fn fingerprint(&self) -> u64 {
        fingerprint::of(self.file())
    }

    /// The defining loader.
    pub fn loader(&self) -> &Loader {
        &self.origin.loader
    }

    /// The data that identifies the class among stored plans.
    pub(crate) fn identity(&self) -> ClassIdentity<'_> {
        ClassIdentity {
            bytes: self.file(),
            loader: &self.origin.loader,
            retransforming: self.class.is_retransforming(),
            first_load: self.origin.first_load,
        }
    }

    /// The view of the class.
    pub fn class(&self) -> &ClassFile<'_> {
        self.class.class()
    }

    /// Returns the name and descriptor of a method, for display.
    pub fn method_name(&self, index: MethodIndex) -> Option<String> {
        self.class.method_name(index)
    }
}

/// One call of a plugin's `transform`.
pub struct Call {
    /// The plugin's requests so far.
    pub transformation: Transformation,
    /// Facts about the class that its bytes do not contain.
    pub origin: Origin,
}

impl Call {
    /// Begins a call without requests. `memory` is that of an earlier request.
    pub fn new(class: TransformedClass, memory: PlanRequest) -> Self {
        Self {
            transformation: Transformation::with(class.class, memory),
            origin: class.origin,
        }
    }

    /// JaCoCo's class id, if the bytes are those of the first load.
    pub fn class_id(&self) -> Option<u64> {
        let file = self.origin.file.as_deref();
        let bytes = file.unwrap_or_else(|| self.transformation.class().bytes());
        self.origin.first_load.then(|| fingerprint::of(bytes))
    }

    /// Ends the call, and returns the class and the plugin's requests.
    pub fn finish(self) -> (TransformedClass, PlanRequest) {
        let Self {
            transformation,
            origin,
        } = self;
        let (class, request) = transformation.finish();
        (TransformedClass { class, origin }, request)
    }
}

/// Returns the name in the descriptor of a class, without `L` and `;`.
pub(crate) fn name_of_type(descriptor: Utf8<'_>) -> &[u8] {
    let bytes = descriptor.as_bytes();
    let name = bytes.strip_prefix(b"L");
    let name = name.and_then(|name| name.strip_suffix(b";"));
    name.unwrap_or(bytes)
}

impl SelectableClass for ClassFile<'_> {
    fn any_annotation(&self, test: &mut dyn FnMut(&[u8]) -> bool) -> bool {
        self.annotations()
            .any(|descriptor| test(name_of_type(descriptor)))
    }

    fn any_supertype(&self, test: &mut dyn FnMut(&[u8]) -> bool) -> bool {
        self.super_class()
            .into_iter()
            .chain(self.interfaces())
            .any(|name| test(name.as_bytes()))
    }

    fn source_file(&self, test: &mut dyn FnMut(&[u8]) -> bool) -> bool {
        ClassFile::source_file(self).is_some_and(|name| test(name.as_bytes()))
    }
}
