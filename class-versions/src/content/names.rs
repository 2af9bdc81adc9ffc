//! Constants as text, with all constants that they refer to.

use rewriter::{ClassFile, Dynamic, LoadableConstant, MemberRef, MethodHandle, PoolIndex};

/// Maximum nesting of dynamic constants; a malformed class may contain a cycle.
const DEEPEST: u32 = 8;
/// Maximum bytes of text of one constant; beyond it, parts are written as indices.
const LONGEST: usize = 1 << 20;

/// Returns a replacement for a member's name; `None` keeps the name.
pub type Naming<'n> = &'n dyn Fn(&MemberRef<'_>) -> Option<String>;

/// Keeps every member's name.
#[must_use]
pub fn own_names(_: &MemberRef<'_>) -> Option<String> {
    None
}

/// Writes the constants of one class.
#[derive(Clone, Copy)]
pub(super) struct Constants<'c, 'a> {
    pub(super) class: &'c ClassFile<'a>,
    pub(super) naming: Naming<'c>,
}

impl Constants<'_, '_> {
    /// Returns the text of the entry at `index`, of any kind.
    pub(super) fn entry(&self, index: PoolIndex) -> String {
        self.followed(index, 0)
    }

    fn followed(&self, index: PoolIndex, depth: u32) -> String {
        let pool = self.class.pool();
        if let Some(member) = pool.member_ref(index) {
            return self.member(&member);
        }
        if let Some(found) = pool.dynamic(index) {
            return self.dynamic(&found, depth);
        }
        match pool.constant(index) {
            Some(value) => self.constant(&value, depth),
            None => "(no constant)".to_owned(),
        }
    }

    fn constant(&self, value: &LoadableConstant<'_>, depth: u32) -> String {
        match value {
            LoadableConstant::Float(value) => format!("float {:#x}", value.to_bits()),
            LoadableConstant::Double(value) => format!("double {:#x}", value.to_bits()),
            LoadableConstant::MethodHandle(handle) => self.handle(handle),
            LoadableConstant::Dynamic(found) => self.dynamic(found, depth),
            plain => format!("{plain:?}"),
        }
    }

    fn member(&self, member: &MemberRef<'_>) -> String {
        (self.naming)(member).unwrap_or_else(|| {
            let kind = if member.interface { "interface " } else { "" };
            let MemberRef {
                owner,
                name,
                descriptor,
                ..
            } = member;
            format!("{kind}{owner:?}.{name:?}:{descriptor:?}")
        })
    }

    fn handle(&self, handle: &MethodHandle<'_>) -> String {
        format!("handle {} {}", handle.kind, self.member(&handle.member))
    }

    /// Returns name and type, with the bootstrap method and its arguments.
    fn dynamic(&self, found: &Dynamic<'_>, depth: u32) -> String {
        let (name, descriptor) = (found.name, found.descriptor);
        let mut text = format!("dynamic {name:?}:{descriptor:?}");
        if depth >= DEEPEST {
            return text;
        }
        let mut bootstraps = self.class.bootstrap_methods();
        if let Some(bootstrap) = bootstraps.nth(usize::from(found.bootstrap)) {
            let deeper = depth.saturating_add(1);
            let parts = std::iter::once(bootstrap.method_handle).chain(bootstrap.arguments());
            for part in parts {
                text.push_str(", ");
                match text.len() < LONGEST >> depth {
                    true => text.push_str(&self.followed(part, deeper)),
                    false => text.push_str(&part.0.to_string()),
                }
            }
        }
        text
    }
}
