import { searchPattern, type PatternOptions } from '../../../encoding/search-pattern.ts'
import { failed, ok, type Result } from '../../../model/errors.ts'

/** Compiles the pattern of a command. */
export function typedPattern(pattern: string, options: PatternOptions): Result<RegExp> {
  const compiled = searchPattern(pattern, options)
  if (compiled instanceof RegExp) return ok(compiled)
  return failed('invalid_args', `Invalid regular expression: ${compiled}.`, { pattern }, [
    { action: 'To search for literal text, pass -F.' },
  ])
}
