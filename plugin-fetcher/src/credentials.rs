//! User and password for a registry: from the environment, or from the file that `docker login` writes.

use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

/// Environment variables with the registry, user and password for this one command.
const VARIABLES: [&str; 3] = [
    "CLASSHOOK_REGISTRY",
    "CLASSHOOK_REGISTRY_USER",
    "CLASSHOOK_REGISTRY_PASSWORD",
];

/// The `Authorization` header for a registry, if its user and password are known.
pub fn of(host: &str) -> Option<String> {
    let [registry, user, password] = VARIABLES.map(|name| std::env::var(name).ok());
    if registry.as_deref() == Some(host) {
        return Some(basic(&format!("{}:{}", user?, password?)));
    }
    let text = std::fs::read_to_string(docker()?.join("config.json")).ok()?;
    in_docker(&text, host)
}

/// The header value for `user:password`.
fn basic(pair: &str) -> String {
    format!("Basic {}", STANDARD.encode(pair))
}

/// The folder of Docker's settings.
fn docker() -> Option<PathBuf> {
    let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".docker"));
    std::env::var_os("DOCKER_CONFIG")
        .map(PathBuf::from)
        .or_else(home)
}

/// The entry of a registry in Docker's `config.json`. Credential helpers that the file names are not run.
fn in_docker(text: &str, host: &str) -> Option<String> {
    let settings: Value = serde_json::from_str(text).ok()?;
    let entries = settings.get("auths")?.as_object()?;
    let is_its = |name: &str| {
        let name = name.split_once("://").map_or(name, |(_, rest)| rest);
        name.split('/').next() == Some(host)
    };
    let (_, entry) = entries.iter().find(|(name, _)| is_its(name))?;
    let pair = STANDARD.decode(entry.get("auth")?.as_str()?).ok()?;
    let pair = String::from_utf8(pair).ok()?;
    pair.contains(':').then(|| basic(&pair))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn password_is_that_of_this_registry_alone() {
        let text = r#"{"auths": {
            "https://other.example.com/v1/": {"auth": "bWU6b3RoZXI="},
            "registry.example.com": {"auth": "bWU6c2VjcmV0"},
            "helped.example.com": {}
        }, "credsStore": "desktop"}"#;
        let found = |host: &str| in_docker(text, host);
        assert_eq!(found("registry.example.com").unwrap(), "Basic bWU6c2VjcmV0");
        assert_eq!(found("other.example.com").unwrap(), "Basic bWU6b3RoZXI=");
        assert_eq!(found("helped.example.com"), None);
        assert_eq!(found("example.com"), None);
        assert_eq!(in_docker("{", "registry.example.com"), None);
    }
}
