//! `docs/cli.md`: every command, option, variable and exit code, from their definitions.

use std::{fmt::Write, fs, path::Path};

use clap::{Arg, ArgAction, Command};

use crate::{args, exit::Exit, help};

const INTRODUCTION: &str = "\
# Commands

`tensorform [OPTIONS] COMMAND [ARGUMENTS]`. This page is made from the definition of the command
line; `tensorform COMMAND --help` says the same, and `tensorform man` makes manual pages of it.

Data goes to stdout, everything else to stderr. With `-o json` each command prints exactly one JSON
document, also when it fails. Commands run against one of three worlds: live Azure (the default, or
another Resource Manager with `--endpoint`), the sandbox (`--sandbox`), or, to plan, to price and to explain,
none (`--offline`).
";

/// A text as a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

/// An option as it is typed, with the name of its value.
fn typed(argument: &Arg) -> String {
    let names = argument.get_value_names().unwrap_or_default();
    let values: Vec<&str> = names.iter().map(clap::builder::Str::as_str).collect();
    let values = values.join(" ");
    let takes_value = argument.get_action().takes_values();
    let Some(long) = argument.get_long() else {
        return if argument.is_required_set() {
            values
        } else {
            format!("[{values}]")
        };
    };
    let short = argument
        .get_short()
        .map_or_else(String::new, |short| format!("-{short}, "));
    let value = match (takes_value, argument.is_require_equals_set()) {
        (false, _) => String::new(),
        (true, true) => format!("[={values}]"),
        (true, false) => format!(" {values}"),
    };
    format!("{short}--{long}{value}")
}

/// What an argument is for, its words, its default.
fn meaning(argument: &Arg) -> String {
    let help = argument.get_help().map(ToString::to_string);
    let mut text = help.unwrap_or_default();
    let mut says_default = text.contains("[default");
    if argument.get_action().takes_values() {
        let words = argument.get_possible_values();
        let words: Vec<String> = words
            .iter()
            .map(|word| match word.get_help() {
                Some(help) => format!("`{}` ({help})", word.get_name()),
                None => format!("`{}`", word.get_name()),
            })
            .collect();
        if !words.is_empty() {
            write!(text, ": {}", words.join(", ")).expect("text takes text");
        }
    } else {
        says_default = true;
    }
    let defaults = argument.get_default_values().iter();
    let defaults: Vec<String> = defaults
        .map(|value| format!("`{}`", value.to_string_lossy()))
        .collect();
    if !says_default && !defaults.is_empty() {
        write!(text, ". Default: {}", defaults.join(", ")).expect("text takes text");
    }
    if matches!(argument.get_action(), ArgAction::Append) {
        text.push_str(". May be given several times");
    }
    text
}

fn is_own(argument: &Arg) -> bool {
    !argument.is_global_set()
        && !matches!(
            argument.get_action(),
            ArgAction::Help | ArgAction::HelpShort | ArgAction::HelpLong | ArgAction::Version
        )
}

/// A table of arguments; nothing where there are none.
fn table<'a>(arguments: impl Iterator<Item = &'a Arg>) -> String {
    let mut text = String::new();
    for argument in arguments {
        if text.is_empty() {
            text.push_str("\n| argument | variable | meaning |\n|---|---|---|\n");
        }
        let variable = args::variable(argument).map(|name| format!("`{name}`"));
        writeln!(
            text,
            "| `{}` | {} | {} |",
            cell(&typed(argument)),
            variable.as_deref().unwrap_or("—"),
            cell(&meaning(argument)),
        )
        .expect("text takes text");
    }
    text
}

/// The commands that do something, with their whole names.
fn commands<'a>(command: &'a Command, name: &str) -> Vec<(String, &'a Command)> {
    let below = command.get_subcommands().flat_map(|below| {
        let name = format!(
            "{name}{}{}",
            if name.is_empty() { "" } else { " " },
            below.get_name()
        );
        let mut found = commands(below, &name);
        if found.is_empty() {
            found.push((name, below));
        }
        found
    });
    below.collect()
}

fn page() -> String {
    let root = args::command();
    let mut text = INTRODUCTION.to_owned();
    text.push_str("\n| command | does |\n|---|---|\n");
    let all = commands(&root, "");
    for (name, command) in &all {
        let about = command.get_about().expect("each says what it does");
        let link = name.replace(' ', "-");
        writeln!(
            text,
            "| [`{name}`](#{link}) | {} |",
            cell(&about.to_string())
        )
        .expect("text takes text");
    }
    text.push_str("\n## Options of every command\n");
    text.push_str(&table(
        root.get_arguments()
            .filter(|argument| argument.is_global_set()),
    ));
    for (name, command) in &all {
        let about = command.get_about().expect("each says what it does");
        write!(text, "\n## {name}\n\n{about}.\n").expect("text takes text");
        text.push_str(&table(
            command.get_arguments().filter(|argument| is_own(argument)),
        ));
    }
    text.push_str("\n## Exit codes\n\n| code | meaning |\n|---|---|\n");
    for exit in Exit::ALL {
        writeln!(text, "| {} | {} |", exit.number(), exit.meaning()).expect("text takes text");
    }
    text.push_str(
        "\n## Variables of the environment\n\n\
         A variable stands for each option, as the tables above say. What is typed wins; a variable \
         that\nis set to nothing counts as not set; a switch is turned on by `true`, `1`, `yes` or \
         `on`.\n\n| variable | is |\n|---|---|\n",
    );
    for (name, what) in help::VARIABLES {
        let names: Vec<String> = name.split(", ").map(|name| format!("`{name}`")).collect();
        writeln!(text, "| {} | {} |", names.join(", "), cell(what)).expect("text takes text");
    }
    text.replace("`docs/credentials.md`", "[credentials](credentials.md)")
}

#[test]
fn the_reference_of_the_commands_is_fresh() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/cli.md");
    let page = page();
    if std::env::var_os("UPDATE_GOLDENS").is_some() {
        fs::write(&path, &page).expect("the page is written");
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(
        kept, page,
        "docs/cli.md is stale: run the tests with UPDATE_GOLDENS=1 and look at the difference"
    );
}

#[test]
fn the_reference_has_every_argument() {
    fn check(command: &Command, page: &str) {
        for argument in command.get_arguments() {
            let typed = typed(argument);
            let is_there = page.contains(&format!("| `{}` |", cell(&typed)));
            assert!(is_there, "{}: {typed}", command.get_name());
            assert!(argument.get_help().is_some(), "{typed} says what it is for");
        }
        for below in command.get_subcommands() {
            check(below, page);
        }
    }
    check(&args::command(), &page());
}
