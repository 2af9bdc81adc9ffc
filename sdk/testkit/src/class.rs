//! Implements the SDK's views with the rewriter's.

use classhook_sdk::source::{ClassSide, ClassSource, MethodSource};
use classhook_sdk::wit::{FieldSummary, Handler, Instruction, Line, MethodSummary};
use edits::{InsertionPoint, Member, Refusal};
use jvms::modified_utf8::Utf8;
use plan_rules::{RefusedRequest, Transformation, numbers, queries};
use rewriter::{ClassFile, Code, Field, Method, MethodIndex, PoolIndex, ReadError};

use crate::plan::PlanRecord;

pub(crate) fn text(utf8: Utf8<'_>) -> String {
    utf8.to_str_lossless().into_owned()
}

/// A class that is loaded for the first time by the application loader.
pub struct NativeClass<'c, 'a> {
    pub(crate) class: &'c ClassFile<'a>,
    pub(crate) record: &'c PlanRecord,
}

impl<'c, 'a> NativeClass<'c, 'a> {
    /// Creates a view whose insertion points are recorded in `record`.
    pub fn new(class: &'c ClassFile<'a>, record: &'c PlanRecord) -> Self {
        Self { class, record }
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
        Some(fingerprint::of(self.class.bytes()))
    }
    fn retransforming(&self) -> bool {
        self.record.loaded()
    }
    fn annotations(&self) -> Vec<String> {
        self.class.annotations().map(text).collect()
    }
    fn fields(&self) -> Vec<FieldSummary> {
        let summary = |field: Field<'_, '_>| FieldSummary {
            name: text(field.name()),
            descriptor: text(field.descriptor()),
            access_flags: field.access_flags(),
            annotations: field.annotations().map(text).collect(),
        };
        self.class.fields().map(summary).collect()
    }
    fn attribute(&self, name: &str) -> Option<Vec<u8>> {
        let found = self.class.attributes().find(|it| it.name == name);
        found.map(|attribute| attribute.bytes.to_vec())
    }
    fn pool_text(&self, pool_index: u16) -> Option<String> {
        self.class.pool().text(PoolIndex(pool_index)).map(text)
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
    fn code(&self, start: u32) -> Result<Vec<u64>, Refusal> {
        let numbers = numbers::code(self.class, start);
        self.record.ask(|state| {
            numbers.map_err(|(method, error)| {
                state.transformation.look_at(method);
                undecodable(&mut state.transformation, &error)
            })
        })
    }
    fn raw_code(&self, start: u32) -> Vec<u8> {
        numbers::raw_code(self.class, start)
    }
    fn method(&self, index: u16) -> Option<Box<dyn MethodSource + '_>> {
        let method = self.class.method(MethodIndex(index))?;
        Some(Box::new(NativeMethod {
            method,
            record: self.record,
        }))
    }
    fn side(&self) -> ClassSide<'_> {
        ClassSide::Native(self)
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
    record: &'c PlanRecord,
}

impl<'c, 'a> NativeMethod<'c, 'a> {
    fn code(&self) -> Option<Code<'c, 'a>> {
        self.method.code().ok().flatten()
    }
}

fn undecodable(asked: &mut Transformation, error: &ReadError) -> RefusedRequest {
    asked.refuse(RefusedRequest::undecodable(error))
}

impl MethodSource for NativeMethod<'_, '_> {
    fn annotations(&self) -> Vec<String> {
        self.method.annotations().map(text).collect()
    }
    fn instructions(&self) -> Result<Vec<Instruction>, Refusal> {
        let numbers = numbers::instructions(&self.method);
        let numbers = self
            .record
            .ask(|state| numbers.map_err(|error| undecodable(&mut state.transformation, &error)))?;
        Ok(numbers.into_iter().map(Instruction::from).collect())
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
        let code = self.code();
        let found = code
            .into_iter()
            .flat_map(|code| code.instructions())
            .flatten()
            .find(|found| found.bci.0 == at)
            .and_then(|found| found.switch());
        found
            .map(|switch| switch.targets().map(|target| target.0).collect())
            .unwrap_or_default()
    }
    fn member(&self, pool_index: u16) -> Option<Member> {
        let pool = self.method.class().pool();
        pool.member_ref(PoolIndex(pool_index)).map(queries::member)
    }
    fn type_name(&self, pool_index: u16) -> Option<String> {
        let pool = self.method.class().pool();
        pool.class_name(PoolIndex(pool_index)).map(text)
    }
    fn returns(&self) -> Vec<InsertionPoint> {
        let method = self.method.index();
        self.record.ask_or_trap(|asked| Ok(asked.returns(method)))
    }
}
