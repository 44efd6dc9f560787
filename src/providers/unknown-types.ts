import * as z from 'zod'

/** Things of types that are not known here. They are kept by name and skipped. */
export function otherThan(known: {
  readonly options: readonly { readonly shape: { readonly type: z.ZodLiteral<string> } }[]
}) {
  const names: ReadonlySet<string> = new Set(known.options.map(({ shape }) => shape.type.value))
  return z
    .object({ type: z.string() })
    .refine(({ type }) => !names.has(type))
    .transform(({ type }) => ({ type: 'other' as const, of: type }))
}
