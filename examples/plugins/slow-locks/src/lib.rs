//! Prints a line on standard error for each `synchronized` block that waited long for its lock.

use classhook_sdk::edit::Member;
use classhook_sdk::opcode::{
    GETSTATIC, IFLT, INVOKESTATIC, INVOKEVIRTUAL, LCMP, LDIV, LLOAD, LSTORE, LSUB, MONITORENTER,
};
use classhook_sdk::prelude::*;

/// The plugin's settings.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// Minimum wait in milliseconds.
    millis: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self { millis: 100 }
    }
}

/// Times `monitorenter`.
pub struct SlowLocks(Settings);

impl Transformer for SlowLocks {
    type Config = Settings;

    fn new(settings: Settings) -> Result<Self> {
        Ok(Self(settings))
    }

    fn transform(&self, class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
        for method in class.methods().filter(Method::has_code) {
            for found in method.instructions()? {
                if found.opcode == MONITORENTER {
                    let line = method.line_at(found.bci);
                    let code = self.timed(&format!("{}:{line}", method.full_name()));
                    plan.around(&method.at(&[found.bci]), &code)?;
                }
            }
        }
        Ok(())
    }
}

impl SlowLocks {
    /// Surrounds the instruction with code that prints `… waited for a …: … ms` if it took too
    /// long.
    fn timed(&self, place: &str) -> Snippet {
        let now = || member("System", "nanoTime", "()J");
        let mut code = Snippet::new();
        let end = code.new_label();
        code.invoke(INVOKESTATIC, now())
            .op(LSTORE, 0)
            .proceed()
            .invoke(INVOKESTATIC, now())
            .op(LLOAD, 0)
            .op(LSUB, 0)
            .push_long(1_000_000)
            .op(LDIV, 0)
            .op(LSTORE, 0)
            .op(LLOAD, 0)
            .push_long(self.0.millis.into())
            .op(LCMP, 0)
            .jump(IFLT, end);
        let text = "(Ljava/lang/String;)Ljava/lang/String;";
        let err = member("System", "err", "Ljava/io/PrintStream;");
        code.field(GETSTATIC, err)
            .push_string(&format!("{place} waited for a "))
            .load_operand(0)
            .invoke(
                INVOKEVIRTUAL,
                member("Object", "getClass", "()Ljava/lang/Class;"),
            )
            .invoke(
                INVOKEVIRTUAL,
                member("Class", "getName", "()Ljava/lang/String;"),
            )
            .invoke(INVOKEVIRTUAL, member("String", "concat", text))
            .push_string(": ")
            .invoke(INVOKEVIRTUAL, member("String", "concat", text))
            .op(LLOAD, 0)
            .invoke(
                INVOKESTATIC,
                member("String", "valueOf", "(J)Ljava/lang/String;"),
            )
            .invoke(INVOKEVIRTUAL, member("String", "concat", text))
            .push_string(" ms")
            .invoke(INVOKEVIRTUAL, member("String", "concat", text))
            .invoke(
                INVOKEVIRTUAL,
                Member::of_class("java/io/PrintStream", "println", "(Ljava/lang/String;)V"),
            )
            .place(end);
        code
    }
}

fn member(class: &str, name: &str, descriptor: &str) -> Member {
    Member::of_class(&format!("java/lang/{class}"), name, descriptor)
}

classhook_sdk::export!(SlowLocks);
