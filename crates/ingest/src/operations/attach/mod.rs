//! Gives stored runs other readings of the server.

mod cpu;
mod series;

use crate::run::damage::Damage;
use crate::run::info::{RunInfo, SourceFile, SourceKind};

pub use self::series::AttachedSeries;

/// Removes the files of a kind from a run's metadata, with their damage.
fn remove(info: &mut RunInfo, kind: &SourceKind) {
    let (former, others): (Vec<_>, Vec<_>) =
        std::mem::take(&mut info.sources).into_iter().partition(|source| source.kind == *kind);
    info.damage.retain(|damage| !is_of(damage, &former) || is_of(damage, &others));
    info.sources = others;
}

/// Returns true if damage is in one of these files, or in a zip that holds one.
fn is_of(damage: &Damage, sources: &[SourceFile]) -> bool {
    let within = |source: &SourceFile| damage.member.is_none() || damage.member == source.member;
    sources.iter().any(|source| source.file == damage.file && within(source))
}
