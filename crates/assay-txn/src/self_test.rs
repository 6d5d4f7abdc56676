//! Before it judges anybody, the checker shows that it can pass and that it can fail.

use crate::check::{CheckOptions, check};
use crate::models::Model;
use crate::verify::verify;
use assay_history::{ReadOptions, Style, read_txns};

/// A reader that sees both writes of a transaction, and one that sees the first only.
fn history(style: Style, second: &str) -> String {
    let (write, one) = match style {
        Style::ListAppend => ("append", "[1]"),
        Style::RwRegister => ("w", "1"),
        Style::SetAdd => ("add", "#{1}"),
        Style::CounterInc => ("inc", "1"),
    };
    let writes = format!("[:{write} x 1] [:{write} y 1]");
    format!(
        "{{:process 0, :type :invoke, :value [{writes}]}}\n\
         {{:process 1, :type :invoke, :value [[:r x nil] [:r y nil]]}}\n\
         {{:process 0, :type :ok, :value [{writes}]}}\n\
         {{:process 1, :type :ok, :value [[:r x {one}] [:r y {second}]]}}\n"
    )
}

/// Proves that a known-good history passes, that a planted anomaly is found, and that it holds when
/// it is looked at again.
///
/// # Errors
/// What was found instead.
pub fn self_test(style: Style) -> Result<(), String> {
    let (whole, part) = match style {
        Style::ListAppend => ("[1]", "[]"),
        Style::RwRegister => ("1", "nil"),
        Style::SetAdd => ("#{1}", "#{}"),
        Style::CounterInc => ("1", "0"),
    };
    for (second, refuted) in [(whole, false), (part, true)] {
        let text = history(style, second);
        let txns = read_txns(text.as_bytes(), &ReadOptions::default(), style)
            .map_err(|error| format!("{}: {}", style.name(), error.message()))?;
        let options = CheckOptions::default();
        let report = check(&txns, &options).map_err(|error| error.to_string())?;
        if report.ruled_out.has(Model::Serializable) != refuted {
            return Err(format!("{}: a history known beforehand is judged wrongly", style.name()));
        }
        report.anomalies.iter().try_for_each(|anomaly| verify(&txns, options.assume, anomaly))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_styles_pass_and_fail_as_they_should() {
        for style in Style::ALL {
            assert_eq!(self_test(style), Ok(()));
        }
    }
}
