// The engine, as the build binds it.
declare module "engine" {
  export default function load(options: { module_or_path: URL }): Promise<unknown>;
  export class Engine {
    ask(wish: string): string;
  }
}
