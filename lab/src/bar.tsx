// The top: what is looked at, and what can be taken along.
import { FIRST } from "./client";
import type { Lab } from "./lab";

export function Bar({ lab }: { lab: Lab }) {
  const { frame, texts, exhibits, algorithms, exhibit, language, exercises, course, solved } = lab.state;
  const problems = [...new Set(algorithms.map(([, problem]) => problem))];
  const seed = frame?.seed ?? 1;
  const processes = frame?.size ?? 5;
  const name = frame?.algorithm ?? "";
  const topologies = frame?.topologies ?? [];
  const begin = (change: Partial<{ name: string; processes: number; seed: number; topology: string }>) => {
    const start = { name, processes, seed, topology: frame?.topology, ...change };
    void lab.ask({ wish: "open", algorithm: start });
  };
  const groups = ["s0", "s1", "s2", "s3", "s4"];
  const theme = () => {
    const root = document.documentElement;
    const dark = root.dataset["theme"]
      ? root.dataset["theme"] === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset["theme"] = dark ? "light" : "dark";
  };
  return (
    <header class="bar">
      <h1><span class="crown" aria-hidden="true">♛</span> habemus <small>{texts["lab"]}</small></h1>
      <label class="field wide">
        <select
          name="exhibit"
          aria-label={texts["exhibit"]}
          value={exhibit}
          onChange={(event) => event.currentTarget.value && void lab.ask({ wish: "open", link: `#e=${event.currentTarget.value}` })}
        >
          <option value="">{texts["own"]}</option>
          {groups.map((group) => (
            <optgroup key={group} label={group.toUpperCase()}>
              {exhibits.filter(([name]) => name.startsWith(group)).map(([name, title]) => (
                <option key={name} value={name}>{title}</option>
              ))}
            </optgroup>
          ))}
        </select>
      </label>
      <label class="field exercise">
        <select name="exercise" aria-label={texts["course"]} value={course?.name ?? ""}
          onChange={(event) => void lab.ask(event.currentTarget.value ? { wish: "open", exercise: event.currentTarget.value } : { wish: "open", link: `#${FIRST}` })}>
          <option value="">{course ? texts["leave"] : `${texts["course"]} …`}</option>
          {exercises.map(([name, title]) => <option key={name} value={name}>{`${solved.includes(name) ? "✓ " : ""}${title}`}</option>)}
        </select>
      </label>
      <label class="field algorithm">
        <select name="algorithm" aria-label={texts["algorithm"]} value={name} onChange={(event) => begin({ name: event.currentTarget.value })}>
          {problems.map((problem) => (
            <optgroup key={problem} label={problem}>
              {algorithms.filter(([, other]) => other === problem).map(([name]) => (
                <option key={name} value={name}>{name}</option>
              ))}
            </optgroup>
          ))}
        </select>
      </label>
      {topologies.filter((topology) => topology !== "links").length > 1 && (
        <label class="field topology">
          <select name="topology" lang="en" aria-label={texts["topology"]} value={frame!.topology} onChange={(event) => begin({ topology: event.currentTarget.value })}>
            {topologies.filter((topology) => topology !== "links" || frame!.topology === "links").map((topology) => <option key={topology} value={topology}>{topology}</option>)}
          </select>
        </label>
      )}
      {frame && frame.locks.length > 0 && (
        <label class="field topology">
          <select name="lock" aria-label={texts["lock"]} value={frame.lock} onChange={(event) => void lab.ask({ wish: "lock", name: event.currentTarget.value })}>
            {frame.locks.map((lock) => <option key={lock} value={lock}>{lock}</option>)}
          </select>
        </label>
      )}
      <label class="field small">
        <span>{texts["processes"]}</span>
        <input name="processes" aria-label={texts["processes"]} type="number" min="1" max="512" value={processes}
          onChange={(event) => begin({ processes: Number(event.currentTarget.value) || 5 })} />
      </label>
      <label class="field small">
        <span>{texts["seed"]}</span>
        <input name="seed" aria-label={texts["seed"]} type="number" min="0" value={seed}
          onChange={(event) => begin({ seed: Number(event.currentTarget.value) || 0 })} />
      </label>
      <div class="tools">
        <button class="primary" name="share" onClick={() => void lab.copyLink()}>{texts["share"]}</button>
        <button name="search-open" aria-label={texts["search"]} title={`${texts["search"]} (/)`} onClick={() => lab.set({ searching: true })}>⌕</button>
        <button name="teacher" aria-label={texts["teacher"]} title={texts["teacher"]} onClick={() => lab.set({ teaching: true })}>⚑</button>
        <button name="language" lang={language === "en" ? "pt" : "en"} onClick={() => void lab.speak(language === "en" ? "pt" : "en")}>
          {texts["language"]}
        </button>
        <button name="theme" aria-label={texts["theme"]} title={texts["theme"]} onClick={theme}>◐</button>
        <button name="help" aria-label={texts["help"]} title={texts["help"]} onClick={() => lab.set({ help: true })}>?</button>
      </div>
    </header>
  );
}
