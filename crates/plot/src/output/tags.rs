//! The structure of a PDF document: headings, paragraphs and figures in the order of reading, and the list of contents.

use std::num::NonZeroU16;

use krilla::destination::XyzDestination;
use krilla::geom::Point;
use krilla::outline::{Outline, OutlineNode};
use krilla::tagging::{
    Artifact, ArtifactType, ContentTag, Identifier, SpanTag, Tag, TagGroup, TagKind, TagTree,
};

use super::part::{Figure, Part};

/// The language of a page's own words.
pub(super) const LANGUAGE: &str = "en";

/// The structure of a document, gathered page by page.
pub(super) struct Structure {
    tree: TagTree,
    outline: Outline,
}

impl Structure {
    pub(super) fn new() -> Self {
        Self { tree: TagTree::new().with_lang(Some(LANGUAGE.to_owned())), outline: Outline::new() }
    }

    /// Adds a page with its parts.
    pub(super) fn add(&mut self, index: usize, title: &str, parts: Vec<(Part, Identifier)>) {
        let mut entry = OutlineNode::new(title.to_owned(), place(index, 0.0)).with_open(true);
        let mut section = TagGroup::new(Tag::Section);
        let (foot, body): (Vec<_>, Vec<_>) = parts.into_iter().partition(|(part, _)| *part == Part::Foot);
        for (part, content) in body.into_iter().chain(foot) {
            if let Part::Figure(Figure { name, top, .. }) = &part {
                entry.push_child(OutlineNode::new(name.clone(), place(index, *top)));
            }
            if let Some(tag) = tag(part, title) {
                let mut group = TagGroup::new(tag);
                group.push(content);
                section.push(group);
            }
        }
        self.tree.push(section);
        self.outline.push_child(entry);
    }

    /// Returns the structure of the whole document.
    pub(super) fn finish(self) -> (TagTree, Outline) {
        (self.tree, self.outline)
    }
}

fn place(page: usize, top: f64) -> XyzDestination {
    XyzDestination::new(page, Point::from_xy(0.0, top as f32))
}

/// Returns the tag of a part; `None` for a decoration.
fn tag(part: Part, title: &str) -> Option<TagKind> {
    Some(match part {
        Part::Heading => Tag::Hn(NonZeroU16::MIN, Some(title.to_owned())).into(),
        Part::Paragraph | Part::Foot => Tag::P.into(),
        Part::Figure(figure) => Tag::Figure(Some(figure.alt)).into(),
        Part::Decoration => return None,
    })
}

/// Returns the mark around the shapes of a part.
pub(super) fn mark(part: &Part) -> ContentTag<'static> {
    match part {
        Part::Heading | Part::Paragraph | Part::Foot => ContentTag::Span(SpanTag::empty()),
        Part::Figure(_) => ContentTag::Other,
        Part::Decoration => ContentTag::Artifact(Artifact::with_kind(ArtifactType::Layout)),
    }
}
