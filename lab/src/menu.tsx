// What can be done to what was pointed at.
import { useEffect, useRef } from "preact/hooks";
import type { Lab, Menu } from "./lab";
import type { Action } from "./model";

export function openMenu(lab: Lab, at: Element, actions: Action[], title: string, note: string | null) {
  const box = at.getBoundingClientRect();
  lab.stop();
  lab.set({ menu: { x: box.x + box.width / 2, y: box.y + box.height / 2, title, note, actions } });
}

export function ContextMenu({ lab, menu }: { lab: Lab; menu: Menu }) {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    list.current?.querySelector("button")?.focus();
    return () => before?.focus?.();
  }, [menu]);
  const move = (event: KeyboardEvent) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (!step) return;
    event.preventDefault();
    const items = [...list.current!.querySelectorAll("button")];
    const place = items.indexOf(document.activeElement as HTMLButtonElement);
    items[(place + step + items.length) % items.length]?.focus();
  };
  const left = Math.max(8, Math.min(menu.x, window.innerWidth - 240));
  const top = Math.max(8, Math.min(menu.y, window.innerHeight - 60 - 38 * menu.actions.length));
  return (
    <div class="veil" onPointerDown={(event) => event.target === event.currentTarget && lab.set({ menu: null })}>
      <div class="menu" role="menu" aria-label={menu.title} ref={list} onKeyDown={move} style={{ left: `${left}px`, top: `${top}px` }}>
        <div class="menu-title"><b>{menu.title}</b>{menu.note && <span> {menu.note}</span>}</div>
        {menu.actions.map(([act, words]) => (
          <button key={act} role="menuitem" data-act={act} onClick={() => void lab.act(act)}>{words}</button>
        ))}
      </div>
    </div>
  );
}
