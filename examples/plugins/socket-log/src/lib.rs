//! Prints a line on standard error for each connection of a `java.net.Socket`, whatever code opens
//! it.

use classhook_sdk::edit::Member;
use classhook_sdk::opcode::{GETSTATIC, INVOKESTATIC, INVOKEVIRTUAL};
use classhook_sdk::prelude::*;

/// The class that opens connections, and the method that all its others call.
const SOCKET: &str = "java/net/Socket";
const CONNECT: (&str, &str) = ("connect", "(Ljava/net/SocketAddress;I)V");

/// The plugin's settings.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// Prints the call stack after each line.
    stack: bool,
}

/// Changes one method of the JDK.
pub struct SocketLog(Settings);

impl Transformer for SocketLog {
    type Config = Settings;

    fn new(settings: Settings) -> Result<Self> {
        Ok(Self(settings))
    }

    fn select(&self) -> Vec<String> {
        vec![SOCKET.to_owned(), "loader:boot".to_owned()]
    }

    fn transform(&self, class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
        for method in class.methods() {
            if (method.name(), method.descriptor()) == CONNECT {
                plan.insert(&[method.entry()], &self.line())?;
            }
        }
        Ok(())
    }
}

impl SocketLog {
    /// Generates `System.err.println("connect to ".concat(String.valueOf(address)))`.
    fn line(&self) -> Snippet {
        let member = |owner: &str, name, descriptor| {
            Member::of_class(&format!("java/lang/{owner}"), name, descriptor)
        };
        let text = member(
            "String",
            "valueOf",
            "(Ljava/lang/Object;)Ljava/lang/String;",
        );
        let concat = member("String", "concat", "(Ljava/lang/String;)Ljava/lang/String;");
        let println = Member::of_class("java/io/PrintStream", "println", "(Ljava/lang/String;)V");
        let mut code = Snippet::new();
        code.field(GETSTATIC, member("System", "err", "Ljava/io/PrintStream;"))
            .push_string("connect to ")
            .load_argument(0)
            .invoke(INVOKESTATIC, text)
            .invoke(INVOKEVIRTUAL, concat)
            .invoke(INVOKEVIRTUAL, println);
        if self.0.stack {
            code.invoke(INVOKESTATIC, member("Thread", "dumpStack", "()V"));
        }
        code
    }
}

classhook_sdk::export!(SocketLog);
