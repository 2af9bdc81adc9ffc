//! Finds calls of methods that the JDK removes or has removed. The class files need not run: each
//! call gets a note, which `classhook explain` shows.

use classhook_sdk::edit::Member;
use classhook_sdk::pattern::Pattern;
use classhook_sdk::prelude::*;

/// Methods, with the release that deprecated them for removal or removed them.
const DEPRECATED: [(&str, u8); 14] = [
    ("java.lang.Boolean.<init>", 16),
    ("java.lang.Byte.<init>", 16),
    ("java.lang.Character.<init>", 16),
    ("java.lang.Double.<init>", 16),
    ("java.lang.Float.<init>", 16),
    ("java.lang.Integer.<init>", 16),
    ("java.lang.Long.<init>", 16),
    ("java.lang.Short.<init>", 16),
    ("java.lang.Object.finalize", 18),
    ("java.lang.System.*SecurityManager", 17),
    ("java.lang.*.runFinalization", 18),
    ("java.lang.Thread.stop", 18),
    ("java.security.AccessController.*", 17),
    ("sun.misc.Unsafe.*", 23),
];

/// The plugin's settings.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// The user's own deprecated methods: `com.acme.Store.find*`.
    methods: Vec<String>,
}

/// Adds notes to calls.
pub struct DeprecatedApi(Vec<(Pattern, String)>);

impl Transformer for DeprecatedApi {
    type Config = Settings;

    fn new(settings: Settings) -> Result<Self> {
        let of_jdk = DEPRECATED.iter().map(|(method, release)| {
            (
                *method,
                format!("deprecated for removal since JDK {release}"),
            )
        });
        let own = settings.methods.iter();
        let own = own.map(|method| (method.as_str(), "deprecated".to_owned()));
        let all = of_jdk.chain(own).map(|(method, why)| {
            let pattern = Pattern::parse(method).map_err(|error| error.to_string())?;
            Ok((pattern, why))
        });
        Ok(Self(all.collect::<Result<_>>()?))
    }

    fn transform(&self, class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
        for method in class.methods().filter(Method::has_code) {
            for call in method.calls(|target| self.reason(target).is_some())? {
                let Some(reason) = self.reason(&call.target) else {
                    continue;
                };
                let Member { owner, name, .. } = &call.target;
                let owner = owner.replace('/', ".");
                let text = format!("line {}: {owner}.{name} is {reason}", call.line);
                for point in method.before(&[call.bci]) {
                    plan.note(point, &text);
                }
            }
        }
        Ok(())
    }
}

impl DeprecatedApi {
    /// Returns the reason why a method should not be called, if any.
    fn reason(&self, target: &Member) -> Option<&str> {
        let found = self.0.iter().find(|(pattern, _)| {
            pattern.matches_class(&target.owner)
                && pattern.matches_method(&target.name, &target.descriptor)
        });
        found.map(|(_, reason)| reason.as_str())
    }
}

classhook_sdk::export!(DeprecatedApi);
