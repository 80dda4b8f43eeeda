//! `schema`, `completions` and `man`: what is generated from the tables and the command line.

use std::{fs, io, path::Path};

use model::{diag::Code, spec};

use crate::{
    VERSION,
    app::App,
    args,
    exit::Exit,
    stop::{Outcome, Stop},
};

/// Prints the JSON schema of the spec, or its reference.
pub(crate) fn schema(app: &App, arguments: &args::Schema) -> Exit {
    if arguments.markdown {
        print(app, &spec::reference());
    } else {
        app.output.data(&format!("{:#}\n", spec::json_schema()));
    }
    Exit::Done
}

/// Prints shell completions.
pub(crate) fn completions(app: &App, arguments: &args::Completions) -> Exit {
    let mut script = Vec::new();
    clap_complete::generate(
        arguments.shell,
        &mut args::command(),
        "tensorform",
        &mut script,
    );
    print(app, &String::from_utf8_lossy(&script));
    Exit::Done
}

/// Prints the manual page, or writes one for each command.
pub(crate) fn man(app: &App, arguments: &args::Man) -> Outcome {
    let mut command = args::command();
    // Options of every command become known to each.
    command.build();
    let unusable = |error: io::Error| {
        Stop::because(
            Code::FileUnusable,
            format!("a manual page cannot be written: {error}"),
        )
    };
    let Some(folder) = &arguments.directory else {
        print(app, &page(&command, "tensorform").map_err(unusable)?);
        return Ok(Exit::Done);
    };
    let mut written = Vec::new();
    fs::create_dir_all(folder)
        .and_then(|()| write_pages(folder, &command, "tensorform", &mut written))
        .map_err(|error| {
            let message = format!(
                "the folder `{}` cannot be written: {error}",
                folder.display()
            );
            Stop::because(Code::FileUnusable, message)
        })?;
    if app.output.is_json() {
        app.output
            .data(&render::generated::files(&written, app.command, VERSION));
    } else {
        let pages = render::words::counted(written.len(), "page", "pages");
        app.output
            .note(&format!("Wrote {pages} to {}.\n", folder.display()));
    }
    Ok(Exit::Done)
}

/// A text that is data; in JSON, a document with it.
fn print(app: &App, text: &str) {
    if app.output.is_json() {
        app.output
            .data(&render::generated::text(text, app.command, VERSION));
    } else {
        app.output.data(text);
    }
}

fn page(command: &clap::Command, name: &str) -> io::Result<String> {
    let mut text = Vec::new();
    let command = command
        .clone()
        .name(name.to_owned())
        .display_name(name.to_owned());
    clap_mangen::Man::new(command).render(&mut text)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

fn write_pages(
    folder: &Path,
    command: &clap::Command,
    name: &str,
    written: &mut Vec<String>,
) -> io::Result<()> {
    let path = folder.join(format!("{name}.1"));
    fs::write(&path, page(command, name)?)?;
    written.push(path.display().to_string());
    for subcommand in command.get_subcommands() {
        let name = format!("{name}-{}", subcommand.get_name());
        write_pages(folder, subcommand, &name, written)?;
    }
    Ok(())
}
