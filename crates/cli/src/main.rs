//! The perfpipe command.

fn main() {}
