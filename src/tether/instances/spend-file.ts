import * as z from 'zod'
import { asResult, replaceFile, type Folder } from '../../host/files/files.ts'
import { jsonOf, wholeFile } from '../../host/files/json-file.ts'
import type { Ids } from '../../host/ids.ts'
import { failed, ok, type Result } from '../../model/errors.ts'
import { Count } from '../../model/shape.ts'
import { NO_SPEND, type UnendedCalls, type Spend } from '../relay/rules.ts'

const NAME = 'spend.json'
const MOST_BYTES = 4096

const Usd = z.number().nonnegative()
const SpendRecord = z.object({
  v: z.literal(1),
  calls: Count,
  usd: Usd,
  estimated_usd: Usd,
  unpriced_calls: Count,
  /** Calls that run. If they are found when the file is opened, their end was not seen. */
  running: z.object({ calls: Count, usd: Usd, unpriced_calls: Count }).optional(),
})

/**
 * What an Instance has spent, in its folder. Saving is repeated until the newest total is durable, so a total never replaces a
 * later one.
 */
export class SpendFile {
  readonly #folder: Folder
  readonly #ids: Pick<Ids, 'temporary'>
  #total: Spend
  #running: UnendedCalls = { calls: 0, usd: 0, unpricedCalls: 0 }
  #saving: Promise<Result<void>> | undefined

  private constructor(folder: Folder, ids: Pick<Ids, 'temporary'>, total: Spend) {
    this.#folder = folder
    this.#ids = ids
    this.#total = total
  }

  /**
   * A file that is unreadable is an error: a ceiling must not start again at 0. Calls that ran when a server was killed count
   * with their estimate. A `known` total of this process is newer than the file, if that could not be written.
   */
  static async open(
    folder: Folder,
    ids: Pick<Ids, 'temporary'>,
    known?: Spend,
  ): Promise<Result<SpendFile>> {
    if (known !== undefined) return ok(new SpendFile(folder, ids, known))
    return asResult('read what the Instance has spent', async () => {
      const bytes = await wholeFile(folder, NAME, MOST_BYTES)
      if (bytes === undefined) return ok(new SpendFile(folder, ids, NO_SPEND))
      const record = SpendRecord.safeParse(jsonOf(bytes))
      if (!record.success)
        return failed('storage_failed', `${NAME} of the Instance is invalid.`, { file: NAME })
      const { calls, usd, estimated_usd, unpriced_calls, running: lost = NONE } = record.data
      const total = {
        calls: calls + lost.calls,
        usd: sum(usd, lost.usd),
        estimatedUsd: sum(estimated_usd, lost.usd),
        unpricedCalls: unpriced_calls + lost.unpriced_calls,
      }
      return ok(new SpendFile(folder, ids, total))
    })
  }

  get total(): Spend {
    return this.#total
  }

  /** Resolves when this total, or a later one, is durable. */
  save(total: Spend): Promise<Result<void>> {
    this.#total = total
    return this.#saveLatest()
  }

  /** The same for the calls that run. */
  saveRunning(running: UnendedCalls): Promise<Result<void>> {
    this.#running = running
    return this.#saveLatest()
  }

  async #saveLatest(): Promise<Result<void>> {
    // A write that runs already has an older total.
    await this.#saving
    this.#saving ??= this.#write()
    return this.#saving
  }

  async #write(): Promise<Result<void>> {
    const { calls, usd, estimatedUsd, unpricedCalls } = this.#total
    const counts = { estimated_usd: estimatedUsd, unpriced_calls: unpricedCalls }
    const { unpricedCalls: unpriced_calls, ...lost } = this.#running
    const running = lost.calls === 0 ? {} : { running: { ...lost, unpriced_calls } }
    const bytes = Buffer.from(`${JSON.stringify({ v: 1, calls, usd, ...counts, ...running })}\n`)
    const written = await asResult('record what the Instance has spent', async () => {
      await replaceFile(this.#folder, NAME, bytes, this.#ids.temporary())
      return ok(undefined)
    })
    this.#saving = undefined
    return written
  }
}

const NONE = { calls: 0, usd: 0, unpriced_calls: 0 }

function sum(one: number, other: number): number {
  return Number((one + other).toFixed(9))
}
