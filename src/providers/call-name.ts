import { sha256 } from '../encoding/hash.ts'

/** An id that every vendor takes. Models of other vendors make ids that are longer, or spelt otherwise. Pure. */
export function callId(id: string): string {
  return /^[A-Za-z0-9_-]{1,40}$/.test(id) ? id : `call_${sha256(id).slice(0, 24)}`
}

/** A tool's name that every vendor takes; a model may have called a tool that does not exist by a name that cannot. Pure. */
export function callName(name: string): string {
  const spelt = name.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 64)
  return spelt === '' ? '_' : spelt
}
