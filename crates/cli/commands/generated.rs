//! `schema`, `completions` and `man`: what is generated from the tables and the command line.

use std::{fs, path::Path};

use clap::CommandFactory;
use model::{diag::Code, spec};

use crate::{
    app::App,
    args::{self, Arguments},
    exit::Exit,
    stop::{Outcome, Stop},
};

/// Prints the JSON schema of the spec, or its reference.
pub(crate) fn schema(app: &App, arguments: &args::Schema) -> Exit {
    let text = if arguments.markdown {
        spec::reference()
    } else {
        format!("{:#}\n", spec::json_schema())
    };
    app.output.data(&text);
    Exit::Done
}

/// Prints shell completions.
pub(crate) fn completions(app: &App, arguments: &args::Completions) -> Exit {
    let mut script = Vec::new();
    clap_complete::generate(
        arguments.shell,
        &mut Arguments::command(),
        "tensorform",
        &mut script,
    );
    app.output.data(&String::from_utf8_lossy(&script));
    Exit::Done
}

/// Prints the manual page, or writes one for each command.
pub(crate) fn man(app: &App, arguments: &args::Man) -> Outcome {
    let command = Arguments::command();
    let unusable = |error: std::io::Error| {
        Stop::because(
            Code::FileUnusable,
            format!("a manual page cannot be written: {error}"),
        )
    };
    match &arguments.directory {
        Some(folder) => {
            fs::create_dir_all(folder).map_err(unusable)?;
            write_pages(folder, &command, "tensorform").map_err(unusable)?;
        }
        None => app
            .output
            .data(&page(&command, "tensorform").map_err(unusable)?),
    }
    Ok(Exit::Done)
}

fn page(command: &clap::Command, name: &str) -> std::io::Result<String> {
    let mut text = Vec::new();
    clap_mangen::Man::new(command.clone().name(name.to_owned())).render(&mut text)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

fn write_pages(folder: &Path, command: &clap::Command, name: &str) -> std::io::Result<()> {
    fs::write(folder.join(format!("{name}.1")), page(command, name)?)?;
    for subcommand in command.get_subcommands() {
        write_pages(
            folder,
            subcommand,
            &format!("{name}-{}", subcommand.get_name()),
        )?;
    }
    Ok(())
}
