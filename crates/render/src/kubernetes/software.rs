//! What is installed, in pinned versions.

use serde_json::Value;

/// Software of clusters, with the source and the day of each version.
const SOFTWARE: &str = include_str!("../../../../manifests/cluster_software.json");

/// A row of the table.
pub(super) struct Pinned {
    /// The name of an image, or where a chart is.
    pub(super) reference: String,
    /// The version.
    pub(super) version: String,
}

impl Pinned {
    /// As an image.
    pub(super) fn image(&self) -> String {
        format!("{}:{}", self.reference, self.version)
    }
}

/// The row of a software.
pub(super) fn pinned(name: &str) -> Pinned {
    let rows: Vec<Value> =
        serde_json::from_str(SOFTWARE).expect("the table is JSON, which a test tries");
    let row = rows.into_iter().find(|row| row["name"] == name);
    let cell = |column: &str| {
        let cell = row.as_ref().and_then(|row| row[column].as_str());
        cell.expect("the table has every software that is named here, which a test tries")
            .to_owned()
    };
    Pinned {
        reference: cell("reference"),
        version: cell("version"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::{SOFTWARE, pinned};

    #[test]
    fn every_software_is_pinned_with_its_source_and_day() {
        let rows: Vec<Value> = serde_json::from_str(SOFTWARE).expect("a table");
        for row in &rows {
            for column in ["name", "reference", "version", "source", "as_of"] {
                let cell = row[column].as_str().unwrap_or_default();
                assert!(!cell.is_empty(), "{column} of {row}");
            }
            let version = row["version"].as_str().unwrap_or_default();
            assert!(!version.contains("latest"), "{row}");
            assert_eq!(row["as_of"].as_str().map(str::len), Some(10), "{row}");
        }
        let modules = [
            include_str!("manifests.rs"),
            include_str!("operators.rs"),
            include_str!("checks.rs"),
        ];
        let asked: Vec<&str> = modules
            .iter()
            .flat_map(|text| text.split("pinned(\"").skip(1))
            .filter_map(|text| text.split('"').next())
            .collect();
        for name in &asked {
            assert!(!pinned(name).version.is_empty());
        }
        for row in rows {
            let name = row["name"].as_str().unwrap_or_default();
            assert!(asked.contains(&name), "nothing installs {name}");
        }
    }
}
