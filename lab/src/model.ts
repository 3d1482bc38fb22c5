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
  timers: number;
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
  differs: number | null;
}

export interface Frame {
  title: string;
  algorithm: string;
  problem: string;
  size: number;
  seed: number;
  cursor: number;
  known: number;
  over: string | null;
  time: string;
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
}

export interface Mark {
  column: number;
  kind: string;
  label: string;
}

export interface Row {
  event: number;
  time: string;
  words: string;
  by_hand: boolean;
  marks: Mark[];
}

export interface Arrow {
  message: number;
  from: [row: number, column: number];
  to: [row: number, column: number];
  end: "arrived" | "lost" | "on-its-way";
  kind: string;
  label: string;
}

export interface Rows {
  columns: number[];
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
}

export interface Answer {
  frame?: Frame;
  rows?: Rows;
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
}

export type Wish = { wish: string } & Record<string, unknown>;
