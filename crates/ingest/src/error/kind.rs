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
    /// A log of which no record can be taken.
    NoValidRecord = "no-valid-record",
    /// The file is XML, as JMeter writes it when told to.
    Xml = "xml",
    /// The file is UTF-16 text.
    Utf16 = "utf-16",
    /// The file's lines end in carriage returns alone.
    CarriageReturns = "carriage-returns",
    /// The file is packed in a format that is not unpacked here.
    UnsupportedFormat = "unsupported-format",
    /// A member of a zip is packed by a method that is not supported.
    UnsupportedMethod = "unsupported-method",
    /// A file, or a member of a zip, is encrypted.
    Encrypted = "encrypted",
    /// The file takes too much memory to unpack.
    UnpackMemory = "unpack-memory",
    /// The file is binary data.
    Binary = "binary",
    /// The text is neither a log nor a CPU export.
    Unrecognised = "unrecognised",
    /// The first line is neither a header nor a record of the columns expected.
    UnknownColumns = "unknown-columns",
    /// The header lacks a column that is needed.
    MissingColumn = "missing-column",
    /// A second header names other columns than the first.
    SecondHeader = "second-header",
    /// The file ends before it should.
    FileCut = "file-cut",
    /// The file's bytes make no sense, or their checksum does not match.
    FileDamaged = "file-damaged",
    /// Too little of a damaged file can be read to keep it.
    TooLittleLeft = "too-little-left",
    /// Something follows the end of a zip that is no part of it.
    TrailingData = "trailing-data",
    /// The file is several zips, one behind the other.
    JoinedZips = "joined-zips",
    /// Two members of the zip have the same name.
    DuplicateMember = "duplicate-member",
    /// The zip has too many members, or too large a directory.
    ZipTooLarge = "zip-too-large",
    /// The member can be unpacked from a file only, not from a pipe.
    ZipNeedsFile = "zip-needs-file",
    /// The zip holds no log.
    NoLogInZip = "no-log-in-zip",
    /// The file changed while it was being read.
    FileChanged = "file-changed",
    /// The pipe was read before.
    ReadOnce = "read-once",
    /// A folder was given where a file is needed.
    Folder = "folder",
    /// In a zip from a pipe, the CPU export stands behind the log.
    CpuBehindLog = "cpu-behind-log",
    /// The CPU export is larger than is taken.
    CpuTooLarge = "cpu-too-large",
    /// A line of the CPU export can't be read.
    CpuReading = "cpu-reading",
    /// The readings are more than a CPU can have.
    CpuRange = "cpu-range",
    /// The CPU export holds several items, and none was chosen.
    CpuItems = "cpu-items",
    /// The CPU export holds several series without numbers.
    CpuSeries = "cpu-series",
    /// The CPU export lacks the item that was chosen.
    CpuItemMissing = "cpu-item-missing",
    /// An item was chosen, and the CPU export tells none apart.
    NoCpuItems = "no-cpu-items",
    /// The CPU export of several runs can't be read; the first of them says why.
    CpuUnreadable = "cpu-unreadable",
    /// The sizes in the log add up to more than can be kept.
    SizeOverflow = "size-overflow",
    /// The log's first time is none in milliseconds since 1970.
    TimeRange = "time-range",
    /// The log's times seem to be in another unit than milliseconds.
    TimeUnit = "time-unit",
    /// The log's smallest timeStamp is another than was expected.
    Origin = "origin",
    /// The log's first record is before the origin that was told.
    OriginContradicted = "origin-contradicted",
    /// The file can't be used as trusted certificates.
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
    /// It can't be told which CPU export belongs to a log of a folder.
    AmbiguousCpu = "ambiguous-cpu",
    /// An option of one run was given for a folder of many.
    OneRunOnly = "one-run-only",
    /// Several logs of a folder have one key.
    SharedKey = "shared-key",
    /// The span that records may cover is too long.
    SpanTooLong = "span-too-long",
    /// The framework or the test is an empty name.
    EmptyName = "empty-name",
    /// The repeat is out of its range.
    RepeatRange = "repeat-range",
    /// There is no such unit of time.
    UnknownTimeUnit = "unknown-time-unit",
    /// There is no such time zone.
    UnknownTimeZone = "unknown-time-zone",
    /// The pattern of injectors' names is no regular expression.
    InjectorPattern = "injector-pattern",
    /// The columns that were told lack one that is needed.
    ColumnsIncomplete = "columns-incomplete",
    /// The run's row and its writer do not say the same.
    WriterMismatch = "writer-mismatch",
    /// The database's URL can't be read.
    DatabaseUrl = "database-url",
    /// A setting of the database's URL can't be used.
    DatabaseSetting = "database-setting",
    /// No user is named for the database.
    DatabaseUser = "database-user",

    // The store refuses.
    /// The run is not stored.
    NoRun = "no-run",
    /// The run was stored without its samples.
    NoSamples = "no-samples",
    /// Another run has the key.
    KeyTaken = "key-taken",
    /// Of a folder's logs, two turned out to have one key.
    KeyTakenMeanwhile = "key-taken-meanwhile",
    /// Another process is writing or dropping the run.
    RunBusy = "run-busy",
    /// Another process is writing to a folder that is to be repaired.
    FolderBusy = "folder-busy",
    /// Samples of the run are still being read by others.
    StillRead = "still-read",
    /// The run gave way to another while it was being read.
    Replaced = "replaced",
    /// A label shares its counts with others, and the samples that tell them apart were not stored.
    SharedLabel = "shared-label",
    /// Labels read like sub-samples', and the samples that would tell were not stored.
    SubSamplesUnknown = "sub-samples-unknown",
    /// Sub-samples share their counts with others.
    SubSamplesShared = "sub-samples-shared",
    /// The stream would have to start again, and its sink can't.
    CannotRestart = "cannot-restart",
    /// There is no folder that a store could be in.
    NoFolder = "no-folder",
    /// The folder is not a store.
    NotAStore = "not-a-store",
    /// The store is of a layout that this version does not know.
    StoreLayout = "store-layout",
    /// A link stands within the store.
    LinkInStore = "link-in-store",
    /// A run's folder was copied or renamed by hand.
    RunMoved = "run-moved",
    /// The run is stored, but it is not sure that it survives a power failure.
    NotDurable = "not-durable",
    /// The database's schema holds objects that are not perfpipe's.
    SchemaForeign = "schema-foreign",
    /// Something that others have made in the schema keeps it from being migrated.
    MigrationBlocked = "migration-blocked",
    /// The role may not do what is needed.
    Privileges = "privileges",
    /// The database can only be read.
    ReadOnly = "read-only",
    /// The database's encoding can't hold every label.
    DatabaseEncoding = "database-encoding",
    /// The server is too old.
    ServerTooOld = "server-too-old",
    /// The run's row names a table that can't be its own.
    SamplesTable = "samples-table",
    /// A table that is needed is held by another session.
    TableLocked = "table-locked",
    /// No server could be reached.
    Unreachable = "unreachable",
    /// The answer to the commit was lost, and the run is not stored.
    CommitLost = "commit-lost",
    /// The answer to the commit was lost, and whether the run is stored is not known.
    CommitUnknown = "commit-unknown",

    // The store failed.
    /// The store's own files or server failed.
    StoreFailed = "store-failed",
    /// A stored run is damaged.
    RunDamaged = "run-damaged",
    /// The run's row in the database can't be read.
    RowUnreadable = "row-unreadable",
    /// The file that marks a folder as a store is damaged.
    MarkerDamaged = "marker-damaged",
    /// A fault of perfpipe's own.
    Bug = "bug",
}
