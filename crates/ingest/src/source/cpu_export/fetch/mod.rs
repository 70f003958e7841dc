//! Readings of the server from where they live: Zabbix's API, its database, or Prometheus.

mod access;
mod address;
mod answered;
#[cfg(feature = "postgres")]
mod database;
mod http;
mod prometheus;
mod zabbix;

use futures_util::future::BoxFuture;

pub use self::access::{Access, Secret};
use self::address::{AskedItems, Several, SourceAddress, System};
use self::answered::{Answered, AnsweredPart, HostReadings, answer, combined, hidden};
use self::http::HttpClient;
use self::prometheus::Query;
use super::readings::ReadingsBySeries;
use super::series::SeriesExport;
use super::{CpuExport, CpuFacts};
use crate::source::SourceOptions;
use perfpipe_model::error::{Error, Place, Result};
use perfpipe_model::run::damage::Fault;
use perfpipe_model::run::info::{SourceFile, SourceKind};
use perfpipe_model::run::note::Note;
use perfpipe_model::series::cpu::TimeSeries;
use perfpipe_model::series::server::ServerSeries;

/// Where readings of the server are asked for.
///
/// ```
/// use perfpipe_ingest::source::ReadingsSource;
///
/// let source: ReadingsSource = "prometheus+http://monitor:9090?query=100*sum(rate(cpu[3s]))".parse()?;
/// assert_eq!(source.host(), "monitor:9090");
/// assert!("prometheus+http://monitor:9090".parse::<ReadingsSource>().is_err(), "there is no query");
/// # Ok::<(), perfpipe_ingest::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadingsSource {
    address: SourceAddress,
    access: Access,
}

impl std::str::FromStr for ReadingsSource {
    type Err = Error;

    /// Reads a URL: `zabbix+https://host/zabbix/api_jsonrpc.php?host=sut&item=system.cpu.util`, with the item's key or
    /// name, or `?itemid=44518`; `zabbix-db+postgres://user@host/zabbix?itemid=44518` for Zabbix's own database;
    /// `prometheus+http://host:9090?query=…`, with `&step=15` for another step than the interval of the series, in
    /// seconds. `host=a,b` and `itemid=1,2` name several; `several=sum` or `several=separate` says what is made of their
    /// readings, and of several series that Prometheus answers.
    ///
    /// # Errors
    /// If it is none of these, or contains a password.
    fn from_str(url: &str) -> Result<Self> {
        Ok(Self { address: url.parse()?, access: Access::default() })
    }
}

impl ReadingsSource {
    /// Sets the secrets, and how the host is reached.
    #[must_use]
    pub fn with_access(mut self, access: Access) -> Self {
        self.access = access;
        self
    }

    /// Returns the host and its port, as in the URL.
    pub fn host(&self) -> &str {
        &self.address.host
    }

    /// Returns the URL as it was given. It contains no secret.
    pub(crate) fn url(&self) -> String {
        self.address.to_string()
    }

    /// Returns true if it is a Zabbix server or its database, and false for Prometheus.
    pub fn is_zabbix(&self) -> bool {
        !matches!(self.address.system, System::Prometheus { .. })
    }

    /// Returns true if it is a database, whose settings are those of [`Access::environment`].
    pub fn is_database(&self) -> bool {
        matches!(self.address.system, System::ZabbixDatabase { .. })
    }

    /// Returns true if the readings of several hosts are kept separately.
    pub fn keeps_apart(&self) -> bool {
        self.address.several == Some(Several::Separate)
    }

    /// Returns true if the host is asked through TLS.
    pub fn is_encrypted(&self) -> bool {
        self.address.url.starts_with("https:")
    }

    /// Asks for the readings of the epoch seconds from `first` to `last`, both inclusive. At most 4 million readings of all
    /// hosts, and 64 MiB an answer, are read.
    ///
    /// # Errors
    /// If the host can't be reached or answers with an error, if what is asked for is not there, or if it has no
    /// readings of this time. No error contains a secret.
    pub fn read<'a>(
        &'a self,
        (first, last): (i64, i64),
        options: &'a SourceOptions,
    ) -> BoxFuture<'a, Result<CpuExport>> {
        Box::pin(async move {
            if let System::ZabbixDatabase { asked } = &self.address.system {
                return self.of_database(asked, (first, last), options).await;
            }
            let (source, asked_by) = (self.clone(), options.clone());
            let asked = tokio::task::spawn_blocking(move || source.ask(first, last, &asked_by)).await;
            let (answered, file) = asked.map_err(|e| Error::store("asking for readings", e))?;
            self.export(answered.map_err(|fault| fault.at(self.place()))?, file, options)
        })
    }

    #[cfg(feature = "postgres")]
    async fn of_database(
        &self,
        asked: &AskedItems,
        window: (i64, i64),
        options: &SourceOptions,
    ) -> Result<CpuExport> {
        let asked = (self.address.url.as_str(), asked);
        let database::DatabaseAnswer { answered, size } =
            database::read(asked, &self.access, window, options, &self.place()).await?;
        let file = SourceFile::new(self.url(), SourceKind::Cpu, size.0, size.1);
        self.export(answered, file, options)
    }

    #[cfg(not(feature = "postgres"))]
    async fn of_database(&self, _: &AskedItems, _: (i64, i64), _: &SourceOptions) -> Result<CpuExport> {
        use perfpipe_model::error::ErrorKind;

        let problem = "this build asks no database for readings";
        Err(Error::usage(ErrorKind::SourceUrl, problem, "Build it with the feature postgres."))
    }

    fn ask(
        &self,
        first: i64,
        last: i64,
        options: &SourceOptions,
    ) -> (std::result::Result<Answered, Fault>, SourceFile) {
        let mut file = SourceFile::new(self.url(), SourceKind::Cpu, 0, 0);
        let answered = HttpClient::new(&self.access).and_then(|mut client| {
            let answered = match &self.address.system {
                System::Zabbix { asked } => {
                    zabbix::read(&mut client, &self.address.url, asked, &self.access, (first, last), options)
                }
                System::ZabbixDatabase { .. } => Err(answer("is a database, and has no API")),
                System::Prometheus { query, step } => {
                    let (url, access) = (self.address.url.as_str(), &self.access);
                    let mut query = Query { client: &mut client, url, query, access };
                    query.read(*step, (first, last), self.address.several.is_none())
                }
            };
            let answered = answered.map_err(|fault| hidden(fault, &client.secrets))?;
            let mut answered = answered.hiding(&client.secrets);
            answered.notes.extend(client.clock_note());
            (file.bytes, file.crc32) = client.read();
            Ok(answered)
        });
        (answered, file)
    }

    fn export(&self, answered: Answered, file: SourceFile, options: &SourceOptions) -> Result<CpuExport> {
        let Answered { parts, notes: texts } = answered;
        let place = self.place();
        let mut notes: Vec<Note> =
            texts.into_iter().map(|text| Note::from(format!("{place}: {text}"))).collect();
        let mut read = Vec::with_capacity(parts.len());
        for part in parts {
            let (part, said) = self.part(part, options)?;
            notes.extend(said.into_iter().filter(|note| !notes.contains(note)).collect::<Vec<_>>());
            read.push(part);
        }
        let items = read.iter().map(|part| (part.name.clone(), part.series.readings().len() as u64));
        let items = if read.len() > 1 { items.collect() } else { Vec::new() };
        let form = if self.is_zabbix() { "history of Zabbix" } else { "query of Prometheus" };
        let facts = CpuFacts { form, date: None, items };
        let (sum, said) = combined(&read);
        notes.extend(said.map(|text| Note::from(format!("{place}: {text}"))));
        let separate = read.len() > 1 && self.address.several == Some(Several::Separate);
        let parts = read.into_iter().filter(|_| separate).map(|part| (part.name, part.series)).collect();
        Ok(CpuExport { series: sum.series, file, notes, scale: sum.scale, damage: None, parts, facts })
    }

    /// Returns the readings of one host or series, and notes on them.
    fn part(&self, part: AnsweredPart, options: &SourceOptions) -> Result<(HostReadings, Vec<Note>)> {
        let place = self.place();
        let mut readings = ReadingsBySeries::default();
        readings.scale = part.scale.filter(|_| options.series.is_none());
        readings.add_all(part.found, &place, options)?;
        let scale = options.cpu_scale.or(readings.scale);
        let (series, notes) = readings.finish(&place, options)?;
        Ok((HostReadings { name: part.name, series, scale }, notes))
    }

    fn place(&self) -> Place {
        Place::file(self.url())
    }
}

/// A series of the server beside its CPU, and where its readings are asked for.
///
/// ```
/// use perfpipe_ingest::source::SeriesSource;
///
/// let source = "prometheus+http://monitor:9090?query=node_memory_Active_bytes".parse()?;
/// let memory = SeriesSource::new("memory", "bytes", source);
/// assert_eq!(memory.source.host(), "monitor:9090");
/// # Ok::<(), perfpipe_ingest::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SeriesSource {
    /// The name of the series. If there is a series for each of several hosts, it is the prefix of their names.
    pub name: String,
    /// The unit of the readings, such as `bytes`.
    pub unit: String,
    /// Where they are asked for.
    pub source: ReadingsSource,
}

impl SeriesSource {
    /// Describes a series.
    pub fn new(name: impl Into<String>, unit: impl Into<String>, source: ReadingsSource) -> Self {
        Self { name: name.into(), unit: unit.into(), source }
    }

    /// Asks for the readings of the epoch seconds from `first` to `last`, both inclusive. They are several series if
    /// there is one for each of several hosts.
    ///
    /// # Errors
    /// As those of [`ReadingsSource::read`].
    pub fn read<'a>(
        &'a self,
        window: (i64, i64),
        options: &'a SourceOptions,
    ) -> BoxFuture<'a, Result<Vec<SeriesExport>>> {
        Box::pin(async move {
            let options = options.clone().for_readings(&self.name, None);
            let mut export = self.source.read(window, &options).await?;
            let parts = std::mem::take(&mut export.parts);
            if parts.is_empty() {
                return Ok(vec![of_series(&self.name, &self.unit, export)]);
            }
            Ok(by_host((&self.name, &self.unit), parts, &export))
        })
    }
}

fn of_series(name: &str, unit: &str, export: CpuExport) -> SeriesExport {
    let CpuExport { series, file, notes, damage, facts, .. } = export;
    let file = SourceFile { kind: SourceKind::Series, ..file };
    let series = ServerSeries::new(name, unit, series);
    SeriesExport { series, file, facts, notes, damage: damage.into_iter().collect() }
}

/// Returns a series for each host, named after it. The notes are on the first one alone.
pub(crate) fn by_host(
    (name, unit): (&str, &str),
    parts: Vec<(String, TimeSeries)>,
    export: &CpuExport,
) -> Vec<SeriesExport> {
    let mut notes = export.notes.clone();
    let plain = |letter: char| if letter.is_ascii_alphanumeric() || letter == '-' { letter } else { '-' };
    let of = |(host, series): (String, TimeSeries)| {
        let name = format!("{name}_{}", host.chars().map(plain).collect::<String>());
        let notes = std::mem::take(&mut notes);
        of_series(&name, unit, CpuExport { series, notes, parts: Vec::new(), ..export.clone() })
    };
    parts.into_iter().map(of).collect()
}
