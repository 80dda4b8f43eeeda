//! Counting requests by kind, such as `virtualMachines/list`.

use std::collections::BTreeMap;

use azure_core::Url;

/// How many requests were sent to ARM, retries included. Token requests are not among them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestCounts {
    /// All of them.
    pub total: u64,
    /// The same by kind.
    pub by_kind: BTreeMap<String, u64>,
}

impl RequestCounts {
    /// Counts one more.
    pub(crate) fn add(&mut self, kind: &str) {
        self.total += 1;
        *self.by_kind.entry(kind.to_owned()).or_default() += 1;
    }
}

/// What kind of request this is: the last type of its path and what is done with it.
pub(crate) fn kind_of(method: &str, url: &Url) -> String {
    let segments: Vec<&str> = url
        .path_segments()
        .map(|segments| segments.filter(|segment| !segment.is_empty()).collect())
        .unwrap_or_default();
    // After the last `providers/<namespace>` types and names take turns; before any, the
    // `subscriptions/<id>/resourceGroups/<name>` part does the same.
    let below = segments
        .iter()
        .rposition(|segment| segment.eq_ignore_ascii_case("providers"))
        .map_or(0, |at| at + 2);
    let below: Vec<&str> = segments.into_iter().skip(below).collect();
    let names_one = !below.is_empty() && below.len().is_multiple_of(2);
    let verb = match method {
        "POST" => {
            let action = below.last().copied().unwrap_or("post");
            let kind = below.len().checked_sub(3).and_then(|at| below.get(at));
            return format!("{}/{action}", kind.copied().unwrap_or("subscriptions"));
        }
        "GET" if names_one => "get".to_owned(),
        "GET" if url.query_pairs().any(|(name, _)| name == "statusOnly") => "status".to_owned(),
        "GET" => "list".to_owned(),
        other => other.to_lowercase(),
    };
    let last_type = below.len().checked_sub(if names_one { 2 } else { 1 });
    let kind = last_type
        .and_then(|at| below.get(at))
        .copied()
        .unwrap_or("subscriptions");
    let kind = if kind.eq_ignore_ascii_case("resourcegroups") {
        "resourceGroups"
    } else {
        kind
    };
    format!("{kind}/{verb}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_name_the_type_and_what_is_done() {
        let check = |method: &str, path: &str, expected: &str| {
            let url = Url::parse(&format!("https://arm.test{path}")).expect("a url");
            assert_eq!(kind_of(method, &url), expected, "{path}");
        };
        let group = "/subscriptions/s/resourceGroups/rg";
        let vms = format!("{group}/providers/Microsoft.Compute/virtualMachines");
        check("GET", &vms, "virtualMachines/list");
        check(
            "GET",
            &format!("{vms}/vm?$expand=instanceView"),
            "virtualMachines/get",
        );
        check("PUT", &format!("{vms}/vm"), "virtualMachines/put");
        check(
            "POST",
            &format!("{vms}/vm/deallocate"),
            "virtualMachines/deallocate",
        );
        check(
            "PATCH",
            &format!("{vms}/vm/providers/Microsoft.Resources/tags/default"),
            "tags/patch",
        );
        check(
            "GET",
            "/subscriptions/s/providers/Microsoft.Compute/virtualMachines?statusOnly=true",
            "virtualMachines/status",
        );
        check(
            "GET",
            "/subscriptions/s/resourcegroups/rg",
            "resourceGroups/get",
        );
        check("DELETE", group, "resourceGroups/delete");
        check(
            "GET",
            "/subscriptions/s/resources?$filter=x",
            "resources/list",
        );
        check("GET", "/subscriptions", "subscriptions/list");
        check(
            "GET",
            "/subscriptions/s/providers/Microsoft.Compute/locations/eastus/usages",
            "usages/list",
        );
        check(
            "GET",
            "/subscriptions/s/providers/Microsoft.Network/locations/eastus/operations/1",
            "operations/get",
        );
        check(
            "GET",
            "/subscriptions/s/operationresults/token",
            "operationresults/get",
        );
        check("GET", "/", "subscriptions/list");
    }
}
