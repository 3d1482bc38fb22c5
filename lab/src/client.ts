// The page's end of the line to the engine. If the engine stops, another one takes its place and goes where it was.
import type { Answer, Wish } from "./model";

/// What is shown where nothing else is asked for.
export const FIRST = "e=s1-chang-roberts";

type Pending = { resolve: (answer: Answer) => void; wish: string };

export class Client {
  private worker!: Worker;
  private pending = new Map<number, Pending>();
  private next = 0;
  /// What a new engine must be told first.
  private prologue: Wish[] = [];
  /// Where the experiment is.
  link = "";

  constructor(private readonly crashed: (answer: Answer) => void) {
    this.start();
  }

  private start() {
    this.worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
    this.worker.onmessage = (event) => this.receive(event.data);
    this.worker.onerror = () => this.restart();
  }

  private receive(data: { id: number; answer?: string; crashed?: string }) {
    const pending = this.pending.get(data.id);
    this.pending.delete(data.id);
    if (data.answer === undefined) {
      pending?.resolve({});
      void this.restart();
      return;
    }
    pending?.resolve(JSON.parse(data.answer) as Answer);
  }

  private async restart() {
    this.worker.terminate();
    for (const { resolve } of this.pending.values()) resolve({});
    this.pending.clear();
    this.start();
    // Where an engine has stopped twice, no third one is sent.
    const link = this.link;
    this.link = "";
    for (const wish of this.prologue) await this.ask(wish);
    const answer = await this.ask({ wish: "open", link: link || FIRST });
    if (!answer.frame) return;
    this.link = link;
    this.crashed(answer);
  }

  ask(wish: Wish | "panic" | "memory"): Promise<Answer> {
    const id = this.next++;
    const text = typeof wish === "string" ? wish : JSON.stringify(wish);
    return new Promise((resolve) => {
      this.pending.set(id, { resolve, wish: text });
      this.worker.postMessage({ id, wish: text });
    });
  }

  /// Asks for something that every engine after this one must know, too.
  async introduce(wish: Wish): Promise<Answer> {
    this.prologue.push(wish);
    return this.ask(wish);
  }
}
