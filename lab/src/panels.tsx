// What there is to know: properties, cost, the process that is selected, what may come next, branches, files.
import { Check } from "./check";
import { Console } from "./console";
import { Course, Welcome } from "./course";
import type { Lab } from "./lab";
import type { Frame, Variable } from "./model";

const VERDICTS = { holds: "✓", violated: "✗", open: "○", "does-not-apply": "–" } as const;

export function Panels({ lab, frame }: { lab: Lab; frame: Frame }) {
  const { course, hide, texts } = lab.state;
  const shows = (part: string) => !hide.includes(part);
  return (
    <aside class="panels" aria-label={texts["panels"]}>
      {course && <Course lab={lab} course={course} />}
      {lab.state.welcome && <Welcome lab={lab} />}
      {frame.live && <Console lab={lab} />}
      {shows("properties") && frame.properties.length > 0 && <Properties lab={lab} frame={frame} />}
      {shows("cost") && <Cost lab={lab} frame={frame} />}
      {shows("process") && <Selected lab={lab} frame={frame} />}
      {shows("next") && !frame.recorded && !frame.live && !course?.question && <Next lab={lab} frame={frame} />}
      <Branches lab={lab} frame={frame} />
      {shows("check") && !frame.recorded && !frame.live && <Check lab={lab} frame={frame} />}
      {shows("files") && <Files lab={lab} frame={frame} />}
    </aside>
  );
}

function Properties({ lab, frame }: { lab: Lab; frame: Frame }) {
  const { texts } = lab.state;
  return (
    <section class="panel">
      <h2>{texts["properties"]}</h2>
      <ul class="properties">
        {frame.properties.map((property) => (
          <li key={property.name} class={`${property.verdict}${property.promised ? " promised" : ""}`} data-property={property.name} data-verdict={property.verdict}>
            <details open={property.verdict === "violated"} title={property.demand}>
              <summary>
                <span class="verdict" role="img" aria-label={texts[property.verdict]}>{VERDICTS[property.verdict]}</span>
                <b>{property.title}</b>
                <small>{texts[property.promised ? "promised" : "unpromised"]}</small>
              </summary>
              {property.demand && <p>{property.demand}</p>}
              {property.explanation && <p class="explanation">{property.explanation}</p>}
            </details>
            {property.event !== null && <button class="quiet" onClick={() => void lab.seek(property.event!)}>{texts["jump"]}</button>}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Cost({ lab, frame }: { lab: Lab; frame: Frame }) {
  const { texts } = lab.state;
  const { messages, kinds, bound, theory, cost } = frame.meter;
  const share = bound ? Math.min(1, messages / bound) : 0;
  return (
    <section class="panel">
      <h2>{texts["cost"]}</h2>
      <p class="figure"><b data-messages={messages}>{messages}</b>{bound !== null && <span> / <span data-bound={bound}>{Math.round(bound)}</span> <small>{theory}</small></span>}</p>
      {bound !== null && (
        <div class={messages > bound ? "meter over" : "meter"} role="meter" aria-label={texts["cost"]} aria-valuemin={0} aria-valuemax={bound} aria-valuenow={Math.min(messages, bound)}>
          <i style={{ width: `${share * 100}%` }} />
        </div>
      )}
      <p class="kinds">{kinds.map(([kind, count]) => <span key={kind}>{kind} <b>{count}</b></span>)}</p>
      {cost && <p class="theory">{cost}</p>}
    </section>
  );
}

function Selected({ lab, frame }: { lab: Lab; frame: Frame }) {
  const { texts, fields } = lab.state;
  const process = frame.process;
  const module = frame.algorithm.replaceAll("-", "_");
  const meanings = fields[module] ?? fields[module.split("_")[0]!] ?? {};
  if (!process) return <section class="panel"><h2>{texts["process"]}</h2><p class="faint">{texts["select"]}</p></section>;
  return (
    <section class="panel selected-process" data-selected={process.id}>
      <h2>{texts["process"]} {process.id} <small>{process.status}</small></h2>
      {process.why.length > 0 && <h3 class="why-title" tabindex={-1}>{texts["why"]}</h3>}
      <ul class="why">
        {process.why.map((reason) => (
          <li key={reason.text}>
            {reason.process === null ? reason.text : <button class="quiet" onClick={() => void lab.select(reason.process)}>{reason.text}</button>}
          </li>
        ))}
      </ul>
      {process.variables.length > 0 && <h3>{texts["variables"]}</h3>}
      <Variables variables={process.variables} changed={process.changed} meanings={meanings} />
      {process.stable.length > 0 && <h3>{texts["stable"]}</h3>}
      <Variables variables={process.stable} changed={[]} meanings={meanings} />
    </section>
  );
}

function Variables({ variables, changed, meanings }: { variables: Variable[]; changed: string[]; meanings: Record<string, string> }) {
  return (
    <dl class="variables" lang="en">
      {variables.map((variable, place) => (
        <div key={place} class={changed.includes(variable.name) ? "changed" : ""}>
          <dt title={meanings[variable.name]}>{variable.name || "·"}</dt>
          <dd><Value variable={variable} /></dd>
        </div>
      ))}
    </dl>
  );
}

function Value({ variable }: { variable: Variable }) {
  if (variable.parts.length === 0) return <span class={variable.leaf}>{variable.value}</span>;
  return (
    <span class="parts">
      {variable.value}
      {variable.parts.map((part, place) => (
        <span key={place} class="part">{part.name && <i>{part.name}: </i>}<Value variable={part} /></span>
      ))}
    </span>
  );
}

function Next({ lab, frame }: { lab: Lab; frame: Frame }) {
  const { texts, view: { background } } = lab.state;
  const next = frame.next.filter((event) => background || !event.background);
  return (
    <section class="panel">
      <h2>{texts["next"]}</h2>
      {next.length === 0 && <p class="faint">{texts["nothing"]}</p>}
      <ul class="next">
        {next.map((event, place) => (
          <li key={place} title={event.refusal ?? ""}>
            <span>{event.words}{event.refusal && <small>{event.refusal}</small>}</span>
            {event.due && <time>{event.due}</time>}
            {event.action && <button class="quiet" data-act={event.action} aria-label={`${texts["now"]}: ${event.words}`} onClick={() => void lab.act(event.action!)}>{texts["now"]}</button>}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Branches({ lab, frame }: { lab: Lab; frame: Frame }) {
  const { texts } = lab.state;
  if (frame.branches.length < 2) return null;
  return (
    <section class="panel">
      <h2>{texts["branches"]}</h2>
      <ul class="branches">
        {frame.branches.map((branch, number) => (
          <li key={number} style={{ paddingLeft: `${branch.depth * 16}px` }}>
            <button class={branch.current ? "branch current" : "branch"} aria-current={branch.current} data-branch={number} onClick={() => void lab.ask({ wish: "visit", branch: number })}>
              {branch.parent !== null && <span class="number">{branch.at}</span>}
              {branch.label || texts["trunk"]}
            </button>
            {branch.differs && <button class="quiet" onClick={() => void lab.seek(branch.differs!.event)}>{texts["differs"]} {branch.differs.event}</button>}
            {branch.differs && (
              <dl class="difference" data-differs={branch.differs.event}>
                <div><dt>{texts["here"]}</dt><dd>{branch.differs.here}</dd></div>
                <div><dt>{texts["there"]}</dt><dd>{branch.differs.there}</dd></div>
              </dl>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Files({ lab, frame }: { lab: Lab; frame: Frame }) {
  const { texts } = lab.state;
  return (
    <section class="panel files">
      <h2>{texts["files"]}</h2>
      {!frame.recorded && !frame.live && <>
        <button name="scenario" onClick={() => void lab.download("scenario")}>{texts["scenario"]} .toml</button>
        <button name="edit" onClick={() => void lab.edit()}>{texts["edit"]}</button>
      </>}
      <button name="trace" onClick={() => void lab.download("trace")}>{texts["trace"]} .jsonl</button>
      {["svg", "mermaid", "shiviz"].map((format) => (
        <button key={format} name={format} onClick={() => void lab.download(format)}>{format === "svg" ? "SVG" : format === "mermaid" ? "Mermaid" : "ShiViz"}</button>
      ))}
      <label class="file">
        {texts["open-file"]}
        <input type="file" accept=".toml,.jsonl" onChange={(event) => event.currentTarget.files?.[0] && void lab.openFile(event.currentTarget.files[0])} />
      </label>
      {frame.fingerprint && <p class="fingerprint">{texts["fingerprint"]} <code>{frame.fingerprint}</code></p>}
    </section>
  );
}
