//! Patch and rollback: one change of the stack, all of it or nothing.

use crate::agent::Agent;
use crate::exclusions::is_excluded;
use crate::ffi::error::JvmtiError;
use crate::ffi::live::decode;
use crate::ffi::phases::Live;
use crate::ffi::refs::{GlobalRef, Local};
use crate::patch::audit::{self, Entry};
use crate::patch::store::{LoaderId, Patch, PatchedClass, Scope, Stack, newest};
use crate::patch::{loaders, question, shape};
use control::Refusal;
use control::patch::{
    BrokenRule, ClassOutcome, ClassState, PatchClass, PatchRequest, Patched, Patches, Rollback,
};
use host::foundation::as_wrapped;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::{Arc, PoisonError};

/// Local references asked for while all classes of the JVM are looked at; the JVM's own limit.
const CAPACITY: i32 = 65_536;

/// Who may ask the JVM for something, on this thread.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    pub agent: &'a Agent,
    pub phase: Live,
    pub local: Local<'a>,
    /// Who asks the agent.
    pub uid: u32,
}

/// A class file of a request.
struct NewClass {
    name: Vec<u8>,
    bytes: Vec<u8>,
    digest: String,
}

/// A loaded class.
struct Target {
    class: GlobalRef,
    loader: LoaderId,
    /// The loader, for people.
    shown: String,
    modifiable: bool,
}

/// One class in one loader, or one that no loader has.
struct Part {
    name: Vec<u8>,
    target: Option<Target>,
    outcome: ClassOutcome,
}

impl Part {
    fn is_refused(&self) -> bool {
        self.outcome.state == ClassState::Refused
    }

    /// Whether it is to be changed.
    fn is_in(&self) -> bool {
        !matches!(self.outcome.state, ClassState::Refused | ClassState::Same)
    }

    fn refuse(&mut self, broken: Vec<BrokenRule>) {
        self.outcome.state = ClassState::Refused;
        self.outcome.broken = broken;
    }

    fn covers(&self, scope: &Scope) -> bool {
        let Some(target) = &self.target else {
            return false;
        };
        match scope {
            Scope::Loaded(loaders) => loaders.contains(&target.loader),
            Scope::Later(pattern) => loaders::admits(pattern.as_deref(), &target.shown),
        }
    }

    /// The patch of this class in a stack.
    fn patch_in<'s>(&self, stack: &'s Stack) -> Option<&'s Arc<PatchedClass>> {
        newest(stack, &self.name, &mut |scope| self.covers(scope))
    }
}

/// Puts new class files in the place of loaded classes, or says why that cannot be.
///
/// # Errors
///
/// If the request makes no sense, or the change cannot be logged; nothing is changed then.
pub(crate) fn patch(context: Context<'_>, request: &PatchRequest) -> Result<Patched, Refusal> {
    let patching = &context.agent.patching;
    let _turn = patching.turn.lock().unwrap_or_else(PoisonError::into_inner);
    let new = read(request)?;
    let admits = |shown: &str| loaders::admits(request.loader.as_deref(), shown);
    let names: Vec<&[u8]> = new.iter().map(|class| class.name.as_slice()).collect();
    let mut parts = context.parts(&names, admits)?;
    let stack = patching.patches.stack();
    for part in &mut parts {
        if let Some(class) = new.iter().find(|class| class.name == part.name) {
            context.look(part, class, &stack, request.force);
        }
    }
    let result = if request.check {
        context.check(&mut parts, &new, &stack, request);
        Ok(Vec::new())
    } else if !parts.iter().any(Part::is_in)
        || (parts.iter().any(Part::is_refused) && !request.partial)
    {
        Ok(Vec::new())
    } else {
        context.apply(&mut parts, &new, stack, request)
    };
    context.finish(parts, result)
}

/// Takes patches back, or says why that cannot be.
///
/// # Errors
///
/// If there is no such patch, or the change cannot be logged; nothing is changed then.
pub(crate) fn rollback(context: Context<'_>, which: Rollback) -> Result<Patched, Refusal> {
    let patching = &context.agent.patching;
    let _turn = patching.turn.lock().unwrap_or_else(PoisonError::into_inner);
    let stack = patching.patches.stack();
    let ids = choose(&stack, which)?;
    let next: Stack = stack
        .iter()
        .filter(|patch| !ids.contains(&patch.id))
        .cloned()
        .collect();
    let gone = stack.iter().filter(|patch| ids.contains(&patch.id));
    let mut names: Vec<&[u8]> = gone
        .flat_map(|patch| &patch.classes)
        .map(|class| class.name.as_slice())
        .collect();
    names.sort_unstable();
    names.dedup();
    let parts = context.parts(&names, |_| true)?;
    let changes = |part: &Part| digest_in(part, &stack) != digest_in(part, &next);
    let (mut parts, others) = parts.into_iter().partition::<Vec<_>, _>(changes);
    context.release(others);
    for part in &mut parts {
        part.outcome.before = digest_in(part, &stack).unwrap_or_default();
        part.outcome.after = digest_in(part, &next)
            .or_else(|| context.digest_of_original(part))
            .unwrap_or_default();
    }
    let result = context.roll_back(&mut parts, next, &ids);
    context.finish(parts, result)
}

/// The patches in force.
pub(crate) fn list(agent: &Agent) -> Patches {
    let stack = agent.patching.patches.stack();
    let patches = stack.iter().enumerate().map(|(at, patch)| {
        let newer = stack.get(at + 1..).unwrap_or_default();
        control::patch::Patch {
            id: patch.id,
            note: patch.note.clone(),
            time_ms: patch.time_ms,
            uid: patch.uid,
            classes: patch
                .classes
                .iter()
                .map(|class| shown(class, newer))
                .collect(),
        }
    });
    Patches {
        patches: patches.collect(),
        log: audit::file(agent.output()).display().to_string(),
    }
}

/// Forgets every patch without a word to the JVM, before all classes are retransformed for the last time.
/// Gives the names of the classes that had one.
pub(crate) fn forget_all(agent: &Agent) -> Vec<Vec<u8>> {
    let patching = &agent.patching;
    let _turn = patching.turn.lock().unwrap_or_else(PoisonError::into_inner);
    let stack = patching.patches.stack();
    patching.patches.try_stack(Stack::new());
    patching.patches.keep();
    let classes = stack.iter().flat_map(|patch| &patch.classes);
    classes.map(|class| class.name.clone()).collect()
}

fn shown(class: &PatchedClass, newer: &[Arc<Patch>]) -> PatchClass {
    let above = newer.iter().flat_map(|patch| &patch.classes);
    let mut above = above.filter(|other| other.name == class.name);
    let covered = above.any(|other| match (&class.scope, &other.scope) {
        (_, Scope::Later(None)) => true,
        (Scope::Loaded(these), Scope::Loaded(those)) => these.iter().all(|id| those.contains(id)),
        (these, those) => these == those,
    });
    PatchClass {
        class: dotted(&class.name),
        digest: class.digest.clone(),
        waited: matches!(class.scope, Scope::Later(_)),
        covered,
    }
}

/// The class files of a request.
fn read(request: &PatchRequest) -> Result<Vec<NewClass>, Refusal> {
    let mut new: Vec<NewClass> = Vec::with_capacity(request.classes.len());
    for (control::patch::ClassBytes(bytes), number) in request.classes.iter().zip(1..) {
        let class = rewriter::ClassFile::read(bytes).map_err(|error| {
            Refusal::new(
                "H0721",
                format!("class file {number} of the request cannot be read"),
            )
            .with("found", error.to_string())
        })?;
        let name = class.this_class().as_bytes().to_vec();
        if new.iter().any(|other| other.name == name) {
            return Err(
                Refusal::new("H0721", format!("{} is there twice", dotted(&name)))
                    .with("help", "name each class once"),
            );
        }
        new.push(NewClass {
            name,
            digest: digest(bytes),
            bytes: bytes.clone(),
        });
    }
    if new.is_empty() {
        return Err(Refusal::new("H0721", "there is no class in the request"));
    }
    Ok(new)
}

fn choose(stack: &Stack, which: Rollback) -> Result<Vec<u32>, Refusal> {
    let all = || stack.iter().map(|patch| patch.id);
    let chosen: Vec<u32> = match which {
        Rollback::All => all().collect(),
        Rollback::Last => all().next_back().into_iter().collect(),
        Rollback::Id(id) => all().filter(|there| *there == id).collect(),
    };
    match (chosen.is_empty(), which) {
        (false, _) => Ok(chosen),
        (true, Rollback::Id(id)) => {
            let ids: Vec<String> = all().map(|id| id.to_string()).collect();
            let found = if ids.is_empty() {
                "no patch at all".to_owned()
            } else {
                ids.join(", ")
            };
            Err(Refusal::new("H0722", format!("there is no patch {id}")).with("found", found))
        }
        (true, _) => Err(Refusal::new("H0722", "there is no patch to take back")),
    }
}

impl Context<'_> {
    /// Every loaded class of these names in the loaders that are admitted; a name that has none stands for itself.
    fn parts(self, names: &[&[u8]], admits: impl Fn(&str) -> bool) -> Result<Vec<Part>, Refusal> {
        let listed = self
            .local
            .with_frame(CAPACITY, |local| self.targets(local, names, admits));
        let mut listed = listed
            .ok_or(JvmtiError::OUT_OF_MEMORY)
            .flatten()
            .map_err(|error| {
                Refusal::new(
                    "H0724",
                    format!("the JVM does not list its classes: {error}"),
                )
            })?;
        let parts = names.iter().flat_map(|name| {
            let part = |target: Option<Target>| Part {
                name: name.to_vec(),
                outcome: ClassOutcome {
                    class: dotted(name),
                    loader: target
                        .as_ref()
                        .map(|it| it.shown.clone())
                        .unwrap_or_default(),
                    ..ClassOutcome::default()
                },
                target,
            };
            match listed.remove(*name) {
                Some(targets) => targets.into_iter().map(Some).map(part).collect(),
                None => vec![part(None)],
            }
        });
        Ok(parts.collect())
    }

    fn targets(
        self,
        local: Local<'_>,
        names: &[&[u8]],
        admits: impl Fn(&str) -> bool,
    ) -> Result<HashMap<Vec<u8>, Vec<Target>>, JvmtiError> {
        let jvmti = self.agent.jvmti();
        let mut found: HashMap<Vec<u8>, Vec<Target>> = HashMap::new();
        for class in jvmti.loaded_classes(self.phase, local)? {
            let signature = jvmti.class_signature(&class)?;
            let name = signature
                .strip_prefix(b"L")
                .and_then(|rest| rest.strip_suffix(b";"));
            let Some(name) = name.filter(|name| names.contains(name)) else {
                continue;
            };
            let loader = jvmti.class_loader(local, &class)?;
            let shown = loaders::describe(self.agent, local, loader.as_ref());
            if !admits(&shown) {
                continue;
            }
            let met = self.agent.patching.loaders.meet(local, loader.as_ref());
            let target = Target {
                class: local.globalize(&class).ok_or(JvmtiError::OUT_OF_MEMORY)?,
                loader: met.ok_or(JvmtiError::OUT_OF_MEMORY)?,
                shown,
                modifiable: jvmti.is_modifiable(&class),
            };
            found.entry(name.to_vec()).or_default().push(target);
        }
        Ok(found)
    }

    /// Compares a class with what is to take its place.
    fn look(self, part: &mut Part, new: &NewClass, stack: &Stack, force: bool) {
        part.outcome.after.clone_from(&new.digest);
        if is_excluded(&part.name) {
            let text = "the JVM or the agent needs this class while classes are changed";
            return part.refuse(vec![shape::own_rule(text)]);
        }
        let Some(target) = &part.target else {
            return;
        };
        if !target.modifiable {
            let error = JvmtiError::UNMODIFIABLE_CLASS;
            return part.refuse(vec![shape::rule(error, error.words().to_owned())]);
        }
        match question::class_file(self.agent, self.phase, &target.class) {
            Err(error) => part.refuse(vec![shape::said(error)]),
            Ok(old) => {
                part.outcome.before = digest_in(part, stack).unwrap_or_else(|| digest(&old));
                if part.outcome.before == new.digest {
                    part.outcome.state = ClassState::Same;
                    return;
                }
                let wrapped = as_wrapped(&new.bytes, &old);
                let broken = shape::broken_rules(&old, &wrapped, self.newest_version());
                if !broken.is_empty() && !force {
                    part.refuse(broken);
                }
            }
        }
    }

    /// The highest class-file version that the JVM reads.
    fn newest_version(self) -> Option<u16> {
        let name = c"java.vm.specification.version";
        let release = self.agent.jvmti().system_property(self.phase, name)?;
        let release: u16 = release.trim_start_matches("1.").parse().ok()?;
        // Java 17 reads version 61 (JVMS 4.1).
        release.checked_add(44)
    }

    /// What the JVM would say to each class that we have nothing against.
    fn check(self, parts: &mut [Part], new: &[NewClass], stack: &Stack, request: &PatchRequest) {
        let patch = self.make(0, parts, new, request);
        let patches = &self.agent.patching.patches;
        patches.try_stack(with(stack, patch));
        for part in parts.iter_mut().filter(|part| part.is_in()) {
            part.outcome.state = match &part.target {
                None => ClassState::Waiting,
                Some(_) => ClassState::Possible,
            };
            self.ask(part);
        }
        patches.drop_trial();
    }

    fn ask(self, part: &mut Part) {
        if let Some(target) = &part.target
            && let Err(error) = question::verdict(self.agent, self.phase, &target.class)
        {
            part.refuse(vec![shape::said(error)]);
        }
    }

    /// Changes the classes that are not refused; gives the patch's id if there is one.
    fn apply(
        self,
        parts: &mut [Part],
        new: &[NewClass],
        stack: Stack,
        request: &PatchRequest,
    ) -> Result<Vec<u32>, Refusal> {
        let id = self.agent.patching.patches.next_id();
        let ids = [id];
        let log = Log {
            action: "patch",
            ids: &ids,
            note: &request.note,
        };
        self.log(&log, None, parts)?;
        let mut applied = false;
        while parts.iter().any(Part::is_in) {
            let patch = self.make(id, parts, new, request);
            applied = self.change(with(&stack, patch), parts);
            if applied || !request.partial {
                break;
            }
        }
        if applied {
            self.catch_up(parts, request);
            let changed = parts.iter_mut().filter(|part| part.is_in());
            changed.for_each(|part| {
                part.outcome.state = match part.target {
                    None => ClassState::Waiting,
                    Some(_) => ClassState::Patched,
                }
            });
        }
        let some_refused = parts.iter().any(Part::is_refused);
        self.log(&log, Some(result(applied, some_refused)), parts)?;
        Ok(if applied { vec![id] } else { Vec::new() })
    }

    fn roll_back(self, parts: &mut [Part], next: Stack, ids: &[u32]) -> Result<Vec<u32>, Refusal> {
        let log = Log {
            action: "rollback",
            ids,
            note: "",
        };
        self.log(&log, None, parts)?;
        let applied = self.change(next, parts);
        if applied {
            let loaded = parts.iter_mut().filter(|part| part.target.is_some());
            loaded.for_each(|part| part.outcome.state = ClassState::RolledBack);
        }
        self.log(&log, Some(result(applied, false)), parts)?;
        Ok(if applied { ids.to_vec() } else { Vec::new() })
    }

    /// A patch of the classes that are not refused.
    fn make(self, id: u32, parts: &[Part], new: &[NewClass], request: &PatchRequest) -> Arc<Patch> {
        let classes = new.iter().filter_map(|class| {
            let of_class = |part: &&Part| part.name == class.name && part.is_in();
            let mine: Vec<&Part> = parts.iter().filter(of_class).collect();
            let loaders = mine.iter().filter_map(|part| part.target.as_ref());
            let loaders: Vec<LoaderId> = loaders.map(|target| target.loader).collect();
            let scope = match (mine.is_empty(), loaders.is_empty()) {
                (true, _) => return None,
                (false, true) => Scope::Later(request.loader.clone()),
                (false, false) => Scope::Loaded(loaders),
            };
            Some(Arc::new(PatchedClass {
                id,
                name: class.name.clone(),
                bytes: class.bytes.clone(),
                digest: class.digest.clone(),
                scope,
                forced: request.force,
            }))
        });
        Arc::new(Patch {
            id,
            note: request.note.clone(),
            time_ms: audit::now_ms(),
            uid: self.uid,
            classes: classes.collect(),
        })
    }

    /// Puts a stack in force and retransforms the classes that are not refused: all of them, or none.
    /// False if none; the classes at fault are refused then.
    fn change(self, stack: Stack, parts: &mut [Part]) -> bool {
        let patches = &self.agent.patching.patches;
        patches.try_stack(stack);
        let Err(error) = self.retransform(parts) else {
            if patches.keep() {
                // Somebody else retransformed one of them meanwhile, to what it was.
                let _ = self.retransform(parts);
            }
            return true;
        };
        let before = parts.iter().filter(|part| part.is_in()).count();
        for part in parts.iter_mut().filter(|part| part.is_in()) {
            self.ask(part);
        }
        patches.drop_trial();
        if parts.iter().filter(|part| part.is_in()).count() == before {
            // It is not one of them alone.
            let chosen = parts.iter_mut().filter(|part| part.is_in());
            chosen.for_each(|part| part.refuse(vec![shape::said(error)]));
        }
        false
    }

    fn retransform(self, parts: &[Part]) -> Result<(), JvmtiError> {
        let chosen = parts.iter().filter(|part| part.is_in());
        let targets = chosen.filter_map(|part| part.target.as_ref());
        let classes: Vec<&GlobalRef> = targets.map(|target| &target.class).collect();
        if classes.is_empty() {
            return Ok(());
        }
        self.agent.jvmti().retransform_classes(self.phase, &classes)
    }

    /// A class that was not loaded when it was looked for may be by the time that its patch is in force.
    fn catch_up(self, parts: &mut [Part], request: &PatchRequest) {
        for part in parts.iter_mut().filter(|part| part.target.is_none()) {
            let admits = |shown: &str| loaders::admits(request.loader.as_deref(), shown);
            let Ok(found) = self.parts(&[&part.name], admits) else {
                continue;
            };
            let late = found.iter().any(|late| late.target.is_some());
            if late && let Err(error) = self.retransform(&found) {
                part.refuse(vec![shape::said(error)]);
            }
            self.release(found);
        }
    }

    /// The digest of the class file that the JVM has.
    fn digest_of_original(self, part: &Part) -> Option<String> {
        let target = part.target.as_ref()?;
        question::class_file(self.agent, self.phase, &target.class)
            .ok()
            .map(|bytes| digest(&bytes))
    }

    fn log(
        self,
        log: &Log<'_>,
        result: Option<&'static str>,
        parts: &[Part],
    ) -> Result<(), Refusal> {
        let classes: Vec<ClassOutcome> = parts.iter().map(|part| part.outcome.clone()).collect();
        let entry = Entry {
            time_ms: audit::now_ms(),
            pid: std::process::id(),
            action: log.action,
            stage: if result.is_some() { "done" } else { "asked" },
            ids: log.ids,
            uid: self.uid,
            note: log.note,
            result,
            classes: &classes,
        };
        let folder = self.agent.output();
        let written = audit::append(folder, &entry);
        match (written, result) {
            (Ok(()), _) => Ok(()),
            (Err(error), None) => {
                let file = audit::file(folder);
                let text = format!(
                    "{} cannot be written, so nothing was changed",
                    file.display()
                );
                Err(Refusal::new("H0723", text).with("found", error.to_string()))
            }
            // What is done is done; the answer must not say otherwise.
            (Err(error), Some(_)) => {
                crate::messages::warning(
                    crate::messages::Code::Patch,
                    format_args!("the log of patches cannot be completed: {error}"),
                );
                Ok(())
            }
        }
    }

    /// The answer; references are given back.
    fn finish(
        self,
        parts: Vec<Part>,
        changed: Result<Vec<u32>, Refusal>,
    ) -> Result<Patched, Refusal> {
        let classes = self.release(parts);
        Ok(Patched {
            ids: changed?,
            classes,
        })
    }

    fn release(self, parts: Vec<Part>) -> Vec<ClassOutcome> {
        let outcomes = parts.into_iter().map(|part| {
            if let Some(target) = part.target {
                self.local.release(target.class);
            }
            part.outcome
        });
        outcomes.collect()
    }
}

/// What the lines of one change have in common.
struct Log<'a> {
    action: &'static str,
    ids: &'a [u32],
    note: &'a str,
}

fn result(applied: bool, some_refused: bool) -> &'static str {
    match (applied, some_refused) {
        (false, _) => "refused",
        (true, true) => "partly applied",
        (true, false) => "applied",
    }
}

fn with(stack: &Stack, patch: Arc<Patch>) -> Stack {
    let mut next = stack.clone();
    next.push(patch);
    next
}

fn digest_in(part: &Part, stack: &Stack) -> Option<String> {
    part.patch_in(stack).map(|class| class.digest.clone())
}

fn digest(bytes: &[u8]) -> String {
    use std::fmt::Write;
    Sha256::digest(bytes)
        .iter()
        .fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
}

fn dotted(name: &[u8]) -> String {
    decode(name).replace('/', ".")
}
