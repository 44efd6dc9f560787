import { LIMITS } from '../../model/limits.ts'
import { closing, ifThere, readSpan, type Folder } from './files.ts'

/** At most `limit` bytes of a file; `undefined` if it is missing. */
export async function wholeFile(
  folder: Folder,
  name: string,
  limit: number,
): Promise<Buffer | undefined> {
  const file = await ifThere(folder.open(name, 'read'))
  return file && closing(file, () => readSpan(file, 0, limit))
}

/**
 * The value of a JSON text; `undefined` if it is none, or nests so deeply that working on it could exhaust the stack.
 */
export function jsonOf(bytes: Buffer): unknown {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'))
    return isWithin(value, LIMITS.event_depth) ? value : undefined
  } catch {
    return undefined
  }
}

function isWithin(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  return levels > 0 && Object.values(value).every((inner) => isWithin(inner, levels - 1))
}
