//! Lists page by page. The service says where the next page is, and is not trusted to end.

use std::collections::BTreeSet;

use azure_core::{Method, Url};
use serde_json::Value;

use crate::{
    call::Call,
    client::Client,
    error::{RequestError, RequestFault},
};

/// A list that is being read.
#[derive(Debug)]
pub(crate) struct Pages {
    next: Option<Call>,
    asked: BTreeSet<Url>,
    most: usize,
}

impl Pages {
    /// A list that begins with this call and may have so many pages.
    pub(crate) fn new(first: Call, most: usize) -> Self {
        Self {
            asked: BTreeSet::from([first.url.clone()]),
            next: Some(first),
            most,
        }
    }

    /// Reads all pages that are left.
    pub(crate) async fn rest(
        &mut self,
        client: &Client,
        items: &mut Vec<Value>,
    ) -> Result<(), RequestError> {
        while self.next.is_some() {
            self.page(client, items).await?;
        }
        Ok(())
    }

    /// Reads one page into `items`; nothing where all have been read.
    pub(crate) async fn page(
        &mut self,
        client: &Client,
        items: &mut Vec<Value>,
    ) -> Result<(), RequestError> {
        let Some(call) = self.next.take() else {
            return Ok(());
        };
        let reply = client.send(&call).await?;
        let unreadable = |what: String| RequestError {
            method: call.method.to_string(),
            target: call.url.path().to_owned(),
            fault: RequestFault::Unreadable(what),
        };
        let next = take_page(reply.body, items).map_err(unreadable)?;
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
            return Err(unreadable(
                "the list goes round in circles: `nextLink` names a page that was read already"
                    .to_owned(),
            ));
        }
        self.next = Some(Call::new(Method::Get, next));
        Ok(())
    }
}

/// Takes the items of a page; answers where the next one is.
fn take_page(mut body: Value, items: &mut Vec<Value>) -> Result<Option<Url>, String> {
    // Lists of marketplace images are bare.
    if let Value::Array(page) = body {
        items.extend(page);
        return Ok(None);
    }
    match body.get_mut("value").map(Value::take) {
        Some(Value::Array(page)) => items.extend(page),
        _ => return Err("expected a list in `value`".to_owned()),
    }
    match body.get("nextLink") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(next)) if next.is_empty() => Ok(None),
        Some(Value::String(next)) => Url::parse(next)
            .map(Some)
            .map_err(|error| format!("`nextLink` is no address: {error}")),
        // Taken for the end, it would hide what is on the pages behind it.
        Some(_) => Err("expected an address in `nextLink`".to_owned()),
    }
}

#[cfg(test)]
mod tests;
