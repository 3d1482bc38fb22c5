// The keys, explained.
import { useEffect, useRef } from "preact/hooks";
import type { Lab } from "./lab";

const KEYS = ["space", "arrows", "home", "digits", "menu", "crash", "pause", "cut", "events", "why", "fork", "search", "share"];

export function Help({ lab }: { lab: Lab }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const { texts } = lab.state;
  return (
    <dialog ref={dialog} class="help" aria-label={texts["keys"]} onClose={() => lab.set({ help: false })}>
      <h2>{texts["keys"]}</h2>
      <ul>{KEYS.map((key) => <li key={key}>{texts[`key-${key}`]}</li>)}</ul>
      <p>{texts["draw"]} {texts["drag"]}</p>
      <button onClick={() => dialog.current?.close()}>{texts["cancel"]}</button>
    </dialog>
  );
}
