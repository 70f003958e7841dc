//! The tools that are known.

use super::csv::locust::{LocustHistory, LocustStats};
use super::csv::siege::SiegeLog;
use super::json::artillery::Artillery;
use super::json::autocannon::Autocannon;
use super::json::siege::Siege;
use super::json::{bombardier, k6, locust, oha, vegeta};
use super::split::walk::KnownTools;
use super::text;
use super::text::ab::Ab;
use super::text::h2load::H2load;
use super::text::hey::Hey;
use super::text::hgrm::Hgrm;
use super::text::weighttp::Weighttp;
use super::text::wrk::Wrk;
use super::text::wrk::wrk2::Wrk2;

/// Every tool. Where two would recognise the same line, the first one has it.
pub(super) const TOOLS: KnownTools = KnownTools {
    text: &[
        &Wrk2,
        &Wrk,
        &Ab,
        &Weighttp,
        &Hey,
        &text::oha::Oha,
        &H2load,
        &text::vegeta::Vegeta,
        &text::bombardier::Bombardier,
        &Hgrm,
        &LocustStats,
        &LocustHistory,
        &SiegeLog,
    ],
    json: &[
        &oha::Oha,
        &k6::K6Summary,
        &k6::K6List,
        &Autocannon,
        &bombardier::Bombardier,
        &vegeta::Vegeta,
        &Siege,
        &Artillery,
        &locust::LocustList,
        &locust::LocustEntry,
    ],
};
