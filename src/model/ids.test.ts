import { expect, test } from 'vitest'
import {
  BLOB_EXTENSIONS,
  BlobKey,
  EventId,
  InstanceId,
  ResourceId,
  SessionId,
  Sha256,
  TurnId,
} from './ids.ts'

const sha = '0123456789abcdef'.repeat(4)

test.each([
  ['ses', SessionId],
  ['trn', TurnId],
  ['res', ResourceId],
  ['evt', EventId],
  ['ins', InstanceId],
])('an id with %s is its prefix and a lower-case ULID', (prefix, schema) => {
  const accepts = (id: string) => schema.safeParse(id).success
  const ulid = '7zzzzzzzzzzzzzzzzzzzzzzzzz'
  expect(accepts(`${prefix}_${ulid}`)).toBe(true)
  for (const wrong of [
    ulid,
    `xyz_${ulid}`,
    `${prefix}_${ulid.toUpperCase()}`,
    `${prefix}_8${ulid.slice(1)}`,
    `${prefix}_${ulid}z`,
    `${prefix}_${ulid.slice(1)}`,
    `${prefix}_${ulid.slice(1)}u`,
    `${prefix}_${ulid}\n`,
    `${prefix}_../${ulid.slice(3)}`,
  ]) {
    expect(accepts(wrong)).toBe(false)
  }
})

test('a hash is 64 lower-case hex digits', () => {
  expect(Sha256.safeParse(sha).success).toBe(true)
  for (const wrong of [sha.toUpperCase(), sha.slice(1), `${sha}0`, `${sha}\n`]) {
    expect(Sha256.safeParse(wrong).success).toBe(false)
  }
})

test('a blob key is a hash, a dot and a known extension [TI-012] [TI-019]', () => {
  for (const extension of Object.values(BLOB_EXTENSIONS)) {
    expect(BlobKey.safeParse(`${sha}.${extension}`).success).toBe(true)
  }
  for (const wrong of [
    sha,
    `${sha}.`,
    `${sha}.jpeg`,
    `${sha}.exe`,
    `${sha}.PNG`,
    `${sha}.png\n`,
    `../${sha}.png`,
    ` ${sha}.png`,
    `${sha.toUpperCase()}.png`,
  ]) {
    expect(BlobKey.safeParse(wrong).success).toBe(false)
  }
})
