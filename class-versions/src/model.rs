//! A class file taken apart, so that members, attributes and constants can be added, removed and changed.
//!
//! Code keeps its length: only operands and opcodes of the same length change, so no frame and no jump moves.

use std::collections::HashMap;

use jvms::constant_tag;
use jvms::modified_utf8::Utf8;

/// Text as a class file holds it: modified UTF-8.
pub(crate) type Name = Vec<u8>;

/// The most entries that a constant pool may have (JVMS 4.1).
const MAX_POOL_COUNT: usize = 65_535;

/// A class file.
#[derive(Debug, Clone)]
pub(crate) struct Class {
    /// Minor and major version.
    pub version: (u16, u16),
    /// Constants.
    pub pool: Pool,
    /// Access flags.
    pub flags: u16,
    /// `this_class`.
    pub this: u16,
    /// `super_class`.
    pub superclass: u16,
    /// Direct superinterfaces.
    pub interfaces: Vec<u16>,
    /// Fields.
    pub fields: Vec<Member>,
    /// Methods.
    pub methods: Vec<Member>,
    /// Attributes.
    pub attributes: Vec<Attribute>,
}

/// A field or method.
#[derive(Debug, Clone)]
pub(crate) struct Member {
    /// Access flags.
    pub flags: u16,
    /// Its name.
    pub name: u16,
    /// Its descriptor.
    pub descriptor: u16,
    /// Its attributes.
    pub attributes: Vec<Attribute>,
}

/// An attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Attribute {
    /// Its name.
    pub name: u16,
    /// Its contents.
    pub bytes: Vec<u8>,
}

/// The contents of `Code` (JVMS 4.7.3).
#[derive(Debug, Clone, Default)]
pub(crate) struct Code {
    /// The greatest depth of the operand stack.
    pub max_stack: u16,
    /// The number of local variables.
    pub max_locals: u16,
    /// The code array.
    pub code: Vec<u8>,
    /// The exception table: start, end, handler, caught class.
    pub handlers: Vec<[u16; 4]>,
    /// Its attributes.
    pub attributes: Vec<Attribute>,
}

/// A reference to a field or method.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Reference {
    /// Internal name of the class.
    pub owner: Name,
    /// Name of the member.
    pub name: Name,
    /// Descriptor of the member.
    pub descriptor: Name,
    /// True for `CONSTANT_InterfaceMethodref`.
    pub interface: bool,
}

/// A constant.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Constant {
    /// Index 0, and the index after a `long` or `double`.
    Unusable,
    /// Text.
    Utf8(Name),
    /// Any other constant.
    Other(u8, Vec<u8>),
}

/// A constant pool.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pool {
    constants: Vec<Constant>,
    known: HashMap<Constant, u16>,
}

/// Reads big-endian numbers.
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    pub(crate) fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let end = self.at.checked_add(length)?;
        let found = self.bytes.get(self.at..end)?;
        self.at = end;
        Some(found)
    }

    pub(crate) fn u1(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }

    pub(crate) fn u2(&mut self) -> Option<u16> {
        self.take(2)?
            .first_chunk()
            .map(|found| u16::from_be_bytes(*found))
    }

    pub(crate) fn u4(&mut self) -> Option<u32> {
        self.take(4)?
            .first_chunk()
            .map(|found| u32::from_be_bytes(*found))
    }

    pub(crate) fn u2s(&mut self) -> Option<Vec<u16>> {
        let count = self.u2()?;
        (0..count).map(|_| self.u2()).collect()
    }
}

pub(crate) fn put(out: &mut Vec<u8>, items: &[u16]) {
    items
        .iter()
        .for_each(|item| out.extend_from_slice(&item.to_be_bytes()));
}

/// A length or count of at most two bytes. Longer tables do not occur, since those of a class file are read.
pub(crate) fn count(length: usize) -> Option<u16> {
    u16::try_from(length).ok()
}

impl Class {
    /// Reads a class file into its parts. Fails for a malformed one.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(bytes);
        reader.u4()?;
        let version = (reader.u2()?, reader.u2()?);
        let pool = Pool::read(&mut reader)?;
        Some(Self {
            version,
            pool,
            flags: reader.u2()?,
            this: reader.u2()?,
            superclass: reader.u2()?,
            interfaces: reader.u2s()?,
            fields: members(&mut reader)?,
            methods: members(&mut reader)?,
            attributes: attributes(&mut reader)?,
        })
    }

    /// Writes the class file. Fails if a table is too long.
    pub(crate) fn write(&self) -> Option<Vec<u8>> {
        let mut out = 0xCAFE_BABE_u32.to_be_bytes().to_vec();
        put(&mut out, &[self.version.0, self.version.1]);
        self.pool.write(&mut out)?;
        put(&mut out, &[self.flags, self.this, self.superclass]);
        put(&mut out, &[count(self.interfaces.len())?]);
        put(&mut out, &self.interfaces);
        write_members(&self.fields, &mut out)?;
        write_members(&self.methods, &mut out)?;
        write_attributes(&self.attributes, &mut out)?;
        Some(out)
    }

    /// Returns the internal name.
    pub(crate) fn name(&self) -> Name {
        self.pool.class_name(self.this).unwrap_or_default().to_vec()
    }

    /// Returns name and descriptor of a member.
    pub(crate) fn key(&self, member: &Member) -> (Name, Name) {
        let text = |index| self.pool.utf8(index).unwrap_or_default().to_vec();
        (text(member.name), text(member.descriptor))
    }

    /// Returns the contents of an attribute of the class.
    pub(crate) fn attribute(&self, name: &str) -> Option<&[u8]> {
        self.pool.named(&self.attributes, name)
    }

    /// Removes the attributes of the class with other names than these.
    pub(crate) fn keep_attributes(&mut self, names: &[&str]) {
        let pool = &self.pool;
        self.attributes
            .retain(|found| names.iter().any(|name| pool.is(found.name, name)));
    }

    /// Writes a constant by value. Bootstrap methods appear by value, too.
    pub(crate) fn write_constant(&self, index: u16, out: &mut Vec<u8>, depth: u8) {
        if depth > 8 {
            return;
        }
        let deeper = depth.saturating_add(1);
        let Some(constant) = self.pool.get(index) else {
            return;
        };
        match constant {
            Constant::Unusable => {}
            Constant::Utf8(text) => {
                out.extend_from_slice(text);
                out.push(0);
            }
            Constant::Other(tag, bytes) => {
                out.push(*tag);
                let mut items = Reader::new(bytes);
                match *tag {
                    constant_tag::INTEGER
                    | constant_tag::FLOAT
                    | constant_tag::LONG
                    | constant_tag::DOUBLE => out.extend_from_slice(bytes),
                    constant_tag::DYNAMIC | constant_tag::INVOKE_DYNAMIC => {
                        for used in self.bootstrap_method(items.u2()).into_iter().flatten() {
                            self.write_constant(used, out, deeper);
                        }
                        self.write_constant(items.u2().unwrap_or_default(), out, deeper);
                    }
                    constant_tag::METHOD_HANDLE => {
                        out.extend(items.u1());
                        self.write_constant(items.u2().unwrap_or_default(), out, deeper);
                    }
                    _ => {
                        while let Some(item) = items.u2() {
                            self.write_constant(item, out, deeper);
                        }
                    }
                }
            }
        }
    }

    /// Writes an attribute that consists of a list of pool indices, or `Record`, by value.
    pub(crate) fn write_attribute(&self, name: &str, out: &mut Vec<u8>) {
        let Some(bytes) = self.attribute(name) else {
            return;
        };
        if name == "Record" {
            let _ = self.visit_record(bytes, &mut |index, _| {
                self.write_constant(index, out, 0);
                Some(())
            });
            return;
        }
        let mut reader = Reader::new(bytes);
        if name == "NestHost" {
            self.write_constant(reader.u2().unwrap_or_default(), out, 0);
            return;
        }
        let mut lists: Vec<Vec<u8>> = Vec::new();
        for index in reader.u2s().unwrap_or_default() {
            let mut text = Vec::new();
            self.write_constant(index, &mut text, 0);
            lists.push(text);
        }
        lists.sort_unstable();
        out.extend(lists.concat());
    }

    /// Passes the pool indices of a `Record` attribute in order: name and descriptor of each component, and its
    /// signature, if it has one. The flag marks signatures. Other attributes of components are left out.
    fn visit_record(
        &self,
        bytes: &[u8],
        visit: &mut dyn FnMut(u16, bool) -> Option<()>,
    ) -> Option<()> {
        let mut reader = Reader::new(bytes);
        for _ in 0..reader.u2()? {
            visit(reader.u2()?, false)?;
            visit(reader.u2()?, false)?;
            for attribute in attributes(&mut reader)? {
                if self.pool.is(attribute.name, "Signature") {
                    visit(Reader::new(&attribute.bytes).u2()?, true)?;
                }
            }
        }
        Some(())
    }

    /// Returns the contents of an attribute of another class with the indices of this one.
    pub(crate) fn transfer(&mut self, from: &Class, name: &str, bytes: &[u8]) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        if name == "Record" {
            let mut texts: Vec<(Name, bool)> = Vec::new();
            from.visit_record(bytes, &mut |index, is_signature| {
                texts.push((from.pool.utf8(index)?.to_vec(), is_signature));
                Some(())
            })?;
            let mut texts = texts.into_iter().peekable();
            let mut components: u16 = 0;
            while let Some((name, _)) = texts.next() {
                let descriptor = texts.next()?.0;
                put(
                    &mut out,
                    &[self.pool.text(&name)?, self.pool.text(&descriptor)?],
                );
                let signature = texts.next_if(|(_, is_signature)| *is_signature);
                match signature {
                    Some((signature, _)) => {
                        put(&mut out, &[1, self.pool.text(b"Signature")?, 0, 2]);
                        put(&mut out, &[self.pool.text(&signature)?]);
                    }
                    None => put(&mut out, &[0]),
                }
                components = components.checked_add(1)?;
            }
            out.splice(0..0, components.to_be_bytes());
            return Some(out);
        }
        let mut reader = Reader::new(bytes);
        let list = match name {
            "NestHost" => vec![reader.u2()?],
            _ => {
                let list = reader.u2s()?;
                put(&mut out, &[count(list.len())?]);
                list
            }
        };
        for index in list {
            let class = from.pool.class_name(index)?.to_vec();
            put(&mut out, &[self.pool.class(&class)?]);
        }
        Some(out)
    }

    /// Gives a method new contents of `Code`.
    pub(crate) fn set_code(&mut self, index: usize, bytes: Vec<u8>) -> Option<()> {
        let name = self.pool.text(b"Code")?;
        let method = self.methods.get_mut(index)?;
        method.attributes.retain(|found| found.name != name);
        method.attributes.push(Attribute { name, bytes });
        Some(())
    }

    /// Returns handle and arguments of a bootstrap method.
    pub(crate) fn bootstrap_method(&self, number: Option<u16>) -> Option<Vec<u16>> {
        let mut reader = Reader::new(self.attribute("BootstrapMethods")?);
        reader.u2()?;
        for _ in 0..number? {
            reader.u2()?;
            reader.u2s()?;
        }
        let mut found = vec![reader.u2()?];
        found.extend(reader.u2s()?);
        Some(found)
    }

    /// Adds a bootstrap method, once, and returns its number.
    pub(crate) fn add_bootstrap_method(&mut self, handle: u16, arguments: &[u16]) -> Option<u16> {
        let mut wanted = vec![handle];
        wanted.extend_from_slice(arguments);
        let count = Reader::new(self.attribute("BootstrapMethods").unwrap_or(&[0, 0])).u2()?;
        for number in 0..count {
            if self.bootstrap_method(Some(number)).as_deref() == Some(wanted.as_slice()) {
                return Some(number);
            }
        }
        let name = self.pool.text(b"BootstrapMethods")?;
        if self.attribute("BootstrapMethods").is_none() {
            self.attributes.push(Attribute {
                name,
                bytes: vec![0, 0],
            });
        }
        let pool = &self.pool;
        let table = self
            .attributes
            .iter_mut()
            .find(|found| pool.is(found.name, "BootstrapMethods"))?;
        let total = count.checked_add(1)?;
        if let Some(head) = table.bytes.first_chunk_mut::<2>() {
            *head = total.to_be_bytes();
        }
        put(
            &mut table.bytes,
            &[handle, u16::try_from(arguments.len()).ok()?],
        );
        put(&mut table.bytes, arguments);
        Some(count)
    }

    /// Returns the code of a method.
    pub(crate) fn code(&self, method: &Member) -> Option<Code> {
        Code::read(self.pool.named(&method.attributes, "Code")?)
    }
}

impl Code {
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(bytes);
        let (max_stack, max_locals) = (reader.u2()?, reader.u2()?);
        let length = reader.u4()?;
        let code = reader.take(usize::try_from(length).ok()?)?.to_vec();
        let rows = reader.u2()?;
        let mut row = || Some([reader.u2()?, reader.u2()?, reader.u2()?, reader.u2()?]);
        let handlers = (0..rows).map(|_| row()).collect::<Option<_>>()?;
        Some(Self {
            max_stack,
            max_locals,
            code,
            handlers,
            attributes: attributes(&mut reader)?,
        })
    }

    pub(crate) fn write(&self) -> Option<Vec<u8>> {
        let mut out = Vec::with_capacity(self.code.len().saturating_add(64));
        put(&mut out, &[self.max_stack, self.max_locals]);
        out.extend_from_slice(&u32::try_from(self.code.len()).ok()?.to_be_bytes());
        out.extend_from_slice(&self.code);
        put(&mut out, &[count(self.handlers.len())?]);
        self.handlers.iter().for_each(|row| put(&mut out, row));
        write_attributes(&self.attributes, &mut out)?;
        Some(out)
    }

    /// Returns the offset of each instruction. Fails if one cannot be decoded.
    pub(crate) fn starts(&self) -> Option<Vec<usize>> {
        let (mut at, mut starts) = (0, Vec::new());
        while at < self.code.len() {
            starts.push(at);
            at = at.checked_add(jvms::instruction::length_at(&self.code, at)?)?;
        }
        Some(starts)
    }

    pub(crate) fn opcode(&self, at: usize) -> u8 {
        self.code.get(at).copied().unwrap_or_default()
    }

    /// Returns the two-byte operand of the instruction at `at`.
    pub(crate) fn operand(&self, at: usize) -> Option<u16> {
        let bytes = self.code.get(at.checked_add(1)?..)?;
        bytes.first_chunk().map(|found| u16::from_be_bytes(*found))
    }

    /// Replaces bytes of the code.
    pub(crate) fn overwrite(&mut self, at: usize, bytes: &[u8]) {
        for (place, byte) in (at..).zip(bytes) {
            if let Some(found) = self.code.get_mut(place) {
                *found = *byte;
            }
        }
    }
}

fn members(reader: &mut Reader<'_>) -> Option<Vec<Member>> {
    let count = reader.u2()?;
    let mut member = || {
        Some(Member {
            flags: reader.u2()?,
            name: reader.u2()?,
            descriptor: reader.u2()?,
            attributes: attributes(reader)?,
        })
    };
    (0..count).map(|_| member()).collect()
}

fn attributes(reader: &mut Reader<'_>) -> Option<Vec<Attribute>> {
    let count = reader.u2()?;
    let mut attribute = || {
        let name = reader.u2()?;
        let length = usize::try_from(reader.u4()?).ok()?;
        let bytes = reader.take(length)?.to_vec();
        Some(Attribute { name, bytes })
    };
    (0..count).map(|_| attribute()).collect()
}

fn write_members(members: &[Member], out: &mut Vec<u8>) -> Option<()> {
    put(out, &[count(members.len())?]);
    for member in members {
        put(out, &[member.flags, member.name, member.descriptor]);
        write_attributes(&member.attributes, out)?;
    }
    Some(())
}

fn write_attributes(attributes: &[Attribute], out: &mut Vec<u8>) -> Option<()> {
    put(out, &[count(attributes.len())?]);
    for attribute in attributes {
        put(out, &[attribute.name]);
        let length = u32::try_from(attribute.bytes.len()).ok()?;
        out.extend_from_slice(&length.to_be_bytes());
        out.extend_from_slice(&attribute.bytes);
    }
    Some(())
}

impl Pool {
    fn read(reader: &mut Reader<'_>) -> Option<Self> {
        let count = usize::from(reader.u2()?);
        let mut pool = Pool::default();
        pool.push(Constant::Unusable);
        while pool.constants.len() < count {
            let tag = reader.u1()?;
            if tag == constant_tag::UTF8 {
                let length = usize::from(reader.u2()?);
                pool.push(Constant::Utf8(reader.take(length)?.to_vec()));
                continue;
            }
            // The length of an unknown constant is unknown.
            constant_tag::name(tag)?;
            let length = usize::from(constant_tag::length(tag)).checked_sub(1)?;
            pool.push(Constant::Other(tag, reader.take(length)?.to_vec()));
            if constant_tag::is_wide(tag) {
                pool.push(Constant::Unusable);
            }
        }
        Some(pool)
    }

    fn push(&mut self, constant: Constant) {
        if let Some(index) = count(self.constants.len()) {
            self.known.entry(constant.clone()).or_insert(index);
        }
        self.constants.push(constant);
    }

    fn write(&self, out: &mut Vec<u8>) -> Option<()> {
        put(out, &[count(self.constants.len())?]);
        for constant in &self.constants {
            match constant {
                Constant::Unusable => {}
                Constant::Utf8(text) => {
                    out.push(constant_tag::UTF8);
                    put(out, &[count(text.len())?]);
                    out.extend_from_slice(text);
                }
                Constant::Other(tag, bytes) => {
                    out.push(*tag);
                    out.extend_from_slice(bytes);
                }
            }
        }
        Some(())
    }

    fn get(&self, index: u16) -> Option<&Constant> {
        self.constants.get(usize::from(index))
    }

    pub(crate) fn tag(&self, index: u16) -> Option<u8> {
        match self.get(index)? {
            Constant::Unusable => None,
            Constant::Utf8(_) => Some(constant_tag::UTF8),
            Constant::Other(tag, _) => Some(*tag),
        }
    }

    pub(crate) fn utf8(&self, index: u16) -> Option<&[u8]> {
        match self.get(index)? {
            Constant::Utf8(text) => Some(text),
            _ => None,
        }
    }

    /// Checks whether the text at an index is this one.
    pub(crate) fn is(&self, index: u16, text: &str) -> bool {
        self.utf8(index) == Some(text.as_bytes())
    }

    /// Returns the contents of the attribute of this name.
    pub(crate) fn named<'m>(&self, attributes: &'m [Attribute], name: &str) -> Option<&'m [u8]> {
        let found = attributes.iter().find(|found| self.is(found.name, name))?;
        Some(&found.bytes)
    }

    /// Returns the items of a constant of this tag.
    fn items(&self, index: u16, tags: &[u8]) -> Option<(u8, Reader<'_>)> {
        match self.get(index)? {
            Constant::Other(tag, bytes) if tags.contains(tag) => Some((*tag, Reader::new(bytes))),
            _ => None,
        }
    }

    pub(crate) fn class_name(&self, index: u16) -> Option<&[u8]> {
        let (_, mut items) = self.items(index, &[constant_tag::CLASS])?;
        self.utf8(items.u2()?)
    }

    fn name_and_type(&self, index: u16) -> Option<(Name, Name)> {
        let (_, mut items) = self.items(index, &[constant_tag::NAME_AND_TYPE])?;
        Some((
            self.utf8(items.u2()?)?.to_vec(),
            self.utf8(items.u2()?)?.to_vec(),
        ))
    }

    /// Returns the descriptor of a call: of a method, or of `invokedynamic`.
    pub(crate) fn descriptor(&self, index: u16) -> Option<Name> {
        let tags = [
            constant_tag::METHOD_REF,
            constant_tag::INTERFACE_METHOD_REF,
            constant_tag::INVOKE_DYNAMIC,
        ];
        let (_, mut items) = self.items(index, &tags)?;
        items.u2()?;
        Some(self.name_and_type(items.u2()?)?.1)
    }

    /// Returns a reference to a field or method.
    pub(crate) fn reference(&self, index: u16) -> Option<Reference> {
        let tags = [
            constant_tag::FIELD_REF,
            constant_tag::METHOD_REF,
            constant_tag::INTERFACE_METHOD_REF,
        ];
        let (tag, mut items) = self.items(index, &tags)?;
        let owner = self.class_name(items.u2()?)?.to_vec();
        let (name, descriptor) = self.name_and_type(items.u2()?)?;
        Some(Reference {
            owner,
            name,
            descriptor,
            interface: tag == constant_tag::INTERFACE_METHOD_REF,
        })
    }

    /// Returns kind and reference of a method handle.
    pub(crate) fn handle(&self, index: u16) -> Option<(u8, u16)> {
        let (_, mut items) = self.items(index, &[constant_tag::METHOD_HANDLE])?;
        Some((items.u1()?, items.u2()?))
    }

    /// Returns the bootstrap method of an `invokedynamic` or a dynamic constant.
    pub(crate) fn bootstrap(&self, index: u16) -> Option<u16> {
        let tags = [constant_tag::DYNAMIC, constant_tag::INVOKE_DYNAMIC];
        self.items(index, &tags)?.1.u2()
    }

    /// Replaces a method handle.
    pub(crate) fn set_handle(&mut self, index: u16, kind: u8, reference: u16) {
        let mut bytes = vec![kind];
        put(&mut bytes, &[reference]);
        if let Some(found) = self.constants.get_mut(usize::from(index)) {
            *found = Constant::Other(constant_tag::METHOD_HANDLE, bytes);
        }
    }

    fn add(&mut self, constant: Constant) -> Option<u16> {
        if let Some(known) = self.known.get(&constant) {
            return Some(*known);
        }
        let index =
            count(self.constants.len()).filter(|index| usize::from(*index) < MAX_POOL_COUNT)?;
        self.push(constant);
        Some(index)
    }

    fn add_items(&mut self, tag: u8, items: &[u16]) -> Option<u16> {
        let mut bytes = Vec::new();
        put(&mut bytes, items);
        self.add(Constant::Other(tag, bytes))
    }

    pub(crate) fn text(&mut self, text: &[u8]) -> Option<u16> {
        self.add(Constant::Utf8(text.to_vec()))
    }

    pub(crate) fn class(&mut self, name: &[u8]) -> Option<u16> {
        let name = self.text(name)?;
        self.add_items(constant_tag::CLASS, &[name])
    }

    pub(crate) fn integer(&mut self, value: i32) -> Option<u16> {
        let bytes = value.to_be_bytes().to_vec();
        self.add(Constant::Other(constant_tag::INTEGER, bytes))
    }

    fn named_type(&mut self, name: &[u8], descriptor: &[u8]) -> Option<u16> {
        let (name, descriptor) = (self.text(name)?, self.text(descriptor)?);
        self.add_items(constant_tag::NAME_AND_TYPE, &[name, descriptor])
    }

    pub(crate) fn method(&mut self, owner: &[u8], name: &[u8], descriptor: &[u8]) -> Option<u16> {
        let owner = self.class(owner)?;
        let named = self.named_type(name, descriptor)?;
        self.add_items(constant_tag::METHOD_REF, &[owner, named])
    }

    pub(crate) fn field(&mut self, owner: &[u8], name: &[u8], descriptor: &[u8]) -> Option<u16> {
        let owner = self.class(owner)?;
        let named = self.named_type(name, descriptor)?;
        self.add_items(constant_tag::FIELD_REF, &[owner, named])
    }

    pub(crate) fn method_handle(&mut self, kind: u8, reference: u16) -> Option<u16> {
        let mut bytes = vec![kind];
        put(&mut bytes, &[reference]);
        self.add(Constant::Other(constant_tag::METHOD_HANDLE, bytes))
    }

    pub(crate) fn invoke_dynamic(
        &mut self,
        bootstrap: u16,
        name: &[u8],
        descriptor: &[u8],
    ) -> Option<u16> {
        let named = self.named_type(name, descriptor)?;
        self.add_items(constant_tag::INVOKE_DYNAMIC, &[bootstrap, named])
    }
}

/// Returns text for a message.
pub(crate) fn shown(name: &[u8]) -> String {
    Utf8::new(name).to_str_lossless().into_owned()
}

/// Returns the name of a class for a message.
pub(crate) fn shown_class(name: &[u8]) -> String {
    jvms::names::binary(&shown(name))
}
