import { request } from '../api/server.ts'
import { isRecord } from '../api/server.ts'
import { Store } from '../store/store.ts'
import type { MessageDraft } from '../api/shapes.ts'

/** A draft, and how safe it is. */
export interface KeptDraft {
  readonly draft: MessageDraft
  /** `saved`: the server has it. `local`: the server does not answer, and this browser has it. */
  readonly state: 'loading' | 'saved' | 'saving' | 'local' | 'conflict'
  /** What another tab or browser wrote meanwhile. */
  readonly other: MessageDraft | undefined
}

const EMPTY_DRAFT: MessageDraft = {
  text: '',
  attachments: [],
  mentions: [],
  skills: [],
  choices: {},
  caret: { start: 0, end: 0 },
  unconfirmed: [],
}

/** The copy in this browser, until the server acknowledged it. */
interface LocalCopy {
  /** The version that it changes. */
  readonly tag: string | undefined
  readonly draft: MessageDraft
  /** What was last sent: the server may have it although its answer was lost. */
  readonly sent: string | undefined
}

const QUIET_MS = 250
const AGAIN_MS = 1_000

/**
 * Keeps the draft of a Session on the server. Every change is in local storage at once, and there only until the server
 * acknowledged it. Another client that changed it meanwhile is never overwritten: a person chooses.
 */
export class DraftKeeper {
  readonly store = new Store<KeptDraft>({ draft: EMPTY_DRAFT, state: 'loading', other: undefined })
  readonly #id: string
  readonly #path: string
  #tag: string | undefined
  #sent: string | undefined
  #isDirty = false
  #isSaving = false
  #timer: ReturnType<typeof setTimeout> | undefined
  #isClosed = false
  #saved: (() => void)[] = []

  constructor(id: string) {
    this.#id = id
    this.#path = `/api/harness/session/${id}/draft`
    void this.load()
  }

  get draft(): MessageDraft {
    return this.store.value.draft
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
    if (this.#isDirty) void this.#save()
  }

  /** Reads the draft of the server, unless this tab has changes that it does not have. */
  async load(): Promise<void> {
    if (this.#isDirty || this.#isSaving) return
    const answer = await request<{ draft: MessageDraft | null }>('GET', this.#path)
    if (this.#isClosed || this.#isDirty || this.#isSaving) return
    const local = this.#localCopy()
    if (!answer.ok) {
      if (local !== undefined && this.store.value.state === 'loading')
        this.#adopt(local.draft, local.tag, 'local')
      if (answer.failure.status === 0 || answer.failure.status >= 500)
        this.#later(() => this.load())
      return
    }
    const draft = answer.value.draft ?? EMPTY_DRAFT
    this.#tag = answer.tag
    if (local === undefined) return this.#adopt(draft, answer.tag, 'saved')
    this.#sent = local.sent
    if (sameText(local.draft, draft)) {
      this.#forgetLocal()
      return this.#adopt(draft, answer.tag, 'saved')
    }
    this.#isDirty = true
    if (local.tag === answer.tag || local.sent === bodyOf(draft)) {
      this.#adopt(local.draft, answer.tag, 'saving')
      return void this.#save()
    }
    this.store.set({ draft: local.draft, state: 'conflict', other: draft })
  }

  /** Changes the draft. Local storage has it when this returns. */
  edit(change: Partial<MessageDraft>, { now = false } = {}): void {
    const draft = { ...this.draft, ...change }
    const { state, other } = this.store.value
    this.store.set({ draft, state: state === 'conflict' ? state : 'saving', other })
    this.#isDirty = true
    this.#keepLocal()
    clearTimeout(this.#timer)
    if (state === 'conflict' || state === 'loading') return
    this.#timer = setTimeout(() => void this.#save(), now ? 0 : QUIET_MS)
  }

  /** Resolves when the server has what is in the draft now. */
  saved(): Promise<void> {
    if (!this.#isDirty && !this.#isSaving) return Promise.resolve()
    return new Promise((resolve) => void this.#saved.push(resolve))
  }

  /** Ends a conflict. */
  choose(which: 'mine' | 'theirs'): void {
    const { draft, other = EMPTY_DRAFT } = this.store.value
    if (which === 'theirs') {
      this.#isDirty = false
      this.#forgetLocal()
      return this.#adopt(other, this.#tag, 'saved')
    }
    this.store.set({ draft, state: 'saving', other: undefined })
    void this.#save()
  }

  async #save(): Promise<void> {
    if (this.#isSaving || !this.#isDirty) return
    this.#isSaving = true
    this.#isDirty = false
    const { draft } = this.store.value
    this.#sent = bodyOf(draft)
    this.#keepLocal()
    const condition = this.#tag === undefined ? {} : { 'if-match': this.#tag }
    const answer = await request<{ draft: MessageDraft }>('PUT', this.#path, {
      body: draft,
      headers: condition,
    })
    this.#isSaving = false
    if (answer.ok) return this.#acknowledged(answer.tag)
    this.#isDirty = true
    if (answer.failure.status === 412) return this.#changedElsewhere(answer.failure.details)
    this.store.change({ state: 'local' })
    if (answer.failure.status === 0 || answer.failure.status >= 500) this.#later(() => this.#save())
  }

  #acknowledged(tag: string | undefined): void {
    this.#tag = tag
    if (this.#isDirty) return void this.#save()
    this.#forgetLocal()
    this.store.change({ state: 'saved' })
    for (const saved of this.#saved.splice(0)) saved()
  }

  /** Unless the other version is our own, whose answer was lost. */
  #changedElsewhere({ present }: Readonly<Record<string, unknown>>): void {
    const found = isRecord(present) ? present : {}
    const other = isRecord(found['draft']) ? { ...EMPTY_DRAFT, ...found['draft'] } : EMPTY_DRAFT
    this.#tag = typeof found['tag'] === 'string' ? `"${found['tag']}"` : undefined
    if (bodyOf(other) === this.#sent || sameText(other, this.draft)) return void this.#save()
    this.store.change({ state: 'conflict', other })
  }

  #adopt(draft: MessageDraft, tag: string | undefined, state: KeptDraft['state']): void {
    this.#tag = tag
    this.store.set({ draft, state, other: undefined })
    if (state === 'saved') for (const saved of this.#saved.splice(0)) saved()
  }

  #later(work: () => Promise<void>): void {
    clearTimeout(this.#timer)
    if (!this.#isClosed) this.#timer = setTimeout(() => void work(), AGAIN_MS)
  }

  get #key(): string {
    return `hawser.draft.${this.#id}`
  }

  #keepLocal(): void {
    const copy: LocalCopy = { tag: this.#tag, draft: this.draft, sent: this.#sent }
    try {
      localStorage.setItem(this.#key, JSON.stringify(copy))
    } catch {
      // Full or forbidden: the server has it in a moment.
    }
  }

  #forgetLocal(): void {
    localStorage.removeItem(this.#key)
  }

  #localCopy(): LocalCopy | undefined {
    try {
      const found: unknown = JSON.parse(localStorage.getItem(this.#key) ?? 'null')
      if (!isRecord(found) || !isRecord(found['draft'])) return undefined
      const { tag, draft, sent } = found
      return {
        tag: typeof tag === 'string' ? tag : undefined,
        draft: { ...EMPTY_DRAFT, ...draft },
        sent: typeof sent === 'string' ? sent : undefined,
      }
    } catch {
      return undefined
    }
  }
}

/** In one order of fields, so that equal drafts are equal texts. */
function bodyOf(draft: MessageDraft): string {
  const { text, attachments, mentions, skills, choices, caret, unconfirmed } = draft
  const { model, effort, permissionMode } = choices
  const files = attachments.map(({ path }) => path)
  const keys = unconfirmed.map(({ messageKey }) => messageKey)
  return JSON.stringify([text, files, mentions, skills, model, effort, permissionMode, caret, keys])
}

/** Equal but for the place of the caret. */
function sameText(one: MessageDraft, other: MessageDraft): boolean {
  const caret = EMPTY_DRAFT.caret
  return bodyOf({ ...one, caret }) === bodyOf({ ...other, caret })
}
