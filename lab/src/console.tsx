// Words to real nodes.
import { useRef } from "preact/hooks";
import type { Lab } from "./lab";

export function Console({ lab }: { lab: Lab }) {
  const { texts, replies } = lab.state;
  const input = useRef<HTMLInputElement>(null);
  return (
    <section class="panel console">
      <h2><span class="pulse" aria-hidden="true" /> {texts["live"]}</h2>
      <form onSubmit={(event) => {
        event.preventDefault();
        void lab.tell(input.current!.value);
        input.current!.value = "";
      }}>
        <input ref={input} name="console" aria-label={texts["console"]} placeholder="kill 5 · status · help" autocomplete="off" />
        <button>{texts["send"]}</button>
      </form>
      {replies.length > 0 && <pre class="replies" role="log">{replies.join("\n")}</pre>}
    </section>
  );
}
