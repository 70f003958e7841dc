//! A running test that is watched: what is shown meanwhile, and what is stored at its end.

mod chosen;
mod cpu;
mod judged;
mod long;
mod same;
mod served;
mod shown;
mod stored;
mod writer;
