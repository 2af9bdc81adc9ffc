//! The interface `class-file`: the rewriter's views of a class.

use plan_rules::{RefusedRequest, Transformation, numbers, queries};
use rewriter::{Code, Field, Method, MethodIndex, PoolIndex, ReadError};
use wasmtime::Result;
use wasmtime::component::Resource;

use super::convert::{Answer, answer, packed, text};
use crate::bindings::classhook::plugin::class_file::{
    FieldSummary, Handler, Host, HostClassView, HostMethodView, MethodSummary,
};
use crate::bindings::classhook::plugin::types::{self, Member};
use crate::handles::{ClassHandle, MethodHandle};
use crate::store_data::StoreData;

impl types::Host for StoreData {}
impl Host for StoreData {}

impl StoreData {
    fn handle(&self, method: u16) -> u32 {
        u32::from(self.round) << 16 | u32::from(method)
    }

    /// The method behind a handle.
    fn index(&mut self, handle: &Resource<MethodHandle>) -> Result<MethodIndex> {
        let index = MethodIndex(handle.rep() as u16);
        if handle.rep() >> 16 != u32::from(self.round) {
            return Err(wasmtime::Error::msg(
                "a method-view was used after its class was done",
            ));
        }
        self.transformation()?.look_at(index);
        Ok(index)
    }

    /// Reads a property of a method. Returns `T::default()` if the method does not exist.
    fn method<T: Default>(
        &mut self,
        handle: &Resource<MethodHandle>,
        read: impl FnOnce(Method<'_, '_>) -> T,
    ) -> Result<T> {
        let index = self.index(handle)?;
        Ok(self
            .transformation()?
            .class()
            .method(index)
            .map(read)
            .unwrap_or_default())
    }

    /// Reads a property of a method's code. Returns `T::default()` if the method has no code.
    fn code<T: Default>(
        &mut self,
        handle: &Resource<MethodHandle>,
        read: impl FnOnce(&Code<'_, '_>) -> T,
    ) -> Result<T> {
        self.method(handle, |method| {
            method
                .code()
                .ok()
                .flatten()
                .as_ref()
                .map(read)
                .unwrap_or_default()
        })
    }
}

impl HostClassView for StoreData {
    fn name(&mut self, _: Resource<ClassHandle>) -> Result<String> {
        Ok(text(self.transformation()?.class().this_class()))
    }

    fn super_name(&mut self, _: Resource<ClassHandle>) -> Result<Option<String>> {
        Ok(self.transformation()?.class().super_class().map(text))
    }

    fn interfaces(&mut self, _: Resource<ClassHandle>) -> Result<Vec<String>> {
        Ok(self
            .transformation()?
            .class()
            .interfaces()
            .map(text)
            .collect())
    }

    fn access_flags(&mut self, _: Resource<ClassHandle>) -> Result<u16> {
        Ok(self.transformation()?.class().access_flags())
    }

    fn major_version(&mut self, _: Resource<ClassHandle>) -> Result<u16> {
        Ok(self.transformation()?.class().major_version())
    }

    fn source_file(&mut self, _: Resource<ClassHandle>) -> Result<Option<String>> {
        Ok(self.transformation()?.class().source_file().map(text))
    }

    fn loader(&mut self, _: Resource<ClassHandle>) -> Result<String> {
        Ok(self.call()?.origin.loader.as_str().to_owned())
    }

    fn fingerprint(&mut self, _: Resource<ClassHandle>) -> Result<Option<u64>> {
        Ok(self.call()?.class_id())
    }

    fn retransforming(&mut self, _: Resource<ClassHandle>) -> Result<bool> {
        Ok(self.transformation()?.is_retransforming())
    }

    fn annotations(&mut self, _: Resource<ClassHandle>) -> Result<Vec<String>> {
        Ok(self
            .transformation()?
            .class()
            .annotations()
            .map(text)
            .collect())
    }

    fn fields(&mut self, _: Resource<ClassHandle>) -> Result<Vec<FieldSummary>> {
        let fields = self.transformation()?.class().fields();
        let summary = |field: Field<'_, '_>| FieldSummary {
            name: text(field.name()),
            descriptor: text(field.descriptor()),
            access_flags: field.access_flags(),
            annotations: field.annotations().map(text).collect(),
        };
        Ok(fields.map(summary).collect())
    }

    fn attribute(&mut self, _: Resource<ClassHandle>, name: String) -> Result<Option<Vec<u8>>> {
        let mut attributes = self.transformation()?.class().attributes();
        let found = attributes.find(|attribute| attribute.name == name.as_str());
        Ok(found.map(|attribute| attribute.bytes.to_vec()))
    }

    fn pool_text(&mut self, _: Resource<ClassHandle>, index: u16) -> Result<Option<String>> {
        let found = self.transformation()?.class().pool().text(PoolIndex(index));
        Ok(found.map(text))
    }

    fn methods(&mut self, _: Resource<ClassHandle>) -> Result<Vec<MethodSummary>> {
        Ok(self
            .transformation()?
            .class()
            .methods()
            .map(summary)
            .collect())
    }

    fn method(
        &mut self,
        _: Resource<ClassHandle>,
        index: u16,
    ) -> Result<Option<Resource<MethodHandle>>> {
        let exists = self
            .transformation()?
            .class()
            .method(MethodIndex(index))
            .is_some();
        Ok(exists.then(|| Resource::new_own(self.handle(index))))
    }

    fn methods_with_code(&mut self, _: Resource<ClassHandle>) -> Result<Vec<u16>> {
        let class = self.transformation()?.class();
        Ok(class
            .methods()
            .filter(Method::has_code)
            .map(|method| method.index().0)
            .collect())
    }

    fn code(&mut self, _: Resource<ClassHandle>, start: u32) -> Answer<Vec<u64>> {
        let transformation = self.transformation()?;
        let numbers = numbers::code(transformation.class(), start);
        answer(numbers.map_err(|(method, error)| {
            transformation.look_at(method);
            undecodable(transformation, &error)
        }))
    }

    fn raw_code(&mut self, _: Resource<ClassHandle>, start: u32) -> Result<Vec<u8>> {
        Ok(numbers::raw_code(self.transformation()?.class(), start))
    }

    fn drop(&mut self, _: Resource<ClassHandle>) -> Result<()> {
        Ok(())
    }
}

fn undecodable(transformation: &mut Transformation, error: &ReadError) -> RefusedRequest {
    transformation.refuse(RefusedRequest::undecodable(error))
}

fn summary(method: Method<'_, '_>) -> MethodSummary {
    let code = method.code().ok().flatten();
    MethodSummary {
        index: method.index().0,
        name: text(method.name()),
        descriptor: text(method.descriptor()),
        access_flags: method.access_flags(),
        code_length: code.map_or(0, |code| code.bytes().len() as u32),
    }
}

impl HostMethodView for StoreData {
    fn annotations(&mut self, of: Resource<MethodHandle>) -> Result<Vec<String>> {
        self.method(&of, |method| method.annotations().map(text).collect())
    }

    fn instructions(&mut self, of: Resource<MethodHandle>) -> Answer<Vec<u64>> {
        let index = self.index(&of)?;
        let transformation = self.transformation()?;
        let method = transformation.class().method(index);
        let numbers = method.map_or(Ok(Vec::new()), |method| numbers::instructions(&method));
        answer(numbers.map_err(|error| undecodable(transformation, &error)))
    }

    fn lines(&mut self, of: Resource<MethodHandle>) -> Result<Vec<u32>> {
        self.code(&of, |code| code.lines().map(numbers::line).collect())
    }

    fn handlers(&mut self, of: Resource<MethodHandle>) -> Result<Vec<Handler>> {
        self.method(&of, |method| {
            let Ok(Some(code)) = method.code() else {
                return Vec::new();
            };
            let pool = method.class().pool();
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
        })
    }

    fn switch_targets(&mut self, of: Resource<MethodHandle>, at: u16) -> Result<Vec<u16>> {
        self.code(&of, |code| {
            let found = code
                .instructions()
                .flatten()
                .find(|instruction| instruction.bci.0 == at);
            let found = found.and_then(|instruction| instruction.switch());
            found
                .map(|switch| switch.targets().map(|target| target.0).collect())
                .unwrap_or_default()
        })
    }

    fn member(&mut self, of: Resource<MethodHandle>, pool_index: u16) -> Result<Option<Member>> {
        self.method(&of, |method| {
            let member = method.class().pool().member_ref(PoolIndex(pool_index))?;
            Some(queries::member(member).into())
        })
    }

    fn type_name(&mut self, of: Resource<MethodHandle>, pool_index: u16) -> Result<Option<String>> {
        self.method(&of, |method| {
            let pool = method.class().pool();
            pool.class_name(PoolIndex(pool_index)).map(text)
        })
    }

    fn returns(&mut self, of: Resource<MethodHandle>) -> Result<Vec<u64>> {
        let method = self.index(&of)?;
        Ok(packed(self.transformation()?.returns(method)))
    }

    fn drop(&mut self, _: Resource<MethodHandle>) -> Result<()> {
        Ok(())
    }
}
