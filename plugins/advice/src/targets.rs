//! The patterns of `@Advice`.

use classhook_sdk::access_flags::{ACC_BRIDGE, ACC_SYNTHETIC};
use classhook_sdk::pattern::Pattern;
use classhook_sdk::prelude::*;

/// The way in which a pattern names classes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// By their names.
    Name,
    /// By the names of their direct supertypes.
    Subtype,
    /// By their annotations.
    Annotation,
}

impl Kind {
    fn mark(self) -> &'static str {
        match self {
            Self::Name => "",
            Self::Subtype => "<:",
            Self::Annotation => "@",
        }
    }
}

/// A pattern of methods.
struct Target {
    kind: Kind,
    pattern: Pattern,
}

/// The patterns of one class with advice.
pub struct Targets {
    include: Vec<Target>,
    exclude: Vec<Target>,
}

/// The patterns that may match methods of one class.
pub struct OfClass<'t> {
    include: Vec<&'t Pattern>,
    exclude: Vec<&'t Pattern>,
    /// The pattern that names this class, without wildcards.
    pub naming: Option<&'t Pattern>,
}

impl Targets {
    /// Parses the patterns.
    ///
    /// # Errors
    /// The mistake, and an example.
    pub fn parse(texts: &[String]) -> std::result::Result<Self, String> {
        let (mut include, mut exclude) = (Vec::new(), Vec::new());
        for text in texts {
            let (list, rest) = match text.strip_prefix('!') {
                Some(rest) => (&mut exclude, rest),
                None => (&mut include, text.as_str()),
            };
            let marked = [Kind::Subtype, Kind::Annotation].into_iter();
            let mut marked =
                marked.filter_map(|kind| Some((kind, rest.strip_prefix(kind.mark())?)));
            let (kind, rest) = marked.next().unwrap_or((Kind::Name, rest));
            let dotted = match rest.split_once('#') {
                Some((class, method)) if class.is_empty() || method.is_empty() => {
                    return Err(format!(
                        "the pattern `{text}` names nothing; expected `CLASS#METHOD`, such as `com.acme.Shop#find*`"
                    ));
                }
                Some((class, method)) => format!("{class}.{method}"),
                None => rest.to_owned(),
            };
            let names_methods = rest.contains('#') || rest == "**" || rest.ends_with(".**");
            if !names_methods {
                return Err(format!(
                    "the pattern `{text}` names no methods; expected `CLASS#METHOD`, such as `com.acme.Shop#find*`"
                ));
            }
            let pattern = Pattern::parse(&dotted).map_err(|error| error.to_string())?;
            list.push(Target { kind, pattern });
        }
        Ok(Self { include, exclude })
    }

    /// The selectors of the classes.
    pub fn selectors(&self) -> impl Iterator<Item = String> {
        self.include.iter().flat_map(|target| {
            let mark = target.kind.mark();
            let selectors = target.pattern.selectors.iter();
            selectors.map(move |selector| format!("{mark}{selector}"))
        })
    }

    /// Returns the patterns for methods of this class; `None` if none may match.
    pub fn of_class(&self, class: &Class<'_>) -> Option<OfClass<'_>> {
        let name = class.name();
        let matching = |targets: &'_ [Target]| -> Vec<usize> {
            let all = targets.iter().enumerate();
            let matching = all.filter(|(_, target)| target.matches(class, &name));
            matching.map(|(index, _)| index).collect()
        };
        let included = matching(&self.include);
        if included.is_empty() {
            return None;
        }
        let excluded = matching(&self.exclude);
        let include = included.iter().filter_map(|at| self.include.get(*at));
        let exclude = excluded.iter().filter_map(|at| self.exclude.get(*at));
        let mut naming = include.clone().filter(|target| {
            target.kind == Kind::Name && target.pattern.only_class.as_deref() == Some(&*name)
        });
        Some(OfClass {
            naming: naming.next().map(|target| &target.pattern),
            include: include.map(|target| &target.pattern).collect(),
            exclude: exclude.map(|target| &target.pattern).collect(),
        })
    }
}

impl Target {
    fn matches(&self, class: &Class<'_>, name: &str) -> bool {
        match self.kind {
            Kind::Name => self.pattern.matches_class(name),
            Kind::Subtype => {
                let supertypes = class.super_name().into_iter().chain(class.interfaces());
                let mut supertypes = supertypes;
                supertypes.any(|name| self.pattern.matches_class(&name))
            }
            Kind::Annotation => class.annotations().iter().any(|descriptor| {
                let name = descriptor.strip_prefix('L');
                let name = name.and_then(|rest| rest.strip_suffix(';'));
                name.is_some_and(|name| self.pattern.matches_class(name))
            }),
        }
    }
}

impl OfClass<'_> {
    /// Checks whether the advice runs in a method. Methods of the compiler and constructors are only
    /// meant by their names.
    pub fn matches(&self, method: &Method<'_>) -> bool {
        let (name, descriptor) = (method.name(), method.descriptor());
        let made = method.access_flags() & (ACC_SYNTHETIC | ACC_BRIDGE) != 0;
        let is_special = name.starts_with('<');
        let includes = |pattern: &&Pattern| {
            let by_name = pattern.member.starts_with('<') || pattern.member == name;
            !made && (by_name || !is_special) && pattern.matches_method(name, descriptor)
        };
        let excludes = |pattern: &&Pattern| pattern.matches_method(name, descriptor);
        self.include.iter().any(includes) && !self.exclude.iter().any(excludes)
    }
}
