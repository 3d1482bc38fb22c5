// The admin page: asks its member what there is, twice in a second, and draws it. What is told is decided there.

import { TEXTS } from "./texts.js";

const root = document.documentElement;
const kept = (name) => { try { return localStorage.getItem(name); } catch { return null; } };
const keep = (name, value) => { try { localStorage.setItem(name, value); } catch { /* Then it is forgotten. */ } };

let language = kept("habemus-language") ?? (navigator.language.startsWith("pt") ? "pt" : "en");
let token = null; // Whoever closes the page has signed out.
let state = null;
let seen = null; // When the state came.
let trouble = null; // "lost", "sign_in", "wrong"
let find = "";
const open = new Map(); // Which incidents were opened or closed by hand.

const say = (name, values = {}) => (TEXTS[language][name] ?? name).replace(/\{(\w+)\}/g, (_, key) => values[key] ?? "?");

/** A time as people say it: its two largest parts at most. */
const span = (ms) => {
  if (ms < 0) return "0 s";
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return `${minutes} min ${Math.floor(ms / 1000) % 60} s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
};
const number = (text) => (language === "pt" ? text.replace(".", ",") : text);
const time = (ms) => number(span(ms));
const clock = (micros) => new Date(micros / 1000).toLocaleTimeString(language);

/** An element. */
const make = (tag, given = {}, ...children) => {
  const svg = ["svg", "line", "circle", "path", "text", "title", "g"].includes(tag);
  const element = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(given)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== undefined && value !== null) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
};

const nameOf = (id) => state.members.find((member) => member.id === id)?.name || (id ?? "?");

function members() {
  return state.members.map((member) => {
    const role = !member.present ? "away" : member.leads ? "leads" : member.learner ? "learns" : "follows";
    const sign = { away: "✕", leads: "♛", learns: "◌", follows: "●" }[role];
    const facts = [member.term !== null && say("term", { term: member.term }),
      member.applied !== null && say("applied", { applied: member.applied })].filter(Boolean).join(" · ");
    return make("li", { class: `member ${role}`, "data-member": member.name, "data-role": role },
      make("h3", {}, make("span", { class: "sign", "aria-hidden": "true" }, sign), ` ${nameOf(member.id)} `,
        make("span", { class: "role" }, say(role))),
      make("p", { class: "faint" }, facts),
      make("p", { class: "faint" }, member.clients.join(", "), member.id === state.me && make("em", {}, ` ${say("here")}`)));
  });
}

function place(standing, inside) {
  const since = state.now_ms - (inside ? standing.inside_since_ms ?? standing.since_ms : standing.since_ms);
  const mode = standing.shared ? say("shared") : standing.permits ? say("permits", { permits: standing.permits }) : null;
  const facts = [say("token", { token: standing.token }), mode, say("since", { time: time(since) }),
    standing.deadline_ms !== null && standing.deadline_ms !== undefined &&
      say("ends", { time: time(standing.deadline_ms - state.now_ms) })];
  return make("li", { class: inside ? "inside" : "waits", "data-session": standing.session },
    make("span", { class: "state" }, say(inside ? "inside" : "waits")),
    make("span", { class: "who" }, standing.value || make("code", {}, standing.session)),
    make("span", { class: "faint" }, facts.filter(Boolean).join(" · ")));
}

function queues() {
  if (state.queues.length === 0) return [make("p", { class: "faint" }, find ? say("none_found", { find }) : say("no_locks"))];
  const cards = state.queues.map((queue) => make("li", { class: "queue", "data-lock": queue.name },
    make("h3", {}, queue.name, " ",
      make("small", {}, queue.waiting ? say("waiting", { count: queue.waiting }) : say("nobody_waits"))),
    make("ol", {}, queue.holders.map((one) => place(one, true)), queue.waiters.map((one) => place(one, false)))));
  const more = state.queue_count - state.queues.length;
  return [make("ul", { class: "cards" }, cards), more > 0 && make("p", { class: "faint" }, say("more", { count: more }))];
}

function sessions() {
  if (state.sessions.length === 0) return [make("p", { class: "faint" }, say("no_sessions"))];
  const row = (session) => make("tr", {}, make("th", { scope: "row" }, make("code", {}, session.session)),
    make("td", {}, time(session.ttl_ms)), make("td", {}, time(session.deadline_ms - state.now_ms)),
    make("td", {}, String(session.keys)));
  const head = ["session", "lasts", "ends_in", "keys"].map((name) => make("th", { scope: "col" }, say(name)));
  const more = state.session_count - state.sessions.length;
  return [make("table", {}, make("thead", {}, make("tr", {}, head)), make("tbody", {}, state.sessions.map(row))),
    more > 0 && make("p", { class: "faint" }, say("more", { count: more }))];
}

/** What a row says, after the name of its member. */
function words(row) {
  const values = { other: nameOf(row.other), term: row.term, time: time((row.silent ?? 0) / 1000) };
  if (row.ballot === null) return say(["row", row.what, row.why].filter(Boolean).join("_"), values);
  const kind = typeof row.ballot.kind === "string" ? row.ballot.kind : Object.keys(row.ballot.kind)[0];
  const refused = typeof row.ballot.kind === "object" && !row.ballot.kind[kind].granted;
  return say(`row_${row.what}_${refused ? "no_" : ""}${kind}`, values);
}

function title(incident) {
  const values = { leader: nameOf(incident.leader), before: nameOf(incident.before) };
  if (incident.kind === "open") return say("open");
  if (incident.kind === "returned") {
    const who = nameOf(incident.rows.at(-1)?.member);
    return say(incident.before ? "returned" : "returned_first", { ...values, who });
  }
  if (!incident.before) return say("elected", values);
  if (incident.before === incident.leader) return say("re_elected", values);
  return say(incident.why === "handed_over" ? "handed_over" : "took_over", values);
}

const HEAD = 30;
const small = matchMedia("(max-width: 760px)");

/** Members as columns, records as rows, messages as arrows. */
function diagram(incident, height) {
  const columns = state.members.map((member) => member.id);
  for (const row of incident.rows) if (!columns.includes(row.member)) columns.push(row.member);
  const width = small.matches ? Math.min(48, 170 / columns.length) : 54;
  const x = (id) => width / 2 + width * columns.indexOf(id);
  const y = (index) => HEAD + height / 2 + height * index;
  const bottom = HEAD + height * incident.rows.length;
  const drawn = [];
  for (const id of columns) {
    const name = nameOf(id);
    const led = incident.rows.findIndex((row) => row.member === id && row.what === "leads");
    drawn.push(make("text", { class: "name", x: x(id), y: HEAD - 12 }, name.length > width / 7 ? `${name.slice(0, width / 7 - 1)}…` : name,
      make("title", {}, name)));
    drawn.push(make("line", { class: "lane", x1: x(id), x2: x(id), y1: HEAD - 6, y2: bottom }));
    if (led >= 0) drawn.push(make("line", { class: "lane leading", x1: x(id), x2: x(id), y1: y(led), y2: bottom }));
  }
  const heard = new Set(incident.rows.map((row) => row.sent_in));
  incident.rows.forEach((row, index) => {
    const other = columns.includes(row.other);
    if (row.sent_in !== null) drawn.push(...arrow(x(incident.rows[row.sent_in].member), y(row.sent_in), x(row.member), y(index), row));
    else if (row.what === "heard" && other) drawn.push(...arrow(x(row.other), y(index) - height * 0.8, x(row.member), y(index), row, "stub"));
    if (row.what === "sent" && !heard.has(index) && other) {
      const [from, to] = [x(row.member), x(row.other)];
      const middle = from + (to - from) * 0.62;
      drawn.push(make("line", { class: "passage unheard", x1: from, y1: y(index), x2: middle, y2: y(index) + height * 0.3 }),
        make("text", { class: "cross", x: middle, y: y(index) + height * 0.3 + 4 }, "✕", make("title", {}, say("unheard"))));
    }
  });
  incident.rows.forEach((row, index) => {
    drawn.push(make("circle", { class: `mark ${row.what}`, cx: x(row.member), cy: y(index), r: row.what === "leads" ? 8 : 4.5 }));
    if (row.what === "leads") drawn.push(make("text", { class: "crown", x: x(row.member), y: y(index) + 4 }, "♛"));
    if (["lost", "resigned"].includes(row.what)) drawn.push(make("path", { class: "lost", d: `M${x(row.member) - 7} ${y(index) - 7}l14 14m0 -14l-14 14` }));
  });
  const size = { width: width * columns.length, height: bottom, viewBox: `0 0 ${width * columns.length} ${bottom}` };
  return make("svg", { ...size, role: "img", "aria-label": say("diagram") }, drawn);
}

function arrow(x1, y1, x2, y2, row, more = "") {
  const length = Math.hypot(x2 - x1, y2 - y1) || 1;
  const [ex, ey] = [x2 - ((x2 - x1) / length) * 6, y2 - ((y2 - y1) / length) * 6];
  const turn = (Math.atan2(y2 - y1, x2 - x1) * 180) / Math.PI;
  const kind = `passage ${row.what} ${more}`;
  return [make("line", { class: kind, x1, y1, x2: ex, y2: ey }),
    make("path", { class: kind, d: "M0 0l-8 -4v8z", transform: `translate(${ex} ${ey}) rotate(${turn})` })];
}

function incidents() {
  if (state.incidents.length === 0) return [make("p", { class: "faint" }, say("no_failovers"))];
  const height = small.matches ? 46 : 30;
  // The last election is what one came for.
  const latest = state.incidents.findIndex((incident) => incident.kind !== "returned");
  return state.incidents.map((incident, index) => {
    const key = `${incident.kind}-${incident.term}-${incident.began}`;
    const took = incident.took === null ? null : time(incident.took / 1000);
    const about = [took && incident.before && incident.kind === "elected" &&
      say("by_clock", { time: took, clock: nameOf(incident.clock) }), say("clocks"),
      incident.left_out > 0 && say("left_out", { count: incident.left_out })].filter(Boolean).join(" ");
    const rows = incident.rows.map((row) => make("li", { class: row.what },
      make("span", { class: "at" }, `${row.at < incident.began ? "−" : "+"}${time(Math.abs(row.at - incident.began) / 1000)}`),
      make("span", {}, make("b", {}, nameOf(row.member)), " ", words(row))));
    const part = make("details", { open: open.get(key) ?? index === latest, class: `incident ${incident.kind}`, "data-kind": incident.kind,
      "data-leader": nameOf(incident.leader), "data-before": nameOf(incident.before), "data-took": incident.took },
      make("summary", { "data-key": key }, make("b", {}, title(incident)), " ",
        took && incident.kind !== "returned" && make("span", { class: "took" }, say("in_time", { time: took })), " ",
        make("span", { class: "faint" }, `${say("term", { term: incident.term })} · ${clock(incident.began)}`)),
      make("p", { class: "faint" }, about),
      make("div", { class: "story" }, diagram(incident, height), make("ol", {}, rows)));
    part.addEventListener("toggle", () => open.set(key, part.open));
    return part;
  });
}

const sections = {};

/** A part of the page. It stays where it is, and so does whatever in it has not changed: somebody may be pointing at it. */
function section(name, nodes, head = []) {
  let part = sections[name];
  if (part?.language !== language) {
    const content = make("div");
    const node = make("section", { id: name, "aria-labelledby": `${name}-title` },
      make("h2", { id: `${name}-title` }, say(name)), ...head, content);
    part = sections[name] = { node, content, language, nodes: null };
  }
  if (part.nodes !== nodes) {
    part.nodes = nodes;
    part.content.replaceChildren(...nodes.filter(Boolean));
  }
  return part.node;
}

/** Puts these into a parent, and touches none that is there already. */
function fill(parent, children) {
  children.forEach((child, index) => {
    const present = parent.childNodes[index];
    if (present === undefined) parent.append(child);
    else if (present !== child) present.replaceWith(child);
  });
  while (parent.childNodes.length > children.length) parent.lastChild.remove();
}

const made = new Map();

/** What was made for the same things before, or is made now. */
function once(name, things, build) {
  const key = JSON.stringify(things);
  if (made.get(name)?.key !== key) made.set(name, { key, value: build() });
  return made.get(name).value;
}

function signIn() {
  const submit = async (event) => {
    event.preventDefault();
    const form = new FormData(event.target);
    const body = JSON.stringify({ name: form.get("name"), password: form.get("password") });
    try {
      const answer = await fetch("/v3/auth/authenticate", { method: "POST", body });
      token = answer.ok ? (await answer.json()).token : null;
      trouble = answer.ok ? null : "wrong";
    } catch {
      trouble = "lost";
    }
    draw();
    look();
  };
  const field = (name, type, autocomplete) => make("label", {}, say(name), make("input", { name, type, autocomplete, required: true, "data-key": name }));
  return make("form", { class: "sign-in", onsubmit: submit }, make("h2", {}, say("sign_in")), make("p", {}, say("sign_in_why")),
    field("name", "text", "username"), field("password", "password", "current-password"),
    make("p", { role: "alert", class: "bad" }, trouble === "wrong" ? say("wrong") : ""), make("button", { class: "primary" }, say("sign_in")));
}

function notice() {
  if (trouble === "lost") return say("lost", { when: seen ? seen.toLocaleTimeString(language) : "–" });
  return state && state.leader === null ? say("no_leader") : "";
}

const isDark = () => (root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";

function bar() {
  const about = state ? ` ${say("title")}` : "";
  const look = () => { root.dataset.theme = isDark() ? "light" : "dark"; keep("habemus-theme", root.dataset.theme); draw(); };
  const speak = () => { language = language === "en" ? "pt" : "en"; keep("habemus-language", language); draw(); };
  return [
    make("h1", {}, make("span", { class: "crown", "aria-hidden": "true" }, "♛"), " habemus", make("small", {}, about)),
    make("button", { name: "language", lang: language === "en" ? "pt" : "en", onclick: speak, "data-key": "language" }, say("language")),
    make("button", { name: "theme", onclick: look, "data-key": "theme" }, say(isDark() ? "to_light" : "to_dark")),
  ];
}

/** Draws everything anew; whoever had the focus, keeps it. */
function draw() {
  const focused = document.activeElement?.dataset?.key;
  root.lang = language;
  document.title = state ? `habemus · ${nameOf(state.me)}` : "habemus";
  fill(document.querySelector("#bar"), once("bar", [language, isDark(), state !== null], bar));
  const page = document.querySelector("#page");
  if (trouble === "sign_in" || trouble === "wrong") page.replaceChildren(signIn());
  else if (state) {
    const field = document.querySelector("[name=find]") ?? make("input", { name: "find", type: "search", "data-key": "find" });
    field.oninput = () => { find = field.value; look(); };
    field.placeholder = say("find_hint");
    field.setAttribute("aria-label", say("find"));
    const names = state.members.map(({ id, name }) => [id, name]);
    const failovers = once("failovers", [state.incidents, names, language, small.matches], incidents);
    const side = once("side", [], () => make("div", { class: "side" }));
    fill(side, [section("locks", queues(), [field]), section("sessions", sessions())]);
    fill(page, [
      once("notice", [notice()], () => make("p", { role: "status", class: "notice" }, notice())),
      section("members", [make("ul", { class: "cards members" }, members())]),
      section("failovers", failovers),
      side,
    ]);
  } else page.replaceChildren(make("p", { role: "status", class: "notice" }, notice()));
  if (focused) document.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
}

let latest = 0;
let drawn = "";

/** Asks once, and draws what came unless a later question was answered first. */
async function look() {
  const mine = ++latest;
  try {
    const headers = token ? { authorization: token } : {};
    // A path of dots alone would be another path.
    const wanted = encodeURIComponent(find.replace(/^\.+$/, ""));
    const answer = await fetch(`/admin/state${wanted && "/"}${wanted}`, { headers });
    const body = await answer.json();
    if (mine !== latest) return;
    if (answer.ok) [state, seen, trouble] = [body, new Date(), null];
    else if (answer.status === 403) [token, state, trouble] = [null, null, trouble === "wrong" ? trouble : "sign_in"];
    else trouble = "lost";
  } catch {
    if (mine === latest) trouble = "lost";
  }
  // A form that somebody fills in is left alone.
  const now = JSON.stringify([trouble, trouble === "sign_in" || trouble === "wrong" ? null : state, language]);
  if (now !== drawn) { drawn = now; draw(); }
}

async function live() {
  for (;;) {
    if (!document.hidden) await look();
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

const theme = kept("habemus-theme");
if (theme === "dark" || theme === "light") root.dataset.theme = theme;
if (!(language in TEXTS)) language = "en";
live();
