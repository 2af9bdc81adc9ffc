//! The interface `class-file`: views over the rewriter's.

use rewriter::{
    Bci, Code, Method, MethodIndex, Place, PoolIndex, ReadError, Site as Spot, Utf8, opcode,
};
use wasmtime::Result;
use wasmtime::component::Resource;

use crate::bindings::classhook::plugin::class_file::{
    Handler, Host, HostClassView, HostMethodView, Jump, MemberRef, MethodSummary,
};
use crate::bindings::classhook::plugin::types::{self, Failure, Site};
use crate::job::{ClassHandle, Job, MethodHandle};
use crate::numbers;
use crate::state::State;

impl types::Host for State {}
impl Host for State {}

fn text(utf8: Utf8<'_>) -> String {
    utf8.to_str_lossless().into_owned()
}

impl State {
    /// The class at hand.
    pub(crate) fn job(&mut self) -> Result<&mut Job> {
        self.job
            .as_mut()
            .ok_or_else(|| wasmtime::Error::msg("a view was used outside of `transform`"))
    }

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
        self.job()?.method = Some(index);
        Ok(index)
    }

    /// Reads something of a method; `T::default()` if there is no such method.
    fn method<T: Default>(
        &mut self,
        handle: &Resource<MethodHandle>,
        read: impl FnOnce(Method<'_, '_>) -> T,
    ) -> Result<T> {
        let index = self.index(handle)?;
        Ok(self
            .job()?
            .subject
            .class()
            .method(index)
            .map(read)
            .unwrap_or_default())
    }

    /// Reads something of a method's code; `T::default()` if there is none.
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

    fn sites(
        &mut self,
        handle: &Resource<MethodHandle>,
        places: impl ExactSizeIterator<Item = Place>,
    ) -> Result<std::result::Result<Vec<Site>, Failure>> {
        let method = self.index(handle)?;
        let tokens = self
            .job()?
            .make_sites(places.map(|place| Spot { method, place }));
        Ok(tokens.map(|tokens| tokens.map(|token| Site { token }).collect()))
    }

    fn known_site(&mut self, of: &Resource<MethodHandle>, place: Place) -> Result<Site> {
        let method = self.index(of)?;
        let sites = self.known_sites(method, std::iter::once(place))?;
        sites
            .into_iter()
            .next()
            .ok_or_else(|| wasmtime::Error::msg("no room for a site"))
    }

    fn known_sites(
        &mut self,
        method: MethodIndex,
        places: impl Iterator<Item = Place>,
    ) -> Result<Vec<Site>> {
        let tokens = self
            .job()?
            .make_known_sites(places.map(|place| Spot { method, place }));
        let tokens = tokens.map_err(|failure| wasmtime::Error::msg(failure.message))?;
        Ok(tokens.map(|token| Site { token }).collect())
    }
}

impl HostClassView for State {
    fn name(&mut self, _: Resource<ClassHandle>) -> Result<String> {
        Ok(text(self.job()?.subject.class().this_class()))
    }

    fn super_name(&mut self, _: Resource<ClassHandle>) -> Result<Option<String>> {
        Ok(self.job()?.subject.class().super_class().map(text))
    }

    fn interfaces(&mut self, _: Resource<ClassHandle>) -> Result<Vec<String>> {
        Ok(self.job()?.subject.class().interfaces().map(text).collect())
    }

    fn access_flags(&mut self, _: Resource<ClassHandle>) -> Result<u16> {
        Ok(self.job()?.subject.class().access_flags())
    }

    fn major_version(&mut self, _: Resource<ClassHandle>) -> Result<u16> {
        Ok(self.job()?.subject.class().major_version())
    }

    fn source_file(&mut self, _: Resource<ClassHandle>) -> Result<Option<String>> {
        Ok(self.job()?.subject.class().source_file().map(text))
    }

    fn loader(&mut self, _: Resource<ClassHandle>) -> Result<String> {
        Ok(self.job()?.subject.loader.as_str().to_owned())
    }

    fn fingerprint(&mut self, _: Resource<ClassHandle>) -> Result<Option<u64>> {
        Ok(self.job()?.subject.class_id())
    }

    fn retransforming(&mut self, _: Resource<ClassHandle>) -> Result<bool> {
        Ok(self.job()?.subject.retransforming)
    }

    fn annotations(&mut self, _: Resource<ClassHandle>) -> Result<Vec<String>> {
        Ok(self
            .job()?
            .subject
            .class()
            .annotations()
            .map(text)
            .collect())
    }

    fn methods(&mut self, _: Resource<ClassHandle>) -> Result<Vec<MethodSummary>> {
        Ok(self.job()?.subject.class().methods().map(summary).collect())
    }

    fn method(
        &mut self,
        _: Resource<ClassHandle>,
        index: u16,
    ) -> Result<Option<Resource<MethodHandle>>> {
        let exists = self
            .job()?
            .subject
            .class()
            .method(MethodIndex(index))
            .is_some();
        Ok(exists.then(|| Resource::new_own(self.handle(index))))
    }

    fn methods_with_code(&mut self, _: Resource<ClassHandle>) -> Result<Vec<u16>> {
        let class = self.job()?.subject.class();
        Ok(class
            .methods()
            .filter(Method::has_code)
            .map(|method| method.index().0)
            .collect())
    }

    fn code(
        &mut self,
        _: Resource<ClassHandle>,
        start: u32,
    ) -> Result<std::result::Result<Vec<u64>, Failure>> {
        let job = self.job()?;
        match numbers::code(job.subject.class(), start) {
            Ok(numbers) => Ok(Ok(numbers)),
            Err((method, error)) => {
                job.method = Some(method);
                Ok(Err(undecodable(job, &error)))
            }
        }
    }

    fn sites(
        &mut self,
        _: Resource<ClassHandle>,
        at: Vec<u64>,
    ) -> Result<std::result::Result<Vec<Site>, Failure>> {
        let job = self.job()?;
        let mut spots = Vec::with_capacity(at.len());
        for place in at {
            let Some(spot) = numbers::place(place) else {
                let message = format!("expected the number of a place, found {place:#x}");
                return Ok(Err(job.refuse(None, "H0317", message, None)));
            };
            spots.push(spot);
        }
        let tokens = job.make_sites(spots.into_iter());
        Ok(tokens.map(|tokens| tokens.map(|token| Site { token }).collect()))
    }

    fn drop(&mut self, _: Resource<ClassHandle>) -> Result<()> {
        Ok(())
    }
}

fn undecodable(job: &mut Job, error: &ReadError) -> Failure {
    let message = format!("the code cannot be decoded: {error}");
    job.refuse(None, "H0301", message, None)
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

impl HostMethodView for State {
    fn annotations(&mut self, of: Resource<MethodHandle>) -> Result<Vec<String>> {
        self.method(&of, |method| method.annotations().map(text).collect())
    }

    fn instructions(
        &mut self,
        of: Resource<MethodHandle>,
    ) -> Result<std::result::Result<Vec<u64>, Failure>> {
        let index = self.index(&of)?;
        let job = self.job()?;
        match job
            .subject
            .class()
            .method(index)
            .map_or(Ok(Vec::new()), |method| numbers::instructions(&method))
        {
            Ok(instructions) => Ok(Ok(instructions)),
            Err(error) => Ok(Err(undecodable(job, &error))),
        }
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

    fn member(&mut self, of: Resource<MethodHandle>, pool_index: u16) -> Result<Option<MemberRef>> {
        self.method(&of, |method| {
            let member = method.class().pool().member_ref(PoolIndex(pool_index))?;
            Some(MemberRef {
                owner: text(member.owner),
                name: text(member.name),
                descriptor: text(member.descriptor),
            })
        })
    }

    fn entry(&mut self, of: Resource<MethodHandle>) -> Result<Site> {
        self.known_site(&of, Place::Entry)
    }

    fn returns(&mut self, of: Resource<MethodHandle>) -> Result<Vec<Site>> {
        let method = self.index(&of)?;
        let places: Vec<Place> = self.code(&of, |code| {
            let exits = code
                .instructions()
                .flatten()
                .filter(|instruction| leaves(instruction.opcode));
            exits
                .map(|instruction| Place::Before(instruction.bci))
                .collect()
        })?;
        self.known_sites(method, places.into_iter())
    }

    fn before(
        &mut self,
        of: Resource<MethodHandle>,
        at: Vec<u16>,
    ) -> Result<std::result::Result<Vec<Site>, Failure>> {
        self.sites(&of, at.into_iter().map(|bci| Place::Before(Bci(bci))))
    }

    fn fall_throughs(
        &mut self,
        of: Resource<MethodHandle>,
        at: Vec<u16>,
    ) -> Result<std::result::Result<Vec<Site>, Failure>> {
        self.sites(&of, at.into_iter().map(|bci| Place::FallThrough(Bci(bci))))
    }

    fn jumps(
        &mut self,
        of: Resource<MethodHandle>,
        at: Vec<Jump>,
    ) -> Result<std::result::Result<Vec<Site>, Failure>> {
        self.sites(
            &of,
            at.into_iter().map(|jump| Place::Jump {
                source: Bci(jump.source),
                target: Bci(jump.target),
            }),
        )
    }

    fn unwind(&mut self, of: Resource<MethodHandle>) -> Result<Site> {
        self.known_site(&of, Place::Unwind)
    }

    fn at(
        &mut self,
        of: Resource<MethodHandle>,
        at: Vec<u16>,
    ) -> Result<std::result::Result<Vec<Site>, Failure>> {
        self.sites(&of, at.into_iter().map(|bci| Place::At(Bci(bci))))
    }

    fn drop(&mut self, _: Resource<MethodHandle>) -> Result<()> {
        Ok(())
    }
}

/// Whether the instruction leaves the method: `…return` and `athrow`.
fn leaves(op: u8) -> bool {
    matches!(op, opcode::IRETURN..=opcode::RETURN | opcode::ATHROW)
}
