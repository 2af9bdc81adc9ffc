//! Sends every class below a folder through the bundled coverage plugin and
//! prints what that cost: `transform_folder FOLDER [ROUNDS]`.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use host::{ClassRequest, Config, Loader, Outcome, Pipeline};
use probes::ProbeTable;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().ok_or("expected a folder of class files")?);
    let rounds: u32 = arguments.next().map_or(Ok(3), |text| text.parse())?;
    let mut classes = Vec::new();
    collect(&folder, &mut classes)?;
    let started = Instant::now();
    let pipeline = Pipeline::new(&Config::default())?;
    println!(
        "{} classes, {} bytes; pipeline ready after {:?}",
        classes.len(),
        classes.iter().map(Vec::len).sum::<usize>(),
        started.elapsed()
    );
    for round in 1..=rounds {
        run(round, &pipeline, &classes);
    }
    for failure in pipeline.summary().failures.iter().take(10) {
        println!("{failure}");
    }
    for skipped in pipeline.summary().skipped.iter().take(10) {
        println!(
            "skipped {}.{}: {}",
            skipped.class, skipped.method, skipped.reason
        );
    }
    Ok(())
}

fn run(round: u32, pipeline: &Pipeline, classes: &[Vec<u8>]) {
    let table = ProbeTable::new();
    table.set_arrays(u16::MAX);
    let mut out = Vec::new();
    let (mut changed, mut failed, mut slowest) = (0, 0, Duration::ZERO);
    let started = Instant::now();
    for bytes in classes {
        let before = Instant::now();
        let request = ClassRequest {
            name: b"x",
            loader: &Loader::App,
            has_location: true,
            bytes,
            original: None,
            retransforming: false,
        };
        match pipeline.transform(&request, &table, &mut out) {
            Outcome::Changed => changed += 1,
            Outcome::Unchanged => {}
            Outcome::Failed(_) => failed += 1,
        }
        slowest = slowest.max(before.elapsed());
    }
    let each = started.elapsed() / u32::try_from(classes.len().max(1)).unwrap_or(u32::MAX);
    println!(
        "round {round}: {each:?} per class, slowest {slowest:?}, {changed} changed, {failed} failed"
    );
}

fn collect(folder: &Path, classes: &mut Vec<Vec<u8>>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, classes)?;
        } else if path
            .extension()
            .is_some_and(|extension| extension == "class")
        {
            classes.push(std::fs::read(path)?);
        }
    }
    Ok(())
}
