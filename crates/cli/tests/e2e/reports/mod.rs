//! Pages and HTML reports.

mod html;
mod page_names;
mod pages;
