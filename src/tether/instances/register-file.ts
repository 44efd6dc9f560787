import * as z from 'zod'
import { sha256 } from '../../encoding/hash.ts'
import { isJsonObject } from '../../encoding/json.ts'
import { replaceFile, type Folder } from '../../host/files/files.ts'
import { jsonOf, wholeFile } from '../../host/files/json-file.ts'
import type { Ids } from '../../host/ids.ts'
import { failed, ok, type Failed, type Result } from '../../model/errors.ts'
import { InstanceRecord } from '../../model/tether/instance.ts'

const NAME = 'register.json'
const MOST_BYTES = 16 * 1024 * 1024
const HASH_LENGTH = 64

const Register = z.object({ v: z.literal(1), instances: z.array(InstanceRecord) })

/** The registered Instances; none if there is no register yet. A register that cannot be trusted is an error, never empty. */
export async function readRegister(folder: Folder): Promise<Result<readonly InstanceRecord[]>> {
  const bytes = await wholeFile(folder, NAME, MOST_BYTES)
  if (bytes === undefined) return ok([])
  const text = bytes.subarray(HASH_LENGTH + 1)
  if (bytes.toString('latin1', 0, HASH_LENGTH) !== sha256(text)) return damagedRegister('checksum')
  const value = jsonOf(text)
  if (isJsonObject(value) && value['v'] !== 1) return damagedRegister('version')
  const register = Register.safeParse(value)
  if (!register.success) return damagedRegister('shape')
  const { instances } = register.data
  const names = instances.flatMap(({ id, handle }) => [id, handle])
  return new Set<string>(names).size === names.length ? ok(instances) : damagedRegister('repeated')
}

export async function writeRegister(
  folder: Folder,
  instances: readonly InstanceRecord[],
  ids: Pick<Ids, 'temporary'>,
): Promise<Result<void>> {
  const text = Buffer.from(`${JSON.stringify({ v: 1, instances })}\n`)
  const bytes = Buffer.concat([Buffer.from(`${sha256(text)}\n`), text])
  if (bytes.length > MOST_BYTES)
    return failed('budget_exceeded', 'There are too many Instances. Delete some first.')
  await replaceFile(folder, NAME, bytes, ids.temporary())
  return ok(undefined)
}

const WORDS = {
  checksum: 'its checksum does not match',
  version: 'it was written by a newer version of Hawser',
  shape: 'it contains invalid records',
  repeated: 'two Instances have the same name',
} as const

function damagedRegister(reason: keyof typeof WORDS): Failed {
  const message = `The register of Instances cannot be used: ${WORDS[reason]}.`
  return failed('storage_failed', message, { file: NAME, reason }, [
    reason === 'version'
      ? { action: 'Update Hawser.' }
      : { action: 'Restore instances/register.json in the Hawser home from a backup.' },
  ])
}
