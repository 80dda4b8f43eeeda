//! Template deployments: what comes of them, in which order, and how they fail.

use serde_json::{Value, json};
use tensorform_emulator::{Options, World};

use crate::rig::{Reply, Rig, SUBSCRIPTION};

const SCHEMA: &str =
    "https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#";

pub(crate) fn path(rest: &str) -> String {
    format!(
        "/subscriptions/{SUBSCRIPTION}/resourcegroups/rg/providers/Microsoft.Resources/deployments/{rest}?api-version=2022-09-01"
    )
}

fn resource(kind: &str, name: &str) -> String {
    format!("/subscriptions/{SUBSCRIPTION}/resourceGroups/rg/providers/{kind}/{name}")
}

const AUTHORIZED: [(&str, &str); 1] = [("authorization", "Bearer x")];

pub(crate) async fn send(rig: &Rig, method: &str, path: &str, body: Option<&str>) -> Reply {
    let reply = rig.try_send(method, path, &AUTHORIZED, body).await;
    reply.expect("an answer")
}

/// A body as the Azure CLI sends it: the template stands under a name without quotes.
pub(crate) fn body(template: &Value, parameters: &Value) -> String {
    format!(
        "{{\"properties\": {{\"mode\": \"incremental\", \"parameters\": {parameters}, template:{{ // made by hand\n{}}}}}",
        template.to_string().trim_start_matches('{')
    )
}

pub(crate) fn template(resources: &Value, more: &Value) -> Value {
    let mut template = json!({
        "$schema": SCHEMA,
        "contentVersion": "1.0.0.0",
        "resources": resources,
    });
    if let (Some(template), Some(more)) = (template.as_object_mut(), more.as_object()) {
        template.extend(more.clone());
    }
    template
}

/// A template as `az vm create` makes it, with the VM first.
fn of_a_machine(size: &str) -> Value {
    let network = resource("Microsoft.Network/virtualNetworks", "vmVNET");
    let nic = resource("Microsoft.Network/networkInterfaces", "vmVMNic");
    let address = resource("Microsoft.Network/publicIPAddresses", "vmPublicIP");
    template(
        &json!([
            {
                "apiVersion": "2024-07-01", "type": "Microsoft.Compute/virtualMachines",
                "name": "vm", "location": "eastus", "tags": {},
                "dependsOn": ["Microsoft.Network/networkInterfaces/vmVMNic"],
                "properties": {
                    "hardwareProfile": {"vmSize": size},
                    "networkProfile": {"networkInterfaces": [{"id": nic, "properties": {"deleteOption": null}}]},
                    "storageProfile": {
                        "osDisk": {"createOption": "fromImage", "name": null, "caching": "ReadWrite", "managedDisk": {"storageAccountType": null}},
                        "imageReference": {"publisher": "microsoft-dsvm", "offer": "ubuntu-2204", "sku": "2204-gen2", "version": "latest"},
                    },
                    "osProfile": {"computerName": "vm", "adminUsername": "azureuser", "adminPassword": "[parameters('adminPassword')]"},
                },
            },
            {
                "apiVersion": "2015-06-15", "type": "Microsoft.Network/networkInterfaces",
                "name": "vmVMNic", "location": "eastus", "tags": {},
                "dependsOn": ["Microsoft.Network/virtualNetworks/vmVNET", "Microsoft.Network/publicIpAddresses/vmPublicIP"],
                "properties": {"ipConfigurations": [{"name": "ipconfigvm", "properties": {
                    "privateIPAllocationMethod": "Dynamic",
                    "subnet": {"id": format!("{network}/subnets/vmSubnet")},
                    "publicIPAddress": {"id": address},
                }}]},
            },
            {
                "apiVersion": "2022-01-01", "type": "Microsoft.Network/publicIPAddresses",
                "name": "vmPublicIP", "location": "eastus", "tags": {}, "dependsOn": [],
                "properties": {"publicIPAllocationMethod": "Static"}, "sku": {"name": "Standard"},
            },
            {
                "name": "vmVNET", "type": "Microsoft.Network/virtualNetworks", "location": "eastus",
                "apiVersion": "2015-06-15", "dependsOn": [], "tags": {},
                "properties": {
                    "addressSpace": {"addressPrefixes": ["10.0.0.0/16"]},
                    "subnets": [{"name": "vmSubnet", "properties": {"addressPrefix": "10.0.0.0/24"}}],
                },
            },
        ]),
        &json!({
            "parameters": {"adminPassword": {"type": "securestring"}},
            "outputs": {"VM": {
                "type": "object",
                "value": "[reference(resourceId('Microsoft.Compute/virtualMachines', 'vm'), providers('Microsoft.Compute', 'virtualMachines').apiVersions[0])]",
            }},
        }),
    )
}

fn password() -> Value {
    json!({"adminPassword": {"value": "not-Kept-1"}})
}

/// Lets time pass until a deployment is over, and answers it.
async fn over(rig: &Rig, name: &str) -> Reply {
    for _ in 0..600 {
        let shown = send(rig, "GET", &path(name), None).await.expect(200);
        let state = shown.text("/properties/provisioningState");
        if state != "Accepted" && state != "Running" {
            return shown;
        }
        rig.pass(1);
    }
    panic!("{name} does not end");
}

#[tokio::test]
async fn a_machine_comes_up_in_the_order_that_its_template_asks_for() {
    let rig = Rig::faulty("rules: []").await;
    let sent = body(&of_a_machine("Standard_D4s_v5"), &password());
    let begun = send(&rig, "PUT", &path("vm_deploy"), Some(&sent)).await;
    let begun = begun.expect(201);
    assert_eq!(begun.text("/properties/provisioningState"), "Accepted");
    assert_eq!(
        begun.body.pointer("/properties/parameters"),
        Some(&json!({"adminPassword": {"type": "SecureString"}}))
    );
    assert_eq!(
        begun.text("/properties/dependencies/1/dependsOn/1/resourceType"),
        "Microsoft.Network/publicIPAddresses"
    );
    let operation = begun.header("azure-asyncoperation").to_owned();
    assert!(
        operation.contains("/vm_deploy/operationStatuses/085"),
        "{operation}"
    );
    let operation = operation
        .trim_start_matches(rig.sandbox.endpoint())
        .to_owned();
    let network = format!(
        "{}?api-version=2024-03-01",
        resource("Microsoft.Network/virtualNetworks", "vmVNET")
    );
    let nic = format!(
        "{}?api-version=2024-03-01",
        resource("Microsoft.Network/networkInterfaces", "vmVMNic")
    );
    // The network is being written, and what needs it is not there yet.
    let status = send(&rig, "GET", &operation, None).await.expect(200);
    assert_eq!(status.body, json!({"status": "Running"}));
    let shown = send(&rig, "GET", &network, None).await.expect(200);
    assert_eq!(shown.text("/properties/provisioningState"), "Updating");
    send(&rig, "GET", &nic, None).await.expect(404);
    rig.pass(3);
    send(&rig, "GET", &nic, None).await.expect(200);
    let done = over(&rig, "vm_deploy").await;
    assert_eq!(done.text("/properties/provisioningState"), "Succeeded");
    assert_eq!(done.text("/properties/duration"), "PT10.1000000S");
    assert_eq!(
        done.text("/properties/outputs/vm/value/hardwareProfile/vmSize"),
        "Standard_D4s_v5"
    );
    let vm = resource("Microsoft.Compute/virtualMachines", "vm");
    let vm = send(&rig, "GET", &format!("{vm}?api-version=2024-07-01"), None).await;
    assert_eq!(
        vm.text("/properties/storageProfile/osDisk/createOption"),
        "FromImage",
        "the template said `fromImage`"
    );
    let made = done.body.pointer("/properties/outputResources");
    assert_eq!(made.and_then(Value::as_array).map(Vec::len), Some(4));
    let status = send(&rig, "GET", &operation, None).await.expect(200);
    assert_eq!(status.body, json!({"status": "Succeeded"}));
}

#[tokio::test]
async fn deployments_and_their_operations_are_listed_and_can_be_repeated() {
    let rig = Rig::faulty("rules: []").await;
    let sent = body(&of_a_machine("Standard_D4s_v5"), &password());
    send(&rig, "PUT", &path("vm_deploy"), Some(&sent))
        .await
        .expect(201);
    over(&rig, "vm_deploy").await;
    let list = send(&rig, "GET", &path("vm_deploy/operations"), None).await;
    assert_eq!(list.expect(200).items().len(), 5);
    let older = format!(
        "/subscriptions/{SUBSCRIPTION}/resourcegroups/rg/deployments/vm_deploy/operations?api-version=2019-07-01"
    );
    let list = send(&rig, "GET", &older, None).await.expect(200);
    assert_eq!(
        list.items()
            .last()
            .and_then(|last| last.pointer("/properties/provisioningOperation")),
        Some(&json!("EvaluateDeploymentOutput"))
    );
    let all = send(&rig, "GET", &path(""), None).await.expect(200);
    assert_eq!(all.items().len(), 1);
    // The same once more changes nothing and answers 200.
    let again = send(&rig, "PUT", &path("VM_DEPLOY"), Some(&sent))
        .await
        .expect(200);
    assert_eq!(again.text("/name"), "vm_deploy");
    assert_eq!(
        over(&rig, "vm_deploy")
            .await
            .text("/properties/provisioningState"),
        "Succeeded"
    );
}

#[tokio::test]
async fn validate_says_what_would_happen_and_changes_nothing() {
    let rig = Rig::faulty("rules: []").await;
    let sent = body(&of_a_machine("Standard_D4s_v5"), &password());
    let shown = send(&rig, "POST", &path("check/validate"), Some(&sent)).await;
    let shown = shown.expect(200);
    assert_eq!(shown.text("/properties/provisioningState"), "Succeeded");
    let resources = shown.body.pointer("/properties/validatedResources");
    assert_eq!(resources.and_then(Value::as_array).map(Vec::len), Some(4));
    send(&rig, "GET", &path("check"), None).await.expect(404);
    let all =
        format!("/subscriptions/{SUBSCRIPTION}/resourceGroups/rg/resources?api-version=2021-04-01");
    assert!(
        send(&rig, "GET", &all, None)
            .await
            .expect(200)
            .items()
            .is_empty()
    );
}

#[tokio::test]
async fn what_azure_sees_beforehand_is_refused_at_once() {
    let rig = Rig::faulty("rules: []").await;
    let quota = format!("/sandbox/quota/{SUBSCRIPTION}/eastus");
    let limits = json!({"standardDSv5Family": 2}).to_string();
    send(&rig, "PUT", &quota, Some(&limits)).await.expect(204);
    let sent = body(&of_a_machine("Standard_D4s_v5"), &password());
    let refused = send(&rig, "PUT", &path("d"), Some(&sent)).await.expect(400);
    assert_eq!(refused.code(), "InvalidTemplateDeployment");
    assert_eq!(refused.text("/error/details/0/code"), "QuotaExceeded");
    assert!(
        refused
            .text("/error/details/0/message")
            .contains("Current Limit: 2")
    );
    send(&rig, "GET", &path("d"), None).await.expect(404);
    let unknown = template(
        &json!([{"type": "Microsoft.Web/sites", "apiVersion": "2023-01-01", "name": "s", "location": "eastus"}]),
        &json!({}),
    );
    let refused = send(&rig, "PUT", &path("d"), Some(&body(&unknown, &json!({})))).await;
    let refused = refused.expect(400);
    assert_eq!(refused.text("/error/details/0/code"), "InvalidResourceType");
    assert_eq!(refused.header("x-tensorform-sandbox"), "type not served");
}

#[tokio::test]
async fn what_goes_wrong_on_the_way_ends_the_deployment_with_its_cause() {
    let rig = Rig::faulty(
        "rules:\n\
         - match: {method: PUT, type: Microsoft.Compute/virtualMachines}\n  \
           then: {fail_in_operation: {code: AllocationFailed}}\n",
    )
    .await;
    let sent = body(&of_a_machine("Standard_D4s_v5"), &password());
    let begun = send(&rig, "PUT", &path("d"), Some(&sent)).await.expect(201);
    let operation = begun.header("azure-asyncoperation").to_owned();
    let done = over(&rig, "d").await;
    assert_eq!(done.text("/properties/provisioningState"), "Failed");
    let details = "/properties/error/details/0";
    assert_eq!(
        done.text(&format!("{details}/code")),
        "ResourceDeploymentFailure"
    );
    assert_eq!(
        done.text(&format!("{details}/details/0/code")),
        "AllocationFailed"
    );
    let operation = operation
        .trim_start_matches(rig.sandbox.endpoint())
        .to_owned();
    let status = send(&rig, "GET", &operation, None).await.expect(200);
    assert_eq!(
        (status.text("/status"), status.code()),
        ("Failed", "DeploymentFailed")
    );
    let vm = format!(
        "{}?api-version=2024-07-01",
        resource("Microsoft.Compute/virtualMachines", "vm")
    );
    let vm = send(&rig, "GET", &vm, None).await.expect(200);
    assert_eq!(vm.text("/properties/provisioningState"), "Failed");
    let list = send(&rig, "GET", &path("d/operations"), None)
        .await
        .expect(200);
    let failed: Vec<&Value> = list
        .items()
        .iter()
        .filter(|item| item.pointer("/properties/provisioningState") == Some(&json!("Failed")))
        .collect();
    assert_eq!(failed.len(), 1);
    // An unknown size is told by the provider, and stands in the details as it said it.
    let sent = body(&of_a_machine("Standard_Nope"), &password());
    send(&rig, "PUT", &path("e"), Some(&sent)).await.expect(201);
    let done = over(&rig, "e").await;
    assert_eq!(done.text(&format!("{details}/code")), "InvalidParameter");
}

#[tokio::test]
async fn refusals_for_the_moment_are_tried_again() {
    let rig = Rig::faulty(
        "rules:\n\
         - match: {method: PUT, type: Microsoft.Network/virtualNetworks, count: 2}\n  \
           then: {throttle: {retry_after: 3}}\n",
    )
    .await;
    let sent = body(&of_a_machine("Standard_D4s_v5"), &password());
    send(&rig, "PUT", &path("d"), Some(&sent)).await.expect(201);
    let done = over(&rig, "d").await;
    assert_eq!(done.text("/properties/provisioningState"), "Succeeded");
    assert_eq!(done.text("/properties/duration"), "PT20.1000000S");
}

#[tokio::test]
async fn loops_conditions_and_children_become_resources() {
    let rig = Rig::faulty("rules: []").await;
    let resources = json!([
        {"type": "Microsoft.Network/virtualNetworks", "apiVersion": "2024-03-01",
         "name": "[concat(parameters('prefix'), copyIndex())]", "location": "[resourceGroup().location]",
         "copy": {"name": "nets", "count": "[parameters('count')]"},
         "properties": {"addressSpace": {"addressPrefixes": ["[format('10.{0}.0.0/16', copyIndex(1))]"]}},
         "resources": [{"type": "subnets", "apiVersion": "2024-03-01", "name": "default",
            "dependsOn": ["[concat(parameters('prefix'), copyIndex())]"],
            "properties": {"addressPrefix": "[format('10.{0}.1.0/24', copyIndex(1))]"}}]},
        {"type": "Microsoft.Network/networkSecurityGroups", "apiVersion": "2024-03-01", "name": "nsg",
         "location": "eastus", "condition": "[greater(parameters('count'), 5)]"},
        {"type": "Microsoft.Compute/disks", "apiVersion": "2024-03-02", "name": "disk", "location": "eastus",
         "dependsOn": ["nets", "nsg"], "sku": {"name": "Standard_LRS"},
         "tags": {"first": "[reference('x0').addressSpace.addressPrefixes[0]]", "plain": "[[x]"},
         "properties": {"creationData": {"createOption": "Empty"}, "diskSizeGB": 4}},
    ]);
    let more = json!({
        "parameters": {"prefix": {"type": "string", "defaultValue": "x"}, "count": {"type": "int", "maxValue": 9}},
        "outputs": {"prefixes": {"type": "array", "copy": {"count": 1, "input": "unused"}, "value": "[createArray(reference('x1').addressSpace.addressPrefixes[0])]"}},
    });
    let sent = body(
        &template(&resources, &more),
        &json!({"count": {"value": 2}}),
    );
    send(&rig, "PUT", &path("d"), Some(&sent)).await.expect(201);
    let done = over(&rig, "d").await;
    assert_eq!(
        done.text("/properties/provisioningState"),
        "Succeeded",
        "{}",
        done.body
    );
    assert_eq!(
        done.body.pointer("/properties/outputs/prefixes/value"),
        Some(&json!(["10.2.0.0/16"]))
    );
    let made = done.body.pointer("/properties/outputResources");
    assert_eq!(made.and_then(Value::as_array).map(Vec::len), Some(5));
    let disk = format!(
        "{}?api-version=2024-03-02",
        resource("Microsoft.Compute/disks", "disk")
    );
    let disk = send(&rig, "GET", &disk, None).await.expect(200);
    assert_eq!(
        disk.body.pointer("/tags"),
        Some(&json!({"first": "10.1.0.0/16", "plain": "[x]"}))
    );
}

/// A balancer as `az vmss create` puts it before a scale set.
fn of_a_balancer() -> Value {
    let front = "[concat(resourceId('Microsoft.Network/loadBalancers', 'lb'), '/frontendIPConfigurations/front')]";
    let pool = "[concat(resourceId('Microsoft.Network/loadBalancers', 'lb'), '/backendAddressPools/pool')]";
    let address = "[resourceId('Microsoft.Network/publicIPAddresses', 'ip')]";
    json!([
        {"type": "Microsoft.Network/publicIPAddresses", "apiVersion": "2022-01-01", "name": "ip",
         "location": "eastus", "sku": {"name": "Standard"}, "properties": {"publicIPAllocationMethod": "Static"}},
        {"type": "Microsoft.Network/loadBalancers", "apiVersion": "2022-01-01", "name": "lb", "location": "eastus",
         "dependsOn": ["Microsoft.Network/publicIpAddresses/ip"], "sku": {"name": "Standard"},
         "properties": {
            "backendAddressPools": [{"name": "pool"}],
            "frontendIPConfigurations": [{"name": "front", "properties": {"publicIPAddress": {"id": address}}}]}},
        {"type": "Microsoft.Network/loadBalancers/inboundNatRules", "apiVersion": "2022-01-01", "name": "lb/NatRule",
         "location": "eastus", "dependsOn": ["[concat('Microsoft.Network/loadBalancers/', 'lb')]"],
         "properties": {
            "frontendIPConfiguration": {"id": front}, "backendAddressPool": {"id": pool}, "backendPort": 22,
            "frontendPortRangeStart": "50000", "frontendPortRangeEnd": "50119", "protocol": "tcp"}},
    ])
}

#[tokio::test]
#[expect(clippy::too_many_lines, reason = "a template and what it makes")]
async fn a_balancer_gets_the_rule_that_scale_sets_are_made_with() {
    let rig = Rig::faulty("rules: []").await;
    let resources = of_a_balancer();
    let sent = body(&template(&resources, &json!({})), &json!({}));
    send(&rig, "PUT", &path("d"), Some(&sent)).await.expect(201);
    let done = over(&rig, "d").await;
    assert_eq!(
        done.text("/properties/provisioningState"),
        "Succeeded",
        "{}",
        done.body
    );
    let balancer = resource("Microsoft.Network/loadBalancers", "lb");
    let shown = send(
        &rig,
        "GET",
        &format!("{balancer}?api-version=2024-03-01"),
        None,
    )
    .await;
    let shown = shown.expect(200);
    assert_eq!(shown.text("/properties/inboundNatRules/0/name"), "NatRule");
    // Spelled as the schema wants it, whatever the template said.
    let rule = "/properties/inboundNatRules/0/properties";
    assert_eq!(shown.text(&format!("{rule}/protocol")), "Tcp");
    let first = shown
        .body
        .pointer(&format!("{rule}/frontendPortRangeStart"));
    assert_eq!(first, Some(&json!(50_000)));
    for member in [
        "allowBackendPortConflict",
        "enableDestinationServiceEndpoint",
    ] {
        let found = shown.body.pointer(&format!("{rule}/{member}"));
        assert_eq!(found, None, "{member}");
    }
    assert_eq!(shown.text("/properties/backendAddressPools/0/name"), "pool");
    let rules = format!("{balancer}/inboundNatRules");
    let one = send(
        &rig,
        "GET",
        &format!("{rules}/natrule?api-version=2024-03-01"),
        None,
    )
    .await;
    assert_eq!(
        one.expect(200).text("/properties/provisioningState"),
        "Succeeded"
    );
    let all = send(
        &rig,
        "GET",
        &format!("{rules}?api-version=2024-03-01"),
        None,
    )
    .await;
    assert_eq!(all.expect(200).items().len(), 1);
    let absent = send(
        &rig,
        "GET",
        &format!("{rules}/other?api-version=2024-03-01"),
        None,
    )
    .await;
    absent.expect(404);
}

#[tokio::test]
async fn a_deployment_goes_on_after_a_restart_and_the_folder_has_no_password() {
    let folder = tempfile::tempdir().expect("a folder");
    let open = || match World::open(folder.path()).expect("a world") {
        tensorform_emulator::Opened::Serve(world) => *world,
        tensorform_emulator::Opened::Connect(url) => panic!("served at {url}"),
    };
    let clock = tensorform_emulator::Clock::manual();
    let rig = Rig::serving(open(), clock.clone(), |options: Options| options).await;
    rig.group("rg").await;
    let sent = body(&of_a_machine("Standard_D4s_v5"), &password());
    send(&rig, "PUT", &path("d"), Some(&sent)).await.expect(201);
    send(&rig, "GET", &path("d"), None).await.expect(200);
    for file in std::fs::read_dir(folder.path()).expect("files") {
        let text = std::fs::read_to_string(file.expect("a file").path()).unwrap_or_default();
        assert!(!text.contains("not-Kept-1"), "{text}");
    }
    rig.sandbox.stop().await.expect("an end");
    let rig = Rig::serving(open(), clock, |options: Options| options).await;
    let done = over(&rig, "d").await;
    // What holds a secret went with the process; all else was written.
    assert_eq!(
        done.text("/properties/error/details/0/code"),
        "SandboxSecretLost"
    );
    let nic = format!(
        "{}?api-version=2024-03-01",
        resource("Microsoft.Network/networkInterfaces", "vmVMNic")
    );
    send(&rig, "GET", &nic, None).await.expect(200);
}
