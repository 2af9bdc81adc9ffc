//! Java programs of random shape for `tests/java/hit_calls/Oracle.java`: branches, loops, switches, exceptions,
//! monitors, and methods that visit others. Each method has a class of its own, so a hit of the class is a hit of the
//! method.

use std::fmt::Write;

/// Number of methods, as `Oracle` expects.
pub const METHODS: usize = 64;
/// Number of methods that the threads visit themselves. The others are visited by methods of lower numbers.
const ROOTS: usize = 16;

/// A pseudo-random sequence that follows from a seed.
pub struct Numbers(pub u64);

impl Numbers {
    /// Returns the next number, below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// Returns the next number of 64 bits.
    pub fn next(&mut self) -> u64 {
        // SplitMix64, by Steele, Lea and Flood (2014).
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }
}

/// Generates the source of `Roots` and of all methods.
pub fn source(seed: u64) -> String {
    let mut writer = Writer {
        numbers: Numbers(seed),
        text: String::new(),
    };
    writer
        .text
        .push_str("class Roots {\n    static int visit(int t, int x) {\n");
    for root in 0..ROOTS {
        let every = 1 + writer.numbers.below(3);
        writer.visit(root, &format!("(x >>> {root}) % {every} == 0"));
    }
    writer.text.push_str("        return x;\n    }\n}\n");
    for method in 0..METHODS {
        let _ = write!(
            writer.text,
            "class M{method} {{\n    static int run(int t, int x) {{\n"
        );
        let statements = 2 + writer.numbers.below(4);
        (0..statements).for_each(|_| writer.statement(method, 0));
        writer.text.push_str("        return x;\n    }\n}\n");
    }
    writer.text
}

struct Writer {
    numbers: Numbers,
    text: String,
}

impl Writer {
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.text, "        {text}");
    }

    /// Adds a visit of a method under the condition `wanted`, with counts before and after.
    fn visit(&mut self, method: usize, wanted: &str) {
        self.line(&format!("if (Oracle.begins(t, {method}, {wanted})) {{"));
        self.line(&format!("x += M{method}.run(t, x);"));
        self.line(&format!("Oracle.ends(t, {method});"));
        self.line("}");
    }

    /// Adds a visit of a later method, which excludes recursion. It is rare enough that a round ends.
    fn visit_another(&mut self, method: usize) {
        let first = (method + 1).max(ROOTS);
        if first < METHODS {
            let other = first + self.numbers.below((METHODS - first) as u64) as usize;
            let shift = self.numbers.below(20);
            self.visit(other, &format!("(x >>> {shift} & 7) == 0"));
        }
    }

    fn block(&mut self, method: usize, depth: u32) {
        let statements = 1 + self.numbers.below(2);
        (0..statements).for_each(|_| self.statement(method, depth + 1));
    }

    /// Adds a statement that reads and writes `x`.
    fn statement(&mut self, method: usize, depth: u32) {
        let kind = if depth < 3 { self.numbers.below(8) } else { 0 };
        let (shift, small) = (self.numbers.below(24), self.numbers.below(6));
        match kind {
            1 => {
                self.line(&format!("if ((x >>> {shift} & 7) > {small}) {{"));
                self.block(method, depth);
                self.line("} else {");
                self.block(method, depth);
                self.line("}");
            }
            2 => {
                let loops = format!("for (int i = 0; i < (x >>> {shift} & 3); i++) {{");
                // One variable for each depth.
                self.line(
                    &loops
                        .replace(" i", &format!(" i{depth}"))
                        .replace("i++", &format!("i{depth}++")),
                );
                self.block(method, depth);
                self.line("}");
            }
            3 => {
                self.line(&format!("switch (x >>> {shift} & 3) {{"));
                for case in 0..3 {
                    self.line(&format!("case {case}:"));
                    self.block(method, depth);
                    self.line("break;");
                }
                self.line("default: x ^= 5;");
                self.line("}");
            }
            4 => {
                self.line("try {");
                self.block(method, depth);
                self.line(&format!(
                    "if ((x >>> {shift} & 31) == 3) throw new IllegalStateException();"
                ));
                self.line("} catch (IllegalStateException thrown) {");
                self.line(&format!("x += {small};"));
                self.line("} finally {");
                self.line("x ^= 64;");
                self.line("}");
            }
            5 => {
                self.line(&format!("synchronized (M{method}.class) {{"));
                self.line(&format!("x = x * 31 + {small};"));
                self.line("}");
            }
            6 => self.visit_another(method),
            _ => self.line(&format!("x = x * 31 + {small} ^ x >>> 7;")),
        }
    }
}
