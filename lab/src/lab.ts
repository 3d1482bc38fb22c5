// What the page knows, and what it asks of the engine. Everything that is decided is decided there.
import { Client, FIRST } from "./client";
import type { Action, Answer, CheckAnswer, Cone, CourseView, DiagramView, Frame, Wish } from "./model";

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
  /// So many events a second; or, after an ×, so many times as fast as the run's own time.
  speed: string;
  view: DiagramView;
  /// What the sources say of the variables: by module, and there by name.
  fields: Record<string, Record<string, string>>;
  exercises: [string, string][];
  course: CourseView | null;
  /// The exercises that were solved in this browser.
  solved: string[];
  /// Whether somebody came without a link, and has not chosen anything yet.
  welcome: boolean;
  /// Parts of the page that a link hides.
  hide: string[];
  check: { answer: CheckAnswer; limit: number } | "loading" | null;
  editing: string | null;
  teaching: boolean;
  searching: boolean;
  /// What real nodes said.
  replies: string[];
  menu: Menu | null;
  toast: string | null;
  /// What the parser says of the error that is shown, in English.
  detail: string | null;
  help: boolean;
  cone: Cone | null;
  /// Counts whatever changes what the diagram shows.
  revision: number;
}

/// Progress is kept in this browser and goes nowhere else.
const SOLVED = "habemus-solved";

function remembered(): string[] {
  try {
    return JSON.parse(localStorage.getItem(SOLVED) ?? "[]") as string[];
  } catch {
    return [];
  }
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
    speed: "2",
    view: { axis: "order", background: false, hidden: [], processes: [] },
    fields: {},
    exercises: [],
    course: null,
    solved: remembered(),
    welcome: false,
    hide: [],
    check: null,
    editing: null,
    teaching: false,
    searching: false,
    replies: [],
    menu: null,
    toast: null,
    detail: null,
    help: false,
    cone: null,
    revision: 0,
  };
  readonly client: Client;
  private listener: () => void = () => {};
  private timer = 0;
  private sharing = 0;
  private written = "";
  private checker: Worker | null = null;
  /// What shows real nodes that this page may speak to them.
  private token = "";

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
    const [exhibits, fields] = await Promise.all(["exhibits.json", "fields.json"].map(async (name) => (await fetch(new URL(name, import.meta.url))).json()));
    this.set({ fields });
    this.take(await this.client.introduce({ wish: "exhibits", exhibits }));
    if (navigator.language.startsWith("pt")) this.take(await this.client.ask({ wish: "speak", language: "pt" }));
    const token = /^#live=([\w-]+)/.exec(location.hash)?.[1];
    if (token) return this.watch(token);
    this.set({ welcome: location.hash.length < 2 });
    await this.follow(location.hash || `#${FIRST}`);
    // What the address is by now may be what the page has written meanwhile.
    window.addEventListener("hashchange", ({ newURL }) => {
      const link = new URL(newURL).hash;
      if (link.slice(1) !== this.written) void this.follow(link);
    });
  }

  /// Watches real nodes: whatever they record comes as it happens.
  private async watch(token: string) {
    this.token = token;
    await this.ask({ wish: "open", live: null });
    const source = new EventSource(`live?token=${token}`);
    let lines: string[] = [];
    source.onmessage = ({ data }) => {
      // What comes within a moment is shown at once.
      lines.push(data as string);
      if (lines.length === 1) {
        window.setTimeout(() => {
          const all = lines;
          lines = [];
          if (all.length > 0) void this.ask({ wish: "records", lines: all });
        }, 60);
      }
    };
    // An earlier record has changed: all of them come again.
    source.addEventListener("anew", () => {
      lines = [];
      void this.client.ask({ wish: "open", live: null });
    });
    source.onerror = () => {
      source.close();
      this.say(this.state.texts["live-over"] ?? "");
    };
  }

  /// Says something to real nodes, in the words of the console.
  async tell(words: string) {
    this.set({ menu: null });
    const answer = await fetch(`tell?token=${this.token}`, { method: "POST", body: words });
    const said = (await answer.text()).trim();
    this.set({ replies: [...this.state.replies.slice(-30), `> ${words}`, ...(said ? [said] : [])] });
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
    if (answer.exercises) change.exercises = answer.exercises;
    if (answer.hide) change.hide = answer.hide;
    if (answer.frame) {
      // Whoever answers with a moment says, too, whether it belongs to an exercise.
      change.course = answer.course ?? null;
      if (answer.course?.solved && !this.state.solved.includes(answer.course.name)) {
        change.solved = [...this.state.solved, answer.course.name];
        try {
          localStorage.setItem(SOLVED, JSON.stringify(change.solved));
        } catch {
          // Where nothing can be kept, it is known until the page is closed.
        }
      }
      change.frame = answer.frame;
      // What is opened after the first page has been chosen.
      if (answer.exhibit !== undefined && this.state.frame) change.welcome = false;
      change.cone = null;
      change.selected = answer.frame.process?.id ?? null;
      change.revision = this.state.revision + 1;
    }
    if (answer.error) [change.toast, change.detail] = [answer.error, answer.detail ?? null];
    this.set(change);
  }

  async ask(wish: Wish): Promise<Answer> {
    const answer = await this.client.ask(wish);
    this.take(answer);
    if (answer.frame) this.share();
    return answer;
  }

  say(toast: string) {
    this.set({ toast, detail: null });
    window.setTimeout(() => this.state.toast === toast && this.set({ toast: null }), 6000);
  }

  /// Keeps the address in step with what is seen.
  private share() {
    window.clearTimeout(this.sharing);
    this.sharing = window.setTimeout(() => void this.link(), 200);
  }

  private async link(hide: string[] = []): Promise<string> {
    if (this.state.frame?.recorded || this.state.frame?.live) return "";
    const { link } = await this.client.ask({ wish: "share", hide });
    if (link) {
      // What others do not see, whoever hides it does.
      if (hide.length > 0) return link;
      this.client.link = link;
      this.written = link;
      history.replaceState(null, "", `#${link}`);
    }
    return link ?? "";
  }

  async copyLink(hide: string[] = []) {
    const link = await this.link(hide);
    try {
      const address = new URL(location.href);
      if (link) address.hash = link;
      await navigator.clipboard.writeText(address.href);
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

  act(text: string): Promise<unknown> {
    this.stop();
    if (this.state.frame?.live) return this.tell(text);
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

  private tick(time = this.state.frame?.now ?? 0) {
    const { speed } = this.state;
    const pace = Number(speed.replace("×", ""));
    const wait = speed.startsWith("×") ? 33 : Math.max(33, 1000 / pace);
    this.timer = window.setTimeout(async () => {
      if (!this.state.playing) return;
      // By time, nothing happens in a silence, and that is no end.
      const then = time + wait * 1e6 * pace;
      const before = this.state.frame?.cursor;
      const wish = speed.startsWith("×") ? { wish: "advance", to: Math.round(then) } : { wish: "step", by: Math.max(1, Math.round(pace / 30)) };
      await this.ask(wish);
      const { frame, playing, course } = this.state;
      const ended = frame?.over !== null || course?.question || wish.wish === "step";
      if (frame?.cursor === before && ended) return this.stop();
      if (playing) this.tick(speed === this.state.speed ? then : undefined);
    }, wait);
  }

  stop() {
    window.clearTimeout(this.timer);
    if (this.state.playing) this.set({ playing: false });
  }

  async speak(language: "en" | "pt") {
    await this.ask({ wish: "speak", language });
  }

  async download(format: string) {
    const { file } = await this.client.ask({ wish: "file", format });
    if (!file) return;
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([file[1]], { type: "text/plain" }));
    link.download = file[0];
    link.click();
    window.setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  async openFile(file: File) {
    const text = await file.text();
    await this.ask({ wish: "open", [file.name.endsWith(".jsonl") ? "trace" : "toml"]: text });
  }

  async edit() {
    const { file } = await this.client.ask({ wish: "file", format: "scenario" });
    if (file) this.set({ editing: file[1] });
  }

  look(view: Partial<DiagramView>) {
    this.set({ view: { ...this.state.view, ...view }, revision: this.state.revision + 1 });
  }

  /// Lets the checker look at every run; it is fetched when it is first wanted.
  async check(question: Record<string, unknown>, limit: number) {
    this.cancelCheck();
    const { file } = await this.client.ask({ wish: "file", format: "scenario" });
    if (!file) return;
    this.set({ check: "loading" });
    const checker = new Worker(new URL("checker.js", import.meta.url), { type: "module" });
    this.checker = checker;
    checker.onmessage = (event: MessageEvent<string>) => {
      if (this.checker === checker) this.set({ check: { answer: JSON.parse(event.data) as CheckAnswer, limit } });
    };
    const wish = { wish: "check", toml: file[1], "max-states": limit, language: this.state.language, ...question };
    checker.postMessage(JSON.stringify(wish));
  }

  cancelCheck() {
    this.checker?.terminate();
    this.checker = null;
    this.set({ check: null });
  }

  async cone(event: number, from: number, to: number) {
    const { cone } = await this.client.ask({ wish: "cone", event, from, to });
    if (cone) this.set({ cone });
  }
}
