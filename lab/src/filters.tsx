// What of the run is shown: how it goes down the page, which messages, which processes.
import type { Lab } from "./lab";
import type { Frame } from "./model";

export function Filters({ lab, kinds, hidden, frame }: { lab: Lab; kinds: string[]; hidden: number; frame: Frame }) {
  const { texts, view } = lab.state;
  const toggle = <T,>(list: T[], item: T) => (list.includes(item) ? list.filter((other) => other !== item) : [...list, item]);
  const narrowed = view.hidden.length + view.processes.length > 0;
  const all = [...new Set([...kinds, ...view.hidden])].sort();
  return (
    <>
      <label class="axis">
        <span class="hidden">{texts["axis"]}</span>
        <select name="axis" value={view.axis} onChange={(event) => lab.look({ axis: event.currentTarget.value as "order" | "time" })}>
          <option value="order">{texts["axis-order"]}</option>
          <option value="time">{texts["axis-time"]}</option>
        </select>
      </label>
      <details class="filters">
        <summary>{texts["filters"]}{narrowed || (hidden > 0 && !view.background) ? ` · −${hidden}` : ""}</summary>
        <div class="filter-list">
          <label class="check">
            <input type="checkbox" name="background" checked={view.background} onChange={(event) => lab.look({ background: event.currentTarget.checked })} />
            {texts["background"]}
          </label>
          <fieldset>
            <legend>{texts["kinds"]}</legend>
            {all.map((kind) => (
              <label key={kind} class="check">
                <input type="checkbox" data-kind={kind} checked={!view.hidden.includes(kind)} onChange={() => lab.look({ hidden: toggle(view.hidden, kind) })} />
                {kind}
              </label>
            ))}
          </fieldset>
          <fieldset>
            <legend>{texts["processes"]}</legend>
            <div class="chips">
              <button class={view.processes.length === 0 ? "chip on" : "chip"} aria-pressed={view.processes.length === 0} onClick={() => lab.look({ processes: [] })}>{texts["all"]}</button>
              {frame.processes.slice(0, 64).map(({ id }) => (
                <button key={id} data-only={id} class={view.processes.includes(id) ? "chip on" : "chip"} aria-pressed={view.processes.includes(id)} onClick={() => lab.look({ processes: toggle(view.processes, id) })}>{id}</button>
              ))}
            </div>
          </fieldset>
        </div>
      </details>
    </>
  );
}
