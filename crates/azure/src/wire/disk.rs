//! Managed disks.

use model::resource::Disk;
use serde_json::{Value, json};

use super::{
    DecodeError,
    fields::{disk_type, disk_type_name, location, required, required_number, zones},
};

pub(super) fn encode(disk: &Disk) -> Value {
    let Disk {
        location,
        zones,
        disk_type,
        size_gb,
    } = disk;
    let mut body = json!({
        "location": location,
        "sku": { "name": disk_type_name(*disk_type) },
        "properties": {
            "creationData": { "createOption": "Empty" },
            "diskSizeGB": size_gb,
        },
    });
    if !zones.is_empty() {
        body["zones"] = json!(zones);
    }
    body
}

pub(super) fn decode(body: &Value) -> Result<Disk, DecodeError> {
    Ok(Disk {
        location: location(body)?,
        zones: zones(body),
        disk_type: disk_type(required(body, "/sku/name")?, "/sku/name")?,
        size_gb: required_number(body, "/properties/diskSizeGB")?,
    })
}
