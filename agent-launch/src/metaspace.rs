//! The metaspace limit for changes of a running JVM's classes.

use attach::Attachment;
use control::message::Shortage;
use errors::Error;

use crate::attachment;

/// Larger limits count as unlimited: the JVM's default is the whole address space.
const UNLIMITED: u64 = 1 << 50;

/// The check of the metaspace before loaded classes change.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Metaspace {
    /// Changes loaded classes even if the metaspace may not suffice.
    pub is_ignored: bool,
}

impl Metaspace {
    /// Returns the maximum number of bytes for a change: three quarters of the free metaspace, so
    /// that the application can load further classes. Returns nothing without a limit of the JVM,
    /// without its figures, or if they are ignored.
    #[must_use]
    pub fn of_jvm(self, jvm: &Attachment) -> Option<u64> {
        if self.is_ignored {
            return None;
        }
        let flag = jvm.command("printflag", &["MaxMetaspaceSize"]).ok()?.text;
        let most = limit(&flag)?;
        // JDK 25 removed the line from the first of these answers.
        let answers = ["GC.heap_info", "VM.metaspace basic"];
        let used = answers
            .into_iter()
            .find_map(|line| used(&jvm.jcmd(line).ok()?))?;
        Some(most.saturating_sub(used) / 4 * 3)
    }

    /// As [`Self::of_jvm`], for the JVM `pid`, or nothing if it cannot be attached.
    #[must_use]
    pub fn of_process(self, pid: i32) -> Option<u64> {
        match self.is_ignored {
            true => None,
            false => self.of_jvm(&attachment::open(pid).ok()?),
        }
    }
}

/// Returns the error for insufficient metaspace. The JVM is unchanged.
#[must_use]
pub fn shortage(shortage: &Shortage) -> Error {
    shortage.refusal().into()
}

/// Parses `-XX:MaxMetaspaceSize=104857600`, or nothing for an unlimited value.
fn limit(flag: &str) -> Option<u64> {
    let (_, value) = flag.trim().rsplit_once('=')?;
    let value = value.parse().ok()?;
    (value < UNLIMITED).then_some(value)
}

/// Reads `Metaspace used 2907K, committed 3072K, …`.
fn used(heap_info: &str) -> Option<u64> {
    let line = heap_info
        .lines()
        .find_map(|line| line.trim().strip_prefix("Metaspace"))?;
    let (_, rest) = line.split_once("used ")?;
    let (number, _) = rest.split_once('K')?;
    number.trim().parse::<u64>().ok().map(|kib| kib << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_the_jvm_are_read() {
        assert_eq!(limit("-XX:MaxMetaspaceSize=104857600\n"), Some(100 << 20));
        assert_eq!(limit("-XX:MaxMetaspaceSize=18446744073709547520"), None);
        assert_eq!(limit("unknown"), None);
        let later = " garbage-first heap   total 1K, used 2K\n Metaspace       used 2907K, committed 3072K, reserved 1114112K\n  class space    used 290K";
        assert_eq!(used(later), Some(2907 << 10));
        assert_eq!(
            used(" Metaspace       used 75K, capacity 80K"),
            Some(75 << 10)
        );
        assert_eq!(used("nothing"), None);
    }
}
