//! Merged plans of several plugins.

use jvms::opcode;
use rewriter::{
    Action, Assemble, Bci, Change, ClassEdit, ClassFile, Conflict, EditPlan, InsertionPoint,
    LeftOut, Location, Member, MergedPlan, MethodIndex, NewField, PluginPlan, PrefixedNative,
    Snippet,
};

use crate::fixtures::{SHAPES, hits};

const METHOD: MethodIndex = MethodIndex(3);

fn part<'p>(by: &'p str, plan: &'p EditPlan, hits: u32) -> PluginPlan<'p> {
    PluginPlan { by, plan, hits }
}

fn class_edits(edits: &[ClassEdit]) -> EditPlan {
    let mut plan = EditPlan::new();
    for edit in edits {
        plan.edit_class(edit.clone()).unwrap();
    }
    plan
}

fn merge(parts: &[PluginPlan<'_>]) -> Result<MergedPlan, Conflict> {
    let class = ClassFile::read(SHAPES).expect("a class");
    EditPlan::merge(&class, parts)
}

fn merged(first: &EditPlan, second: &EditPlan) -> Result<EditPlan, Conflict> {
    let merged = merge(&[part("a", first, 0), part("b", second, 0)])?;
    assert_eq!(merged.left_out, []);
    Ok(merged.plan)
}

fn returning() -> Snippet {
    let mut body = Snippet::new();
    body.op(opcode::RETURN, 0).unwrap();
    body
}

fn body() -> ClassEdit {
    ClassEdit::ReplaceBody {
        method: METHOD,
        body: returning(),
    }
}

fn field(name: &str) -> ClassEdit {
    ClassEdit::AddField(NewField {
        flags: 1,
        name: name.to_owned(),
        descriptor: "I".to_owned(),
        value: None,
    })
}

#[test]
fn merged_edits_keep_the_order_of_plans_and_renumber_probes() {
    let mut first = hits(METHOD, &[Location::Entry, Location::Before(Bci(0))]);
    let site = InsertionPoint {
        method: METHOD,
        location: Location::Entry,
    };
    first.count(site, 1).unwrap();
    let mut second = hits(METHOD, &[Location::Entry]);
    second.insert(site, returning()).unwrap();
    second.count(site, 0).unwrap();
    let parts = [part("a", &first, 10), part("b", &second, 40)];
    let merged = merge(&parts).unwrap().plan;
    let actions: Vec<_> = merged.edits().iter().map(|edit| edit.action).collect();
    assert_eq!(
        actions[..3],
        [Action::Hit(10), Action::Hit(11), Action::Hit(40)]
    );
    // The merging caller adds counters.
    let Some(Action::Insert(id)) = actions.get(3) else {
        panic!("{actions:?}");
    };
    assert_eq!(merged.snippet(*id), Some(&returning()));
    assert_eq!(actions.len(), 4);
}

#[test]
fn single_plan_stays_unchanged() {
    let mut plan = hits(METHOD, &[Location::Entry]);
    plan.edit_class(body()).unwrap();
    plan.edit_class(field("f")).unwrap();
    plan.change(METHOD, Bci(4), Change::Remove(None)).unwrap();
    let merged = merge(&[part("a", &plan, 0)]).unwrap().plan;
    assert_eq!(merged, plan);
    assert_eq!(merge(&[]).unwrap(), MergedPlan::default());
}

#[test]
fn shared_edits_apply_once() {
    let interface = || ClassEdit::AddInterface("x/I".to_owned());
    let rename = |to: &str| ClassEdit::RenameType {
        from: "x/A".to_owned(),
        to: to.to_owned(),
    };
    let plan = class_edits(&[interface(), rename("x/B")]);
    assert_eq!(merged(&plan, &plan).unwrap(), plan);
    let other = class_edits(&[rename("x/C")]);
    let conflict = merged(&plan, &other).unwrap_err().to_string();
    assert_eq!(
        conflict,
        "`a` and `b` both rename type x/A; switch one of them off for this class"
    );
}

#[test]
fn exclusive_edits_conflict_and_name_the_plans() {
    let wrapper = ClassEdit::PrefixNative(PrefixedNative {
        method: METHOD,
        prefix: "p".to_owned(),
    });
    let member = ClassEdit::RenameMember {
        member: Member {
            owner: "x/A".to_owned(),
            name: "m".to_owned(),
            descriptor: "()V".to_owned(),
            interface: false,
        },
        to: "n".to_owned(),
    };
    let mut other = member.clone();
    if let ClassEdit::RenameMember { to, .. } = &mut other {
        *to = "o".to_owned();
    }
    let cases = [
        (
            class_edits(std::slice::from_ref(&wrapper)),
            class_edits(&[wrapper]),
            "replace or wrap method 3",
        ),
        (
            class_edits(&[field("f")]),
            class_edits(&[field("f")]),
            "add field f:I",
        ),
        (
            class_edits(&[member]),
            class_edits(&[other]),
            "rename x/A.m:()V",
        ),
    ];
    for (first, second, what) in cases {
        let expected = Conflict::Both {
            first: "a".to_owned(),
            second: "b".to_owned(),
            what: what.to_owned(),
        };
        assert_eq!(merged(&first, &second), Err(expected));
    }
    let elsewhere = hits(MethodIndex(2), &[Location::Entry]);
    merged(&elsewhere, &class_edits(&[body()])).unwrap();
}

#[test]
fn outermost_of_several_replacements_applies() {
    let changed = |change| {
        let mut plan = EditPlan::new();
        plan.change(METHOD, Bci(7), change).unwrap();
        plan
    };
    let (first, second) = (changed(Change::Remove(None)), class_edits(&[body()]));
    let new = Change::New {
        class: "x/B".to_owned(),
        cast: false,
    };
    for (plans, cause) in [
        (
            [first.clone(), changed(new)],
            "plugin `a`, which is further out, replaces the instruction at bci 7",
        ),
        (
            [second.clone(), second],
            "plugin `a`, which is further out, replaces its body",
        ),
    ] {
        let merged = merge(&[part("a", &plans[0], 0), part("b", &plans[1], 0)]).unwrap();
        let expected = LeftOut {
            method: METHOD,
            by: "b".to_owned(),
            cause: cause.to_owned(),
            is_unmeasured: false,
        };
        assert_eq!(merged.left_out, [expected]);
        assert_eq!(merged.plan.to_string(), plans[0].to_string());
    }
}
