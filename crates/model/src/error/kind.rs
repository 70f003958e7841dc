//! The kinds of errors, each with a code that never changes.

macro_rules! kinds {
    ($($(#[$doc:meta])+ $kind:ident = $code:literal,)+) => {
        /// The kind of an [`Error`](crate::Error). Messages may be reworded; kinds and their codes stay.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum ErrorKind {
            $($(#[$doc])+ $kind,)+
        }

        impl ErrorKind {
            /// All kinds.
            pub const ALL: &'static [Self] = &[$(Self::$kind,)+];

            /// Returns the stable name, in kebab case.
            pub fn code(self) -> &'static str {
                match self {
                    $(Self::$kind => $code,)+
                }
            }
        }
    };
}

kinds! {
    /// The operating system could not read or write a file.
    Io = "io",
    /// More records were rejected than are allowed.
    TooManyRejects = "too-many-rejects",

    // Input files that are not valid.
    /// The file is empty.
    Empty = "empty-file",
    /// A log that has a header but no records.
    NoRecords = "no-records",
    /// Every record of the log is rejected, or nearly every one.
    NoValidRecord = "no-valid-record",
    /// Records of the log stand for several samples each.
    StatisticalSamples = "statistical-samples",
    /// The file is XML, not CSV.
    Xml = "xml",
    /// The file is UTF-16 text.
    Utf16 = "utf-16",
    /// The file's lines end in carriage returns without line feeds.
    CarriageReturns = "carriage-returns",
    /// The file is packed in a format that perfpipe does not unpack, or is what a load tool wrote and no log of requests.
    UnsupportedFormat = "unsupported-format",
    /// A member of a zip is packed by a method that perfpipe does not unpack.
    UnsupportedMethod = "unsupported-method",
    /// A file, or a member of a zip, is encrypted.
    Encrypted = "encrypted",
    /// Unpacking the file takes too much memory.
    UnpackMemory = "unpack-memory",
    /// The file is binary data.
    Binary = "binary",
    /// The text is neither a log nor a CPU export.
    Unrecognised = "unrecognised",
    /// The log is one of readings, and none of requests.
    MonitorLog = "monitor-log",
    /// The first line is neither a header nor a record with the expected columns.
    UnknownColumns = "unknown-columns",
    /// The header lacks a column that perfpipe needs.
    MissingColumn = "missing-column",
    /// Nothing from a record on can be read, since its format does not show where the next one begins.
    UnreadableRecord = "unreadable-record",
    /// A second header names other columns than the first.
    SecondHeader = "second-header",
    /// The file ends too early.
    FileCut = "file-cut",
    /// The file's content is not valid, or does not match its checksum.
    FileDamaged = "file-damaged",
    /// Too little of a damaged file can be read to store it.
    TooLittleLeft = "too-little-left",
    /// Data that is not part of the zip follows its end.
    TrailingData = "trailing-data",
    /// The file is several zips in a row.
    JoinedZips = "joined-zips",
    /// A packed run is damaged.
    PackedRun = "packed-run",
    /// Two members of the zip have the same name.
    DuplicateMember = "duplicate-member",
    /// The zip has too many members, or too large a directory.
    ZipTooLarge = "zip-too-large",
    /// The member can be unpacked from a file, but not from a pipe.
    ZipNeedsFile = "zip-needs-file",
    /// The zip contains no log.
    NoLogInZip = "no-log-in-zip",
    /// The file changed while it was read.
    FileChanged = "file-changed",
    /// The pipe would have to be read a second time.
    ReadOnce = "read-once",
    /// A folder was given where a file is needed.
    Folder = "folder",
    /// In a zip from a pipe, the CPU export comes after the log.
    CpuBehindLog = "cpu-behind-log",
    /// The CPU export has more bytes, readings or series than perfpipe accepts.
    CpuTooLarge = "cpu-too-large",
    /// A line of the CPU export is not valid.
    CpuReading = "cpu-reading",
    /// A reading is more than a CPU can have.
    CpuRange = "cpu-range",
    /// The file of a series of the server contains a log.
    SeriesFile = "series-file",
    /// The file of a series of the server contains several, and its name selects none.
    SeriesItems = "series-items",
    /// A run has a series of that name already.
    SeriesTaken = "series-taken",
    /// None of a run's seconds has a reading of a series.
    SeriesApart = "series-apart",
    /// The file of a series contains several without item numbers, and its name selects none.
    SeriesNames = "series-names",
    /// An item was chosen, but the file of a series has no column of items.
    NoSeriesItems = "no-series-items",
    /// The CPU export contains several items, and none was chosen.
    CpuItems = "cpu-items",
    /// It is not known which columns of a table have the readings, or it lacks those that were given.
    CpuColumns = "cpu-columns",
    /// The CPU export contains several series that have no item number.
    CpuSeries = "cpu-series",
    /// The CPU export lacks the item that was chosen.
    CpuItemMissing = "cpu-item-missing",
    /// An item was chosen, but the CPU export has no column of items.
    NoCpuItems = "no-cpu-items",
    /// CPU readings are in percent of a machine, and its number of cores is not known.
    CpuCores = "cpu-cores",
    /// The URL of a source of readings can't be used.
    SourceUrl = "source-url",
    /// A source of readings gives no answer.
    SourceUnreachable = "source-unreachable",
    /// The certificate of a source of readings is not trusted.
    SourceUntrusted = "source-untrusted",
    /// A source of readings does not accept a token, or a user and a password.
    SourceDenied = "source-denied",
    /// A source of readings answers with an error, or as none does.
    SourceAnswer = "source-answer",
    /// A source of readings has no such item, several, or one of texts.
    SourceItem = "source-item",
    /// A source of readings has several series, and it is not given what to make of them.
    SourceSeveral = "source-several",
    /// A source of readings has none of the time of the run.
    SourceEmpty = "source-empty",
    /// Readings are asked for the time of a log that can be read only once.
    SourceOfPipe = "source-of-pipe",
    /// The CPU export can't be read; the error of the first run that it belongs to says why.
    CpuUnreadable = "cpu-unreadable",
    /// The bytes in the log add up to more than can be stored.
    SizeOverflow = "size-overflow",
    /// The log's first timeStamp is not plausible in milliseconds.
    TimeRange = "time-range",
    /// The log's timeStamps seem to have another unit than milliseconds.
    TimeUnit = "time-unit",
    /// The log's smallest timeStamp is before the given origin, or comes too late in the log.
    Origin = "origin",
    /// No record at the begin of the log is within the allowed span of the given origin.
    OriginContradicted = "origin-contradicted",
    /// The file does not hold trusted certificates.
    Certificates = "certificates",

    // Arguments or options that contradict each other.
    /// A file or folder is named twice.
    NamedTwice = "named-twice",
    /// None of the files is a log.
    NoLog = "no-log",
    /// There is no log in the folder.
    NoLogInFolder = "no-log-in-folder",
    /// There are two CPU exports for one run.
    SeveralCpuExports = "several-cpu-exports",
    /// Several CPU exports of a folder may belong to a log.
    AmbiguousCpu = "ambiguous-cpu",
    /// An option for one run was given for a folder of many.
    OneRunOnly = "one-run-only",
    /// A series of the server is given for a folder of many runs.
    SeriesOfFolder = "series-of-folder",
    /// A series of the server can't have its name or its unit.
    SeriesName = "series-name",
    /// Several logs of a folder have the same key.
    SharedKey = "shared-key",
    /// The name of a log does not follow the pattern of file names.
    FileName = "file-name",
    /// The given maximum span of the records is too long.
    SpanTooLong = "span-too-long",
    /// A framework or a test can't have this name.
    RunName = "run-name",
    /// The given repeat is out of range.
    RepeatRange = "repeat-range",
    /// The number of a part of a run is out of range.
    PartNumber = "part-number",
    /// A part of a run lacks the run's name or origin.
    PartIncomplete = "part-incomplete",
    /// A log without a clock can't be a part of a run.
    PartWithoutClock = "part-without-clock",
    /// The resolution is unknown, finer than that of the log, or differs between logs.
    Resolution = "resolution",
    /// The given unit of time does not exist.
    UnknownTimeUnit = "unknown-time-unit",
    /// The given format of times has no meaning, or lacks the day or the hour.
    TimeFormat = "time-format",
    /// The given time zone does not exist.
    UnknownTimeZone = "unknown-time-zone",
    /// A log has times only since its tool began, and that moment is needed, or was not given in milliseconds.
    NoClock = "no-clock",
    /// The given pattern of injectors is not a regular expression.
    InjectorPattern = "injector-pattern",
    /// The given columns lack one that perfpipe needs.
    ColumnsIncomplete = "columns-incomplete",
    /// A run that is to be stored contradicts itself, or is none that can be.
    RunContradictory = "run-contradictory",
    /// The run's row and its writer disagree about the samples.
    WriterMismatch = "writer-mismatch",
    /// The database's URL is not valid.
    DatabaseUrl = "database-url",
    /// A setting in the database's URL is not valid.
    DatabaseSetting = "database-setting",
    /// No user is named for the database.
    DatabaseUser = "database-user",

    // The store refuses.
    /// The run is not stored.
    NoRun = "no-run",
    /// The run was stored without its samples.
    NoSamples = "no-samples",
    /// The run's log has no single requests, so that there are no samples.
    NoRequests = "no-requests",
    /// The store has a run of this key, which may not be replaced.
    KeyTaken = "key-taken",
    /// Two logs of a folder turned out to have the same key.
    KeyTakenMeanwhile = "key-taken-meanwhile",
    /// The store has another part of the run with this number.
    PartTaken = "part-taken",
    /// A part of a run can't be merged exactly, since it has too many names or kinds of failures.
    PartTooVaried = "part-too-varied",
    /// There are no such parts of the run.
    NoParts = "no-parts",
    /// Some parts of the run are missing.
    PartsMissing = "parts-missing",
    /// Two parts of the run have the same log.
    PartsDoubled = "parts-doubled",
    /// Parts of a run have different origins, options, readings or versions.
    PartsDiffer = "parts-differ",
    /// Another process is writing, merging or dropping parts of the run.
    PartsBusy = "parts-busy",
    /// The run was merged, and its parts could not be removed.
    PartsLeft = "parts-left",
    /// Another process is writing or dropping the run.
    RunBusy = "run-busy",
    /// Another process is writing to a folder that is to be repaired.
    FolderBusy = "folder-busy",
    /// The samples of the run are being read by others.
    StillRead = "still-read",
    /// The run was replaced or dropped while it was read.
    Replaced = "replaced",
    /// A label shares its counts with others, and the samples that could separate them are not stored.
    SharedLabel = "shared-label",
    /// Labels look like those of sub-samples, and the samples that could show it are not stored.
    SubSamplesUnknown = "sub-samples-unknown",
    /// Sub-samples can't be separated from the other samples.
    SubSamplesShared = "sub-samples-shared",
    /// The samples would have to be streamed again, and the sink can't restart.
    CannotRestart = "cannot-restart",
    /// The path of the store is not a folder.
    NoFolder = "no-folder",
    /// The folder is not a store, and not empty.
    NotAStore = "not-a-store",
    /// The store has a layout that this version does not know.
    StoreLayout = "store-layout",
    /// The bucket's name or URL can't be used.
    BucketUrl = "bucket-url",
    /// There is no such bucket.
    BucketMissing = "bucket-missing",
    /// The credentials do not allow what has to be done in the bucket, or there are none.
    BucketDenied = "bucket-denied",
    /// The credentials for the bucket have expired.
    BucketExpired = "bucket-expired",
    /// The clocks of this machine and of the bucket's server differ too much.
    BucketClock = "bucket-clock",
    /// The server of the bucket can't be reached, or fails.
    BucketFailed = "bucket-failed",
    /// The server of the bucket writes an object again that must not exist yet.
    BucketUnconditional = "bucket-unconditional",
    /// A store in a bucket does not have what was asked for.
    NotInBucket = "not-in-bucket",
    /// A table in the bucket was made or changed by something else than this version of perfpipe.
    TableForeign = "table-foreign",
    /// There is a link within the store.
    LinkInStore = "link-in-store",
    /// In the place of a file within a store there is a pipe, a device, a socket or a folder.
    OtherInStore = "other-in-store",
    /// A run's folder was copied or renamed by hand.
    RunMoved = "run-moved",
    /// The change was made, but a power failure may still undo it.
    NotDurable = "not-durable",
    /// The change was made, and what follows it failed.
    ChangeMade = "change-made",
    /// The files of a run were removed while it was being written.
    FilesRemoved = "files-removed",
    /// Files would be removed that an ingest may be writing.
    KeptTooShort = "kept-too-short",
    /// The database's schema has objects or owners that perfpipe does not trust.
    SchemaForeign = "schema-foreign",
    /// An object that others made in the schema prevents the migration.
    MigrationBlocked = "migration-blocked",
    /// The role lacks a privilege.
    Privileges = "privileges",
    /// The database can only be read.
    ReadOnly = "read-only",
    /// The database's encoding can't hold every label.
    DatabaseEncoding = "database-encoding",
    /// The server is too old.
    ServerTooOld = "server-too-old",
    /// The server is another engine that only looks like PostgreSQL.
    OtherEngine = "other-engine",
    /// The server is no cluster.
    NotACluster = "not-a-cluster",
    /// The server can't store tables in columns.
    NoColumnar = "no-columnar",
    /// The run's row names a table that can't be its own.
    SamplesTable = "samples-table",
    /// Another session holds a table or lock for too long.
    TableLocked = "table-locked",
    /// No server could be reached.
    Unreachable = "unreachable",
    /// The caller cancelled the work.
    Cancelled = "cancelled",
    /// The answer to the commit was lost, and the run is not stored.
    CommitLost = "commit-lost",
    /// The answer to the commit was lost, and it is not known whether the run is stored.
    CommitUnknown = "commit-unknown",

    // The store failed.
    /// The store's own files or server failed.
    StoreFailed = "store-failed",
    /// A stored run is damaged.
    RunDamaged = "run-damaged",
    /// The run's row in the database is not valid.
    RowUnreadable = "row-unreadable",
    /// The file that marks a folder as a store is damaged.
    MarkerDamaged = "marker-damaged",
    /// There is a bug in perfpipe.
    Bug = "bug",
}
