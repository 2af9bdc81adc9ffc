//! A container image in the OCI layout, as a tar archive: command and agent, and nothing else.

use super::archive::{Entry, Time, Tree, tar};
use crate::setup::artifacts::digest_of;
use anyhow::{Result, bail};
use serde_json::{Value, json};

/// Most bytes of the image.
const MAX_IMAGE: usize = 20_000_000;

/// The names of processors in images, and their files.
pub struct Platform<'a> {
    /// Such as `x86_64`.
    pub processor: &'a str,
    /// The files of the image.
    pub files: Tree,
}

/// A compression with Zstandard: with gzip, the image would be a third larger.
pub type Zstandard<'a> = &'a dyn Fn(&[u8]) -> Result<Vec<u8>>;

/// Returns an archive that `docker load` and `skopeo copy oci-archive:` read, with one image for each platform.
pub fn image(
    version: &str,
    platforms: &[Platform<'_>],
    time: Time,
    zstandard: Zstandard<'_>,
) -> Result<Vec<u8>> {
    let mut layout = Tree::new();
    let mut manifests = Vec::new();
    for platform in platforms {
        let mut blobs = 0;
        let mut put = |kind: &str, bytes: Vec<u8>| {
            blobs += bytes.len();
            let found = descriptor(kind, &bytes);
            let digest = digest_of(&bytes);
            layout.insert(format!("blobs/sha256/{digest}"), Entry::File(bytes));
            found
        };
        let layer = tar(&platform.files, time)?;
        let contents = format!("sha256:{}", digest_of(&layer));
        let layer = put("layer.v1.tar+zstd", zstandard(&layer)?);
        let named = named(platform.processor);
        let configuration = json!({
            "architecture": named,
            "os": "linux",
            "config": {
                "Entrypoint": ["/classhook/classhook"],
                "Env": ["PATH=/classhook:/bin"],
                "WorkingDir": "/classhook",
            },
            "rootfs": { "type": "layers", "diff_ids": [contents] },
        });
        let configuration = put("config.v1+json", configuration.to_string().into_bytes());
        let manifest = json!({
            "schemaVersion": 2,
            "mediaType": media("manifest.v1+json"),
            "config": configuration,
            "layers": [layer],
        });
        let mut manifest = put("manifest.v1+json", manifest.to_string().into_bytes());
        if blobs > MAX_IMAGE {
            bail!("expected an image of at most {MAX_IMAGE} bytes, found {blobs}");
        }
        manifest["platform"] = json!({ "architecture": named, "os": "linux" });
        manifest["annotations"] = json!({ "org.opencontainers.image.ref.name": version });
        manifests.push(manifest);
    }
    let index = json!({
        "schemaVersion": 2,
        "mediaType": media("index.v1+json"),
        "manifests": manifests,
    });
    layout.insert("index.json".to_owned(), file(&index));
    let mark = json!({ "imageLayoutVersion": "1.0.0" });
    layout.insert("oci-layout".to_owned(), file(&mark));
    tar(&layout, time)
}

fn file(json: &Value) -> Entry {
    Entry::File(json.to_string().into_bytes())
}

fn media(kind: &str) -> String {
    // A configuration and a layer are kinds of `image`, too.
    format!("application/vnd.oci.image.{kind}")
}

fn descriptor(kind: &str, bytes: &[u8]) -> Value {
    json!({
        "mediaType": media(kind),
        "digest": format!("sha256:{}", digest_of(bytes)),
        "size": bytes.len(),
    })
}

/// The name of a processor in images, which is Go's.
fn named(processor: &str) -> &str {
    super::deb::architecture(processor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::io::Read;

    #[test]
    fn each_descriptor_of_an_image_fits_its_blob() {
        let platform = |processor| Platform {
            processor,
            files: Tree::from([(
                "classhook/classhook".to_owned(),
                Entry::Program(processor.into()),
            )]),
        };
        let platforms = [platform("x86_64"), platform("aarch64")];
        let reversed = |bytes: &[u8]| Ok(bytes.iter().rev().copied().collect());
        let image = image("0.1.0", &platforms, Time(1), &reversed).unwrap();
        let mut archive = tar::Archive::new(image.as_slice());
        let mut files = BTreeMap::new();
        for entry in archive.entries().unwrap() {
            let mut entry = entry.unwrap();
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).unwrap();
            files.insert(entry.path().unwrap().display().to_string(), bytes);
        }
        let json = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).unwrap();
        let blob = |of: &Value| {
            let digest = of["digest"]
                .as_str()
                .unwrap()
                .replace("sha256:", "blobs/sha256/");
            let bytes = &files[&digest];
            assert_eq!(of["size"], bytes.len());
            assert_eq!(digest, format!("blobs/sha256/{}", super::digest_of(bytes)));
            bytes
        };
        let index = json(&files["index.json"]);
        let platforms = index["manifests"].as_array().unwrap();
        assert_eq!(platforms[0]["platform"]["architecture"], "amd64");
        assert_eq!(platforms[1]["platform"]["architecture"], "arm64");
        for manifest in platforms {
            let manifest = json(blob(manifest));
            let configuration = json(blob(&manifest["config"]));
            let layer: Vec<u8> = blob(&manifest["layers"][0]).iter().rev().copied().collect();
            let contents = format!("sha256:{}", super::digest_of(&layer));
            assert_eq!(configuration["rootfs"]["diff_ids"][0], contents);
        }
    }
}
