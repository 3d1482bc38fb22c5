//! The register: every algorithm of the catalogue in one list, and a system of any of them as one value.

use super::{Entry, Options, Request, Setup, SetupError, agreements, elections, mutexes};
use crate::Process;
use crate::agreement::byzantine_generals::ByzantineGenerals;
use crate::agreement::flood_set::FloodSet;
use crate::agreement::interactive_consistency::InteractiveConsistency;
use crate::agreement::paxos::Paxos;
use crate::agreement::signed_generals::SignedGenerals;
use crate::detector::Stacked;
use crate::detector::any::AnyDetector;
use crate::election::all_to_all::AllToAll;
use crate::election::anonymous_ring::AnonymousRing;
use crate::election::any::AnyElection;
use crate::election::bully::Bully;
use crate::election::capture_async::CaptureAsync;
use crate::election::capture_sync::CaptureSync;
use crate::election::chang_roberts::ChangRoberts;
use crate::election::collecting_ring::CollectingRing;
use crate::election::dolev_klawe_rodeh::DolevKlaweRodeh;
use crate::election::franklin::Franklin;
use crate::election::franklin::as_printed::FranklinAsPrinted;
use crate::election::hirschberg_sinclair::HirschbergSinclair;
use crate::election::itai_rodeh::ItaiRodeh;
use crate::election::large_group::LargeGroup;
use crate::election::majority::Majority;
use crate::election::omega::Omega;
use crate::election::stable::StableElection;
use crate::election::yo_yo::YoYo;
use crate::mutex::coordinator::Coordinator;
use crate::mutex::elected::Elected;
use crate::mutex::lamport::Lamport;
use crate::mutex::maekawa::Maekawa;
use crate::mutex::quorum::Quorum;
use crate::mutex::raymond::Raymond;
use crate::mutex::ricart_agrawala::RicartAgrawala;
use crate::mutex::service::Service;
use crate::mutex::suzuki_kasami::SuzukiKasami;
use crate::mutex::token_ring::TokenRing;
use crate::rounds::Synchronous;

/// Something that drives a system, whatever its process.
pub trait Visitor {
    /// What comes of it.
    type Result;
    /// Whether it drives algorithms on detectors, too. One that does not is not compiled for them.
    const ON_DETECTORS: bool = true;
    /// Drives it.
    fn visit<P: Process>(self, setup: Setup<P>) -> Self::Result;
}

/// Builds the system of one algorithm.
type Build = fn(&'static Entry, &Request<'_>, &Options<'_>) -> Result<Chosen, SetupError>;

/// Writes the list of entries, the list of their builders, and [`Chosen`] with a variant for each process
/// type.
///
/// A line names the catalogue's file of an algorithm and the processes that it may build; behind `on` stands
/// the same algorithm on a failure detector.
macro_rules! register {
    (
        $($kind:ident::$file:ident: $($name:ident($process:ty)),+ $(; on $stacked:ident($on_detector:ty))?.)+
        => $($shared:ident($shared_process:ty)),+;
        on $($shared_stacked:ident($shared_on_detector:ty)),+.
    ) => {
        /// Every algorithm: elections, then mutual exclusions, then agreements.
        pub const ENTRIES: &[Entry] = &[$($kind::$file::ENTRY),+];

        /// How each of [`ENTRIES`] is built, in the same order.
        const BUILDERS: &[Build] = &[$($kind::$file::build),+];

        /// A system ready to be driven, of whichever algorithm was chosen at run time.
        ///
        /// The choice is a plain value: what builds systems is compiled once, and only
        /// [`accept`](Chosen::accept) is compiled for each driver.
        #[allow(missing_docs, reason = "each variant is named as its process")]
        pub enum Chosen {
            $($($name(Box<Setup<$process>>),)+ $($stacked(Box<Setup<$on_detector>>),)?)+
            $($shared(Box<Setup<$shared_process>>),)+
            $($shared_stacked(Box<Setup<$shared_on_detector>>),)+
        }

        impl Chosen {
            /// Hands the system to a visitor, which is generic over the process and drives it at full speed.
            ///
            /// # Errors
            /// If the algorithm stands on a detector, and the visitor drives algorithms alone.
            pub fn accept<V: Visitor>(self, visitor: V) -> Result<V::Result, SetupError> {
                match self {
                    $($(Chosen::$name(setup) => Ok(visitor.visit(*setup)),)+
                    $(Chosen::$stacked(setup) => on_detector(*setup, visitor),)?)+
                    $(Chosen::$shared(setup) => Ok(visitor.visit(*setup)),)+
                    $(Chosen::$shared_stacked(setup) => on_detector(*setup, visitor),)+
                }
            }
        }

        $($(register!(@from $name, $process);)+ $(register!(@from $stacked, $on_detector);)?)+
        $(register!(@from $shared, $shared_process);)+
        $(register!(@from $shared_stacked, $shared_on_detector);)+
    };
    (@from $name:ident, $process:ty) => {
        impl From<Setup<$process>> for Chosen {
            fn from(setup: Setup<$process>) -> Self {
                Chosen::$name(Box::new(setup))
            }
        }
    };
}

register! {
    elections::all_to_all: AllToAll(Synchronous<AllToAll>).
    elections::bully: Bully(Bully).
    elections::stable: Stable(StableElection).
    elections::collecting_ring: CollectingRing(CollectingRing).
    elections::chang_roberts: ChangRoberts(ChangRoberts).
    elections::franklin: Franklin(Franklin), FranklinAsPrinted(FranklinAsPrinted).
    elections::hirschberg_sinclair: HirschbergSinclair(HirschbergSinclair).
    elections::dolev_klawe_rodeh: DolevKlaweRodeh(DolevKlaweRodeh).
    elections::anonymous_ring: AnonymousRing(AnonymousRing).
    elections::itai_rodeh: ItaiRodeh(ItaiRodeh).
    elections::yo_yo: YoYo(YoYo).
    elections::capture_sync: CaptureSync(Synchronous<CaptureSync>).
    elections::capture_async: CaptureAsync(CaptureAsync).
    elections::omega: Omega(Omega).
    elections::majority: Majority(Majority).
    elections::large_group: LargeGroup(LargeGroup).
    mutexes::coordinator: Coordinator(Coordinator).
    mutexes::elected_coordinator: ElectedCoordinator(Elected<AnyElection>);
        on ElectedCoordinatorOnDetector(Stacked<AnyDetector, Elected<AnyElection>>).
    mutexes::token_ring: TokenRing(TokenRing); on TokenRingOnDetector(Stacked<AnyDetector, TokenRing>).
    mutexes::lamport: Lamport(Lamport).
    mutexes::ricart_agrawala: RicartAgrawala(RicartAgrawala).
    mutexes::maekawa: Maekawa(Maekawa).
    mutexes::quorum: Quorum(Quorum).
    mutexes::suzuki_kasami: SuzukiKasami(SuzukiKasami).
    mutexes::raymond: Raymond(Raymond).
    mutexes::service: Service(Service).
    agreements::flood_set: FloodSet(Synchronous<FloodSet>).
    agreements::byzantine_generals: ByzantineGenerals(Synchronous<ByzantineGenerals>).
    agreements::signed_generals: SignedGenerals(Synchronous<SignedGenerals>).
    agreements::interactive_consistency: InteractiveConsistency(Synchronous<InteractiveConsistency>).
    agreements::paxos: Paxos(Paxos); on PaxosOnDetector(Stacked<AnyDetector, Paxos>).
    => Election(AnyElection); on ElectionOnDetector(Stacked<AnyDetector, AnyElection>).
}

/// The visitor sees an algorithm on a detector if it can, and is not compiled for it otherwise.
fn on_detector<V: Visitor, P: Process>(setup: Setup<P>, visitor: V) -> Result<V::Result, SetupError> {
    if V::ON_DETECTORS {
        return Ok(visitor.visit(setup));
    }
    let reason = "here an algorithm runs alone; leave the detector out".to_owned();
    Err(SetupError::Unfit { what: "detector", name: setup.detector.to_owned(), reason })
}

/// Makes the system that `request` describes.
///
/// # Errors
/// If the request makes no sense; the error says which part of it, and what would.
pub fn build(request: &Request<'_>) -> Result<Chosen, SetupError> {
    let entry = super::entry(request.algorithm)?;
    let options = Options::new(entry, request)?;
    let listed = ENTRIES.iter().zip(BUILDERS).find(|(listed, _)| listed.name == entry.name);
    let (_, build) = listed.expect("the entry comes from the list");
    build(entry, request, &options)
}
