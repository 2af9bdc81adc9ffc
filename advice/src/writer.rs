//! Writes a class file of static methods (JVMS 4).

use std::collections::HashMap;

use jvms::access_flags::{ACC_FINAL, ACC_STATIC, ACC_SUPER, ACC_SYNTHETIC};
use jvms::modified_utf8;
use jvms::opcode;

/// Version of the written classes: Java 8, as the guard's own.
const VERSION: u32 = 52;

/// An entry of the constant pool, by its tag and contents.
type Entry = (u8, Vec<u8>);

/// A class under construction.
#[derive(Default)]
pub(crate) struct ClassWriter {
    entries: Vec<u8>,
    known: HashMap<Entry, u16>,
    next: u16,
    methods: Vec<u8>,
    count: u16,
}

/// Code of a method, with the frames at its branch targets and handlers.
#[derive(Default)]
pub(crate) struct Code {
    pub bytes: Vec<u8>,
    pub max_stack: u16,
    pub max_locals: u16,
    /// Start, end and target of the handler of all exceptions.
    pub handler: Option<[u16; 3]>,
    /// Offsets, ascending. Local variables are the parameters; true if the stack holds an exception.
    pub frames: Vec<(u16, bool)>,
}

impl ClassWriter {
    fn entry(&mut self, tag: u8, contents: Vec<u8>, slots: u16) -> u16 {
        let next = self.next.max(1);
        let entry = (tag, contents);
        if let Some(index) = self.known.get(&entry) {
            return *index;
        }
        self.entries.push(tag);
        self.entries.extend_from_slice(&entry.1);
        self.known.insert(entry, next);
        self.next = next + slots;
        next
    }

    pub fn utf8(&mut self, text: &str) -> u16 {
        let bytes = modified_utf8::encode(text);
        let length = u16::try_from(bytes.len()).unwrap_or(u16::MAX);
        let mut contents = length.to_be_bytes().to_vec();
        contents.extend(bytes.iter().take(length.into()));
        self.entry(1, contents, 1)
    }

    fn of_one(&mut self, tag: u8, text: &str) -> u16 {
        let index = self.utf8(text);
        self.entry(tag, index.to_be_bytes().to_vec(), 1)
    }

    /// A class by internal name, or an array type by descriptor.
    pub fn class(&mut self, name: &str) -> u16 {
        self.of_one(7, name)
    }

    pub fn string(&mut self, text: &str) -> u16 {
        self.of_one(8, text)
    }

    pub fn int(&mut self, value: i32) -> u16 {
        self.entry(3, value.to_be_bytes().to_vec(), 1)
    }

    pub fn float(&mut self, value: f32) -> u16 {
        self.entry(4, value.to_bits().to_be_bytes().to_vec(), 1)
    }

    pub fn long(&mut self, value: i64) -> u16 {
        self.entry(5, value.to_be_bytes().to_vec(), 2)
    }

    pub fn double(&mut self, value: f64) -> u16 {
        self.entry(6, value.to_bits().to_be_bytes().to_vec(), 2)
    }

    fn member(&mut self, tag: u8, owner: &str, name: &str, descriptor: &str) -> u16 {
        let owner = self.class(owner);
        let (name, descriptor) = (self.utf8(name), self.utf8(descriptor));
        let pair = [name.to_be_bytes(), descriptor.to_be_bytes()].concat();
        let pair = self.entry(12, pair, 1);
        self.entry(tag, [owner.to_be_bytes(), pair.to_be_bytes()].concat(), 1)
    }

    pub fn field(&mut self, owner: &str, name: &str, descriptor: &str) -> u16 {
        self.member(9, owner, name, descriptor)
    }

    pub fn method(&mut self, owner: &str, name: &str, descriptor: &str) -> u16 {
        self.member(10, owner, name, descriptor)
    }

    /// Adds a static method.
    pub fn add(&mut self, name: &str, descriptor: &str, code: &Code) {
        let throwable = self.class("java/lang/Throwable");
        let mut body = Vec::new();
        let u2 = |value: u16| value.to_be_bytes();
        body.extend(u2(code.max_stack));
        body.extend(u2(code.max_locals));
        body.extend(length(&code.bytes));
        body.extend(&code.bytes);
        body.extend(u2(u16::from(code.handler.is_some())));
        for row in code.handler.iter() {
            row.iter().for_each(|offset| body.extend(u2(*offset)));
            body.extend(u2(0)); // catches all
        }
        body.extend(u2(u16::from(!code.frames.is_empty())));
        if !code.frames.is_empty() {
            let mut table = u2(u16::try_from(code.frames.len()).unwrap_or(u16::MAX)).to_vec();
            let mut next = 0;
            for (offset, caught) in &code.frames {
                let delta = offset.saturating_sub(next);
                if *caught {
                    table.push(247); // same_locals_1_stack_item_frame_extended
                    table.extend(u2(delta));
                    table.push(7); // ITEM_Object
                    table.extend(u2(throwable));
                } else {
                    table.push(251); // same_frame_extended
                    table.extend(u2(delta));
                }
                next = offset.saturating_add(1);
            }
            body.extend(u2(self.utf8("StackMapTable")));
            body.extend(length(&table));
            body.extend(table);
        }
        let (name, descriptor) = (self.utf8(name), self.utf8(descriptor));
        let attribute = self.utf8("Code");
        for value in [ACC_STATIC, name, descriptor, 1, attribute] {
            self.methods.extend(u2(value));
        }
        self.methods.extend(length(&body));
        self.methods.extend(body);
        self.count += 1;
    }

    /// Returns the class file.
    pub fn finish(mut self, name: &str) -> Vec<u8> {
        let (this, object) = (self.class(name), self.class("java/lang/Object"));
        let mut bytes = vec![0xCA, 0xFE, 0xBA, 0xBE];
        bytes.extend(VERSION.to_be_bytes());
        bytes.extend(self.next.to_be_bytes());
        bytes.extend(&self.entries);
        let flags = ACC_FINAL | ACC_SUPER | ACC_SYNTHETIC;
        for value in [flags, this, object, 0, 0, self.count] {
            bytes.extend(value.to_be_bytes());
        }
        bytes.extend(&self.methods);
        bytes.extend(0_u16.to_be_bytes());
        bytes
    }
}

/// Appends instructions to the code of a method.
pub(crate) struct Assembler<'a> {
    pub class: &'a mut ClassWriter,
    pub bytes: Vec<u8>,
}

impl<'a> Assembler<'a> {
    pub fn new(class: &'a mut ClassWriter) -> Self {
        Self {
            class,
            bytes: Vec::new(),
        }
    }

    pub fn op(&mut self, opcode: u8) {
        self.bytes.push(opcode);
    }

    /// Appends an instruction with an index into the constant pool.
    pub fn with_index(&mut self, opcode: u8, index: u16) {
        self.bytes.push(opcode);
        self.bytes.extend(index.to_be_bytes());
    }

    /// Calls a static method.
    pub fn invoke(&mut self, owner: &str, name: &str, descriptor: &str) {
        let index = self.class.method(owner, name, descriptor);
        self.with_index(opcode::INVOKESTATIC, index);
    }

    /// Loads or stores a local variable. There are at most 256 slots.
    pub fn local(&mut self, opcode: u8, slot: u16) {
        self.bytes.push(opcode::WIDE);
        self.with_index(opcode, slot);
    }

    pub fn here(&self) -> u16 {
        u16::try_from(self.bytes.len()).unwrap_or(u16::MAX)
    }

    /// Appends a branch whose target is set later.
    pub fn branch(&mut self, opcode: u8) -> usize {
        self.bytes.push(opcode);
        self.bytes.extend([0, 0]);
        self.bytes.len() - 3
    }

    /// Sets the target of a branch to the next instruction.
    pub fn land(&mut self, branch: usize) {
        let distance = self.here() - u16::try_from(branch).unwrap_or(u16::MAX);
        let operand = self.bytes.iter_mut().skip(branch + 1);
        for (place, byte) in operand.zip(distance.to_be_bytes()) {
            *place = byte;
        }
    }
}

fn length(bytes: &[u8]) -> [u8; 4] {
    u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_be_bytes()
}
