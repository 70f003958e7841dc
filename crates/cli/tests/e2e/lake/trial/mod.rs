//! A long trial: writers race, are killed, and lose answers of the bucket, while other programs read.

mod readers;
mod rounds;
