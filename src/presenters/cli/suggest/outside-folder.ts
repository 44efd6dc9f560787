/** Lists a folder that a person typed, such as `~/` or `../notes/`: names, those of folders with a slash. */
export type ListFolder = (folder: string) => Promise<readonly string[]>

/** The folder of a path outside of the workspace, as typed; `undefined` for any other path. Pure. */
export function outsideFolder(query: string): string | undefined {
  if (!/^(?:~\/|\/|\.\.\/)/.test(query)) return undefined
  return query.slice(0, query.lastIndexOf('/') + 1)
}

/** The paths of one folder at a time, listed when a person types into it. */
export class OutsideFolder {
  readonly #list: ListFolder
  #folder: string | undefined
  #paths: readonly string[] = []

  constructor(list: ListFolder) {
    this.#list = list
  }

  /** What is known of the folder now. `onListed` is called when more is. */
  paths(folder: string, onListed: () => void): readonly string[] {
    if (this.#folder === folder) return this.#paths
    this.#folder = folder
    this.#paths = []
    void this.#list(folder).then((names) => {
      if (this.#folder !== folder) return
      this.#paths = names.map((name) => `${folder}${name}`)
      onListed()
    })
    return this.#paths
  }

  /** The next word lists it again. */
  forget(): void {
    this.#folder = undefined
  }
}
