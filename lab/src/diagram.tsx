// What happened: a row for each event, a column for each process, arrows for messages. Only what is seen is drawn.
import { useEffect, useRef, useState } from "preact/hooks";
import { Filters } from "./filters";
import type { Lab } from "./lab";
import type { Arrow, Frame, Row, Rows } from "./model";

const SPARE = 30;
const [SMALLEST, USUAL, LARGEST] = [14, 26, 46];
const SIGNS: Record<string, string> = {
  crash: "✕", recover: "↑", pause: "❚❚", resume: "▸", timer: "◷", command: "»", output: "★", violation: "!", lost: "⊘", suspect: "?", restore: "✓",
};

type Drag = { arrow: Arrow; y: number };
/// So far may a pointer go and still click.
const STILL = 6;

export function Diagram({ lab, frame }: { lab: Lab; frame: Frame }) {
  const { texts, view, revision, cone } = lab.state;
  const box = useRef<HTMLDivElement>(null);
  // Pieces begin at round numbers, so that a little scrolling asks for nothing and draws nothing.
  const [piece, setPiece] = useState(0);
  const [[wide, height], setSize] = useState([800, 400]);
  const [zoom, setZoom] = useState(USUAL);
  const [answer, setAnswer] = useState<{ rows: Rows; top: number } | null>(null);
  const [drag, setDrag] = useState<Drag | null>(null);
  const rows = answer?.rows ?? null;
  const first = (piece - 1) * SPARE;
  const last = first + Math.ceil(height! / zoom) + 3 * SPARE;
  const known = useRef("");
  useEffect(() => {
    const key = `${revision}:${first}:${last}`;
    if (known.current === key) return;
    known.current = key;
    void lab.client.ask({ wish: "rows", top: first, bottom: last, view }).then(({ rows, top }) => {
      if (rows && known.current === key) setAnswer({ rows, top: top ?? 0 });
    });
  });
  useEffect(() => {
    const observer = new ResizeObserver(() => setSize([box.current!.clientWidth, box.current!.clientHeight]));
    observer.observe(box.current!);
    return () => observer.disconnect();
  }, []);
  // The row of the cursor stays in sight.
  useEffect(() => {
    const scroller = box.current!;
    const y = (answer?.top ?? 0) * zoom;
    if (y < scroller.scrollTop + zoom || y > scroller.scrollTop + scroller.clientHeight - 3 * zoom) {
      scroller.scrollTop = Math.max(0, y - scroller.clientHeight / 2);
    }
  }, [answer?.top, frame.cursor, zoom]);
  const magnify = (factor: number) => {
    const next = Math.max(SMALLEST, Math.min(LARGEST, Math.round(zoom * factor)));
    const middle = (box.current!.scrollTop + height! / 2) / zoom;
    setZoom(next);
    requestAnimationFrame(() => (box.current!.scrollTop = middle * next - height! / 2));
  };
  const wheel = (event: WheelEvent) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    magnify(event.deltaY < 0 ? 1.18 : 1 / 1.18);
  };
  const columns = rows?.columns ?? [];
  const gap = Math.max(3, Math.min(64, (0.52 * wide!) / Math.max(1, columns.length)));
  const width = columns.length * gap + 20;
  const x = (column: number) => column * gap + gap / 2 + 6;
  const place = (event: PointerEvent) => event.clientY - box.current!.getBoundingClientRect().y + box.current!.scrollTop;
  const dragging = drag && {
    onPointerMove: (event: PointerEvent) => setDrag({ ...drag, y: place(event) }),
    onPointerUp: (event: PointerEvent) => {
      setDrag(null);
      const after = rows?.rows.filter((row) => row.top * zoom <= place(event)).at(-1);
      const { sender, number } = drag.arrow;
      if (after) void lab.ask({ wish: "move", sender, number, after: after.event });
    },
    onPointerCancel: () => setDrag(null),
  };
  // With a mouse the paper can be pulled; a finger scrolls by itself.
  const pull = useRef<{ y: number; top: number; far: boolean } | null>(null);
  const pulling = !drag && {
    onPointerDown: (event: PointerEvent) => {
      if (event.pointerType === "mouse" && event.button === 0) pull.current = { y: event.clientY, top: box.current!.scrollTop, far: false };
    },
    onPointerMove: (event: PointerEvent) => {
      if (!pull.current || event.buttons !== 1) return;
      const by = event.clientY - pull.current.y;
      pull.current.far ||= Math.abs(by) > STILL;
      if (pull.current.far) box.current!.scrollTop = pull.current.top - by;
    },
    // Whoever has pulled does not want to go where the pointer happens to be.
    onClickCapture: (event: Event) => {
      if (pull.current?.far) event.stopPropagation();
      pull.current = null;
    },
  };
  const movable = !frame.recorded && !frame.live;
  return (
    <div class="diagram">
      <div class="diagram-head">
        <div class="columns" style={{ width: `${width}px` }} aria-hidden="true">
          {gap >= 11 && columns.map((id, column) => <b key={id} style={{ left: `${x(column)}px` }}>{id}</b>)}
        </div>
        <div class="zoom">
          <button name="zoom-out" aria-label={texts["zoom-out"]} title={`${texts["zoom-out"]} (Ctrl ⇵)`} onClick={() => magnify(1 / 1.3)}>−</button>
          <button name="zoom-in" aria-label={texts["zoom-in"]} title={`${texts["zoom-in"]} (Ctrl ⇵)`} onClick={() => magnify(1.3)}>+</button>
        </div>
        <Filters lab={lab} kinds={rows?.kinds ?? []} hidden={rows?.hidden ?? 0} frame={frame} />
      </div>
      <div class="scroller" ref={box} tabindex={0} role="region" aria-label={texts["diagram"]} onWheel={wheel} onScroll={(event) => setPiece(Math.floor(event.currentTarget.scrollTop / zoom / SPARE))} onPointerLeave={() => lab.set({ cone: null })} {...pulling} {...dragging}>
        <div style={{ height: `${((rows?.height ?? 1) + 1) * zoom}px`, position: "relative" }}>
          {rows && (
            <svg class="lanes" width={width} height={1} style={{ top: 0 }} aria-hidden="true">
              {columns.map((id, column) => (
                <line key={id} class="lane" x1={x(column)} x2={x(column)} y1={Math.max(0, first) * zoom} y2={Math.min(rows.height, last) * zoom} />
              ))}
              {rows.rows.map((row) => row.silence && <line key={row.event} class="gap" x1={4} x2={width - 4} y1={(row.top - 0.5) * zoom} y2={(row.top - 0.5) * zoom} />)}
              {rows.arrows.map((arrow) => (
                <Passage key={`${arrow.sender}-${arrow.number}`} arrow={arrow} zoom={zoom} x={x} cursor={frame.cursor} limits={[first - 40, last + 40]}
                  drag={drag && drag.arrow.sender === arrow.sender && drag.arrow.number === arrow.number ? drag.y : null}
                  grab={movable ? (event) => {
                    box.current!.setPointerCapture(event.pointerId);
                    setDrag({ arrow, y: place(event) });
                  } : null} title={texts["drag"]!} />
              ))}
              {rows.rows.map((row) => <Marks key={row.event} row={row} y={(row.top + 0.5) * zoom} x={x} late={row.event > frame.cursor} zoom={zoom} />)}
            </svg>
          )}
          <ol class={zoom < 20 ? "rows small" : "rows"} style={{ "--row": `${zoom}px`, "--lanes": `${width}px` }}>
            {rows?.rows.map((row, place) => (
              <li key={row.event} class={rowClass(row, rows.rows[place + 1], frame, cone)} style={{ top: `${row.top * zoom}px` }} aria-posinset={rows.first + place + 1} aria-setsize={rows.total}>
                {row.silence && <span class="silence">⋮ {row.silence} {texts["silence"]}</span>}
                <button data-event={row.event} aria-current={row.event === frame.cursor ? "step" : undefined} onClick={() => void lab.seek(row.event)}
                  style={{ paddingLeft: `${width + 8}px` }}
                  onPointerEnter={() => drag ?? void lab.cone(row.event, rows.rows[0]!.event, rows.rows.at(-1)!.event + 1)}>
                  <span class="number">{row.event}</span>
                  <span class="row-words">{row.words}{frame.branches.some((branch) => branch.differs?.event === row.event) && <em class="differs"> ≠ {texts["difference"]}</em>}{row.by_hand && <em> · {texts["by-hand"]}</em>}</span>
                  <span class="time">{row.time}</span>
                </button>
              </li>
            ))}
          </ol>
        </div>
      </div>
    </div>
  );
}

function rowClass(row: Row, after: Row | undefined, frame: Frame, cone: Lab["state"]["cone"]): string {
  const classes = [
    // What is not shown belongs to the row before it.
    row.event <= frame.cursor && (after ? after.event > frame.cursor : frame.cursor <= frame.known) && "here",
    row.event > frame.cursor && "late",
    cone && cone.event === row.event && "origin",
    frame.branches.some((branch) => branch.differs?.event === row.event) && "differs",
    cone?.past.includes(row.event) && "past",
    cone?.future.includes(row.event) && "future",
    frame.cycle !== null && row.event > frame.cycle && "round",
  ];
  return classes.filter(Boolean).join(" ");
}

function Marks({ row, y, x, late, zoom }: { row: Row; y: number; x: (column: number) => number; late: boolean; zoom: number }) {
  const size = Math.min(1, zoom / 22);
  return (
    <g class={late ? "marks late" : "marks"}>
      {row.marks.map((mark, place) => (
        <g key={place} class={`mark ${mark.kind}`} transform={`translate(${x(mark.column)} ${y}) scale(${size})`}>
          <circle r={SIGNS[mark.kind] ? 8 : 4.5} />
          {SIGNS[mark.kind] && <text>{SIGNS[mark.kind]}</text>}
        </g>
      ))}
    </g>
  );
}

function Passage({ arrow, zoom, x, cursor, drag, grab, title, limits }: {
  arrow: Arrow; zoom: number; x: (column: number) => number; cursor: number; drag: number | null;
  grab: ((event: PointerEvent) => void) | null; title: string; limits: [number, number];
}) {
  const y = (top: number) => (top + 0.5) * zoom;
  const [x1, y1] = [x(arrow.from[1]), y(arrow.from[0])];
  let [x2, y2] = [x(arrow.to[1]), drag ?? y(arrow.to[0])];
  const length = Math.hypot(x2 - x1, y2 - y1) || 1;
  const [ux, uy] = [(x2 - x1) / length, (y2 - y1) / length];
  if (arrow.end === "lost" && drag === null) [x2, y2] = [x1 + (x2 - x1) * 0.55, y1 + (y2 - y1) * 0.55];
  else [x2, y2] = [x2 - ux * 5, y2 - uy * 5];
  const head = `M${x2} ${y2} L${x2 - ux * 8 - uy * 4} ${y2 - uy * 8 + ux * 4} L${x2 - ux * 8 + uy * 4} ${y2 - uy * 8 - ux * 4}Z`;
  const near = arrow.to[0] > limits[0] && arrow.to[0] < limits[1];
  return (
    <g class={`passage ${arrow.end}${arrow.event > cursor ? " late" : ""}${drag !== null ? " dragged" : ""}`}>
      <title>{arrow.label}</title>
      <line x1={x1} y1={y1} x2={x2} y2={y2} />
      {arrow.end === "lost" ? <text x={x2} y={y2 + 4}>✕</text> : <path d={head} />}
      {grab && near && arrow.end !== "lost" && (
        <circle class="handle" data-head={`${arrow.sender}-${arrow.number}`} cx={x2 - ux * 5} cy={y2 - uy * 5} r={9} onPointerDown={(event) => {
          event.preventDefault();
          event.stopPropagation();
          grab(event);
        }}><title>{`${arrow.label}. ${title}`}</title></circle>
      )}
    </g>
  );
}
