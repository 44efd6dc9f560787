import { isRecord, request, type Failure } from '../api/server.ts'
import { Store } from '../store/store.ts'
import type { MessageDraft } from '../api/shapes.ts'
import { EMPTY_DRAFT, LocalCopies, type LocalCopy } from './local-copies.ts'

/** A draft, and how safe it is. */
export interface KeptDraft {
  readonly draft: MessageDraft
  /**
   * `saved`: the server has it. `local`: the server does not answer, and this browser has it. `refused`: the server does not
   * take it, for the reason in `problem`.
   */
  readonly state: 'loading' | 'saved' | 'saving' | 'local' | 'refused' | 'conflict'
  /** What another tab or browser wrote meanwhile. */
  readonly other: MessageDraft | undefined
  readonly problem: string
  /** This browser could not store what the server does not have. */
  readonly isOnlyHere: boolean
}

const QUIET_MS = 250
const AGAIN_MS = 1_000

/**
 * Keeps the draft of a Session on the server. Every change is in local storage at once, and there only until the server
 * acknowledged it. Another client that changed it meanwhile is never overwritten: a person chooses.
 */
export class DraftKeeper {
  readonly store: Store<KeptDraft>
  readonly #path: string
  readonly #copies: LocalCopies
  #tag: string | undefined
  /** Of the other version in a conflict. */
  #otherTag: string | undefined
  #sent: string | undefined
  /** The draft of the server is known. */
  #isLoaded = false
  #isFresh = false
  #isDirty = false
  /** How often this tab changed the draft, or its version. */
  #changes = 0
  #isSaving = false
  #timer: ReturnType<typeof setTimeout> | undefined
  #isClosed = false

  constructor(id: string) {
    this.#path = `/api/harness/session/${id}/draft`
    this.#copies = new LocalCopies(id)
    const local = this.#copies.own()
    const draft = local?.draft ?? EMPTY_DRAFT
    this.store = new Store<KeptDraft>({
      draft,
      state: 'loading',
      other: undefined,
      problem: '',
      isOnlyHere: false,
    })
    this.#tag = local?.tag
    this.#sent = local?.sent
    this.#isFresh = local?.isFresh ?? true
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
    if (this.#isBusy) return
    const before = this.#changes
    const answer = await request<{ draft: MessageDraft | null }>('GET', this.#path)
    if (this.#isClosed || this.#isBusy) return
    if (!answer.ok) return this.#notLoaded(answer.failure)
    const orphan = await this.#copies.orphan()
    // What was saved meanwhile is newer than this answer.
    if (this.#isClosed || this.#isBusy || (this.#isLoaded && this.#changes > before)) return
    this.#isLoaded = true
    const theirs = answer.value.draft ?? EMPTY_DRAFT
    const own = this.#copies.own()
    const local = own ?? orphan?.copy
    if (local === undefined || sameText(local.draft, theirs)) {
      this.#tag = answer.tag
      this.#copies.forget()
      this.#adopt(theirs, 'saved')
    } else this.#take(local, theirs, answer.tag)
    if (own === undefined) orphan?.remove()
  }

  /** Changes the draft. Local storage has it when this returns. */
  edit(change: Partial<MessageDraft>, { now = false } = {}): void {
    const draft = { ...this.draft, ...change }
    const { state } = this.store.value
    const isWaiting = state === 'conflict' || !this.#isLoaded
    this.#isDirty = true
    this.#changes += 1
    this.store.change({ draft, ...(isWaiting ? {} : { state: 'saving' as const }) })
    this.#keepLocal()
    if (isWaiting) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.#save(), now ? 0 : QUIET_MS)
  }

  /** Ends a conflict. */
  choose(which: 'mine' | 'theirs'): void {
    const { other = EMPTY_DRAFT } = this.store.value
    this.#tag = this.#otherTag
    this.#changes += 1
    if (which === 'theirs') {
      this.#isDirty = false
      this.#copies.forget()
      return this.#adopt(other, 'saved')
    }
    this.store.change({ state: 'saving', other: undefined })
    void this.#save()
  }

  /** What the server has is not to be replaced now. */
  get #isBusy(): boolean {
    return this.#isSaving || (this.#isLoaded && this.#isDirty)
  }

  #notLoaded({ status, message }: Failure): void {
    const isAway = status === 0 || status >= 500
    if (!this.#isLoaded)
      this.store.change(isAway ? { state: 'local' } : { state: 'refused', problem: message })
    if (isAway) this.#later(() => this.load())
  }

  /** Changes of this tab, or of one that is gone, which the server does not have. */
  #take(local: LocalCopy, theirs: MessageDraft, tag: string | undefined): void {
    this.#sent = local.sent
    this.#isDirty = true
    this.#changes += 1
    const isNext = local.tag === tag || local.sent === bodyOf(theirs)
    if (!isNext && !local.isFresh) {
      this.#tag = local.tag
      this.store.change({ draft: local.draft })
      return this.#conflict(theirs, tag)
    }
    this.#tag = tag
    this.#adopt(isNext ? local.draft : joined(theirs, local.draft), 'saving')
    this.#keepLocal()
    void this.#save()
  }

  async #save(): Promise<void> {
    if (this.#isSaving || !this.#isDirty || !this.#isLoaded) return
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
    const { status, details, message } = answer.failure
    if (status === 412) return this.#changedElsewhere(details)
    if (status !== 0 && status < 500)
      return this.store.change({ state: 'refused', problem: message })
    this.store.change({ state: 'local' })
    this.#later(() => this.#save())
  }

  #acknowledged(tag: string | undefined): void {
    this.#tag = tag
    this.#changes += 1
    if (this.#isDirty) return void this.#save()
    this.#copies.forget()
    this.store.change({ state: 'saved', problem: '', isOnlyHere: false })
  }

  /** Unless the other version is our own, whose answer was lost. */
  #changedElsewhere({ present }: Readonly<Record<string, unknown>>): void {
    const found = isRecord(present) ? present : {}
    const other = isRecord(found['draft']) ? { ...EMPTY_DRAFT, ...found['draft'] } : EMPTY_DRAFT
    const tag = typeof found['tag'] === 'string' ? `"${found['tag']}"` : undefined
    if (bodyOf(other) !== this.#sent && !sameText(other, this.draft))
      return this.#conflict(other, tag)
    this.#tag = tag
    void this.#save()
  }

  /** The copy in this browser still names the version that it changes, also over a reload. */
  #conflict(other: MessageDraft, tag: string | undefined): void {
    this.#otherTag = tag
    this.store.change({ state: 'conflict', other })
    this.#keepLocal()
  }

  #adopt(draft: MessageDraft, state: 'saved' | 'saving'): void {
    this.store.change({ draft, state, other: undefined, problem: '', isOnlyHere: false })
  }

  #later(work: () => Promise<void>): void {
    clearTimeout(this.#timer)
    if (!this.#isClosed) this.#timer = setTimeout(() => void work(), AGAIN_MS)
  }

  #keepLocal(): void {
    const isFresh = this.#isFresh && !this.#isLoaded
    const copy = { tag: this.#tag, draft: this.draft, sent: this.#sent, isFresh }
    const isOnlyHere = !this.#copies.keep(copy)
    if (isOnlyHere !== this.store.value.isOnlyHere) this.store.change({ isOnlyHere })
  }
}

/** What was typed before the draft of the server was known comes after it. */
function joined(theirs: MessageDraft, mine: MessageDraft): MessageDraft {
  const text = theirs.text === '' ? mine.text : `${theirs.text}\n${mine.text}`
  const before = text.length - mine.text.length
  return {
    text,
    attachments: [...theirs.attachments, ...mine.attachments],
    mentions: [...new Set([...theirs.mentions, ...mine.mentions])],
    skills: [...new Set([...theirs.skills, ...mine.skills])],
    choices: { ...theirs.choices, ...mine.choices },
    caret: { start: before + mine.caret.start, end: before + mine.caret.end },
    unconfirmed: [...theirs.unconfirmed, ...mine.unconfirmed],
  }
}

/** In one order of fields, so that equal drafts are equal texts. */
function bodyOf(draft: MessageDraft): string {
  const { text, attachments, mentions, skills, choices, caret, unconfirmed } = draft
  const { model, effort, mode, permissionMode } = choices
  const files = attachments.map(({ path }) => path)
  const keys = unconfirmed.map(({ messageKey }) => messageKey)
  const chosen = [model, effort, mode, permissionMode]
  return JSON.stringify([text, files, mentions, skills, chosen, caret, keys])
}

/** Equal but for the place of the caret. */
function sameText(one: MessageDraft, other: MessageDraft): boolean {
  const caret = EMPTY_DRAFT.caret
  return bodyOf({ ...one, caret }) === bodyOf({ ...other, caret })
}
