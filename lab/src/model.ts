// What the engine sends: see crates/habemus-lab.

export type Action = [act: string, words: string];

export interface ProcessView {
  id: number;
  x: number;
  y: number;
  up: boolean;
  paused: boolean;
  status: "idle" | "waiting" | "inside" | "leading" | "following" | "decided";
  leader: number | null;
  words: string;
  touched: boolean;
  timer: { left: number; words: string } | null;
  actions: Action[];
}

export interface LinkView {
  from: number;
  to: number;
  both: boolean;
  cut: boolean;
  action: Action;
}

export interface MessageView {
  from: number;
  to: number;
  number: number;
  way: number;
  kind: string;
  label: string;
  background: boolean;
  actions: Action[];
  refusal: string | null;
}

export interface NextView {
  process: number;
  words: string;
  due: string | null;
  background: boolean;
  action: string | null;
  refusal: string | null;
}

export interface PropertyView {
  name: string;
  title: string;
  demand: string;
  verdict: "holds" | "violated" | "open" | "does-not-apply";
  promised: boolean;
  explanation: string;
  event: number | null;
}

export interface Variable {
  name: string;
  value: string;
  leaf: "plain" | "process";
  parts: Variable[];
}

export interface ProcessPanel {
  id: number;
  status: string;
  variables: Variable[];
  changed: string[];
  stable: Variable[];
  why: { text: string; process: number | null }[];
}

export interface BranchView {
  parent: number | null;
  at: number;
  label: string;
  known: number;
  current: boolean;
  depth: number;
  differs: { event: number; here: string; there: string } | null;
}

export interface Frame {
  title: string;
  algorithm: string;
  problem: string;
  size: number;
  seed: number;
  topology: string;
  topologies: string[];
  lock: string;
  locks: string[];
  cursor: number;
  known: number;
  over: string | null;
  time: string;
  now: number;
  processes: ProcessView[];
  links: LinkView[];
  messages: MessageView[];
  next: NextView[];
  properties: PropertyView[];
  meter: { messages: number; kinds: [string, number][]; bound: number | null; theory: string; cost: string };
  process: ProcessPanel | null;
  branches: BranchView[];
  marks: { event: number; kind: "fault" | "violation" | "hand" | "result" }[];
  fingerprint: string;
  said: string;
  recorded: boolean;
  live: boolean;
  cycle: number | null;
}

export interface Mark {
  column: number;
  kind: string;
  label: string;
}

export interface Row {
  event: number;
  top: number;
  silence: string | null;
  time: string;
  words: string;
  by_hand: boolean;
  marks: Mark[];
}

export interface Arrow {
  sender: number;
  number: number;
  event: number;
  from: [top: number, column: number];
  to: [top: number, column: number];
  end: "arrived" | "lost" | "on-its-way";
  kind: string;
  label: string;
}

export interface DiagramView {
  axis: "order" | "time";
  background: boolean;
  hidden: string[];
  processes: number[];
}

export interface Rows {
  columns: number[];
  kinds: string[];
  height: number;
  total: number;
  hidden: number;
  first: number;
  rows: Row[];
  arrows: Arrow[];
}

export interface Cone {
  event: number;
  past: number[];
  future: number[];
  before: number[];
  after: number[];
}

export interface CourseView {
  name: string;
  title: string;
  text: string;
  wanted: string;
  budget: [words: string, count: number][];
  change: string[];
  hints: string[];
  more: boolean;
  solved: boolean;
  objections: string[];
  question: { text: string; choices: string[] } | null;
  said: [right: boolean, because: string] | null;
  questions: [all: number, answered: number];
}

export interface CheckLine {
  name: string;
  title: string;
  demand: string;
  verdict: "holds" | "violated" | "not-found" | "not-covered" | "does-not-apply";
  promised: boolean;
  explanation: string;
  steps: number | null;
  scenario: string | null;
  trace: string | null;
}

export interface CheckAnswer {
  states: number;
  done: boolean;
  result?: { complete: boolean; states: number; depth: number; properties: CheckLine[] };
  error?: string;
  detail?: string;
}

export interface Answer {
  frame?: Frame;
  rows?: Rows;
  top?: number;
  exercises?: [name: string, title: string][];
  course?: CourseView;
  hide?: string[];
  cone?: Cone;
  link?: string;
  file?: [name: string, text: string];
  texts?: Record<string, string>;
  language?: "en" | "pt";
  exhibits?: [name: string, title: string][];
  algorithms?: [name: string, problem: string][];
  exhibit?: string;
  done?: boolean;
  error?: string;
  /// What the parser says of it, in English.
  detail?: string;
  bytes?: number;
}

export type Wish = { wish: string } & Record<string, unknown>;
