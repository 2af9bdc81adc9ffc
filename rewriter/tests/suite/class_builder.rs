//! Classes built member by member, for tests of structure.

/// A class under construction. Texts and classes get pool entries on first use.
#[derive(Clone, Default)]
pub struct ClassBuilder {
    pool: Vec<u8>,
    count: u16,
    pub flags: u16,
    pub name: &'static str,
    pub parent: &'static str,
    pub interfaces: Vec<&'static str>,
    /// Flags, name, descriptor.
    pub fields: Vec<(u16, &'static str, &'static str)>,
    /// Flags, name, descriptor. The code is one `return`, unless the method is abstract or native.
    pub methods: Vec<(u16, &'static str, &'static str)>,
    /// Name and contents of an attribute.
    pub attributes: Vec<(&'static str, Listed)>,
}

/// The contents of an attribute.
#[derive(Clone)]
pub enum Listed {
    /// One class.
    One(&'static str),
    /// A list of classes with its count.
    Classes(Vec<&'static str>),
    /// Record components: name, descriptor, signature.
    Components(Vec<(&'static str, &'static str, Option<&'static str>)>),
}

pub fn class() -> ClassBuilder {
    ClassBuilder {
        count: 1,
        flags: 0x21,
        name: "sample/A",
        parent: "java/lang/Object",
        interfaces: vec!["sample/I", "sample/J"],
        fields: vec![(1, "first", "I"), (2, "second", "J")],
        methods: vec![(1, "run", "()V"), (0x101, "far", "()V")],
        attributes: vec![
            ("NestHost", Listed::One("sample/Host")),
            ("NestMembers", Listed::Classes(vec!["sample/M", "sample/N"])),
            (
                "Record",
                Listed::Components(vec![("first", "I", None), ("list", "LL;", Some("TT;"))]),
            ),
            ("PermittedSubclasses", Listed::Classes(vec!["sample/P"])),
        ],
        ..ClassBuilder::default()
    }
}

impl ClassBuilder {
    fn utf8(&mut self, text: &str) -> u16 {
        self.pool.push(1);
        self.pool.extend((text.len() as u16).to_be_bytes());
        self.pool.extend(text.as_bytes());
        self.count += 1;
        self.count - 1
    }

    fn class(&mut self, name: &str) -> u16 {
        let text = self.utf8(name);
        self.pool.push(7);
        self.pool.extend(text.to_be_bytes());
        self.count += 1;
        self.count - 1
    }

    fn push(&mut self, out: &mut Vec<u8>, items: &[u16]) {
        items.iter().for_each(|item| out.extend(item.to_be_bytes()));
    }

    fn listed(&mut self, listed: &Listed) -> Vec<u8> {
        let mut out = Vec::new();
        match listed {
            Listed::One(name) => {
                let class = self.class(name);
                self.push(&mut out, &[class]);
            }
            Listed::Classes(names) => {
                self.push(&mut out, &[names.len() as u16]);
                for name in names {
                    let class = self.class(name);
                    self.push(&mut out, &[class]);
                }
            }
            Listed::Components(components) => {
                self.push(&mut out, &[components.len() as u16]);
                for (name, descriptor, signature) in components {
                    let (name, descriptor) = (self.utf8(name), self.utf8(descriptor));
                    self.push(
                        &mut out,
                        &[name, descriptor, u16::from(signature.is_some())],
                    );
                    if let Some(signature) = signature {
                        let (attribute, text) = (self.utf8("Signature"), self.utf8(signature));
                        self.push(&mut out, &[attribute, 0, 2, text]);
                    }
                }
            }
        }
        out
    }

    /// Returns the class file.
    pub fn bytes(mut self) -> Vec<u8> {
        let mut body = Vec::new();
        let (this, parent) = (self.class(self.name), self.class(self.parent));
        let (flags, interfaces) = (self.flags, self.interfaces.clone());
        self.push(&mut body, &[flags, this, parent, interfaces.len() as u16]);
        for name in interfaces {
            let class = self.class(name);
            self.push(&mut body, &[class]);
        }
        let fields = self.fields.clone();
        self.push(&mut body, &[fields.len() as u16]);
        for (flags, name, descriptor) in fields {
            let (name, descriptor) = (self.utf8(name), self.utf8(descriptor));
            self.push(&mut body, &[flags, name, descriptor, 0]);
        }
        let methods = self.methods.clone();
        self.push(&mut body, &[methods.len() as u16]);
        for (flags, name, descriptor) in methods {
            let (name, descriptor) = (self.utf8(name), self.utf8(descriptor));
            let has_code = flags & 0x500 == 0;
            self.push(&mut body, &[flags, name, descriptor, u16::from(has_code)]);
            if has_code {
                let code = self.utf8("Code");
                self.push(&mut body, &[code, 0, 13, 0, 4, 0, 1]);
                body.push(177);
                self.push(&mut body, &[0, 0]);
            }
        }
        let attributes = self.attributes.clone();
        self.push(&mut body, &[attributes.len() as u16]);
        for (name, listed) in &attributes {
            let (name, contents) = (self.utf8(name), self.listed(listed));
            self.push(&mut body, &[name]);
            body.extend((contents.len() as u32).to_be_bytes());
            body.extend(contents);
        }
        let mut bytes = vec![0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 61];
        bytes.extend(self.count.to_be_bytes());
        bytes.extend(&self.pool);
        bytes.extend(body);
        bytes
    }
}
