//! How the oracles of this crate are put together: a description, a function and two sketches.

use crate::contract::{CheckReport, Example, Oracle, OracleError, OracleInfo};
use crate::draft::Plant;
use crate::options::Options;
use crate::sketch::sketch;
use crate::table::Table;
use crate::tally::Tally;
use assay_history::History;

/// What the body of an oracle is given.
pub(crate) struct Check<'a, 'h> {
    pub table: &'a Table<'h>,
    pub options: &'a Options,
    pub tally: &'a mut Tally,
}

/// An oracle of this crate.
pub(crate) struct BuiltIn {
    pub info: &'static OracleInfo,
    pub run: fn(&mut Check<'_, '_>) -> Result<(), OracleError>,
    /// The options its examples need.
    pub example_options: fn() -> Options,
    pub good: &'static str,
    pub bad: &'static str,
    pub plants: &'static [Plant],
}

impl BuiltIn {
    fn example(&self, text: &str) -> Example {
        Example { history: sketch(text), options: (self.example_options)() }
    }
}

impl Oracle for BuiltIn {
    fn info(&self) -> &'static OracleInfo {
        self.info
    }

    fn check(&self, history: &History, options: &Options) -> Result<CheckReport, OracleError> {
        let table = Table::new(history);
        let mut tally = Tally::new(self.info.name, history, options.anomalies_max);
        tally.steps(history.len());
        (self.run)(&mut Check { table: &table, options, tally: &mut tally })?;
        Ok(tally.finish())
    }

    fn known_good(&self) -> Example {
        self.example(self.good)
    }

    fn planted_bad(&self) -> Example {
        self.example(self.bad)
    }

    fn plants(&self) -> &'static [Plant] {
        self.plants
    }
}
