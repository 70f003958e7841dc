//! Standard input and other inputs that can be read only once. The bytes read to recognise a text are kept.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::SourceOptions;
use super::detect::FileContent;
use super::file::{TextHead, unpack};
use super::unpack::checked::Digested;
use super::unpack::codec::{Container, MAGIC};
use super::unpack::metered::{Meter, PackedCount, packed, read_up_to};
use super::zip::member::is_litter;
use super::zip::pipe::ZipPipe;
use perfpipe_model::error::{Place, Result};
use perfpipe_model::run::damage::{Fault, explain};

/// An input that is read once, from start to end.
pub(crate) struct InputPipe {
    path: PathBuf,
    /// The container format.
    pub(crate) container: Container,
    body: PipeBody,
    pub(crate) progress: PackedCount,
}

enum PipeBody {
    /// A single text. The flag is true once it was returned.
    Whole(Box<dyn Digested + Send>, bool),
    /// A zip.
    Zip(Box<ZipPipe>),
}

/// A recognised text from a pipe.
pub(crate) struct PipeText {
    pub(crate) place: Place,
    /// Its first bytes, which can't be read from the pipe again.
    pub(crate) head: TextHead,
    pub(crate) content: FileContent,
}

impl InputPipe {
    /// Wraps an input from which nothing has been read yet.
    pub(crate) fn new(path: &Path, input: impl Read + Send + 'static, salvage: bool) -> Result<Self> {
        let failed = |e| explain(Place::file(path), e);
        let progress = PackedCount::default();
        let mut input = Meter::new(input, progress.clone());
        let mut magic = [0; MAGIC];
        let length = read_up_to(&mut input, &mut magic).map_err(failed)?;
        let magic = magic.get(..length).unwrap_or_default().to_vec();
        let container = Container::of(&magic);
        let input = io::Cursor::new(magic).chain(input);
        let body = match container {
            Container::Zip => PipeBody::Zip(Box::new(ZipPipe::new(packed(input), salvage))),
            _ => PipeBody::Whole(unpack(container, input, salvage).map_err(failed)?, false),
        };
        Ok(Self { path: path.to_owned(), container, body, progress })
    }

    /// Returns the place of the pipe itself.
    pub(crate) fn place(&self) -> Place {
        Place::file(&self.path)
    }

    /// Skips the rest of the current text, then recognises the next one. `None` is the clean end of the pipe.
    pub(crate) fn next(&mut self, options: &SourceOptions) -> Result<Option<PipeText>> {
        let mut place = Place::file(&self.path);
        match &mut self.body {
            PipeBody::Whole(_, true) => return Ok(None),
            PipeBody::Whole(_, taken) => *taken = true,
            PipeBody::Zip(zip) => {
                let Some(name) = next_member(zip).map_err(|e| explain(place.clone(), e))? else {
                    return Ok(None);
                };
                place = place.member(name);
                if let Err(error) = zip.begin() {
                    if !zip.is_sized() {
                        return Err(explain(place, error));
                    }
                    let fault = error.downcast::<Fault>().map_err(|e| explain(place.clone(), e))?;
                    let head = TextHead { bytes: Vec::new(), cut: None };
                    return Ok(Some(PipeText { place, head, content: FileContent::Other(fault) }));
                }
            }
        }
        let head = TextHead::read(self.reader()).map_err(|e| explain(place.clone(), e))?;
        let content = head.content(options)?;
        Ok(Some(PipeText { place, head, content }))
    }

    /// Takes the damage to the pipe as a whole, which is known once it has been read to its end.
    pub(crate) fn take_damage(&mut self) -> Option<Fault> {
        if let PipeBody::Zip(zip) = &mut self.body { zip.take_damage() } else { None }
    }

    /// Returns a reader of the current text after its head.
    pub(crate) fn reader(&mut self) -> &mut dyn Digested {
        match &mut self.body {
            PipeBody::Whole(reader, _) => reader.as_mut(),
            PipeBody::Zip(zip) => zip.as_mut(),
        }
    }
}

fn next_member(zip: &mut ZipPipe) -> io::Result<Option<String>> {
    loop {
        match zip.next_member()? {
            Some(name) if is_litter(&name) => {}
            next => return Ok(next),
        }
    }
}
