import * as z from 'zod'
import { BlobKey } from '../ids.ts'

/**
 * `data` as the Log holds it: a direct field too long for a line stands in a blob, and `<field>_blob`
 * names that blob in its place. Numbers, flags, choices and ids are never that long.
 */
export type Spilled<Data> = Flat<
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

/** The fields of `data` that a blob stands for. */
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

/** Whether every field is as its schema says, where those in `spilled` are told by their blobs alone. */
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

/** The same line as `IsShort` draws. A string with a check is an id, a hash, a date or bounded text. */
function isShort(field: z.core.$ZodType): boolean {
  const inner = field instanceof z.ZodOptional ? field.unwrap() : field
  if (inner instanceof z.ZodString) return (inner.def.checks ?? []).length > 0
  return [z.ZodNumber, z.ZodBoolean, z.ZodEnum, z.ZodLiteral, z.ZodStringFormat].some(
    (short) => inner instanceof short,
  )
}
