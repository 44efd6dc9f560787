interface PatternOptions {
  readonly ignoreCase: boolean
  /** The pattern is the text to find, and not a regular expression. */
  readonly isLiteral: boolean
}

/** Compiles a pattern for a search of single lines. Returns the message of the engine if it is invalid. Pure. */
export function searchPattern(
  pattern: string,
  { ignoreCase, isLiteral }: PatternOptions,
): RegExp | string {
  const source = isLiteral ? pattern.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`) : pattern
  const flags = ignoreCase ? 'i' : ''
  // Unicode mode first, in which code points are whole and classes such as \p{L} work; then the lenient syntax.
  const strict = compilePattern(source, `${flags}u`)
  return strict instanceof RegExp ? strict : compilePattern(source, flags)
}

function compilePattern(source: string, flags: string): RegExp | string {
  try {
    return new RegExp(source, flags)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return error.message.split(': ').at(-1) ?? ''
  }
}
