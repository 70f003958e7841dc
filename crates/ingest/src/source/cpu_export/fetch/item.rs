//! An item of Zabbix, whoever tells of it.

use super::address::One;
use crate::error::ErrorKind;
use crate::run::fault::Fault;
use crate::run::options::cpu_scale::CpuScale;
use crate::source::SourceOptions;

/// The maximum number of items that an error lists.
const LISTED: usize = 20;

/// The key of the use of the CPU in percent of the machine, and that of its number of cores.
const CPU: &str = "system.cpu.util";
pub(super) const CORES: &str = "system.cpu.num";

/// An item.
pub(super) struct Item {
    pub(super) id: String,
    pub(super) key: String,
    pub(super) host: String,
    /// The kind of its values: 0 or 3 for numbers.
    pub(super) kind: String,
    pub(super) last_clock: Option<i64>,
}

impl Item {
    /// What tells it from others that are asked for: its host, or its number.
    pub(super) fn name(&self, asked: One<'_>) -> String {
        match asked {
            One::Id(_) => self.id.clone(),
            One::Named { host, .. } => host.to_owned(),
        }
    }

    /// Returns true if its values are whole numbers.
    pub(super) fn is_whole(&self) -> bool {
        self.kind == "3"
    }

    /// Returns true if its readings are in percent of a machine whose number of cores is not told yet.
    pub(super) fn needs_cores(&self, options: &SourceOptions) -> bool {
        self.is_of_machine(options) && options.cores.is_none()
    }

    /// The unit of its readings, if its key tells it and its cores are told.
    pub(super) fn told_scale(&self, options: &SourceOptions) -> Option<CpuScale> {
        let cores = options.cores.filter(|_| self.is_of_machine(options))?;
        Some(CpuScale::PercentOfMachine { cores })
    }

    fn is_of_machine(&self, options: &SourceOptions) -> bool {
        let is_cpu = self.key.split('[').next() == Some(CPU);
        is_cpu && options.cpu_scale.is_none() && options.series.is_none()
    }

    /// The unit of readings in percent of a machine of these cores.
    ///
    /// # Errors
    /// If the number of cores is unknown.
    pub(super) fn scale(&self, cores: Option<u32>) -> Result<CpuScale, Fault> {
        match cores {
            Some(cores) => Ok(CpuScale::PercentOfMachine { cores }),
            None => Err(Fault::new(
                ErrorKind::CpuCores,
                format!("{} is in percent of the whole machine, and the host has no item {CORES}", self.key),
                "Give the number of cores (SourceOptions::cores).",
            )),
        }
    }
}

/// Returns the only item of those that were found, if its values are numbers.
///
/// # Errors
/// If there are none or several, or its values are texts.
pub(super) fn only(mut items: Vec<Item>) -> Result<Item, Fault> {
    if items.len() > 1 {
        let list: Vec<String> =
            items.iter().take(LISTED).map(|item| format!("{} ({})", item.id, item.key)).collect();
        return Err(choose(format!("there are several such items: {}", list.join(", "))));
    }
    let item = items.pop();
    let item = item.ok_or_else(|| choose("there is no such item, or it may not be read".to_owned()))?;
    match item.kind.as_str() {
        "0" | "3" => Ok(item),
        _ => Err(choose(format!("the item {} ({}) has texts, not numbers", item.id, item.key))),
    }
}

/// The fault of an item that is not found: perhaps because of its host.
pub(super) fn missing(host: &str, item: &str, host_is_there: bool) -> Fault {
    choose(match host_is_there {
        true => format!("the host {host:?} has no item with the key or the name {item:?}"),
        false => format!("there is no host {host:?}, or it may not be read"),
    })
}

/// The fault of an item that can't be read.
pub(super) fn choose(problem: String) -> Fault {
    let remedy =
        "Name the host as Zabbix does, and one numeric item by its key, or by its number: itemid=44518.";
    Fault::new(ErrorKind::SourceItem, problem, remedy)
}
