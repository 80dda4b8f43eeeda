//! Working out the expressions of a template, as far as is known yet.
//!
//! What asks for the state of a resource can only be answered while the deployment runs. Until
//! then everything around it is worked out and the rest stays an expression.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
};

use serde_json::{Map, Value};

use super::{
    expression::{self, Node, Text},
    functions,
};
use crate::json::same;

/// Why an expression comes to nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum EvaluateError {
    /// The template is wrong.
    #[error("{0}")]
    Invalid(String),
    /// It is a function of Azure that the sandbox does not have.
    #[error("The sandbox does not serve the template function '{0}'.")]
    NotServed(String),
}

impl EvaluateError {
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::Invalid(message.into())
    }
}

type Evaluated<T> = Result<T, EvaluateError>;

/// What a resource says of itself while a deployment runs.
pub(crate) trait Runtime {
    /// The answer of its GET; without `full` its properties alone.
    fn reference(&self, resource: &str, version: Option<&str>, full: bool) -> Evaluated<Value>;
}

/// Things that functions look at.
#[derive(Clone, Debug)]
pub(crate) struct Surroundings {
    /// What `resourceGroup()` comes to.
    pub(crate) group: Value,
    /// What `subscription()` comes to.
    pub(crate) subscription: Value,
    /// What `deployment()` comes to.
    pub(crate) deployment: Value,
    pub(crate) tenant: String,
    /// The time of the deployment: `utcNow()`.
    pub(crate) now: String,
}

impl Surroundings {
    pub(crate) fn subscription_id(&self) -> &str {
        crate::json::text(&self.subscription, "/subscriptionId").unwrap_or_default()
    }

    pub(crate) fn group_name(&self) -> &str {
        crate::json::text(&self.group, "/name").unwrap_or_default()
    }
}

/// What names in expressions mean.
pub(crate) struct Scope<'a> {
    pub(crate) surroundings: &'a Surroundings,
    /// Values of parameters.
    pub(crate) parameters: &'a Map<String, Value>,
    /// Names of the parameters that are secret.
    pub(crate) secure: &'a [String],
    /// Variables, as the template has them.
    pub(crate) variables: &'a Map<String, Value>,
    /// Indexes of the loops that a part stands in; the nearest is under the empty name too.
    pub(crate) loops: BTreeMap<String, u64>,
    pub(crate) runtime: Option<&'a dyn Runtime>,
    /// Variables that were worked out, and whether something secret is in them.
    pub(crate) known: &'a RefCell<BTreeMap<String, (Value, bool)>>,
    /// Whether a secret parameter was looked at.
    pub(crate) secret: Cell<bool>,
    depth: Cell<u32>,
}

/// Variables and nested values may be this deep.
const DEEPEST: u32 = 200;

impl<'a> Scope<'a> {
    pub(crate) fn new(
        surroundings: &'a Surroundings,
        parameters: &'a Map<String, Value>,
        secure: &'a [String],
        variables: &'a Map<String, Value>,
        known: &'a RefCell<BTreeMap<String, (Value, bool)>>,
    ) -> Self {
        Self {
            surroundings,
            parameters,
            secure,
            variables,
            loops: BTreeMap::new(),
            runtime: None,
            known,
            secret: Cell::new(false),
            depth: Cell::new(0),
        }
    }

    /// The same inside of a loop.
    pub(crate) fn in_loop(&self, name: &str, index: u64) -> Self {
        let mut loops = self.loops.clone();
        loops.insert(name.to_lowercase(), index);
        loops.insert(String::new(), index);
        Self {
            loops,
            runtime: self.runtime,
            ..Self::new(
                self.surroundings,
                self.parameters,
                self.secure,
                self.variables,
                self.known,
            )
        }
    }

    pub(crate) fn parameter(&self, name: &str) -> Evaluated<Value> {
        if self.secure.iter().any(|secure| same(secure, name)) {
            self.secret.set(true);
        }
        find(self.parameters, name).cloned().ok_or_else(|| {
            EvaluateError::invalid(format!(
                "The template parameter '{name}' is not found. Please see \
                 https://aka.ms/arm-syntax-parameters for usage details."
            ))
        })
    }

    pub(crate) fn variable(&self, name: &str) -> Evaluated<Value> {
        let key = name.to_lowercase();
        if let Some((value, secret)) = self.known.borrow().get(&key) {
            self.secret.set(self.secret.get() || *secret);
            return Ok(value.clone());
        }
        let given = find(self.variables, name).ok_or_else(|| {
            EvaluateError::invalid(format!(
                "The template variable '{name}' is not found. Please see \
                 https://aka.ms/arm-syntax-variables for usage details."
            ))
        })?;
        let before = self.secret.replace(false);
        let value = self.deeper(|| self.value(given))?;
        let secret = self.secret.get();
        self.secret.set(before || secret);
        self.known.borrow_mut().insert(key, (value.clone(), secret));
        Ok(value)
    }

    fn deeper<T>(&self, act: impl FnOnce() -> Evaluated<T>) -> Evaluated<T> {
        let depth = self.depth.get();
        if depth > DEEPEST {
            return Err(EvaluateError::invalid(
                "Circular dependency detected between the variables of the template.",
            ));
        }
        self.depth.set(depth + 1);
        let done = act();
        self.depth.set(depth);
        done
    }

    /// A value of the template with its expressions worked out.
    pub(crate) fn value(&self, given: &Value) -> Evaluated<Value> {
        self.walk(given, false)
    }

    /// The same for a value that is worked out once more when what it waits for is there: texts
    /// that only look like expressions are escaped.
    pub(crate) fn draft(&self, given: &Value) -> Evaluated<Value> {
        self.walk(given, true)
    }

    fn walk(&self, given: &Value, again: bool) -> Evaluated<Value> {
        match given {
            Value::String(text) => match self.text(text)? {
                Node::Literal(value) if again => Ok(escaped(value)),
                Node::Literal(value) => Ok(value),
                waiting @ (Node::Call(..) | Node::Member(..) | Node::Index(..)) => {
                    Ok(Value::from(expression::print(&waiting)))
                }
            },
            Value::Array(items) => {
                let items: Evaluated<Vec<Value>> =
                    items.iter().map(|item| self.walk(item, again)).collect();
                items.map(Value::Array)
            }
            Value::Object(members) => self
                .deeper(|| self.object(members, again))
                .map(Value::Object),
            Value::Null | Value::Bool(_) | Value::Number(_) => Ok(given.clone()),
        }
    }

    fn object(&self, members: &Map<String, Value>, again: bool) -> Evaluated<Map<String, Value>> {
        let mut worked_out = Map::new();
        for (name, member) in members {
            let loops = member
                .as_array()
                .filter(|items| name == "copy" && is_loop(items));
            if let Some(loops) = loops {
                for definition in loops {
                    let (name, items) = self.turns(definition, again)?;
                    worked_out.insert(name, Value::Array(items));
                }
            } else {
                let name = self.name(name)?;
                let name = if again { escaped_text(name) } else { name };
                worked_out.insert(name, self.walk(member, again)?);
            }
        }
        Ok(worked_out)
    }

    /// Names of members can be expressions too.
    fn name(&self, given: &str) -> Evaluated<String> {
        match self.text(given)? {
            Node::Literal(Value::String(name)) => Ok(name),
            Node::Literal(_) | Node::Call(..) | Node::Member(..) | Node::Index(..) => Err(
                EvaluateError::invalid(format!("The member name '{given}' is no text.")),
            ),
        }
    }

    /// A list made by a loop: `{"name": ..., "count": ..., "input": ...}`.
    pub(crate) fn repeated(&self, definition: &Value) -> Evaluated<(String, Vec<Value>)> {
        self.turns(definition, false)
    }

    fn turns(&self, definition: &Value, again: bool) -> Evaluated<(String, Vec<Value>)> {
        let name = crate::json::text(definition, "/name").unwrap_or_default();
        let count = self.count(definition)?;
        let input = definition.get("input").cloned().unwrap_or_default();
        let items: Evaluated<Vec<Value>> = (0..count)
            .map(|index| self.in_loop(name, index).watched(self, &input, again))
            .collect();
        Ok((name.to_owned(), items?))
    }

    /// Works a value out and tells the outer scope of secrets in it.
    fn watched(&self, outer: &Self, given: &Value, again: bool) -> Evaluated<Value> {
        let value = self.walk(given, again);
        outer.secret.set(outer.secret.get() || self.secret.get());
        value
    }

    /// How often a loop goes round: at most 800 times.
    pub(crate) fn count(&self, definition: &Value) -> Evaluated<u64> {
        let given = definition.get("count").cloned().unwrap_or_default();
        self.value(&given)?
            .as_u64()
            .filter(|count| *count <= 800)
            .ok_or_else(|| {
                EvaluateError::invalid(format!(
                    "The template copy definition has the count '{given}', expected a whole \
                     number from 0 to 800."
                ))
            })
    }

    fn text(&self, text: &str) -> Evaluated<Node> {
        match expression::parse(text).map_err(EvaluateError::Invalid)? {
            Text::Plain(text) => Ok(Node::Literal(Value::from(text))),
            Text::Expression(node) => self.fold(&node),
        }
    }

    /// Works an expression out as far as it goes.
    fn fold(&self, node: &Node) -> Evaluated<Node> {
        match node {
            Node::Literal(_) => Ok(node.clone()),
            Node::Call(name, given) => self.call(name, given),
            Node::Member(of, name) => match self.fold(of)? {
                Node::Literal(value) => functions::member(&value, name).map(Node::Literal),
                waiting @ (Node::Call(..) | Node::Member(..) | Node::Index(..)) => {
                    Ok(Node::Member(Box::new(waiting), name.clone()))
                }
            },
            Node::Index(of, index) => match (self.fold(of)?, self.fold(index)?) {
                (Node::Literal(value), Node::Literal(index)) => {
                    functions::index(&value, &index).map(Node::Literal)
                }
                (of, index) => Ok(Node::Index(Box::new(of), Box::new(index))),
            },
        }
    }

    fn call(&self, name: &str, given: &[Node]) -> Evaluated<Node> {
        // Only the branch that is taken is worked out.
        if same(name, "if")
            && let [condition, yes, no] = given
        {
            return match self.fold(condition)? {
                Node::Literal(Value::Bool(true)) => self.fold(yes),
                Node::Literal(Value::Bool(false)) => self.fold(no),
                Node::Literal(other) => Err(EvaluateError::invalid(format!(
                    "The template function 'if' expects its first parameter to be a boolean, \
                     found '{other}'."
                ))),
                waiting @ (Node::Call(..) | Node::Member(..) | Node::Index(..)) => Ok(Node::Call(
                    name.to_owned(),
                    vec![waiting, self.fold(yes)?, self.fold(no)?],
                )),
            };
        }
        let folded: Evaluated<Vec<Node>> = given.iter().map(|node| self.fold(node)).collect();
        let folded = folded?;
        let values: Option<Vec<Value>> = folded
            .iter()
            .map(|node| match node {
                Node::Literal(value) => Some(value.clone()),
                Node::Call(..) | Node::Member(..) | Node::Index(..) => None,
            })
            .collect();
        let waits = functions::needs_the_resource(name) && self.runtime.is_none();
        match values {
            Some(values) if !waits => functions::call(self, name, &values).map(Node::Literal),
            _ if self.runtime.is_some() => Err(EvaluateError::invalid(format!(
                "The template function '{name}' could not be worked out."
            ))),
            _ => Ok(Node::Call(name.to_owned(), folded)),
        }
    }
}

fn escaped_text(text: String) -> String {
    if text.starts_with('[') && text.ends_with(']') {
        format!("[{text}")
    } else {
        text
    }
}

/// A finished value, so that working it out gives the same.
pub(crate) fn escaped(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(escaped_text(text)),
        Value::Array(items) => Value::Array(items.into_iter().map(escaped).collect()),
        Value::Object(members) => Value::Object(
            members
                .into_iter()
                .map(|(name, member)| (escaped_text(name), escaped(member)))
                .collect(),
        ),
        Value::Null | Value::Bool(_) | Value::Number(_) => value,
    }
}

/// Whether a `copy` member is a list of loops, and no property of that name.
fn is_loop(items: &[Value]) -> bool {
    !items.is_empty()
        && items
            .iter()
            .all(|item| item.get("name").is_some() && item.get("count").is_some())
}

/// A member by its name, which compares without case.
pub(crate) fn find<'a>(members: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    members.get(name).or_else(|| {
        members
            .iter()
            .find(|(key, _)| same(key, name))
            .map(|(_, value)| value)
    })
}

/// The resources whose state a value still waits for, as its expressions name them.
pub(crate) fn awaited(value: &Value) -> Vec<String> {
    fn in_node(node: &Node, found: &mut Vec<String>) {
        match node {
            Node::Literal(_) => {}
            Node::Call(name, given) => {
                if functions::needs_the_resource(name)
                    && let Some(Node::Literal(Value::String(id))) = given.first()
                {
                    found.push(id.clone());
                }
                for node in given {
                    in_node(node, found);
                }
            }
            Node::Member(of, _) => in_node(of, found),
            Node::Index(of, index) => {
                in_node(of, found);
                in_node(index, found);
            }
        }
    }
    fn in_value(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::String(text) => {
                if let Ok(Text::Expression(node)) = expression::parse(text) {
                    in_node(&node, found);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| in_value(item, found)),
            Value::Object(members) => members.values().for_each(|item| in_value(item, found)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    let mut found = Vec::new();
    in_value(value, &mut found);
    found
}
