//! The lab as WebAssembly: the page asks, and is answered, in JSON.

use habemus_lab::Lab;
use wasm_bindgen::prelude::wasm_bindgen;

/// The lab, for the page.
#[wasm_bindgen]
#[derive(Default)]
pub struct Engine(Lab);

#[wasm_bindgen]
impl Engine {
    /// A lab without an experiment.
    #[wasm_bindgen(constructor)]
    pub fn new() -> Self {
        Engine::default()
    }

    /// Does what the page wishes, and answers; both are JSON.
    ///
    /// # Panics
    /// If the page asks for that, to see what becomes of it.
    pub fn ask(&mut self, wish: &str) -> String {
        assert!(wish != "panic", "the page asked for it");
        self.0.ask(wish)
    }
}
