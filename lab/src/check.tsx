// Every run of this system: what may go wrong, how far it is, what was found.
import { useState } from "preact/hooks";
import type { Lab } from "./lab";
import type { CheckLine, Frame } from "./model";

const FAULTS = ["crashes", "recoveries", "losses", "duplications", "suspicions", "partitions", "wrong-timeouts"];
const LIMITS = [20_000, 200_000, 2_000_000];
const VERDICTS: Record<CheckLine["verdict"], string> = { holds: "✓", violated: "✗", "not-found": "○", "not-covered": "–", "does-not-apply": "–" };

export function Check({ lab, frame }: { lab: Lab; frame: Frame }) {
  const { texts, check } = lab.state;
  const [faults, setFaults] = useState<Record<string, number | boolean>>({});
  const [properties, setProperties] = useState("promised");
  const [limit, setLimit] = useState(LIMITS[1]!);
  const running = check !== null && (check === "loading" || !check.answer.done);
  const answer = check !== null && check !== "loading" ? check.answer : null;
  return (
    <section class="panel checking">
      <h2>{texts["check"]}</h2>
      <p class="faint">{texts["check-hint"]}</p>
      <div class="check-form">
        <label>{texts["check-properties"]}
          <select name="check-properties" value={properties} onChange={(event) => setProperties(event.currentTarget.value)}>
            <option value="promised">{texts["check-promised"]}</option>
            <option value="all">{texts["check-all"]}</option>
            {frame.properties.map(({ name, title }) => <option key={name} value={name}>{title}</option>)}
          </select>
        </label>
        <label>{texts["check-limit"]}
          <select name="check-limit" value={limit} onChange={(event) => setLimit(Number(event.currentTarget.value))}>
            {LIMITS.map((limit) => <option key={limit} value={limit}>{limit.toLocaleString(lab.state.language)} {texts["check-states"]}</option>)}
          </select>
        </label>
      </div>
      <details>
        <summary>{texts["faults"]}</summary>
        <div class="check-faults">
          {FAULTS.map((name) => (
            <label key={name}>
              <input type="number" min="0" max="7" name={`fault-${name}`} value={Number(faults[name] ?? 0)} onChange={(event) => setFaults({ ...faults, [name]: Number(event.currentTarget.value) })} />
              {texts[`fault-${name}`]}
            </label>
          ))}
          <label class="check"><input type="checkbox" name="fault-amnesia" checked={faults["amnesia"] === true} onChange={(event) => setFaults({ ...faults, amnesia: event.currentTarget.checked })} />{texts["fault-amnesia"]}</label>
        </div>
      </details>
      <p class="check-tools">
        {running
          ? <button name="check-cancel" onClick={() => lab.cancelCheck()}>{texts["check-cancel"]}</button>
          : <button name="check-begin" class="primary" onClick={() => void lab.check({ faults, properties }, limit)}>{texts["check-begin"]}</button>}
        {check === "loading" && <span role="status">{texts["check-loading"]}</span>}
        {answer && !answer.error && <span role="status" data-states={answer.states}>{answer.states.toLocaleString(lab.state.language)} {texts["check-states"]}</span>}
      </p>
      {running && <progress max={limit} value={answer?.states} aria-label={texts["check"]} />}
      {answer?.error && <p class="bad" role="alert">{answer.error}{answer.detail && <code lang="en"> {answer.detail}</code>}</p>}
      {answer?.result && (
        <ul class="properties found">
          {answer.result.properties.map((line) => (
            <li key={line.name} class={line.verdict} data-checked={line.name} data-verdict={line.verdict}>
              <details open={line.verdict === "violated"}>
                <summary>
                  <span class="verdict" role="img" aria-label={texts[line.verdict]}>{VERDICTS[line.verdict]}</span>
                  <b>{line.title}</b>
                  <small>{line.verdict === "violated" ? `${line.steps} ${texts["check-steps"]}${line.trace ? ` · ↻ ${texts["check-cycle"]}` : ""}` : texts[line.verdict]}</small>
                </summary>
                <p>{line.demand}</p>
                {line.explanation && <p class="explanation">{line.explanation}</p>}
              </details>
              {line.scenario !== null && <button class="quiet" data-open={line.name} onClick={() => void lab.ask({ wish: "open", toml: line.scenario })}>{texts["check-open"]}</button>}
              {line.trace !== null && <button class="quiet" data-open={line.name} onClick={() => void lab.ask({ wish: "open", trace: line.trace })}>{texts["check-open"]}</button>}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
