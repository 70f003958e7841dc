//! Reports as single HTML files, and the data of the page that shows runs: of a site, and of the report of a test.

mod data;
mod figures;
pub(crate) mod one_file;
pub(crate) mod site;
pub(crate) mod site_test;
mod table;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use sha2::{Digest as _, Sha256};

pub use self::figures::Figures;

/// Returns the source of a content security policy that allows a text within the page.
fn policy_source(text: &str) -> String {
    format!(" 'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(text)))
}
