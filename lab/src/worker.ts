// The engine, away from the page: what takes it long, or stops it, does not stop the page.
import load, { Engine } from "engine";

let engine: Engine | undefined;

const ready = load({ module_or_path: new URL("engine_bg.wasm", import.meta.url) }).then(() => {
  engine = new Engine();
});

self.onmessage = async (event: MessageEvent<{ id: number; wish: string }>) => {
  const { id, wish } = event.data;
  try {
    await ready;
    self.postMessage({ id, answer: engine!.ask(wish) });
  } catch (error) {
    self.postMessage({ id, crashed: String(error) });
  }
};
