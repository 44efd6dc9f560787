import * as z from 'zod'
import { BlobKey } from '../ids.ts'

/**
 * `data` as the Log stores it: a direct field that is too long for a line is stored in a blob, and `<field>_blob` names that blob
 * in its place. Numbers, flags, enums and ids are never that long.
 */
export type SpilledData<Data> = Flat<
  {
    readonly [K in keyof Data as IsShort<Data[K]> extends true ? K : never]: Data[K]
  } & {
    readonly [K in keyof Data as IsShort<Data[K]> extends true ? never : K]?: Data[K]
  } & {
    readonly [
      K in keyof Data & string as IsShort<Data[K]> extends true ? never : `${K}_blob`
    ]?: BlobKey
  }
>

type Flat<T> = { [K in keyof T]: T[K] }

type IsShort<Value> = [Value] extends [number | boolean | undefined]
  ? true
  : [Value] extends [string | undefined]
    ? string extends Value
      ? false
      : true
    : false

type Fields = Readonly<Record<string, z.core.$ZodType>>

const SUFFIX = '_blob'

/** Whether a field of `data` may be stored in a blob. Needs no schema: hardly any data has such a field. */
export function namesBlobs(data: Readonly<Record<string, unknown>>): boolean {
  for (const key in data) if (key.endsWith(SUFFIX)) return true
  return false
}

/** The fields of `data` that are stored in a blob. */
export function spilledFields(fields: Fields, data: Readonly<Record<string, unknown>>): string[] {
  const found: string[] = []
  for (const key in data) {
    if (!key.endsWith(SUFFIX) || Object.hasOwn(fields, key)) continue
    const name = key.slice(0, -SUFFIX.length)
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (field !== undefined && !isShort(field)) found.push(name)
  }
  return found
}

/** Whether every field matches its schema; those in `spilled` are present only as blobs. */
export function matchesSpilled(
  fields: Fields,
  data: Readonly<Record<string, unknown>>,
  spilled: readonly string[],
): boolean {
  return Object.entries(fields).every(([name, field]) =>
    spilled.includes(name)
      ? !Object.hasOwn(data, name) && BlobKey.safeParse(data[`${name}${SUFFIX}`]).success
      : z.safeParse(field, data[name]).success,
  )
}

/** Must agree with `IsShort`. A string with a check is an id, a hash, a date or bounded text. */
function isShort(field: z.core.$ZodType): boolean {
  const inner = field instanceof z.ZodOptional ? field.unwrap() : field
  if (inner instanceof z.ZodString) return (inner.def.checks ?? []).length > 0
  return [z.ZodNumber, z.ZodBoolean, z.ZodEnum, z.ZodLiteral, z.ZodStringFormat].some(
    (short) => inner instanceof short,
  )
}
