// The engines, as the build binds them.
declare module "engine" {
  export default function load(options: { module_or_path: URL }): Promise<unknown>;
  export class Engine {
    ask(wish: string): string;
  }
}
declare module "checker" {
  export default function load(options: { module_or_path: URL }): Promise<unknown>;
  export class CheckerEngine {
    ask(wish: string): string;
  }
}
