//! The data that describes a run: key, metadata, rejects and damage.

pub mod damage;
pub mod infer;
pub mod info;
pub mod key;
pub mod note;
pub mod options;
pub mod reject_reason;
pub mod rejects;
pub mod replace;
pub mod time_zone;

pub use self::damage::{Damage, DamageKind};
pub use self::infer::Frameworks;
pub use self::info::{LARGEST_CPU_OFFSET, SourceFile, SourceKind};
pub use self::key::{LAST_REPEAT, Repeat, is_numbered};
pub use self::note::{Note, NoteKind};
pub use self::options::intervals::Intervals;
pub use self::options::measures::Measures;
pub use self::options::{PartNumber, RunOptions, is_tag_key, tag_fault};
pub use self::reject_reason::RejectReason;
pub use self::rejects::Reject;
pub use self::replace::Replace;
pub use self::time_zone::TimeZone;
pub use crate::sample::resolution::Resolution;
