//! `cargo xtask dist`: the files of a release, in `dist/`.
//!
//! | file | content |
//! |---|---|
//! | `classhook-VERSION-linux-PROCESSOR.tar.gz` | command and agent, licences, manual pages, completions, the listeners of tests |
//! | `classhook_VERSION_ARCHITECTURE.deb` | the same for Debian |
//! | `classhook-VERSION-image.tar` | container images in the OCI layout |
//! | `classhook-VERSION-maven.tar.gz` | a Maven repository with the plugins of Maven and Gradle |
//! | `classhook-VERSION.cdx.json` | the bill of materials (CycloneDX) |
//! | `install.sh` | the script that installs the archive |
//! | `SHA256SUMS` | the digests of all these |
//!
//! The same commit gives the same files: the archives have its time, and the products no path of this machine.

mod archive;
mod components;
mod deb;
mod elf;
mod oci;
mod portable;

use crate::setup::artifacts::digest_of;
use crate::workspace::{Workspace, output_of, say, write_atomically};
use crate::{maven_plugin, plugins, setup};
use anyhow::{Context, Result, bail};
use archive::{Entry, Time, Tree, gzip, tar};
use components::Component;
use e2e_tests::gradle;
use e2e_tests::maven_plugin::{GROUP, Native, Repository, TESTS, VERSION};
use portable::{Builder, Portable, target};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Processors whose files are built, unless the options name one.
const PROCESSORS: [&str; 1] = ["x86_64"];
/// The shells with completions, and the folder and file of each.
const SHELLS: [(&str, &str); 3] = [
    ("bash", "bash-completion/completions/classhook"),
    ("zsh", "zsh/site-functions/_classhook"),
    ("fish", "fish/vendor_completions.d/classhook.fish"),
];

/// Options of the packing.
#[derive(clap::Args, Default)]
pub struct Options {
    /// Pack the files of the last build again, without building
    #[arg(long)]
    packed_only: bool,
    /// Leave out Gradle's plugin, which needs a `gradle` in PATH
    #[arg(long)]
    without_gradle: bool,
}

/// Builds and packs everything.
pub fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    // The builds take an hour, so what is missing is named before.
    let gradle = match options.without_gradle {
        true => None,
        false => Some(gradle::home().context(maven_plugin::GRADLE)?),
    };
    let targets = PROCESSORS.map(target);
    let bin = setup::portable(workspace, &targets)?;
    let zig = output_of(Command::new(bin.join("python3")).args([
        "-c",
        "import os, ziglang; print(os.path.dirname(ziglang.__file__))",
    ]))?;
    if !options.packed_only {
        plugins::for_products(workspace)?;
    }
    let builder = Builder::new(workspace, bin.clone());
    let mut products = Vec::new();
    for processor in PROCESSORS {
        products.push(match options.packed_only {
            true => builder.built(processor)?,
            false => builder.build(processor)?,
        });
    }
    let time = time(workspace)?;
    let components = components::of_target(workspace, &targets[0])?;
    let licences = components::licences(&components, Path::new(zig.trim()))?;
    let release = Release {
        folder: workspace.root().join("dist"),
        maven: workspace.target("dist-maven"),
        time,
    };
    release.empty()?;
    release.put_maven(workspace, gradle.as_deref(), &products)?;
    let shared = release.shared(workspace, &products, licences)?;
    release.put_archives(&products, &shared)?;
    let zstandard = |bytes: &[u8]| setup::zstandard(&bin, bytes);
    release.put_rest(workspace, &products, &components, &zstandard)?;
    release.put_sums()
}

/// The time of the commit, unless `SOURCE_DATE_EPOCH` names another.
fn time(workspace: &Workspace) -> Result<Time> {
    let text = match std::env::var("SOURCE_DATE_EPOCH") {
        Ok(text) => text,
        Err(_) => {
            let mut git = Command::new("git");
            git.args(["log", "-1", "--format=%ct"]);
            output_of(git.current_dir(workspace.root()))?
        }
    };
    let seconds = text.trim().parse();
    Ok(Time(seconds.with_context(|| {
        format!("expected seconds since 1970 in SOURCE_DATE_EPOCH, found {text:?}")
    })?))
}

/// The folder of the release, and the time of its entries.
struct Release {
    folder: PathBuf,
    /// The Maven repository before it is packed.
    maven: PathBuf,
    time: Time,
}

impl Release {
    fn empty(&self) -> Result<()> {
        for folder in [&self.folder, &self.maven] {
            if folder.exists() {
                std::fs::remove_dir_all(folder)?;
            }
            std::fs::create_dir_all(folder)?;
        }
        Ok(())
    }

    fn put(&self, name: &str, bytes: &[u8]) -> Result<()> {
        write_atomically(&self.folder.join(name), bytes)?;
        say(format!("dist/{name}: {} bytes", bytes.len()));
        Ok(())
    }

    /// Writes the Maven repository, and packs it.
    fn put_maven(
        &self,
        workspace: &Workspace,
        gradle: Option<&Path>,
        products: &[Portable],
    ) -> Result<()> {
        let jdk = maven_plugin::tools(workspace)?;
        let native = |of: &Portable| Native {
            platform: format!("linux-{}", of.processor),
            command: of.command.clone(),
            agent: of.agent.clone(),
        };
        let natives = products.iter().map(native).collect();
        let repository = Repository::new(self.maven.clone(), natives);
        repository.put_all(&jdk);
        if let Some(home) = gradle {
            setup::artifact(workspace, "groovy")?;
            repository.put_gradle_plugin(&jdk, home);
        }
        let mut tree = Tree::new();
        for file in files_below(&self.maven)? {
            let path = file.strip_prefix(&self.maven)?;
            let path = path.to_str().context("names of ours")?.to_owned();
            let bytes = std::fs::read(&file)?;
            let sum = format!("{}\n", digest_of(&bytes));
            tree.insert(format!("{path}.sha256"), Entry::File(sum.into_bytes()));
            tree.insert(path, Entry::File(bytes));
        }
        let packed = gzip(&tar(&tree, self.time)?)?;
        self.put(&format!("classhook-{VERSION}-maven.tar.gz"), &packed)
    }

    /// The files that do not depend on the processor, by their paths below `/usr/share`.
    fn shared(
        &self,
        workspace: &Workspace,
        products: &[Portable],
        licences: String,
    ) -> Result<Tree> {
        let here = products
            .iter()
            .find(|one| one.processor == std::env::consts::ARCH);
        let command = &here.context("a command for this machine")?.command;
        let mut tree = Tree::new();
        let scratch = tempfile::tempdir()?;
        output_of(Command::new(command).arg("man-pages").arg(scratch.path()))?;
        for page in files_below(scratch.path())? {
            let name = page.file_name().unwrap_or_default().to_string_lossy();
            let path = format!("man/man1/{name}");
            tree.insert(path, Entry::File(std::fs::read(&page)?));
        }
        for (shell, path) in SHELLS {
            let script = output_of(Command::new(command).args(["completions", shell]))?;
            tree.insert(path.to_owned(), Entry::File(script.into_bytes()));
        }
        for name in ["LICENSE-APACHE", "LICENSE-MIT"] {
            let bytes = std::fs::read(workspace.root().join(name))?;
            tree.insert(format!("doc/classhook/{name}"), Entry::File(bytes));
        }
        let group = GROUP.replace('.', "/");
        let tests = format!("{group}/{TESTS}/{VERSION}/{TESTS}-{VERSION}.jar");
        let tests = std::fs::read(self.maven.join(tests))?;
        tree.insert(format!("java/{TESTS}.jar"), Entry::File(tests));
        tree.insert(
            "doc/classhook/THIRD-PARTY-LICENSES".to_owned(),
            Entry::File(licences.into_bytes()),
        );
        Ok(tree)
    }

    /// Writes an archive and a package for each processor.
    fn put_archives(&self, products: &[Portable], shared: &Tree) -> Result<()> {
        for product in products {
            let name = format!("classhook-{VERSION}-linux-{}", product.processor);
            let mut archive = product.files(&format!("{name}/"))?;
            archive.extend(below(&format!("{name}/share"), shared));
            let packed = gzip(&tar(&archive, self.time)?)?;
            self.put(&format!("{name}.tar.gz"), &packed)?;
            let mut package = product.files("usr/lib/classhook/")?;
            package.extend(below("usr/share", shared));
            let link = Entry::Link("../lib/classhook/classhook");
            package.insert("usr/bin/classhook".to_owned(), link);
            let architecture = deb::architecture(product.processor);
            let packed = deb::package(VERSION, product.processor, &package, self.time)?;
            self.put(&format!("classhook_{VERSION}_{architecture}.deb"), &packed)?;
        }
        Ok(())
    }

    /// Writes image, bill of materials and script.
    fn put_rest(
        &self,
        workspace: &Workspace,
        products: &[Portable],
        components: &[Component],
        zstandard: oci::Zstandard<'_>,
    ) -> Result<()> {
        let mut platforms = Vec::new();
        for product in products {
            let mut files = product.files("classhook/")?;
            // An init container copies the files with it; the image has no other program.
            let link = Entry::Link("../classhook/classhook");
            files.insert("bin/cp".to_owned(), link);
            platforms.push(oci::Platform {
                processor: product.processor,
                files,
            });
        }
        let image = oci::image(VERSION, &platforms, self.time, zstandard)?;
        self.put(&format!("classhook-{VERSION}-image.tar"), &image)?;
        let bill = components::bill(components, VERSION, self.time)?;
        self.put(&format!("classhook-{VERSION}.cdx.json"), bill.as_bytes())?;
        let script = std::fs::read(workspace.root().join("install.sh"))?;
        self.put("install.sh", &script)
    }

    /// Writes the digests of all files, in the form of `sha256sum`.
    fn put_sums(&self) -> Result<()> {
        let mut sums = String::new();
        for file in files_below(&self.folder)? {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            // a string takes everything
            let _ = writeln!(sums, "{}  {name}", digest_of(&std::fs::read(&file)?));
        }
        self.put("SHA256SUMS", sums.as_bytes())
    }
}

/// The same entries in another folder.
fn below(folder: &str, tree: &Tree) -> Tree {
    let entries = tree.iter();
    entries
        .map(|(path, entry)| (format!("{folder}/{path}"), entry.clone()))
        .collect()
}

/// All files below a folder, in the order of their paths.
fn files_below(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder)? {
            let path = entry?.path();
            match path.is_dir() {
                true => folders.push(path),
                false => files.push(path),
            }
        }
    }
    if files.is_empty() {
        bail!("expected files below {}, found none", folder.display());
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests;
