// The page.
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Bar } from "./bar";
import { Diagram } from "./diagram";
import { Help } from "./help";
import { keys } from "./keys";
import { Lab } from "./lab";
import { ContextMenu } from "./menu";
import { Network } from "./network";
import { Panels } from "./panels";
import { Transport } from "./transport";

const lab = new Lab();
type Tab = "diagram" | "panels";

function App() {
  const [, draw] = useState(0);
  const [tab, setTab] = useState<Tab>("diagram");
  useEffect(() => {
    lab.listen(() => draw((count) => count + 1));
    void lab.begin();
    const onKey = (event: KeyboardEvent) => keys(lab, event);
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);
  const { frame, texts, menu, toast, help } = lab.state;
  const drop = (event: DragEvent) => {
    event.preventDefault();
    const file = event.dataTransfer?.files[0];
    if (file) void lab.openFile(file);
  };
  if (!frame) return <p class="loading" role="status">{texts["loading"] ?? "habemus …"}{toast ? ` ${toast}` : ""}</p>;
  const tabs: [Tab, string][] = [["diagram", texts["diagram"]!], ["panels", texts["panels"]!]];
  return (
    <div class="page" data-tab={tab} onDragOver={(event) => event.preventDefault()} onDrop={drop}>
      <Bar lab={lab} />
      <main>
        <div class="stage">
          <Network lab={lab} frame={frame} />
          <Transport lab={lab} frame={frame} />
          <nav class="tabs" role="tablist">
            {tabs.map(([name, words]) => (
              <button key={name} role="tab" aria-selected={tab === name} onClick={() => setTab(name)}>{words}</button>
            ))}
          </nav>
          <Diagram lab={lab} frame={frame} />
        </div>
        <Panels lab={lab} frame={frame} />
      </main>
      {menu && <ContextMenu lab={lab} menu={menu} />}
      {help && <Help lab={lab} />}
      <div class="said" role="status" aria-live="polite">{frame.said}</div>
      {toast && <div class="toast" role="alert" onClick={() => lab.set({ toast: null })}>{toast}</div>}
    </div>
  );
}

render(<App />, document.getElementById("lab")!);
// For tests: what the page would do if its engine stopped.
Object.assign(window, { habemusLab: { panic: () => lab.client.ask("panic") } });
