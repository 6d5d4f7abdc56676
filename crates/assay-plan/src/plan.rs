//! The plan as types: what the parser finds and everything else uses.

use crate::block::Block;
use crate::diagnostic::Diagnostic;
use crate::field::Field;
use crate::ids::{Id, Reference};
use crate::machine::Machine;
use crate::place::{Lines, Span, Text};
use crate::section::{SectionKind, TableKind};
use crate::words::{Category, Confidence, Coverage, GapKind, HypothesisKind, Mode, Status};
use serde::Serialize;
use std::collections::BTreeMap;

/// A word of a closed list, as it is written and as what it means.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Word<T> {
    /// As written.
    #[serde(flatten)]
    pub text: Text,
    /// What it means, if it is in the list.
    pub value: Option<T>,
}

/// A plan, with the source it was read from.
#[derive(Clone, Debug, Serialize)]
pub struct Plan {
    #[serde(skip)]
    pub(crate) source: String,
    #[serde(skip)]
    pub(crate) lines: Lines,
    /// `# Test Plan: SLUG`.
    pub slug: Option<Text>,
    /// What stands below the title.
    pub header: Header,
    /// The sections that are there, in their order.
    pub sections: Vec<Section>,
    /// Which tables are there, and where.
    pub tables: BTreeMap<TableKind, Span>,
    /// Section 1b.
    pub claims: Vec<Claim>,
    /// Section 1c.
    pub missing: Vec<MissingClaim>,
    /// The walk through the pitfalls in section 4.
    pub pitfalls: Vec<PitfallAnswer>,
    /// Section 4.
    pub hypotheses: Vec<Hypothesis>,
    /// Kinds of hypotheses that do not apply, with the reason.
    pub kinds_not_applicable: Vec<(HypothesisKind, Text)>,
    /// Section 5.
    pub matrix: Vec<MatrixRow>,
    /// Section 6.
    pub techniques: Vec<Technique>,
    /// Section 6b.
    pub environment: Vec<Requirement>,
    /// Section 7.
    pub scenarios: Vec<Scenario>,
    /// Section 7b.
    pub adequacy: Vec<Adequacy>,
    /// Section 7c.
    pub residual: Vec<Residual>,
    /// Section 7d: the table.
    pub aspects: Vec<Aspect>,
    /// Section 7d: the paragraphs.
    pub confidence: Vec<Text>,
    /// What the parser could not make sense of.
    #[serde(skip)]
    pub(crate) problems: Vec<Diagnostic>,
    /// Placeholders that are left in the text.
    #[serde(skip)]
    pub(crate) placeholders: Vec<Span>,
    /// Lines of section 0 with something on them.
    #[serde(skip)]
    pub(crate) summary_lines: usize,
}

/// The lines below the title.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Header {
    /// `Date`.
    pub date: Option<Text>,
    /// `Plan mode`.
    pub mode: Option<Word<Mode>>,
    /// `SUT`.
    pub sut: Option<Text>,
    /// `Change under test`.
    pub change: Option<Text>,
    /// `Plan author`.
    pub author: Option<Text>,
    /// `Status`.
    pub status: Option<Word<Status>>,
}

/// A section that is there.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Section {
    /// Which.
    pub kind: SectionKind,
    /// Its heading.
    pub heading: Text,
    /// Everything below the heading.
    pub body: Span,
    /// Its words without tables, headings and code.
    #[serde(skip)]
    pub prose: String,
    /// Whether there is anything but comments.
    #[serde(skip)]
    pub is_empty: bool,
}

/// A row of the table of claims.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Claim {
    /// `C1`.
    pub id: Id,
    /// Where the id stands.
    pub span: Span,
    /// What is claimed.
    pub claim: Text,
    /// What it is about.
    pub category: Word<Category>,
    /// Who says so.
    pub source: Text,
    /// yes, no, or partial with the reason.
    pub inferred: Text,
}

/// A row of the table of missing claims.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct MissingClaim {
    /// `M1`.
    pub id: Id,
    /// Where the id stands.
    pub span: Span,
    /// What the code relies on.
    pub behaviour: Text,
}

/// A row of the walk through the pitfalls.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct PitfallAnswer {
    /// Its number in the catalogue, if it is one.
    pub number: Option<usize>,
    /// Where the number stands.
    pub span: Span,
    /// y, n or maybe.
    pub answer: Text,
    /// The hypothesis, or why not.
    pub outcome: Text,
}

/// A hypothesis: how a claim could be false.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Hypothesis {
    /// `H1`.
    pub id: Id,
    /// Where the id stands.
    pub span: Span,
    /// Title and sentence.
    pub title: Text,
    /// `Could falsify`.
    pub falsifies: Vec<Reference>,
    /// `Suspected because`.
    pub suspected: Option<Text>,
    /// `Subsystem`.
    pub subsystem: Option<Text>,
    /// Its kind, from the heading above or its own `Category` line.
    pub kind: Option<HypothesisKind>,
}

/// A row of the coverage matrix.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct MatrixRow {
    /// The claim.
    pub claim: Option<Reference>,
    /// The hypothesis.
    pub hypothesis: Option<Reference>,
    /// Tests that exist.
    pub existing: Text,
    /// How well they cover it.
    pub coverage: Word<Coverage>,
    /// What is missing.
    pub gap: Word<GapKind>,
    /// The scenario that would close the gap.
    pub scenario: Text,
}

/// A technique that was chosen.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Technique {
    /// Its name.
    pub name: Text,
    /// `Hypotheses`.
    pub hypotheses: Option<Text>,
    /// The hypotheses named there.
    pub addresses: Vec<Reference>,
    /// `Catches what others miss`.
    pub catches: Option<Text>,
    /// `Reference`: an entry of the catalogue.
    pub reference: Option<Text>,
    /// `Cost`.
    pub cost: Option<Text>,
}

/// A row of the environment requirements.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Requirement {
    /// What is needed.
    pub requirement: Text,
    /// From which version on.
    pub floor: Text,
    /// By which scenarios.
    pub used_by: Vec<Reference>,
    /// How to get it.
    pub hint: Text,
}

/// A scenario, or an arm of one.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Scenario {
    /// `S1`, `S5/api`.
    pub id: Id,
    /// Its heading.
    pub span: Span,
    /// Its name.
    pub name: Text,
    /// What its labelled lines say.
    pub fields: BTreeMap<Field, Text>,
    /// The claims it would falsify.
    pub falsifies: Vec<Reference>,
    /// The hypotheses it closes.
    pub closes: Vec<Reference>,
    /// The line that says 7.M does not apply.
    pub not_applicable: Option<Text>,
    /// The line that says 7.M.S does not apply.
    pub surfaces_not_applicable: Option<Text>,
    /// The machine block.
    #[serde(serialize_with = "machine_only")]
    pub block: Option<Block>,
    /// Where a machine block stands that cannot be read.
    #[serde(skip)]
    pub broken_block: Option<Span>,
    /// The code of the skeleton.
    pub skeleton: Option<Text>,
    /// Its arms.
    pub arms: Vec<Scenario>,
}

fn machine_only<S: serde::Serializer>(block: &Option<Block>, s: S) -> Result<S::Ok, S::Error> {
    block.as_ref().map(|block| &block.machine).serialize(s)
}

impl Scenario {
    /// What a field says.
    pub fn field(&self, field: Field) -> Option<&Text> {
        self.fields.get(&field)
    }

    /// The machine block's content.
    pub fn machine(&self) -> Option<&Machine> {
        self.block.as_ref().map(|block| &block.machine)
    }

    /// What is run: the scenario itself, or each of its arms with what it has from the scenario.
    pub fn trials(&self) -> Vec<(Id, Machine)> {
        let own = self.machine().cloned().unwrap_or_default();
        if self.arms.is_empty() {
            return self.block.iter().map(|_| (self.id.clone(), own.clone())).collect();
        }
        let with_block = self.arms.iter().filter(|arm| self.block.is_some() || arm.block.is_some());
        with_block
            .map(|arm| (arm.id.clone(), arm.machine().map_or(own.clone(), |m| own.overlaid(m))))
            .collect()
    }
}

/// A row of the adequacy argument.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Adequacy {
    /// The claims it is about.
    pub claims: Vec<Reference>,
    /// How they could fail, lettered.
    pub threats: Text,
    /// Which scenarios exercise which threat.
    pub scenarios: Text,
    /// Those scenarios.
    pub exercised_by: Vec<Reference>,
    /// Why that is enough.
    pub why: Text,
}

/// Something the plan leaves open.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Residual {
    /// What.
    pub uncertainty: Text,
    /// Why no scenario covers it.
    pub why_uncovered: Text,
    /// Why that can be borne today.
    pub why_acceptable: Text,
    /// When it has to be looked at again.
    pub revisit_when: Text,
}

impl Residual {
    /// All of its words.
    pub fn words(&self) -> String {
        let cells =
            [&self.uncertainty, &self.why_uncovered, &self.why_acceptable, &self.revisit_when];
        cells.map(|cell| cell.text.as_str()).join(" | ")
    }
}

/// A row of the table of aspects.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Aspect {
    /// The claim.
    pub claims: Vec<Reference>,
    /// Which part of it.
    pub aspect: Text,
    /// How sure.
    pub confidence: Word<Confidence>,
    /// Why.
    pub reason: Text,
}

impl Plan {
    /// The document, byte for byte.
    pub fn print(&self) -> &str {
        &self.source
    }

    /// The line of a byte, from 1.
    pub fn line(&self, byte: usize) -> usize {
        self.lines.line(byte)
    }

    /// The column of a byte, in characters, from 1.
    pub fn column(&self, byte: usize) -> usize {
        self.lines.column(&self.source, byte)
    }

    /// The first section of a kind.
    pub fn section(&self, kind: SectionKind) -> Option<&Section> {
        self.sections.iter().find(|section| section.kind == kind)
    }

    /// The mode, change-scoped if it is not said.
    pub fn mode(&self) -> Mode {
        let mode = self.header.mode.as_ref().and_then(|mode| mode.value);
        mode.unwrap_or(Mode::ChangeScoped)
    }
}
