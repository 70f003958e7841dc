//! The structure of a PDF document: headings, paragraphs and figures in the order of reading, and the list of contents.

use std::num::NonZeroU16;

use krilla::destination::XyzDestination;
use krilla::geom::Point;
use krilla::outline::{Outline, OutlineNode};
use krilla::tagging::{
    Artifact, ArtifactType, ContentTag, Identifier, SpanTag, Tag, TagGroup, TagKind, TagTree,
};

use super::drawing::{PageFigure, PagePart};

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
    pub(super) fn add(&mut self, index: usize, title: &str, parts: Vec<(PagePart, Identifier)>) {
        let mut entry = OutlineNode::new(title.to_owned(), place(index, 0.0)).with_open(true);
        let mut section = TagGroup::new(Tag::Section);
        let (foot, body): (Vec<_>, Vec<_>) = parts.into_iter().partition(|(part, _)| *part == PagePart::Foot);
        for (part, content) in body.into_iter().chain(foot) {
            if let PagePart::Figure(PageFigure { name, top, .. }) = &part {
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
fn tag(part: PagePart, title: &str) -> Option<TagKind> {
    Some(match part {
        PagePart::Heading => Tag::Hn(NonZeroU16::MIN, Some(title.to_owned())).into(),
        PagePart::Paragraph | PagePart::Foot => Tag::P.into(),
        PagePart::Figure(figure) => Tag::Figure(Some(figure.alt)).into(),
        PagePart::Decoration => return None,
    })
}

/// Returns the mark around the shapes of a part.
pub(super) fn mark(part: &PagePart) -> ContentTag<'static> {
    match part {
        PagePart::Heading | PagePart::Paragraph | PagePart::Foot => ContentTag::Span(SpanTag::empty()),
        PagePart::Figure(_) => ContentTag::Other,
        PagePart::Decoration => ContentTag::Artifact(Artifact::with_kind(ArtifactType::Layout)),
    }
}
