//! What expressions come to.

use std::cell::RefCell;

use serde_json::{Map, Value, json};

use super::evaluate::{EvaluateError, Runtime, Scope, Surroundings, awaited};

type Evaluated<T> = Result<T, EvaluateError>;

struct Ready;

impl Runtime for Ready {
    fn reference(&self, resource: &str, version: Option<&str>, full: bool) -> Evaluated<Value> {
        Ok(json!({"of": resource, "version": version, "full": full, "list": [{"x": 7}]}))
    }
}

fn surroundings() -> Surroundings {
    Surroundings {
        group: json!({"id": "/subscriptions/s/resourceGroups/rg", "name": "rg", "location": "eastus"}),
        subscription: json!({"id": "/subscriptions/s", "subscriptionId": "s"}),
        deployment: json!({"name": "d"}),
        tenant: "t".to_owned(),
        now: "20241001T000000Z".to_owned(),
    }
}

fn evaluate(given: &Value, runtime: Option<&dyn Runtime>) -> (Evaluated<Value>, bool) {
    let surroundings = surroundings();
    let object = |value: Value| value.as_object().cloned().unwrap_or_default();
    let parameters = object(json!({
        "name": "vm", "count": 2, "flag": true, "password": "secret",
        "list": ["a", "b", "b"], "object": {"a": {"b": 1}, "c": 2},
    }));
    let variables = object(json!({
        "nic": "[concat(parameters('name'), '-nic')]",
        "hidden": "[concat('x', parameters('password'))]",
        "loop": "[variables('loop')]",
        "names": {"copy": [{"name": "all", "count": 2, "input": "[copyIndex('all', 1)]"}]},
    }));
    let known = RefCell::default();
    let secure = ["password".to_owned()];
    let mut scope = Scope::new(&surroundings, &parameters, &secure, &variables, &known);
    scope.runtime = runtime;
    let value = scope.value(given);
    (value, scope.secret.get())
}

/// Expressions, and what they come to.
type Cases = Vec<(&'static str, Value)>;

fn about_the_deployment() -> Cases {
    vec![
        ("[concat('a', 1, 'b')]", json!("a1b")),
        (
            "[concat(createArray(1), createArray(2, 3))]",
            json!([1, 2, 3]),
        ),
        ("[[literal]", json!("[literal]")),
        ("[variables('nic')]", json!("vm-nic")),
        ("[PARAMETERS('NAME')]", json!("vm")),
        ("[variables('names').all[1]]", json!(2)),
        ("[resourceGroup().location]", json!("eastus")),
        ("[subscription().subscriptionId]", json!("s")),
        ("[deployment().name]", json!("d")),
        ("[tenant().tenantId]", json!("t")),
        (
            "[resourceId('Microsoft.Network/virtualNetworks/subnets', 'n', 'x')]",
            json!(
                "/subscriptions/s/resourceGroups/rg/providers/Microsoft.Network/virtualNetworks/n/subnets/x"
            ),
        ),
        (
            "[resourceId('other', 'Microsoft.Network/virtualNetworks/subnets', 'n/x')]",
            json!(
                "/subscriptions/s/resourceGroups/other/providers/Microsoft.Network/virtualNetworks/n/subnets/x"
            ),
        ),
        (
            "[subscriptionResourceId('Microsoft.Authorization/roleDefinitions', 'r')]",
            json!("/subscriptions/s/providers/Microsoft.Authorization/roleDefinitions/r"),
        ),
        (
            "[extensionResourceId('/a/b', 'Microsoft.Authorization/locks', 'l')]",
            json!("/a/b/providers/Microsoft.Authorization/locks/l"),
        ),
    ]
}

fn about_texts_and_numbers() -> Cases {
    vec![
        (
            "[if(equals(parameters('count'), 2), 'two', variables('absent'))]",
            json!("two"),
        ),
        (
            "[and(not(false()), or(true(), false()), bool('true'))]",
            json!(true),
        ),
        ("[add(mul(2, 3), sub(mod(7, 4), div(9, 2)))]", json!(5)),
        ("[min(3, 1, 2)]", json!(1)),
        ("[max(createArray(3, 1))]", json!(3)),
        ("[int('42')]", json!(42)),
        ("[string(createObject('a', 1))]", json!("{\"a\":1}")),
        ("[format('{0}-{1:D3}{{x}}', 'a', 7)]", json!("a-007{x}")),
        ("[toUpper(substring('hello', 1, 3))]", json!("ELL")),
        (
            "[split('a,b;c', createArray(',', ';'))]",
            json!(["a", "b", "c"]),
        ),
        ("[join(parameters('list'), '+')]", json!("a+b+b")),
    ]
}

fn about_lists() -> Cases {
    vec![
        (
            "[union(parameters('list'), createArray('c'))]",
            json!(["a", "b", "c"]),
        ),
        (
            "[union(parameters('object'), json('{\"a\":{\"d\":3}}'))]",
            json!({"a": {"b": 1, "d": 3}, "c": 2}),
        ),
        ("[contains(parameters('object'), 'A')]", json!(true)),
        ("[contains('abc', 'b')]", json!(true)),
        ("[length(parameters('list'))]", json!(3)),
        ("[first(parameters('list'))]", json!("a")),
        ("[last('abc')]", json!("c")),
        ("[take(skip(range(0, 5), 1), 2)]", json!([1, 2])),
        ("[empty('')]", json!(true)),
        ("[coalesce(null(), 'x')]", json!("x")),
        ("[replace('a-b', '-', '_')]", json!("a_b")),
        ("[padLeft('7', 3, '0')]", json!("007")),
        ("[base64('hi?>')]", json!("aGk/Pg==")),
        ("[base64ToString(base64('hi'))]", json!("hi")),
        ("[indexOf('aXb', 'x')]", json!(1)),
        ("[lastIndexOf('abab', 'z')]", json!(-1)),
        ("[startsWith('abc', 'AB')]", json!(true)),
        ("[endsWith('abc', 'BC')]", json!(true)),
        ("[uri('http://h/a/b', 'c')]", json!("http://h/a/c")),
        ("[uriComponent('a b')]", json!("a%20b")),
        ("[tryGet(parameters('object'), 'a', 'x')]", json!(null)),
        ("[parameters('object')['a'].b]", json!(1)),
        ("[greaterOrEquals(2, 2)]", json!(true)),
        ("[trim('  x ')]", json!("x")),
    ]
}

#[test]
fn functions_give_what_azure_documents() {
    let cases = about_the_deployment()
        .into_iter()
        .chain(about_texts_and_numbers())
        .chain(about_lists());
    for (given, expected) in cases {
        assert_eq!(evaluate(&json!(given), None).0, Ok(expected), "{given}");
    }
    let unique = evaluate(&json!("[uniqueString('a', 'b')]"), None).0;
    let unique = unique.expect("a text");
    assert_eq!(unique.as_str().map(str::len), Some(13));
    assert_eq!(
        evaluate(&json!("[uniqueString('a', 'b')]"), None).0,
        Ok(unique)
    );
    let newest = evaluate(
        &json!("[providers('Microsoft.Compute', 'virtualMachines').apiVersions[0]]"),
        None,
    );
    assert_eq!(newest.0, Ok(json!("2026-04-01")));
}

#[test]
fn what_waits_for_a_resource_is_worked_out_around_it() {
    let given = json!({"id": "[concat(reference(variables('nic'), '2022-01-01').list[0].x, parameters('name'))]"});
    let (waiting, _) = evaluate(&given, None);
    let waiting = waiting.expect("an expression");
    assert_eq!(
        waiting,
        json!({"id": "[concat(reference('vm-nic', '2022-01-01').list[0].x, 'vm')]"})
    );
    assert_eq!(awaited(&waiting), vec!["vm-nic".to_owned()]);
    assert_eq!(evaluate(&waiting, Some(&Ready)).0, Ok(json!({"id": "7vm"})));
    let full = json!("[reference('x', '2022-01-01', 'Full').full]");
    assert_eq!(evaluate(&full, Some(&Ready)).0, Ok(json!(true)));
}

#[test]
fn a_draft_comes_to_the_same_when_it_is_worked_out_again() {
    let surroundings = surroundings();
    let none = Map::new();
    let known = RefCell::default();
    let scope = Scope::new(&surroundings, &none, &[], &none, &known);
    let given = json!({"a": "[[x]", "b": "[concat('[', 'y', ']')]", "c": "[json('[\"[z]\"]')]",
        "copy": [{"name": "d", "count": 2, "input": "[concat('[', string(copyIndex('d')), ']')]"}]});
    let finished = json!({"a": "[x]", "b": "[y]", "c": ["[z]"], "d": ["[0]", "[1]"]});
    assert_eq!(scope.value(&given), Ok(finished.clone()));
    let draft = scope.draft(&given).expect("a draft");
    assert_eq!(scope.value(&draft), Ok(finished));
}

#[test]
fn secrets_are_noticed_through_variables_too() {
    for (given, secret) in [
        ("[parameters('name')]", false),
        ("[parameters('password')]", true),
        ("[variables('hidden')]", true),
        ("[if(parameters('flag'), 'x', variables('hidden'))]", false),
    ] {
        assert_eq!(evaluate(&json!(given), None).1, secret, "{given}");
    }
}

#[test]
fn mistakes_are_told_and_end() {
    for (given, told) in [
        (
            "[parameters('absent')]",
            "The template parameter 'absent' is not found",
        ),
        (
            "[variables('absent')]",
            "The template variable 'absent' is not found",
        ),
        ("[variables('loop')]", "Circular dependency"),
        (
            "[frobnicate()]",
            "The template function 'frobnicate' is not valid",
        ),
        (
            "[listKeys('x', 'y')]",
            "does not serve the template function 'listKeys'",
        ),
        (
            "[parameters('object').z]",
            "property 'z' doesn't exist, available properties are 'a, c'",
        ),
        (
            "[parameters('list')[9]]",
            "array index '9' is out of bounds",
        ),
        (
            "[toLower(1)]",
            "Unable to evaluate the template function 'toLower'",
        ),
        ("[div(1, 0)]", "has no result"),
        ("[copyIndex()]", "is not expected at this location"),
        (
            "[resourceId('Microsoft.Network/virtualNetworks')]",
            "requires '1' resource name",
        ),
        (
            "[resourceId('x')]",
            "requires fully qualified resource type",
        ),
        (
            "[substring('abc', 2, 5)]",
            "must refer to a location within the string",
        ),
        (
            "[if('x', 1, 2)]",
            "expects its first parameter to be a boolean",
        ),
        ("[format('{0:N2}', 1)]", "does not serve"),
    ] {
        let error = evaluate(&json!(given), None)
            .0
            .expect_err(given)
            .to_string();
        assert!(error.contains(told), "{given}: {error}");
    }
}
