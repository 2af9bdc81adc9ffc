//! Each pair of kinds of edits by two plans, in real JVMs: the first plan is around the second.

use crate::support::edited::{Edited, find, member};
use e2e_tests::java::Java;
use e2e_tests::{javac, jdks, scratch, workspace};
use jvms::opcode;
use rewriter::{
    Assemble, Bci, CallTarget, Change, ClassEdit, EditPlan, InsertionPoint, Location, MethodIndex,
    PluginPlan, Snippet,
};

/// The edits of one plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Records the entry and each end of the method.
    Recorder,
    /// Throws at the entry.
    ThrowsAtEntry,
    /// Returns at the entry.
    Skips,
    /// Throws in front of a return.
    ThrowsAtExit,
    /// Returns instead of throwing.
    Swallows,
    /// Throws another exception.
    Rethrows,
    /// Records before and after a call.
    Around,
    /// Replaces the call.
    ReplacesCall,
    /// Replaces the body.
    ReplacesBody,
}

const KINDS: [Kind; 9] = [
    Kind::Recorder,
    Kind::ThrowsAtEntry,
    Kind::Skips,
    Kind::ThrowsAtExit,
    Kind::Swallows,
    Kind::Rethrows,
    Kind::Around,
    Kind::ReplacesCall,
    Kind::ReplacesBody,
];

/// A plan's kind, and its letter.
type Layer = (Kind, char);

/// The expected result of `work`, and the text of an exception.
type Outcome = Result<i32, String>;

/// Runs the method with these layers around it, the first one outermost.
fn expected(layers: &[Layer], all: &[Layer], number: i32, log: &mut Vec<String>) -> Outcome {
    let Some(((kind, letter), inner)) = layers.split_first() else {
        return body(all, number, log);
    };
    if *kind == Kind::Recorder {
        log.push(format!("{letter}>"));
    }
    match kind {
        Kind::ThrowsAtEntry => return Err(letter.to_string()),
        Kind::Skips => return Ok(7),
        _ => {}
    }
    let result = expected(inner, all, number, log);
    match (kind, result) {
        (Kind::Recorder, result) => {
            let end = if result.is_ok() { '<' } else { '!' };
            log.push(format!("{letter}{end}"));
            result
        }
        (Kind::ThrowsAtExit, Ok(_)) | (Kind::Rethrows, Err(_)) => Err(letter.to_string()),
        (Kind::Swallows, Err(_)) => Ok(9),
        (_, result) => result,
    }
}

fn body(all: &[Layer], number: i32, log: &mut Vec<String>) -> Outcome {
    let first = |wanted: Kind| all.iter().find(|(kind, _)| *kind == wanted);
    if let Some((_, letter)) = first(Kind::ReplacesBody) {
        log.push(format!("{letter}body"));
        return Ok(number);
    }
    log.push("body".to_owned());
    if number > 5 {
        return Ok(number);
    }
    let around = || all.iter().filter(|(kind, _)| *kind == Kind::Around);
    log.extend(around().map(|(_, letter)| format!("{letter}(")));
    let result = match first(Kind::ReplacesCall) {
        Some(_) => {
            log.push("other".to_owned());
            Ok(number + 10)
        }
        None => {
            log.push("given".to_owned());
            match number {
                2 => Err("given".to_owned()),
                _ => Ok(number),
            }
        }
    };
    if result.is_ok() {
        log.extend(around().rev().map(|(_, letter)| format!("{letter})")));
    }
    result
}

/// Appends a call of `Layered.note`.
fn note(code: &mut Snippet, text: &str) {
    code.push_string(text).unwrap();
    let called = member("Layered", "note", "(Ljava/lang/String;)V");
    code.invoke(opcode::INVOKESTATIC, called).unwrap();
}

fn throwing(letter: char) -> Snippet {
    let mut code = Snippet::new();
    let name = "java/lang/IllegalStateException";
    code.with_type(opcode::NEW, name).unwrap();
    code.op(opcode::DUP, 0).unwrap();
    code.push_string(&letter.to_string()).unwrap();
    let made = member(name, "<init>", "(Ljava/lang/String;)V");
    code.invoke(opcode::INVOKESPECIAL, made).unwrap();
    code.op(opcode::ATHROW, 0).unwrap();
    code
}

/// Returns code that drops the value on the stack first.
fn dropping(rest: &Snippet) -> Snippet {
    let mut code = Snippet::new();
    code.op(opcode::POP, 0).unwrap();
    code.append(rest).unwrap();
    code
}

fn returning(value: i32) -> Snippet {
    let mut code = Snippet::new();
    code.push_int(value).unwrap();
    code.op(opcode::IRETURN, 0).unwrap();
    code
}

/// The method `work`.
struct Work {
    method: MethodIndex,
    returns: Vec<Bci>,
    call: Bci,
}

impl Work {
    fn plan(&self, (kind, letter): Layer) -> EditPlan {
        let mut plan = EditPlan::new();
        let mut noted = |location: Location, text: &str| {
            let mut code = Snippet::new();
            note(&mut code, &format!("{letter}{text}"));
            self.insert(&mut plan, location, code);
        };
        match kind {
            Kind::Recorder => {
                noted(Location::Entry, ">");
                self.returns
                    .iter()
                    .for_each(|bci| noted(Location::Before(*bci), "<"));
                noted(Location::Unwind, "!");
            }
            Kind::ThrowsAtEntry => self.insert(&mut plan, Location::Entry, throwing(letter)),
            Kind::Skips => self.insert(&mut plan, Location::Entry, returning(7)),
            Kind::ThrowsAtExit => {
                for bci in &self.returns {
                    let code = dropping(&throwing(letter));
                    self.insert(&mut plan, Location::Before(*bci), code);
                }
            }
            Kind::Swallows => {
                self.insert(&mut plan, Location::Unwind, dropping(&returning(9)));
            }
            Kind::Rethrows => {
                let code = dropping(&throwing(letter));
                self.insert(&mut plan, Location::Unwind, code);
            }
            Kind::Around => {
                let mut code = Snippet::new();
                note(&mut code, &format!("{letter}("));
                code.proceed().unwrap();
                note(&mut code, &format!("{letter})"));
                let change = Change::Around(code);
                plan.change(self.method, self.call, change).unwrap();
            }
            Kind::ReplacesCall => {
                let target = CallTarget {
                    opcode: opcode::INVOKESTATIC,
                    method: member("Layered", "other", "(I)I"),
                };
                let change = Change::Call(target);
                plan.change(self.method, self.call, change).unwrap();
            }
            Kind::ReplacesBody => {
                let mut body = Snippet::new();
                note(&mut body, &format!("{letter}body"));
                body.load_argument(0).unwrap();
                body.op(opcode::IRETURN, 0).unwrap();
                let method = self.method;
                let edit = ClassEdit::ReplaceBody { method, body };
                plan.edit_class(edit).unwrap();
            }
        }
        plan
    }

    fn insert(&self, plan: &mut EditPlan, location: Location, code: Snippet) {
        let method = self.method;
        plan.insert(InsertionPoint { method, location }, code)
            .unwrap();
    }
}

#[test]
fn the_first_of_two_plans_is_around_the_second() {
    let folder = scratch();
    let source = |name: &str| workspace::test_file(&format!("java/layers/{name}.java"));
    let sources = [source("Layered"), source("Pairs")];
    let sources = sources.each_ref().map(std::path::PathBuf::as_path);
    let jdk = jdks::newest();
    let options = ["--release", "8", "-Xlint:-options"];
    let classes = javac::compile(&jdk, &sources, folder.path(), &options);
    let mut edited = Edited::read(&classes.join("Layered.class"));
    let class = edited.class();
    let method = find(&class, "work");
    let code = method.code().expect("readable").expect("code");
    let instructions = code.instructions().map(Result::unwrap);
    let returns = instructions.filter(|found| opcode::is_return(found.opcode));
    let work = Work {
        method: method.index(),
        returns: returns.map(|found| found.bci).collect(),
        call: edited.last("work", opcode::INVOKESTATIC).1,
    };
    let (mut folders, mut wanted) = (Vec::new(), Vec::new());
    for first in KINDS {
        for second in KINDS {
            let layers = [(first, 'a'), (second, 'b')];
            let plans = layers.map(|layer| work.plan(layer));
            let parts = [("a", &plans[0]), ("b", &plans[1])];
            let parts = parts.map(|(by, plan)| PluginPlan { by, plan, hits: 0 });
            let merged = EditPlan::merge(&class, &parts).expect("plans that fit");
            let name = format!("{first:?}-{second:?}");
            let into = folder.path().join(&name);
            edited.write_to(merged.plan, &into.join("Layered.class"));
            for number in [1, 2, 6] {
                let mut log = Vec::new();
                let end = match expected(&layers, &layers, number, &mut log) {
                    Ok(value) => format!("= {value}"),
                    Err(text) => format!("threw {text}"),
                };
                log.push(end);
                wanted.push(format!("{name} {number}: {}", log.join(" ")));
            }
            folders.push(into);
        }
    }
    for jdk in jdks::eight().iter().chain(jdks::all()) {
        let mut java = Java::new(jdk)
            .all_compilers()
            .option("-Xverify:all")
            .class_path(&[&classes])
            .main("Pairs");
        for into in &folders {
            java = java.argument(into);
        }
        let run = java.run();
        run.assert_success();
        let found: Vec<&str> = run.stdout.lines().collect();
        for (found, wanted) in found.iter().zip(&wanted) {
            assert_eq!(found, wanted, "{jdk}");
        }
        assert_eq!(found.len(), wanted.len(), "{jdk}");
    }
}
