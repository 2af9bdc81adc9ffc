//! The loaded classes.

use crate::agent::loaders::{LoaderId, Loaders};
use crate::ffi::jvm::Jvm;
use crate::ffi::refs::LocalRef;
use crate::messages::{self, Code};
use crate::names::internal_name;
use host::Loader;
use host::exclusions::is_excluded;

/// Local references to reserve while all classes of the JVM are listed; the JVM's own limit.
pub(crate) const CAPACITY: i32 = 65_536;

/// A loaded class.
pub(crate) struct LoadedClass<'a> {
    /// The class itself.
    pub class: LocalRef<'a>,
    /// Its internal name.
    pub name: Vec<u8>,
    /// The type of the loader that defined it.
    pub loader: Loader,
    /// The id of this loader.
    pub loader_id: LoaderId,
}

/// Lists every loaded class except arrays, hidden classes and excluded classes. It is lazy: the names of all classes at
/// once would take some megabytes, which the C library keeps for the thread.
pub(crate) fn list<'a>(
    loaders: &'a Loaders,
    jvm: Jvm<'a>,
) -> impl Iterator<Item = LoadedClass<'a>> {
    let classes = jvm.jvmti.loaded_classes(jvm.live, jvm.local);
    let classes = classes.unwrap_or_else(|error| {
        messages::warning(
            Code::Retransform,
            format_args!("the JVM does not list its classes: {error}"),
        );
        Vec::new()
    });
    let known = move |class| loaded(loaders, jvm, class);
    classes.into_iter().filter_map(known)
}

fn loaded<'a>(loaders: &Loaders, jvm: Jvm<'a>, class: LocalRef<'a>) -> Option<LoadedClass<'a>> {
    let signature = jvm.jvmti.class_signature(&class).ok()?;
    let name = internal_name(&signature)?.to_vec();
    if is_excluded(&name) || is_anonymous(jvm, &class, &name) {
        return None;
    }
    let loader = jvm.jvmti.class_loader(jvm.local, &class).ok()?;
    Some(LoadedClass {
        class,
        name,
        loader: loaders.kind(jvm.jvmti, jvm.local, loader.as_ref()),
        loader_id: loaders.identify(jvm.jvmti, jvm.local, loader.as_ref())?,
    })
}

/// Checks whether `Unsafe.defineAnonymousClass` of Java 8 has defined a class, as it does for lambdas and method handles.
///
/// It has no name by which it could be found, as a hidden class of later releases. HotSpot 8 takes it for modifiable,
/// and crashes when it makes the class file of one whose constants are objects. Later releases refuse such classes.
fn is_anonymous(jvm: Jvm<'_>, class: &LocalRef<'_>, name: &[u8]) -> bool {
    let number = number_at_end(name);
    number.is_some_and(|number| jvm.jvmti.identity_hash(class) == Some(number))
}

/// Returns the number behind the last `/` of a name. HotSpot 8 appends the identity hash of the class to the name that
/// the class file has: `java/lang/invoke/LambdaForm$MH/621009875`.
fn number_at_end(name: &[u8]) -> Option<u32> {
    let last = name.rsplit(|byte| *byte == b'/').next()?;
    let is_number = last.iter().all(u8::is_ascii_digit);
    let text = str::from_utf8(last).ok().filter(|_| is_number)?;
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_of_a_nameless_class_is_behind_the_last_slash() {
        for (name, number) in [
            (
                "java/lang/invoke/LambdaForm$MH/621009875",
                Some(621_009_875),
            ),
            ("com/acme/Main$$Lambda$1/7", Some(7)),
            ("com/acme/Main$$Lambda$1", None),
            ("com/acme/Main$1", None),
            ("com/acme/+7", None),
            ("com/acme/", None),
            ("", None),
            ("com/acme/99999999999", None),
        ] {
            assert_eq!(number_at_end(name.as_bytes()), number, "{name}");
        }
    }
}
