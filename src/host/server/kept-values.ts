import { createHash } from 'node:crypto'
import type * as z from 'zod'
import { ok, type Result } from '../../model/errors.ts'
import { asResult, closing, ifPossible, ifThere, replaceFile, type Folder } from '../files/files.ts'
import { jsonOf, wholeFile } from '../files/json-file.ts'
import type { Ids } from '../ids.ts'

/** A value, and a tag that is different for every other content. */
export interface KeptValue<T> {
  readonly tag: string
  readonly value: T
}

/** Values by name, each in a file of its own, which survive a crash of the server. A name must be one segment of a path. */
export interface KeptValues<T> {
  read(name: string): Promise<Result<KeptValue<T> | undefined>>
  /**
   * Replaces a value by what `next` returns for the present one; `undefined` removes it. Durable when it resolves. Changes of
   * one name happen one after another.
   */
  update(
    name: string,
    next: (now: KeptValue<T> | undefined) => Result<T | undefined>,
  ): Promise<Result<KeptValue<T> | undefined>>
  /** Every value, by its name. */
  all(): Promise<Result<ReadonlyMap<string, T>>>
  close(): Promise<void>
}

const SUFFIX = '.json'
const MOST_BYTES = 16 * 1024 * 1024

/** Opens the folder, and creates it if missing. A file that cannot be read is kept beside its successor. Throws a `FileFailure`. */
export async function keptValues<T>(
  home: Folder,
  folderName: string,
  schema: z.ZodType<T>,
  ids: Pick<Ids, 'temporary'>,
): Promise<KeptValues<T>> {
  const folder = await home.folder(folderName, 'create')
  const turns = new Map<string, Promise<unknown>>()

  const load = async (name: string): Promise<KeptValue<T> | 'unreadable' | undefined> => {
    const bytes = await wholeFile(folder, name + SUFFIX, await sizeOf(folder, name + SUFFIX))
    if (bytes === undefined) return undefined
    const found = schema.safeParse(jsonOf(bytes))
    return found.success ? { tag: tagOf(bytes), value: found.data } : 'unreadable'
  }
  const replace = async (
    name: string,
    next: (now: KeptValue<T> | undefined) => Result<T | undefined>,
  ): Promise<Result<KeptValue<T> | undefined>> => {
    const now = await load(name)
    const decided = next(now === 'unreadable' ? undefined : now)
    if (!decided.ok) return decided
    const file = name + SUFFIX
    if (now === 'unreadable') await ifPossible(folder.rename(file, `${name}.unreadable`))
    if (decided.value === undefined) {
      await ifThere(folder.remove(file))
      await folder.sync()
      return ok(undefined)
    }
    const bytes = Buffer.from(JSON.stringify(decided.value))
    await replaceFile(folder, file, bytes, ids.temporary())
    return ok({ tag: tagOf(bytes), value: decided.value })
  }

  return {
    read: (name) =>
      asResult('read what is kept', async () => {
        const found = await load(name)
        return ok(found === 'unreadable' ? undefined : found)
      }),
    update: (name, next) => {
      const before = turns.get(name) ?? Promise.resolve()
      const done = before.then(() => asResult('keep it', () => replace(name, next)))
      const settled = done.then(
        () => undefined,
        () => undefined,
      )
      turns.set(name, settled)
      void settled.then(() => {
        if (turns.get(name) === settled) turns.delete(name)
      })
      return done
    },
    all: () =>
      asResult('read what is kept', async () => {
        const values = new Map<string, T>()
        for (const file of await folder.names()) {
          if (!file.endsWith(SUFFIX)) continue
          const name = file.slice(0, -SUFFIX.length)
          const found = await load(name)
          if (found !== undefined && found !== 'unreadable') values.set(name, found.value)
        }
        return ok(values)
      }),
    close: async () => {
      await Promise.all(turns.values())
      await folder.close()
    },
  }
}

async function sizeOf(folder: Folder, name: string): Promise<number> {
  const file = await ifThere(folder.open(name, 'read'))
  if (file === undefined) return 0
  const { size } = await closing(file, () => file.stat())
  return Math.min(size, MOST_BYTES)
}

function tagOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex').slice(0, 32)
}
