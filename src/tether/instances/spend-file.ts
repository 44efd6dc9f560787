import * as z from 'zod'
import { asResult, replaceFile, type Folder } from '../../host/files/files.ts'
import { jsonOf, wholeFile } from '../../host/files/json-file.ts'
import type { Ids } from '../../host/ids.ts'
import { failed, ok, type Result } from '../../model/errors.ts'
import { Count } from '../../model/shape.ts'
import { NO_SPEND, type Spend } from '../relay/rules.ts'

const NAME = 'spend.json'
const MOST_BYTES = 4096

const Usd = z.number().nonnegative()
const SpendRecord = z.object({
  v: z.literal(1),
  calls: Count,
  usd: Usd,
  estimated_usd: Usd,
  unpriced_calls: Count,
})

/**
 * What an Instance has spent, in its folder. Saving is repeated until the newest total is durable, so a total never replaces a
 * later one.
 */
export class SpendFile {
  readonly #folder: Folder
  readonly #ids: Pick<Ids, 'temporary'>
  #total: Spend
  #saving: Promise<Result<void>> | undefined

  private constructor(folder: Folder, ids: Pick<Ids, 'temporary'>, total: Spend) {
    this.#folder = folder
    this.#ids = ids
    this.#total = total
  }

  /** A file that is unreadable is an error: a ceiling must not start again at 0. */
  static async open(folder: Folder, ids: Pick<Ids, 'temporary'>): Promise<Result<SpendFile>> {
    return asResult('read what the Instance has spent', async () => {
      const bytes = await wholeFile(folder, NAME, MOST_BYTES)
      if (bytes === undefined) return ok(new SpendFile(folder, ids, NO_SPEND))
      const record = SpendRecord.safeParse(jsonOf(bytes))
      if (!record.success)
        return failed('storage_failed', `${NAME} of the Instance is invalid.`, { file: NAME })
      const { calls, usd, estimated_usd, unpriced_calls } = record.data
      const total = { calls, usd, estimatedUsd: estimated_usd, unpricedCalls: unpriced_calls }
      return ok(new SpendFile(folder, ids, total))
    })
  }

  get total(): Spend {
    return this.#total
  }

  /** Resolves when this total, or a later one, is durable. */
  async save(total: Spend): Promise<Result<void>> {
    this.#total = total
    // A write that runs already has an older total.
    await this.#saving
    this.#saving ??= this.#write()
    return this.#saving
  }

  async #write(): Promise<Result<void>> {
    const { calls, usd, estimatedUsd, unpricedCalls } = this.#total
    const counts = { estimated_usd: estimatedUsd, unpriced_calls: unpricedCalls }
    const bytes = Buffer.from(`${JSON.stringify({ v: 1, calls, usd, ...counts })}\n`)
    const written = await asResult('record what the Instance has spent', async () => {
      await replaceFile(this.#folder, NAME, bytes, this.#ids.temporary())
      return ok(undefined)
    })
    this.#saving = undefined
    return written
  }
}
