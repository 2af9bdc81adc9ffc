//! Random snippets, most of them valid; shared with the tests in real JVMs.

use jvms::opcode as op;
use rewriter::{Assemble, Label, Member, Snippet, SnippetError};

/// Numbers from a list of choices, then from a seed (xorshift).
pub struct Random {
    /// In reverse order.
    choices: Vec<u8>,
    state: u64,
}

impl Random {
    pub fn new(seed: u64) -> Self {
        let state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        let choices = Vec::new();
        Random { choices, state }
    }

    /// A fuzzer that changes one choice changes little else.
    pub fn chosen(choices: &[u8]) -> Self {
        let seed = choices.iter().fold(0, |seed: u64, choice| {
            seed.rotate_left(5) ^ u64::from(*choice)
        });
        Random {
            choices: choices.iter().rev().copied().collect(),
            ..Random::new(seed)
        }
    }

    fn next(&mut self) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state >> 33
    }

    pub fn below(&mut self, limit: usize) -> usize {
        let number = match self.choices.pop() {
            Some(low) if limit <= 1 << 8 => u64::from(low),
            Some(low) => u64::from(low) | self.next() << 8,
            None => self.next(),
        };
        number as usize % limit
    }
}

/// `I`, `J`, `F` and `D` as in descriptors, `S` a string, `A` an array of ints.
type Types = Vec<u8>;

struct Maker<'r> {
    random: &'r mut Random,
    snippet: Snippet,
    stack: Types,
    /// By pairs of slots.
    locals: [u8; 6],
    /// Labels with a jump but not yet placed, with the locals at the jump.
    open: Vec<(Label, [u8; 6])>,
    /// Labels placed with an empty stack.
    heads: Vec<Label>,
}

fn method(owner: &str, name: &str, descriptor: &str) -> Member {
    Member {
        owner: owner.into(),
        name: name.into(),
        descriptor: descriptor.into(),
        interface: false,
    }
}

fn family(of: u8) -> u8 {
    b"IJFD".iter().position(|letter| *letter == of).unwrap_or(4) as u8
}

impl Maker<'_> {
    fn op(&mut self, code: u8) -> Result<(), SnippetError> {
        self.snippet.op(code, 0)
    }

    fn push(&mut self) -> Result<(), SnippetError> {
        let letter = b"IIIJFDSAN"[self.random.below(9)];
        let small = self.random.below(300) as i32 - 100;
        match letter {
            b'I' => self
                .snippet
                .push_int(small * (1 << self.random.below(20)))?,
            b'J' => self
                .snippet
                .push_long(i64::from(small) << self.random.below(40))?,
            b'F' => self.snippet.push_float(small as f32)?,
            b'D' => self.snippet.push_double(f64::from(small))?,
            b'S' => self
                .snippet
                .push_string(&"é".repeat(self.random.below(5)))?,
            b'A' => {
                self.snippet.push_int(2)?;
                self.snippet.op(op::NEWARRAY, 10)?;
            }
            _ => self.snippet.push_null()?,
        }
        self.stack.push(letter);
        Ok(())
    }

    fn pop(&mut self) -> Result<(), SnippetError> {
        match self.stack.pop() {
            Some(b'J' | b'D') => self.op(op::POP2),
            Some(_) => self.op(op::POP),
            None => Ok(()),
        }
    }

    fn compute(&mut self) -> Result<(), SnippetError> {
        match *self.stack {
            [.., a, b] if a == b && b"IJFD".contains(&a) => {
                let first = [op::IADD, op::ISUB, op::IMUL][self.random.below(3)];
                self.stack.pop();
                self.op(first + family(a))
            }
            [.., b'A', b'I'] => {
                self.stack.pop();
                *self.stack.last_mut().unwrap() = b'I';
                self.op(op::IALOAD)
            }
            [.., b'S'] => {
                *self.stack.last_mut().unwrap() = b'I';
                let length = method("java/lang/String", "length", "()I");
                self.snippet.invoke(op::INVOKEVIRTUAL, length)
            }
            [.., b'I'] => {
                *self.stack.last_mut().unwrap() = b'S';
                let made = method("java/lang/String", "valueOf", "(I)Ljava/lang/String;");
                self.snippet.invoke(op::INVOKESTATIC, made)
            }
            [.., b'J'] => {
                *self.stack.last_mut().unwrap() = b'D';
                self.op(op::L2D)
            }
            [.., b'D'] | [] => Ok(()),
            [.., top] => {
                self.stack.push(top);
                self.op(op::DUP)
            }
        }
    }

    fn local(&mut self) -> Result<(), SnippetError> {
        let pair = self.random.below(6);
        let known = self.locals[pair];
        if known != 0 && self.random.below(2) == 0 {
            self.stack.push(known);
            return self.snippet.op(op::ILOAD + family(known), pair as i32 * 2);
        }
        if known == b'I' && self.random.below(2) == 0 {
            return self.snippet.increment(pair as u16 * 2, 200);
        }
        match self.stack.pop() {
            Some(top) => {
                self.locals[pair] = top;
                self.snippet.op(op::ISTORE + family(top), pair as i32 * 2)
            }
            None => Ok(()),
        }
    }

    /// Adds a branch forwards or backwards, with an otherwise empty stack.
    fn jump(&mut self) -> Result<(), SnippetError> {
        let code = match *self.stack {
            [b'I'] => [op::IFEQ, op::IFGT][self.random.below(2)],
            [b'S' | b'A' | b'N'] => [op::IFNULL, op::IFNONNULL][self.random.below(2)],
            _ => return Ok(()),
        };
        self.stack.pop();
        if !self.heads.is_empty() && self.random.below(4) == 0 {
            let head = self.heads[self.random.below(self.heads.len())];
            return self.snippet.jump(code, head);
        }
        let label = self.snippet.new_label();
        self.open.push((label, self.locals));
        self.snippet.jump(code, label)
    }

    fn place(&mut self) -> Result<(), SnippetError> {
        if !self.stack.is_empty() {
            return Ok(());
        }
        let label = match self.open.pop() {
            Some((label, then)) => {
                for (now, then) in self.locals.iter_mut().zip(then) {
                    if *now != then {
                        *now = 0;
                    }
                }
                label
            }
            None => {
                let label = self.snippet.new_label();
                self.heads.push(label);
                label
            }
        };
        self.snippet.place(label)
    }

    fn step(&mut self) -> Result<(), SnippetError> {
        match self.random.below(40) {
            0..=9 => self.push(),
            10..=14 => self.pop(),
            15..=22 => self.compute(),
            23..=29 => self.local(),
            30..=34 => self.jump(),
            35..=38 => self.place(),
            _ if self.random.below(6) == 0 => {
                let (code, operand) = (self.random.below(256) as u8, self.random.below(12));
                // Its types are not tracked: most of these are refused.
                drop(self.snippet.op(code, operand as i32));
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

/// Returns a snippet of about `length` operations.
pub fn snippet(seed: u64, length: usize) -> Snippet {
    made(&mut Random::new(seed), length)
}

/// Does the same with numbers from any source.
pub fn made(random: &mut Random, length: usize) -> Snippet {
    let mut maker = Maker {
        random,
        snippet: Snippet::new(),
        stack: Vec::new(),
        locals: [0; 6],
        open: Vec::new(),
        heads: Vec::new(),
    };
    for _ in 0..length {
        maker.step().expect("room in the snippet");
    }
    while !maker.stack.is_empty() {
        maker.pop().expect("room in the snippet");
    }
    while !maker.open.is_empty() {
        maker.place().expect("room in the snippet");
    }
    maker.snippet
}
