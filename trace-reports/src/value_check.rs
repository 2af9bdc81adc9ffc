//! Checks the values of `--when` and `--show` against the methods and classes that a JVM has
//! loaded.

use std::collections::BTreeSet;

use agent_connection::agent::Agent;
use conditions::{Path, Root, Step};
use control::Request;
use control::message::Field;
use errors::{Error, codes};
use jvms::descriptor::{FieldType, MethodDescriptor};
use jvms::modified_utf8::Utf8;
use jvms::names;
use probes::events::{SpanInfo, Trace};
use standard_streams::show;
use trace::absent::Absent;

/// Minimum similarity of a suggested name, from 0 to 1.
const LIKE: f64 = 0.6;
/// Maximum number of listed names.
const MOST: usize = 12;
/// The message of an exception: the name that programs use, and its field.
const MESSAGE: (&str, &str) = ("message", "detailMessage");

/// Returns the most similar of these names, if it is similar enough.
#[must_use]
pub fn nearest(wanted: &str, names: &[String]) -> Option<String> {
    let (message, field) = MESSAGE;
    let has_message = names.iter().any(|name| name == field);
    let names = names.iter().map(String::as_str);
    let names = names.chain(has_message.then_some(message));
    let likeness = |name: &str| strsim::normalized_damerau_levenshtein(wanted, name);
    let best = names.max_by(|one, other| likeness(one).total_cmp(&likeness(other)))?;
    (likeness(best) > LIKE).then(|| best.to_owned())
}

/// Reports values that no call had because a class lacks a field.
///
/// # Errors
/// `H0638` if there are such values.
pub fn were_found(traces: &[&Trace]) -> Result<(), Error> {
    never_found(&absent(traces))
}

/// Returns the values that no call had because a class lacks a field.
#[must_use]
pub fn absent(traces: &[&Trace]) -> Absent {
    Absent::of(traces.iter().copied(), nearest)
}

/// Returns the error for values that were never found.
///
/// # Errors
/// `H0638` if there are such values.
pub fn never_found(absent: &Absent) -> Result<(), Error> {
    if absent.lines.is_empty() {
        return Ok(());
    }
    let problem = Error::partial(codes::H0638, "a requested value is in no call");
    let problem = absent
        .lines
        .iter()
        .fold(problem, |problem, line| problem.with("found", line));
    Err(absent
        .nearest
        .iter()
        .fold(problem, |problem, name| problem.with("nearest", name)))
}

/// Checks the requested values by name.
pub struct ValueCheck<'a> {
    /// The condition and the list.
    pub watch: &'a conditions::Watch,
    /// The methods of loaded classes.
    pub methods: &'a [SpanInfo],
}

/// The reason why no call has a value.
struct MissingValue {
    found: String,
    nearest: Option<String>,
}

impl ValueCheck<'_> {
    /// Checks that a method has each named parameter, and that loaded classes have the named
    /// fields.
    ///
    /// # Errors
    /// `H0657` for an unknown parameter, `H0638` for an unknown field, or if the agent does not
    /// answer.
    pub fn check(&self, agent: &mut Agent) -> Result<(), Error> {
        if self.methods.is_empty() {
            return Ok(());
        }
        self.watch
            .names()
            .into_iter()
            .try_for_each(|name| self.has_parameter(name))?;
        for path in self.watch.paths() {
            if let Some(lacking) = self.lacks(agent, path)? {
                let problem = Error::mistake(codes::H0638, "a requested value is in no call")
                    .with("found", lacking.found);
                return Err(match lacking.nearest {
                    Some(name) => problem.with("nearest", name),
                    None => problem,
                });
            }
        }
        Ok(())
    }

    fn has_parameter(&self, name: &str) -> Result<(), Error> {
        let known: BTreeSet<&String> = self
            .methods
            .iter()
            .flat_map(|method| &method.parameters)
            .filter(|known| !known.is_empty())
            .collect();
        if known.iter().any(|known| *known == name) {
            return Ok(());
        }
        let shown = show::name(name).into_owned();
        let problem = Error::mistake(codes::H0657, format!("no method has a parameter `{shown}`"));
        if known.is_empty() {
            return Err(problem
                .with("found", "class files that name no parameters")
                .with("help", "compile with -g or -parameters, or use arg[0]"));
        }
        let names: Vec<String> = known.into_iter().cloned().collect();
        let listed: Vec<_> = names.iter().take(MOST).map(|it| show::name(it)).collect();
        let problem = problem.with("found", format!("the parameters {}", listed.join(", ")));
        Err(match nearest(name, &names) {
            Some(near) => problem.with("nearest", show::name(&near).into_owned()),
            None => problem,
        })
    }

    /// Returns the reason why no call has a value, if it holds for every method.
    fn lacks(&self, agent: &mut Agent, path: &Path) -> Result<Option<MissingValue>, Error> {
        let roots: BTreeSet<String> = self
            .methods
            .iter()
            .filter_map(|method| root(method, path))
            .collect();
        let mut first = None;
        for root in roots {
            match lacks_from(agent, path, root)? {
                None => return Ok(None),
                Some(lacking) => first = first.or(Some(lacking)),
            }
        }
        Ok(first)
    }
}

/// Returns the declared type of the first value of a path, as a descriptor.
fn root(method: &SpanInfo, path: &Path) -> Option<String> {
    let descriptor = MethodDescriptor::parse(method.descriptor.as_bytes()).ok()?;
    let of_parameter = |index: usize| descriptor.parameters().nth(index).map(of_type);
    match path.root {
        Root::This => Some(format!("L{};", method.class)),
        Root::Argument(index) => of_parameter(index.into()),
        Root::Returned => descriptor.return_type().map(of_type),
        Root::Thrown => None,
        Root::Local => {
            let name = path.variable()?;
            of_parameter(method.parameters.iter().position(|known| known == name)?)
        }
    }
}

/// Returns the descriptor of a type.
fn of_type(kind: FieldType<'_>) -> String {
    let text = |bytes| Utf8::new(bytes).to_str_lossless().into_owned();
    match kind {
        FieldType::Base(base) => char::from(base.letter()).to_string(),
        FieldType::Class(name) => format!("L{};", text(name)),
        FieldType::Array(descriptor) => text(descriptor),
    }
}

/// Follows the declared types of fields. Returns nothing if the value may exist.
fn lacks_from(agent: &mut Agent, path: &Path, root: String) -> Result<Option<MissingValue>, Error> {
    let mut kind = root;
    for step in path.from_root() {
        let next = match (step, kind.as_bytes().first()) {
            (Step::Element(_), Some(b'[')) => kind.get(1..).map(str::to_owned),
            (Step::Field(name), Some(b'L')) => match of_class(agent, path, &kind, name)? {
                Ok(next) => next,
                Err(lacking) => return Ok(Some(lacking)),
            },
            (Step::Field(name), Some(b'[')) => {
                let found = format!("{path}: an array has no field `{name}`");
                let nearest = nearest(name, &["length".to_owned()]);
                return Ok(Some(MissingValue { found, nearest }));
            }
            (Step::Length, Some(b'L' | b'[')) | (Step::Class, _) => None,
            (Step::Element(_), Some(b'L')) => None,
            (_, Some(_)) => {
                let found = format!("{path}: a primitive value has no fields and elements");
                return Ok(Some(MissingValue {
                    found,
                    nearest: None,
                }));
            }
            (_, None) => None,
        };
        match next {
            Some(next) => kind = next,
            None => return Ok(None),
        }
    }
    Ok(None)
}

/// Returns the declared type of a field in objects of a class, or nothing if it is unknown or
/// differs between classes.
fn of_class(
    agent: &mut Agent,
    path: &Path,
    kind: &str,
    name: &str,
) -> Result<Result<Option<String>, MissingValue>, Error> {
    let internal = kind
        .get(1..kind.len().saturating_sub(1))
        .unwrap_or_default();
    let class = names::binary(internal).to_string();
    if class == "java.lang.Object" {
        return Ok(Ok(None));
    }
    let field: Field = agent.ask_for(&Request::Field {
        class: class.clone(),
        name: name.to_owned(),
    })?;
    let is_message = name == MESSAGE.0 && field.fields.contains(MESSAGE.1);
    let mut types = field.types.iter();
    match (types.next(), types.next()) {
        (Some(only), None) => Ok(Ok(Some(only.clone()))),
        (Some(_), Some(_)) => Ok(Ok(None)),
        // A class that is loaded later may have it.
        _ if field.classes == 0 || field.is_abstract || is_message => Ok(Ok(None)),
        _ => {
            let known: Vec<String> = field.fields.into_iter().collect();
            let (class, name) = (show::name(&class), show::name(name));
            let found = format!("{path}: {class} has no field `{name}`");
            Ok(Err(MissingValue {
                found,
                nearest: nearest(&name, &known).map(|it| show::name(&it).into_owned()),
            }))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_name_is_a_field_or_the_exception_message() {
        let nearest = |wanted, names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            nearest(wanted, &names)
        };
        assert_eq!(nearest("nme", &["id", "name"]).as_deref(), Some("name"));
        assert_eq!(nearest("price", &["id", "state"]), None);
        assert_eq!(nearest("statsu", &["s", "m"]), None);
        let fields = ["detailMessage", "cause"];
        assert_eq!(nearest("mesage", &fields).as_deref(), Some("message"));
    }
}
