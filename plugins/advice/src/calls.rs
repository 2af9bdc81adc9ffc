//! Generates the code of advice at calls in the advised methods: before a call, behind it, and in its place.
//!
//! The code surrounds the instruction. With several methods of advice at one call:
//!
//! ```text
//! those with @BeforeCall ─► skipped? ──────────────────────────────┐
//!                              └─► @Around, or the call itself ─► those with @AfterCall ─► result
//! ```

use classhook_sdk::descriptor::{FieldType, MethodDescriptor};
use classhook_sdk::edit::{Assemble, Member, Refusal, Snippet};
use classhook_sdk::pattern::Pattern;
use classhook_sdk::prelude::*;
use classhook_sdk::{names, opcode};

use crate::code::{
    Advised, End, Misfit, OBJECT, box_for, convert, expect, expect_result, family, push_nothing,
};
use crate::settings::{Binding, Effect, Hook, Value, When};

/// The snippet's local variable for the result of the call; it has two slots.
const RESULT: i32 = 0;
/// The snippet's local variable for the value with which the call is skipped.
const SKIPPED: i32 = 2;
/// The snippet's local variable for the call that advice is around.
const CALL: i32 = 3;

/// Parses a pattern of called methods.
///
/// # Errors
/// The mistake, and an example.
pub fn pattern(text: &str) -> std::result::Result<Pattern, String> {
    let Some((class, method)) = text.split_once('#') else {
        return Err(format!(
            "the pattern `{text}` names no methods; expected `CLASS#METHOD`, such as `java.net.http.HttpClient#send`"
        ));
    };
    Pattern::parse(&format!("{class}.{method}")).map_err(|error| error.to_string())
}

/// Checks whether a call names such a method. No advice runs at calls of constructors.
pub fn matches(pattern: &Pattern, target: &Member) -> bool {
    let is_method = !target.name.starts_with('<');
    is_method
        && pattern.matches_class(&target.owner)
        && pattern.matches_method(&target.name, &target.descriptor)
}

/// Formats the first calls of a method, for a pattern that matches none.
pub fn nearest_calls(all: &[Call]) -> String {
    let mut known: Vec<String> = Vec::new();
    for call in all.iter().filter(|call| !call.target.name.starts_with('<')) {
        let name = format!("{}#{}", names::binary(&call.target.owner), call.target.name);
        if !known.contains(&name) && known.len() < 5 {
            known.push(name);
        }
    }
    match known.is_empty() {
        true => "; it calls no method".to_owned(),
        false => format!("; it calls {}", known.join(", ")),
    }
}

/// A call in an advised method.
pub struct CallSite<'a, 'c> {
    advised: Advised<'a, 'c>,
    bci: u16,
    line: u16,
    opcode: u8,
    target: Member,
}

/// A method of advice at a call, and the names of the class with the guard's methods and of that of calls.
struct Applied<'a> {
    hook: &'a Hook,
    calls: String,
    call_class: String,
}

/// A call in an advised method, and the methods of advice at it.
struct Site<'a, 'c> {
    call: CallSite<'a, 'c>,
    applied: Vec<Applied<'a>>,
}

/// The calls in a class at which advice runs.
pub struct Sites<'a, 'c> {
    sites: Vec<Site<'a, 'c>>,
}

impl<'a, 'c> Sites<'a, 'c> {
    /// Creates the list.
    pub fn new() -> Self {
        Self { sites: Vec::new() }
    }

    /// Adds a method of the advice at a call.
    pub fn add(&mut self, call: CallSite<'a, 'c>, hook: &'a Hook, (calls, class): (&str, &str)) {
        let applied = Applied {
            hook,
            calls: calls.to_owned(),
            call_class: class.to_owned(),
        };
        let method = call.advised.method.index();
        let mut sites = self.sites.iter_mut();
        let known = sites
            .find(|site| site.call.bci == call.bci && site.call.advised.method.index() == method);
        match known {
            Some(site) => site.applied.push(applied),
            None => self.sites.push(Site {
                call,
                applied: vec![applied],
            }),
        }
    }

    /// Inserts the code around each call.
    ///
    /// # Errors
    /// If the code of a method cannot be read.
    pub fn apply(self, plan: &mut Plan<'_>) -> Result {
        for Site { call, mut applied } in self.sites {
            let at = call.advised.method.at(&[call.bci]);
            let before = call.advised.method.before(&[call.bci]);
            let mut is_around = false;
            applied.retain(|it| {
                let is_second = it.hook.when == When::Around && is_around;
                is_around |= it.hook.when == When::Around;
                if is_second {
                    call.leave_out(it.hook, "other advice is around this call", plan);
                }
                !is_second
            });
            let placed = match call.code(&applied) {
                Ok(code) => plan
                    .around(&at, &code)
                    .map_err(|refused: Refusal| refused.message),
                Err(misfit) => Err(misfit),
            };
            for Applied { hook, .. } in &applied {
                match &placed {
                    Ok(()) => {
                        let when = match hook.when {
                            When::BeforeCall => "before",
                            When::AfterCall => "behind",
                            _ => "around",
                        };
                        let text = format!(
                            "calls {} ({}) {when} the call of {}",
                            hook.name,
                            hook.at,
                            call.text()
                        );
                        before.iter().for_each(|point| plan.note(*point, &text));
                    }
                    Err(misfit) => call.leave_out(hook, misfit, plan),
                }
            }
        }
        Ok(())
    }
}

impl<'a, 'c> CallSite<'a, 'c> {
    /// Creates a call. A malformed descriptor gives none.
    pub fn new(advised: &Advised<'a, 'c>, call: &Call) -> Option<Self> {
        MethodDescriptor::parse(call.target.descriptor.as_bytes()).ok()?;
        Some(Self {
            advised: advised.clone(),
            bci: call.bci,
            line: call.line,
            opcode: call.opcode,
            target: call.target.clone(),
        })
    }

    fn leave_out(&self, hook: &Hook, misfit: &str, plan: &mut Plan<'_>) {
        let text = format!("no call of {} ({}): {misfit}", hook.name, hook.at);
        for point in self.advised.method.before(&[self.bci]) {
            plan.leave_out(point, &text);
        }
    }

    /// The called method as in Java: `java.io.File.delete()`.
    fn text(&self) -> String {
        let types = self.parameters();
        let types: Vec<String> = types.iter().map(|it| it.to_java(names::binary)).collect();
        let class = names::binary(&self.target.owner);
        format!("{class}.{}({})", self.target.name, types.join(","))
    }

    fn parameters(&self) -> Vec<FieldType<'_>> {
        let parsed = MethodDescriptor::parse(self.target.descriptor.as_bytes());
        parsed.map_or_else(|_| Vec::new(), |it| it.parameters().collect())
    }

    fn result(&self) -> Option<FieldType<'_>> {
        let parsed = MethodDescriptor::parse(self.target.descriptor.as_bytes());
        parsed.ok().and_then(|it| it.return_type())
    }

    fn has_receiver(&self) -> bool {
        self.opcode != opcode::INVOKESTATIC
    }

    /// Returns the types of the operands, the object first.
    fn operands(&self) -> Vec<FieldType<'_>> {
        let owner = self.target.owner.as_bytes();
        let receiver = match owner.first() {
            Some(b'[') => FieldType::Array(owner),
            _ => FieldType::Class(owner),
        };
        let receiver = self.has_receiver().then_some(receiver);
        receiver.into_iter().chain(self.parameters()).collect()
    }

    fn operand(
        &self,
        annotation: &str,
        position: u8,
    ) -> std::result::Result<FieldType<'_>, Misfit> {
        let operands = self.operands();
        let found = operands.get(usize::from(position)).copied();
        found.ok_or_else(|| {
            let has = match operands.len() {
                1 => "1 operand".to_owned(),
                count => format!("{count} operands"),
            };
            format!(
                "{annotation}({position}): the call of {} has {has}",
                self.text()
            )
        })
    }

    /// Checks whether a method of the advice fits the call.
    ///
    /// # Errors
    /// The reason why it does not.
    pub fn check(&self, hook: &Hook) -> std::result::Result<(), Misfit> {
        self.advised.expect_unassigned(hook)?;
        self.expect_effect(hook)?;
        self.values(&mut Snippet::new(), hook)
    }

    fn expect_effect(&self, hook: &Hook) -> std::result::Result<(), Misfit> {
        let what = "the result";
        match hook.effect {
            Effect::Operand => {
                let found = self.operand("@ReplaceOperand", hook.position)?;
                if hook.position == 0 && self.has_receiver() {
                    return Err("@ReplaceOperand(0): the object whose method is called stays; the first argument is operand 1".to_owned());
                }
                expect_result("@ReplaceOperand", hook.result()?, found, ("call", false))
            }
            Effect::SkipIfNotNull | Effect::Returned => match self.result() {
                Some(found) => {
                    let boxes = hook.effect == Effect::SkipIfNotNull;
                    expect_result(what, hook.result()?, found, ("call", boxes))
                }
                None if hook.effect == Effect::Returned => {
                    Err("@ReplaceReturned: the called method returns nothing".to_owned())
                }
                None => Ok(()),
            },
            Effect::Call => self.expect_around(hook),
            _ => Ok(()),
        }
    }

    /// Checks that the call can run outside of its method, and gets a result of its type.
    fn expect_around(&self, hook: &Hook) -> std::result::Result<(), Misfit> {
        let owner = self.target.owner.as_str();
        if self.opcode == opcode::INVOKESPECIAL && !self.is_private_own() {
            return Err(format!(
                "{} is a call of the superclass's method, which only this method can run; use @BeforeCall or @AfterCall",
                self.text()
            ));
        }
        let is_polymorphic = matches!(
            owner,
            "java/lang/invoke/MethodHandle" | "java/lang/invoke/VarHandle"
        );
        if is_polymorphic || owner.starts_with('[') {
            return Err(format!(
                "{} can only be called by this method itself; use @BeforeCall or @AfterCall",
                self.text()
            ));
        }
        match (self.result(), hook.result.as_deref()) {
            (None, _) => Ok(()),
            (Some(found), None) => Err(format!(
                "the method with @Around is void, and the call returns {}",
                found.to_java(names::binary)
            )),
            (Some(found), Some(_)) => {
                expect_result("the result", hook.result()?, found, ("call", false))
            }
        }
    }

    /// Checks for a private method of the class itself.
    fn is_private_own(&self) -> bool {
        self.target.owner == self.advised.class && self.advised.is_private(&self.target)
    }

    /// Pushes the values of a method of the advice.
    fn values(&self, code: &mut Snippet, hook: &Hook) -> std::result::Result<(), Misfit> {
        for binding in &hook.values {
            self.value(code, binding)?;
        }
        Ok(())
    }

    fn value(&self, code: &mut Snippet, binding: &Binding) -> std::result::Result<(), Misfit> {
        let expected = binding.expected()?;
        match binding.value {
            Value::Operand => {
                let position = binding.argument;
                let found = self.operand("@Operand", position)?;
                expect(&format!("@Operand({position})"), expected, found)?;
                code.load_operand(position);
                box_for(code, expected, found);
            }
            Value::Called => drop(code.push_string(&self.text())),
            Value::Returned => match self.result() {
                Some(found) => {
                    expect("@Returned", expected, found)?;
                    code.op(family(found, opcode::ILOAD), RESULT);
                    box_for(code, expected, found);
                }
                None if expected.is_reference() => drop(code.push_null()),
                None => return Err("@Returned: the called method returns nothing".to_owned()),
            },
            _ => self
                .advised
                .push(code, binding, expected, End::Within, self.line)?,
        }
        Ok(())
    }

    /// Generates the code around the call.
    fn code(&self, applied: &[Applied<'_>]) -> std::result::Result<Snippet, Misfit> {
        let mut code = Snippet::new();
        let of = |when: When| applied.iter().filter(move |it| it.hook.when == when);
        let result = self.result();
        let store = |code: &mut Snippet| {
            if let Some(found) = result {
                code.op(family(found, opcode::ISTORE), RESULT);
            }
        };
        let after = code.new_label();
        let mut is_joined = false;
        for it in of(When::BeforeCall) {
            is_joined |= self.before(&mut code, it, after)?;
        }
        if let Some(it) = of(When::Around).next() {
            let plain = code.new_label();
            self.begin(&mut code, &it.call_class);
            code.op(opcode::ASTORE, CALL)
                .op(opcode::ALOAD, CALL)
                .jump(opcode::IFNULL, plain)
                .op(opcode::ALOAD, CALL);
            self.values(&mut code, it.hook)?;
            self.invoke(&mut code, it);
            match result {
                Some(found) => convert(&mut code, OBJECT, found),
                None => drop(code.op(opcode::POP, 0)),
            }
            store(&mut code);
            code.jump(opcode::GOTO, after).place(plain);
            is_joined = true;
        }
        code.proceed();
        store(&mut code);
        if is_joined {
            code.place(after);
        }
        for it in of(When::AfterCall) {
            let replaces = it.hook.effect == Effect::Returned;
            if let Some(found) = result.filter(|_| replaces) {
                code.op(family(found, opcode::ILOAD), RESULT);
                box_for(&mut code, it.hook.result()?, found);
            }
            self.values(&mut code, it.hook)?;
            self.invoke(&mut code, it);
            if let Some(found) = result.filter(|_| replaces) {
                convert(&mut code, it.hook.result()?, found);
                store(&mut code);
            }
        }
        if let Some(found) = result {
            code.op(family(found, opcode::ILOAD), RESULT);
        }
        Ok(code)
    }

    fn invoke(&self, code: &mut Snippet, it: &Applied<'_>) {
        let target = Member::of_class(&it.calls, &it.hook.call, &it.hook.descriptor);
        code.invoke(opcode::INVOKESTATIC, target);
    }

    /// Generates advice before the call. Returns true if it may jump behind the call.
    fn before(
        &self,
        code: &mut Snippet,
        it: &Applied<'_>,
        after: classhook_sdk::edit::Label,
    ) -> std::result::Result<bool, Misfit> {
        let hook = it.hook;
        if hook.effect == Effect::Operand {
            let found = self.operand("@ReplaceOperand", hook.position)?;
            code.load_operand(hook.position);
            box_for(code, hook.result()?, found);
        }
        self.values(code, hook)?;
        self.invoke(code, it);
        match hook.effect {
            Effect::Operand => {
                let found = self.operand("@ReplaceOperand", hook.position)?;
                convert(code, hook.result()?, found);
                code.store_operand(hook.position);
            }
            Effect::SkipIfTrue => {
                let goes_on = code.new_label();
                code.jump(opcode::IFEQ, goes_on);
                if let Some(found) = self.result() {
                    push_nothing(code, found);
                    code.op(family(found, opcode::ISTORE), RESULT);
                }
                code.jump(opcode::GOTO, after).place(goes_on);
                return Ok(true);
            }
            Effect::SkipIfNotNull => {
                let goes_on = code.new_label();
                code.op(opcode::ASTORE, SKIPPED)
                    .op(opcode::ALOAD, SKIPPED)
                    .jump(opcode::IFNULL, goes_on);
                if let Some(found) = self.result() {
                    code.op(opcode::ALOAD, SKIPPED);
                    convert(code, hook.result()?, found);
                    code.op(family(found, opcode::ISTORE), RESULT);
                }
                code.jump(opcode::GOTO, after).place(goes_on);
                return Ok(true);
            }
            _ => {}
        }
        Ok(false)
    }

    /// Generates the object of the call, or null if the thread runs advice already.
    fn begin(&self, code: &mut Snippet, call_class: &str) {
        let first = u8::from(self.has_receiver());
        match first {
            1 => drop(code.load_operand(0)),
            _ => drop(code.push_null()),
        }
        let types = self.parameters();
        code.push_int(i32::try_from(types.len()).unwrap_or_default())
            .with_type(opcode::ANEWARRAY, "java/lang/Object");
        for (position, found) in (0..=u8::MAX).zip(types) {
            code.op(opcode::DUP, 0)
                .push_int(position.into())
                .load_operand(position.saturating_add(first));
            box_for(code, OBJECT, found);
            code.op(opcode::AASTORE, 0);
        }
        code.push_string(&names::binary(&self.target.owner))
            .push_string(&self.target.name)
            .push_string(&self.target.descriptor);
        let descriptor = "(Ljava/lang/Object;[Ljava/lang/Object;Ljava/lang/String;Ljava/lang/String;Ljava/lang/String;)Ljava/lang/Object;";
        let begin = Member::of_class(call_class, "begin", descriptor);
        code.invoke(opcode::INVOKESTATIC, begin);
    }
}
