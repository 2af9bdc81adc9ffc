//! Replaces every call that would end the JVM by a `SecurityException`, whose message names the
//! caller.

use classhook_sdk::edit::Member;
use classhook_sdk::opcode::{ATHROW, DUP, INVOKESPECIAL, NEW};
use classhook_sdk::pattern::Pattern;
use classhook_sdk::prelude::*;

/// The class of the exception.
const THROWN: &str = "java/lang/SecurityException";

/// The plugin's settings.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// Methods that may end the JVM: `com.acme.Main.main`.
    allowed: Vec<String>,
}

/// Guards `System.exit`, `Runtime.exit` and `Runtime.halt`.
pub struct ExitGuard {
    allowed: Vec<Pattern>,
}

impl Transformer for ExitGuard {
    type Config = Settings;

    fn new(settings: Settings) -> Result<Self> {
        let patterns = settings.allowed.iter().map(|text| Pattern::parse(text));
        let allowed = patterns.collect::<std::result::Result<_, _>>();
        let allowed = allowed.map_err(|error| error.to_string())?;
        Ok(Self { allowed })
    }

    fn transform(&self, class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
        let name = class.name();
        for method in class.methods().filter(Method::has_code) {
            let calls = method.calls(ends_the_jvm)?;
            let allowed = |pattern: &Pattern| {
                pattern.matches_class(&name)
                    && pattern.matches_method(method.name(), method.descriptor())
            };
            if calls.is_empty() || self.allowed.iter().any(allowed) {
                continue;
            }
            let at: Vec<u16> = calls.iter().map(|call| call.bci).collect();
            plan.insert(&method.before(&at), &refusal(&method.full_name()))?;
        }
        Ok(())
    }
}

fn ends_the_jvm(target: &Member) -> bool {
    matches!(
        (target.owner.as_str(), target.name.as_str()),
        ("java/lang/System" | "java/lang/Runtime", "exit") | ("java/lang/Runtime", "halt")
    )
}

/// Generates `throw new SecurityException("… tried to end the JVM")`.
fn refusal(caller: &str) -> Snippet {
    let constructor = Member::of_class(THROWN, "<init>", "(Ljava/lang/String;)V");
    let mut code = Snippet::new();
    code.with_type(NEW, THROWN)
        .op(DUP, 0)
        .push_string(&format!("{caller} tried to end the JVM"))
        .invoke(INVOKESPECIAL, constructor)
        .op(ATHROW, 0);
    code
}

classhook_sdk::export!(ExitGuard);
