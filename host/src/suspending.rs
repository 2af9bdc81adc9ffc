//! Spans over Kotlin's suspend functions, from the first entry to the completion.
//!
//! ```text
//! entry    $Classhook.begin(continuation, id)      of a lambda  $Classhook.proceed(this, id)
//! return   $Classhook.finish(returned, id)
//! ```
//!
//! A function that passes its continuation on to another function is not entered again when that
//! function completes. So the method in Kotlin's library that resumes continuations calls the
//! helper for each of them.

use jvms::descriptor::{FieldType, Parameters};
use jvms::opcode;
use rewriter::{
    Action, Assemble, Change, ClassFile, EditPlan, Location, Method, Snippet, SnippetError,
};

use crate::helper_calls::call;

/// The method that resumes compiled continuations.
const RESUME_WITH: &str = "resumeWith";
/// The method with the code of a lambda. The method of a function's continuation enters the
/// function again.
const INVOKE_SUSPEND: (&str, &str) = ("invokeSuspend", "(Ljava/lang/Object;)Ljava/lang/Object;");
/// The superclasses of lambdas.
const LAMBDAS: [&str; 2] = [
    "kotlin/coroutines/jvm/internal/SuspendLambda",
    "kotlin/coroutines/jvm/internal/RestrictedSuspendLambda",
];
/// The end of the descriptor of a suspend function.
const LAST: &[u8] = b"Lkotlin/coroutines/Continuation;)Ljava/lang/Object;";

/// The helper's method for the entry of a suspend function.
const BEGIN: (&str, &str) = ("begin", "(Ljava/lang/Object;I)V");
/// The helper's method for the entry of a suspend lambda.
const PROCEED: (&str, &str) = ("proceed", "(Ljava/lang/Object;I)V");
/// The helper's method for the return of a suspend function.
const FINISH: (&str, &str) = ("finish", "(Ljava/lang/Object;I)V");
/// The helper's method for a resumed continuation.
const RESUMED: (&str, &str) = ("resumed", "(Ljava/lang/Object;Ljava/lang/Object;I)V");

/// The source of a suspend function's continuation at its entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Suspending {
    /// The last argument.
    Argument(u8),
    /// The lambda itself.
    This,
}

impl Suspending {
    /// Returns the source of a method's continuation, or `None` if the method cannot suspend.
    pub(crate) fn of(method: &Method<'_, '_>) -> Option<Self> {
        let descriptor = method.descriptor();
        let is_lambda = || {
            let above = method.class().super_class();
            !method.is_static() && above.is_some_and(|above| LAMBDAS.iter().any(|it| above == *it))
        };
        if method.name() == INVOKE_SUSPEND.0 && descriptor == INVOKE_SUSPEND.1 {
            return is_lambda().then_some(Self::This);
        }
        if !descriptor.as_bytes().ends_with(LAST) {
            return None;
        }
        let last = Parameters::of(descriptor.as_bytes()).enumerate().last()?;
        let index = u8::try_from(last.0).ok()?;
        matches!(last.1, FieldType::Class(_)).then_some(Self::Argument(index))
    }

    /// Adds the code of the entry to a snippet.
    pub(crate) fn enter(self, code: &mut Snippet, id: i32) -> Result<(), SnippetError> {
        match self {
            Self::Argument(index) => code.load_argument(index)?,
            Self::This => code.load_this()?,
        }
        code.push_int(id)?;
        call(code, if self == Self::This { PROCEED } else { BEGIN })
    }

    /// Adds the code of the return to a snippet, with the value on top of the stack.
    pub(crate) fn finish(code: &mut Snippet, id: i32) -> Result<(), SnippetError> {
        code.op(opcode::DUP, 0)?;
        code.push_int(id)?;
        call(code, FINISH)
    }
}

/// Adds the call of the helper to the plan of the class that resumes continuations, once for all
/// plugins.
pub(crate) fn follow(plan: &mut EditPlan, class: &ClassFile<'_>) -> Result<(), String> {
    let snippet = resumed_call().map_err(|error| error.to_string())?;
    for method in class
        .methods()
        .filter(|method| method.name() == RESUME_WITH)
    {
        let Some(code) = method.code().map_err(|error| error.to_string())? else {
            continue;
        };
        for found in code.instructions().flatten() {
            let member = found
                .pool_index()
                .and_then(|index| class.pool().member_ref(index));
            let resumes = found.opcode == opcode::INVOKEVIRTUAL
                && member.is_some_and(|member| {
                    member.name == INVOKE_SUSPEND.0 && member.descriptor == INVOKE_SUSPEND.1
                });
            let has_call = plan.edits().iter().any(|edit| {
                edit.point.method == method.index()
                    && edit.point.location == Location::At(found.bci)
                    && matches!(edit.action, Action::Change(_))
            });
            if resumes && !has_call {
                let change = Change::Around(snippet.clone());
                let added = plan.change(method.index(), found.bci, change);
                added.map_err(|error| error.to_string())?;
            }
        }
    }
    Ok(())
}

fn resumed_call() -> Result<Snippet, SnippetError> {
    let mut code = Snippet::new();
    code.load_operand(0)?; // continuation
    code.load_operand(1)?; // continuation, result
    code.push_int(0)?; // continuation, result, 0
    call(&mut code, RESUMED)?; //
    code.proceed()?; // returned value
    Ok(code)
}
