//! Samples in columns, their texts, and the buffers that they are read into.

pub mod batch;
pub mod ends;
pub mod intern;
pub mod pool;
pub mod reserved;
pub mod resolution;
pub mod short_text;
pub mod shorten;
pub mod text_list;
pub mod texts;
pub mod varint;

pub use self::batch::Nullable;
pub use self::text_list::TextList;
pub use self::texts::Texts;
