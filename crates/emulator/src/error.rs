//! Refusals in the forms ARM and its resource providers give them.

use serde_json::{Value, json};

use crate::http::Answer;

/// A refused request.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ArmError(Box<Refusal>);

impl std::ops::Deref for ArmError {
    type Target = Refusal;

    fn deref(&self) -> &Refusal {
        &self.0
    }
}

/// What a refusal says.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Refusal {
    pub(crate) status: u16,
    pub(crate) code: String,
    pub(crate) message: String,
    pub(crate) target: Option<String>,
    pub(crate) details: Option<Vec<Value>>,
    /// Members of the error object beside the usual ones.
    pub(crate) more: Vec<(String, Value)>,
    /// Headers of the answer beside the usual ones.
    pub(crate) headers: Vec<(String, String)>,
    /// Whether the error object is the whole answer.
    pub(crate) bare: bool,
}

impl ArmError {
    /// An answer of a resource provider.
    pub(crate) fn new(status: u16, code: &str, message: impl Into<String>) -> Self {
        Self(Box::new(Refusal {
            status,
            code: code.to_owned(),
            message: message.into(),
            target: None,
            details: None,
            more: Vec::new(),
            headers: Vec::new(),
            bare: false,
        }))
    }

    /// An answer of ARM itself, which says so in a header.
    pub(crate) fn gateway(status: u16, code: &str, message: impl Into<String>) -> Self {
        Self::new(status, code, message).with_header("x-ms-failure-cause", "gateway")
    }

    /// A 400 of Microsoft.Network, which always lists details.
    pub(crate) fn network(code: &str, message: impl Into<String>) -> Self {
        Self::new(400, code, message).with_details(Vec::new())
    }

    /// A value that is wrong, by the path of its property.
    pub(crate) fn invalid_parameter(target: &str, message: impl Into<String>) -> Self {
        Self::new(400, "InvalidParameter", message).with_target(target)
    }

    /// A property that Compute needs and did not get.
    pub(crate) fn missing_parameter(target: &str) -> Self {
        Self::invalid_parameter(
            target,
            format!("Required parameter '{target}' is missing (null)."),
        )
    }

    /// A property that cannot change after creation.
    pub(crate) fn property_change(target: &str) -> Self {
        Self::new(
            409,
            "PropertyChangeNotAllowed",
            format!("Changing property '{target}' is not allowed."),
        )
        .with_target(target)
    }

    /// An operation that does not fit the state.
    pub(crate) fn not_allowed(message: impl Into<String>) -> Self {
        Self::new(409, "OperationNotAllowed", message)
    }

    /// A body that cannot be read.
    pub(crate) fn unreadable(message: impl Into<String>) -> Self {
        Self::gateway(
            400,
            "InvalidRequestContent",
            format!(
                "The request content was invalid and could not be deserialized: '{}'.",
                message.into()
            ),
        )
    }

    pub(crate) fn with_target(mut self, target: impl Into<String>) -> Self {
        self.0.target = Some(target.into());
        self
    }

    pub(crate) fn with_details(mut self, details: Vec<Value>) -> Self {
        self.0.details = Some(details);
        self
    }

    pub(crate) fn with_header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.0.headers.push((name.to_owned(), value.into()));
        self
    }

    pub(crate) fn with_member(mut self, name: &str, value: Value) -> Self {
        self.0.more.push((name.to_owned(), value));
        self
    }

    /// As services answer that leave out the `error` around it.
    pub(crate) fn bare(mut self) -> Self {
        self.0.bare = true;
        self
    }

    /// The error object, as it stands in answers and in operations.
    pub(crate) fn object(&self) -> Value {
        let mut object = json!({"code": self.code, "message": self.message});
        let members = self
            .target
            .iter()
            .map(|target| ("target".to_owned(), json!(target)))
            .chain(
                self.details
                    .iter()
                    .map(|details| ("details".to_owned(), json!(details))),
            )
            .chain(self.more.iter().cloned());
        if let Some(map) = object.as_object_mut() {
            map.extend(members);
        }
        object
    }
}

impl From<ArmError> for Answer {
    fn from(error: ArmError) -> Self {
        let object = error.object();
        let body = if error.bare {
            object
        } else {
            json!({"error": object})
        };
        let mut answer = Self::json(error.status, body);
        answer.headers.extend(error.0.headers);
        answer
    }
}
