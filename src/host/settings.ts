import { createHash } from 'node:crypto'
import { failed, ok, withCause, type Failed, type Result } from '../model/errors.ts'
import type { Settings } from '../model/settings.ts'
import { asResult, replaceFile, type Folder } from './files/files.ts'
import { jsonOf, wholeFile } from './files/json-file.ts'
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
    const bytes = await wholeFile(folder, NAME, MOST_BYTES)
    if (bytes === undefined) return ok(undefined)
    const settings = await parseSettings(bytes, `${folder.label}/${NAME}`)
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

async function parseSettings(bytes: Buffer, label: string): Promise<Result<Settings>> {
  const value = jsonOf(bytes)
  if (value === undefined) return refusedSettings(label, 'is not valid JSON', {})
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
    const bad = refusedSettings(label, `has unknown keys: ${unknown.join(', ')}`, { unknown })
    return withCause(bad, { type: 'unknown_settings', keys: unknown })
  }
  const wrong = settings.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`)
  return refusedSettings(label, `has invalid values: ${wrong.join('; ')}`, { wrong })
}

function refusedSettings(
  label: string,
  why: string,
  details: Readonly<Record<string, unknown>>,
): Failed {
  return failed('invalid_args', `${label} ${why}.`, details, [
    { action: 'List the available settings.', command: 'hawser config get' },
  ])
}
