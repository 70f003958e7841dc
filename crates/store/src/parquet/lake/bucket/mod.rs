//! A bucket of an object store, asked by functions that wait for the answer. Its requests run on threads of its own.

mod client;
mod fault;
mod local;
mod object;

use std::future::Future;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::{fmt, io};

use bytes::Bytes;
use crossbeam_channel::{Receiver, bounded};
use futures_util::stream::{StreamExt, TryStreamExt, iter};
use object_store::path::Path;
use object_store::{
    GetOptions, MultipartUpload, ObjectMeta, ObjectStore, ObjectStoreExt, PutMode, PutPayload,
};
use tokio::runtime::{Builder, Runtime};

pub(crate) use self::client::is_bucket;
pub(super) use self::fault::{change_made, change_not_made, change_perhaps_made, outcome_unknown};
pub(super) use self::local::ListedObject;
pub(super) use self::object::{StoredObject, Upload, copy};

use self::client::{BucketAddress, SizeLimit, connect, is_too_large};
use self::fault::{explained, io_fault};
use self::local::LocalFolder;
use perfpipe_model::error::{Error, ErrorKind, Result};

/// The number of requests that are on their way at a time where many objects are read.
const SIDE_BY_SIDE: usize = 32;

/// How many objects are read at a time, and of which size in bytes. A larger one is read alone, up to `most`.
#[derive(Clone, Copy)]
pub(crate) struct ReadLimits {
    pub(crate) at_once: usize,
    pub(crate) small: u64,
    pub(crate) most: u64,
}

/// The object that is written only once, by which a bucket shows that it refuses to write one again.
const ONCE: &str = "manifests/written-once";

/// The object that is written again to ask for the time.
const CLOCK: &str = "manifests/clock";

/// How often an object that must not exist yet is sent while no answer comes.
const ATTEMPTS: usize = 4;

/// A folder in a bucket. Clones share it.
#[derive(Clone)]
pub(crate) struct Bucket(Arc<BucketInner>);

struct BucketInner {
    address: BucketAddress,
    store: Arc<dyn ObjectStore>,
    /// The folder, if it is on the disk.
    local: Option<LocalFolder>,
    /// True once it is known that the bucket does not write an object again that must not exist yet.
    is_asked: Mutex<bool>,
    /// `None` only while it is being dropped.
    runtime: Option<Runtime>,
}

impl Drop for BucketInner {
    fn drop(&mut self) {
        // A runtime that waits for its threads may not be dropped where another one runs.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl fmt::Debug for Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Bucket").field(&self.0.address.url).finish()
    }
}

impl Bucket {
    /// Opens the folder at a URL. Nothing is asked yet. `settings` are the credentials and options of the object store,
    /// by the names of its environment variables.
    pub(crate) fn open(url: &str, settings: &[(String, String)]) -> Result<Self> {
        let address = BucketAddress::parse(url)?;
        let store = connect(&address, settings)?;
        let runtime =
            Builder::new_multi_thread().worker_threads(2).thread_name("bucket").enable_time().build();
        let runtime = Some(runtime.map_err(Error::no_thread)?);
        let local = address.on_disk().map(LocalFolder);
        // The disk makes a file by a link, which fails if there is one.
        let is_asked = Mutex::new(local.is_some());
        Ok(Self(Arc::new(BucketInner { address, store, local, is_asked, runtime })))
    }

    /// Returns the URL of the folder, without a slash at its end.
    pub(crate) fn url(&self) -> &str {
        &self.0.address.url
    }

    /// Returns what error messages call an object.
    pub(crate) fn shown(&self, name: &str) -> PathBuf {
        format!("{}/{name}", self.url()).into()
    }

    fn path(&self, name: &str) -> Path {
        let folder = &self.0.address.folder;
        // Parsed, since joining would encode what is encoded already.
        Path::parse(format!("{folder}/{name}")).unwrap_or_else(|_| folder.clone().join(name))
    }

    /// Begins some work on the bucket's threads.
    fn begin<T: Send + 'static>(&self, work: impl Future<Output = T> + Send + 'static) -> Receiver<T> {
        let (send, done) = bounded(1);
        if let Some(runtime) = &self.0.runtime {
            runtime.spawn(async move { _ = send.send(work.await) });
        }
        done
    }

    fn wait<T: Send + 'static>(
        &self,
        work: impl Future<Output = object_store::Result<T>> + Send + 'static,
    ) -> io::Result<T> {
        answer(&self.begin(work))
    }

    fn failed(&self, name: &str, error: io::Error) -> Error {
        Error::io(&*self.shown(name), error)
    }

    /// Fails if an object on the disk is reached over a link.
    fn check(&self, name: &str) -> io::Result<()> {
        self.0.local.as_ref().map_or(Ok(()), |local| local.check(name))
    }

    /// Returns the content of an object; `None` if there is none.
    ///
    /// # Errors
    /// If it has more than `most` bytes: nobody is to fill the memory with what is none of perfpipe's.
    pub(crate) fn get(&self, name: &str, most: u64) -> Result<Option<Bytes>> {
        match self.get_some(&[name.to_owned()], most)?.pop() {
            Some(FoundContent::Whole(content)) => Ok(content),
            _ => Err(Error::store(
                format!("reading {}", self.shown(name).display()),
                format!("it has more than {most} bytes, and perfpipe writes none of that size"),
            )),
        }
    }

    /// Passes the contents of several objects to `each`, in their order.
    pub(crate) fn get_each(
        &self,
        names: &[String],
        ReadLimits { at_once, small, most }: ReadLimits,
        each: &mut dyn FnMut(&str, Option<Bytes>) -> Result<()>,
    ) -> Result<()> {
        for some in names.chunks(at_once) {
            for (name, found) in some.iter().zip(self.get_some(some, small)?) {
                let content = match found {
                    FoundContent::Whole(content) => content,
                    FoundContent::TooLarge => self.get(name, most)?,
                };
                each(name, content)?;
            }
        }
        Ok(())
    }

    /// Returns the contents of several objects, in their order.
    fn get_some(&self, names: &[String], most: u64) -> Result<Vec<FoundContent>> {
        let place = names.first().map_or("", String::as_str);
        names.iter().try_for_each(|name| self.check(name).map_err(|error| self.failed(name, error)))?;
        let paths: Vec<Path> = names.iter().map(|name| self.path(name)).collect();
        let store = Arc::clone(&self.0.store);
        let work = async move {
            let store = store.as_ref();
            let gets = paths.iter().map(|path| content(store, path, most)).collect::<Vec<_>>();
            iter(gets).buffered(SIDE_BY_SIDE).try_collect().await
        };
        self.wait(work).map_err(|error| self.failed(place, error))
    }

    /// Returns the size of an object in bytes.
    fn size(&self, name: &str) -> io::Result<u64> {
        self.about(name).map(|found| found.size)
    }

    fn about(&self, name: &str) -> io::Result<ObjectMeta> {
        self.check(name)?;
        let (store, path) = (Arc::clone(&self.0.store), self.path(name));
        self.wait(async move { store.head(&path).await })
    }

    /// Returns the sizes of objects in bytes, in their order; `None` of those that are not there.
    pub(crate) fn sizes(&self, names: &[String]) -> Result<Vec<Option<u64>>> {
        let place = names.first().map_or("", String::as_str);
        names.iter().try_for_each(|name| self.check(name).map_err(|error| self.failed(name, error)))?;
        let paths: Vec<Path> = names.iter().map(|name| self.path(name)).collect();
        let store = Arc::clone(&self.0.store);
        let work = async move {
            let store = store.as_ref();
            let heads = paths.iter().map(|path| size(store, path)).collect::<Vec<_>>();
            iter(heads).buffered(SIDE_BY_SIDE).try_collect().await
        };
        self.wait(work).map_err(|error| self.failed(place, error))
    }

    /// Returns the time by the clock of the bucket, epoch ms. That of this machine may be another.
    pub(crate) fn now_ms(&self) -> Result<i64> {
        let written = self.put(CLOCK, Bytes::from_static(b"now")).and_then(|()| self.about(CLOCK));
        let written = written.map_err(|error| self.failed(CLOCK, error))?;
        Ok(written.last_modified.timestamp_millis())
    }

    /// Returns so many bytes of an object from an offset on.
    fn range(&self, name: &str, at: u64, length: usize) -> io::Result<Bytes> {
        self.check(name)?;
        let (store, path) = (Arc::clone(&self.0.store), self.path(name));
        self.wait(async move { store.get_range(&path, at..at.saturating_add(length as u64)).await })
    }

    /// Writes an object.
    pub(crate) fn put(&self, name: &str, content: Bytes) -> io::Result<()> {
        self.check(name)?;
        let (store, path) = (Arc::clone(&self.0.store), self.path(name));
        self.wait(async move { store.put(&path, content.into()).await.map(drop) })
    }

    /// Copies an object, which stays where it is.
    fn copy(&self, from: &str, to: &str) -> io::Result<()> {
        [from, to].iter().try_for_each(|name| self.check(name))?;
        let (store, from, to) = (Arc::clone(&self.0.store), self.path(from), self.path(to));
        self.wait(async move { store.copy(&from, &to).await })
    }

    /// Asks the bucket, once, whether it refuses to write an object again that must not exist yet. Where it does not, two
    /// writers at once would both learn that they have written a commit, and the first one's would be lost.
    fn ask_once(&self) -> Result<()> {
        let mut is_asked = self.0.is_asked.lock().unwrap_or_else(PoisonError::into_inner);
        if *is_asked {
            return Ok(());
        }
        let put = || {
            let mut attempts = 1;
            loop {
                match self.try_put_new(ONCE, Bytes::from_static(b"once")) {
                    Err(_) if attempts < ATTEMPTS => attempts += 1,
                    // It is refused too, if it was written and its answer was lost.
                    put => return put,
                }
            }
        };
        // The first one is refused too, if the bucket was asked before.
        let is_written = put().and_then(|first| if first { put() } else { Ok(false) });
        if is_written.map_err(|error| self.failed(ONCE, error))? {
            return Err(Error::refused(
                ErrorKind::BucketUnconditional,
                format!(
                    "{} can't be written to: its server ignores the header If-None-Match, and writes an object \
                     again that must not exist yet, so that of two writers at once one would lose its run",
                    self.url()
                ),
                "Use a server that knows conditional writes, or one writer and a store in a folder. No run was changed.",
            ));
        }
        *is_asked = true;
        Ok(())
    }

    /// Writes an object that must not exist yet; returns false if it does. Its content differs from that of any other
    /// writer: where no answer came, what is there shows whether it was written.
    ///
    /// # Errors
    /// Of the kind `CommitUnknown` if it is not known whether it was written.
    pub(crate) fn put_new(&self, name: &str, content: Bytes) -> Result<bool> {
        self.check(name).map_err(|error| self.failed(name, error))?;
        self.ask_once()?;
        let mut attempts = 0;
        loop {
            let error = match self.try_put_new(name, content.clone()) {
                Ok(written) => return Ok(written),
                Err(error) => self.failed(name, error),
            };
            attempts += 1;
            match self.get(name, content.len() as u64) {
                Ok(Some(found)) => return Ok(found == content),
                Ok(None) if attempts < ATTEMPTS => {}
                Ok(None) => return Err(error),
                // Another writer's is larger.
                Err(Error::Store { .. }) => return Ok(false),
                Err(_) => return Err(outcome_unknown(&error)),
            }
        }
    }

    /// Sends an object that must not exist yet, once: the client sends none again whose answer was lost.
    fn try_put_new(&self, name: &str, content: Bytes) -> io::Result<bool> {
        self.check(name)?;
        let (store, path) = (Arc::clone(&self.0.store), self.path(name));
        self.wait(async move {
            match store.put_opts(&path, content.into(), PutMode::Create.into()).await {
                Ok(_) => Ok(true),
                Err(object_store::Error::AlreadyExists { .. } | object_store::Error::Precondition { .. }) => {
                    Ok(false)
                }
                Err(error) => Err(error),
            }
        })
    }

    /// Begins an object that is written in parts.
    fn put_parts(&self, name: &str) -> io::Result<Box<dyn MultipartUpload>> {
        self.check(name)?;
        let (store, path) = (Arc::clone(&self.0.store), self.path(name));
        self.wait(async move { store.put_multipart(&path).await })
    }

    /// Begins to send a part. [`answer`] waits until it is there.
    fn send(&self, upload: &mut dyn MultipartUpload, part: PutPayload) -> Receiver<object_store::Result<()>> {
        self.begin(upload.put_part(part))
    }

    /// Makes the object of all parts that were sent.
    fn complete(&self, mut upload: Box<dyn MultipartUpload>) -> io::Result<()> {
        self.wait(async move { upload.complete().await.map(drop) })
    }

    /// Gives up an object that is written in parts.
    fn abort(&self, mut upload: Box<dyn MultipartUpload>) -> io::Result<()> {
        self.wait(async move { upload.abort().await })
    }

    /// Returns the objects of a folder and of those in it, each by its name in this one. Links on this machine's disk are
    /// passed over.
    pub(crate) fn list(&self, name: &str) -> Result<Vec<ListedObject>> {
        match &self.0.local {
            Some(local) => local.list_own(name).map_err(|error| self.failed(name, error)),
            None => self.list_after(name, None),
        }
    }

    /// Says what there is of links, pipes and devices, where the bucket is a folder on this machine's disk.
    pub(crate) fn foreign(&self) -> Result<Vec<String>> {
        match &self.0.local {
            Some(local) => local.foreign().map_err(|error| self.failed("", error)),
            None => Ok(Vec::new()),
        }
    }

    /// Returns the objects of a folder as [`list`](Self::list) does, but only those whose names come after one. Fails at a
    /// link: its target may be what is looked for.
    pub(crate) fn list_after(&self, name: &str, after: Option<&str>) -> Result<Vec<ListedObject>> {
        if let Some(local) = &self.0.local {
            return local.list(name, after).map_err(|error| self.failed(name, error));
        }
        let (store, path) = (Arc::clone(&self.0.store), self.path(name));
        let after = after.map(|after| self.path(after));
        let listed = self.wait(async move {
            let listed = match &after {
                Some(after) => store.list_with_offset(Some(&path), after),
                None => store.list(Some(&path)),
            };
            listed.try_collect::<Vec<_>>().await
        });
        let listed = found(listed).map_err(|error| self.failed(name, error))?;
        let about = |meta: ObjectMeta| {
            let rest = meta.location.prefix_match(&self.0.address.folder)?;
            let name = rest.map(|part| part.as_ref().to_owned()).collect::<Vec<_>>().join("/");
            Some(ListedObject { name, since_ms: meta.last_modified.timestamp_millis() })
        };
        Ok(listed.into_iter().filter_map(about).collect())
    }

    /// Returns the names of the folders and objects that are directly in this one.
    pub(crate) fn entries(&self) -> Result<Vec<String>> {
        if let Some(local) = &self.0.local {
            return local.entries().map_err(|error| self.failed("", error));
        }
        let (store, path) = (Arc::clone(&self.0.store), self.0.address.folder.clone());
        let listed = self.wait(async move {
            let listed = store.list_with_delimiter(Some(&path)).await?;
            let objects = listed.objects.into_iter().map(|meta| meta.location);
            Ok(listed.common_prefixes.into_iter().chain(objects).collect::<Vec<_>>())
        });
        let names = found(listed).map_err(|error| self.failed("", error))?;
        Ok(names.iter().filter_map(|path| Some(path.filename()?.to_owned())).collect())
    }

    /// Removes objects, as far as they are there.
    pub(crate) fn delete(&self, names: &[String]) -> Result<()> {
        if let Some(local) = &self.0.local {
            let remove = |name: &String| local.remove(name).map_err(|error| self.failed(name, error));
            return names.iter().try_for_each(remove);
        }
        let paths: Vec<_> = names.iter().map(|name| Ok(self.path(name))).collect();
        let store = Arc::clone(&self.0.store);
        let work = async move {
            let mut deleted = store.delete_stream(iter(paths).boxed());
            while let Some(done) = deleted.next().await {
                match done {
                    Err(object_store::Error::NotFound { .. }) | Ok(_) => {}
                    Err(error) => return Err(error),
                }
            }
            Ok(())
        };
        let place = names.first().map_or("", String::as_str);
        self.wait(work).map_err(|error| self.failed(place, error))
    }
}

/// Returns what was listed: nothing, if there is no such folder on the disk.
fn found<T>(listed: io::Result<Vec<T>>) -> io::Result<Vec<T>> {
    match listed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        listed => listed,
    }
}

/// Waits for an answer.
fn answer<T>(done: &Receiver<object_store::Result<T>>) -> io::Result<T> {
    match done.recv() {
        Ok(answer) => answer.map_err(|error| io_fault(&error)),
        Err(_) => Err(explained("the work on the bucket stopped unexpectedly")),
    }
}

/// What was found of an object.
enum FoundContent {
    /// Its content; `None` if there is none.
    Whole(Option<Bytes>),
    /// It has more bytes than were allowed.
    TooLarge,
}

async fn size(store: &dyn ObjectStore, path: &Path) -> object_store::Result<Option<u64>> {
    match store.head(path).await {
        Err(object_store::Error::NotFound { .. }) => Ok(None),
        found => Ok(Some(found?.size)),
    }
}

async fn content(store: &dyn ObjectStore, path: &Path, most: u64) -> object_store::Result<FoundContent> {
    let mut options = GetOptions::default();
    options.extensions.insert(SizeLimit(most));
    match store.get_opts(path, options).await {
        Ok(found) if found.meta.size > most => Ok(FoundContent::TooLarge),
        Ok(found) => found.bytes().await.map(|content| FoundContent::Whole(Some(content))),
        Err(object_store::Error::NotFound { .. }) => Ok(FoundContent::Whole(None)),
        Err(error) if is_too_large(&error) => Ok(FoundContent::TooLarge),
        Err(error) => Err(error),
    }
}
