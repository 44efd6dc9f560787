/** Fields that may be undefined are optional and have a value if they are there. */
export type DefinedFields<T extends object> = {
  [K in keyof T as undefined extends T[K] ? never : K]: T[K]
} & { [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined> }

/**
 * The object without its undefined fields: an optional field has a value, or is absent. For several fields, outside of what runs
 * for every Event: a conditional for a single field is as short, and faster.
 */
export function definedFields<T extends object>(fields: T): DefinedFields<T>
export function definedFields(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}
