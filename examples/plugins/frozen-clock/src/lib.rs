//! Freezes the time, for programs whose output depends on it: `System.currentTimeMillis()`, and
//! `now()` of the classes of `java.time`.

use classhook_sdk::access_flags::{ACC_INTERFACE, ACC_PRIVATE, ACC_STATIC, ACC_SYNTHETIC};
use classhook_sdk::edit::Constant;
use classhook_sdk::edit::Member;
use classhook_sdk::opcode::{ARETURN, INVOKESTATIC};
use classhook_sdk::prelude::*;

/// The classes of `java.time` that have `now()` and `now(Clock)`.
const TIMES: [&str; 7] = [
    "Instant",
    "LocalDate",
    "LocalDateTime",
    "LocalTime",
    "OffsetDateTime",
    "Year",
    "ZonedDateTime",
];

/// The plugin's settings.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// The time, in milliseconds since 1970.
    millis: i64,
}

/// Replaces calls that read the clock.
pub struct FrozenClock(Settings);

impl Transformer for FrozenClock {
    type Config = Settings;

    fn new(settings: Settings) -> Result<Self> {
        Ok(Self(settings))
    }

    fn transform(&self, class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
        let mut added = Vec::new();
        for method in class.methods().filter(Method::has_code) {
            for call in method.calls(is_millis)? {
                let millis = Constant::Long(self.0.millis);
                plan.remove(&method.at(&[call.bci]), Some(&millis))?;
            }
            for call in method.calls(is_now)? {
                let ours = replacement(class, &call.target);
                if !added.contains(&ours.name) {
                    self.add(&call.target, &ours, plan)?;
                    added.push(ours.name.clone());
                }
                plan.redirect_call(&method.at(&[call.bci]), INVOKESTATIC, &ours)?;
            }
        }
        Ok(())
    }
}

impl FrozenClock {
    /// Adds `TIME.now(Clock.fixed(Instant.ofEpochMilli(millis), ZoneId.systemDefault()))` as a
    /// method.
    fn add(&self, now: &Member, ours: &Member, plan: &mut Plan<'_>) -> Result {
        let time = |owner: &str, name, descriptor: &str| {
            Member::of_class(&format!("java/time/{owner}"), name, descriptor)
        };
        let with_clock = format!("(Ljava/time/Clock;)L{};", now.owner);
        let zone = time("ZoneId", "systemDefault", "()Ljava/time/ZoneId;");
        let mut body = Snippet::new();
        body.push_long(self.0.millis)
            .invoke(
                INVOKESTATIC,
                time("Instant", "ofEpochMilli", "(J)Ljava/time/Instant;"),
            )
            .invoke(INVOKESTATIC, zone)
            .invoke(
                INVOKESTATIC,
                time(
                    "Clock",
                    "fixed",
                    "(Ljava/time/Instant;Ljava/time/ZoneId;)Ljava/time/Clock;",
                ),
            )
            .invoke(
                INVOKESTATIC,
                Member::of_class(&now.owner, "now", &with_clock),
            )
            .op(ARETURN, 0);
        let flags = ACC_PRIVATE | ACC_STATIC | ACC_SYNTHETIC;
        Ok(plan.add_method(flags, &ours.name, &ours.descriptor, Some(&body))?)
    }
}

fn is_millis(target: &Member) -> bool {
    target.owner == "java/lang/System" && target.name == "currentTimeMillis"
}

fn is_now(target: &Member) -> bool {
    let time = target.owner.strip_prefix("java/time/");
    target.name == "now"
        && target.descriptor.starts_with("()")
        && time.is_some_and(|time| TIMES.contains(&time))
}

/// Returns the added method that replaces a call of `now`.
fn replacement(class: &Class<'_>, now: &Member) -> Member {
    let time = now.owner.rsplit('/').next().unwrap_or(&now.owner);
    Member {
        owner: class.name(),
        name: format!("frozen${time}"),
        descriptor: now.descriptor.clone(),
        interface: class.access_flags() & ACC_INTERFACE != 0,
    }
}

classhook_sdk::export!(FrozenClock);
