import type { FrontMatterReading } from './front-matter-reading.ts'
import { shown } from './yaml-tree.ts'

const MOST_TOOLS = 64
const NAME_LENGTH = 256

/**
 * The entries of `allowed-tools`: a list, or one text with spaces or commas between them. What cannot name a call permits
 * nothing.
 */
export function allowedTools(
  reading: FrontMatterReading,
  written: string | readonly string[],
): string[] {
  const entries =
    typeof written === 'string' ? entriesIn(written) : written.map((one) => one.trim())
  const path = ['allowed-tools']
  if (entries.length > MOST_TOOLS) {
    reading.error(path, `"allowed-tools" has more than ${MOST_TOOLS} entries.`)
  }
  const valid = entries.filter((entry) => {
    const isValid = entry.length <= NAME_LENGTH && /^[A-Za-z][\w*-]*(\([^()]*\))?$/.test(entry)
    if (!isValid) reading.warning(path, `The entry ${shown(entry)} of "allowed-tools" is ignored.`)
    return isValid
  })
  return [...new Set(valid)]
}

/** Separators inside parentheses belong to the entry, as in `Bash(git diff:*)`. */
function entriesIn(text: string): string[] {
  return text.match(/[^\s,()]+(\([^()]*\))?|[()]/g) ?? []
}
