// The engine, away from the page: what takes it long, or stops it, does not stop the page.
import load, { Engine } from "engine";

let engine: Engine | undefined;

let memory: WebAssembly.Memory | undefined;

const ready = load({ module_or_path: new URL("engine_bg.wasm", import.meta.url) }).then((loaded) => {
  memory = (loaded as { memory: WebAssembly.Memory }).memory;
  engine = new Engine();
});

self.onmessage = async (event: MessageEvent<{ id: number; wish: string }>) => {
  const { id, wish } = event.data;
  try {
    await ready;
    // For whoever measures the page.
    const answer = wish === "memory" ? JSON.stringify({ bytes: memory!.buffer.byteLength }) : engine!.ask(wish);
    self.postMessage({ id, answer });
  } catch (error) {
    self.postMessage({ id, crashed: String(error) });
  }
};
