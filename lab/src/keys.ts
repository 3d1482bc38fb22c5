// The keys.
import type { Lab } from "./lab";
import { openMenu } from "./menu";

export function keys(lab: Lab, event: KeyboardEvent) {
  const target = event.target as HTMLElement;
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape") return lab.set({ menu: null, help: false, toast: null, searching: false });
  if (target.matches("input:not([type=range]), select, textarea, [role=menuitem]")) return;
  const { frame, selected } = lab.state;
  if (!frame) return;
  const process = frame.processes.find((process) => process.id === selected);
  const onSelected = (up: string, down: string, is: boolean) => {
    if (process) void lab.act(`${is ? up : down} ${process.id}`);
  };
  const on = target.matches("button, [role=button], [role=tab], summary");
  switch (event.key) {
    case " ":
      if (on) return;
      lab.play();
      break;
    case "ArrowRight":
      void lab.step(event.shiftKey ? 10 : 1);
      break;
    case "ArrowLeft":
      void lab.step(event.shiftKey ? -10 : -1);
      break;
    case "Home":
      void lab.seek(0);
      break;
    case "End":
      void lab.end();
      break;
    case "j":
    case "k":
      void lab.ask({ wish: "hop", on: event.key === "j" });
      break;
    case "c":
      onSelected("crash", "recover", process?.up ?? true);
      break;
    case "p":
      onSelected("pause", "resume", !process?.paused);
      break;
    case "x": {
      const cut = process?.actions.find(([act]) => act.startsWith("cut ") || act.startsWith("heal "));
      if (cut) void lab.act(cut[0]);
      break;
    }
    case "f":
      void lab.ask({ wish: "fork" });
      break;
    case "w":
      document.querySelector<HTMLElement>(".why-title")?.scrollIntoView({ block: "center" });
      document.querySelector<HTMLElement>(".why-title")?.focus();
      break;
    case "/":
      lab.set({ searching: true });
      break;
    case "s":
      void lab.copyLink();
      break;
    case "?":
      lab.set({ help: true });
      break;
    case "Enter":
      if (on || !process) return;
      openMenu(lab, document.querySelector(`[data-process="${process.id}"]`)!, process.actions, String(process.id), process.words);
      break;
    default:
      if (!/^[1-9]$/.test(event.key)) return;
      void lab.select(frame.processes[Number(event.key) - 1]?.id ?? null);
  }
  event.preventDefault();
}
