// A scenario to be edited, and a link for a class.
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Lab } from "./lab";

/// The parts of the page that a link can hide, and the words for them.
export const PARTS: [part: string, words: string][] = [
  ["properties", "properties"], ["cost", "cost"], ["process", "process"], ["next", "next"], ["check", "check"], ["diagram", "diagram"], ["files", "files"],
];

function Dialog({ label, close, children }: { label: string; close: () => void; children: ComponentChildren }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return <dialog ref={dialog} class="help" aria-label={label} onClose={close}><h2>{label}</h2>{children}</dialog>;
}

export function Editor({ lab, text }: { lab: Lab; text: string }) {
  const { texts } = lab.state;
  const [edited, setEdited] = useState(text);
  const [error, setError] = useState<[said: string, detail: string | undefined] | null>(null);
  const apply = async () => {
    const answer = await lab.ask({ wish: "open", toml: edited });
    if (answer.error) setError([answer.error, answer.detail]);
    else lab.set({ editing: null });
  };
  return (
    <Dialog label={texts["edit-scenario"]!} close={() => lab.set({ editing: null })}>
      <textarea name="scenario-text" aria-label={texts["edit-scenario"]} spellcheck={false} rows={18} value={edited} onInput={(event) => setEdited(event.currentTarget.value)} />
      {error && <div class="bad" role="alert">{error[0]}{error[1] && <pre lang="en">{error[1]}</pre>}</div>}
      <p class="dialog-tools">
        <button class="primary" name="apply" onClick={() => void apply()}>{texts["apply"]}</button>
        <button onClick={() => lab.set({ editing: null })}>{texts["cancel"]}</button>
      </p>
    </Dialog>
  );
}

export function Teacher({ lab }: { lab: Lab }) {
  const { texts } = lab.state;
  const [hide, setHide] = useState<string[]>([]);
  const toggle = (part: string) => setHide(hide.includes(part) ? hide.filter((other) => other !== part) : [...hide, part]);
  return (
    <Dialog label={texts["teacher"]!} close={() => lab.set({ teaching: false })}>
      <p>{texts["teacher-hint"]}</p>
      <div class="hideable">
        {PARTS.map(([part, words]) => (
          <label key={part} class="check"><input type="checkbox" name={`hide-${part}`} checked={hide.includes(part)} onChange={() => toggle(part)} />{texts[words]}</label>
        ))}
      </div>
      <p class="dialog-tools">
        <button class="primary" name="copy-for-class" onClick={() => {
          lab.set({ teaching: false });
          void lab.copyLink(hide);
        }}>{texts["share"]}</button>
        <button onClick={() => lab.set({ teaching: false })}>{texts["cancel"]}</button>
      </p>
    </Dialog>
  );
}

export function Search({ lab }: { lab: Lab }) {
  const { texts } = lab.state;
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus(), []);
  return (
    <form class="search" role="search" onSubmit={(event) => {
      event.preventDefault();
      void lab.ask({ wish: "search", text: input.current!.value });
    }} onKeyDown={(event) => event.key === "Escape" && lab.set({ searching: false })}>
      <input ref={input} name="search" type="search" aria-label={texts["search"]} placeholder={texts["search-hint"]} />
      <button>{texts["search"]}</button>
      <button type="button" aria-label={texts["cancel"]} onClick={() => lab.set({ searching: false })}>✕</button>
    </form>
  );
}
