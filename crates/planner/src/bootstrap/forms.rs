//! The forms in which a bootstrap reaches a node.

use serde_json::json;

use super::files::{FOLDER, File, Node, UNIT, files, quoted};

/// The bootstrap for cloud-init: its first line, and JSON, which is YAML that nothing misreads.
pub fn cloud_config(node: Node<'_>) -> String {
    let files: Vec<_> = files(node)
        .into_iter()
        .map(|file| {
            let File {
                path,
                permissions,
                text,
            } = file;
            json!({
                "path": path,
                "owner": "root:root",
                "permissions": permissions,
                "content": text,
            })
        })
        .collect();
    let document = json!({
        "write_files": files,
        "runcmd": [
            ["systemctl", "daemon-reload"],
            ["systemctl", "enable", "--now", UNIT],
        ],
    });
    format!("#cloud-config\n{document}\n")
}

/// The bootstrap as one shell script, which writes its files and runs it.
pub fn shell(node: Node<'_>) -> String {
    let mut script = format!("#!/bin/bash\nset -eu\numask 022\nmkdir -p {FOLDER}/steps\n");
    for file in files(node) {
        let File {
            path,
            permissions,
            text,
        } = file;
        let mut end = "TENSORFORM_END".to_owned();
        while text.lines().any(|line| line == end) {
            end.push('_');
        }
        let last = if text.ends_with('\n') || text.is_empty() {
            ""
        } else {
            "\n"
        };
        let path = quoted(&path);
        let write =
            format!("install -m {permissions} /dev/stdin {path} <<'{end}'\n{text}{last}{end}\n");
        script.push_str(&write);
    }
    script + "exec " + FOLDER + "/run\n"
}

#[cfg(test)]
mod tests {
    use model::plan::Setup;
    use serde_json::Value;

    use super::*;

    const SCRIPT: &str = "#!/bin/bash\necho \"it's\" $HOME\nTENSORFORM_END\n";

    fn node() -> Node<'static> {
        static SETUP: Setup = Setup {
            start_task: false,
            scratch: true,
            mounts: Vec::new(),
            containers: None,
            checkpoint: None,
            server: None,
        };
        Node {
            setup: &SETUP,
            local_disks: Some(8),
            script: Some(SCRIPT),
        }
    }

    #[test]
    fn cloud_init_gets_its_line_and_a_document_with_every_file() {
        let text = cloud_config(node());
        let document = text
            .strip_prefix("#cloud-config\n")
            .expect("the first line");
        let document: Value = serde_json::from_str(document).expect("JSON");
        let written = document["write_files"].as_array().expect("files");
        assert_eq!(written.len(), files(node()).len());
        let script = written.iter().find(|file| file["content"] == SCRIPT);
        assert_eq!(
            script.map(|file| &file["permissions"]),
            Some(&"0700".into())
        );
    }

    #[test]
    fn a_script_that_has_the_end_mark_of_a_document_is_written_whole() {
        let text = shell(node());
        let begin = format!("'{FOLDER}/script' <<'TENSORFORM_END_'\n{SCRIPT}TENSORFORM_END_\n");
        assert!(text.contains(&begin), "{text}");
    }
}
