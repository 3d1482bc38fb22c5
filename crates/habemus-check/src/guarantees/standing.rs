//! How what was found of a property stands to what the algorithm claims of it.

use habemus::Process;
use habemus::catalogue::{Circumstances, Claim, Contract, Request, Setup, Visitor, build, entry};

use super::{Cell, GuaranteeRow, Model, models};
use crate::setting::Setting;

/// What a cell of the table says, beside what the algorithm claims.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CellStanding {
    /// Promised, and proved, if only for one entry each.
    Kept,
    /// Promised, and open.
    Open,
    /// Promised, and refuted all the same: the algorithm or its description is wrong.
    Broken,
    /// Promised only under other circumstances, because of this; and refuted.
    RefutedOutside(String),
    /// Not promised at all, and refuted.
    Refuted,
    /// Not promised here, but it holds.
    HoldsUnpromised,
    /// Not promised here, and open.
    OpenUnpromised,
    /// Nothing ever happens of which it demands anything.
    DoesNotApply,
}

impl GuaranteeRow {
    /// What is claimed of each property in this row; a row of no model claims nothing.
    pub fn contract(&self) -> Option<RowContract> {
        models().into_iter().find(|model| model.is_of(self)).and_then(|model| model.contract())
    }

    /// The promises that this row refutes, and how: there must be none.
    pub fn broken_promises(&self) -> Vec<String> {
        let Some(contract) = self.contract() else { return Vec::new() };
        let is_broken =
            |(name, cell): &(&String, &Cell)| contract.standing(name, **cell) == CellStanding::Broken;
        let broken = self.properties.iter().filter(is_broken);
        let say = |(name, cell): (&String, &Cell)| {
            let steps = cell.steps().unwrap_or(0);
            format!(
                "{} promises {name}, and breaks it in {steps} steps; faults: {}",
                self.algorithm, self.faults
            )
        };
        broken.map(say).collect()
    }
}

/// What the system of a row promises, and what may go wrong in it.
#[derive(Clone, Debug)]
pub struct RowContract {
    contract: Contract,
    circumstances: Circumstances,
    /// Variants that differ from the rules promise nothing.
    is_variant: bool,
}

impl RowContract {
    /// What such a system promises under these circumstances; `None` if there can be no such system.
    pub(crate) fn of(request: &Request<'_>, setting: &Setting) -> Option<Self> {
        let entry = entry(request.algorithm).ok()?;
        let contract = build(request).and_then(|chosen| chosen.accept(AskContract)).ok()?;
        let circumstances = setting.circumstances(entry.problem, request.ids.len());
        let chosen = request.options.get("variant").map(String::as_str);
        let usual = entry.variants().first().map(|variant| variant.name);
        Some(RowContract { contract, circumstances, is_variant: chosen.is_some() && chosen != usual })
    }

    /// What is claimed of a property.
    pub fn claim(&self, property: &str) -> Claim {
        if self.is_variant {
            return Claim::NotPromised;
        }
        self.contract.claim(property, &self.circumstances)
    }

    /// How what was found stands to what is claimed.
    pub fn standing(&self, property: &str, cell: Cell) -> CellStanding {
        match (cell, self.claim(property)) {
            (Cell::DoesNotApply, _) => CellStanding::DoesNotApply,
            (cell, Claim::Promised) if cell.is_proved() => CellStanding::Kept,
            (cell, _) if cell.is_proved() => CellStanding::HoldsUnpromised,
            (Cell::Open, Claim::Promised) => CellStanding::Open,
            (Cell::Open, _) => CellStanding::OpenUnpromised,
            (_, Claim::Promised) => CellStanding::Broken,
            (_, Claim::Outside(why)) => CellStanding::RefutedOutside(why),
            (_, Claim::NotPromised) => CellStanding::Refuted,
        }
    }
}

/// Asks a system what it promises.
struct AskContract;

impl Visitor for AskContract {
    type Result = Contract;

    fn visit<P: Process>(self, setup: Setup<P>) -> Contract {
        setup.contract
    }
}

impl Model {
    /// What its system promises; `None` if the algorithm cannot be under such circumstances.
    pub fn contract(&self) -> Option<RowContract> {
        RowContract::of(&self.request(&self.named_options()), &self.setting())
    }
}
