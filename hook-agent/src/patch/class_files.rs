//! The class files of classes that are to be patched, as input of a compiler.

use crate::agent::loaders::admits;
use crate::patch::change::Change;
use crate::patch::findable;
use crate::patch::target;
use control::Refusal;
use control::patch::ClassBytes;
use jvms::modified_utf8;

/// The class files of these classes, named with dots: of loaded classes their own, of others the class file that a
/// loader would find.
///
/// # Errors
///
/// If the JVM does not list its classes.
pub(crate) fn of(
    change: Change<'_>,
    classes: &[String],
    loader: Option<&str>,
) -> Result<Vec<ClassBytes>, Refusal> {
    let _turn = change.agent.patches.turn();
    let names: Vec<Vec<u8>> = classes
        .iter()
        .map(|name| modified_utf8::encode(&name.replace('.', "/")))
        .collect();
    let names: Vec<&[u8]> = names.iter().map(Vec::as_slice).collect();
    let admitted = |displayed: &str| admits(loader, displayed);
    let mut targets = target::find(change.agent, change.jvm, &names, admitted)?;
    findable::fill_in(change.agent, change.jvm, &mut targets, admitted);
    targets
        .iter_mut()
        .for_each(|target| target.read_file(change.jvm));
    let files = targets.iter().filter_map(|target| {
        let found = target.file().or(target.findable.as_deref())?;
        Some(ClassBytes(found.to_vec()))
    });
    let files = files.collect();
    target::release(change.jvm, targets);
    Ok(files)
}
