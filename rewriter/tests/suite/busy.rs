//! Snippets that use many features and change nothing; shared with the corpus example and with the tests in real JVMs.

use jvms::opcode as op;
use rewriter::{
    Assemble, Bci, ClassFile, Code, InsertionPoint, Label, Location, Member, Method, PlanBuilder,
    Snippet,
};

/// Features of snippets, to combine.
pub const CONSTANTS: u32 = 1;
/// A loop over own local variables.
pub const LOOP: u32 = 2;
/// Branches on the parameters and `this`.
pub const ARGUMENTS: u32 = 4;
/// Creates objects, also from the values of two branches.
pub const OBJECTS: u32 = 8;
/// Moves the value on the stack through a local variable and past a label.
pub const STACK: u32 = 16;
/// An unreachable return or throw; the verifier cannot know that it is unreachable.
pub const LEAVE: u32 = 32;
pub const ALL: u32 = 63;

fn member(owner: &str, name: &str, descriptor: &str) -> Member {
    Member {
        owner: owner.into(),
        name: name.into(),
        descriptor: descriptor.into(),
        interface: false,
    }
}

/// The value on the stack of a snippet at a location.
enum Seen {
    Nothing,
    Value(u8),
    Exception,
}

fn seen(code: &Code<'_, '_>, place: Location) -> Seen {
    match place {
        Location::Unwind => Seen::Exception,
        Location::Before(Bci(bci)) => match code.bytes()[usize::from(bci)] {
            op::ATHROW => Seen::Exception,
            op::RETURN => Seen::Nothing,
            found if op::is_return(found) => Seen::Value(found - op::IRETURN),
            _ => Seen::Nothing,
        },
        _ => Seen::Nothing,
    }
}

struct Maker<'m> {
    snippet: Snippet,
    descriptor: &'m str,
    seen: Seen,
}

/// Returns the types of the parameters by their first letters.
fn parameters(descriptor: &str) -> Vec<u8> {
    let mut letters = Vec::new();
    let mut rest = descriptor.bytes().skip(1);
    while let Some(letter) = rest.next() {
        let mut last = letter;
        if letter == b')' {
            break;
        }
        while last == b'[' {
            last = rest.next().unwrap_or(b')');
        }
        if last == b'L' {
            rest.by_ref().find(|byte| *byte == b';');
        }
        letters.push(letter);
    }
    letters
}

impl Maker<'_> {
    fn op(&mut self, code: u8, operand: i32) {
        self.snippet.op(code, operand).unwrap();
    }

    fn jump(&mut self, code: u8, label: Label) {
        self.snippet.jump(code, label).unwrap();
    }

    fn place(&mut self, label: Label) {
        self.snippet.place(label).unwrap();
    }

    fn constants(&mut self) {
        let snippet = &mut self.snippet;
        snippet.push_int(1 << 20).unwrap();
        snippet.push_long(1 << 40).unwrap();
        snippet.push_float(0.1).unwrap();
        snippet.push_double(0.1).unwrap();
        for code in [op::POP2, op::F2I, op::I2L, op::LADD, op::POP2, op::POP] {
            self.op(code, 0);
        }
        self.snippet.push_string("a\0é€😀").unwrap();
        let length = member("java/lang/String", "length", "()I");
        self.snippet.invoke(op::INVOKEVIRTUAL, length).unwrap();
        self.op(op::POP, 0);
    }

    fn steps(&mut self) {
        let (head, end) = (self.snippet.new_label(), self.snippet.new_label());
        self.snippet.push_int(3).unwrap();
        self.op(op::ISTORE, 0);
        self.snippet.push_long(0).unwrap();
        self.op(op::LSTORE, 1);
        self.place(head);
        self.op(op::ILOAD, 0);
        self.jump(op::IFLE, end);
        self.op(op::LLOAD, 1);
        self.op(op::ILOAD, 0);
        self.op(op::I2L, 0);
        self.op(op::LADD, 0);
        self.op(op::LSTORE, 1);
        self.snippet.increment(0, -1).unwrap();
        self.jump(op::GOTO, head);
        self.place(end);
    }

    fn arguments(&mut self, has_this: bool) {
        if has_this {
            let end = self.snippet.new_label();
            self.snippet.load_this().unwrap();
            self.jump(op::IFNONNULL, end);
            self.place(end);
        }
        for (index, letter) in (0_u8..).zip(parameters(self.descriptor)) {
            let end = self.snippet.new_label();
            self.snippet.load_argument(index).unwrap();
            let code = match letter {
                b'J' => {
                    self.op(op::L2I, 0);
                    op::IFGE
                }
                b'F' => {
                    self.op(op::F2I, 0);
                    op::IFLT
                }
                b'D' => {
                    self.op(op::D2I, 0);
                    op::IFEQ
                }
                b'L' | b'[' => op::IFNULL,
                _ => op::IFNE,
            };
            self.jump(code, end);
            self.op(op::NOP, 0);
            self.place(end);
        }
    }

    fn objects(&mut self) {
        let (other, both) = (self.snippet.new_label(), self.snippet.new_label());
        let builder = "java/lang/StringBuilder";
        self.snippet.with_type(op::NEW, builder).unwrap();
        self.op(op::DUP, 0);
        self.snippet.push_int(1).unwrap();
        self.jump(op::IFEQ, other);
        self.snippet.push_int(2).unwrap();
        self.jump(op::GOTO, both);
        self.place(other);
        self.snippet.push_int(3).unwrap();
        self.place(both);
        let init = member(builder, "<init>", "(I)V");
        self.snippet.invoke(op::INVOKESPECIAL, init).unwrap();
        self.op(op::ASTORE, 4);
        let (empty, end) = (self.snippet.new_label(), self.snippet.new_label());
        self.op(op::ALOAD, 4);
        self.jump(op::IFNULL, empty);
        self.snippet.push_string("text").unwrap();
        self.jump(op::GOTO, end);
        self.place(empty);
        self.snippet.push_int(2).unwrap();
        self.op(op::NEWARRAY, 10);
        self.place(end);
        self.op(op::ASTORE, 4);
        self.snippet.push_null().unwrap();
        self.op(op::ASTORE, 5);
    }

    fn stack(&mut self) {
        let family = match self.seen {
            Seen::Nothing => return,
            Seen::Value(family) => family,
            Seen::Exception => 4,
        };
        let end = self.snippet.new_label();
        self.op(op::ISTORE + family, 6);
        self.op(op::ILOAD + family, 6);
        self.snippet.push_int(0).unwrap();
        self.jump(op::IFEQ, end);
        self.op(op::NOP, 0);
        self.place(end);
    }

    /// Leaves the method on a path that never runs.
    fn leave(&mut self, may_return: bool) {
        let end = self.snippet.new_label();
        self.snippet.push_int(1).unwrap();
        self.jump(op::IFNE, end);
        let result = self.descriptor.rsplit(')').next().unwrap();
        if may_return {
            let code = match result.as_bytes()[0] {
                b'V' => op::RETURN,
                b'J' => {
                    self.snippet.push_long(7).unwrap();
                    op::LRETURN
                }
                b'F' => {
                    self.snippet.push_float(7.0).unwrap();
                    op::FRETURN
                }
                b'D' => {
                    self.snippet.push_double(7.0).unwrap();
                    op::DRETURN
                }
                b'L' | b'[' => {
                    self.snippet.push_null().unwrap();
                    op::ARETURN
                }
                _ => {
                    self.snippet.push_int(7).unwrap();
                    op::IRETURN
                }
            };
            self.op(code, 0);
        } else {
            self.snippet.push_null().unwrap();
            let throwable = "java/lang/Throwable";
            self.snippet.with_type(op::CHECKCAST, throwable).unwrap();
            self.op(op::ATHROW, 0);
        }
        self.place(end);
    }
}

/// Returns a snippet with these features for a location of a method.
pub fn snippet(method: &Method<'_, '_>, place: Location, features: u32) -> Snippet {
    let code = method.code().unwrap().unwrap();
    let descriptor = method.descriptor().to_str_lossless();
    let has = |feature| features & feature != 0;
    let mut maker = Maker {
        snippet: Snippet::new(),
        descriptor: &descriptor,
        seen: seen(&code, place),
    };
    let before_super = method.name() == "<init>" && place == Location::Entry;
    if has(CONSTANTS) {
        maker.constants();
    }
    if has(LOOP) {
        maker.steps();
    }
    if has(ARGUMENTS) {
        maker.arguments(!method.is_static() && !before_super);
    }
    if has(OBJECTS) {
        maker.objects();
    }
    if has(STACK) {
        maker.stack();
    }
    if has(LEAVE) {
        maker.leave(method.name() != "<init>");
    }
    maker.snippet
}

/// Inserts the snippet with as many of these features as the location allows; returns false if it allows no feature.
pub fn insert(
    plan: &mut PlanBuilder<'_, '_>,
    class: &ClassFile<'_>,
    site: InsertionPoint,
    features: u32,
) -> bool {
    let method = class.method(site.method).unwrap();
    let choices = [
        features,
        features & !ARGUMENTS,
        features & !(ARGUMENTS | LOOP),
    ];
    let mut choices = choices.into_iter();
    choices.any(|features| {
        plan.insert(site, snippet(&method, site.location, features))
            .is_ok()
    })
}
