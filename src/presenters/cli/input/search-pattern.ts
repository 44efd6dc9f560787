import { failed, ok, type Result } from '../../../model/errors.ts'

export interface PatternOptions {
  readonly ignoreCase: boolean
  /** The pattern is literal text. */
  readonly fixed: boolean
}

/** Compiles the pattern. */
export function searchPattern(
  pattern: string,
  { ignoreCase, fixed }: PatternOptions,
): Result<RegExp> {
  const source = fixed ? pattern.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`) : pattern
  const flags = ignoreCase ? 'i' : ''
  // Unicode mode first, in which code points are whole and classes such as \p{L} work; then the lenient syntax.
  const strict = compiled(source, `${flags}u`)
  if (strict instanceof RegExp) return ok(strict)
  const loose = compiled(source, flags)
  if (loose instanceof RegExp) return ok(loose)
  return failed('invalid_args', `Invalid regular expression: ${loose}.`, { pattern }, [
    { action: 'To search for literal text, pass -F.' },
  ])
}

/** The expression, or the error message of the engine. */
function compiled(source: string, flags: string): RegExp | string {
  try {
    return new RegExp(source, flags)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return error.message.split(': ').at(-1) ?? ''
  }
}
