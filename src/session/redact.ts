const REDACTED = '[key]'

/** A copy of a value without any of the secrets, wherever in its texts and names they stand; the value itself where there are none. Pure. */
export function redacted<T>(value: T, secrets: readonly string[]): T
export function redacted(value: unknown, secrets: readonly string[]): unknown {
  return secrets.length > 0 && holds(value, secrets) ? without(value, secrets) : value
}

function holds(value: unknown, secrets: readonly string[]): boolean {
  if (typeof value === 'string') return secrets.some((secret) => value.includes(secret))
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(value).some(
    ([name, inner]) => holds(name, secrets) || holds(inner, secrets),
  )
}

function without(value: unknown, secrets: readonly string[]): unknown {
  if (typeof value === 'string') {
    return secrets.reduce((text, secret) => text.replaceAll(secret, REDACTED), value)
  }
  if (Array.isArray(value)) return value.map((inner) => without(inner, secrets))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([name, inner]) => [
    without(name, secrets),
    without(inner, secrets),
  ])
  return Object.fromEntries(entries)
}
