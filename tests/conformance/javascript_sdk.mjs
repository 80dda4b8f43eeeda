// What the Azure SDK for JavaScript does; `parts/javascript_sdk.py` runs it.
import assert from "node:assert/strict";
import { appendFileSync } from "node:fs";
import { ComputeManagementClient } from "@azure/arm-compute";
import { NetworkManagementClient } from "@azure/arm-network";
import { ResourceManagementClient } from "@azure/arm-resources";

const { ENDPOINT: endpoint, SUBSCRIPTION: subscription, CONFORMANCE_RESULTS: results } = process.env;
const credential = { getToken: async () => ({ token: "any", expiresOnTimestamp: Date.now() + 3_600_000 }) };
const options = { endpoint, credentials: { scopes: ["https://management.azure.com/.default"] } };
const compute = new ComputeManagementClient(credential, subscription, options);
const network = new NetworkManagementClient(credential, subscription, options);
const resources = new ResourceManagementClient(credential, subscription, options);
const group = "js";
const location = "eastus";
const fast = { updateIntervalInMs: 0 };
let failed = 0;

async function step(name, client, act) {
  const begin = Date.now();
  let why = null;
  try {
    await act();
  } catch (error) {
    console.error(error);
    failed += 1;
    why = `${error.code ?? error.name}: ${error.message}`.split("\n")[0].slice(0, 160);
  }
  const outcome = why ? "failed" : "passed";
  const entry = { outcome, step: name, client, seconds: (Date.now() - begin) / 1000, why };
  appendFileSync(results, `${JSON.stringify(entry)}\n`);
}

async function power(name) {
  const view = await compute.virtualMachines.instanceView(group, name);
  return view.statuses.find((status) => status.code.startsWith("PowerState/")).code;
}

const [publisher, offer, sku, version] = process.env.IMAGE.split(":");
const machines = compute.virtualMachines;
let nic;

await step("create a group, a network and a NIC", "arm-network 36.0.0", async () => {
  await resources.resourceGroups.createOrUpdate(group, { location });
  const made = await network.virtualNetworks.beginCreateOrUpdateAndWait(group, "net", {
    location,
    addressSpace: { addressPrefixes: ["10.0.0.0/16"] },
    subnets: [{ name: "default", addressPrefix: "10.0.0.0/24" }],
  }, fast);
  nic = await network.networkInterfaces.beginCreateOrUpdateAndWait(group, "nic", {
    location,
    ipConfigurations: [{ name: "ip", subnet: { id: made.subnets[0].id } }],
  }, fast);
});
await step("create a VM", "arm-compute 24.1.0", async () => {
  const vm = await machines.createOrUpdate(group, "vm", {
    location,
    hardwareProfile: { vmSize: "Standard_D4s_v5" },
    storageProfile: {
      imageReference: { publisher, offer, sku, version },
      osDisk: { createOption: "FromImage", deleteOption: "Delete" },
    },
    osProfile: {
      computerName: "vm",
      adminUsername: "azureuser",
      linuxConfiguration: {
        disablePasswordAuthentication: true,
        ssh: { publicKeys: [{ path: "/home/azureuser/.ssh/authorized_keys", keyData: process.env.SSH_KEY }] },
      },
    },
    networkProfile: { networkInterfaces: [{ id: nic.id }] },
  }, fast);
  assert.equal(vm.provisioningState, "Succeeded");
  assert.equal(await power("vm"), "PowerState/running");
});
await step("list VMs", "arm-compute 24.1.0", async () => {
  const names = [];
  for await (const vm of machines.listAll()) names.push(vm.name);
  assert.deepEqual(names, ["vm"]);
});
await step("deallocate", "arm-compute 24.1.0", async () => {
  await machines.deallocate(group, "vm", fast);
  assert.equal(await power("vm"), "PowerState/deallocated");
});
await step("start", "arm-compute 24.1.0", async () => {
  await machines.start(group, "vm", fast);
  assert.equal(await power("vm"), "PowerState/running");
});
await step("an unknown size is refused", "arm-compute 24.1.0", async () => {
  await assert.rejects(
    async () => machines.update(group, "vm", { hardwareProfile: { vmSize: "Standard_Nope" } }, fast),
    (error) => error.statusCode === 400 && error.code === "InvalidParameter",
  );
});
await step("delete the VM, its NIC and the group", "arm-compute 24.1.0", async () => {
  await machines.delete(group, "vm", fast);
  await assert.rejects(machines.get(group, "vm"), (error) => error.statusCode === 404);
  await network.networkInterfaces.beginDeleteAndWait(group, "nic", fast);
  await resources.resourceGroups.beginDeleteAndWait(group, fast);
  await assert.rejects(resources.resourceGroups.get(group), (error) => error.code === "ResourceGroupNotFound");
});
process.exit(failed ? 1 : 0);
