// The page.
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Bar } from "./bar";
import { Diagram } from "./diagram";
import { Editor, Search, Teacher } from "./dialogs";
import { Help } from "./help";
import { keys } from "./keys";
import { Lab } from "./lab";
import { ContextMenu } from "./menu";
import { Network } from "./network";
import { Panels } from "./panels";
import { useSplitter } from "./splitter";
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
  const { frame, texts, menu, toast, detail, help, hide, editing, teaching, searching, welcome, course } = lab.state;
  const splitter = useSplitter(lab);
  useEffect(() => {
    // Whoever asks why on a phone wants to see it.
    const onWhy = (event: KeyboardEvent) => event.key === "w" && setTab("panels");
    window.addEventListener("keydown", onWhy);
    return () => window.removeEventListener("keydown", onWhy);
  }, []);
  // What is to be read first is seen first, on a phone, too.
  useEffect(() => {
    if (welcome || course) setTab("panels");
  }, [welcome, course?.name]);
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
        <div class="stage" style={{ "--rows": splitter.rows }}>
          <Network lab={lab} frame={frame} />
          <Transport lab={lab} frame={frame} />
          {splitter.bar}
          <nav class="tabs" role="tablist">
            {tabs.map(([name, words]) => (
              <button key={name} role="tab" aria-selected={tab === name} onClick={() => setTab(name)}>{words}</button>
            ))}
          </nav>
          {!hide.includes("diagram") && <Diagram lab={lab} frame={frame} />}
        </div>
        <Panels lab={lab} frame={frame} />
      </main>
      {menu && <ContextMenu lab={lab} menu={menu} />}
      {help && <Help lab={lab} />}
      {editing !== null && <Editor lab={lab} text={editing} />}
      {teaching && <Teacher lab={lab} />}
      {searching && <Search lab={lab} />}
      <div class="said" role="status" aria-live="polite">{frame.said}</div>
      {toast && <div class="toast" role="alert" onClick={() => lab.set({ toast: null })}>{toast}{detail && <code lang="en">{detail}</code>}</div>}
    </div>
  );
}

render(<App />, document.getElementById("lab")!);
// For tests and measurements: what the page would do if its engine stopped, and how much memory it holds.
Object.assign(window, {
  habemusLab: {
    panic: () => lab.client.ask("panic"),
    memory: async () => (await lab.client.ask("memory")).bytes,
    file: async (format: string) => (await lab.client.ask({ wish: "file", format })).file?.[1],
  },
});
