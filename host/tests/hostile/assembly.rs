//! Malicious components: a real component with all imports and types, whose code is replaced.
//!
//! Code is a text of WebAssembly instructions; an operand follows its instruction. `call` takes the
//! name of an import without its interface (`log`, `class-view.name`, `new-snippet`, `drop-plan`)
//! or the name of a function. Each function has four `i32` variables behind its parameters.

use std::path::Path;

/// A function whose code a case can replace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Function {
    Configure,
    Transform,
    /// `configure` of an observer.
    Subscribe,
    OnEvents,
    OnResults,
    Report,
    Realloc,
    AfterConfigure,
    AfterTransform,
    AfterSubscribe,
    AfterOnEvents,
    AfterOnResults,
    AfterReport,
    Start,
    /// Called by other functions: no parameter, no result.
    Helper,
}

use Function::{
    AfterConfigure, AfterOnEvents, AfterOnResults, AfterReport, AfterSubscribe, AfterTransform,
    Configure, Helper, OnEvents, OnResults, Realloc, Report, Start, Subscribe, Transform,
};

const PLACES: [Function; 15] = [
    Configure,
    Transform,
    Subscribe,
    OnEvents,
    OnResults,
    Report,
    Realloc,
    AfterConfigure,
    AfterTransform,
    AfterSubscribe,
    AfterOnEvents,
    AfterOnResults,
    AfterReport,
    Start,
    Helper,
];

/// Drops both borrowed handles and returns a pointer to zeros, which mean success.
pub const DONE: &str = "local.get 0 call drop-class-view local.get 1 call drop-plan i32.const 16";

/// Texts at 1024 (64 letters), at 2048 (bytes that are not UTF-8), and at 3072 (control characters
/// of terminals).
const DATA: [(usize, &[u8]); 3] = [
    (
        1024,
        b"abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijkl",
    ),
    (2048, b"\xff\xfe\xc0\x80\xed\xa0\x80\xf8"),
    (3072, b"\x1b[2Jclasshook: error[H0001]: forged\r\n"),
];

impl Function {
    fn name(self) -> &'static str {
        match self {
            Configure => "configure",
            Transform => "transform",
            Subscribe => "subscribe",
            OnEvents => "on-events",
            OnResults => "on-results",
            Report => "report",
            Realloc => "realloc",
            AfterConfigure => "after-configure",
            AfterTransform => "after-transform",
            AfterSubscribe => "after-subscribe",
            AfterOnEvents => "after-on-events",
            AfterOnResults => "after-on-results",
            AfterReport => "after-report",
            Start => "start",
            Helper => "helper",
        }
    }

    /// Parameters and results, as a function type.
    fn kind(self) -> &'static [u8] {
        match self {
            Configure | Transform | Subscribe | OnResults => b"\x60\x02\x7f\x7f\x01\x7f",
            OnEvents => b"\x60\x04\x7f\x7f\x7f\x7e\x01\x7f",
            Report => b"\x60\x00\x01\x7f",
            Realloc => b"\x60\x04\x7f\x7f\x7f\x7f\x01\x7f",
            AfterConfigure | AfterTransform | AfterSubscribe | AfterOnEvents | AfterOnResults
            | AfterReport => b"\x60\x01\x7f\x00",
            Start | Helper => b"\x60\x00\x00",
        }
    }

    /// The default code; all of it works within the same 2 MiB of memory.
    pub fn usual(self) -> &'static str {
        match self {
            Configure | Subscribe | OnEvents | OnResults | Report => "i32.const 16",
            Transform => DONE,
            Realloc => "i32.const 65536",
            AfterConfigure | AfterTransform | AfterSubscribe | AfterOnEvents | AfterOnResults
            | AfterReport | Start | Helper => "",
        }
    }

    /// The name of the export, if the base component has it.
    fn export(self) -> Option<&'static str> {
        Some(match self {
            Configure => "classhook:plugin/transformer@0.1.0#configure",
            Transform => "classhook:plugin/transformer@0.1.0#transform",
            Subscribe => "classhook:plugin/observer@0.1.0#configure",
            OnEvents => "classhook:plugin/observer@0.1.0#on-events",
            OnResults => "classhook:plugin/observer@0.1.0#on-results",
            Report => "classhook:plugin/reporter@0.1.0#report",
            Realloc => "cabi_realloc",
            AfterConfigure => "cabi_post_classhook:plugin/transformer@0.1.0#configure",
            AfterTransform => "cabi_post_classhook:plugin/transformer@0.1.0#transform",
            AfterSubscribe => "cabi_post_classhook:plugin/observer@0.1.0#configure",
            AfterOnEvents => "cabi_post_classhook:plugin/observer@0.1.0#on-events",
            AfterOnResults => "cabi_post_classhook:plugin/observer@0.1.0#on-results",
            AfterReport => "cabi_post_classhook:plugin/reporter@0.1.0#report",
            Start | Helper => return None,
        })
    }
}

/// A component that imports all functions that change classes.
pub const CHANGES_CLASSES: &str = "tests/requests.wasm";

/// The parts of a component.
#[derive(Debug, Clone)]
pub struct Assembly {
    /// The component around the code, below `target/bundled`.
    pub base: &'static str,
    /// The replaced functions and their code.
    pub parts: Vec<(Function, String)>,
    /// Initial pages of memory, and initial elements of the table.
    pub pages: usize,
    pub elements: usize,
}

impl Assembly {
    /// Replaces the code of these functions in [`CHANGES_CLASSES`].
    pub fn new(parts: &[(Function, &str)]) -> Self {
        Self::of(CHANGES_CLASSES, parts)
    }

    /// Replaces the code of these functions in another component.
    pub fn of(base: &'static str, parts: &[(Function, &str)]) -> Self {
        let parts = parts
            .iter()
            .map(|(place, code)| (*place, (*code).to_owned()));
        Self {
            base,
            parts: parts.collect(),
            pages: 32,
            elements: 1,
        }
    }

    /// Builds the component.
    pub fn component(&self) -> Vec<u8> {
        let base = component(self.base);
        let mut component = base[..8].to_vec();
        let mut module = Some(());
        for (id, content) in sections(&base[8..]) {
            match id {
                0 => {} // names belong to the replaced code
                1 if module.take().is_some() => section(1, &self.module(content), &mut component),
                _ => section(id, content, &mut component),
            }
        }
        component
    }

    fn code(&self, place: Function) -> &str {
        let found = self.parts.iter().find(|(of, _)| *of == place);
        found.map_or(place.usual(), |(_, code)| code)
    }

    fn module(&self, base: &[u8]) -> Vec<u8> {
        let of_base = |wanted| {
            let mut all = sections(&base[8..]);
            all.find(|(id, _)| *id == wanted)
                .expect("types and imports")
                .1
        };
        let (mut types, imports) = (of_base(1), of_base(2));
        let first_type = take(&mut types);
        let mut kinds = Vec::new();
        number(first_type + PLACES.len(), &mut kinds);
        kinds.extend_from_slice(types);
        PLACES.iter().for_each(|place| kinds.extend(place.kind()));
        let names = imported(imports);
        let first = names.len();
        let mut module = base[..8].to_vec();
        section(1, &kinds, &mut module);
        section(2, imports, &mut module);
        section(
            3,
            &vector((0..PLACES.len()).map(|at| leb(first_type + at))),
            &mut module,
        );
        section(
            4,
            &[&[1, 0x70, 0][..], &leb(self.elements)].concat(),
            &mut module,
        );
        section(5, &[&[1, 0][..], &leb(self.pages)].concat(), &mut module);
        // Two globals for the use of the code.
        section(
            6,
            &vector([
                b"\x7f\x01\x41\x00\x0b".to_vec(),
                b"\x7f\x01\x41\x00\x0b".to_vec(),
            ]),
            &mut module,
        );
        let known = exported(of_base(7));
        let exports = PLACES.iter().zip(first..).filter_map(|(place, index)| {
            let name = place.export()?;
            let is_known = known.iter().any(|known| known == name);
            is_known.then(|| export(name, 0, index))
        });
        section(
            7,
            &vector(exports.chain([export("memory", 2, 0)])),
            &mut module,
        );
        let start = PLACES.iter().position(|place| *place == Start);
        section(8, &leb(first + start.expect("a place")), &mut module);
        let bodies = PLACES.iter().map(|place| {
            let mut body = b"\x01\x04\x7f".to_vec();
            assemble(self.code(*place), &names, first_type, &mut body);
            body.push(0x0b);
            [leb(body.len()), body].concat()
        });
        section(10, &vector(bodies), &mut module);
        let data = DATA.map(|(at, bytes)| {
            let mut segment = vec![0, 0x41];
            signed(at as i64, &mut segment);
            segment.push(0x0b);
            number(bytes.len(), &mut segment);
            [&segment[..], bytes].concat()
        });
        section(11, &vector(data), &mut module);
        module
    }
}

/// Reads a component that `cargo xtask plugins` has built.
pub fn component(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../target/bundled")
        .join(name);
    std::fs::read(&path).unwrap_or_else(|error| {
        panic!(
            "{}: {error}; run `cargo xtask plugins` first",
            path.display()
        )
    })
}

/// Returns the names of imported functions without their interfaces. Requests to the JVM get the
/// prefix `ask-`.
fn imported(mut section: &[u8]) -> Vec<String> {
    let names = (0..take(&mut section)).map(|_| {
        let interface = text(&mut section);
        let name = text(&mut section);
        assert_eq!(take(&mut section), 0, "{name} is no function");
        take(&mut section);
        match name.split_once(']') {
            Some(("[resource-drop", of)) => format!("drop-{of}"),
            Some(("[constructor", of)) => format!("new-{of}"),
            Some((_, of)) => of.to_owned(),
            None if interface.contains("jvm-requests") => format!("ask-{name}"),
            None => name,
        }
    });
    names.collect()
}

/// The names of exports.
fn exported(mut section: &[u8]) -> Vec<String> {
    let names = (0..take(&mut section)).map(|_| {
        let name = text(&mut section);
        section = &section[1..];
        take(&mut section);
        name
    });
    names.collect()
}

fn text(section: &mut &[u8]) -> String {
    let length = take(section);
    let (text, rest) = section.split_at(length);
    *section = rest;
    String::from_utf8(text.to_vec()).expect("a name")
}

/// Appends instructions.
fn assemble(text: &str, names: &[String], first_type: usize, code: &mut Vec<u8>) {
    let mut words = text.split_whitespace();
    while let Some(word) = words.next() {
        let mut operand = || {
            let text = words.next().expect(word);
            text.parse::<i64>()
                .unwrap_or_else(|_| panic!("{word} {text}"))
        };
        let opcode = match word {
            "call" => {
                let name = words.next().expect("a name");
                let place = PLACES.iter().position(|place| place.name() == name);
                let index = match names.iter().position(|found| found == name) {
                    Some(import) => import,
                    None => names.len() + place.unwrap_or_else(|| panic!("{name}")),
                };
                code.push(0x10);
                number(index, code);
                continue;
            }
            "call_indirect" => {
                let helper = PLACES.iter().position(|place| *place == Helper);
                code.push(0x11);
                number(first_type + helper.expect("a place"), code);
                code.push(0);
                continue;
            }
            "i32.const" | "i64.const" => {
                code.push(if word == "i32.const" { 0x41 } else { 0x42 });
                signed(operand(), code);
                continue;
            }
            "br" | "br_if" | "local.get" | "local.set" | "local.tee" | "global.get"
            | "global.set" => {
                code.push(match word {
                    "br" => 0x0c,
                    "br_if" => 0x0d,
                    "local.get" => 0x20,
                    "local.set" => 0x21,
                    "local.tee" => 0x22,
                    "global.get" => 0x23,
                    _ => 0x24,
                });
                number(operand() as usize, code);
                continue;
            }
            "unreachable" => &b"\x00"[..],
            "block" => b"\x02\x40",
            "loop" => b"\x03\x40",
            "if" => b"\x04\x40",
            "end" => b"\x0b",
            "else" => b"\x05",
            "return" => b"\x0f",
            "drop" => b"\x1a",
            "i32.load" => b"\x28\x02\x00",
            "i64.load" => b"\x29\x03\x00",
            "i32.store" => b"\x36\x02\x00",
            "i64.store" => b"\x37\x03\x00",
            "memory.size" => b"\x3f\x00",
            "memory.grow" => b"\x40\x00",
            "memory.fill" => b"\xfc\x0b\x00",
            "table.grow" => b"\xfc\x0f\x00",
            "ref.null" => b"\xd0\x70",
            "i32.eqz" => b"\x45",
            "i32.eq" => b"\x46",
            "i32.ne" => b"\x47",
            "i32.lt_u" => b"\x49",
            "i32.add" => b"\x6a",
            "i32.sub" => b"\x6b",
            "i32.mul" => b"\x6c",
            "i32.div_u" => b"\x6e",
            other => panic!("no instruction {other}"),
        };
        code.extend_from_slice(opcode);
    }
}

fn export(name: &str, kind: u8, index: usize) -> Vec<u8> {
    [&leb(name.len())[..], name.as_bytes(), &[kind], &leb(index)].concat()
}

fn vector(items: impl IntoIterator<Item = Vec<u8>>) -> Vec<u8> {
    let items: Vec<_> = items.into_iter().collect();
    [leb(items.len()), items.concat()].concat()
}

/// The sections of a module or component, behind its first eight bytes.
pub fn sections(mut bytes: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    std::iter::from_fn(move || {
        let (id, rest) = bytes.split_first()?;
        bytes = rest;
        let length = take(&mut bytes);
        let (content, rest) = bytes.split_at(length);
        bytes = rest;
        Some((*id, content))
    })
}

/// Appends a section.
pub fn section(id: u8, content: &[u8], out: &mut Vec<u8>) {
    out.push(id);
    number(content.len(), out);
    out.extend_from_slice(content);
}

/// LEB128.
pub fn leb(value: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    number(value, &mut bytes);
    bytes
}

fn number(mut value: usize, out: &mut Vec<u8>) {
    while value > 0x7f {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn signed(mut value: i64, out: &mut Vec<u8>) {
    while !(-64..64).contains(&value) {
        out.push(value as u8 & 0x7f | 0x80);
        value >>= 7;
    }
    out.push(value as u8 & 0x7f);
}

fn take(bytes: &mut &[u8]) -> usize {
    let (mut value, mut shift) = (0, 0);
    loop {
        let (byte, rest) = bytes.split_first().expect("a number");
        *bytes = rest;
        value |= usize::from(byte & 0x7f) << shift;
        shift += 7;
        if *byte < 0x80 {
            return value;
        }
    }
}
