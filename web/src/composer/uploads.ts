import { request } from '../api/server.ts'
import type { MessageDraft, Upload, Verdict } from '../api/shapes.ts'
import { Store } from '../store/store.ts'
import type { DraftKeeper } from './draft-keeper.ts'

export type DraftFile = MessageDraft['attachments'][number]

/** A file on its way to the server. */
export interface Uploading {
  readonly key: number
  readonly name: string
  readonly sizeBytes: number
  /** Why it did not arrive; absent while it is on its way. */
  readonly problem?: string
}

const AGAIN_MS = 1_000

/**
 * Stages files for a draft. The server judges each one; what it says is shown, never guessed here. Files keep the order in which
 * they were chosen, whichever arrives first.
 */
export class Uploads {
  readonly store = new Store<readonly Uploading[]>([])
  readonly verdicts = new Store<ReadonlyMap<string, Verdict>>(new Map())
  /** Previews of files that were chosen here, by path. */
  readonly previews = new Map<string, string>()
  readonly #keeper: DraftKeeper
  readonly #order = new Map<string, number>()
  #count = 0
  #isClosed = false

  constructor(keeper: DraftKeeper) {
    this.#keeper = keeper
  }

  get isUploading(): boolean {
    return this.store.value.some(({ problem }) => problem === undefined)
  }

  close(): void {
    this.#isClosed = true
    for (const url of this.previews.values()) URL.revokeObjectURL(url)
  }

  add(files: Iterable<File>): void {
    for (const file of files) {
      this.#count += 1
      const key = this.#count
      this.store.set([...this.store.value, { key, name: nameOf(file), sizeBytes: file.size }])
      void this.#upload(key, file)
    }
  }

  removeUploading(key: number): void {
    this.store.set(this.store.value.filter((one) => one.key !== key))
  }

  remove(path: string): void {
    const attachments = this.#keeper.draft.attachments.filter((one) => one.path !== path)
    this.#keeper.edit({ attachments }, { now: true })
  }

  /** Asks the server about files of a draft that came from elsewhere. */
  async check(files: readonly DraftFile[]): Promise<void> {
    const unknown = files.filter(({ path }) => !this.verdicts.value.has(path))
    if (unknown.length === 0) return
    const answer = await request<{ verdicts: (Verdict & { path: string })[] }>(
      'POST',
      '/api/harness/attachments/check',
      { body: { paths: unknown.map(({ path }) => path) } },
    )
    if (!answer.ok) return
    const found = answer.value.verdicts.map((one) => [one.path, one] as const)
    this.verdicts.set(new Map([...this.verdicts.value, ...found]))
  }

  async #upload(key: number, file: File): Promise<void> {
    const isWanted = () => !this.#isClosed && this.store.value.some((one) => one.key === key)
    const path = `/api/harness/attachments?name=${encodeURIComponent(nameOf(file))}`
    while (isWanted()) {
      const answer = await request<Upload>('PUT', path, { body: file })
      if (!isWanted()) return
      if (answer.ok) return this.#staged(key, file, answer.value)
      const { status, message } = answer.failure
      if (status !== 0 && status < 500) return this.#refused(key, message)
      if (status === 0 && !(await isReadable(file))) return this.#refused(key, UNREADABLE)
      await new Promise((resolve) => void setTimeout(resolve, AGAIN_MS))
    }
  }

  #staged(key: number, file: File, { path, name, sizeBytes, mediaType, verdict }: Upload): void {
    this.#order.set(path, key)
    this.verdicts.set(new Map([...this.verdicts.value, [path, verdict]]))
    if (verdict.accepted && mediaType.startsWith('image/'))
      this.previews.set(path, URL.createObjectURL(file))
    this.removeUploading(key)
    const place = (one: DraftFile) => this.#order.get(one.path) ?? 0
    const attachments = [...this.#keeper.draft.attachments, { path, name, sizeBytes, mediaType }]
    this.#keeper.edit(
      { attachments: attachments.toSorted((a, b) => place(a) - place(b)) },
      { now: true },
    )
  }

  #refused(key: number, problem: string): void {
    this.store.set(this.store.value.map((one) => (one.key === key ? { ...one, problem } : one)))
  }
}

/** A folder, or a file that changed or was removed since it was chosen: sending it again cannot help. */
async function isReadable(file: File): Promise<boolean> {
  return file
    .slice(0, 1)
    .arrayBuffer()
    .then(
      () => true,
      () => false,
    )
}

const UNREADABLE = 'It cannot be read: it is a folder, or it was changed or removed.'

/** Names that the server would refuse: pasted pictures have none, and others have characters that hide. */
function nameOf({ name }: File): string {
  const visible = name.replaceAll(/[/\\\p{Cc}\p{Cf}\u2028\u2029]/gu, '_').slice(-120)
  return visible === '' || /^\.{1,2}$/.test(visible) ? 'file' : visible
}
