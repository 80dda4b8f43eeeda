//! Templates that are wrong, and what Azure says to them.

use serde_json::{Value, json};

use crate::{
    deployments::{body, path, send, template},
    rig::Rig,
};

/// Templates, what they are given, and what is wrong with them.
type Wrong = Vec<(Value, Value, &'static str)>;

fn with_wrong_resources() -> Wrong {
    let disk = |more: &Value| {
        let mut disk = json!({"type": "Microsoft.Compute/disks", "apiVersion": "2024-03-02", "name": "d",
            "location": "eastus", "properties": {"creationData": {"createOption": "Empty"}, "diskSizeGB": 4}});
        if let (Some(disk), Some(more)) = (disk.as_object_mut(), more.as_object()) {
            disk.extend(more.clone());
        }
        disk
    };
    let plain = |resources: Value| template(&resources, &json!({}));
    vec![
        (
            plain(json!([disk(&json!({})), disk(&json!({}))])),
            json!({}),
            "is defined multiple times",
        ),
        (
            plain(json!([disk(&json!({"dependsOn": ["other"]}))])),
            json!({}),
            "The resource 'other' is not defined",
        ),
        (
            plain(json!([disk(&json!({"dependsOn": ["d"]}))])),
            json!({}),
            "Circular dependency detected",
        ),
        (
            plain(json!([disk(&json!({"name": "a/b"}))])),
            json!({}),
            "has incorrect segment lengths",
        ),
        (
            plain(json!([disk(&json!({"name": "[nope()]"}))])),
            json!({}),
            "The template function 'nope' is not valid",
        ),
    ]
}

fn with_wrong_parameters() -> Wrong {
    let asks = json!({"parameters": {"size": {"type": "int", "allowedValues": [1, 2]}}});
    let asking = template(&json!([]), &asks);
    vec![
        (
            asking.clone(),
            json!({}),
            "The value for the template parameter 'size' is not provided",
        ),
        (
            asking.clone(),
            json!({"size": {"value": "x"}}),
            "Template parameter JToken type is not valid",
        ),
        (
            asking.clone(),
            json!({"size": {"value": 3}}),
            "not part of the allowed value(s): '1,2'",
        ),
        (
            asking,
            json!({"size": {"value": 1}, "shape": {"value": 1}}),
            "The template parameters 'shape' in the parameters file are not valid",
        ),
        (
            json!({"$schema": "x", "resources": []}),
            json!({}),
            "The template schema 'x' is not supported",
        ),
    ]
}

#[tokio::test]
async fn templates_that_are_wrong_are_refused_with_the_reason() {
    let rig = Rig::faulty("rules: []").await;
    let cases = with_wrong_resources()
        .into_iter()
        .chain(with_wrong_parameters());
    for (template, parameters, told) in cases {
        let refused = send(&rig, "PUT", &path("d"), Some(&body(&template, &parameters))).await;
        let refused = refused.expect(400);
        assert_eq!(refused.code(), "InvalidTemplate", "{}", refused.body);
        assert!(
            refused.text("/error/message").contains(told),
            "{}",
            refused.body
        );
    }
    let broken = send(&rig, "PUT", &path("d"), Some("{\"properties\": {"))
        .await
        .expect(400);
    assert_eq!(broken.code(), "InvalidRequestContent");
    let listing = template(
        &json!([]),
        &json!({"variables": {"k": "[listKeys('a', 'b')]"}, "outputs": {"k": {"type": "string", "value": "[variables('k')]"}}}),
    );
    let refused = send(&rig, "PUT", &path("d"), Some(&body(&listing, &json!({}))))
        .await
        .expect(501);
    assert_eq!(
        refused.header("x-tensorform-sandbox"),
        "operation not served"
    );
}
