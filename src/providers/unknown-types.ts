import * as z from 'zod'

/** Matches objects of unknown types, so that they can be skipped; keeps the name of the type. */
export function otherThan(known: {
  readonly options: readonly { readonly shape: { readonly type: z.ZodLiteral<string> } }[]
}) {
  const names: ReadonlySet<string> = new Set(known.options.map(({ shape }) => shape.type.value))
  return z
    .object({ type: z.string() })
    .refine(({ type }) => !names.has(type))
    .transform(({ type }) => ({ type: 'other' as const, of: type }))
}
