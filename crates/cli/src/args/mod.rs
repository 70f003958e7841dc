//! Flags that several commands share, a set a file. What belongs to one command stands beside it.

mod cpu;
mod goals;
mod output;
mod reading;
mod runs;
mod store;
mod style;
mod values;
mod view;

pub(crate) use self::cpu::{CpuArgs, CpuScaleArg};
pub(crate) use self::goals::GoalArgs;
pub(crate) use self::output::TableFormat;
pub(crate) use self::reading::LogArgs;
pub(crate) use self::runs::{KeyArgs, TestArgs, repeat};
pub(crate) use self::store::StoreArgs;
pub(crate) use self::style::{PageFormat, StyleArgs};
pub(crate) use self::view::{PhaseArg, ScopeArgs, ViewArgs};
