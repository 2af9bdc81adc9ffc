//! Adds members, interfaces, annotations and attributes to a class.

use jvms::access_flags::{ACC_NATIVE, ACC_STATIC};
use std::collections::HashMap;

use crate::bytes::write_at;
use crate::class::{Attributes, ClassFile};
use crate::cursor::u16_at;
use crate::edits::{
    ClassEdit, Constant, NewField, NewMethod, PrefixedNative, StructureError, Target,
};
use crate::error::ReadError;
use crate::index::MethodIndex;
use crate::pool::PoolWriter;
use crate::snippet::Snippet;
use crate::structure::annotations::{annotation, pool_text};
use crate::structure::body::{Signature, assemble, call};
use jvms::modified_utf8;

const VISIBLE: &str = "RuntimeVisibleAnnotations";
const INVISIBLE: &str = "RuntimeInvisibleAnnotations";

/// The additions to one attribute table.
#[derive(Default)]
struct Extra {
    /// Annotations and their number: visible, invisible.
    annotations: [(Vec<u8>, u16); 2],
    /// Whole attributes and their number.
    attributes: (Vec<u8>, u16),
    /// New contents of `Code`.
    code: Option<Vec<u8>>,
}

/// A class with its additions, ready to be written.
struct Extension<'e, 'a> {
    class: &'e ClassFile<'a>,
    pool: PoolWriter,
    interfaces: Vec<u8>,
    fields: (Vec<u8>, u16),
    methods: (Vec<u8>, u16),
    extras: HashMap<Target, Extra>,
    /// New names of native methods.
    natives: HashMap<MethodIndex, u16>,
    out: Vec<u8>,
}

/// Returns the class file with the additions of `edits`, which were validated.
pub(crate) fn extend(
    class: &ClassFile<'_>,
    edits: &[ClassEdit],
) -> Result<Vec<u8>, StructureError> {
    let mut pool = PoolWriter::default();
    pool.begin(class.pool().count());
    let mut extension = Extension {
        class,
        pool,
        interfaces: Vec::new(),
        fields: Default::default(),
        methods: Default::default(),
        extras: HashMap::new(),
        natives: HashMap::new(),
        out: Vec::with_capacity(class.bytes().len() + 1024),
    };
    edits.iter().try_for_each(|edit| extension.collect(edit))?;
    extension.write()?;
    Ok(extension.out)
}

/// Creates the error for an attribute of annotations without their count.
fn cut_off(offset: u32, needed: u32) -> ReadError {
    ReadError::Truncated {
        structure: "num_annotations",
        offset,
        needed,
    }
}

/// Appends `u2`s.
fn push(out: &mut Vec<u8>, items: &[u16]) {
    items
        .iter()
        .for_each(|item| out.extend_from_slice(&item.to_be_bytes()));
}

/// Appends an `attribute_info`.
fn push_attribute(out: &mut Vec<u8>, name: u16, parts: &[&[u8]]) {
    push(out, &[name]);
    let length: usize = parts.iter().map(|part| part.len()).sum();
    out.extend_from_slice(&(length as u32).to_be_bytes());
    parts.iter().for_each(|part| out.extend_from_slice(part));
}

impl Extension<'_, '_> {
    fn text(&mut self, text: &str) -> Result<u16, StructureError> {
        pool_text(&mut self.pool, text)
    }

    fn extra(&mut self, target: &Target) -> &mut Extra {
        self.extras.entry(target.clone()).or_default()
    }

    fn collect(&mut self, edit: &ClassEdit) -> Result<(), StructureError> {
        match edit {
            ClassEdit::AddField(field) => self.field(field),
            ClassEdit::AddMethod(method) => self.method(method),
            ClassEdit::AddInterface(name) => {
                let name = modified_utf8::encode(name);
                let index = self.pool.class(&name).ok_or(StructureError::PoolFull)?;
                push(&mut self.interfaces, &[index]);
                Ok(())
            }
            ClassEdit::AddAnnotation {
                target,
                visible,
                annotation: added,
            } => {
                let mut bytes = Vec::new();
                annotation(added, &mut self.pool, &mut bytes)?;
                let [shown, hidden] = &mut self.extra(target).annotations;
                let table = if *visible { shown } else { hidden };
                table.0.append(&mut bytes);
                table.1 = table.1.saturating_add(1);
                Ok(())
            }
            ClassEdit::AddAttribute {
                target,
                name,
                bytes,
            } => {
                let name = self.text(name)?;
                let table = &mut self.extra(target).attributes;
                push_attribute(&mut table.0, name, &[bytes]);
                table.1 = table.1.saturating_add(1);
                Ok(())
            }
            ClassEdit::PrefixNative(wrapper) => self.wrapper(wrapper),
            ClassEdit::ReplaceBody { method, body } => self.replace(*method, body),
            ClassEdit::RenameMember { .. } | ClassEdit::RenameType { .. } => Ok(()),
        }
    }

    fn field(&mut self, field: &NewField) -> Result<(), StructureError> {
        let head = [
            field.flags,
            self.text(&field.name)?,
            self.text(&field.descriptor)?,
        ];
        let value = field.value.as_ref().map(|value| self.constant(value));
        let value = value.transpose()?;
        let attribute = match value {
            Some(value) => Some((self.text("ConstantValue")?, value)),
            None => None,
        };
        let out = &mut self.fields.0;
        push(out, &head);
        push(out, &[u16::from(attribute.is_some())]);
        if let Some((name, value)) = attribute {
            push_attribute(out, name, &[&value.to_be_bytes()]);
        }
        self.fields.1 = self.fields.1.saturating_add(1);
        Ok(())
    }

    fn constant(&mut self, value: &Constant) -> Result<u16, StructureError> {
        let pool = &mut self.pool;
        let index = match value {
            Constant::Integer(value) => pool.integer(*value as u32),
            Constant::Long(value) => pool.long(*value as u64),
            Constant::Float(value) => pool.float(value.to_bits()),
            Constant::Double(value) => pool.double(value.to_bits()),
            Constant::Text(text) => pool.string(&modified_utf8::encode(text)),
        };
        index.ok_or(StructureError::PoolFull)
    }

    fn method(&mut self, method: &NewMethod) -> Result<(), StructureError> {
        let head = [
            method.flags,
            self.text(&method.name)?,
            self.text(&method.descriptor)?,
        ];
        let code = match &method.body {
            None => None,
            Some(snippet) => {
                let signature = Signature {
                    flags: method.flags,
                    name: method.name.as_bytes(),
                    descriptor: method.descriptor.as_bytes(),
                };
                let code = assemble(self.class, &signature, snippet, &mut self.pool)?;
                Some((self.text("Code")?, code))
            }
        };
        let out = &mut self.methods.0;
        push(out, &head);
        push(out, &[u16::from(code.is_some())]);
        if let Some((name, code)) = code {
            push_attribute(out, name, &[&code]);
        }
        self.methods.1 = self.methods.1.saturating_add(1);
        Ok(())
    }

    fn replace(&mut self, index: MethodIndex, snippet: &Snippet) -> Result<(), StructureError> {
        let class = self.class;
        let method = class
            .method(index)
            .ok_or(StructureError::no_method(class, index))?;
        let signature = Signature {
            flags: method.access_flags(),
            name: method.name().as_bytes(),
            descriptor: method.descriptor().as_bytes(),
        };
        let code = assemble(class, &signature, snippet, &mut self.pool)?;
        self.extra(&Target::Method(index)).code = Some(code);
        Ok(())
    }

    /// Renames the native method and adds the method that calls it, with the same attributes.
    fn wrapper(&mut self, wrapper: &PrefixedNative) -> Result<(), StructureError> {
        let class = self.class;
        let index = wrapper.method;
        let native = class
            .method(index)
            .ok_or(StructureError::no_method(class, index))?;
        let mut name = modified_utf8::encode(&wrapper.prefix);
        name.extend_from_slice(native.name().as_bytes());
        let called = self.pool.utf8(&name).ok_or(StructureError::PoolFull)?;
        self.natives.insert(index, called);
        let flags = native.access_flags();
        let descriptor = native.descriptor().as_bytes();
        let this = class.this_class_index().0;
        let target = self.pool.text(descriptor);
        let target = target.and_then(|descriptor| self.pool.method_of(this, called, descriptor));
        let target = target.ok_or(StructureError::PoolFull)?;
        let code = call(flags & ACC_STATIC != 0, descriptor, target);
        let code_name = self.text("Code")?;
        let head = native.bytes();
        let item = |at| u16_at(head, at).unwrap_or_default();
        let out = &mut self.methods.0;
        push(out, &[flags & !ACC_NATIVE, item(2), item(4)]);
        push(
            out,
            &[item(6)
                .checked_add(1)
                .ok_or(StructureError::TooMany { what: "attributes" })?],
        );
        out.extend_from_slice(head.get(8..).unwrap_or_default());
        push_attribute(out, code_name, &[&code]);
        self.methods.1 = self.methods.1.saturating_add(1);
        Ok(())
    }

    fn write(&mut self) -> Result<(), StructureError> {
        let class = self.class;
        self.annotation_names()?;
        let (extras, none) = (std::mem::take(&mut self.extras), Extra::default());
        let extra = |target| extras.get(&target).unwrap_or(&none);
        let end = class.pool().end();
        self.copy(0, end);
        self.out.extend_from_slice(self.pool.bytes());
        write_at(&mut self.out, 8, &self.pool.count().to_be_bytes());
        // access_flags, this_class, super_class
        self.copy(end, end + 6);
        let interfaces = std::mem::take(&mut self.interfaces);
        let more = (interfaces.len() >> 1) as u16;
        self.counted(end + 6, more, "interfaces")?;
        self.copy(end + 8, class.fields_start());
        self.out.extend_from_slice(&interfaces);
        let (fields, more) = std::mem::take(&mut self.fields);
        self.counted(class.fields_start(), more, "fields")?;
        for field in class.fields() {
            let start = field.start();
            self.copy(start, start + 6);
            let target = Target::Field {
                name: field.name().to_str_lossless().into_owned(),
                descriptor: field.descriptor().to_str_lossless().into_owned(),
            };
            self.table(start + 6, field.attributes(), extra(target))?;
        }
        self.out.extend_from_slice(&fields);
        let (methods, more) = std::mem::take(&mut self.methods);
        self.counted(class.methods_start() - 2, more, "methods")?;
        for method in class.methods() {
            let start = method.start();
            self.copy(start, start + 6);
            if let Some(name) = self.natives.get(&method.index()) {
                let at = self.out.len() - 4;
                write_at(&mut self.out, at, &name.to_be_bytes());
            }
            let extra = extra(Target::Method(method.index()));
            self.table(start + 6, method.attributes(), extra)?;
        }
        self.out.extend_from_slice(&methods);
        let extra = extra(Target::Class);
        self.table(class.attributes_start(), class.attributes(), extra)
    }

    fn copy(&mut self, from: usize, to: usize) {
        let piece = self.class.bytes().get(from..to);
        self.out.extend_from_slice(piece.unwrap_or_default());
    }

    /// Writes the count at `at`, increased by `more`.
    fn counted(&mut self, at: usize, more: u16, what: &'static str) -> Result<(), StructureError> {
        let count = u16_at(self.class.bytes(), at).unwrap_or_default();
        let count = count
            .checked_add(more)
            .ok_or(StructureError::TooMany { what })?;
        push(&mut self.out, &[count]);
        Ok(())
    }

    /// Adds the names of required annotation attributes, before the pool is written.
    fn annotation_names(&mut self) -> Result<(), StructureError> {
        for (at, name) in [VISIBLE, INVISIBLE].into_iter().enumerate() {
            let mut extras = self.extras.values();
            if extras.any(|extra| extra.annotations.get(at).is_some_and(|table| table.1 > 0)) {
                self.text(name)?;
            }
        }
        Ok(())
    }

    /// Writes the attribute table at `at` with its additions.
    fn table(
        &mut self,
        at: usize,
        table: Attributes<'_, '_>,
        extra: &Extra,
    ) -> Result<(), StructureError> {
        let count_at = self.out.len();
        self.counted(at, extra.attributes.1, "attributes")?;
        let mut left = [VISIBLE, INVISIBLE]
            .into_iter()
            .zip(&extra.annotations)
            .filter(|(_, (_, count))| *count > 0)
            .collect::<Vec<_>>();
        for attribute in table {
            let start = attribute.offset as usize;
            let end = start + attribute.bytes.len();
            self.copy(start - 6, start - 4);
            let (length_at, contents) = (self.out.len(), self.out.len() + 4);
            self.copy(start - 4, start);
            let merged = left.iter().position(|(name, _)| attribute.name == *name);
            if let Some((_, (bytes, more))) = merged.map(|at| left.remove(at)) {
                let missing = 2_usize.saturating_sub(attribute.bytes.len());
                if missing > 0 {
                    return Err(cut_off(attribute.offset, missing as u32).into());
                }
                self.counted(start, *more, "annotations")?;
                self.copy(start + 2, end);
                self.out.extend_from_slice(bytes);
            } else if let Some(code) = extra.code.as_ref().filter(|_| attribute.name == "Code") {
                self.out.extend_from_slice(code);
            } else {
                self.copy(start, end);
            }
            let length = (self.out.len() - contents) as u32;
            write_at(&mut self.out, length_at, &length.to_be_bytes());
        }
        self.out.extend_from_slice(&extra.attributes.0);
        for (name, (bytes, count)) in &left {
            let name = self.text(name)?; // it is in the pool since `annotation_names`
            push_attribute(&mut self.out, name, &[&count.to_be_bytes(), bytes]);
        }
        let count = u16_at(&self.out, count_at).unwrap_or_default();
        let count = count
            .checked_add(left.len() as u16)
            .ok_or(StructureError::TooMany { what: "attributes" })?;
        write_at(&mut self.out, count_at, &count.to_be_bytes());
        Ok(())
    }
}
