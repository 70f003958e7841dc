//! Samples in columns, their texts, and the buffers that they are read into.

pub(crate) mod batch;
pub(crate) mod ends;
pub(crate) mod intern;
pub(crate) mod long_text;
pub(crate) mod pool;
pub(crate) mod reserved;
pub(crate) mod resolution;
pub(crate) mod short_text;
pub(crate) mod text_list;
pub(crate) mod texts;
pub(crate) mod varint;

pub use self::batch::Nullable;
pub use self::text_list::TextList;
pub use self::texts::Texts;
