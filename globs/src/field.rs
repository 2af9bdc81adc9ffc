//! Fields as users name them.

use crate::Glob;

/// `com.acme.Order.status`: a class without a package is one of any package, and both parts may have wildcards.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldPattern {
    class: String,
    field: String,
}

impl FieldPattern {
    /// Reads `CLASS.FIELD`. Returns `None` for a text of another form.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (class, field) = text.rsplit_once('.')?;
        Glob::parse_class(class).ok()?;
        let is_name = |text: &str| !text.is_empty() && !text.contains([' ', '/', ';', '[', '(']);
        is_name(field).then(|| Self {
            class: class.replace('/', "."),
            field: field.to_owned(),
        })
    }

    /// Says whether the field is called so.
    #[must_use]
    pub fn has_name(&self, field: &str) -> bool {
        Glob::of_member(&self.field).matches(field)
    }

    /// The name of the field, with its wildcards.
    #[must_use]
    pub fn field(&self) -> &str {
        &self.field
    }

    /// Says whether a field of the class is meant, by the internal name of the class.
    #[must_use]
    pub fn is_of(&self, class: &str) -> bool {
        self.globs()
            .any(|glob| Glob::of_class(&glob).matches(class))
    }

    /// Gives the texts with `*` and `?` of which one fits the class that declares the field.
    pub fn classes(&self) -> impl Iterator<Item = String> {
        self.globs().map(|glob| glob.replace("**", "*"))
    }

    fn globs(&self) -> impl Iterator<Item = String> {
        let is_simple = !self.class.contains('.');
        let any_package = is_simple.then(|| format!("**.{}", self.class));
        [self.class.clone()].into_iter().chain(any_package)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn class_without_a_package_is_one_of_any_package() {
        let simple = FieldPattern::parse("Order.status").expect("a field");
        assert!(simple.is_of("Order") && simple.is_of("com/acme/Order"));
        assert!(!simple.is_of("com/acme/BigOrder") && !simple.is_of("Order$1"));
        assert_eq!(simple.classes().collect::<Vec<_>>(), ["Order", "*.Order"]);
        let whole = FieldPattern::parse("com.acme.Order.sta*").expect("a field");
        assert!(whole.is_of("com/acme/Order") && !whole.is_of("x/com/acme/Order"));
        assert!(whole.has_name("status") && !whole.has_name("order"));
    }

    #[test]
    fn what_names_no_field_is_refused() {
        for text in [
            "",
            "status",
            ".status",
            "Order.",
            "a***.b",
            "Order.f()",
            "Order.a b",
        ] {
            assert_eq!(FieldPattern::parse(text), None, "{text}");
        }
    }
}
