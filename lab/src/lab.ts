// What the page knows, and what it asks of the engine. Everything that is decided is decided there.
import { Client, FIRST } from "./client";
import type { Action, Answer, Cone, Frame, Wish } from "./model";

export interface Menu {
  x: number;
  y: number;
  title: string;
  note: string | null;
  actions: Action[];
}

export interface State {
  frame: Frame | null;
  texts: Record<string, string>;
  language: "en" | "pt";
  exhibits: [string, string][];
  algorithms: [string, string][];
  exhibit: string;
  selected: number | null;
  playing: boolean;
  speed: number;
  background: boolean;
  menu: Menu | null;
  toast: string | null;
  help: boolean;
  cone: Cone | null;
  /// Counts whatever changes what the diagram shows.
  revision: number;
}

export class Lab {
  state: State = {
    frame: null,
    texts: {},
    language: "en",
    exhibits: [],
    algorithms: [],
    exhibit: "",
    selected: null,
    playing: false,
    speed: 2,
    background: false,
    menu: null,
    toast: null,
    help: false,
    cone: null,
    revision: 0,
  };
  readonly client: Client;
  private listener: () => void = () => {};
  private timer = 0;
  private sharing = 0;
  private busy = false;
  private written = "";

  constructor() {
    this.client = new Client((answer) => {
      this.take(answer);
      this.say(this.state.texts["crashed"] ?? "");
    });
  }

  listen(listener: () => void) {
    this.listener = listener;
  }

  set(change: Partial<State>) {
    this.state = { ...this.state, ...change };
    this.listener();
  }

  async begin() {
    const exhibits = await (await fetch(new URL("exhibits.json", import.meta.url))).json();
    this.take(await this.client.introduce({ wish: "exhibits", exhibits }));
    if (navigator.language.startsWith("pt")) this.take(await this.client.ask({ wish: "speak", language: "pt" }));
    await this.follow(location.hash || `#${FIRST}`);
    // What the address is by now may be what the page has written meanwhile.
    window.addEventListener("hashchange", ({ newURL }) => {
      const link = new URL(newURL).hash;
      if (link.slice(1) !== this.written) void this.follow(link);
    });
  }

  private async follow(link: string) {
    const answer = await this.ask({ wish: "open", link });
    if (answer.error && !this.state.frame) await this.ask({ wish: "open", link: `#${FIRST}` });
  }

  /// Takes over what an answer says.
  private take(answer: Answer) {
    const change: Partial<State> = {};
    if (answer.texts) change.texts = answer.texts;
    if (answer.language) {
      change.language = answer.language;
      document.documentElement.lang = answer.language;
    }
    if (answer.exhibits) change.exhibits = answer.exhibits;
    if (answer.algorithms) change.algorithms = answer.algorithms;
    if (answer.exhibit !== undefined) change.exhibit = answer.exhibit;
    if (answer.frame) {
      change.frame = answer.frame;
      change.cone = null;
      change.selected = answer.frame.process?.id ?? null;
      change.revision = this.state.revision + 1;
    }
    if (answer.error) change.toast = answer.error;
    this.set(change);
  }

  async ask(wish: Wish): Promise<Answer> {
    const answer = await this.client.ask(wish);
    this.take(answer);
    if (answer.frame) this.share();
    return answer;
  }

  say(toast: string) {
    this.set({ toast });
    window.setTimeout(() => this.state.toast === toast && this.set({ toast: null }), 6000);
  }

  /// Keeps the address in step with what is seen.
  private share() {
    window.clearTimeout(this.sharing);
    this.sharing = window.setTimeout(() => void this.link(), 200);
  }

  private async link(): Promise<string> {
    const { link } = await this.client.ask({ wish: "share" });
    if (link) {
      this.client.link = link;
      this.written = link;
      history.replaceState(null, "", `#${link}`);
    }
    return link ?? "";
  }

  async copyLink() {
    await this.link();
    try {
      await navigator.clipboard.writeText(location.href);
    } catch {
      // Where there is no clipboard, the address bar has it.
    }
    this.say(this.state.texts["copied"] ?? "");
  }

  step(by: number) {
    this.stop();
    return this.ask({ wish: "step", by });
  }

  seek(to: number) {
    this.stop();
    return this.ask({ wish: "seek", to });
  }

  act(text: string) {
    this.stop();
    this.set({ menu: null });
    return this.ask({ wish: "act", text });
  }

  select(process: number | null) {
    return this.ask({ wish: "select", process });
  }

  async end() {
    this.stop();
    while (true) {
      const answer = await this.ask({ wish: "run-on" });
      if (answer.done !== false) return;
    }
  }

  play() {
    if (this.state.playing) return this.stop();
    this.set({ playing: true });
    this.tick();
  }

  private tick() {
    this.timer = window.setTimeout(async () => {
      if (!this.state.playing) return;
      if (!this.busy) {
        this.busy = true;
        const before = this.state.frame?.cursor;
        await this.ask({ wish: "step", by: Math.max(1, Math.round(this.state.speed / 30)) });
        this.busy = false;
        if (this.state.frame?.cursor === before) return this.stop();
      }
      if (this.state.playing) this.tick();
    }, Math.max(33, 1000 / this.state.speed));
  }

  stop() {
    window.clearTimeout(this.timer);
    if (this.state.playing) this.set({ playing: false });
  }

  async speak(language: "en" | "pt") {
    await this.ask({ wish: "speak", language });
  }

  async download(format: "scenario" | "trace") {
    const { file } = await this.client.ask({ wish: "file", format });
    if (!file) return;
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([file[1]], { type: "text/plain" }));
    link.download = file[0];
    link.click();
    window.setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  async openFile(file: File) {
    await this.ask({ wish: "open", toml: await file.text() });
  }

  async cone(event: number, from: number, to: number) {
    const { cone } = await this.client.ask({ wish: "cone", event, from, to });
    if (cone) this.set({ cone });
  }
}
