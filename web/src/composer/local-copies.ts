import { isRecord } from '../api/server.ts'
import type { MessageDraft } from '../api/shapes.ts'

/** A draft that the server has not acknowledged, as one tab has it. */
export interface LocalCopy {
  /** The version that it changes. */
  readonly tag: string | undefined
  readonly draft: MessageDraft
  /** What was last sent: the server may have it although its answer was lost. */
  readonly sent: string | undefined
  /** It was begun before the draft of the server was known. */
  readonly isFresh: boolean
}

const TAB = 'hawser.tab'
let tab = 'first'

/**
 * Gives this tab a name, which it keeps over a reload and which no other tab has: also not its duplicate. While the tab lives it
 * holds a lock, so that others can see which copies have no tab any more. Call it before anything is drawn.
 */
export async function claimTab(): Promise<void> {
  const before = sessionStorage.getItem(TAB)
  tab = before !== null && (await isFree(before)) ? before : crypto.randomUUID()
  sessionStorage.setItem(TAB, tab)
  void navigator.locks.request(lockOf(tab), () => new Promise(() => {}))
}

function lockOf(name: string): string {
  return `${TAB}.${name}`
}

async function isFree(name: string): Promise<boolean> {
  return !(await liveTabs()).has(lockOf(name))
}

async function liveTabs(): Promise<ReadonlySet<string | undefined>> {
  const { held = [] } = await navigator.locks.query()
  return new Set(held.map((one) => one.name))
}

/** The copies of the draft of a Session in this browser: one of each tab that has changes. */
export class LocalCopies {
  readonly #prefix: string

  constructor(sessionId: string) {
    this.#prefix = `hawser.draft.${sessionId}.`
  }

  /** Returns false if this browser cannot keep it. */
  keep(copy: LocalCopy): boolean {
    try {
      localStorage.setItem(this.#prefix + tab, JSON.stringify(copy))
      return true
    } catch {
      return false
    }
  }

  forget(): void {
    localStorage.removeItem(this.#prefix + tab)
  }

  own(): LocalCopy | undefined {
    return this.#read(this.#prefix + tab)
  }

  /** That of a tab that is gone. `remove` it once it is kept elsewhere. */
  async orphan(): Promise<{ readonly copy: LocalCopy; readonly remove: () => void } | undefined> {
    const keys = Object.keys(localStorage).filter((key) => key.startsWith(this.#prefix))
    const others = keys.filter((key) => key !== this.#prefix + tab)
    if (others.length === 0) return undefined
    const live = await liveTabs()
    const key = others.find((one) => !live.has(lockOf(one.slice(this.#prefix.length))))
    if (key === undefined) return undefined
    const copy = this.#read(key)
    return copy === undefined ? undefined : { copy, remove: () => localStorage.removeItem(key) }
  }

  #read(key: string): LocalCopy | undefined {
    try {
      const found: unknown = JSON.parse(localStorage.getItem(key) ?? 'null')
      if (!isRecord(found) || !isRecord(found['draft'])) return undefined
      const { tag, draft, sent, isFresh } = found
      return {
        tag: typeof tag === 'string' ? tag : undefined,
        draft: { ...EMPTY_DRAFT, ...draft },
        sent: typeof sent === 'string' ? sent : undefined,
        isFresh: isFresh === true,
      }
    } catch {
      return undefined
    }
  }
}

export const EMPTY_DRAFT: MessageDraft = {
  text: '',
  attachments: [],
  mentions: [],
  skills: [],
  choices: {},
  caret: { start: 0, end: 0 },
  unconfirmed: [],
}
