// The player: where one is in the run, and how to go elsewhere.
import type { Lab } from "./lab";
import type { Frame } from "./model";

const SPEEDS = ["0.5", "1", "2", "5", "10", "30", "100", "300"];
/// Times the run's own time, and how they are written.
const TIMES = [["×0.001", "1/1000 ×"], ["×0.01", "1/100 ×"], ["×0.1", "1/10 ×"], ["×1", "1 ×"], ["×10", "10 ×"], ["×100", "100 ×"]];

const SIGNS = {
  begin: "M1.8 4H4v12H1.8zM11 4v12l-7-6zM18 4v12l-7-6z",
  back: "M15 4v12L6 10z",
  play: "M5 3v14l12-7z",
  stop: "M4 4h4v12H4zM12 4h4v12h-4z",
  forward: "M3 4v12l8-6zM13 4h2.5v12H13z",
  end: "M2 4v12l7-6zM9 4v12l7-6zM16 4h2.2v12H16z",
};

export function Transport({ lab, frame }: { lab: Lab; frame: Frame }) {
  const { texts, playing, speed } = lab.state;
  const button = (name: string, sign: string, words: string, go: () => unknown, disabled = false) => (
    <button name={name} aria-label={words} title={words} disabled={disabled} onClick={() => void go()}>
      <svg viewBox="0 0 20 20" aria-hidden="true"><path d={sign} /></svg>
    </button>
  );
  const known = Math.max(frame.known, 1);
  return (
    <section class="transport" aria-label={texts["position"]}>
      <div class="buttons">
        {button("begin", SIGNS.begin, texts["begin"]!, () => lab.seek(0), frame.cursor === 0)}
        {button("back", SIGNS.back, texts["back"]!, () => lab.step(-1), frame.cursor === 0)}
        {button("play", playing ? SIGNS.stop : SIGNS.play, texts[playing ? "stop" : "play"]!, () => lab.play())}
        {button("forward", SIGNS.forward, texts["forward"]!, () => lab.step(1))}
        {button("end", SIGNS.end, texts["end"]!, () => lab.end())}
      </div>
      <div class="slider">
        <input type="range" name="position" min="0" max={frame.known} value={frame.cursor} aria-label={texts["position"]}
          aria-valuetext={`${frame.cursor}: ${frame.said}`}
          onInput={(event) => void lab.seek(Number(event.currentTarget.value))} />
        <div class="slide-marks" aria-hidden="true">
          {frame.marks.map((mark, place) => (
            <i key={place} class={mark.kind} style={{ left: `${(100 * mark.event) / known}%` }} />
          ))}
          {frame.cycle !== null && <i class="cycle" style={{ left: `${(100 * frame.cycle) / known}%`, width: `${100 - (100 * frame.cycle) / known}%` }} />}
        </div>
      </div>
      <output class="where" title={texts["known"]}>
        <b data-cursor={frame.cursor}>{frame.cursor}</b> / {frame.known}{frame.over ? "" : "+"} <span>{frame.time}</span>
      </output>
      <label class="speed">
        <span class="hidden">{texts["speed"]}</span>
        <select name="speed" value={speed} onChange={(event) => lab.set({ speed: event.currentTarget.value })}>
          <optgroup label={texts["by-events"]}>{SPEEDS.map((value) => <option key={value} value={value}>{value}/s</option>)}</optgroup>
          <optgroup label={texts["by-time"]}>{TIMES.map(([value, words]) => <option key={value} value={value}>{words}</option>)}</optgroup>
        </select>
      </label>
      <p class="moment" data-over={frame.over !== null}>{frame.over ? `■ ${frame.over}` : frame.said}{frame.cycle !== null && frame.cursor >= frame.cycle && <em class="cycle-words"> ↻ {texts["cycle"]}</em>}</p>
    </section>
  );
}
