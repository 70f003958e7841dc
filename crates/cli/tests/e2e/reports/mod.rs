//! Pages and HTML reports.

mod fonts;
mod html;
mod page_names;
mod pages;
mod same_figures;
