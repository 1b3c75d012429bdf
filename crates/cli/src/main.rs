//! The `mainstem` command.
fn main() {}
