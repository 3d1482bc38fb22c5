// The network: processes, links, messages on their way.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Lab } from "./lab";
import { openMenu } from "./menu";
import type { Cone, Frame, LinkView, MessageView, ProcessView } from "./model";

const LONG_PRESS = 500;
/// Room for words above the first process and below the last.
const MARGIN = 18;
const SIGNS: Record<ProcessView["status"], string> = {
  idle: "", waiting: "…", inside: "🔒︎", leading: "♛", following: "", decided: "✓",
};

type Point = { x: number; y: number };

export function Network({ lab, frame }: { lab: Lab; frame: Frame }) {
  const { texts, cone, view: { background } } = lab.state;
  const picture = useRef<SVGSVGElement>(null);
  const [stroke, setStroke] = useState<{ from: Point; to: Point } | null>(null);
  const [size, setSize] = useState({ width: 800, height: 400 });
  useLayoutEffect(() => {
    const measure = () => {
      const { clientWidth, clientHeight } = picture.current!.parentElement!;
      setSize({ width: clientWidth, height: clientHeight });
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(picture.current!.parentElement!);
    return () => observer.disconnect();
  }, []);
  // The engine's picture is a square; here it fills the room that there is.
  const scale = { x: Math.min(size.width, 1.9 * size.height) / 1000, y: (size.height - 2 * MARGIN) / 1000 };
  const left = (size.width - 1000 * scale.x) / 2;
  const place = (process: ProcessView) => ({ ...process, x: left + process.x * scale.x, y: MARGIN + process.y * scale.y });
  const at = new Map(frame.processes.map((process) => [process.id, place(process)]));
  // Neighbours in the picture do not touch.
  const places = [...at.values()];
  const apart = places.map((one, number) => {
    const next = places[(number + 1) % places.length]!;
    return next === one ? 1000 : Math.hypot(next.x - one.x, next.y - one.y);
  });
  const radius = Math.max(frame.size > 64 ? 2.5 : 5, Math.min(25, size.height / 11, 0.42 * Math.min(...apart)));
  const point = (event: PointerEvent): Point => {
    const box = picture.current!.getBoundingClientRect();
    return { x: event.clientX - box.x, y: event.clientY - box.y };
  };
  const strokes = {
    onPointerDown: (event: PointerEvent) => {
      if (event.button !== 0 || (event.target as Element).closest("[data-thing]")) return;
      picture.current!.setPointerCapture(event.pointerId);
      setStroke({ from: point(event), to: point(event) });
    },
    onPointerMove: (event: PointerEvent) => stroke && setStroke({ ...stroke, to: point(event) }),
    onPointerUp: (event: PointerEvent) => {
      if (!stroke) return;
      const to = point(event);
      setStroke(null);
      if (Math.hypot(to.x - stroke.from.x, to.y - stroke.from.y) < 60) return;
      const inPicture = ({ x, y }: Point) => [(x - left) / scale.x, (y - MARGIN) / scale.y];
      void lab.ask({ wish: "stroke", from: inPicture(stroke.from), to: inPicture(to) });
    },
    onPointerCancel: () => setStroke(null),
  };
  const dots = frame.size > 64;
  const shown = placed(frame.messages.filter((message) => background || !message.background), at, radius, frame.size > 12);
  const chosen = frame.processes.find((process) => process.id === lab.state.selected && process.actions.length > 0);
  const parted = frame.links.some((link) => link.cut);
  return (
    <section class="network" aria-label={texts["network"]}>
      <svg ref={picture} role="group" aria-label={`${texts["network"]}: ${frame.algorithm}`} {...strokes}>
        <defs>
          <pattern id="hatch" width="9" height="9" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
            <rect class="hatch-ground" width="9" height="9" /><line class="hatch-line" x1="0" y1="0" x2="0" y2="9" />
          </pattern>
        </defs>
        {frame.links.map((link) => <Link key={`${link.from}-${link.to}`} lab={lab} link={link} at={at} radius={radius} />)}
        {[...at.values()].map((process) => (
          <Process dot={dots} cone={cone} middle={size.height / 2} key={process.id} lab={lab} process={process} radius={radius} selected={lab.state.selected === process.id} />
        ))}
        {shown.map((place, number) => <Message key={`${place.message.number}-${number}`} lab={lab} place={place} />)}
        {stroke && <line class="stroke" x1={stroke.from.x} y1={stroke.from.y} x2={stroke.to.x} y2={stroke.to.y} />}
      </svg>
      {frame.title && <p class="title">{frame.title}</p>}
      {chosen
        ? <button class="do" name="do" aria-haspopup="menu" onClick={(event) => openMenu(lab, event.currentTarget, chosen.actions, String(chosen.id), chosen.words)}>{texts["do"]} {chosen.id} …</button>
        : <p class="hint">{texts[frame.recorded ? "recorded" : "draw"]}</p>}
      {parted && !frame.recorded && <button class="heal" name="heal" onClick={() => void lab.act("heal")}>{texts["heal"]}</button>}
    </section>
  );
}

/// What a thing does when it is pointed at for long, clicked with the other button, or entered.
function onMenu(open: (at: Element) => void, click: (at: Element) => void = open) {
  let timer = 0;
  let opened = false;
  const stop = () => window.clearTimeout(timer);
  return {
    onContextMenu: (event: Event) => {
      event.preventDefault();
      stop();
      open(event.currentTarget as Element);
    },
    onPointerDown: (event: PointerEvent) => {
      const thing = event.currentTarget as Element;
      opened = false;
      timer = window.setTimeout(() => {
        opened = true;
        open(thing);
      }, LONG_PRESS);
    },
    onPointerUp: stop,
    onPointerLeave: stop,
    onClick: (event: Event) => {
      stop();
      if (!opened) click(event.currentTarget as Element);
    },
    onKeyDown: (event: KeyboardEvent) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      event.stopPropagation();
      open(event.currentTarget as Element);
    },
  };
}

/// What is left of a timer, from the top round to the right.
function arc(left: number, radius: number): string {
  const turn = Math.min(left, 0.999) * 2 * Math.PI;
  return `M0 ${-radius} A${radius} ${radius} 0 ${left > 0.5 ? 1 : 0} 1 ${radius * Math.sin(turn)} ${-radius * Math.cos(turn)}`;
}

function Process({ lab, process, radius, selected, middle, dot, cone }: {
  lab: Lab; process: ProcessView; radius: number; selected: boolean; middle: number; dot: boolean; cone: Cone | null;
}) {
  const { id, x, y, up, paused, status, words, touched, actions, timer } = process;
  const menu = onMenu(
    (at) => {
      void lab.select(id).then(() => actions.length > 0 && openMenu(lab, at, actions, String(id), words));
    },
    () => void lab.select(selected ? null : id),
  );
  const classes = ["process", up ? status : "down", paused && "paused", selected && "selected", touched && "touched",
    cone?.before.includes(id) && "before", cone?.after.includes(id) && "after"];
  const below = y > middle ? radius + 19 : -radius - 9;
  return (
    <g class={classes.filter(Boolean).join(" ")} transform={`translate(${x} ${y})`} role="button" tabindex={0} data-thing data-process={id}
      aria-label={timer ? `${id}: ${words}. ${timer.words}` : `${id}: ${words}`} aria-pressed={selected} {...menu}>
      <circle class="ring" r={radius + 5} />
      <circle class="body" r={radius} />
      {timer && up && !dot && <path class="timer-arc" d={arc(timer.left, radius + 3.5)}><title>{timer.words}</title></path>}
      {dot && <title>{`${id}: ${words}`}</title>}
      {(!dot || selected) && <text class="id" y={dot ? -radius - 10 : 0} style={{ fontSize: `${dot ? 13 : Math.min(16, radius * 0.75)}px` }}>{id}</text>}
      {radius > 12 && up && SIGNS[status] && <text class="sign" x={radius * 0.78} y={-radius * 0.72}>{SIGNS[status]}</text>}
      {radius > 12 && !up && <text class="sign" x={radius * 0.78} y={-radius * 0.72}>✕</text>}
      {radius > 12 && paused && <text class="sign" x={-radius * 0.78} y={-radius * 0.72}>❚❚</text>}
      {radius > 15 && (status !== "idle" || !up || paused) && <text class="words" y={below}>{words}</text>}
    </g>
  );
}

function Link({ lab, link, at, radius }: { lab: Lab; link: LinkView; at: Map<number, ProcessView>; radius: number }) {
  const [one, other] = [at.get(link.from)!, at.get(link.to)!];
  const length = Math.hypot(other.x - one.x, other.y - one.y) || 1;
  const [dx, dy] = [((other.x - one.x) / length) * radius, ((other.y - one.y) / length) * radius];
  const ends = { x1: one.x + dx, y1: one.y + dy, x2: other.x - dx, y2: other.y - dy };
  const title = `${link.from} ${link.both ? "–" : "→"} ${link.to}`;
  const menu = onMenu((thing) => openMenu(lab, thing, [link.action], title, null));
  return (
    <g class={link.cut ? "link cut" : "link"} role="button" aria-label={`${title}: ${link.action[1]}`} data-thing data-link={`${link.from}-${link.to}`} {...menu}>
      <line class="reach" {...ends} />
      <line class="line" {...ends} />
      {link.cut && <text class="scissors" x={(one.x + other.x) / 2} y={(one.y + other.y) / 2}>✂</text>}
    </g>
  );
}

interface Placed extends Point {
  message: MessageView;
  /// How wide its words are, or a dot where they would lie on others or there are too many.
  width: number;
  words: boolean;
}

const HEIGHT = 20;
const DOT = 12;

/// Where beside its link a message may stand: it begins on the right of its way, with room for the next of the link.
const ASIDE = [11, -11, 33, -33];

/// Messages stand beside their link, further on the longer they are on their way. Words lie on no other words and on no
/// process: what finds no room for them is a dot.
function placed(messages: MessageView[], at: Map<number, ProcessView>, radius: number, crowded: boolean): Placed[] {
  const processes = [...at.values()];
  const all: Placed[] = [];
  const covers = (place: Point, width: number, height: number) =>
    all.some((other) => Math.abs(other.x - place.x) < (other.width + width) / 2 + 1 && Math.abs(other.y - place.y) < ((other.words ? HEIGHT : DOT) + height) / 2) ||
    processes.some((process) => Math.abs(process.x - place.x) < width / 2 + 0.6 * radius && Math.abs(process.y - place.y) < height / 2 + 0.6 * radius);
  for (const message of messages) {
    const [one, other] = [at.get(message.from), at.get(message.to)];
    if (!one || !other) continue;
    const length = Math.hypot(other.x - one.x, other.y - one.y) || 1;
    const [ux, uy] = [(other.x - one.x) / length, (other.y - one.y) / length];
    // Between both processes, so far from them as the words reach.
    const beside = (width: number, height: number, aside: number): Point => {
      const reach = radius + 4 + (Math.abs(ux) * width + Math.abs(uy) * height) / 2;
      const along = reach < length / 2 ? reach + message.way * (length - 2 * reach) : length / 2;
      return { x: one.x + ux * along - uy * aside, y: one.y + uy * along + ux * aside };
    };
    const find = (width: number, height: number) =>
      ASIDE.map((aside) => beside(width, height, aside)).find((place) => !covers(place, width, height));
    const width = 14 + 7.3 * message.kind.length;
    const room = crowded ? undefined : find(width, HEIGHT);
    if (room) all.push({ message, ...room, width, words: true });
    else all.push({ message, ...(find(DOT, DOT) ?? beside(DOT, DOT, ASIDE[0]!)), width: DOT, words: false });
  }
  return all;
}

function Message({ lab, place: { message, x, y, words, width } }: { lab: Lab; place: Placed }) {
  const title = `${message.label}: ${message.from} → ${message.to}`;
  const menu = onMenu((thing) => openMenu(lab, thing, message.actions, title, message.refusal));
  const height = words ? HEIGHT : DOT;
  return (
    <g class={message.refusal ? "message held" : "message"} style={{ transform: `translate(${x}px, ${y}px)` }} role="button" tabindex={0}
      aria-label={message.refusal ? `${title}. ${message.refusal}` : title} data-thing data-message={message.number} data-link={`${message.from}->${message.to}`} {...menu}>
      <title>{title}</title>
      <rect x={-width / 2} y={-height / 2} width={width} height={height} rx={height / 2} />
      {words && <text>{message.kind}</text>}
    </g>
  );
}
