// What happened: a row for each event, a column for each process, arrows for messages. Only what is seen is drawn.
import { useEffect, useRef, useState } from "preact/hooks";
import type { Lab } from "./lab";
import type { Arrow, Frame, Row, Rows } from "./model";

const HEIGHT = 26;
const SPARE = 30;
const SIGNS: Record<string, string> = {
  crash: "✕", recover: "↑", pause: "❚❚", resume: "▸", timer: "◷", command: "»", output: "★", violation: "!", lost: "⊘", suspect: "?", restore: "✓",
};

export function Diagram({ lab, frame }: { lab: Lab; frame: Frame }) {
  const { texts, background, revision, cone } = lab.state;
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [[wide, height], setSize] = useState([800, 400]);
  const [rows, setRows] = useState<Rows | null>(null);
  const first = Math.max(0, Math.floor(top / HEIGHT) - SPARE);
  const count = Math.ceil(height! / HEIGHT) + 2 * SPARE;
  // Pieces begin at round numbers, so that a little scrolling asks for nothing.
  const begin = first - (first % SPARE);
  const known = useRef("");
  useEffect(() => {
    const key = `${revision}:${begin}:${count}:${background}`;
    if (known.current === key) return;
    known.current = key;
    void lab.client.ask({ wish: "rows", first: begin, count: count + SPARE, background }).then(({ rows }) => {
      if (rows && known.current === key) setRows(rows);
    });
  });
  useEffect(() => {
    const observer = new ResizeObserver(() => setSize([box.current!.clientWidth, box.current!.clientHeight]));
    observer.observe(box.current!);
    return () => observer.disconnect();
  }, []);
  // The row of the cursor stays in sight.
  useEffect(() => {
    const place = rows?.rows.findIndex((row) => row.event >= frame.cursor) ?? -1;
    const known = rows && place >= 0 ? rows.first + place : Math.round((frame.cursor / Math.max(1, frame.known)) * (rows?.total ?? frame.known));
    const y = known * HEIGHT;
    const view = box.current!;
    if (y < view.scrollTop + HEIGHT || y > view.scrollTop + view.clientHeight - 3 * HEIGHT) {
      view.scrollTop = Math.max(0, y - view.clientHeight / 2);
    }
  }, [frame.cursor, rows?.total]);
  const columns = rows?.columns ?? [];
  const gap = Math.max(11, Math.min(64, (0.52 * wide!) / Math.max(1, columns.length)));
  const width = columns.length * gap + 20;
  const x = (column: number) => column * gap + gap / 2 + 6;
  const total = rows?.total ?? 1;
  return (
    <div class="diagram">
      <div class="diagram-head">
        <div class="columns" style={{ width: `${width}px` }} aria-hidden="true">
          {columns.map((id, column) => <b key={id} style={{ left: `${x(column)}px` }}>{id}</b>)}
        </div>
        {(background || (rows?.hidden ?? 0) > 0) && <label class="check">
          <input type="checkbox" name="background" checked={background} onChange={(event) => lab.set({ background: event.currentTarget.checked, revision: revision + 1 })} />
          {texts["background"]}
        </label>}
      </div>
      <div class="scroller" ref={box} tabindex={0} role="region" aria-label={texts["diagram"]} onScroll={(event) => setTop(event.currentTarget.scrollTop)} onPointerLeave={() => lab.set({ cone: null })}>
        <div style={{ height: `${(total + 2) * HEIGHT}px`, position: "relative" }}>
          {rows && (
            <svg class="lanes" width={width} height={(rows.rows.length + 3) * HEIGHT} style={{ top: `${rows.first * HEIGHT}px` }} aria-hidden="true">
              {columns.map((id, column) => (
                <line key={id} class="lane" x1={x(column)} x2={x(column)} y1={0} y2={Math.max(0, total - rows.first) * HEIGHT} />
              ))}
              {rows.arrows.map((arrow) => <Passage key={arrow.message} arrow={arrow} rows={rows} x={x} cursor={frame.cursor} />)}
              {rows.rows.map((row, place) => <Marks key={row.event} row={row} y={place * HEIGHT + HEIGHT / 2} x={x} late={row.event > frame.cursor} />)}
            </svg>
          )}
          <ol class="rows">
            {rows?.rows.map((row, place) => (
              <li key={row.event} class={rowClass(row, rows.rows[place + 1], frame, cone)} style={{ top: `${(rows.first + place) * HEIGHT}px` }} aria-posinset={rows.first + place + 1} aria-setsize={total}>
                <button data-event={row.event} aria-current={row.event === frame.cursor ? "step" : undefined} onClick={() => void lab.seek(row.event)}
                  style={{ paddingLeft: `${width + 8}px` }}
                  onPointerEnter={() => void lab.cone(row.event, rows.rows[0]!.event, rows.rows.at(-1)!.event + 1)}>
                  <span class="number">{row.event}</span>
                  <span class="row-words">{row.words}{row.by_hand && <em> {texts["by-hand"]}</em>}</span>
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
    cone?.past.includes(row.event) && "past",
    cone?.future.includes(row.event) && "future",
  ];
  return classes.filter(Boolean).join(" ");
}

function Marks({ row, y, x, late }: { row: Row; y: number; x: (column: number) => number; late: boolean }) {
  return (
    <g class={late ? "marks late" : "marks"}>
      {row.marks.map((mark, place) => (
        <g key={place} class={`mark ${mark.kind}`} transform={`translate(${x(mark.column)} ${y})`}>
          <circle r={SIGNS[mark.kind] ? 8 : 4.5} />
          {SIGNS[mark.kind] && <text>{SIGNS[mark.kind]}</text>}
        </g>
      ))}
    </g>
  );
}

function Passage({ arrow, rows, x, cursor }: { arrow: Arrow; rows: Rows; x: (column: number) => number; cursor: number }) {
  const y = (row: number) => (row - rows.first) * HEIGHT + HEIGHT / 2;
  const [x1, y1] = [x(arrow.from[1]), y(arrow.from[0])];
  let [x2, y2] = [x(arrow.to[1]), y(arrow.to[0])];
  const length = Math.hypot(x2 - x1, y2 - y1) || 1;
  const [ux, uy] = [(x2 - x1) / length, (y2 - y1) / length];
  if (arrow.end === "lost") [x2, y2] = [x1 + (x2 - x1) * 0.55, y1 + (y2 - y1) * 0.55];
  else [x2, y2] = [x2 - ux * 5, y2 - uy * 5];
  const event = rows.rows[arrow.from[0] - rows.first]?.event ?? 0;
  const head = `M${x2} ${y2} L${x2 - ux * 8 - uy * 4} ${y2 - uy * 8 + ux * 4} L${x2 - ux * 8 + uy * 4} ${y2 - uy * 8 - ux * 4}Z`;
  return (
    <g class={`passage ${arrow.end}${event > cursor ? " late" : ""}`}>
      <title>{arrow.label}</title>
      <line x1={x1} y1={y1} x2={x2} y2={y2} />
      {arrow.end === "lost" ? <text x={x2} y={y2 + 4}>✕</text> : <path d={head} />}
    </g>
  );
}
