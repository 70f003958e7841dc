//! A store that keeps nothing, for reading a log only for its time.

use crate::error::Result;
use crate::pipeline::sink::{BatchEncoder, FinishedRun, RunStore, RunWriter};
use crate::run::key::RunKey;
use crate::sample::batch::SampleBatch;

/// A store that keeps nothing.
pub(crate) struct Nowhere;

impl RunStore for Nowhere {
    type Writer = Self;

    async fn begin(&self, _key: Option<&RunKey>, _keep_samples: bool) -> Result<Self> {
        Ok(Self)
    }
}

impl BatchEncoder for Nowhere {
    type Chunk = ();

    fn encode(&mut self, _batch: &SampleBatch) -> Result<Option<()>> {
        Ok(None)
    }
}

impl RunWriter for Nowhere {
    type Encoder = Self;

    fn encoder(&self) -> Result<Self> {
        Ok(Self)
    }

    async fn write(&mut self, (): ()) -> Result<()> {
        Ok(())
    }

    async fn commit(self, _run: FinishedRun<'_>) -> Result<()> {
        Ok(())
    }
}
