//! Findings with source lines, and as documents.

use std::ops::Range;

use model::diag::{At, Code, Diagnostic, Severity, SpecPath};
use tensorform_render::{
    Style,
    diagnostics::{self, SourceText},
    failure, page,
};

use crate::{build::address, golden};

const SPEC: &str = "version: 1
name: llama
location: eastsu
tags: {team: 머신러닝, 环境: 生产}
pools:
  train:
\tstage: training
    sise: auto   # 크기
    size: Standard_D2s_v5
    count: 8
";

fn find(text: &str, needle: &str) -> Option<Range<usize>> {
    let start = text.find(needle)?;
    Some(start..start + needle.len())
}

fn resolve_in(text: &str, at: &At) -> Option<Range<usize>> {
    match at {
        At::Key(path) | At::Value(path) => {
            let key = path.to_string();
            let needle = match key.as_str() {
                "location" => "eastsu",
                "tags.team" => "머신러닝",
                "tags.环境" => "生产",
                "pools.train.sise" => "sise",
                "pools.train.size" => "Standard_D2s_v5",
                "pools.train" => "train:",
                "pools.long" => "the-end",
                _ => return None,
            };
            find(text, needle)
        }
        At::Text { .. } | At::Resource(_) | At::Named(_) | At::Nowhere => None,
    }
}

fn value(keys: &[&str]) -> At {
    At::Value(SpecPath::of(keys))
}

fn findings() -> Vec<Diagnostic> {
    vec![
        Diagnostic::new(
            Code::SpecUnknownKey,
            At::Key(SpecPath::pool("train", &["sise"])),
            "unknown key `sise` in pool `train`",
        )
        .with_related(value(&["pools", "train", "size"]), "the value it may have meant")
        .with_related(At::Resource(address("pool.train[0].vm")), "made by an earlier version")
        .with_help("did you mean `size`?"),
        Diagnostic::new(
            Code::LocationUnknown,
            value(&["location"]),
            "expected a region of Azure, found `eastsu`",
        )
        .with_help("did you mean `eastus`? `tensorform sizes --location eastus` shows what it offers, and the catalogue lists every region that it knows"),
        Diagnostic::new(Code::SpecInvalidValue, value(&["tags", "team"]), "태그 값이 잘못되었습니다: `머신러닝`"),
        Diagnostic::new(Code::SpecForbiddenYaml, At::Text { start: 93, end: 94 }, "tabs do not indent"),
        Diagnostic::new(
            Code::QuotaShort,
            At::Resource(address("pool.train[0].vm")),
            "quota `standardNDSH100v5Family` in eastus: limit 96, used 0, needed 192, short by 96",
        )
        .with_related(value(&["pools", "train"]), "the pool that needs it")
        .with_help("ask for a limit of at least 192 in eastus"),
        Diagnostic::new(Code::SpecMissingKey, value(&["pools", "other", "stage"]), "`stage` is missing"),
        Diagnostic::new(Code::NameTaken, At::Named("/subscriptions/s/resourceGroups/rg".to_owned()), "exists and is not ours"),
        Diagnostic::new(Code::OfflineUnknowns, At::Nowhere, "offline: quota is unknown"),
        Diagnostic::new(Code::SizeBetter, At::Nowhere, "new nodes would get another size")
            .with_severity(Severity::Note),
    ]
}

fn text(findings: &[Diagnostic], spec: &str, style: Style) -> String {
    let source = SourceText {
        file: "tensorform.yaml",
        text: spec,
    };
    diagnostics::text(findings, &source, &|at| resolve_in(spec, at), style)
}

#[test]
fn findings_show_their_lines() {
    golden::check("findings", &text(&findings(), SPEC, Style::plain(100)));
}

#[test]
fn line_ends_of_windows_change_nothing_but_bytes() {
    let windows = SPEC.replace('\n', "\r\n");
    let all: Vec<Diagnostic> = findings()
        .into_iter()
        .filter(|finding| !matches!(finding.at, At::Text { .. }))
        .collect();
    let expected = text(&all, SPEC, Style::plain(100));
    assert_eq!(text(&all, &windows, Style::plain(100)), expected);
}

#[test]
fn long_lines_are_cut_around_the_mark() {
    let spec = format!("a: {} the-end {}\n", "x".repeat(300), "y".repeat(300));
    let finding = Diagnostic::new(
        Code::SpecInvalidValue,
        value(&["pools", "long"]),
        "too long",
    );
    let drawn = text(&[finding], &spec, Style::plain(80));
    assert!(drawn.contains("the-end"), "{drawn}");
    for line in drawn.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
}

#[test]
fn a_mark_covers_one_line_of_a_block() {
    let spec = "pools:\n  train:\n    stage: training\n    count: 8\n";
    let finding = Diagnostic::new(
        Code::SpecConflict,
        At::Text { start: 9, end: 44 },
        "these contradict",
    );
    let drawn = text(&[finding], spec, Style::plain(80));
    assert!(drawn.contains("2 |   train:"), "{drawn}");
    assert!(!drawn.contains("stage"), "{drawn}");
}

#[test]
fn ranges_outside_the_text_or_inside_characters_are_moved() {
    let spec = "머신\n";
    for (start, end) in [
        (0, 1),
        (1, 2),
        (5, 3),
        (6, 9),
        (7, 7),
        (100, 200),
        (usize::MAX, 0),
    ] {
        let finding = Diagnostic::new(Code::SpecSyntax, At::Text { start, end }, "here");
        let drawn = text(&[finding], spec, Style::plain(80));
        assert!(drawn.contains("error[SPEC001]: here"), "{drawn}");
        assert!(drawn.contains("--> tensorform.yaml:"), "{drawn}");
        golden::check_blanks("moved", &drawn);
    }
    let nothing = Diagnostic::new(Code::SpecSyntax, At::Text { start: 0, end: 0 }, "empty");
    assert!(text(&[nothing], "", Style::plain(80)).contains("error[SPEC001]: empty"));
}

#[test]
fn colour_adds_nothing_but_colour() {
    let colored = text(
        &findings(),
        SPEC,
        Style {
            color: true,
            width: 100,
        },
    );
    assert!(colored.contains("\u{1b}["));
    golden::check_blanks("findings", &colored);
    assert_eq!(
        golden::without_colours(&colored),
        text(&findings(), SPEC, Style::plain(100))
    );
}

#[test]
fn no_findings_are_no_text() {
    assert_eq!(text(&[], SPEC, Style::plain(100)), "");
}

#[test]
fn documents_name_line_and_column() {
    let source = SourceText {
        file: "tensorform.yaml",
        text: SPEC,
    };
    let documents = diagnostics::documents(&findings(), &source, &|at| resolve_in(SPEC, at));
    let place = documents[2].at.as_ref().expect("a place");
    assert_eq!(
        (place.line, place.column),
        (Some(4), Some(14)),
        "lines and columns begin with 1"
    );
    assert_eq!(place.path.as_deref(), Some("tags.team"));
    assert_eq!(documents[7].at, None);
    let behind = [Diagnostic::new(
        Code::SpecInvalidValue,
        value(&["tags", "环境"]),
        "wide",
    )];
    let behind = diagnostics::documents(&behind, &source, &|at| resolve_in(SPEC, at));
    let place = behind[0].at.as_ref().expect("a place");
    assert_eq!(
        (place.line, place.column),
        (Some(4), Some(24)),
        "wide characters count as one"
    );
    golden::check("failure_json", &failure::json(&documents, "plan", "0.1.0"));
}

#[test]
fn pages_of_codes_read_well() {
    let style = Style::plain(80);
    golden::check("page_quota", &page::text(Code::QuotaShort.page(), style));
    for code in Code::ALL {
        let plain = page::text(code.page(), style);
        golden::check_blanks(code.as_str(), &plain);
        let colored = page::text(
            code.page(),
            Style {
                color: true,
                width: 80,
            },
        );
        assert_eq!(golden::without_colours(&colored), plain, "{code}");
    }
}

#[test]
fn pages_have_lists_links_and_code() {
    let markdown = "# CODE: title\nA paragraph that goes on\nover two lines, with `code`, **bold**, [a link](https://learn.microsoft.com/azure) and 2 * 3 = [6].\n\n- an item that is so long that it has to be broken somewhere near here, I think\n  and goes on\n- another\n  - below it\n\n1. first\n2. second\n\n```yaml\npools:\n    train: {}\n\n```\n## Next\nEnd.\n\n\n";
    golden::check("page_markdown", &page::text(markdown, Style::plain(60)));
}
