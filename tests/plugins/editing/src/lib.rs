//! A plugin that makes every kind of edit, for the end-to-end tests.
//!
//! `tests/java/edits/Changed.java` prints the effect of its edits in `Changed$Target`.

mod hoard;
mod places;
mod wrong;

use classhook_sdk::access_flags::{ACC_PUBLIC, ACC_STATIC};
use classhook_sdk::edit::Member;
use classhook_sdk::edit::{Annotation, Constant, EnumConstant, Field, Value, Visibility};
use classhook_sdk::opcode::{BIPUSH, GETSTATIC, IADD, IMUL, INVOKESTATIC, IRETURN, PUTSTATIC};
use classhook_sdk::prelude::*;

use places::{allocations, instructions, program};

/// The plugin's table in `classhook.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Also makes structural edits.
    structure: bool,
    /// An invalid edit to make instead of all others.
    wrong: Option<String>,
}

/// The plugin.
pub struct Editing(Settings);

impl Transformer for Editing {
    type Config = Settings;

    fn new(settings: Settings) -> Result<Self> {
        Ok(Editing(settings))
    }

    fn select(&self) -> Vec<String> {
        vec!["Changed$Target".to_owned()]
    }

    fn transform(&self, class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
        if let Some(name) = &self.0.wrong {
            return wrong::edit(name, class, plan);
        }
        for method in class.methods().filter(Method::has_code) {
            code(&method, plan)?;
        }
        if self.0.structure {
            structure(class, plan)?;
        }
        Ok(())
    }
}

/// Edits a method's code, depending on its name.
fn code(method: &Method<'_>, plan: &mut Plan<'_>) -> Result {
    match method.name() {
        "answer" => {
            let mut tenfold = Snippet::new();
            tenfold
                .load_argument(0)
                .op(BIPUSH, 10)
                .op(IMUL, 0)
                .op(IRETURN, 0);
            plan.replace_body(method, &tenfold)?;
        }
        "time" => {
            let calls = instructions(method, "currentTimeMillis")?;
            plan.redirect_call(&calls, INVOKESTATIC, &program("fixed", "()J"))?;
        }
        "field" => {
            let reads = instructions(method, "first")?;
            plan.redirect_field(&reads, GETSTATIC, &program("second", "I"))?;
        }
        "list" => {
            let made = program("list", "()Ljava/util/ArrayList;");
            plan.redirect_allocation(&allocations(method)?, &made)?;
        }
        "thread" => plan.allocate_with_cast(&allocations(method)?, "Changed$Named")?,
        "silent" => plan.remove(&instructions(method, "fail")?, None)?,
        "word" => {
            let calls = instructions(method, "concat")?;
            plan.remove(&calls, Some(&Constant::Text("removed".to_owned())))?;
        }
        "wrapped" => {
            let (mut before, mut after) = (Snippet::new(), Snippet::new());
            add_to_count(&mut before, 1);
            add_to_count(&mut after, 100);
            plan.wrap(&instructions(method, "maybe")?, &before, &after)?;
        }
        _ => {}
    }
    Ok(())
}

/// Appends `Changed.count += by`.
fn add_to_count(code: &mut Snippet, by: i32) {
    let count = || program("count", "I");
    code.field(GETSTATIC, count())
        .push_int(by)
        .op(IADD, 0)
        .field(PUTSTATIC, count());
}

/// Edits the structure of the class.
fn structure(class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    let added = Field::new(ACC_PUBLIC | ACC_STATIC, "added", "J").with_value(Constant::Long(7));
    plan.add_field(&added)?;
    let mut sum = Snippet::new();
    sum.load_argument(0)
        .load_argument(1)
        .op(IADD, 0)
        .op(IRETURN, 0);
    plan.add_method(ACC_PUBLIC | ACC_STATIC, "sum", "(II)I", Some(&sum))?;
    plan.add_interface("java/io/Serializable")?;
    let mut marked = Annotation::new("LChanged$Marked;");
    let state = EnumConstant {
        descriptor: "Ljava/lang/Thread$State;".to_owned(),
        name: "NEW".to_owned(),
    };
    marked
        .put("text", Value::Text("é".to_owned()))
        .put("state", Value::Enum(state))
        .put_array("numbers", vec![Value::Integer(1), Value::Integer(2)]);
    plan.annotate_class(Visibility::Visible, &marked)?;
    plan.annotate_field("kept", "I", Visibility::Visible, &marked)?;
    for method in class.methods().filter(|method| method.name() == "answer") {
        plan.annotate_method(&method, Visibility::Visible, &marked)?;
    }
    let secret = Member::of_class("Changed$Target", "secret", "I");
    Ok(plan.rename_member(&secret, "renamed")?)
}

classhook_sdk::export!(Editing);
