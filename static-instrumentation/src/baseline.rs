//! The baseline: a snapshot with the original classes, so that reports need no other class files.

use std::collections::HashSet;
use std::io::{self, Write};

use host::class_array::ClassProbes;
use probes::{BaselineWriter, Failure, Meta};

/// An original class and the plugins whose probes it got.
#[derive(Debug)]
pub struct KeptClass {
    name: String,
    fingerprint: u64,
    probes: Vec<ClassProbes>,
    bytes: Vec<u8>,
}

impl KeptClass {
    /// Stores a class.
    #[must_use]
    pub fn new(name: &str, probes: Vec<ClassProbes>, bytes: &[u8]) -> Self {
        Self {
            name: name.to_owned(),
            fingerprint: fingerprint::of(bytes),
            probes,
            bytes: bytes.to_vec(),
        }
    }
}

/// Writes the snapshot, each class once.
pub struct Baseline<W: Write> {
    writer: BaselineWriter<W>,
    known: HashSet<(String, u64)>,
}

impl<W: Write> Baseline<W> {
    /// Starts the snapshot.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn new(out: W, plugins: Vec<String>) -> io::Result<Self> {
        let meta = Meta {
            command: "classhook instrument".to_owned(),
            agent_version: env!("CARGO_PKG_VERSION").to_owned(),
            plugins,
            ..Meta::default()
        };
        Ok(Self {
            writer: BaselineWriter::new(out, &meta)?,
            known: HashSet::new(),
        })
    }

    /// Adds classes.
    ///
    /// # Errors
    /// Those of the output.
    pub fn add(&mut self, classes: Vec<KeptClass>) -> io::Result<()> {
        for class in classes {
            if self.known.insert((class.name.clone(), class.fingerprint)) {
                let probes = class
                    .probes
                    .iter()
                    .map(|probes| (probes.plugin.as_str(), probes.count));
                self.writer
                    .class(&class.name, class.fingerprint, probes, &class.bytes)?;
            }
        }
        Ok(())
    }

    /// Adds methods without probes.
    ///
    /// # Errors
    /// Those of the output.
    pub fn leave_alone(&mut self, methods: &[Failure]) -> io::Result<()> {
        let mut methods = methods.iter();
        methods.try_for_each(|method| self.writer.failure(method))
    }

    /// Ends the snapshot, and returns the output.
    ///
    /// # Errors
    /// Those of the output.
    pub fn finish(self) -> io::Result<W> {
        self.writer.finish()
    }
}
