//! Components in registries: the token, manifest and blob of the OCI distribution specification.
//!
//! A component is the only layer of type `application/wasm` of a manifest. Every manifest and blob that was requested
//! by digest is compared with that digest, a manifest that was requested by tag with the digest that the registry
//! states, and a blob with the length in its manifest.

use std::path::Path;

use serde_json::Value;

use crate::credentials;
use crate::failure::Failure;
use crate::http::{Answer, Http, sha256_hex};
use crate::reference::{Reference, is_digest, is_local};

/// Media type of a manifest.
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
/// Media type of a layer that is a component.
const WASM: &str = "application/wasm";
/// Manifest annotation with the version.
const VERSION: &str = "org.opencontainers.image.version";
/// Most bytes of a manifest.
const MAX_MANIFEST: u64 = 4 << 20;
/// Header with the digest of a manifest.
const DIGEST: &str = "docker-content-digest";
/// Most bytes of a version in a manifest; a longer one is no version.
const MAX_VERSION: usize = 256;
/// Most bytes of a token response.
const MAX_TOKEN: u64 = 1 << 20;

/// Fetches the component of a reference and returns its version. With a known digest, fetches only the blob and returns
/// `None`.
///
/// # Errors
/// If the artifact is missing, needs credentials, or does not have the expected form or digest.
pub fn fetch(
    reference: &Reference,
    to: &Path,
    most: u64,
    component: Option<&str>,
) -> Result<Option<String>, Failure> {
    let mut registry = Registry {
        http: Http::new(!reference.is_local())?,
        reference,
        authorization: None,
    };
    if let Some(digest) = component {
        registry.blob(&format!("sha256:{digest}"), None, to, most)?;
        return Ok(None);
    }
    let (layer, version) = registry.manifest()?;
    registry.blob(&layer.digest, Some(layer.size), to, most)?;
    Ok(version)
}

/// The layer of a manifest that is a component.
struct Layer {
    /// `sha256:` and hexadecimal digits.
    digest: String,
    /// Length in bytes.
    size: u64,
}

struct Registry<'a> {
    http: Http,
    reference: &'a Reference,
    /// The `Authorization` header, once the registry has demanded one.
    authorization: Option<String>,
}

impl Registry<'_> {
    /// The component's layer and version.
    fn manifest(&mut self) -> Result<(Layer, Option<String>), Failure> {
        let reference = self.reference;
        let path = format!("manifests/{}", reference.manifest());
        let answer = self.get(&path, MANIFEST)?;
        let stated = answer.header(DIGEST);
        let stated = stated.filter(|digest| digest.starts_with("sha256:"));
        let bytes = answer.bytes(MAX_MANIFEST)?;
        for expected in reference.digest.iter().chain(&stated) {
            same_digest("manifest", &sha256_hex(&bytes), expected)?;
        }
        let manifest: Value = serde_json::from_slice(&bytes)
            .map_err(|error| Failure::new(format!("a manifest that is no JSON: {error}")))?;
        let version = manifest.get("annotations").and_then(|all| all.get(VERSION));
        let version = version.and_then(Value::as_str);
        let version = version.filter(|version| version.len() <= MAX_VERSION);
        let version = version.map(str::to_owned);
        Ok((
            component(&manifest)?,
            version.or_else(|| reference.tag.clone()),
        ))
    }

    /// Writes the blob of a digest, of this length if it is known.
    fn blob(
        &mut self,
        digest: &str,
        size: Option<u64>,
        to: &Path,
        most: u64,
    ) -> Result<(), Failure> {
        if let Some(size) = size.filter(|size| *size > most) {
            let found = Failure::new(format!("a component of {size} bytes"));
            return Err(found.expected(format!("at most {most} bytes")));
        }
        let answer = self.get(&format!("blobs/{digest}"), "*/*")?;
        let (found, length) = answer.write(to, size.unwrap_or(most))?;
        if let Some(size) = size.filter(|size| *size != length) {
            let found = Failure::new(format!("a component of {length} bytes"));
            return Err(found.expected(format!("{size} bytes, as its manifest says")));
        }
        same_digest("component", &found, digest)
    }

    fn get(&mut self, path: &str, accept: &str) -> Result<Answer, Failure> {
        let Reference {
            host, repository, ..
        } = self.reference;
        let scheme = if self.reference.is_local() {
            "http"
        } else {
            "https"
        };
        let url = format!("{scheme}://{host}/v2/{repository}/{path}");
        let answer = self.ask(&url, accept)?;
        if answer.status() != 401 || self.authorization.is_some() {
            return found(answer);
        }
        let challenge = answer.header("www-authenticate").unwrap_or_default();
        self.authorization = Some(self.authorize(&challenge)?);
        found(self.ask(&url, accept)?)
    }

    fn ask(&self, url: &str, accept: &str) -> Result<Answer, Failure> {
        let mut headers = vec![("Accept", accept)];
        headers.extend(
            self.authorization
                .iter()
                .map(|it| ("Authorization", it.as_str())),
        );
        self.http.get(url, &headers)
    }

    /// Answers a challenge. `Bearer`: fetches a token from the server that it names, with credentials if there are any.
    /// Other schemes: sends the credentials themselves.
    fn authorize(&self, challenge: &str) -> Result<String, Failure> {
        let credentials = credentials::of(&self.reference.host);
        if !challenge.to_ascii_lowercase().starts_with("bearer ") {
            return credentials.ok_or_else(wants_password);
        }
        let realm = parameter(challenge, "realm").unwrap_or_default();
        let host = realm.split_once("://").map(|(_, rest)| rest);
        let host = host
            .and_then(|rest| rest.split(['/', '?']).next())
            .unwrap_or_default();
        let is_safe = realm.starts_with("https://")
            || (realm.starts_with("http://") && is_local(host) && self.reference.is_local());
        if !is_safe {
            return Err(
                Failure::new(format!("the registry names `{realm}` as its token server"))
                    .expected("an https URL"),
            );
        }
        let scope = format!("repository:{}:pull", self.reference.repository);
        let mut url = format!(
            "{realm}{}scope={}",
            if realm.contains('?') { '&' } else { '?' },
            encoded(&scope)
        );
        if let Some(service) = parameter(challenge, "service") {
            url += &format!("&service={}", encoded(service));
        }
        let headers: Vec<_> = credentials
            .iter()
            .map(|it| ("Authorization", it.as_str()))
            .collect();
        let answer = found(self.http.get(&url, &headers)?)?.bytes(MAX_TOKEN)?;
        let answer: Value = serde_json::from_slice(&answer).unwrap_or_default();
        let token = answer.get("token").or_else(|| answer.get("access_token"));
        let token = token.and_then(Value::as_str);
        let is_text = |token: &&str| token.bytes().all(|byte| byte.is_ascii_graphic());
        let token = token
            .filter(is_text)
            .ok_or_else(|| Failure::new("no token"))?;
        Ok(format!("Bearer {token}"))
    }
}

fn found(answer: Answer) -> Result<Answer, Failure> {
    match answer.status() {
        401 | 403 => Err(wants_password()),
        _ => answer.only_found(),
    }
}

fn wants_password() -> Failure {
    Failure::new("the registry requires a user and password, or rejects these").help(
        "set CLASSHOOK_REGISTRY to its host, CLASSHOOK_REGISTRY_USER and CLASSHOOK_REGISTRY_PASSWORD, or put them into ~/.docker/config.json; credential helpers are not run",
    )
}

/// The only layer that is a component.
fn component(manifest: &Value) -> Result<Layer, Failure> {
    let wrong = |found: String| {
        Failure::new(found).expected(format!("a manifest with one layer of type {WASM}"))
    };
    if manifest.get("manifests").is_some() {
        return Err(wrong("an index of several manifests".to_owned())
            .help("name one of them: oci://HOST/REPOSITORY@sha256:DIGEST"));
    }
    let layers = manifest.get("layers").and_then(Value::as_array);
    let kind = |layer: &Value| {
        layer
            .get("mediaType")
            .and_then(Value::as_str)
            .unwrap_or("?")
            .to_owned()
    };
    let layers: Vec<_> = layers
        .into_iter()
        .flatten()
        .map(|layer| (kind(layer), layer))
        .collect();
    let components: Vec<_> = layers.iter().filter(|(kind, _)| kind == WASM).collect();
    let [(_, layer)] = components.as_slice() else {
        let kinds: Vec<_> = layers
            .iter()
            .take(10)
            .map(|(kind, _)| kind.as_str())
            .collect();
        return Err(wrong(format!(
            "{} layers: {}",
            layers.len(),
            kinds.join(", ")
        )));
    };
    let digest = layer.get("digest").and_then(Value::as_str);
    let digest = digest.filter(|digest| is_digest(digest));
    let digest = digest.ok_or_else(|| wrong("a layer without a SHA-256".to_owned()))?;
    let size = layer.get("size").and_then(Value::as_u64);
    Ok(Layer {
        digest: digest.to_owned(),
        size: size.ok_or_else(|| wrong("a layer without a size".to_owned()))?,
    })
}

fn same_digest(what: &str, found: &str, expected: &str) -> Result<(), Failure> {
    if expected.strip_prefix("sha256:") == Some(found) {
        return Ok(());
    }
    Err(Failure::new(format!("a {what} with the digest sha256:{found}")).expected(expected))
}

/// The value of a challenge's parameter, such as `realm` in `Bearer realm="…",service="…"`.
fn parameter<'c>(challenge: &'c str, name: &str) -> Option<&'c str> {
    let (_, rest) = challenge.split_once(&format!("{name}=\""))?;
    rest.split('"').next()
}

/// Percent-encodes a text as a value of a URL's query.
fn encoded(text: &str) -> String {
    let byte = |byte: u8| match byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    };
    text.bytes().map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_server::{Request, Server, reply};
    use std::sync::OnceLock;

    const COMPONENT: &[u8] = b"component";

    fn manifest(layers: &str) -> String {
        format!(
            r#"{{"schemaVersion":2,"layers":[{layers}],"annotations":{{"{VERSION}":"1.2.3"}}}}"#
        )
    }

    fn layer() -> String {
        format!(
            r#"{{"mediaType":"{WASM}","digest":"sha256:{}","size":9}}"#,
            sha256_hex(COMPONENT)
        )
    }

    /// A registry without access control.
    fn open(request: &Request) -> Vec<u8> {
        let blob = format!("/v2/acme/timer/blobs/sha256:{}", sha256_hex(COMPONENT));
        let other = format!(
            r#"{{"mediaType":"text/plain","digest":"sha256:{}"}}"#,
            "00".repeat(32)
        );
        let ok = |text: &str| reply(200, &[], text.as_bytes());
        match request.path.strip_prefix("/v2/acme/timer/manifests/") {
            Some("1") => ok(&manifest(&layer())),
            Some("bare") => ok(&manifest(&layer()).replace("annotations", "x")),
            Some("two") => ok(&manifest(&format!("{},{}", layer(), layer()))),
            Some("none") => ok(&manifest(&other)),
            Some("index") => ok(r#"{"manifests":[]}"#),
            Some("garbage") => ok("<html>"),
            Some("huge") => reply(200, &[], &vec![b' '; (MAX_MANIFEST + 1) as usize]),
            Some("damaged") => ok(&manifest(
                &layer().replace(&sha256_hex(COMPONENT), &"ab".repeat(32)),
            )),
            Some("path") => ok(&manifest(&layer().replace("sha256:", "../../"))),
            Some("short") => ok(&manifest(&layer().replace(":9", ":8"))),
            Some("long") => ok(&manifest(&layer().replace(":9", ":10"))),
            Some("enormous") => ok(&manifest(&layer().replace(":9", ":1001"))),
            Some("unmeasured") => ok(&manifest(&layer().replace("size", "weight"))),
            Some("verbose") => ok(&manifest(&other.replace("plain", &"x".repeat(1 << 20)))),
            Some("version") => ok(&manifest(&layer()).replace("1.2.3", &"9".repeat(300))),
            Some("swapped") => {
                let stated = format!("sha256:{}", "cd".repeat(32));
                let body = manifest(&layer());
                reply(200, &[("Docker-Content-Digest", &stated)], body.as_bytes())
            }
            Some("stated") => {
                let body = manifest(&layer());
                let stated = format!("sha256:{}", sha256_hex(body.as_bytes()));
                reply(200, &[("Docker-Content-Digest", &stated)], body.as_bytes())
            }
            Some(digest) if digest.starts_with("sha256:") => ok(&manifest(&layer())),
            Some(_) => reply(404, &[], b""),
            None if request.path == blob => reply(307, &[("Location", "/elsewhere")], b""),
            None if request.path == "/elsewhere" && request.authorization.is_some() => {
                reply(400, &[], b"")
            }
            None if request.path == "/elsewhere" => reply(200, &[], COMPONENT),
            None => reply(200, &[], b"otherwise"),
        }
    }

    fn pull(
        host: &str,
        name: &str,
        component: Option<&str>,
    ) -> Result<(Option<String>, Vec<u8>), Failure> {
        let folder = tempfile::tempdir().unwrap();
        let to = folder.path().join("x.wasm");
        let reference = Reference::read(&format!("oci://{host}/acme/timer{name}"))?;
        let fetched = fetch(&reference, &to, 1000, component)?;
        Ok((fetched, std::fs::read(&to).unwrap()))
    }

    #[test]
    fn component_is_the_only_layer_of_a_manifest() {
        let host = Server::start(open).host();
        let of = |version: Option<&str>| version.map(str::to_owned);
        let whole = COMPONENT.to_vec();
        assert_eq!(
            pull(&host, ":1", None),
            Ok((of(Some("1.2.3")), whole.clone()))
        );
        assert_eq!(
            pull(&host, ":bare", None),
            Ok((of(Some("bare")), whole.clone()))
        );
        assert_eq!(
            pull(&host, ":stated", None),
            Ok((of(Some("1.2.3")), whole.clone()))
        );
        assert_eq!(
            pull(&host, ":version", None),
            Ok((of(Some("version")), whole.clone()))
        );
        let pinned = format!("@sha256:{}", sha256_hex(manifest(&layer()).as_bytes()));
        assert_eq!(
            pull(&host, &pinned, None),
            Ok((of(Some("1.2.3")), whole.clone()))
        );
        let digest = sha256_hex(COMPONENT);
        assert_eq!(pull(&host, ":gone", Some(&digest)), Ok((of(None), whole)));
    }

    #[test]
    fn hostile_and_wrong_answers_are_reported() {
        let host = Server::start(open).host();
        for (name, found) in [
            (":two", "2 layers"),
            (":none", "1 layers: text/plain"),
            (":index", "an index"),
            (":garbage", "no JSON"),
            (":huge", "4194305 bytes"),
            (":damaged", "a component with the digest"),
            (":path", "without a SHA-256"),
            (":short", "9 bytes"),
            (":long", "a component of 9 bytes"),
            (":enormous", "a component of 1001 bytes"),
            (":unmeasured", "without a size"),
            (":verbose", "bytes in all)"),
            (":swapped", "a manifest with the digest"),
            (":gone", "404"),
            (
                &format!("@sha256:{}", "cd".repeat(32)),
                "a manifest with the digest",
            ),
        ] {
            let failure = pull(&host, name, None).unwrap_err();
            assert!(failure.found.contains(found), "{name}: {failure:?}");
            assert!(failure.found.len() < 1_100, "{name}");
        }
        let other = pull(&host, ":1", Some(&"ef".repeat(32))).unwrap_err();
        assert!(
            other.found.contains("a component with the digest"),
            "{other:?}"
        );
    }

    /// A registry that demands a token from its own server.
    fn with_token(request: &Request) -> Vec<u8> {
        static HOST: OnceLock<String> = OnceLock::new();
        let host = HOST.get_or_init(|| request.host.clone());
        let scope = "/token?scope=repository%3Aacme%2Ftimer%3Apull&service=a%20b";
        if request.path == scope {
            return reply(200, &[], br#"{"access_token":"abc"}"#);
        }
        if request.path.starts_with("/v2/")
            && request.authorization.as_deref() != Some("Bearer abc")
        {
            let challenge = format!("Bearer realm=\"http://{host}/token\",service=\"a b\"");
            return reply(401, &[("WWW-Authenticate", &challenge)], b"");
        }
        open(request)
    }

    #[test]
    fn token_is_requested_once_and_does_not_follow_a_redirect() {
        let server = Server::start(with_token);
        assert_eq!(pull(&server.host(), ":1", None).unwrap().1, COMPONENT);
        assert_eq!(server.count(), 5);
    }

    #[test]
    fn error_names_the_remedy_for_missing_credentials() {
        for challenge in ["Basic realm=\"x\"", "", "Negotiate"] {
            let answer = move |_: &Request| reply(401, &[("WWW-Authenticate", challenge)], b"");
            let failure = pull(&Server::start(answer).host(), ":1", None).unwrap_err();
            assert!(failure.found.contains("user and password"), "{failure:?}");
            assert!(failure.help.unwrap().contains("CLASSHOOK_REGISTRY"));
        }
        for realm in ["http://example.com/token", "file:///etc/passwd", ""] {
            let answer = move |_: &Request| {
                reply(
                    401,
                    &[("WWW-Authenticate", &format!("Bearer realm=\"{realm}\""))],
                    b"",
                )
            };
            let failure = pull(&Server::start(answer).host(), ":1", None).unwrap_err();
            assert!(failure.found.contains("as its token server"), "{failure:?}");
        }
    }
}
