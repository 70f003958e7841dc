//! A bucket of an object store, asked by functions that wait for the answer. Its requests run on threads of its own.

mod fault;
mod http;
mod object;
mod url;

use std::fmt;
use std::future::Future;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use crossbeam_channel::{Receiver, bounded};
use futures_util::stream::{StreamExt, TryStreamExt, iter};
use object_store::path::Path;
use object_store::{MultipartUpload, ObjectMeta, ObjectStore, ObjectStoreExt, PutMode, PutPayload};
use tokio::runtime::{Builder, Runtime};

pub(super) use self::object::{Object, Upload, copy};
pub(in crate::store::parquet) use self::url::is_bucket;

use self::fault::{explained, io_fault};
use self::url::{Address, connect};
use crate::error::{Error, Result};

/// The number of requests that are on their way at a time where many objects are read.
const SIDE_BY_SIDE: usize = 32;

/// How often an object that must not exist yet is sent while no answer comes.
const ATTEMPTS: usize = 4;

/// A folder in a bucket. Clones share it.
#[derive(Clone)]
pub(in crate::store::parquet) struct Bucket(Arc<Inner>);

struct Inner {
    address: Address,
    store: Arc<dyn ObjectStore>,
    /// `None` only while it is being dropped.
    runtime: Option<Runtime>,
}

impl Drop for Inner {
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
    pub(in crate::store::parquet::lake) fn open(url: &str, settings: &[(String, String)]) -> Result<Self> {
        let address = Address::parse(url)?;
        let store = connect(&address, settings)?;
        let runtime =
            Builder::new_multi_thread().worker_threads(2).thread_name("bucket").enable_time().build();
        let runtime = Some(runtime.map_err(Error::no_thread)?);
        Ok(Self(Arc::new(Inner { address, store, runtime })))
    }

    /// Returns the URL of the folder, without a slash at its end.
    pub(in crate::store::parquet::lake) fn url(&self) -> &str {
        &self.0.address.url
    }

    /// Returns what error messages call an object.
    pub(in crate::store::parquet::lake) fn shown(&self, name: &str) -> PathBuf {
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

    /// Returns the content of an object; `None` if there is none.
    pub(in crate::store::parquet::lake) fn get(&self, name: &str) -> Result<Option<Bytes>> {
        let (store, path) = (Arc::clone(&self.0.store), self.path(name));
        self.wait(async move { content(store.as_ref(), &path).await })
            .map_err(|error| self.failed(name, error))
    }

    /// Returns the contents of several objects, in their order.
    pub(in crate::store::parquet::lake) fn get_all(&self, names: &[String]) -> Result<Vec<Option<Bytes>>> {
        let paths: Vec<Path> = names.iter().map(|name| self.path(name)).collect();
        let store = Arc::clone(&self.0.store);
        let work = async move {
            let store = store.as_ref();
            let gets = paths.iter().map(|path| content(store, path)).collect::<Vec<_>>();
            iter(gets).buffered(SIDE_BY_SIDE).try_collect().await
        };
        let place = names.first().map_or("", String::as_str);
        self.wait(work).map_err(|error| self.failed(place, error))
    }

    /// Returns the size of an object in bytes.
    fn size(&self, name: &str) -> io::Result<u64> {
        let (store, path) = (Arc::clone(&self.0.store), self.path(name));
        self.wait(async move { store.head(&path).await.map(|found| found.size) })
    }

    /// Returns so many bytes of an object from an offset on.
    fn range(&self, name: &str, at: u64, length: usize) -> io::Result<Bytes> {
        let (store, path) = (Arc::clone(&self.0.store), self.path(name));
        self.wait(async move { store.get_range(&path, at..at + length as u64).await })
    }

    /// Writes an object.
    pub(in crate::store::parquet::lake) fn put(&self, name: &str, content: Bytes) -> io::Result<()> {
        let (store, path) = (Arc::clone(&self.0.store), self.path(name));
        self.wait(async move { store.put(&path, content.into()).await.map(drop) })
    }

    /// Copies an object, which stays where it is.
    fn copy(&self, from: &str, to: &str) -> io::Result<()> {
        let (store, from, to) = (Arc::clone(&self.0.store), self.path(from), self.path(to));
        self.wait(async move { store.copy(&from, &to).await })
    }

    /// Writes an object that must not exist yet; returns false if it does. Its content differs from that of any other
    /// writer: where no answer came, what is there tells whether it was written.
    pub(in crate::store::parquet::lake) fn put_new(&self, name: &str, content: Bytes) -> Result<bool> {
        let mut attempts = 0;
        loop {
            let error = match self.try_put_new(name, content.clone()) {
                Ok(written) => return Ok(written),
                Err(error) => self.failed(name, error),
            };
            attempts += 1;
            match self.get(name) {
                Ok(Some(found)) => return Ok(found == content),
                Ok(None) if attempts < ATTEMPTS => {}
                Ok(None) | Err(_) => return Err(error),
            }
        }
    }

    /// Sends an object that must not exist yet, once: the client sends none again whose answer was lost.
    fn try_put_new(&self, name: &str, content: Bytes) -> io::Result<bool> {
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

    /// Returns the objects of a folder and of those in it, each by its name in this one.
    pub(in crate::store::parquet::lake) fn list(&self, name: &str) -> Result<Vec<(String, ObjectMeta)>> {
        self.list_after(name, None)
    }

    /// Returns the objects of a folder as [`list`](Self::list) does, but only those whose names come after one.
    pub(in crate::store::parquet::lake) fn list_after(
        &self,
        name: &str,
        after: Option<&str>,
    ) -> Result<Vec<(String, ObjectMeta)>> {
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
        let relative = |path: &Path| {
            let rest = path.prefix_match(&self.0.address.folder)?;
            Some(rest.map(|part| part.as_ref().to_owned()).collect::<Vec<_>>().join("/"))
        };
        Ok(listed.into_iter().filter_map(|meta| Some((relative(&meta.location)?, meta))).collect())
    }

    /// Returns the names of the folders and objects that are directly in this one.
    pub(in crate::store::parquet::lake) fn entries(&self) -> Result<Vec<String>> {
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
    pub(in crate::store::parquet::lake) fn delete(&self, names: &[String]) -> Result<()> {
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

async fn content(store: &dyn ObjectStore, path: &Path) -> object_store::Result<Option<Bytes>> {
    match store.get(path).await {
        Ok(found) => found.bytes().await.map(Some),
        Err(object_store::Error::NotFound { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}
