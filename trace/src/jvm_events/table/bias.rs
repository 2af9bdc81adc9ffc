//! The known bias of the JVM's allocation sampler.

use jvm_events::Recorded;

/// The first release with a correct sampler.
const UNBIASED: u32 = 25;

/// Returns a note about a JVM with a biased allocation sampler. The sampler counts some bytes twice if allocations
/// outside the thread's buffer (TLAB) occur between small ones.
#[must_use]
pub fn sampler_bias(recorded: &Recorded) -> Option<String> {
    let is_sampled = recorded.subscription.allocations? > 0;
    let version = recorded.jvm.version.rsplit(' ').next()?;
    let feature: u32 = version
        .split(|it: char| !it.is_ascii_digit())
        .next()?
        .parse()
        .ok()?;
    let line = format!(
        "the sampler of JDK {feature} is biased if large arrays come between small objects: up to half too few bytes of large arrays, half too many of small objects; JDK {UNBIASED} is correct, and --alloc-interval 0 counts everything\n"
    );
    (is_sampled && feature < UNBIASED).then_some(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use jvm_events::Subscription;
    use jvm_events::recorded::Jvm;

    #[test]
    fn bias_is_reported_for_samples_of_biased_releases() {
        let line = |version: &str, interval| {
            sampler_bias(&Recorded {
                jvm: Jvm {
                    version: version.to_owned(),
                    ..Jvm::default()
                },
                subscription: Subscription {
                    allocations: interval,
                    ..Subscription::default()
                },
                ..Recorded::default()
            })
        };
        let old = "OpenJDK 64-Bit Server VM 17.0.15+6-Debian-1deb12u1";
        let told = line(old, Some(524_288)).expect("a line");
        assert!(
            told.starts_with("the sampler of JDK 17 is biased"),
            "{told}"
        );
        assert_eq!(line(old, Some(0)), None, "each allocation is counted");
        assert_eq!(line(old, None), None, "nothing is sampled");
        let new = "OpenJDK 64-Bit Server VM 25.0.3+9-LTS";
        assert_eq!(line(new, Some(524_288)), None);
        assert_eq!(line("", Some(524_288)), None, "of several JVMs");
    }
}
