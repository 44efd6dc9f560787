import * as z from 'zod'

const ANYTHING = z.unknown()

/**
 * An object whose unknown fields are kept in the value but not in the type: fields of a newer writer survive, and code
 * cannot depend on them. Its fields are created on first use: most processes use few kinds of objects, and creating all
 * schemas takes a tenth of the start-up time.
 */
export function openObject<F extends z.ZodRawShape>(fields: () => F): z.ZodObject<F>
export function openObject(fields: () => z.ZodRawShape): z.ZodObject {
  return lateObject(fields, ANYTHING)
}

/** An object that loses its unknown fields. Its fields are created on first use too. */
export function closedObject<F extends z.ZodRawShape>(fields: () => F): z.ZodObject<F>
export function closedObject(fields: () => z.ZodRawShape): z.ZodObject {
  return lateObject(fields)
}

function lateObject(fields: () => z.ZodRawShape, catchall?: z.ZodType): z.ZodObject {
  let made: z.ZodRawShape | undefined
  return new z.ZodObject({
    type: 'object',
    get shape() {
      return (made ??= fields())
    },
    ...(catchall === undefined ? {} : { catchall }),
  })
}

/** Logged or received data is never changed, so all its lists and objects are read-only. */
export type Frozen<T> = T extends string | number | boolean | null | undefined
  ? T
  : T extends readonly (infer Item)[]
    ? readonly Frozen<Item>[]
    : T extends object
      ? { readonly [K in keyof T]: Frozen<T[K]> }
      : T

export const Count = z.int().nonnegative()

export const Milliseconds = z.number().nonnegative()

/** A flag that is omitted when false. */
export const Flag = z.boolean().optional()

/** A list that is omitted when empty. */
export function list<Item extends z.ZodType>(item: Item) {
  return z.array(item).optional()
}

/** A JSON value that is never inspected. */
export const Opaque = z.custom<unknown>((value) => value !== undefined)

const encoder = new TextEncoder()

export function utf8Bytes(text: string): number {
  return encoder.encode(text).length
}

/** Text of `least` to `most` bytes in UTF-8. */
export function boundedText(least: number, most: number) {
  return z.string().refine((text) => {
    // A UTF-16 unit is one to three bytes in UTF-8, so most text need not be encoded to know that it fits.
    if (text.length >= least && text.length * 3 <= most) return true
    const bytes = utf8Bytes(text)
    return bytes >= least && bytes <= most
  })
}
