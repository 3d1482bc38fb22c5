// What is between the network and the diagram, and can be moved.
import { useState } from "preact/hooks";
import type { Lab } from "./lab";

const [LEAST, MOST] = [15, 85];

/// The share of the network, in hundredths, and the bar that changes it.
export function useSplitter(lab: Lab) {
  const [share, setShare] = useState(52);
  const [moving, setMoving] = useState(false);
  const put = (value: number) => setShare(Math.max(LEAST, Math.min(MOST, Math.round(value))));
  const bar = (
    <div class={moving ? "splitter moving" : "splitter"} role="separator" aria-orientation="horizontal" tabindex={0} aria-label={lab.state.texts["splitter"]}
      aria-valuemin={LEAST} aria-valuemax={MOST} aria-valuenow={share}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        setMoving(true);
      }}
      onPointerMove={(event) => {
        if (!moving) return;
        const stage = event.currentTarget.parentElement!.getBoundingClientRect();
        const transport = event.currentTarget.previousElementSibling!.getBoundingClientRect().height;
        put((100 * (event.clientY - transport - stage.y)) / (stage.height - transport));
      }}
      onPointerUp={() => setMoving(false)} onPointerCancel={() => setMoving(false)} onDblClick={() => put(52)}
      onKeyDown={(event) => {
        const by = event.key === "ArrowUp" ? -4 : event.key === "ArrowDown" ? 4 : 0;
        if (!by) return;
        event.preventDefault();
        event.stopPropagation();
        put(share + by);
      }} />
  );
  return { rows: `minmax(0, ${share}fr) auto 7px minmax(0, ${100 - share}fr)`, bar };
}
