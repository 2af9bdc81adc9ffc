//! Patch and rollback: one change of the stack, all or nothing.

use crate::agent::Agent;
use crate::agent::instrumented::Edits;
use crate::agent::loaders::{LoaderId, admits};
use crate::agent::metaspace;
use crate::agent::patches::{Loads, Patch, PatchedClass, Scope, Stack};
use crate::ffi::error::JvmtiError;
use crate::ffi::jvm::Jvm;
use crate::ffi::refs::GlobalRef;
use crate::messages::{self, Code};
use crate::names::dotted;
use crate::patch::audit::{self, LogEntry};
use crate::patch::new_class::{self, NewClass, digest};
use crate::patch::target::{self, Target};
use crate::patch::{definition, dry_run, findable, fitted, frames, loaded_file, schema};
use crate::unchangeable::is_unchangeable;
use control::Refusal;
use control::message::Shortage;
use control::patch::{BrokenRule, ClassOutcome, ClassState, PatchRequest, Patched, Rollback};
use errors::codes;
use host::exclusions::is_excluded;
use host::structural_edits::with_prefixed_natives;
use rewriter::{ClassFile, check_soundness};
use std::path::Path;
use std::sync::Arc;

/// The change of one user, on the thread that makes it.
#[derive(Clone, Copy)]
pub(crate) struct Change<'a> {
    /// The agent that holds the patches.
    pub agent: &'a Agent,
    /// The JVM.
    pub jvm: Jvm<'a>,
    /// The user who requested it.
    pub uid: u32,
    /// The folder for the log from the request.
    pub log: Option<&'a Path>,
}

/// Replaces the class files of loaded classes, or reports why that is impossible.
///
/// # Errors
///
/// If the request is invalid, or the change cannot be logged. No class is changed then.
pub(crate) fn patch(change: Change<'_>, request: &PatchRequest) -> Result<Patched, Refusal> {
    let patches = &change.agent.patches;
    let _turn = patches.turn();
    let mut new = new_class::read(request)?;
    let admitted = |loader: &str| admits(request.loader.as_deref(), loader);
    let names: Vec<&[u8]> = new.iter().map(|class| class.name.as_slice()).collect();
    let mut targets = target::find(change.agent, change.jvm, &names, admitted)?;
    findable::fill_in(change.agent, change.jvm, &mut targets, admitted);
    if request.force {
        targets.iter_mut().for_each(Target::wait_if_absent);
    }
    let stack = patches.stack();
    targets
        .iter_mut()
        .for_each(|target| target.read_file(change.jvm));
    find_new(&mut targets, &new);
    fitted::fit(change.jvm, &mut new, &targets, &stack);
    for target in &mut targets {
        if let Some(class) = new.iter().find(|class| class.name == target.name) {
            change.compare(target, class, &stack, request.force);
        }
    }
    if !request.force {
        refuse_dependants(&mut targets, &new);
    }
    change.check_frames(&mut targets, &new, &stack, request);
    let result = if let Some(shortage) = shortage(&targets, &new, request.metaspace) {
        Err(shortage.refusal())
    } else if request.check {
        change.check(&mut targets, &new, &stack, request);
        Ok(Vec::new())
    } else if !targets.iter().any(Target::is_in)
        || (targets.iter().any(Target::is_refused) && !request.partial)
    {
        Ok(Vec::new())
    } else {
        change.apply(&mut targets, &new, stack, request)
    };
    change.finish(targets, result)
}

/// Rolls patches back, or reports why that is impossible.
///
/// # Errors
///
/// If no such patch is in force, or the change cannot be logged. No class is changed then.
pub(crate) fn rollback(change: Change<'_>, which: Rollback) -> Result<Patched, Refusal> {
    let patches = &change.agent.patches;
    let _turn = patches.turn();
    let stack = patches.stack();
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
    let targets = target::find(change.agent, change.jvm, &names, |_| true)?;
    let loaded = targets.iter().filter_map(|target| target.loaded.as_ref());
    loaded.for_each(|loaded| loaded_file::link(change.jvm, &loaded.class));
    let differs = |target: &Target| target.digest_in(&stack) != target.digest_in(&next);
    let (mut targets, mut others) = targets.into_iter().partition::<Vec<_>, _>(differs);
    // The answer lists the other names only if a patch waited for them: such classes have never been patched.
    let waited = |target: &Target| {
        let mut gone = stack.iter().filter(|patch| ids.contains(&patch.id));
        gone.any(|patch| patch.waits_for(&target.name))
    };
    let never: Vec<Target> = others.extract_if(.., |target| waited(target)).collect();
    target::release(change.jvm, others);
    for target in &mut targets {
        target.outcome.before = target.digest_in(&stack).unwrap_or_default();
        target.outcome.after = target
            .digest_in(&next)
            .or_else(|| change.digest_of_original(target))
            .unwrap_or_default();
    }
    let result = change.roll_back(&mut targets, never, next, &ids);
    change.finish(targets, result)
}

/// Drops every patch without a call of the JVM, before all classes are retransformed for the last time.
pub(crate) fn forget_all(agent: &Agent) {
    let patches = &agent.patches;
    let _turn = patches.turn();
    patches.try_stack(Stack::new());
    patches.keep();
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
                "no patch".to_owned()
            } else {
                ids.join(", ")
            };
            Err(
                Refusal::new(codes::H0722, format!("no patch {id} is in force"))
                    .with("found", found),
            )
        }
        (true, _) => Err(Refusal::new(codes::H0722, "no patch is in force")),
    }
}

/// Finds the classes that no loader has or finds, but other classes of the patch use: the patch defines them.
fn find_new(targets: &mut [Target], new: &[NewClass]) {
    if !targets.iter().any(|target| target.loaded.is_some()) {
        return;
    }
    let is_absent = |target: &&mut Target| target.outcome.state == ClassState::Absent;
    for target in targets.iter_mut().filter(is_absent) {
        let others = new.iter().filter(|class| class.name != target.name);
        let mut users = others.filter_map(|class| ClassFile::read(&class.bytes).ok());
        if users.any(|class| uses(&class, &target.name)) {
            target.define();
        }
    }
}

/// Checks whether a class names another one in its constant pool.
fn uses(class: &ClassFile<'_>, name: &[u8]) -> bool {
    let mut names = class.pool().class_names();
    names.any(|used| used.as_bytes() == name)
}

/// Refuses the classes that use companions of refused ones.
fn refuse_dependants(targets: &mut [Target], new: &[NewClass]) {
    loop {
        let refused: Vec<Vec<u8>> = targets
            .iter()
            .filter(|target| target.is_refused())
            .map(|target| target.name.clone())
            .collect();
        let mut changed = false;
        for target in targets.iter_mut().filter(|target| target.is_in()) {
            let class = new.iter().find(|class| class.name == target.name);
            let mut needs = class.iter().flat_map(|class| &class.needs);
            if let Some(name) = needs.find(|name| refused.contains(name)) {
                let text = format!(
                    "it uses a member added to {}, which cannot be patched",
                    dotted(name)
                );
                target.refuse(vec![schema::own_rule(&text)]);
                changed = true;
            }
        }
        if !changed {
            return;
        }
    }
}

/// Checks a class by the rules of the verifier that need no other class.
fn check_alone(target: &mut Target, class: Option<&NewClass>) {
    if let Some(Err(unsound)) = class.map(|class| check_soundness(&class.bytes)) {
        let text = format!("the class file is unsound: {unsound}");
        target.refuse(vec![schema::own_rule(&text)]);
    }
}

/// The reasons against a class that its fitting has found.
fn refusals(new: &NewClass) -> impl Iterator<Item = BrokenRule> {
    new.refused.iter().map(|reason| schema::own_rule(reason))
}

/// The shortage of metaspace if the loaded classes of a patch need more than the client allows. The JVM keeps both
/// versions of each.
fn shortage(targets: &[Target], new: &[NewClass], most: Option<u64>) -> Option<Shortage> {
    let changed = targets.iter().filter(|target| target.is_in());
    let changed = changed.filter(|target| target.loaded.is_some());
    let files = changed.filter_map(|target| {
        let class = new.iter().find(|class| class.name == target.name)?;
        Some(class.bytes.as_slice())
    });
    metaspace::shortage_of_patch(files, most?)
}

impl<'a> Change<'a> {
    /// Compares a loaded class with the new class file. If a rule is broken, the class is refused.
    fn compare(self, target: &mut Target, new: &NewClass, stack: &Stack, force: bool) {
        target.outcome.after.clone_from(&new.digest);
        if is_excluded(&target.name) {
            let text = "the JVM or the agent uses this class while it changes classes";
            return target.refuse(vec![schema::own_rule(text)]);
        }
        let Some(loaded) = &target.loaded else {
            return self.compare_file(target, new, force);
        };
        if !loaded.modifiable || is_unchangeable(&target.name) {
            let error = JvmtiError::UNMODIFIABLE_CLASS;
            return target.refuse(vec![schema::rule(error, error.description().to_owned())]);
        }
        let old = match &loaded.file {
            Ok(old) => old,
            Err(error) => return target.refuse(vec![schema::refused_by_jvm(*error)]),
        };
        let before = target.digest_in(stack).unwrap_or_else(|| digest(old));
        let is_same = target
            .file_now(stack)
            .is_some_and(|now| fitted::is_same(now, new));
        let prefixed = with_prefixed_natives(&new.bytes, old);
        let mut broken = match is_same {
            true => Vec::new(),
            false => refusals(new)
                .chain(schema::broken_rules(old, &prefixed, self.newest_version()))
                .collect(),
        };
        if broken.is_empty() && !is_same {
            broken = fitted::without_effect(target, new, stack);
        }
        target.outcome.before = before;
        target.outcome.remarks.clone_from(&new.remarks);
        if is_same {
            target.outcome.state = ClassState::Same;
        } else {
            self.settle(target, broken, force);
        }
    }

    /// Refuses a class for the broken rules. A forced patch is applied nevertheless, and the parts without effect are
    /// reported.
    fn settle(self, target: &mut Target, broken: Vec<BrokenRule>, force: bool) {
        if broken.is_empty() {
            return;
        }
        if !force {
            return target.refuse(broken);
        }
        let own = broken.into_iter().filter(|rule| rule.number == 0);
        let texts = own.map(|rule| rule.text);
        target.outcome.without_effect.extend(texts);
    }

    /// Refuses classes with a frame that would execute former code forever.
    fn check_frames(
        self,
        targets: &mut [Target],
        new: &[NewClass],
        stack: &Stack,
        request: &PatchRequest,
    ) {
        let files: Vec<(usize, Vec<u8>, Vec<u8>)> = targets
            .iter()
            .enumerate()
            .filter(|(_, target)| target.is_in())
            .filter_map(|(index, target)| {
                let class = new.iter().find(|class| class.name == target.name)?;
                Some((index, target.file_now(stack)?.to_vec(), class.bytes.clone()))
            })
            .collect();
        let of_virtual = &request.virtual_frames;
        for (index, rule) in frames::find(self.agent, self.jvm, targets, &files, of_virtual) {
            if let Some(target) = targets.get_mut(index) {
                let mut broken = std::mem::take(&mut target.outcome.broken);
                broken.push(rule);
                self.settle(target, broken, request.force);
            }
        }
    }

    /// As `compare`, for a class that is not loaded, with the class file that a loader would find.
    fn compare_file(self, target: &mut Target, new: &NewClass, force: bool) {
        if let Err(unsound) = check_soundness(&new.bytes) {
            let text = format!("the class file is unsound: {unsound}");
            return target.refuse(vec![schema::own_rule(&text)]);
        }
        let Some(old) = &target.findable else {
            if !new.refused.is_empty() {
                target.refuse(refusals(new).collect());
            }
            return;
        };
        target.outcome.before = digest(old);
        if target.outcome.before == new.digest {
            target.outcome.state = ClassState::Same;
            return;
        }
        target.outcome.remarks.clone_from(&new.remarks);
        let broken: Vec<BrokenRule> = refusals(new)
            .chain(schema::broken_rules(old, &new.bytes, self.newest_version()))
            .collect();
        if !broken.is_empty() && !force {
            target.refuse(broken);
        }
    }

    /// The highest class-file version that the JVM reads.
    fn newest_version(self) -> Option<u16> {
        let release = self.jvm.jvmti.java_release(self.jvm.live)?;
        // Java 17 reads version 61 (JVMS 4.1).
        release.checked_add(44)
    }

    /// Lets the JVM check each class that is not refused. Classes that use new ones are checked without it.
    fn check(
        self,
        targets: &mut [Target],
        new: &[NewClass],
        stack: &Stack,
        request: &PatchRequest,
    ) {
        let patch = self.make(0, targets, new, request);
        let patches = &self.agent.patches;
        let added: Vec<Vec<u8>> = targets
            .iter()
            .filter(|target| target.is_new && target.is_in())
            .map(|target| target.name.clone())
            .collect();
        patches.try_stack(with(stack, patch));
        for target in targets.iter_mut().filter(|target| target.is_in()) {
            let waits = target.loaded.is_none() && !target.is_new;
            target.outcome.state = match waits {
                true => ClassState::Waiting,
                false => ClassState::Possible,
            };
            let class = new.iter().find(|class| class.name == target.name);
            let file = class.and_then(|class| ClassFile::read(&class.bytes).ok());
            // The JVM's verifier would look for the classes that a check does not define.
            if file.is_some_and(|file| added.iter().any(|name| uses(&file, name))) {
                check_alone(target, class);
            } else {
                self.dry_run_class(target);
            }
        }
        patches.drop_trial();
    }

    /// Lets the JVM check a class. A class that the JVM would refuse is refused.
    fn dry_run_class(self, target: &mut Target) {
        if let Some(loaded) = &target.loaded
            && let Err(error) = dry_run::check_class(self.jvm, &loaded.class)
        {
            target.refuse(vec![schema::refused_by_jvm(error)]);
        }
    }

    /// Changes the classes that are not refused, and returns the patch's id if one was applied.
    fn apply(
        self,
        targets: &mut [Target],
        new: &[NewClass],
        stack: Stack,
        request: &PatchRequest,
    ) -> Result<Vec<u32>, Refusal> {
        let id = self.agent.patches.next_id();
        let ids = [id];
        let log = Log {
            action: "patch",
            ids: &ids,
            note: &request.note,
        };
        self.log(&log, None, targets)?;
        let mut applied = false;
        let companions = definition::define_all(self.jvm, targets, new);
        if let Err((index, rule)) = &companions
            && let Some(target) = targets.get_mut(*index)
        {
            target.refuse(vec![rule.clone()]);
        }
        while companions.is_ok() && targets.iter().any(Target::is_in) {
            let patch = self.make(id, targets, new, request);
            applied = self.put_in_force(with(&stack, patch), targets);
            if applied || !request.partial {
                break;
            }
        }
        if applied {
            self.catch_up(targets, request);
            let changed = targets.iter_mut().filter(|target| target.is_in());
            changed.for_each(|target| {
                target.outcome.state = match target.loaded {
                    None if target.is_new => ClassState::Defined,
                    None => ClassState::Waiting,
                    Some(_) => ClassState::Patched,
                }
            });
        }
        self.log(&log, Some(result(applied, targets)), targets)?;
        Ok(if applied { vec![id] } else { Vec::new() })
    }

    /// Rolls patches back in the classes that have them. `never` are classes that the patches waited for.
    fn roll_back(
        self,
        targets: &mut Vec<Target>,
        never: Vec<Target>,
        next: Stack,
        ids: &[u32],
    ) -> Result<Vec<u32>, Refusal> {
        let log = Log {
            action: "rollback",
            ids,
            note: "",
        };
        self.log(&log, None, targets)?;
        let applied = self.put_in_force(next, targets);
        if applied {
            let rolled_back = targets.iter_mut();
            rolled_back.for_each(|target| target.outcome.state = ClassState::RolledBack);
        }
        targets.extend(never.into_iter().map(|mut target| {
            if applied && target.loaded.is_none() {
                target.outcome.state = ClassState::Withdrawn;
            }
            target
        }));
        self.log(&log, Some(result(applied, targets)), targets)?;
        Ok(if applied { ids.to_vec() } else { Vec::new() })
    }

    /// A patch of the classes that are not refused.
    fn make(
        self,
        id: u32,
        targets: &[Target],
        new: &[NewClass],
        request: &PatchRequest,
    ) -> Arc<Patch> {
        let classes = new.iter().filter_map(|class| {
            let of_class = |target: &&Target| target.name == class.name && target.is_patched();
            let mine: Vec<&Target> = targets.iter().filter(of_class).collect();
            let loaders = mine.iter().filter_map(|target| target.loaded.as_ref());
            let loaders: Vec<LoaderId> = loaders.map(|loaded| loaded.loader).collect();
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
                loads: Loads::default(),
                companions: class.companions.clone(),
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

    /// Puts a stack in force and retransforms the classes that are not refused: all or nothing. Returns false for
    /// nothing; the classes that cause it are refused then.
    fn put_in_force(self, stack: Stack, targets: &mut [Target]) -> bool {
        let patches = &self.agent.patches;
        let held = self.held(targets);
        patches.try_stack(stack);
        let Err(error) = self.retransform(targets) else {
            if patches.keep() {
                // Meanwhile another thread retransformed one of them to its former state.
                let _ = self.retransform(targets);
            }
            return true;
        };
        self.put_back(held);
        let before = targets.iter().filter(|target| target.is_in()).count();
        for target in targets.iter_mut().filter(|target| target.is_in()) {
            self.dry_run_class(target);
        }
        patches.drop_trial();
        if targets.iter().filter(|target| target.is_in()).count() == before {
            // No single class is the cause.
            let chosen = targets.iter_mut().filter(|target| target.is_in());
            chosen.for_each(|target| target.refuse(vec![schema::refused_by_jvm(error)]));
        }
        false
    }

    /// The edits that the classes hold.
    fn held(self, targets: &[Target]) -> Vec<(Vec<u8>, LoaderId, Option<Edits>)> {
        let held = |target: &Target| {
            let loader = target.loaded.as_ref()?.loader;
            let edits = self.agent.classes.instrumented.find(&target.name, loader);
            Some((target.name.clone(), loader, edits))
        };
        targets.iter().filter_map(held).collect()
    }

    /// Restores the noted edits after the JVM refused the classes together: each class, even one that the JVM had
    /// parsed, holds its former edits.
    fn put_back(self, held: Vec<(Vec<u8>, LoaderId, Option<Edits>)>) {
        for (name, loader, edits) in held {
            self.agent.classes.instrumented.note(&name, loader, edits);
        }
    }

    fn retransform(self, targets: &[Target]) -> Result<(), JvmtiError> {
        let chosen = targets.iter().filter(|target| target.is_in());
        let loaded_ones = chosen.filter_map(|target| target.loaded.as_ref());
        let classes: Vec<&GlobalRef> = loaded_ones.map(|loaded| &loaded.class).collect();
        if classes.is_empty() {
            return Ok(());
        }
        self.jvm.jvmti.retransform_classes(self.jvm.live, &classes)
    }

    /// Retransforms classes that were loaded between the search for targets and the change of the stack.
    fn catch_up(self, targets: &mut [Target], request: &PatchRequest) {
        let waiting = |target: &&mut Target| target.loaded.is_none() && target.is_patched();
        for target in targets.iter_mut().filter(waiting) {
            let admitted = |loader: &str| admits(request.loader.as_deref(), loader);
            let Ok(found) = target::find(self.agent, self.jvm, &[&target.name], admitted) else {
                continue;
            };
            let late = found.iter().any(|late| late.loaded.is_some());
            if late && let Err(error) = self.retransform(&found) {
                target.refuse(vec![schema::refused_by_jvm(error)]);
            }
            target::release(self.jvm, found);
        }
    }

    /// The digest of the class file that the JVM has.
    fn digest_of_original(self, target: &Target) -> Option<String> {
        let loaded = target.loaded.as_ref()?;
        let file = loaded_file::read(self.jvm, &target.name, &loaded.class);
        file.ok().map(|bytes| digest(&bytes))
    }

    fn log(
        self,
        log: &Log<'_>,
        result: Option<&'static str>,
        targets: &[Target],
    ) -> Result<(), Refusal> {
        let classes: Vec<ClassOutcome> = targets
            .iter()
            .map(|target| target.outcome.clone())
            .collect();
        let entry = LogEntry {
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
        let folder = self.log_folder();
        let written = audit::append(folder, &entry);
        match (written, result) {
            (Ok(()), _) => {
                self.agent.patches.keep_log_folder(folder);
                Ok(())
            }
            (Err(error), None) => {
                let file = audit::file(folder);
                let text = format!(
                    "{} cannot be written, so no class was changed",
                    file.display()
                );
                Err(Refusal::new(codes::H0723, text).with("found", error.to_string()))
            }
            // The change was made; the answer must not claim the opposite.
            (Err(error), Some(_)) => {
                messages::warning(
                    Code::Patch,
                    format_args!("the log of patches cannot be completed: {error}"),
                );
                Ok(())
            }
        }
    }

    /// The folder of the log: the agent's own, unless that goes with the command for which the agent was loaded.
    fn log_folder(self) -> &'a Path {
        let known = self.agent.patches.log_folder();
        let lasting = known.or_else(|| audit::own_folder(self.agent));
        let lasting = lasting.or(self.log);
        lasting.unwrap_or(&self.agent.settings.output)
    }

    /// The answer. The global references are released.
    fn finish(
        self,
        targets: Vec<Target>,
        changed: Result<Vec<u32>, Refusal>,
    ) -> Result<Patched, Refusal> {
        let classes = target::release(self.jvm, targets);
        let ids = changed?;
        let log = match ids.is_empty() {
            true => String::new(),
            false => audit::file(self.log_folder()).display().to_string(),
        };
        Ok(Patched {
            log,
            quick_compiler: !ids.is_empty() && self.has_quick_compiler_alone(),
            ids,
            classes,
        })
    }

    /// Checks whether the JVM compiles with C1 alone. If C1 inlines a method into the code of a method handle, it does
    /// not record the method as a dependency of that code. So HotSpot keeps the code when the method changes.
    fn has_quick_compiler_alone(self) -> bool {
        let modes = self
            .jvm
            .jvmti
            .system_property(self.jvm.live, c"java.vm.info");
        modes.is_some_and(|modes| modes.contains("emulated-client"))
    }
}

/// The common part of the lines of one change.
struct Log<'a> {
    action: &'static str,
    ids: &'a [u32],
    note: &'a str,
}

/// The result of a change for the log. If all classes of a patch are still to be loaded, it is `waiting`.
fn result(applied: bool, targets: &[Target]) -> &'static str {
    let has = |state: ClassState| targets.iter().any(|target| target.outcome.state == state);
    match applied {
        false => "refused",
        true if has(ClassState::Waiting) && !has(ClassState::Patched) => "waiting",
        true if targets.iter().any(Target::is_refused) => "partly applied",
        true => "applied",
    }
}

fn with(stack: &Stack, patch: Arc<Patch>) -> Stack {
    let mut next = stack.clone();
    next.push(patch);
    next
}
