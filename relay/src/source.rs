//! A file that an agent writes: an event file grows; a recording or a file of tables is replaced as a whole.

use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use probes::Meta;
use probes::events::{Entry, Follower};
use serde::Deserialize;

use crate::frame::{BATCH, Frame, LONGEST_NAME};
use crate::link::{Link, unexpected};

/// File name extensions of the files that are sent.
pub const EXTENSIONS: [&str; 3] = ["events", "jvm-events", "tables"];
/// Number of last sent bytes that are compared, to detect a file that was written anew.
const TAIL: usize = 64;

/// The selection of files to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileSelection {
    /// Files of all JVMs of a run.
    Run(String),
    /// Files of one JVM. Their names begin with this text and a dot.
    Jvm(String),
    /// Event files of one process id, whose agent started at this time (milliseconds since 1970).
    Process(u32, u64),
}

impl FileSelection {
    /// Reads `run:ID`, `jvm:NAME` or `process:PID:MILLISECONDS`.
    pub fn parse(text: &str) -> Option<Self> {
        match text.split_once(':')? {
            ("run", id) => Some(Self::Run(id.to_owned())),
            ("jvm", name) => Some(Self::Jvm(name.to_owned())),
            ("process", text) => {
                let (pid, start_ms) = text.split_once(':')?;
                Some(Self::Process(pid.parse().ok()?, start_ms.parse().ok()?))
            }
            _ => None,
        }
    }

    /// Checks whether a file belongs to the selection; `None` if the file does not show it yet.
    pub fn takes(&self, path: &Path) -> Option<bool> {
        let extension = path.extension().and_then(|found| found.to_str());
        let Some(extension) = extension.filter(|found| EXTENSIONS.contains(found)) else {
            return Some(false);
        };
        let run = match self {
            Self::Jvm(jvm) => {
                let name = path.file_name().and_then(|name| name.to_str());
                let rest = name.and_then(|name| name.strip_prefix(jvm.as_str()));
                return Some(rest.is_some_and(|rest| rest.starts_with('.')));
            }
            Self::Process(pid, start_ms) => {
                if extension != "events" {
                    return Some(false);
                }
                let meta = meta_of(path)?;
                return Some((meta.pid, meta.start_ms) == (*pid, *start_ms));
            }
            Self::Run(run) => run,
        };
        let found = match extension {
            "events" => meta_of(path).map(|meta| meta.run),
            _ => run_of_document(path),
        };
        found.map(|found| found == *run)
    }
}

fn meta_of(path: &Path) -> Option<Meta> {
    let mut found = None;
    let mut take = |entry| {
        if let Entry::Meta(meta) = entry {
            found = Some(*meta);
        }
    };
    let _ = Follower::open(path).ok()?.read(&mut take);
    found
}

fn run_of_document(path: &Path) -> Option<String> {
    #[derive(Deserialize)]
    struct Document {
        jvm: Jvm,
    }
    #[derive(Deserialize)]
    struct Jvm {
        run: String,
    }
    let document: Document = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
    Some(document.jvm.run)
}

/// A file that is sent.
#[derive(Debug)]
pub struct Source {
    path: PathBuf,
    number: u32,
    name: String,
    grows: bool,
    /// The file that is open for reading now.
    open: Option<Open>,
    /// Set once the file was announced on the current connection.
    announced: bool,
    /// Number of bytes that the receiver has confirmed.
    pub kept: u64,
    /// The last of these bytes, at most `TAIL`.
    tail: Vec<u8>,
    /// Set once the receiver has confirmed that the file is complete.
    pub ended: bool,
}

#[derive(Debug)]
struct Open {
    file: File,
    about: Metadata,
}

impl Source {
    /// A file of which nothing was sent.
    pub fn new(path: PathBuf, number: u32) -> Self {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        let name: String = name
            .chars()
            .map(|c| if plain(c) { c } else { '_' })
            .collect();
        let cut = name.len().saturating_sub(LONGEST_NAME);
        Self {
            grows: path.extension().is_some_and(|it| it == "events"),
            path,
            number,
            name: name[cut..].trim_start_matches('.').to_owned(),
            open: None,
            announced: false,
            kept: 0,
            tail: Vec::new(),
            ended: false,
        }
    }

    /// Checks whether this is the file at a path.
    pub fn is(&self, path: &Path) -> bool {
        self.path == path
    }

    /// The file name on the receiver's side.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Prepares for a new connection, whose receiver does not know the file.
    pub fn forget_receiver(&mut self) {
        self.announced = false;
    }

    /// Number of bytes that the receiver does not have.
    pub fn left(&self) -> u64 {
        let length = fs::metadata(&self.path).map_or(0, |about| about.len());
        length.saturating_sub(self.kept)
    }

    /// Sends all new bytes. Returns whether there were any.
    ///
    /// # Errors
    /// If the connection fails, or the receiver refuses the file.
    pub fn send(&mut self, to: &mut Link) -> io::Result<bool> {
        let mut news = !self.announced;
        if !self.announced {
            self.announce(to)?;
        }
        if self.has_changed() {
            self.begin_anew(to)?;
            news = true;
        }
        let Some(Open { file, .. }) = &self.open else {
            return Ok(false); // it is not there any more
        };
        let file = file.try_clone()?;
        let mut buffer = vec![0; BATCH];
        loop {
            let read = file.read_at(&mut buffer, self.kept)?;
            if read == 0 {
                break;
            }
            to.say(&Frame::Append(self.number, buffer[..read].to_vec()))?;
            self.kept = to.kept(self.kept + read as u64)?;
            self.tail = buffer[read.saturating_sub(TAIL)..read].to_vec();
            news = true;
        }
        if news {
            to.say(&Frame::Current(self.number))?;
            to.kept(self.kept)?;
        }
        Ok(news)
    }

    /// Marks the file as complete on the receiver's side.
    ///
    /// # Errors
    /// See [`Source::send`].
    pub fn end(&mut self, to: &mut Link) -> io::Result<()> {
        to.say(&Frame::End(self.number))?;
        to.kept(self.kept)?;
        self.ended = true;
        Ok(())
    }

    /// Announces the file, and resumes where the receiver's copy has the same content.
    fn announce(&mut self, to: &mut Link) -> io::Result<()> {
        to.say(&Frame::File(self.number, self.name.clone()))?;
        let (length, check) = match to.hear()? {
            Frame::Have(length, check) => (length, check),
            other => return Err(unexpected(&other)),
        };
        self.announced = true;
        self.open()?;
        let same = match &self.open {
            Some(open) if (1..=open.about.len()).contains(&length) => {
                check_of(&open.file, length)? == check
            }
            _ => false,
        };
        match same {
            true => (self.kept, self.tail) = (length, Vec::new()),
            false => self.begin_anew(to)?,
        }
        Ok(())
    }

    /// Checks whether the file no longer holds the bytes that were sent.
    fn has_changed(&self) -> bool {
        let Some(Open { file, about }) = &self.open else {
            return false;
        };
        let Ok(now) = fs::metadata(&self.path) else {
            return false; // removed; what was opened is read to its end
        };
        let identity = |about: &Metadata| (about.dev(), about.ino());
        if identity(&now) != identity(about) {
            return true;
        }
        match self.grows {
            true => now.len() < self.kept || !self.has_tail(file),
            false => now.len() != about.len() || now.modified().ok() != about.modified().ok(),
        }
    }

    /// Checks whether the last sent bytes are still at their offset. An agent truncates the file when a disk is full.
    fn has_tail(&self, file: &File) -> bool {
        let mut found = vec![0; self.tail.len()];
        let place = self.kept - self.tail.len() as u64;
        file.read_exact_at(&mut found, place).is_ok() && found == self.tail
    }

    fn open(&mut self) -> io::Result<()> {
        match File::open(&self.path) {
            Ok(file) => {
                let about = file.metadata()?;
                self.open = Some(Open { file, about });
                Ok(())
            }
            Err(_) if self.open.is_some() => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn begin_anew(&mut self, to: &mut Link) -> io::Result<()> {
        self.open()?;
        to.say(&Frame::Restart(self.number))?;
        (self.kept, self.tail) = (0, Vec::new());
        Ok(())
    }
}

/// The CRC-32 of the first `length` bytes of a file.
pub fn check_of(file: &File, length: u64) -> io::Result<u32> {
    let mut hasher = crc32fast::Hasher::new();
    let mut buffer = vec![0; BATCH];
    let mut at = 0;
    while at < length {
        let wanted = usize::try_from(length - at).map_or(BATCH, |left| left.min(BATCH));
        let read = file.read_at(&mut buffer[..wanted], at)?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        hasher.update(&buffer[..read]);
        at += read as u64;
    }
    Ok(hasher.finalize())
}
