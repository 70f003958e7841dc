//! The stream of server-sent events by which a page learns of new seconds.

use std::convert::Infallible;

use bytes::Bytes;
use futures_util::{Stream, stream};
use hyper::body::Frame;
use tokio::sync::watch::Receiver;

use super::latest_page::PageState;

/// Returns the events of a test until it ends. They announce a new page and do not contain it: a slow reader costs
/// nothing.
pub(super) fn events(states: Receiver<PageState>) -> impl Stream<Item = Result<Frame<Bytes>, Infallible>> {
    stream::unfold(Some(states), next)
}

/// Waits for the next state. Nothing follows the end.
async fn next(
    states: Option<Receiver<PageState>>,
) -> Option<(Result<Frame<Bytes>, Infallible>, Option<Receiver<PageState>>)> {
    let mut states = states?;
    states.changed().await.ok()?;
    let state = states.borrow_and_update().clone();
    let event = event(state.number, state.ended.as_deref());
    Some((Ok(Frame::data(event.into())), state.ended.is_none().then_some(states)))
}

/// Returns the events of a state. A page that lost its connection tries again after half a second.
fn event(number: u64, ended: Option<&str>) -> String {
    let ended = ended.map(|ended| format!("event: ended\ndata: {ended}\n\n")).unwrap_or_default();
    format!("retry: 500\nevent: state\ndata: {number}\n\n{ended}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn end_is_told_after_the_last_page() {
        assert_eq!(event(7, None), "retry: 500\nevent: state\ndata: 7\n\n");
        let events = event(8, Some("It is stored."));
        assert_eq!(events, "retry: 500\nevent: state\ndata: 8\n\nevent: ended\ndata: It is stored.\n\n");
    }
}
