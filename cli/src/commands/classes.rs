//! `classhook classes`: what is loaded in a running JVM, where it comes from, and who changed it.

use agent_connection::agent::Agent;
use agent_connection::decoded_answers::read;
use clap::Args;
use class_selection::nearest;
use control::Request;
use control::classes::{ClassLoader, Details, LoadedMethod, Plan};
use control::message::{Class, Classes as Answer};
use errors::{Error, PARTIAL};
use jvms::access_flags;
use jvms::descriptor::Parameters;
use serde_json::Value;
use standard_streams::show::{name, say};
use trace::numbers::counted;

use crate::args::Target;

const AFTER_HELP: &str = "\
Examples:
  classhook classes 4711 --changed
  classhook classes 4711 'com.acme.**' --limit 50 --skip 100
  classhook classes 4711 com.acme.Store --source --loader --methods
  classhook classes 4711 com.acme.Store --plan

--methods counts frames that still run code from before a patch or another edit. It counts on the stacks of all platform
threads, not of virtual threads.";

/// Lists the classes of a running JVM with their edits, sources, loaders and methods.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct Classes {
    /// The running JVM.
    #[command(flatten)]
    pub target: Target,
    /// List only these classes: com.acme.**, loader:app
    #[arg(value_name = "SELECTOR")]
    pub filter: Option<String>,
    /// List only classes with edits of plugins
    #[arg(long)]
    pub changed: bool,
    /// Show the source location of each class
    #[arg(long)]
    pub source: bool,
    /// Show the loader of each class and the loader's parents: class, identity hash and name
    #[arg(long)]
    pub loader: bool,
    /// Show the methods of each class; with the frames that run former code
    #[arg(long)]
    pub methods: bool,
    /// Show the code of each class like javap; with the edits of plugins
    #[arg(long)]
    pub plan: bool,
    /// Leave out this number of classes at the start
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    pub skip: usize,
    /// Stop after this number of classes [default: 1000, and all with --json]
    #[arg(long, value_name = "COUNT")]
    pub limit: Option<usize>,
}

/// Default number of classes in a list for people.
const LIMIT: usize = 1_000;
/// Maximum number of classes in one answer: the JVM's memory grows with it.
const PAGE: usize = 1_000;

impl Classes {
    /// Prints a line for each class, with the selected details below it.
    ///
    /// # Errors
    /// If the JVM has no agent, or the selector is malformed or matches no loaded class (`H0671`).
    pub fn run(&self) -> Result<u8, Error> {
        let mut agent = Agent::connect(self.target.pid)?;
        let answer = self.listed(&mut agent)?;
        let classes: Answer = read(answer.clone())?;
        let plans = classes
            .classes
            .iter()
            .filter_map(|class| class.plan.as_ref());
        let is_partial = plans.into_iter().any(|plan| !plan.cause.is_empty());
        if self.target.json {
            self.target.show(answer, |_: &Answer| String::new())?;
            match rest(&classes, self.skip).trim_end() {
                "" => {}
                rest => say(rest),
            }
        } else {
            standard_streams::show::show(&text(&classes, self.skip))?;
        }
        if classes.total == 0 {
            self.explain_nothing(&mut agent)?;
        }
        Ok(if is_partial { PARTIAL } else { 0 })
    }
}

impl Classes {
    /// Requests the list and returns it as one answer. Lists with details are requested page by page.
    ///
    /// # Errors
    /// As [`Agent::ask`].
    fn listed(&self, agent: &mut Agent) -> Result<Value, Error> {
        let default = if self.target.json { usize::MAX } else { LIMIT };
        let limit = self.limit.unwrap_or(default);
        let details = self.details();
        let largest = if details.is_empty() { usize::MAX } else { PAGE };
        let (mut classes, mut total) = (Vec::new(), None);
        loop {
            let page = largest.min(limit - classes.len());
            let mut answer = agent.ask(&Request::Classes {
                filter: self.filter.clone(),
                changed: self.changed,
                skip: self.skip.saturating_add(classes.len()),
                limit: page,
                details,
            })?;
            let Some(Value::Array(found)) = answer.get_mut("classes").map(Value::take) else {
                return Ok(answer);
            };
            let before = total.replace(answer["total"].clone());
            if before.is_some_and(|before| before != answer["total"]) {
                say("classes were loaded or unloaded meanwhile: one may be missing, or here twice");
            }
            let is_last = found.len() < page;
            classes.extend(found);
            if is_last || classes.len() >= limit {
                answer["classes"] = Value::Array(classes);
                return Ok(answer);
            }
        }
    }

    fn details(&self) -> Details {
        Details {
            source: self.source,
            loaders: self.loader,
            methods: self.methods,
            plan: self.plan,
        }
    }

    /// Reports the cause of an empty list.
    ///
    /// # Errors
    /// `H0671` if the selector matches no loaded class, changed or not; or if the agent does not answer.
    fn explain_nothing(&self, agent: &mut Agent) -> Result<(), Error> {
        let request = Request::Classes {
            filter: self.filter.clone(),
            changed: false,
            skip: 0,
            limit: 0,
            details: Details::default(),
        };
        let all: Answer = agent.ask_for(&request)?;
        match &self.filter {
            Some(filter) if all.total == 0 => Err(nearest::among_loaded(filter, &agent.classes()?)),
            _ => {
                let classes = counted(all.total, "loaded class");
                say(format_args!("no changed class among {classes}"));
                Ok(())
            }
        }
    }
}

fn text(answer: &Answer, skip: usize) -> String {
    let mut text: String = answer.classes.iter().map(described).collect();
    text.push_str(&rest(answer, skip));
    text
}

/// Returns the line about classes outside a list, or nothing for a whole list.
fn rest(answer: &Answer, skip: usize) -> String {
    let listed = answer.classes.len();
    let (all, next) = (counted(answer.total, "class"), skip + listed);
    match next < answer.total {
        _ if listed == answer.total => String::new(),
        true => format!("{listed} of {all}; --skip {next} shows the next\n"),
        false => format!("{listed} of {all}, the last ones\n"),
    }
}

/// Returns the line of a class and its details.
fn described(class: &Class) -> String {
    let mut text = line(class);
    if let Some(source) = &class.source {
        let source = if source.is_empty() { "unknown" } else { source };
        text.push_str(&format!("  source   {}\n", name(source)));
    }
    let loaders = class.loaders.iter().flatten();
    for (loader, label) in loaders.zip(std::iter::once("loader").chain(std::iter::repeat("parent")))
    {
        text.push_str(&format!("  {label:<8} {}\n", loader_text(loader)));
    }
    for method in class.methods.iter().flatten() {
        text.push_str(&format!("  method   {}\n", method_text(method)));
    }
    if let Some(Plan { text: plan, cause }) = &class.plan {
        text.push_str(plan); // the printer has escaped it
        for line in cause.lines() {
            text.push_str(&format!("  cause    {}\n", name(line)));
        }
    }
    text
}

fn line(class: &Class) -> String {
    let changed = match class.changed_by.as_slice() {
        [] => String::new(),
        plugins => format!("  changed by {}", name(&plugins.join(", "))),
    };
    let (class, loader) = (name(&class.name), name(&class.loader));
    format!("{class} ({loader}){changed}\n")
}

/// Returns `com.acme.Loader@1b6d3586 "plugins"`.
fn loader_text(loader: &ClassLoader) -> String {
    let mut text = name(&loader.class).into_owned();
    if !loader.hash.is_empty() {
        text.push_str(&format!("@{}", name(&loader.hash)));
    }
    if !loader.name.is_empty() {
        text.push_str(&format!(" \"{}\"", name(&loader.name)));
    }
    text
}

/// Returns `public static find(java.lang.String, int)  2 frames run former code`.
fn method_text(method: &LoadedMethod) -> String {
    let parameters = Parameters::of(method.descriptor.as_bytes());
    let class = |internal: &str| jvms::names::binary(internal);
    let parameters: Vec<String> = parameters.map(|found| found.to_java(class)).collect();
    let written = format!(
        "{}{}({})",
        flags(method.flags),
        method.name,
        parameters.join(", ")
    );
    let former = match method.former_frames {
        0 => String::new(),
        1 => "  1 frame runs former code".to_owned(),
        count => format!("  {count} frames run former code"),
    };
    format!("{}{former}", name(&written))
}

/// Returns access flags as Java modifiers: `public static ` (JVMS 4.6).
fn flags(flags: u16) -> String {
    let words = [
        (access_flags::ACC_PUBLIC, "public "),
        (access_flags::ACC_PRIVATE, "private "),
        (access_flags::ACC_PROTECTED, "protected "),
        (access_flags::ACC_ABSTRACT, "abstract "),
        (access_flags::ACC_STATIC, "static "),
        (access_flags::ACC_FINAL, "final "),
        (access_flags::ACC_SYNCHRONIZED, "synchronized "),
        (access_flags::ACC_NATIVE, "native "),
        (access_flags::ACC_SYNTHETIC, "synthetic "),
    ];
    let set = words.iter().filter(|(flag, _)| flags & flag != 0);
    set.map(|(_, word)| *word).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truncated_list_names_the_option_for_the_next_classes() {
        let class = Class {
            name: "a.B".into(),
            loader: "app".into(),
            changed_by: vec!["coverage".into()],
            ..Class::default()
        };
        let answer = Answer {
            total: 9,
            classes: vec![class],
        };
        assert_eq!(
            text(&answer, 4),
            "a.B (app)  changed by coverage\n1 of 9 classes; --skip 5 shows the next\n"
        );
        assert_eq!(rest(&answer, 8), "1 of 9 classes, the last ones\n");
        assert_eq!(rest(&Answer { total: 1, ..answer }, 0), "");
    }

    #[test]
    fn details_follow_the_line_of_their_class() {
        let loader = |class: &str, hash: &str, name: &str| ClassLoader {
            class: class.into(),
            hash: hash.into(),
            name: name.into(),
        };
        let class = Class {
            name: "a.B".into(),
            loader: "a.L@1f".into(),
            source: Some("file:/a.jar".into()),
            loaders: Some(vec![loader("a.L", "1f", "web"), loader("boot", "", "")]),
            methods: Some(vec![LoadedMethod {
                name: "f".into(),
                descriptor: "(Ljava/lang/String;[I)V".into(),
                flags: 9,
                former_frames: 2,
            }]),
            plan: Some(Plan {
                text: "class a/B\n".into(),
                cause: "a trap\nin f".into(),
            }),
            ..Class::default()
        };
        assert_eq!(
            described(&class),
            "a.B (a.L@1f)\n  source   file:/a.jar\n  loader   a.L@1f \"web\"\n  parent   boot\n  \
             method   public static f(java.lang.String, int[])  2 frames run former code\n\
             class a/B\n  cause    a trap\n  cause    in f\n"
        );
    }
}
