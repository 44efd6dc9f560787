import { createHash } from 'node:crypto'
import * as z from 'zod'
import { failed, ok, withCause, type Failed, type Result } from '../model/errors.ts'
import type { Settings } from '../model/settings.ts'
import { asResult, closing, ifThere, readSpan, replaceFile, type Folder } from './files/files.ts'
import type { Ids } from './ids.ts'

const NAME = 'config.json'
const MOST_BYTES = 256 * 1024

/** Settings as stored in a file. */
export interface StoredSettings {
  readonly settings: Settings
  /** Hash of the file's bytes, which is what a person trusts. */
  readonly sha256: string
}

/** Reads `config.json` of a folder; `undefined` if missing. Unknown keys are an error that names them. */
export async function readSettings(folder: Folder): Promise<Result<StoredSettings | undefined>> {
  return asResult(`read ${folder.label}/${NAME}`, async () => {
    const bytes = await wholeFile(folder, NAME)
    if (bytes === undefined) return ok(undefined)
    const settings = await parsed(bytes, `${folder.label}/${NAME}`)
    if (!settings.ok) return settings
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    return ok({ settings: settings.value, sha256 })
  })
}

export async function writeSettings(
  folder: Folder,
  settings: Settings,
  ids: Ids,
): Promise<Result<void>> {
  return asResult(`write ${folder.label}/${NAME}`, async () => {
    const bytes = Buffer.from(`${JSON.stringify(settings, null, 2)}\n`)
    await replaceFile(folder, NAME, bytes, ids.temporary())
    return ok(undefined)
  })
}

const TRUST = 'trust.json'
const TrustRecord = z.looseObject({ contents: z.array(z.looseObject({ sha256: z.string() })) })

/** The hashes of the content that a person trusts. */
export async function readTrusted(home: Folder): Promise<Result<ReadonlySet<string>>> {
  return asResult(`read ${home.label}/${TRUST}`, async () => {
    const record = await trustRecord(home)
    if (!record.ok) return record
    return ok(new Set(record.value.contents.map(({ sha256 }) => sha256)))
  })
}

export async function trust(
  home: Folder,
  content: { readonly sha256: string; readonly what: string; readonly at: string },
  ids: Ids,
): Promise<Result<void>> {
  return asResult(`write ${home.label}/${TRUST}`, async () => {
    const record = await trustRecord(home)
    if (!record.ok) return record
    const others = record.value.contents.filter(({ sha256 }) => sha256 !== content.sha256)
    const next = { ...record.value, contents: [...others, content] }
    await replaceFile(
      home,
      TRUST,
      Buffer.from(`${JSON.stringify(next, null, 2)}\n`),
      ids.temporary(),
    )
    return ok(undefined)
  })
}

async function trustRecord(home: Folder): Promise<Result<z.infer<typeof TrustRecord>>> {
  const bytes = await wholeFile(home, TRUST)
  if (bytes === undefined) return ok({ contents: [] })
  const record = TrustRecord.safeParse(jsonOf(bytes))
  if (record.success) return ok(record.data)
  return failed('unreadable', `${home.label}/${TRUST} is not a valid trust file.`, {}, [
    { action: 'Fix the file, or delete it to revoke all trust.' },
  ])
}

/** `undefined` if the file is missing. */
async function wholeFile(folder: Folder, name: string): Promise<Buffer | undefined> {
  const file = await ifThere(folder.open(name, 'read'))
  return file && closing(file, () => readSpan(file, 0, MOST_BYTES))
}

async function parsed(bytes: Buffer, label: string): Promise<Result<Settings>> {
  const value = jsonOf(bytes)
  if (value === undefined) return refused(label, 'is not valid JSON', {})
  // A large schema, loaded only where there are settings to check.
  const { Settings: schema } = await import('../model/settings.ts')
  const settings = schema.safeParse(value)
  if (settings.success) return ok(settings.data)
  const unknown = settings.error.issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => [...issue.path, key].join('.'))
      : [],
  )
  if (unknown.length > 0) {
    const bad = refused(label, `has unknown keys: ${unknown.join(', ')}`, { unknown })
    return withCause(bad, { type: 'unknown_settings', keys: unknown })
  }
  const wrong = settings.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`)
  return refused(label, `has invalid values: ${wrong.join('; ')}`, { wrong })
}

function refused(label: string, why: string, details: Readonly<Record<string, unknown>>): Failed {
  return failed('invalid_args', `${label} ${why}.`, details, [
    { action: 'List the available settings.', command: 'hawser config get' },
  ])
}

function jsonOf(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    return undefined
  }
}
