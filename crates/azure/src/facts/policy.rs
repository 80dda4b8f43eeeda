//! What policies say to a node, before anybody tries to make it.

use azure_core::Method;
use model::live::{PolicyFact, PolicyQuestion};
use serde_json::{Value, json};

use crate::{client::Client, error::RequestError, versions};

/// Asks what policies would refuse.
pub(super) async fn read(
    client: &Client,
    question: &PolicyQuestion,
) -> Result<Vec<PolicyFact>, RequestError> {
    let path = format!(
        "{}/providers/Microsoft.PolicyInsights/checkPolicyRestrictions",
        question.scope
    );
    let call = client
        .call_at(Method::Post, &path, &[("api-version", versions::POLICY)])?
        .body(body(question));
    let reply = client.send(&call).await?;
    Ok(objections(&reply.body))
}

/// The node as far as policies look at it.
fn body(question: &PolicyQuestion) -> Value {
    let PolicyQuestion {
        scope: _,
        location,
        size,
        image,
        tags,
    } = question;
    let mut content = json!({
        "type": "Microsoft.Compute/virtualMachines",
        "location": location,
        "tags": tags,
        "properties": {"hardwareProfile": {"vmSize": size.as_str()}},
    });
    if let Some([publisher, offer, sku]) = image {
        content["properties"]["storageProfile"] = json!({
            "imageReference": {"publisher": publisher, "offer": offer, "sku": sku},
        });
    }
    json!({"resourceDetails": {"resourceContent": content, "apiVersion": versions::COMPUTE}})
}

/// Policies that deny: of the node as a whole, and of fields by themselves.
fn objections(body: &Value) -> Vec<PolicyFact> {
    let list = |value: &Value, place: &str| -> Vec<Value> {
        let items = value.pointer(place).and_then(Value::as_array);
        items.cloned().unwrap_or_default()
    };
    let mut facts = Vec::new();
    for evaluation in list(body, "/contentEvaluationResult/policyEvaluations") {
        let denies = text(&evaluation, "/effectDetails/policyEffect")
            .is_none_or(|effect| effect.eq_ignore_ascii_case("deny"));
        let fails = text(&evaluation, "/evaluationResult")
            .is_none_or(|result| result.eq_ignore_ascii_case("NonCompliant"));
        if denies && fails {
            let fields: Vec<String> = list(&evaluation, "/evaluationDetails/evaluatedExpressions")
                .iter()
                .filter_map(|expression| text(expression, "/path"))
                .map(ToOwned::to_owned)
                .collect();
            facts.push(PolicyFact {
                assignment: assignment(&evaluation, "/policyInfo"),
                objection: fields.join(", "),
            });
        }
    }
    facts
}

fn assignment(value: &Value, place: &str) -> String {
    text(value, &format!("{place}/policyAssignmentId"))
        .or_else(|| text(value, &format!("{place}/policyDefinitionId")))
        .unwrap_or("a policy")
        .to_owned()
}

fn text<'a>(value: &'a Value, place: &str) -> Option<&'a str> {
    value.pointer(place).and_then(Value::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_denies_is_an_objection() {
        let evaluation = |result: &str, effect: &str| {
            json!({
                "policyInfo": {"policyAssignmentId": "/subscriptions/s/providers/Microsoft.Authorization/policyAssignments/sizes"},
                "evaluationResult": result,
                "evaluationDetails": {"evaluatedExpressions": [{"path": "Microsoft.Compute/virtualMachines/sku.name"}]},
                "effectDetails": {"policyEffect": effect},
            })
        };
        let body = json!({"fieldRestrictions": [], "contentEvaluationResult": {"policyEvaluations": [
            evaluation("NonCompliant", "Deny"),
            evaluation("NonCompliant", "Audit"),
            evaluation("Compliant", "Deny"),
        ]}});
        let found = objections(&body);
        assert_eq!(found.len(), 1);
        assert!(found.iter().all(
            |fact| fact.assignment.ends_with("/sizes") && fact.objection.ends_with("sku.name")
        ));
        assert_eq!(objections(&json!({})), Vec::new());
    }
}
