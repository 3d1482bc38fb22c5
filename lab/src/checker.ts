// The checker, away from the page: it is fetched when somebody wants it, and ended when somebody cancels.
import load, { CheckerEngine } from "checker";

let engine: CheckerEngine | undefined;

const ready = load({ module_or_path: new URL("checker_bg.wasm", import.meta.url) }).then(() => {
  engine = new CheckerEngine();
});

self.onmessage = async (event: MessageEvent<string>) => {
  try {
    await ready;
    // A piece at a time: between two of them the page hears how far it is.
    let wish = event.data;
    for (;;) {
      const answer = engine!.ask(wish);
      self.postMessage(answer);
      if ((JSON.parse(answer) as { done: boolean }).done) return;
      wish = JSON.stringify({ wish: "on" });
      await new Promise((resolve) => setTimeout(resolve, 0));
    }
  } catch (error) {
    self.postMessage(JSON.stringify({ done: true, error: String(error) }));
  }
};
