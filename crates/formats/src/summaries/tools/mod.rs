//! The load tools whose summaries are read, one file a tool.

pub mod ab;
mod answers;
mod artillery;
mod autocannon;
mod bombardier;
mod fortio;
mod h2load;
mod hey;
mod hgrm;
mod k6;
mod locust;
mod oha;
mod siege;
mod vegeta;
mod weighttp;
mod wrk;

use self::ab::Ab;
use self::artillery::Artillery;
use self::autocannon::Autocannon;
use self::bombardier::{BombardierJson, BombardierText};
use self::fortio::Fortio;
use self::h2load::H2load;
use self::hey::Hey;
use self::hgrm::Hgrm;
use self::k6::{K6List, K6Summary};
use self::locust::{LocustEntry, LocustHistory, LocustList, LocustStats};
use self::oha::{OhaJson, OhaText};
use self::siege::{Siege, SiegeLog};
use self::vegeta::{VegetaJson, VegetaText};
use self::weighttp::Weighttp;
use self::wrk::{Wrk, Wrk2};
use super::walk::KnownTools;

/// Every tool. Where two would recognise the same line, the first one has it.
pub(super) const TOOLS: KnownTools = KnownTools {
    text: &[
        &Wrk2,
        &Wrk,
        &Ab,
        &Weighttp,
        &Hey,
        &OhaText,
        &H2load,
        &VegetaText,
        &BombardierText,
        &Hgrm,
        &LocustStats,
        &LocustHistory,
        &SiegeLog,
    ],
    json: &[
        &OhaJson,
        &K6Summary,
        &K6List,
        &Autocannon,
        &BombardierJson,
        &Fortio,
        &VegetaJson,
        &Siege,
        &Artillery,
        &LocustList,
        &LocustEntry,
    ],
};
