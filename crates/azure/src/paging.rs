//! Lists page by page. The service says where the next page is, and is not trusted to end.

use std::collections::BTreeSet;

use azure_core::{Method, Url};
use serde_json::Value;

use crate::{
    call::{Call, Reply},
    error::{RequestError, RequestFault},
};

/// Whoever sends the calls for pages.
pub(crate) trait Sends {
    /// Sends a call.
    fn send(&self, call: &Call) -> impl Future<Output = Result<Reply, RequestError>> + Send;
}

/// Under which names a page holds its items and says where the next one is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// The items.
    pub(crate) items: &'static str,
    /// The address of the next page.
    pub(crate) next: &'static str,
    /// How many items the page has, where it says so.
    pub(crate) count: Option<&'static str>,
}

/// The pages of the Resource Manager.
pub(crate) const OF_ARM: Shape = Shape {
    items: "value",
    next: "nextLink",
    count: None,
};

/// A list that is being read.
#[derive(Debug)]
pub(crate) struct Pages {
    next: Option<Call>,
    asked: BTreeSet<Url>,
    most: usize,
    shape: Shape,
}

impl Pages {
    /// A list that begins with this call and may have so many pages.
    pub(crate) fn new(first: Call, most: usize, shape: Shape) -> Self {
        Self {
            asked: BTreeSet::from([first.url.clone()]),
            next: Some(first),
            most,
            shape,
        }
    }

    /// Whether all pages have been read.
    pub(crate) fn is_at_end(&self) -> bool {
        self.next.is_none()
    }

    /// Reads all pages that are left.
    pub(crate) async fn rest(
        &mut self,
        sender: &impl Sends,
        items: &mut Vec<Value>,
    ) -> Result<(), RequestError> {
        while self.next.is_some() {
            self.page(sender, items).await?;
        }
        Ok(())
    }

    /// Reads one page into `items`; nothing where all have been read.
    pub(crate) async fn page(
        &mut self,
        sender: &impl Sends,
        items: &mut Vec<Value>,
    ) -> Result<(), RequestError> {
        let Some(call) = self.next.take() else {
            return Ok(());
        };
        let reply = sender.send(&call).await?;
        let unreadable = |what: String| RequestError {
            method: call.method.to_string(),
            target: call.url.path().to_owned(),
            fault: RequestFault::Unreadable(what),
        };
        let next = take_page(reply.body, self.shape, items).map_err(unreadable)?;
        let Some(next) = next else {
            return Ok(());
        };
        if self.asked.len() >= self.most {
            return Err(unreadable(format!(
                "the list has no end: {} pages were read, and there is one more",
                self.asked.len()
            )));
        }
        if !self.asked.insert(next.clone()) {
            return Err(unreadable(format!(
                "the list goes round in circles: `{}` names a page that was read already",
                self.shape.next
            )));
        }
        self.next = Some(Call::new(Method::Get, next));
        Ok(())
    }
}

/// Takes the items of a page; answers where the next one is.
fn take_page(mut body: Value, shape: Shape, items: &mut Vec<Value>) -> Result<Option<Url>, String> {
    // Lists of marketplace images are bare.
    if let Value::Array(page) = body {
        items.extend(page);
        return Ok(None);
    }
    let told = shape.count.and_then(|name| body.get(name)?.as_u64());
    let Some(Value::Array(found)) = body.get_mut(shape.items).map(Value::take) else {
        return Err(format!("expected a list in `{}`", shape.items));
    };
    if let Some(told) = told.filter(|told| usize::try_from(*told) != Ok(found.len())) {
        return Err(format!(
            "it says that it has {told} items and has {}",
            found.len()
        ));
    }
    items.extend(found);
    match body.get(shape.next) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(next)) if next.is_empty() => Ok(None),
        Some(Value::String(next)) => Url::parse(next)
            .map(Some)
            .map_err(|error| format!("`{}` is no address: {error}", shape.next)),
        // Taken for the end, it would hide what is on the pages behind it.
        Some(_) => Err(format!("expected an address in `{}`", shape.next)),
    }
}

#[cfg(test)]
mod tests;
