//! What the tests share: a small log and CPU export, folders to put them in, and the reading of it all.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use perfpipe_ingest::run::SourceFile;
use perfpipe_ingest::source::{CpuExport, Inputs, SourceOptions};
use perfpipe_ingest::{Error, Result};

pub(crate) const LOG: &str =
    "timeStamp,elapsed,label,success\n1795203738615,12,\"a,\nb\",true\n1795203738700,9,c,false\n";
pub(crate) const CPU: &str = "clock,value\n1795203740,12.5\n1795203739,3\n";

/// A log of a few hundred KiB that doesn't pack to nothing.
pub(crate) fn long_log() -> Vec<u8> {
    let mut text = b"timeStamp,elapsed,label,success\n".to_vec();
    let mut state = 7u64;
    for record in 0..12_000u64 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let line = format!("{},{},label {},true\n", 1_795_203_738_615 + record, state >> 50, state >> 40);
        text.extend_from_slice(line.as_bytes());
    }
    text
}

pub(crate) fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(name)
}

/// A file of this content in a folder of its own.
pub(crate) struct OnDisk {
    _folder: tempfile::TempDir,
    pub(crate) path: PathBuf,
}

pub(crate) fn on_disk(name: &str, bytes: &[u8]) -> OnDisk {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    OnDisk { _folder: folder, path }
}

pub(crate) fn recognise(files: &[&Path]) -> Result<Inputs> {
    let files: Vec<PathBuf> = files.iter().map(|file| file.to_path_buf()).collect();
    Inputs::recognise(&files, &SourceOptions::default())
}

pub(crate) fn from_pipe(input: impl Read + Send + 'static) -> Result<Inputs> {
    Inputs::of_reader("-", input, &SourceOptions::default())
}

/// The error where something had to fail.
pub(crate) fn failure<T>(result: Result<T>) -> Error {
    match result {
        Ok(_) => panic!("it should have failed"),
        Err(error) => error,
    }
}

/// One log, read to its end.
#[derive(Debug, PartialEq)]
pub(crate) struct Read1 {
    pub(crate) text: Vec<u8>,
    pub(crate) file: SourceFile,
}

/// Every log of the inputs, read by `size` bytes at a time, and the notes on the way.
pub(crate) fn read_logs(inputs: &mut Inputs, size: usize) -> Result<Vec<Read1>> {
    let mut all = Vec::new();
    for source in &mut inputs.logs {
        let progress = Arc::new(AtomicU64::new(0));
        let expected = source.packed_size();
        let mut stream = source.open_counted(progress.clone())?;
        while let Some(mut log) = stream.next_log()? {
            let (mut text, mut buffer) = (Vec::new(), vec![0; size]);
            loop {
                match log.read(&mut buffer) {
                    Ok(0) => break,
                    Ok(read) => text.extend_from_slice(&buffer[..read]),
                    Err(e) => return Err(log.explain(e)),
                }
            }
            all.push(Read1 { text, file: log.finish()? });
        }
        inputs.notes.extend(stream.take_notes());
        if let Some(expected) = expected {
            assert!(progress.load(Ordering::Relaxed) >= expected);
        }
    }
    Ok(all)
}

pub(crate) fn texts(logs: Vec<Read1>) -> Vec<String> {
    logs.into_iter().map(|log| String::from_utf8_lossy(&log.text).into_owned()).collect()
}

pub(crate) fn read_cpu(inputs: Inputs) -> Result<CpuExport> {
    read_cpu_by(inputs, &SourceOptions::default())
}

pub(crate) fn read_cpu_by(inputs: Inputs, options: &SourceOptions) -> Result<CpuExport> {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(inputs.cpu.expect("a CPU export").read(options))
}

/// A reader that gives one byte at a time.
pub(crate) struct Drip<R>(pub(crate) R);

impl<R: Read> Read for Drip<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let length = out.len().min(1);
        self.0.read(&mut out[..length])
    }
}
