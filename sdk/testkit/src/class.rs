//! The SDK's views over the rewriter's.

use classhook_sdk::source::{ClassSource, MethodSource};
use classhook_sdk::wit::{
    self, At, Failure, Handler, Instruction, Jump, Line, MemberRef, MethodSummary, Site,
};
use rewriter::{Bci, ClassFile, Code, Method, MethodIndex, Place, PoolIndex, Utf8, opcode};

use crate::plan::{Recorder, failure};

fn text(utf8: Utf8<'_>) -> String {
    utf8.to_str_lossless().into_owned()
}

/// A class that is loaded for the first time by the application loader.
pub struct NativeClass<'c, 'a> {
    class: &'c ClassFile<'a>,
    recorder: &'c Recorder<'c, 'a>,
}

impl<'c, 'a> NativeClass<'c, 'a> {
    /// The sites that its methods make are known to `recorder`.
    pub fn new(class: &'c ClassFile<'a>, recorder: &'c Recorder<'c, 'a>) -> Self {
        Self { class, recorder }
    }
}

impl ClassSource for NativeClass<'_, '_> {
    fn name(&self) -> String {
        text(self.class.this_class())
    }
    fn super_name(&self) -> Option<String> {
        self.class.super_class().map(text)
    }
    fn interfaces(&self) -> Vec<String> {
        self.class.interfaces().map(text).collect()
    }
    fn access_flags(&self) -> u16 {
        self.class.access_flags()
    }
    fn major_version(&self) -> u16 {
        self.class.major_version()
    }
    fn source_file(&self) -> Option<String> {
        self.class.source_file().map(text)
    }
    fn loader(&self) -> String {
        "app".to_owned()
    }
    fn fingerprint(&self) -> Option<u64> {
        Some(rewriter::fingerprint(self.class.bytes()))
    }
    fn retransforming(&self) -> bool {
        self.recorder.loaded()
    }
    fn annotations(&self) -> Vec<String> {
        self.class.annotations().map(text).collect()
    }
    fn methods(&self) -> Vec<MethodSummary> {
        self.class.methods().map(summary).collect()
    }
    fn methods_with_code(&self) -> Vec<u16> {
        self.class
            .methods()
            .filter(Method::has_code)
            .map(|method| method.index().0)
            .collect()
    }
    /// One method at a time.
    fn code(&self, start: u32) -> Result<Vec<u64>, Failure> {
        let mut methods = self.class.methods().skip(start as usize);
        let Some(method) = methods.find(Method::has_code) else {
            return Ok(vec![1 << 16]);
        };
        let index = u64::from(method.index().0);
        let view = NativeMethod {
            method,
            recorder: self.recorder,
        };
        let (instructions, lines) = (view.instructions()?, view.lines());
        let is_switch = |op| matches!(op, opcode::TABLESWITCH | opcode::LOOKUPSWITCH);
        let switches = instructions.iter().filter(|found| is_switch(found.opcode));
        let switches = switches.flat_map(|found| view.switch_targets(found.bci));
        let (targets, handlers): (Vec<u16>, _) = (switches.collect(), view.handlers());
        let mut list = vec![
            index + 1,
            index | (instructions.len() as u64) << 16 | (lines.len() as u64) << 32,
            targets.len() as u64 | (handlers.len() as u64) << 32,
        ];
        list.extend(instructions.into_iter().map(u64::from));
        list.extend(lines.into_iter().map(u64::from));
        list.extend(targets.into_iter().map(u64::from));
        let handler = |found: Handler| {
            let [start, end, target] = [found.start, found.end, found.target].map(u64::from);
            start | end << 16 | target << 32
        };
        list.extend(handlers.into_iter().map(handler));
        Ok(list)
    }
    fn sites(&self, at: &[wit::Place]) -> Result<Vec<Site>, Failure> {
        let site = |found: &wit::Place| rewriter::Site {
            method: MethodIndex(found.method),
            place: match found.at {
                At::Entry => Place::Entry,
                At::Before(bci) => Place::Before(Bci(bci)),
                At::FallThrough(bci) => Place::FallThrough(Bci(bci)),
                At::Jump(source, target) => Place::Jump {
                    source: Bci(source),
                    target: Bci(target),
                },
                At::Unwind => Place::Unwind,
                At::Instruction(bci) => Place::At(Bci(bci)),
            },
        };
        self.recorder.make_sites(at.iter().map(site))
    }
    fn method(&self, index: u16) -> Option<Box<dyn MethodSource + '_>> {
        let method = self.class.method(MethodIndex(index))?;
        Some(Box::new(NativeMethod {
            method,
            recorder: self.recorder,
        }))
    }
}

fn summary(method: Method<'_, '_>) -> MethodSummary {
    MethodSummary {
        index: method.index().0,
        name: text(method.name()),
        descriptor: text(method.descriptor()),
        access_flags: method.access_flags(),
        code_length: method
            .code()
            .ok()
            .flatten()
            .map_or(0, |code| code.bytes().len() as u32),
    }
}

struct NativeMethod<'c, 'a> {
    method: Method<'c, 'a>,
    recorder: &'c Recorder<'c, 'a>,
}

impl<'c, 'a> NativeMethod<'c, 'a> {
    fn code(&self) -> Option<Code<'c, 'a>> {
        self.method.code().ok().flatten()
    }

    fn decoded(&self) -> impl Iterator<Item = rewriter::Instruction<'a>> + use<'a> {
        self.code()
            .map(|code| code.instructions())
            .into_iter()
            .flatten()
            .flatten()
    }

    fn sites(&self, places: impl Iterator<Item = Place>) -> Result<Vec<Site>, Failure> {
        self.recorder.make_sites(places.map(|place| rewriter::Site {
            method: self.method.index(),
            place,
        }))
    }
}

impl MethodSource for NativeMethod<'_, '_> {
    fn annotations(&self) -> Vec<String> {
        self.method.annotations().map(text).collect()
    }
    fn instructions(&self) -> Result<Vec<Instruction>, Failure> {
        let code = self
            .method
            .code()
            .map_err(|error| failure("H0301", &error))?;
        let Some(code) = code else {
            return Ok(Vec::new());
        };
        let convert = |found: rewriter::Instruction<'_>| Instruction {
            bci: found.bci.0,
            opcode: found.opcode,
            operand: found.operand(),
        };
        let all: Result<Vec<Instruction>, _> = code
            .instructions()
            .map(|found| found.map(convert))
            .collect();
        all.map_err(|error| failure("H0301", &error))
    }
    fn lines(&self) -> Vec<Line> {
        let lines = self.code().map(|code| {
            code.lines()
                .map(|line| Line {
                    bci: line.bci.0,
                    number: line.number,
                })
                .collect()
        });
        lines.unwrap_or_default()
    }
    fn handlers(&self) -> Vec<Handler> {
        let Some(code) = self.code() else {
            return Vec::new();
        };
        let pool = self.method.class().pool();
        let handlers = code.exception_table().map(|entry| Handler {
            start: entry.start.0,
            end: entry.end,
            target: entry.handler.0,
            catch_type: (entry.catch_type.0 != 0)
                .then(|| pool.class_name(entry.catch_type))
                .flatten()
                .map(text),
        });
        handlers.collect()
    }
    fn switch_targets(&self, at: u16) -> Vec<u16> {
        let found = self
            .decoded()
            .find(|found| found.bci.0 == at)
            .and_then(|found| found.switch());
        found
            .map(|switch| switch.targets().map(|target| target.0).collect())
            .unwrap_or_default()
    }
    fn member(&self, pool_index: u16) -> Option<MemberRef> {
        let member = self
            .method
            .class()
            .pool()
            .member_ref(PoolIndex(pool_index))?;
        Some(MemberRef {
            owner: text(member.owner),
            name: text(member.name),
            descriptor: text(member.descriptor),
        })
    }
    fn entry(&self) -> Site {
        self.recorder.make_site(self.method.index(), Place::Entry)
    }
    fn returns(&self) -> Vec<Site> {
        let leaves = |op| matches!(op, opcode::IRETURN..=opcode::RETURN | opcode::ATHROW);
        let places = self
            .decoded()
            .filter(|found| leaves(found.opcode))
            .map(|found| Place::Before(found.bci));
        self.sites(places).unwrap_or_default()
    }
    fn before(&self, at: &[u16]) -> Result<Vec<Site>, Failure> {
        self.sites(at.iter().map(|bci| Place::Before(Bci(*bci))))
    }
    fn fall_throughs(&self, at: &[u16]) -> Result<Vec<Site>, Failure> {
        self.sites(at.iter().map(|bci| Place::FallThrough(Bci(*bci))))
    }
    fn jumps(&self, at: &[Jump]) -> Result<Vec<Site>, Failure> {
        self.sites(at.iter().map(|jump| Place::Jump {
            source: Bci(jump.source),
            target: Bci(jump.target),
        }))
    }
    fn unwind(&self) -> Site {
        self.recorder.make_site(self.method.index(), Place::Unwind)
    }
    fn at(&self, at: &[u16]) -> Result<Vec<Site>, Failure> {
        self.sites(at.iter().map(|bci| Place::At(Bci(*bci))))
    }
}
