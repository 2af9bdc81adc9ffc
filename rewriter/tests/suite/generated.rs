//! Classes and plans from a sequence of choices: bodies of the fuzz targets `snippets`, `edits` and `merge`; shared
//! with `fuzz/`.
//!
//! The first choices determine the plan, and the following bytes are the class. If they are malformed, a fixture takes
//! their place, and the choices may first add members to it. So plans meet whole, generated and malformed classes.

use jvms::opcode;
use rewriter::{
    Annotation, Assemble, Bci, CallTarget, Change, CheckScratch, ClassEdit, ClassFile, Constant,
    EditPlan, ElementValue, InsertionPoint, Instruction, Location, Member, MethodIndex, NewField,
    NewMethod, PlanBuilder, PluginPlan, PoolIndex, PrefixedNative, ProbeStorage, Scratch, Snippet,
    Target, check_splice, schema, splice,
};

use crate::random::{self, Random};
use crate::{edited, exercise, fixtures};

/// Number of bytes that determine the plan.
const CHOICES: usize = 160;
/// Maximum number of edits of each sort in one plan.
const EDITS: usize = 12;

const STORAGES: [ProbeStorage<'static>; 4] = [
    ProbeStorage::SharedArray {
        owner: "java/lang/$Classhook",
        field: "hits",
    },
    ProbeStorage::SharedMethods {
        owner: "java/lang/$Classhook",
        field: "hits",
        method: "hit",
    },
    ProbeStorage::ClassArray {
        runtime: "classhook/runtime/Probes",
        key: jvms::modified_utf8::Utf8::new(b"A"),
    },
    ProbeStorage::ClassMethods {
        runtime: "classhook/runtime/Probes",
        key: jvms::modified_utf8::Utf8::new(b"A"),
    },
];

/// Names for members, types and attributes; some are invalid.
const NAMES: [&str; 12] = [
    "a",
    "area",
    "é😀",
    "<init>",
    "<clinit>",
    "",
    "x/y",
    "Shapes",
    "sample/Hooks",
    "java/lang/Object",
    "java/io/Serializable",
    "RuntimeVisibleAnnotations",
];
const FIELDS: [&str; 8] = [
    "I",
    "J",
    "D",
    "Z",
    "[[F",
    "Ljava/lang/String;",
    "LShapes;",
    "V",
];
const METHODS: [&str; 6] = [
    "()V",
    "(J[Ljava/lang/String;)J",
    "(LShapes;)LShapes;",
    "(DD)D",
    "()Ljava/lang/Object;",
    "I",
];

/// Return types of a method after its last snippet does not return.
const RESULTS: [&str; 6] = ["V", "J", "D", "I", "F", "L"];

struct Generator {
    random: Random,
}

impl Generator {
    fn of<'t>(&mut self, texts: &[&'t str]) -> &'t str {
        texts[self.random.below(texts.len())]
    }

    fn name(&mut self) -> String {
        self.of(&NAMES).to_owned()
    }

    fn snippet(&mut self) -> Snippet {
        let length = self.random.below(40);
        random::made(&mut self.random, length)
    }

    fn constant(&mut self) -> Constant {
        match self.random.below(5) {
            0 => Constant::Integer(self.random.below(1 << 17) as i32),
            1 => Constant::Long(-1),
            2 => Constant::Float(f32::from_bits(1)),
            3 => Constant::Double(f64::from_bits(1 << 60)),
            _ => Constant::Text(self.name()),
        }
    }

    fn method(&mut self, class: &ClassFile<'_>) -> MethodIndex {
        // Sometimes one more than the class has.
        MethodIndex(self.random.below(class.methods().len() + 1) as u16)
    }

    /// Returns a member that the class has or references, or an unknown one.
    fn member(&mut self, class: &ClassFile<'_>) -> Member {
        let index = self.random.below(usize::from(class.pool().count()));
        let named = class.pool().member_ref(rewriter::PoolIndex(index as u16));
        let own = || {
            let method = class.methods().nth(index % class.methods().len().max(1))?;
            Some((class.this_class(), method.name(), method.descriptor()))
        };
        let found = named
            .map(|member| (member.owner, member.name, member.descriptor))
            .or_else(own);
        let Some((owner, name, descriptor)) = found else {
            return Member {
                owner: self.name(),
                name: self.name(),
                descriptor: self.of(&METHODS).to_owned(),
                interface: false,
            };
        };
        Member {
            owner: owner.to_str_lossless().into_owned(),
            name: name.to_str_lossless().into_owned(),
            descriptor: descriptor.to_str_lossless().into_owned(),
            interface: self.random.below(8) == 0,
        }
    }

    fn value(&mut self, depth: usize) -> ElementValue {
        match self.random.below(if depth == 0 { 6 } else { 8 }) {
            0 => ElementValue::Boolean(true),
            1 => ElementValue::Char(u16::MAX),
            2 => ElementValue::Long(i64::MIN),
            3 => ElementValue::String(self.name()),
            4 => ElementValue::Class(self.of(&FIELDS).to_owned()),
            5 => ElementValue::Enum {
                descriptor: self.of(&FIELDS).to_owned(),
                constant: self.name(),
            },
            6 => ElementValue::Annotation(self.annotation(depth - 1)),
            _ => ElementValue::Array(vec![self.value(depth - 1); self.random.below(3)]),
        }
    }

    fn annotation(&mut self, depth: usize) -> Annotation {
        Annotation {
            descriptor: self
                .of(&["Lsample/Marked;", "LShapes$Mark;", "I"])
                .to_owned(),
            elements: vec![(self.name(), self.value(depth))],
        }
    }

    fn target(&mut self, class: &ClassFile<'_>) -> Target {
        match self.random.below(3) {
            0 => Target::Class,
            1 => Target::Method(self.method(class)),
            _ => {
                let field = class.fields().nth(self.random.below(4));
                let texts = field.map(|field| {
                    let text =
                        |text: jvms::modified_utf8::Utf8<'_>| text.to_str_lossless().into_owned();
                    (text(field.name()), text(field.descriptor()))
                });
                let (name, descriptor) = texts.unwrap_or_else(|| (self.name(), "I".to_owned()));
                Target::Field { name, descriptor }
            }
        }
    }

    fn body(&mut self) -> Snippet {
        match self.random.below(3) {
            0 => self.snippet(),
            _ => edited::counting(self.of(&RESULTS)),
        }
    }

    fn class_edit(&mut self, class: &ClassFile<'_>) -> ClassEdit {
        match self.random.below(10) {
            0 | 1 => ClassEdit::AddField(NewField {
                flags: [0x1019, 0x0002, 0x0009, 0x0050][self.random.below(4)],
                name: format!("f{}", self.name()),
                descriptor: self.of(&FIELDS).to_owned(),
                value: (self.random.below(2) == 0).then(|| self.constant()),
            }),
            2 | 3 => ClassEdit::AddMethod(NewMethod {
                flags: [0x1009, 0x0001, 0x0101, 0x0401][self.random.below(4)],
                name: format!("m{}", self.name()),
                descriptor: self.of(&METHODS).to_owned(),
                body: (self.random.below(4) != 0).then(|| self.body()),
            }),
            4 => ClassEdit::AddInterface(self.name()),
            5 => ClassEdit::AddAnnotation {
                target: self.target(class),
                visible: self.random.below(2) == 0,
                annotation: self.annotation(3),
            },
            6 => ClassEdit::AddAttribute {
                target: self.target(class),
                name: self.name(),
                bytes: vec![0; self.random.below(40)],
            },
            7 => ClassEdit::RenameMember {
                member: self.member(class),
                to: self.name(),
            },
            8 => ClassEdit::RenameType {
                from: match self.random.below(3) {
                    0 => class.this_class().to_str_lossless().into_owned(),
                    1 => self.member(class).owner,
                    _ => self.name(),
                },
                to: self.name(),
            },
            _ if self.random.below(2) == 0 => ClassEdit::PrefixNative(PrefixedNative {
                method: self.method(class),
                prefix: "wrapped$".to_owned(),
            }),
            _ => ClassEdit::ReplaceBody {
                method: self.method(class),
                body: self.body(),
            },
        }
    }

    /// Returns code that proceeds with an instruction, sometimes in one of its branches or twice.
    fn around(&mut self) -> Snippet {
        let mut code = self.snippet();
        if self.random.below(8) == 0 {
            drop(code.push_int(1));
            drop(code.store_operand(self.random.below(3) as u8));
        }
        drop(code.proceed());
        if self.random.below(8) == 0 {
            drop(code.load_operand(self.random.below(3) as u8));
        }
        code
    }

    fn change(&mut self, class: &ClassFile<'_>, found: &Instruction<'_>) -> Change {
        match self.random.below(9) {
            0..=2 => edited::stand_in(class, found).unwrap_or(Change::Remove(None)),
            3 => Change::Remove(None),
            4 => Change::Remove(Some(self.constant())),
            5 => Change::New {
                class: self.name(),
                cast: self.random.below(2) == 0,
            },
            6 => Change::Factory(self.member(class)),
            7 => Change::Around(self.around()),
            _ => match self.random.below(2) {
                0 => Change::Field {
                    opcode: [opcode::GETSTATIC, opcode::PUTFIELD, found.opcode]
                        [self.random.below(3)],
                    field: self.member(class),
                },
                _ => Change::Call(CallTarget {
                    opcode: opcode::INVOKEVIRTUAL + self.random.below(4) as u8,
                    method: self.member(class),
                }),
            },
        }
    }

    /// Adds an edit of the code of `method`; refusals are expected.
    fn edit(&mut self, class: &ClassFile<'_>, plan: &mut PlanBuilder<'_, '_>) {
        let index = self.method(class);
        let Some(method) = class.method(index) else {
            return;
        };
        let Ok(Some(code)) = method.code() else {
            return;
        };
        let instructions: Vec<_> = code.instructions().map_while(Result::ok).collect();
        if instructions.is_empty() {
            return;
        }
        let found = instructions[self.random.below(instructions.len())];
        let mut places = exercise::places(&code);
        places.push(Location::Unwind);
        let site = InsertionPoint {
            method: index,
            location: places[self.random.below(places.len())],
        };
        drop(match self.random.below(10) {
            0 | 1 => plan.hit(site, self.random.below(32_000) as u32),
            2..=5 => plan.insert(site, self.snippet()),
            6 => plan.wrap(index, found.bci, self.snippet(), self.snippet()),
            _ => plan.change(index, found.bci, self.change(class, &found)),
        });
    }

    /// Does the same without checks.
    fn unchecked(&mut self, class: &ClassFile<'_>, plan: &mut EditPlan) {
        let method = MethodIndex(self.random.below(class.methods().len().max(1)) as u16);
        let bci = Bci(self.random.below(64) as u16);
        let place = match self.random.below(5) {
            0 => Location::Entry,
            1 => Location::Before(bci),
            2 => Location::FallThrough(bci),
            3 => Location::Unwind,
            _ => Location::Jump {
                source: bci,
                target: Bci(self.random.below(64) as u16),
            },
        };
        drop(match self.random.below(3) {
            0 => plan.change(method, bci, Change::Remove(None)),
            _ => plan.insert(
                InsertionPoint {
                    method,
                    location: place,
                },
                self.snippet(),
            ),
        });
    }

    fn plan(&mut self, class: &ClassFile<'_>, structure: bool) -> EditPlan {
        let mut plan = PlanBuilder::new(class);
        let retransforming = structure && self.random.below(6) == 0;
        if retransforming {
            plan = plan.retransforming();
        }
        for _ in 0..self.random.below(EDITS) {
            self.edit(class, &mut plan);
        }
        if structure {
            for _ in 0..self.random.below(EDITS) {
                drop(plan.edit_class(self.class_edit(class)));
            }
        }
        let mut plan = plan.finish();
        if self.random.below(6) == 0 {
            self.unchecked(class, &mut plan);
        }
        if retransforming {
            stays_loadable(class, &plan);
        }
        plan
    }
}

/// Checks whether a JVM could load the class: no member without name or type, and no duplicates.
fn is_loadable(class: &ClassFile<'_>) -> bool {
    let fields = class
        .fields()
        .map(|field| (field.name(), field.descriptor()));
    let methods = class
        .methods()
        .map(|method| (method.name(), method.descriptor()));
    let named = fields
        .chain(methods)
        .all(|(name, descriptor)| name != "" && descriptor != "");
    named && has_bounded_indices(class) && schema::compare(class, class).is_empty()
}

/// Checks that the classes have names, and that the other indices are within the pool, in attributes that may not
/// change. Otherwise an appended entry could give them a meaning.
fn has_bounded_indices(class: &ClassFile<'_>) -> bool {
    let pool = class.pool();
    class.attributes().all(|found| {
        let items = |from| {
            found
                .bytes
                .get(from..)
                .unwrap_or_default()
                .as_chunks::<2>()
                .0
        };
        let indices = |from| items(from).iter().map(|item| u16::from_be_bytes(*item));
        let named = |index| pool.class_name(PoolIndex(index)).is_some();
        match found.name.as_bytes() {
            b"NestHost" => indices(0).all(named),
            b"NestMembers" | b"PermittedSubclasses" => indices(2).all(named),
            b"Record" => indices(0).all(|index| index < pool.count()),
            _ => true,
        }
    })
}

/// Checks that a plan for a loaded class adds no members.
fn stays_loadable(class: &ClassFile<'_>, plan: &EditPlan) {
    if !is_loadable(class) {
        return;
    }
    let (mut scratch, mut out) = (Scratch::default(), Vec::new());
    if splice(class, plan, &STORAGES[0], &mut scratch, &mut out).is_ok() {
        let new = ClassFile::read(&out).expect("what was written can be read");
        assert_eq!(schema::compare(class, &new), []);
    }
}

/// Splits the input; returns the class's bytes, and the choices for the plan.
fn input(bytes: &[u8], sort: u8) -> (Vec<u8>, Generator) {
    let (choices, class) = bytes.split_at(bytes.len().min(CHOICES));
    let mut generator = Generator {
        random: Random::chosen(choices),
    };
    if ClassFile::read(class).is_ok() {
        return (class.to_vec(), generator);
    }
    let (_, fixture) = fixtures::ALL[generator.random.below(fixtures::ALL.len())];
    if sort & generator.random.below(2) as u8 == 0 {
        return (fixture.to_vec(), generator);
    }
    let class = ClassFile::read(fixture).expect("a sound fixture");
    let mut plan = PlanBuilder::new(&class);
    for _ in 0..EDITS {
        drop(plan.edit_class(generator.class_edit(&class)));
    }
    let (mut scratch, mut made) = (Scratch::default(), Vec::new());
    drop(splice(
        &class,
        &plan.finish(),
        &STORAGES[0],
        &mut scratch,
        &mut made,
    ));
    (made, generator)
}

/// Applies the plan. The output must pass the check, be readable, have a size explained by input and plan, and be the
/// same again.
fn apply(class: &ClassFile<'_>, plan: &EditPlan) -> u32 {
    let mut text = String::new();
    class_text::edits(class, "a plugin", plan, &mut text).expect("text can be written");
    assert!(text.len() <= class_text::MAX_OUTPUT + 1_000);
    let written = plan.to_string().len();
    let (mut scratch, mut out, mut again) = (Scratch::default(), Vec::new(), Vec::new());
    let mut applied = 0;
    for storage in &STORAGES {
        let Ok(report) = splice(class, plan, storage, &mut scratch, &mut out) else {
            continue;
        };
        if let Err(error) = check_splice(class, plan, storage, &out, &mut CheckScratch::default()) {
            panic!("{storage:?}: {error}\n{plan}");
        }
        exercise::read(&out);
        ClassFile::read(&out).expect("what was written can be read");
        let most = 16 * (class.bytes().len() + written) + (1 << 20);
        assert!(out.len() <= most, "{} bytes of at most {most}", out.len());
        let second = splice(class, plan, storage, &mut Scratch::default(), &mut again);
        assert_eq!(second.as_ref(), Ok(&report));
        assert_eq!(out, again, "the same plan gave something else");
        applied = report.edits + report.class_edits;
    }
    applied
}

/// Inserts random code at random locations; returns the number of applied edits.
pub fn snippets(bytes: &[u8]) -> u32 {
    let (class, mut generator) = input(bytes, 1);
    let class = ClassFile::read(&class).expect("a class that was read before");
    let plan = generator.plan(&class, false);
    apply(&class, &plan)
}

/// Applies random edits of every kind; returns the number of applied edits.
pub fn edits(bytes: &[u8]) -> u32 {
    let (class, mut generator) = input(bytes, 1);
    let class = ClassFile::read(&class).expect("a class that was read before");
    let plan = generator.plan(&class, true);
    apply(&class, &plan)
}

/// Merges two random plans; returns the number of applied edits.
pub fn merge(bytes: &[u8]) -> u32 {
    let (class, mut generator) = input(bytes, 0);
    let class = ClassFile::read(&class).expect("a class that was read before");
    let plans = [generator.plan(&class, true), generator.plan(&class, true)];
    let part = |by, plan, hits| PluginPlan { by, plan, hits };
    if let Ok(alone) = EditPlan::merge(&class, &[part("a", &plans[0], 0)]) {
        let alone = alone.plan;
        let (mut scratch, mut out, mut merged) = (Scratch::default(), Vec::new(), Vec::new());
        drop(splice(
            &class,
            &plans[0],
            &STORAGES[0],
            &mut scratch,
            &mut out,
        ));
        drop(splice(
            &class,
            &alone,
            &STORAGES[0],
            &mut scratch,
            &mut merged,
        ));
        assert_eq!(out, merged, "one plan merged is that plan");
    }
    let parts = [part("a", &plans[0], 0), part("b", &plans[1], 100)];
    match EditPlan::merge(&class, &parts) {
        Ok(merged) => apply(&class, &merged.plan),
        Err(conflict) => conflict.to_string().len() as u32 & 1,
    }
}
