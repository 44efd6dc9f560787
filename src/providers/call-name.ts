import { sha256 } from '../encoding/hash.ts'

/** An id that every vendor accepts. Ids of other vendors may be longer or contain other characters. Pure. */
export function callId(id: string): string {
  return /^[A-Za-z0-9_-]{1,40}$/.test(id) ? id : `call_${sha256(id).slice(0, 24)}`
}

/** A tool name that every vendor accepts: a model may have called a nonexistent tool by an invalid name. Pure. */
export function callName(name: string): string {
  if (/^[A-Za-z0-9_-]{1,64}$/.test(name)) return name
  const spelt = name.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 64)
  return spelt === '' ? '_' : spelt
}
