//! The model checker as WebAssembly: an engine of its own, which is fetched when somebody wants to check
//! something.

use habemus_lab::Checker;
use wasm_bindgen::prelude::wasm_bindgen;

/// The checker, for the page.
#[wasm_bindgen]
#[derive(Default)]
pub struct CheckerEngine(Checker);

#[wasm_bindgen]
impl CheckerEngine {
    /// A checker without a question.
    #[wasm_bindgen(constructor)]
    pub fn new() -> Self {
        CheckerEngine::default()
    }

    /// Does what the page wishes, and answers; both are JSON.
    pub fn ask(&mut self, wish: &str) -> String {
        self.0.ask(wish)
    }
}
