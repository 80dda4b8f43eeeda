//! Raw calls: any provider, any version of its API, through the same pipeline as the typed ones.

use azure_core::{
    Context, Method, Pipeline, Request, Url,
    headers::{CLIENT_REQUEST_ID, CONTENT_TYPE, ETAG, Headers},
};
use model::ids::ArmId;
use serde_json::Value;

use crate::{
    error::{RequestError, RequestFault},
    transport::{new_request_id, retry_after},
};

/// One call.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    /// The method.
    pub(crate) method: Method,
    /// Where to.
    pub(crate) url: Url,
    /// The body.
    pub(crate) body: Option<Value>,
    /// Headers beside those that every call has.
    pub(crate) headers: Vec<(&'static str, String)>,
    /// The id that marks it in Azure's logs and in our journal.
    pub(crate) client_request_id: String,
    /// The call of the typed client that this is, where it is one.
    pub(crate) typed: Option<MachineCall>,
}

/// A call on a VM that goes through the typed client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MachineCall {
    /// What is done.
    pub(crate) action: MachineAction,
    /// The VM.
    pub(crate) id: ArmId,
}

/// What is done with a VM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MachineAction {
    /// Gives back its hardware.
    Deallocate,
    /// Starts it.
    Start,
    /// Puts it back in order.
    Reapply,
    /// Deletes it.
    Delete,
}

impl MachineAction {
    /// The method, and the path below the VM.
    pub(crate) fn request(self) -> (Method, &'static str) {
        match self {
            Self::Deallocate => (Method::Post, "/deallocate"),
            Self::Start => (Method::Post, "/start"),
            Self::Reapply => (Method::Post, "/reapply"),
            Self::Delete => (Method::Delete, ""),
        }
    }
}

impl Call {
    /// A call without a body.
    pub(crate) fn new(method: Method, url: Url) -> Self {
        Self {
            method,
            url,
            body: None,
            headers: Vec::new(),
            client_request_id: new_request_id(),
            typed: None,
        }
    }

    /// The same to be sent once more, under an id of its own.
    pub(crate) fn again(&self) -> Self {
        Self {
            client_request_id: new_request_id(),
            ..self.clone()
        }
    }

    /// The same with a body.
    pub(crate) fn body(mut self, body: Value) -> Self {
        self.body = Some(body);
        self
    }

    /// The same with one more header.
    pub(crate) fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }
}

/// The answer to a call, which was no error.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    /// The status.
    pub(crate) status: u16,
    /// The headers.
    pub(crate) headers: Headers,
    /// The body; `null` where there is none.
    pub(crate) body: Value,
}

impl Reply {
    /// A header's text.
    pub(crate) fn header(&self, name: &'static str) -> Option<&str> {
        self.headers.get_optional_str(&name.into())
    }

    /// The seconds of `Retry-After`.
    pub(crate) fn retry_after(&self) -> Option<u64> {
        retry_after(&self.headers)
    }

    /// Azure's request id.
    pub(crate) fn request_id(&self) -> Option<String> {
        self.header("x-ms-request-id").map(ToOwned::to_owned)
    }

    /// The resource's entity tag: in the body, or else in the header.
    pub(crate) fn etag(&self) -> Option<&str> {
        // Clusters of Kubernetes write it otherwise, and their pools keep it deeper.
        let places = ["/etag", "/eTag", "/properties/eTag"];
        places
            .iter()
            .find_map(|place| self.body.pointer(place)?.as_str())
            .or_else(|| self.headers.get_optional_str(&ETAG))
    }
}

/// Sends a call.
pub(crate) async fn send(pipeline: &Pipeline, call: &Call) -> Result<Reply, RequestError> {
    let failed = |fault: RequestFault| RequestError {
        method: call.method.to_string(),
        target: call.url.path().to_owned(),
        fault,
    };
    let mut request = Request::new(call.url.clone(), call.method);
    request.insert_header(CLIENT_REQUEST_ID, call.client_request_id.clone());
    for (name, value) in &call.headers {
        request.insert_header(*name, value.clone());
    }
    match &call.body {
        Some(body) => {
            request.insert_header(CONTENT_TYPE, "application/json");
            request.set_body(body.to_string());
        }
        None if call.method == Method::Post => request.insert_header("content-length", "0"),
        None => {}
    }
    let response = pipeline.send(&Context::new(), &mut request).await;
    let response = response.map_err(|error| failed(fault_of(error)))?;
    read(response).await.map_err(failed)
}

/// Reads the answer of the SDK, whether a raw call or a typed one gave it.
pub(crate) async fn read(response: azure_core::Response) -> Result<Reply, RequestFault> {
    let (status, headers, body) = response.deconstruct();
    let bytes = body.collect().await.map_err(fault_of)?;
    let body = if bytes.iter().all(u8::is_ascii_whitespace) {
        Value::Null
    } else {
        serde_json::from_slice(&bytes)
            .map_err(|error| RequestFault::Unreadable(format!("no JSON: {error}")))?
    };
    Ok(Reply {
        status: status.into(),
        headers,
        body,
    })
}

/// The fault that our transport put into an error of the SDK.
pub(crate) fn fault_of(error: azure_core::Error) -> RequestFault {
    match error.into_downcast::<RequestFault>() {
        Ok(fault) => fault,
        Err(error) => RequestFault::Sdk(Box::new(error)),
    }
}

/// The address of a resource, of an action below it, or of a collection.
pub(crate) fn url_of(
    endpoint: &Url,
    path: &str,
    query: &[(&str, &str)],
) -> Result<Url, RequestFault> {
    for segment in path.split('/') {
        check_segment(segment)?;
    }
    let mut url = endpoint.clone();
    url.set_path(path);
    url.set_query(None);
    url.query_pairs_mut().extend_pairs(query);
    // A space is `+` only in forms.
    let spaced = url.query().map(|query| query.replace('+', "%20"));
    url.set_query(spaced.as_deref());
    Ok(url)
}

/// The address of a resource.
pub(crate) fn resource_url(
    endpoint: &Url,
    id: &ArmId,
    api_version: &str,
) -> Result<Url, RequestFault> {
    url_of(endpoint, id.as_str(), &[("api-version", api_version)])
}

/// Refuses names that would change the meaning of a path: the SDK lets them through.
fn check_segment(segment: &str) -> Result<(), RequestFault> {
    let plain = segment
        .chars()
        .all(|character| !character.is_control() && !"?#%\\<>\"|".contains(character));
    if plain && segment != "." && segment != ".." {
        Ok(())
    } else {
        Err(RequestFault::InvalidName(segment.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_change_the_meaning_of_a_path() {
        let endpoint = Url::parse("https://arm.test").expect("a url");
        for wrong in ["..", ".", "a?b", "a#b", "%2e%2e", "a\\b", "a\nb"] {
            let path = format!("/subscriptions/s/resourceGroups/{wrong}/x");
            assert!(url_of(&endpoint, &path, &[]).is_err(), "{wrong}");
        }
        let url = url_of(
            &endpoint,
            "/subscriptions/s/resources",
            &[("$filter", "tagName eq 'a' and tagValue eq 'b'")],
        );
        assert_eq!(
            url.expect("a url").as_str(),
            "https://arm.test/subscriptions/s/resources?%24filter=tagName%20eq%20%27a%27%20and%20tagValue%20eq%20%27b%27"
        );
    }
}
