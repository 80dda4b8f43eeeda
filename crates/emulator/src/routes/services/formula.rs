//! Autoscale formulas of Batch: statements that set variables, worked out with samples of a pool
//! that has no task.

use std::{collections::BTreeMap, iter::Peekable, vec::IntoIter};

use rust_decimal::{Decimal, prelude::ToPrimitive as _};

/// The variables that a formula has set, without their `$`.
pub(super) type Variables = BTreeMap<String, Decimal>;

/// Parts of a formula inside one another at most.
const DEEPEST: u32 = 32;

/// A part of a formula.
#[derive(Clone, Debug, PartialEq)]
enum Token {
    Number(Decimal),
    Name(String),
    Sign(&'static str),
}

/// Longer ones first.
const SIGNS: [&str; 20] = [
    "<=", ">=", "==", "!=", "&&", "||", "+", "-", "*", "/", "<", ">", "?", ":", "(", ")", ",", ";",
    "=", ".",
];

/// Seconds of the spans that formulas name, and samples, which all are of nothing.
fn constant(name: &str) -> Option<Decimal> {
    let value = match name {
        "TimeInterval_Second" => 1,
        "TimeInterval_Minute" => 60,
        "TimeInterval_Hour" => 3_600,
        "TimeInterval_Day" => 86_400,
        "TimeInterval_Week" => 604_800,
        "requeue"
        | "terminate"
        | "taskcompletion"
        | "retaineddata"
        | "TargetDedicatedNodes"
        | "TargetLowPriorityNodes"
        | "CurrentDedicatedNodes"
        | "CurrentLowPriorityNodes"
        | "PreemptedNodeCount"
        | "ActiveTasks"
        | "RunningTasks"
        | "PendingTasks"
        | "SucceededTasks"
        | "FailedTasks"
        | "TaskSlotsPerNode" => 0,
        _ => return None,
    };
    Some(Decimal::from(value))
}

/// Works a formula out.
pub(super) fn evaluate(formula: &str) -> Result<Variables, String> {
    let mut reader = Reader {
        tokens: tokens(formula)?.into_iter().peekable(),
        variables: Variables::new(),
        depth: 0,
    };
    while reader.tokens.peek().is_some() {
        reader.statement()?;
    }
    Ok(reader.variables)
}

/// The number of nodes that a variable was set to: whole, and none where it was not set.
pub(super) fn nodes(variables: &Variables, name: &str) -> u64 {
    let value = variables.get(name).copied().unwrap_or_default();
    value.max(Decimal::ZERO).round().to_u64().unwrap_or(0)
}

fn tokens(formula: &str) -> Result<Vec<Token>, String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut tokens = Vec::new();
    let mut rest = formula.trim_start();
    while let Some(first) = rest.chars().next() {
        let after = if let Some(name) = rest.strip_prefix('$') {
            let end = name.find(|c| !is_part(c)).unwrap_or(name.len());
            let (name, after) = name.split_at(end);
            tokens.push(Token::Name(name.to_owned()));
            after
        } else if first.is_ascii_digit() {
            let end = rest
                .find(|c: char| !c.is_ascii_digit() && c != '.')
                .unwrap_or(rest.len());
            let (digits, after) = rest.split_at(end);
            let number = digits
                .parse()
                .map_err(|_| format!("'{digits}' is no number"))?;
            tokens.push(Token::Number(number));
            after
        } else if is_part(first) {
            let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
            let (name, after) = rest.split_at(end);
            tokens.push(Token::Name(name.to_owned()));
            after
        } else {
            let sign = SIGNS.into_iter().find(|sign| rest.starts_with(sign));
            let sign = sign.ok_or_else(|| format!("'{first}' means nothing"))?;
            tokens.push(Token::Sign(sign));
            rest.strip_prefix(sign).unwrap_or_default()
        };
        rest = after.trim_start();
    }
    Ok(tokens)
}

struct Reader {
    tokens: Peekable<IntoIter<Token>>,
    variables: Variables,
    depth: u32,
}

impl Reader {
    fn takes(&mut self, sign: &'static str) -> bool {
        self.tokens.next_if_eq(&Token::Sign(sign)).is_some()
    }

    fn needs(&mut self, sign: &'static str) -> Result<(), String> {
        if self.takes(sign) {
            Ok(())
        } else {
            Err(format!("'{sign}' is missing"))
        }
    }

    fn statement(&mut self) -> Result<(), String> {
        let Some(Token::Name(name)) = self.tokens.next() else {
            return Err("a statement sets a variable".to_owned());
        };
        self.needs("=")?;
        let value = self.choice()?;
        self.variables.insert(name, value);
        if self.tokens.peek().is_some() {
            self.needs(";")?;
        }
        Ok(())
    }

    /// One value, or one of two by a third.
    fn choice(&mut self) -> Result<Decimal, String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err("the formula is too deep".to_owned());
        }
        let condition = self.chain(0)?;
        let value = if self.takes("?") {
            let first = self.choice()?;
            self.needs(":")?;
            let second = self.choice()?;
            if condition.is_zero() { second } else { first }
        } else {
            condition
        };
        self.depth -= 1;
        Ok(value)
    }

    /// Values with signs between them, from those that bind least.
    fn chain(&mut self, level: usize) -> Result<Decimal, String> {
        const LEVELS: [&[&str]; 5] = [
            &["||"],
            &["&&"],
            &["<=", ">=", "==", "!=", "<", ">"],
            &["+", "-"],
            &["*", "/"],
        ];
        let Some(signs) = LEVELS.get(level) else {
            return self.value();
        };
        let mut left = self.chain(level + 1)?;
        while let Some(sign) = signs.iter().copied().find(|sign| self.takes(sign)) {
            let right = self.chain(level + 1)?;
            left = apply(sign, left, right)?;
        }
        Ok(left)
    }

    fn value(&mut self) -> Result<Decimal, String> {
        if self.takes("-") {
            return Ok(-self.value()?);
        }
        if self.takes("(") {
            let value = self.choice()?;
            self.needs(")")?;
            return Ok(value);
        }
        match self.tokens.next() {
            Some(Token::Number(number)) => Ok(number),
            Some(Token::Name(name)) if self.takes("(") => {
                let arguments = self.arguments()?;
                function(&name, &arguments)
            }
            Some(Token::Name(name)) if self.takes(".") => {
                let Some(Token::Name(method)) = self.tokens.next() else {
                    return Err(format!("'{name}.' lacks a method"));
                };
                self.needs("(")?;
                self.arguments()?;
                sample(&method)
            }
            Some(Token::Name(name)) => {
                let known = self.variables.get(&name).copied();
                known
                    .or_else(|| constant(&name))
                    .ok_or_else(|| format!("'{name}' is not defined"))
            }
            Some(Token::Sign(sign)) => Err(format!("'{sign}' is in the wrong place")),
            None => Err("the formula ends too early".to_owned()),
        }
    }

    fn arguments(&mut self) -> Result<Vec<Decimal>, String> {
        let mut arguments = Vec::new();
        if self.takes(")") {
            return Ok(arguments);
        }
        loop {
            arguments.push(self.choice()?);
            if self.takes(")") {
                return Ok(arguments);
            }
            self.needs(",")?;
        }
    }
}

fn apply(sign: &str, left: Decimal, right: Decimal) -> Result<Decimal, String> {
    let truth = |holds: bool| Some(Decimal::from(u8::from(holds)));
    let value = match sign {
        "||" => truth(!left.is_zero() || !right.is_zero()),
        "&&" => truth(!left.is_zero() && !right.is_zero()),
        "<=" => truth(left <= right),
        ">=" => truth(left >= right),
        "==" => truth(left == right),
        "!=" => truth(left != right),
        "<" => truth(left < right),
        ">" => truth(left > right),
        "+" => left.checked_add(right),
        "-" => left.checked_sub(right),
        "*" => left.checked_mul(right),
        _ => left.checked_div(right),
    };
    value.ok_or_else(|| format!("'{left} {sign} {right}' has no value"))
}

fn function(name: &str, arguments: &[Decimal]) -> Result<Decimal, String> {
    let lacks = || format!("'{name}' needs values");
    let sum = || -> Option<Decimal> {
        let mut all = arguments.iter();
        all.try_fold(Decimal::ZERO, |sum, value| sum.checked_add(*value))
    };
    match name {
        "min" => arguments.iter().min().copied().ok_or_else(lacks),
        "max" => arguments.iter().max().copied().ok_or_else(lacks),
        "sum" => sum().ok_or_else(lacks),
        "avg" => sum()
            .and_then(|sum| sum.checked_div(Decimal::from(arguments.len())))
            .ok_or_else(lacks),
        _ => Err(format!("'{name}' is no function that the sandbox knows")),
    }
}

/// What a method of a sampled variable tells of a pool without tasks.
fn sample(method: &str) -> Result<Decimal, String> {
    match method {
        "GetSample" | "Count" => Ok(Decimal::ZERO),
        "GetSamplePercent" => Ok(Decimal::ONE_HUNDRED),
        _ => Err(format!("'{method}' is no method that the sandbox knows")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dedicated(formula: &str) -> Result<u64, String> {
        evaluate(formula).map(|variables| nodes(&variables, "TargetDedicatedNodes"))
    }

    #[test]
    fn formulas_are_worked_out_with_no_task_waiting() {
        for (formula, expected) in [
            ("$TargetDedicatedNodes = 3; $TargetLowPriorityNodes=2;", 3),
            (
                "$TargetDedicatedNodes = max(1, min(8, $PendingTasks.GetSample(1)));",
                1,
            ),
            (
                "x = 2 + 3 * 4; $TargetDedicatedNodes = x > 13 ? x / 2 : 0;",
                7,
            ),
            (
                "$s = $PendingTasks.GetSamplePercent(TimeInterval_Minute * 5);\n$TargetDedicatedNodes = $s < 70 ? 9 : avg(2, 4);",
                3,
            ),
            (
                "$TargetDedicatedNodes = -(2 - 5); $NodeDeallocationOption = taskcompletion;",
                3,
            ),
            ("$TargetDedicatedNodes = 0 - 4;", 0),
            ("$TargetDedicatedNodes = (1 == 1 && 2 != 2) || 1 <= 0;", 0),
            ("$TargetLowPriorityNodes = 1", 0),
        ] {
            assert_eq!(dedicated(formula), Ok(expected), "{formula}");
        }
    }

    #[test]
    fn what_cannot_be_worked_out_says_why() {
        for (formula, why) in [
            ("$TargetDedicatedNodes = what;", "'what' is not defined"),
            ("$TargetDedicatedNodes = 1 / 0;", "'1 / 0' has no value"),
            (
                "$TargetDedicatedNodes = lg(2);",
                "'lg' is no function that the sandbox knows",
            ),
            ("$TargetDedicatedNodes 3;", "'=' is missing"),
            ("3 = 3;", "a statement sets a variable"),
            ("$TargetDedicatedNodes = (1;", "')' is missing"),
            ("$TargetDedicatedNodes =", "the formula ends too early"),
            ("$TargetDedicatedNodes = #;", "'#' means nothing"),
        ] {
            assert_eq!(dedicated(formula), Err(why.to_owned()), "{formula}");
        }
        let deep = format!(
            "$TargetDedicatedNodes = {}1{};",
            "(".repeat(99),
            ")".repeat(99)
        );
        assert_eq!(dedicated(&deep), Err("the formula is too deep".to_owned()));
    }
}
