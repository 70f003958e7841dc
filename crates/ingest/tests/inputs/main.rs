//! Input files of every form, real and made, whole and damaged, by name and by pipe.

mod cpu;
mod damage;
mod files;
mod pipes;
mod real;
mod support;
mod zips;
