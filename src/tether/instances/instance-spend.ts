import { asResult, ifPossible, type Folder } from '../../host/files/files.ts'
import type { Ids } from '../../host/ids.ts'
import { ok, type Result } from '../../model/errors.ts'
import { NO_SPEND, type Spend } from '../relay/rules.ts'
import { SpendFile } from './spend-file.ts'

/** Opens the folder of an Instance; `open` fails with `not_found` if it was never used. */
export type OpenInstanceFolder = (mode: 'open' | 'create') => Promise<Result<Folder>>

interface OpenSpend {
  readonly folder: Folder
  readonly file: SpendFile
}

/** What an Instance has spent. Its folder is open only while a guest runs. */
export class InstanceSpend {
  readonly #folder: OpenInstanceFolder
  readonly #ids: Ids
  #openSpend: OpenSpend | undefined
  #total: Spend | undefined

  constructor(folder: OpenInstanceFolder, ids: Ids) {
    this.#folder = folder
    this.#ids = ids
  }

  /** Reads it once: only this process changes it. */
  async total(): Promise<Result<Spend>> {
    const known = this.#openSpend?.file.total ?? this.#total
    if (known !== undefined) return ok(known)
    const folder = await this.#folder('open')
    if (!folder.ok) return folder.error.kind === 'not_found' ? ok(NO_SPEND) : folder
    const file = await SpendFile.open(folder.value, this.#ids)
    await ifPossible(folder.value.close())
    if (!file.ok) return file
    this.#total = file.value.total
    return ok(this.#total)
  }

  /** For a guest. Close it when the guest has ended. */
  async open(): Promise<Result<OpenSpend>> {
    if (this.#openSpend !== undefined) return ok(this.#openSpend)
    const folder = await this.#folder('create')
    if (!folder.ok) return folder
    const file = await SpendFile.open(folder.value, this.#ids, this.#total)
    if (!file.ok) {
      await ifPossible(folder.value.close())
      return file
    }
    this.#openSpend = { folder: folder.value, file: file.value }
    return ok(this.#openSpend)
  }

  async close(): Promise<void> {
    const opened = this.#openSpend
    if (opened === undefined) return
    this.#openSpend = undefined
    this.#total = opened.file.total
    await ifPossible(opened.folder.close())
  }
}

/** The path of a folder in the folder of an Instance, created if it is missing. */
export async function makeFolder(opening: OpenInstanceFolder, name: string): Promise<Result<void>> {
  return asResult(`create the folder ${name} of the Instance`, async () => {
    const folder = await opening('create')
    if (!folder.ok) return folder
    try {
      await (await folder.value.folder(name, 'create')).close()
    } finally {
      await ifPossible(folder.value.close())
    }
    return ok(undefined)
  })
}
